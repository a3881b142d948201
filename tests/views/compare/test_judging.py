"""Compare while one judges what tells two runs apart: nothing official is known of the dataset."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compute.__main__ import main
from compute.judgements import Choice
from compute.judgements.tasks import deciding, estimated, sampling_on, tasks
from compute.reading.database import open_version
from compute.store.loading import Bench
from compute.store.store import Store
from compute.views.annotate.select import StoredTops, judged
from compute.views.compare import judging
from compute.views.compare.page import page
from compute.views.holes import sampled
from compute.views.page import Button, Heading, Note, Widget, parts
from compute.views.page.store_ask import opened
from tests.support.annotating import N_QUERIES, good_and_poor, judge_pair, pair_task


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return good_and_poor(tmp_path, N_QUERIES)


def shown(store: Store, choice: Choice | None) -> list[Any]:
    with opened(store, choice=choice) as ask:
        return parts(page, ask, dataset="bare", a="good", b="poor")


@pytest.mark.long
def test_the_sentence_firms_up_while_one_judges(bench: Bench) -> None:
    store = bench.store
    before = [one for one in shown(store, None) if isinstance(one, Widget)]
    assert [one.name for one in before] == ["apart"]
    task = pair_task(store)
    assert (task.goal, task.measure, len(task.grades)) == ("differences", "P@10", 2)

    def said() -> str:
        found = shown(store, Choice())
        assert {"annotate"} <= {one.opens.page for one in found if isinstance(one, Button)}
        return next(one.text for one in found if isinstance(one, Heading))

    assert said() == "No judgements yet; a decision needs at least 60."
    notes = [one.shown for one in shown(store, Choice()) if isinstance(one, Note)]
    assert notes[0].startswith("The task estimates P@10, not nDCG@10, chosen above; unjudged")
    judge_pair(store, task, 20)
    few = found_now(store, task)
    assert ": poor leads by" not in few.verdict
    assert re.match(
        r"After 20 .*: good leads by \.\d{3} .* \(standard error \.\d{3}\)\. ", few.verdict
    )
    least = "so far; a decision needs 10 of each; a decision is possible at "
    assert least in few.verdict
    assert few.more and few.verdict.endswith(f" possible at {20 + few.more} judgements.")
    judge_pair(store, task, 39)
    assert said().startswith("After 59 judgements: ")
    assert "Decided" not in said()
    judge_pair(store, task, 1)
    assert "good leads by ." in said() and "on these queries" in said()
    assert "Decided at 60: good is better on these queries, by ." in said()
    assert said().endswith(" (95% CI adjusted for repeated looks).")
    judge_pair(store, task, 40)
    # Once decided, nothing asks for more.
    labels = [one.label for one in shown(store, Choice()) if isinstance(one, Button)]
    assert not {"Draw more documents to judge", "Continue judging"} & set(labels)


def found_now(store: Store, task: tasks.Task) -> judging.Verdict:
    found = judging.of_pair(store, "bare", ("poor", "good"), Choice(), task)
    assert found
    return found


def test_the_verdict_is_of_the_pair_as_it_was_asked_for(bench: Bench) -> None:
    task = pair_task(bench.store)
    judge_pair(bench.store, task, 59)
    before = found_now(bench.store, task)
    assert (before.state, before.better, before.decided_at) == (judging.OPEN, None, None)
    judge_pair(bench.store, task, 1)
    found = found_now(bench.store, task)
    assert (found.state, found.better, found.decided_at) == (judging.DECIDED, "good", 60)
    assert found.low is not None and found.high is not None and found.difference is not None
    assert found.low < found.difference < found.high < 0
    assert (found.n_judged, found.n_waiting, found.more) == (60, 40, None)


@pytest.mark.long
def test_what_a_look_decides_stays_decided_by_later_judgements(bench: Bench) -> None:
    task = pair_task(bench.store)
    judge_pair(bench.store, task, 60)
    with opened(bench.store, choice=Choice()) as ask:
        sample = judging.Sample.of(ask, task, task.measure)
        first = deciding.decision(bench.store, task, sample.frame, sample.judged())
    judge_pair(bench.store, task, 15)
    with opened(bench.store, choice=Choice()) as ask:
        sample = judging.Sample.of(ask, task, task.measure)
        assert deciding.decision(bench.store, task, sample.frame, sample.judged()) == first
        other = replace(task, measure="nDCG@10")
        assert deciding.decision(bench.store, other, sample.frame, sample.judged()) is None


@pytest.mark.long
def test_a_task_that_was_drawn_on_is_decided_too(bench: Bench) -> None:
    store, task = bench.store, pair_task(bench.store)
    judge_pair(store, task, 100)
    cursor = open_version(store).cursor()
    known = tasks.judged(store, "bare", judged(cursor, "bare"))
    more = deciding.besides(task)
    assert more == 100
    task = sampling_on.sample_on(store, task, task.systems, more, StoredTops(cursor, "bare"), known)
    judge_pair(store, task, 30)
    with opened(store, choice=Choice()) as ask:
        sample = judging.Sample.of(ask, task, task.measure)
        at = [
            estimated.at(store, task, sample.frame, sample.judged(), n) for n in (60, 100, 130, 131)
        ]
    numbers = [one and one.n_relevant + one.n_not_relevant for one in at]
    assert numbers == [60, 100, 130, None]
    assert found_now(store, task).decided_at == 60


def test_between_looks_and_without_enough_evidence_nothing_is_decided(bench: Bench) -> None:
    task = pair_task(bench.store)
    judge_pair(bench.store, task, 60)
    with opened(bench.store, choice=Choice()) as ask:
        estimates = judging.Sample.of(ask, task, task.measure).estimated().estimates
    made_of = deciding.decided(estimates, 60)
    assert made_of and made_of[:2] == (60, 0)
    assert deciding.decided(estimates, 61) is None
    assert deciding.decided(replace(estimates, n_relevant=2), 60) is None
    swapped = deciding.decided(replace(estimates, by_query=estimates.by_query[::-1]), 60)
    assert swapped and swapped[:2] == (60, 1)
    level = replace(estimates, by_query=np.zeros_like(estimates.by_query))
    assert deciding.decided(level, 60) is None


def test_the_looks_share_five_percent() -> None:
    assert sum(deciding.LOOKS.values()) == pytest.approx(0.05)


@pytest.mark.long
def test_where_all_that_differ_are_judged_only_the_difference_is_known(tmp_path: Path) -> None:
    store = good_and_poor(tmp_path, 3).store
    plan = judging.plan("bare", "good", "poor")
    cursor = open_version(store).cursor()
    tops, known = StoredTops(cursor, "bare"), judged(cursor, "bare")
    told = judging.can_decide(tasks.expected(plan, tops, known), 0.8)
    assert "top-10 lists: all (fewer than 100) detect any difference. A decision" in told
    task = tasks.make(store, plan, tops, known, "ada")
    judge_pair(store, task, 53)
    found = judging.of_pair(store, "bare", ("good", "poor"), Choice(), task)
    assert found and (found.state, found.better) == (judging.KNOWN, "good")
    assert re.fullmatch(
        r"53 of 54 documents in only one .* judged: good is better by \.\d{3} to \.\d{3} of P@10"
        r" on these queries\.",
        found.verdict,
    )
    judge_pair(store, task, 1)
    found = shown(store, Choice())
    said = next(one.text for one in found if isinstance(one, Heading))
    whole = "All 54 documents in only one of the two top-10 lists are judged:"
    by = "by .700 of P@10 on these queries: 21 more relevant documents in 30 places."
    assert said == f"{whole} good is better {by}"
    assert not [one for one in found if isinstance(one, Button) and one.label == "Continue judging"]
    # Documents of both top 10s are in no sample, so of scores nothing is known.
    with opened(store, choice=Choice()) as ask:
        sample = judging.Sample.of(ask, task, task.measure)
        estimates = sample.estimated()
        bounds = estimated.ends(task, sample.frame, sample.judged(), task.measure)
    rows = sampled.systems(bounds, estimates).assign(title="a title")
    assert rows[["estimate", "error", "estimate_low", "like_high"]].isna().all(axis=None)
    said = sampled.verdict(rows, sampled.pairs(estimates), estimates, task)
    assert "Scores cannot be estimated" in said
    marks = sampled.estimates(rows, "P@10", theme="light").to_plotly_json()["data"]
    assert [one["name"] for one in marks] == ["possible range", "current score"]


@pytest.mark.long
def test_commands_print_the_verdict_of_the_page(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.store.home))
    monkeypatch.setenv("BEIRSCOPE_SHIPPED_RESULTS", "false")
    task = pair_task(bench.store)
    judge_pair(bench.store, task, 60)
    page_says = next(one.text for one in shown(bench.store, Choice()) if isinstance(one, Heading))
    words = ["compare", "good", "poor", "--dataset", "bare"]
    assert main(words) == 0
    assert page_says in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["state"], told["better"], told["decided_at"]) == ("decided", "good", 60)
    assert told["verdict"] == page_says and told["low"] > 0 and told["n_judged"] == 60
    assert main(["tasks", "status", task.id, "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert status["verdict"]["verdict"] == page_says and len(status["people"]) == 1
    assert main(["tasks", "status", task.id]) == 0
    assert page_says in capsys.readouterr().out
