"""Sampled tasks: pairs in priority order, kept with all that their chances rest on."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from compute.base.errors import Missing, WrongInput
from compute.evaluate.estimates.linearised import kind
from compute.judgements import sampling
from compute.judgements.orders import Framed
from compute.judgements.tasks import samples, tasks
from tests.support.annotating import NOTHING, made, plan, tops
from tests.support.storage import open_store

ASKED: dict[str, Any] = {"order": "sampled", "measure": "P@5", "goal": "scores"}


def test_a_sampled_task_hands_pairs_out_in_priority_order(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    lists = Framed(tops(n_queries=9, depth=8))
    frame = lists.frame(("one", "two"), 10)
    task = tasks.make(store, plan(**ASKED, n_pairs=20), lists, NOTHING, "maker")
    assert (task.measure, task.goal, task.baseline) == ("P@5", "scores", "")
    # Nothing is known, so a pair's size is what it weighs: in both systems' top 5, or in one's.
    size = sampling.sizes(frame, kind("P@5"))
    order = sampling.order(size, np.zeros(frame.n, bool), task.seed)
    pairs = tasks.pairs(store, task.id)
    assert frame.rows(pairs).tolist() == order.rows[:20].tolist()
    (kept,) = samples.stored(store, task.id)
    assert (kept.frame, kept.seed, kept.predictor) == (frame.identity, 7, "ranks-1")
    assert (kept.systems, kept.number, kept.done) == (("one", "two"), 1, 0)
    answered = frame.pairs.iloc[order.rows[[0, 1, 3]]]
    assert (kept.complete(answered), kept.complete(frame.pairs)) == (2, len(order.rows))
    again = kept.order(frame)
    for n in (0, 1, 20, len(order.rows)):
        assert again.first(n).chances.tolist() == order.first(n).chances.tolist()


def test_a_sample_is_kept_alike_by_a_server(tmp_path: Path, postgres: str) -> None:
    lists = Framed(tops(n_queries=9, depth=8))
    here, there = (
        open_store(tmp_path / name, state) for name, state in (("a", ""), ("b", postgres))
    )
    kept = [
        samples.stored(store, tasks.make(store, plan(**ASKED), lists, NOTHING, "maker").id)[0]
        for store in (here, there)
    ]
    pd.testing.assert_frame_equal(kept[0].pairs, kept[1].pairs, check_exact=True)


def test_what_is_judged_is_known_and_not_drawn(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    lists = Framed(tops(n_queries=9, depth=8))
    official = pd.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d4"] * 2, "relevance": [1, 0]})
    task = tasks.make(store, plan(**ASKED), lists, official, "maker")
    frame = lists.frame(("one", "two"), 10)
    order = samples.stored(store, task.id)[0].order(frame)
    assert frame.pairs.iloc[order.known].to_numpy().tolist() == [["q1", "d4"], ["q2", "d4"]]
    assert order.first(3).chances[order.known].tolist() == [1, 1]


def test_what_weighs_nothing_is_neither_drawn_nor_known(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    lists = Framed(tops(depth=8).query("system == 'one'"))
    task = tasks.make(store, plan(**ASKED, systems=("one",)), lists, NOTHING, "maker")
    assert task.n_pairs == 10, "the top 5 of two queries; the frame is as deep as the task"
    order = samples.stored(store, task.id)[0].order(lists.frame(("one",), 10))
    assert (len(order.rows), len(order.known), order.n_rows) == (10, 0, 16)
    assert sorted(order.first(10).chances) == [0] * 6 + [1] * 10


def test_what_is_expected_is_what_the_core_expects_of_what_is_open(tmp_path: Path) -> None:
    lists = Framed(tops(n_queries=9, depth=8))
    frame = lists.frame(("one", "two"), 10)
    size = sampling.sizes(frame, kind("P@5"))
    found = tasks.expected(plan(**ASKED, n_pairs=15), lists, NOTHING)
    assert found["n"].tolist() == [15, 30, 60]
    half = np.full(frame.n, 0.5)
    errors = [sampling.expected_errors(frame, kind("P@5"), half, size, n) for n in found["n"]]
    wanted = [1.959964 * np.diag(error).max() for error in errors]
    assert found["reach"].tolist() == pytest.approx(wanted)
    # With all judged but one pair there is nothing left to draw.
    judged = frame.pairs.assign(relevance=1).iloc[1:]
    assert tasks.expected(plan(**ASKED, n_pairs=15), lists, judged)["reach"].tolist() == [0, 0, 0]
    with pytest.raises(WrongInput, match="Everything in the top 10 of these systems is judged"):
        tasks.expected(plan(**ASKED), lists, frame.pairs.assign(relevance=1))


@pytest.mark.parametrize("goal", ["differences", "order"])
def test_of_differences_the_reach_of_differences_is_expected(goal: str) -> None:
    # Of P@5 and lists of 8 the documents d4 and d5 are shared, the six others move the difference.
    lists = Framed(tops(n_queries=9, depth=8))
    asked = ASKED | {"goal": goal, "baseline": "one" if goal == "differences" else ""}
    found = tasks.expected(plan(**asked, n_pairs=27), lists, NOTHING)
    # 27 of 54, each with chance 1/2 and weight 1/45: 54 x .25 / 45^2 (1 / .5 - 1).
    assert found["reach"].tolist() == pytest.approx([1.959964 * np.sqrt(54 / 4) / 45, 0, 0])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"goal": "order"}, "No unjudged document distinguishes these systems by P@5"),
        ({"measure": "RR@10"}, "no estimates of 'RR@10'; known: P@10"),
        ({"goal": "fame"}, "no goal 'fame'; known: scores"),
        ({"depth": 4}, "P@5 needs the top 5"),
        ({"goal": "order", "systems": ("one",)}, "One system has no"),
        ({"systems": ("absent",)}, "No ranked lists for the evaluated queries: absent. Leave out"),
        ({"systems": ("one", "absent")}, "No ranked lists for the evaluated queries: absent"),
        ({"goal": "differences"}, "need a baseline"),
        ({"goal": "differences", "baseline": "absent"}, "need a baseline"),
    ],
)
def test_a_sample_that_cannot_be_drawn_is_refused(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(WrongInput, match=said):
        made(open_store(tmp_path), **(ASKED | changes))
    with pytest.raises(WrongInput, match=said):
        asked = plan(**(ASKED | changes))
        tasks.check(asked)
        tasks.expected(asked, Framed(tops()), NOTHING)


def test_only_its_own_frame_and_only_a_sample_can_be_read(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with pytest.raises(Missing, match="not drawn as a sample"):
        samples.stored(store, made(store).id)
    (kept,) = samples.stored(store, made(store, **ASKED).id)
    with pytest.raises(Missing, match="sample have changed"):
        kept.order(Framed(tops(n_queries=3)).frame(("one", "two"), 10))
