"""A task whose order learns: what nobody has seen moves, what anybody has seen stays."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas import DataFrame

from compute.judgements import orders
from compute.judgements.orders import Framed
from compute.judgements.tasks import tasks
from compute.judgements.tasks.answers import Answer
from compute.judgements.tasks.queue import Annotator, exchange
from compute.judgements.tasks.tasks import Task
from compute.store.store import Store
from compute.views.annotate import adaptive_order
from compute.views.annotate.adaptive_order import rearrange
from tests.support.annotating import ADA, BOB, CYD, NOTHING, answer, made, plan, tops
from tests.support.storage import open_store, publish_run, scores
from tests.support.worlds import CASES

LISTS = Framed(tops(n_queries=4, depth=8))


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


def publish(store: Store) -> None:
    """Both systems' lists, which `adaptive_order.soon` reads by itself."""
    for system, run in LISTS.tops.groupby("system"):
        run = run.drop(columns="system").astype({"rank": "int32"})
        run["score"] = 1.0 / run["rank"]
        publish_run(store, "tiny", str(system), run, scores("nDCG@10", q1=1.0))


def open_pairs(store: Store, task: Task) -> list[tuple[str, str]]:
    found = tasks.pairs(store, task.id)
    found = found[found["labels"] > 0]
    return list(found[["query_id", "doc_id"]].itertuples(index=False, name=None))


def test_the_unseen_part_follows_the_order_as_it_is_now(store: Store) -> None:
    task = task_of(store, n_pairs=10)
    judge(store, task, 0, 0, 2, 2)
    seen = open_pairs(store, task)[:5]
    assert rearrange(store, task, LISTS, judged(store))
    blocks = LISTS.blocks(judged(store), ["one", "two"], 10)
    now = orders.first("move-to-front", blocks, 10, 7)
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
    assert not rearrange(store, task, Framed(tops(3)), judged(store))


def test_a_pair_judged_elsewhere_stays_in_the_task_behind_the_others(store: Store) -> None:
    task = task_of(store, n_pairs=32)
    first = open_pairs(store, task)[0]
    elsewhere = DataFrame([(*first, 1)], columns=["query_id", "doc_id", "relevance"])
    rearrange(store, task, LISTS, elsewhere)
    assert open_pairs(store, task)[-1] == first
    assert len(open_pairs(store, task)) == 32


@pytest.mark.long
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


@settings(CASES, max_examples=CASES.max_examples // 25)
@given(data=st.data())
def test_what_is_handed_out_while_the_order_is_asked_is_neither_lost_nor_doubled(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = open_store(tmp_path_factory.mktemp("meanwhile"))
    task = task_of(store, n_pairs=data.draw(st.integers(4, 32)), double_share=0.3)
    wanted = tasks.pairs(store, task.id)["labels"].tolist()
    judge(store, task, *data.draw(st.lists(st.integers(0, 2), max_size=3)))
    drafted = adaptive_order.draft(store, task, LISTS, judged(store))
    held = exchange(store, task, BOB, ahead=data.draw(st.integers(0, 6))).held
    if data.draw(st.booleans()):
        rearrange(store, task, LISTS, judged(store))
    before = tasks.pairs(store, task.id).set_index("id")
    adaptive_order.write(store, task, drafted)
    found = tasks.pairs(store, task.id)
    kept = found[found["labels"] > 0]
    assert kept["labels"].tolist() == wanted
    assert kept["place"].tolist() == list(range(1, len(wanted) + 1))
    assert not found.duplicated(["query_id", "doc_id"]).any()
    mine = [pair.id for pair in held]
    pd.testing.assert_frame_equal(before.loc[mine], found.set_index("id").loc[mine])


@pytest.mark.long
def test_people_are_served_while_the_order_is_asked_and_then_by_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = task_of(store, n_pairs=24)
    publish(store)
    judge(store, task, 0, 0, 2, 2)
    asked, answered = Event(), Event()
    learned = orders.first

    def slow(*given: Any) -> DataFrame:
        asked.set()
        assert answered.wait(60)
        return learned(*given)

    monkeypatch.setattr(orders, "first", slow)
    thread = adaptive_order.soon(store, task)
    assert thread and asked.wait(60)
    assert adaptive_order.soon(store, task) is None, "one at a time"
    older = open_pairs(store, task)
    (pair,) = exchange(store, task, ADA, ahead=1).held
    hand = exchange(store, task, ADA, [answer(pair.id, relevance=2)], ahead=1)
    assert hand.judged == 5 and open_pairs(store, task) == older
    answered.set()
    thread.join()
    assert open_pairs(store, task)[:6] == older[:6]
    assert open_pairs(store, task) != older
    again = adaptive_order.soon(store, task)
    assert again
    again.join()


@pytest.mark.long
def test_people_who_judge_at_once_while_it_is_rearranged_get_each_pair_once(store: Store) -> None:
    task = task_of(store, n_pairs=30)
    over = Event()

    def rearranging_on() -> None:
        while not over.is_set():
            rearrange(store, task, LISTS, judged(store))

    def judging(person: Annotator) -> None:
        sent: list[Answer] = []
        while held := exchange(store, task, person, sent, ahead=2).held:
            sent = [answer(pair.id, relevance=n % 3) for n, pair in enumerate(held)]

    with ThreadPoolExecutor() as pool:
        order = pool.submit(rearranging_on)
        for person in [pool.submit(judging, who) for who in (ADA, BOB, CYD)]:
            person.result()
        over.set()
        order.result()
    given = store.added_judgements()
    assert len(given) == 30
    assert not given.duplicated(["query_id", "doc_id"]).any()


def test_only_the_front_moves_and_the_rest_closes_up(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adaptive_order, "FIRST", 3)
    task = task_of(store, n_pairs=32)
    everything = set(open_pairs(store, task))
    judge(store, task, 0, 0, 2, 2, 2, 2)
    rearrange(store, task, LISTS, judged(store))
    assert set(open_pairs(store, task)) == everything
    assert len(tasks.pairs(store, task.id)) == 32
