"""Audits: official judgements drawn with known chances, and what a second look says of them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.judgements import ADJUDICATION, Choice
from compute.judgements.orders import Framed
from compute.judgements.tasks import audited, auditing, queue, samples, sampling_on, tasks
from compute.judgements.tasks.audited import Audit
from compute.judgements.tasks.tasks import Task
from compute.store.store import Store
from tests.evaluate.estimates.made import drawn
from tests.support.annotating import ADA, BOB, answer, plan
from tests.support.storage import open_store

FRAME, GRADES = drawn(20, 10, seed=4)
TRUTH = (GRADES > 0).astype(float)
SOME = np.arange(FRAME.n) % 7 > 0
"""The pairs with an official judgement: six of seven."""


def labels(grades: np.ndarray = TRUTH, some: np.ndarray = SOME) -> DataFrame:
    return FRAME.pairs[some].assign(relevance=grades[some].astype(int), official=True)


def lists() -> Framed:
    tops = [
        FRAME.pairs.assign(system=name, rank=rank)[rank > 0]
        for name, rank in zip(FRAME.systems, FRAME.rank.T, strict=True)
    ]
    return Framed(pd.concat(tops))


def made(store: Store, official: DataFrame, **changes: object) -> Task:
    asked = {"order": "sampled", "measure": "nDCG@10", "goal": "audit", "systems": FRAME.systems}
    asked |= {"n_pairs": 160, "grades": ((0, "Not relevant"), (1, "Relevant"))}
    return tasks.make(store, plan(**(asked | changes)), lists(), official, "maker")


def judge(store: Store, task: Task, grades: np.ndarray, n: int, skipped: int = 0) -> None:
    """Ada gives the next n documents these grades, and skips some first."""
    while n > 0:
        held = queue.exchange(store, task, ADA).held[:n]
        rows = FRAME.rows(DataFrame([(one.query_id, one.doc_id) for one in held], columns=_PAIR))
        given = [
            answer(one.id, "skip" if place < skipped else "grade", relevance=int(grades[row]))
            for place, (one, row) in enumerate(zip(held, rows, strict=True))
        ]
        queue.exchange(store, task, ADA, given)
        n, skipped = n - len(held), 0


_PAIR = ["query_id", "doc_id"]


def audit(store: Store, task: Task, official: DataFrame) -> Audit:
    rows = store.added_judgements(dataset=task.dataset)
    return audited.audit(store, task, official, rows, Choice())


def test_each_grade_and_system_has_its_keys_and_unjudged_documents_are_among_them(
    tmp_path: Path,
) -> None:
    store, official = open_store(tmp_path), labels()
    task = made(store, official)
    assert (task.goal, task.n_pairs, task.baseline) == ("audit", 160, "")
    (kept,) = samples.stored(store, task.id)
    assert (kept.frame, kept.predictor) == (FRAME.identity, "audit-1")
    rows = FRAME.rows(kept.pairs)
    assert len(set(rows)) == 160 and (~SOME[rows]).sum() == 40
    n_relevant = [(SOME[rows] & (TRUTH[rows] == grade)).sum() for grade in (0, 1)]
    assert n_relevant == [60, 60], "equally many of each grade, however rare it is"
    # One over the chances counts all labels of each grade, and all that nobody judged.
    counted = [
        (1 / kept.pairs["size"])[SOME[rows] & (TRUTH[rows] == grade)].sum() for grade in (0, 1)
    ]
    assert counted == pytest.approx([(SOME & (grade == TRUTH)).sum() for grade in (0, 1)])
    assert (1 / kept.pairs["size"])[~SOME[rows]].sum() == pytest.approx((~SOME).sum())
    mixed = SOME[rows]
    assert 0.5 < mixed[:40].mean() < 1 and 0.5 < mixed[-40:].mean() < 1, "in random order"


def test_the_strata_are_grades_systems_that_profit_and_an_llm() -> None:
    found = auditing.strata(FRAME, labels(), 120)
    there = ~np.isnan(found.labels)
    rank = np.where(FRAME.rank > 0, FRAME.rank, 99)
    ties = (rank == rank.min(axis=1, keepdims=True)).sum(axis=1) > 1
    profits = np.where(ties, 4, rank.argmin(axis=1))
    kinds = {(found.labels[row], profits[row], found.stratum[row]) for row in np.flatnonzero(there)}
    assert len(kinds) == len(found.n) == 10, "two grades; four systems, or several"
    assert found.n.sum() == 120 and found.n.min() > 3
    # An LLM that graded every other pair: it agrees or differs, or said nothing.
    said = FRAME.pairs.assign(relevance=1).iloc[::2]
    more = auditing.strata(FRAME, labels(), 1_000, said)
    graded = np.arange(FRAME.n) % 2 == 0
    assert not {*more.stratum[there & graded]} & {*more.stratum[there & ~graded]}
    few = auditing.strata(FRAME, labels(), 20)
    assert few.n.tolist() == [10, 10], "ten keys for each stratum on average"


def test_what_a_second_look_grades_differently_is_counted_by_grade(tmp_path: Path) -> None:
    store, wrong = open_store(tmp_path), np.where(np.arange(FRAME.n) % 10 == 1, 1 - TRUTH, TRUTH)
    official = labels(wrong)
    task = made(store, official)
    judge(store, task, TRUTH, 120)
    found = audit(store, task, official)
    assert (found.n_keys, found.n_waiting) == (120, 40)
    looked = found.looked
    rows = FRAME.rows(looked)
    assert (looked["second"] == TRUTH[rows]).all() and (looked["label"] == wrong[rows]).all()
    assert len(looked) == SOME[FRAME.rows(samples.stored(store, task.id)[0].pairs)[:120]].sum()
    rates = found.rates().set_index("labels")
    assert list(rates.index) == ["0 Not relevant", "1 Relevant"]
    for grade, row in enumerate(rates.to_dict("records")):
        own = SOME & (wrong == grade)
        assert row["n_labels"] == own.sum()
        assert row["low"] <= (wrong != TRUTH)[own].mean() <= row["high"]
        assert row["low"] <= row["rate"] <= row["high"]
        assert np.isnan(row["wrong_low"]), "nothing is adjudicated"
    held = found.order(FRAME, official)
    assert held is not None and (held.second[rows] == TRUTH[rows]).all()


def test_settled_grades_say_which_labels_are_wrong(tmp_path: Path) -> None:
    store, official = open_store(tmp_path), labels(np.zeros(FRAME.n))
    task = made(store, official)
    judge(store, task, TRUTH, 160)
    before = audit(store, task, official)
    differ = before.looked[before.looked["second"] == 1]
    rows = differ[_PAIR].assign(dataset=task.dataset, person="bob", task="")
    rows["relevance"] = [1] * 5 + [0] * (len(differ) - 5)
    rows = rows.assign(source=ADJUDICATION, guideline_version="")
    store.add_judgements(rows.iloc[:10])
    (then,), (now,) = (
        of.rates().to_dict("records") for of in (before, audit(store, task, official))
    )
    assert [now[name] for name in ("n_differ", "low")] == [len(differ), then["low"]]
    assert (now["n_settled"], now["n_wrong"]) == (10, 5)
    assert now["wrong_low"] < 0.1 < now["wrong_high"] <= then["high"], "others may be wrong"
    store.add_judgements(rows.iloc[10:])
    (last,) = audit(store, task, official).rates().to_dict("records")
    assert (last["n_settled"], last["n_wrong"]) == (len(differ), 5)
    assert last["wrong_low"] <= now["wrong_low"] + 0.001 < last["wrong_high"] < now["wrong_high"]
    held = audit(store, task, official).order(FRAME, official)
    assert held is not None and np.nansum(held.second) == 5


def test_a_skipped_document_widens_the_interval(tmp_path: Path) -> None:
    store, official = open_store(tmp_path), labels()
    task = made(store, official)
    judge(store, task, TRUTH, 160, skipped=6)
    rates = audit(store, task, official).rates()
    assert 0 < rates["n_skipped"].sum() <= 6 and (rates["n_differ"] == 0).all()
    assert (rates["low"] == 0).all() and rates["high"].max() > 0.08


def test_documents_behind_one_that_waits_do_not_count(tmp_path: Path) -> None:
    store, official = open_store(tmp_path), labels()
    task = made(store, official)
    queue.exchange(store, task, BOB, ahead=1)
    judge(store, task, TRUTH, 30)
    assert audit(store, task, official).n_keys == 0
    assert audit(store, task, official).rates()["rate"].isna().all()


def test_other_runs_or_labels_tell_nothing_of_the_order(tmp_path: Path) -> None:
    store, official = open_store(tmp_path), labels()
    task = made(store, official)
    judge(store, task, TRUTH, 60)
    found = audit(store, task, official)
    assert found.order(FRAME.part(FRAME.systems[1:]), official) is None
    assert found.order(FRAME, official.iloc[30:]) is None


def test_what_is_told_beforehand_is_the_half_width_and_the_keys() -> None:
    assert auditing.mixed_in(FRAME, labels(), 160)[1] == 40
    plan = auditing.strata(FRAME, labels(), 120)
    told = plan.by_grade().set_index("grade")
    assert told["keys"].tolist() == [60, 60]
    assert told["n_labels"].tolist() == [(SOME & (grade == TRUTH)).sum() for grade in (0, 1)]
    assert (told["reach"] > 0.03).all() and (told["needed"] > 60).all()


def test_an_audit_needs_labels_and_is_drawn_once(tmp_path: Path) -> None:
    store, none = open_store(tmp_path), labels().iloc[:0]
    with pytest.raises(WrongInput, match="Nothing in the top 10 of these systems has an official"):
        made(store, none)
    official = labels()
    task = made(store, official, systems=FRAME.systems[:1])
    with pytest.raises(WrongInput, match="An audit is drawn only once"):
        sampling_on.sample_on(store, task, task.systems, 10, lists(), official)
