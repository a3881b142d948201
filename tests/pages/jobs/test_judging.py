"""The Jobs page has a machine judge: estimate, consent, limits, start, and what it came to."""

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from compute import jobs
from compute.intake import machine_judging
from compute.judgements.asking import journal
from compute.store.loading import Bench
from tests.support.judged_by_machine import KEY, home, planned
from tests.support.pages import button_named, opened, words_of
from tests.support.processes.machine import Machine, machine

PAGE = "pages/jobs.py"


@pytest.fixture
def server():
    with machine() as found:
        yield found


@pytest.fixture
def bench(tmp_path: Path, server: Machine, monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench = home(tmp_path, server, "ship", "<b>ship</b>")
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    return bench


def set_machine(server: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_JUDGE_ADDRESS", server.address)
    monkeypatch.setenv("BEIRSCOPE_JUDGE_MODEL", "<b>m</b>")
    monkeypatch.setenv("BEIRSCOPE_JUDGE_KEY", KEY)


def filled() -> AppTest:
    """The form with a machine's name and a run."""
    app = opened(PAGE)
    app.text_input(key="_judge_machine").set_value("gpt")
    app.multiselect(key="_judge_systems").set_value(["all"])
    return app.run()


def test_without_a_machine_the_page_says_which_settings_name_one(bench: Bench) -> None:
    assert "No LLM is configured: set judge_address and judge_model" in words_of(opened(PAGE))


@pytest.mark.long
def test_estimate_consent_limits_start_and_what_it_came_to(
    bench: Bench, server: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_machine(server, monkeypatch)
    address = server.address
    app = filled()
    assert "3 pairs: 3 requests, 6 if no answer is a grade; about" in words_of(app)
    button_named(app, "Start judging").click().run()
    assert "limit the number of requests" in words_of(app)
    app.number_input(key="_judge_requests").set_value(10)
    app.number_input(key="_judge_tokens").set_value(50_000)
    button_named(app, "Start judging").click().run()
    assert "no text of tiny may be sent to" in words_of(app)
    assert jobs.listed(bench.settings) == []
    box = app.checkbox(key=f"_judge_consent tiny {address}")
    assert not box.value
    box.check().run()
    assert journal.allowed(bench.store, "tiny", address)
    button_named(app, "Start judging").click().run()
    assert not app.exception
    assert "1 queued as judge-" in words_of(app)
    (job,) = jobs.listed(bench.settings)
    assert job.options is not None
    plan = machine_judging.of_record(job.options["judging"])
    assert (plan.requests, plan.tokens, plan.systems) == (10, 50_000, ("all",))
    assert (job.title, server.asked) == ("machine:gpt on tiny", [])
    assert KEY not in words_of(app) + str(job)
    journal.allow(bench.store, "tiny", "http://elsewhere/v1", "ada")
    app.checkbox(key=f"_judge_consent tiny {address}").uncheck().run()
    assert journal.allowed(bench.store, "tiny", "http://elsewhere/v1")
    assert not journal.allowed(bench.store, "tiny", address)


def test_a_judging_that_ended_says_what_has_no_grade(
    bench: Bench, server: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_machine(server, monkeypatch)
    plan = planned(bench)
    journal.allow(bench.store, "tiny", plan.address, "ada")
    job = jobs.start_judging(bench.store, plan).job
    about = bench.store, "tiny", "gpt", f"{job}.0000", "1-x", plan.address
    own = journal.Journal(*about)
    request = own.begin(("q1", "e1"), 500, plan.limits)
    own.end(request, journal.UNREADABLE, reason="its answer was not a grade", tokens=70)
    words = words_of(opened(PAGE))
    assert "1 request, 70 tokens; 1 without a grade: its answer was not a grade" in words


def test_a_running_job_says_nothing_of_what_is_under_way_and_the_estimate_follows(
    bench: Bench, server: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_machine(server, monkeypatch)
    plan = replace(planned(bench, depth=10), model="<b>m</b>")
    journal.allow(bench.store, "tiny", plan.address, "ada")
    app = filled()
    assert "3 pairs: 3 requests" in words_of(app)
    identity = machine_judging.prepared(bench.store, plan).identity
    job = jobs.start_judging(bench.store, plan).job
    own = journal.Journal(bench.store, "tiny", "gpt", f"{job}.0000", identity, plan.address)
    own.begin(("q1", "e1"), 500, plan.limits)
    words = words_of(app.run())
    assert "3 pairs: 2 requests" in words
    assert "1 request, 500 tokens" in words
    assert journal.INTERRUPTED not in words
