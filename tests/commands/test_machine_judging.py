"""`judge` on the command line: what it takes, consent, limits, and where the grades are."""

from pathlib import Path

import pytest

from compute import jobs
from compute.__main__ import main
from compute.store.loading import Bench
from tests.support.judged_by_machine import KEY, home
from tests.support.processes.machine import Machine, machine

JUDGE = ("judge", "tiny", "--machine", "gpt", "--systems", "all", "--depth", "9")
LIMITS = ("--requests", "9", "--tokens", "90000")


@pytest.fixture
def server():
    with machine() as found:
        yield found


@pytest.fixture
def bench(tmp_path: Path, server: Machine, monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench = home(tmp_path, server, "ships in the harbour", "lake")
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    monkeypatch.setenv("BEIRSCOPE_JUDGE_ADDRESS", server.address)
    monkeypatch.setenv("BEIRSCOPE_JUDGE_MODEL", "m")
    monkeypatch.setenv("BEIRSCOPE_JUDGE_KEY", KEY)
    return bench


@pytest.mark.long
def test_a_judging_from_the_estimate_to_the_set(
    bench: Bench, server: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*words: str, status: int = 0) -> str:
        capsys.readouterr()
        assert main([*words]) == status
        found = capsys.readouterr()
        assert KEY not in found.out + found.err
        return found.out + found.err

    assert "3 pairs: 3 requests, 6 if no answer is a grade; about" in (first := told(*JUDGE))
    assert "nothing has been sent yet; to start, add the limits --requests N --tokens N" in first
    assert "no text of tiny may be sent to" in told(*JUDGE, *LIMITS, status=2)
    assert "no text of tiny may be sent to" in told(*JUDGE, *LIMITS, "--queue", status=2)
    assert "may be sent to" in told("judge", "tiny", "--allow-texts-to", f"{server.address}/")
    assert (server.asked, jobs.listed(bench.settings)) == ([], [])
    said = told(*JUDGE, *LIMITS)
    assert "gpt on tiny: 3 pairs of 1 query (1 of grade 0, 2 of grade 2)" in said
    assert "3 requests, 300 tokens" in said
    assert "0 requests; about 0 tokens, at most 0; failed" in told(*JUDGE)
    assert "m, asked by prompt 1-" in told("sets", "--dataset", "tiny")
    assert "1 queued as judge-" in told(*JUDGE, *LIMITS, "--queue")
    assert "texts of tiny, and of datasets that share them, may not be sent anywhere" in told(
        "judge", "tiny", "--forbid-texts"
    )
    other = (*JUDGE[:3], "other", *JUDGE[4:])
    assert "no text of tiny may be sent to" in told(*other, *LIMITS, status=2)
    assert "an LLM judges only the documents you name" in told("jobs", "start", "judge", status=2)
    for more in (("--systems", "all"), ("--guideline", "g.txt")):
        both = told("judge", "tiny", "--machine", "gpt", "--task", "t", *more, status=2)
        assert "a task has its own documents and guideline" in both
    assert "choose an LLM: --machine" in told("judge", "tiny", status=2)
    assert len(server.asked) == 3


def test_nothing_a_machine_graded_moves_a_number(
    bench: Bench, server: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    def scores(*words: str) -> str:
        capsys.readouterr()
        assert main(["scores", "--dataset", "tiny", "--json", *words]) == 0
        return capsys.readouterr().out

    before = scores(), scores("--judgements", "added")
    assert main(["judge", "tiny", "--allow-texts-to", server.address]) == 0
    assert main([*JUDGE, *LIMITS]) == 0
    assert (scores(), scores("--judgements", "added")) == before
    assert scores("--judgements", "machine:gpt") != before[0]
