"""A task whose order learns: what nobody has seen moves, what anybody has seen stays."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas import DataFrame

from compute import orders
from compute.annotation import rearranging, tasks
from compute.annotation.queue import exchange
from compute.annotation.rearranging import rearrange
from compute.annotation.tasks import Task
from compute.store import Store
from tests.annotating import ADA, BOB, NOTHING, answer, made, plan, tops
from tests.storage import open_store
from tests.worlds import CASES

LISTS = tops(n_queries=4, depth=8)


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    address = request.getfixturevalue("postgres") if request.param == "postgresql" else ""
    return open_store(tmp_path, address)


def task_of(store: Store, **changes: object) -> Task:
    given = plan(order="move-to-front", **changes)
    return tasks.make(store, given, LISTS, NOTHING, "maker")


def judge(store: Store, task: Task, *grades: int) -> None:
    """Ada judges the next pairs, one held at a time."""
    for relevance in grades:
        (pair,) = exchange(store, task, ADA, ahead=1).held
        exchange(store, task, ADA, [answer(pair.id, relevance=relevance)], ahead=1)


def judged(store: Store) -> DataFrame:
    return tasks.judged(store, "tiny", NOTHING)


def open_pairs(store: Store, task: Task) -> list[tuple[str, str]]:
    found = tasks.pairs(store, task.id)
    found = found[found["labels"] > 0]
    return list(found[["query_id", "doc_id"]].itertuples(index=False, name=None))


def test_the_unseen_part_follows_the_order_as_it_is_now(store: Store) -> None:
    task = task_of(store, n_pairs=10)
    judge(store, task, 0, 0, 2, 2)
    seen = open_pairs(store, task)[:5]
    assert rearrange(store, task, LISTS, judged(store))
    now = orders.ORDERS["move-to-front"](LISTS, judged(store), 10, 7)
    pairs = list(now[["query_id", "doc_id"]].itertuples(index=False, name=None))
    left = [pair for pair in pairs if pair not in seen]
    assert open_pairs(store, task) == seen + left[:5]
    assert not rearrange(store, task, LISTS, judged(store))


def test_a_late_answer_belongs_to_what_was_seen(store: Store) -> None:
    task = task_of(store, n_pairs=6)
    held = exchange(store, task, BOB, ahead=3).held
    before = tasks.pairs(store, task.id).set_index("id")
    judge(store, task, 0, 2)
    rearrange(store, task, LISTS, judged(store))
    after = tasks.pairs(store, task.id).set_index("id")
    same = ["query_id", "doc_id"]
    pd.testing.assert_frame_equal(before[same], after.loc[before.index, same])
    hand = exchange(store, task, BOB, [answer(held[-1].id, relevance=1)])
    assert hand.last == held[-1]


def test_a_task_keeps_its_number_of_pairs_and_labels(store: Store) -> None:
    task = task_of(store, n_pairs=9, double_share=0.5)
    wanted = tasks.pairs(store, task.id)["labels"].tolist()
    judge(store, task, 0, 0, 2)
    rearrange(store, task, LISTS, judged(store))
    found = tasks.pairs(store, task.id)
    kept = found[found["labels"] > 0]
    assert kept["labels"].tolist() == wanted
    assert kept["place"].tolist() == list(range(1, 10))
    assert not found.duplicated(["query_id", "doc_id"]).any()


def test_an_order_that_does_not_learn_is_left_alone(store: Store) -> None:
    task = made(store, n_queries=3)
    judge(store, task, 0, 2)
    assert not rearrange(store, task, tops(3), judged(store))


def test_a_pair_judged_elsewhere_stays_in_the_task_behind_the_others(store: Store) -> None:
    task = task_of(store, n_pairs=32)
    first = open_pairs(store, task)[0]
    elsewhere = DataFrame([(*first, 1)], columns=["query_id", "doc_id", "relevance"])
    rearrange(store, task, LISTS, elsewhere)
    assert open_pairs(store, task)[-1] == first
    assert len(open_pairs(store, task)) == 32


@settings(CASES, max_examples=CASES.max_examples // 25)
@given(data=st.data())
def test_nothing_is_lost_or_doubled_however_often(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = open_store(tmp_path_factory.mktemp("again"))
    task = task_of(store, n_pairs=data.draw(st.integers(1, 32)), double_share=0.3)
    wanted = tasks.pairs(store, task.id)["labels"].tolist()
    seen: set[tuple[str, str]] = set()
    for _ in range(data.draw(st.integers(1, 4))):
        person = data.draw(st.sampled_from([ADA, BOB]))
        for pair in exchange(store, task, person, ahead=data.draw(st.integers(1, 4))).held:
            seen.add((pair.query_id, pair.doc_id))
            exchange(store, task, person, [answer(pair.id, relevance=data.draw(st.integers(0, 2)))])
        rearrange(store, task, LISTS, judged(store))
        found = tasks.pairs(store, task.id)
        kept = found[found["labels"] > 0]
        assert kept["labels"].tolist() == wanted
        assert kept["place"].tolist() == list(range(1, len(wanted) + 1))
        assert not found.duplicated(["query_id", "doc_id"]).any()
        assert seen <= set(kept[["query_id", "doc_id"]].itertuples(index=False, name=None))


def test_only_the_front_moves_and_the_rest_closes_up(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rearranging, "FIRST", 3)
    task = task_of(store, n_pairs=32)
    everything = set(open_pairs(store, task))
    judge(store, task, 0, 0, 2, 2, 2, 2)
    rearrange(store, task, LISTS, judged(store))
    assert set(open_pairs(store, task)) == everything
    assert len(tasks.pairs(store, task.id)) == 32
