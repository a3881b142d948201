"""Judging by a machine as a job: killed, cancelled, tried again; each pair is asked for once."""

import os
import signal
from pathlib import Path

import pytest

from compute import jobs
from compute.base.errors import Conflict
from compute.jobs import removing
from compute.judgements.asking import journal
from compute.judgements.asking.journal import INTERRUPTED
from compute.judgements.machine_grades import KIND
from compute.recompute.run import read
from compute.store.loading import Bench
from tests.support.judged_by_machine import KEY, allowed, home, planned
from tests.support.processes.jobbing import ended, session, until, worker
from tests.support.processes.machine import Answer, Machine, machine

KILLS = int(os.environ.get("BEIRSCOPE_JOB_KILLS", "1"))
DOCUMENTS = 40
AT_ONCE = 4


@pytest.fixture
def server():
    with machine() as found:
        yield found


@pytest.fixture
def bench(tmp_path: Path, server: Machine, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A home with 41 documents to judge, and settings for its workers."""
    monkeypatch.setenv("BEIRSCOPE_JUDGE_ADDRESS", server.address)
    monkeypatch.setenv("BEIRSCOPE_JUDGE_MODEL", "m")
    monkeypatch.setenv("BEIRSCOPE_JUDGE_KEY", KEY)
    texts = (f"ship {number} in the harbour" for number in range(DOCUMENTS))
    bench = home(tmp_path, server, *texts, judge_at_once=AT_ONCE)
    allowed(bench)
    return bench


@pytest.mark.long
@pytest.mark.parametrize("kill", range(KILLS))
def test_killed_and_resumed_no_request_is_made_twice(
    bench: Bench, server: Machine, kill: int
) -> None:
    """Of the requests under way at a kill, at most as many as go at once, none is repeated."""
    server.answers = lambda *_: Answer("1", seconds=0.1)
    job = jobs.start_judging(bench.store, planned(bench)).job
    n_kills = 2 + kill
    for number in range(1, n_kills + 1):
        with worker(bench.settings) as dying:
            enough = number * DOCUMENTS // (n_kills + 1)
            until(lambda enough=enough: len(server.asked) >= enough, "some requests")
            dying.kill()
            assert dying.wait() == -signal.SIGKILL
            until(lambda leader=dying.pid: not session(leader), "the end of what it started")
    with worker(bench.settings):
        assert ended(bench.settings, job).state == "done"
    assert set(server.counts.values()) == {1}
    asked = journal.asked(bench.store, "tiny", "gpt")
    assert set(asked["job"]) == {f"{job}.0000"}
    (part,) = bench.store.parts(KIND, "tiny")
    without = journal.ungraded(asked)
    # Every pair has its grade, or the reason why it has none.
    assert part.rows + without.get(INTERRUPTED, 0) == len(asked) == DOCUMENTS + 1
    assert set(without) <= {INTERRUPTED}
    assert sum(without.values()) <= n_kills * AT_ONCE
    assert set(read(part)["relevance"]) == {1}
    files = [file for file in bench.settings.home.rglob("*") if file.is_file()]
    assert {file.suffix for file in files} > {".log", ".sqlite", ".parquet"}
    assert not [file for file in files if KEY.encode() in file.read_bytes()]
    # A second start on demand asks for these, and for nothing else.
    again = jobs.start_judging(bench.store, planned(bench), again=True).job
    with worker(bench.settings):
        assert ended(bench.settings, again).state == "done"
    (part,) = bench.store.parts(KIND, "tiny")
    assert part.rows == DOCUMENTS + 1


@pytest.mark.long
def test_cancelled_it_asks_no_more_and_keeps_what_is_graded(bench: Bench, server: Machine) -> None:
    server.answers = lambda *_: Answer("1", seconds=0.2)
    job = jobs.start_judging(bench.store, planned(bench)).job
    with worker(bench.settings) as one:
        until(lambda: len(server.asked) >= 8, "some requests")
        with pytest.raises(Conflict, match="gpt on tiny is running: cancel that job first"):
            removing.remove(bench.store, "tiny")
        jobs.cancel(bench.settings, job)
        assert ended(bench.settings, job).state == "cancelled"
        until(lambda: len(session(one.pid)) == 1, "the end of the child")
        n_asked = len(server.asked)
        assert n_asked < DOCUMENTS
        (part,) = bench.store.parts(KIND, "tiny")
        assert 4 <= part.rows <= n_asked
        server.answers = lambda *_: Answer("1")
        again = jobs.retry(bench.store, job).job
        assert ended(bench.settings, again).state == "done"
    assert set(server.counts.values()) == {1}
    assert len(server.counts) == DOCUMENTS + 1
    removing.remove(bench.store, "tiny", machine="gpt")
    assert journal.asked(bench.store, "tiny", "gpt").empty


@pytest.mark.long
def test_a_limit_fails_the_job_with_a_sentence(bench: Bench, server: Machine) -> None:
    first = jobs.start_judging(bench.store, planned(bench, requests=7)).job
    with worker(bench.settings):
        job = ended(bench.settings, first)
    assert job.state == "failed"
    assert "stopped at the limit of 7 requests; the grades so far are kept" in job.error
    assert len(server.asked) == 7


@pytest.mark.long
def test_without_consent_nothing_is_queued_and_nothing_sent(bench: Bench, server: Machine) -> None:
    queued = jobs.start_judging(bench.store, planned(bench)).job
    journal.forbid(bench.store, "tiny")
    with pytest.raises(Conflict, match="no text of tiny may be sent to"):
        jobs.start_judging(bench.store, planned(bench, machine="other"))
    with worker(bench.settings):
        job = ended(bench.settings, queued)
    assert "no text of tiny may be sent to" in job.error
    assert server.asked == []
    assert len(jobs.listed(bench.settings)) == 1


@pytest.mark.long
def test_two_plans_of_one_machine_are_two_jobs(bench: Bench, server: Machine) -> None:
    first = jobs.start_judging(bench.store, planned(bench, depth=3))
    second = jobs.start_judging(bench.store, planned(bench, depth=5))
    same = jobs.start_judging(bench.store, planned(bench, depth=5))
    assert (second.joined, same.joined, same.job) == (False, True, second.job)
    with worker(bench.settings):
        for started in (first, second):
            ended(bench.settings, started.job)
    # d1, at rank 2, is judged officially.
    assert len(server.counts) == 4
    assert set(server.counts.values()) == {1}
