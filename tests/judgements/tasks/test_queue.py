"""The queue: nobody sees a pair twice, a pair goes to as many people as it wants."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import select, update

from compute.base.errors import WrongInput
from compute.judgements.tasks import queue, tables, tasks
from compute.judgements.tasks.answers import Answer
from compute.judgements.tasks.queue import Annotator, exchange
from compute.judgements.tasks.tasks import Task
from compute.store import state
from compute.store.store import Store
from tests.support.annotating import ADA, BOB, CYD, DAN, answer, made
from tests.support.filled import withdraw
from tests.support.storage import open_store

PEOPLE = (ADA, BOB, CYD, DAN)


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    address = request.getfixturevalue("postgres") if request.param == "postgresql" else ""
    return open_store(tmp_path, address)


def ids(hand: queue.Hand) -> list[str]:
    return [pair.id for pair in hand.held]


def lapse(store: Store) -> None:
    """Let every pair that somebody holds go back, as time does."""
    with state.writing(store.engine) as connection:
        connection.execute(update(tables.turns).values(until="2000-01-01"))


def test_pairs_come_in_the_tasks_order_a_few_ahead(store: Store) -> None:
    task = made(store, n_queries=5)
    places = list(tasks.pairs(store, task.id)["id"])
    hand = exchange(store, task, ADA)
    assert ids(hand) == places[:12]
    assert (hand.judged, hand.left, hand.seconds, hand.last) == (0, 15, None, None)
    assert ids(exchange(store, task, BOB)) == places[12:]


def test_an_answer_is_a_judgement_and_brings_the_next_pair(store: Store) -> None:
    task = made(store, n_queries=5)
    first = exchange(store, task, ADA).held[0]
    given = answer(first.id, relevance=2, note="why", unsure=True)
    hand = exchange(store, task, Annotator("ada", verified=True), [given])
    assert first.id not in ids(hand) and len(hand.held) == 12
    assert (hand.judged, hand.left, hand.seconds, hand.last) == (1, 14, 2.5, first)
    (row,) = store.added_judgements().to_dict("records")
    kept = {name: row[name] for name in ("dataset", "query_id", "doc_id", "relevance", "person")}
    assert kept == {
        "dataset": "tiny",
        "query_id": first.query_id,
        "doc_id": first.doc_id,
        "relevance": 2,
        "person": "ada",
    }
    assert (row["task"], row["guideline_version"], row["source"]) == (task.id, "1", "person")
    assert (row["entry"], row["note"], row["unsure"]) == (given.entry, "why", 1)
    assert row["verified"] == 1


def test_an_answer_sent_again_changes_nothing(store: Store) -> None:
    task = made(store)
    one, two = exchange(store, task, ADA).held[:2]
    log = [answer(one.id), answer(two.id, "skip"), answer(one.id, "undo")]
    once = exchange(store, task, ADA, log)
    assert exchange(store, task, ADA, log) == once
    assert exchange(store, task, ADA, log[2:]) == once
    assert list(store.added_judgements()["source"]) == ["person", "withdrawn"]


def test_an_answer_that_comes_again_late_undoes_nothing_done_meanwhile(store: Store) -> None:
    task = made(store)
    one, two = exchange(store, task, ADA).held[:2]
    late = [answer(one.id), answer(one.id, "undo"), answer(two.id)]
    exchange(store, task, ADA, late)
    meanwhile = [answer(one.id, relevance=2), answer(two.id, "undo")]
    before = exchange(store, task, ADA, meanwhile)
    assert exchange(store, task, ADA, late) == before
    assert one.id not in ids(before) and two.id in ids(before)
    assert exchange(store, task, ADA, [answer(one.id, "skip")]) == before
    assert exchange(store, task, ADA, [answer(one.id, "undo"), answer(one.id, "skip")]).skipped == 1


def test_leaving_and_coming_back_goes_on_where_it_was(store: Store) -> None:
    task = made(store)
    first = exchange(store, task, ADA)
    assert exchange(store, task, ADA) == first
    lapse(store)
    assert ids(exchange(store, task, ADA)) == ids(first)


def test_what_is_held_too_long_goes_to_others_and_an_answer_still_counts(store: Store) -> None:
    task = made(store)
    late = exchange(store, task, ADA).held[0]
    assert exchange(store, task, BOB).held == ()
    lapse(store)
    assert late.id in ids(exchange(store, task, BOB))
    assert exchange(store, task, ADA).held == ()
    assert exchange(store, task, ADA, [answer(late.id)]).judged == 1
    assert len(store.added_judgements()) == 1


def test_a_skipped_pair_is_for_others_and_comes_again_at_ones_own_wish_only(store: Store) -> None:
    task = made(store)
    pair = exchange(store, task, ADA).held[0]
    hand = exchange(store, task, ADA, [answer(pair.id, "skip")])
    assert pair.id not in ids(hand) and (hand.skipped, hand.left) == (1, 5)
    assert ids(exchange(store, task, BOB)) == [pair.id]
    queue.give_back(store, task, "bob")
    queue.offer_skipped(store, task, "ada")
    assert pair.id in ids(exchange(store, task, ADA))
    assert store.added_judgements().empty


def test_undo_is_a_row_of_its_own_and_gives_the_pair_back_to_its_person(store: Store) -> None:
    task = made(store)
    pair = exchange(store, task, ADA).held[0]
    exchange(store, task, ADA, [answer(pair.id, relevance=2)])
    hand = exchange(store, task, ADA, [answer(pair.id, "undo")])
    assert pair.id in ids(hand) and hand.judged == 0
    exchange(store, task, ADA, [answer(pair.id, relevance=0)])
    rows = store.added_judgements()
    assert list(rows["source"]) == ["person", "withdrawn", "person"]
    assert list(rows["relevance"].fillna(-9)) == [2, -9, 0]


def test_undoing_a_skip_withdraws_nothing(store: Store) -> None:
    task = made(store)
    pair = exchange(store, task, ADA).held[0]
    exchange(store, task, ADA, [answer(pair.id, "skip")])
    assert pair.id in ids(exchange(store, task, ADA, [answer(pair.id, "undo")]))
    assert store.added_judgements().empty


def changed(store: Store, **values: str) -> None:
    """Every turn as a clock that was wrong would have written it."""
    with state.writing(store.engine) as connection:
        connection.execute(update(tables.turns).values(**values))


def test_undo_offers_the_newest_answer_whatever_the_clock_said(store: Store) -> None:
    task = made(store)
    one, two, three = exchange(store, task, ADA).held[:3]
    exchange(store, task, ADA, [answer(one.id)])
    changed(store, changed="2099-01-01T00:00:00.000000+00:00")
    assert exchange(store, task, ADA, [answer(two.id, "skip")]).last == two
    assert exchange(store, task, ADA, [answer(three.id)]).last == three
    assert exchange(store, task, ADA, [answer(three.id, "undo")]).last == two
    log = [answer(one.id, "undo"), answer(one.id), answer(three.id), answer(one.id, relevance=2)]
    assert exchange(store, task, ADA, log).last == one


def test_a_hold_given_while_a_clock_was_ahead_lasts_no_longer_than_others(store: Store) -> None:
    task = made(store)
    assert len(exchange(store, task, ADA).held) == 6
    changed(store, until="2099-01-01T00:00:00.000000+00:00")
    assert exchange(store, task, BOB).held == ()
    with store.engine.connect() as connection:
        until = set(connection.execute(select(tables.turns.c.until)).scalars())
    longest = datetime.now(UTC) + queue.HOLD
    assert len(until) == 1 and datetime.fromisoformat(until.pop()) <= longest


def test_what_two_are_to_judge_goes_to_two_different_people(store: Store) -> None:
    task = made(store, double_share=1.0)
    for person in (ADA, BOB):
        hand = exchange(store, task, person)
        assert len(hand.held) == 6
        left = exchange(store, task, person, [answer(pair.id) for pair in hand.held])
        assert left.held == ()
    assert exchange(store, task, CYD).held == ()
    rows = store.added_judgements()
    assert (rows.groupby(["query_id", "doc_id"])["person"].nunique() == 2).all()
    assert len(rows) == 12


def test_the_version_of_the_guideline_is_the_one_that_was_seen(store: Store) -> None:
    task = made(store, guideline="first")
    one, two = exchange(store, task, ADA).held[:2]
    tasks.change_guideline(store, task.id, "second", "ada")
    task = tasks.task(store, task.id)
    exchange(store, task, ADA, [answer(one.id), answer(two.id, version=2)])
    assert list(store.added_judgements()["guideline_version"]) == ["1", "2"]


@pytest.mark.parametrize("wrong", [answer("nothing"), answer("nothing", "undo")])
def test_an_answer_to_another_task_is_refused(store: Store, wrong: Answer) -> None:
    task, other = made(store), made(store)
    theirs = exchange(store, other, ADA).held[0]
    for foreign in (wrong, answer(theirs.id), answer(theirs.id, relevance=9)):
        with pytest.raises(WrongInput, match="reload the page"):
            exchange(store, task, ADA, [foreign])
    assert store.added_judgements().empty


def test_a_grade_that_the_task_lacks_is_refused(store: Store) -> None:
    task = made(store)
    pair = exchange(store, task, ADA).held[0]
    with pytest.raises(WrongInput):
        exchange(store, task, ADA, [answer(pair.id), answer(pair.id, relevance=9)])
    assert store.added_judgements().empty, "all of a log or nothing"


def test_the_overview_counts_labels_and_people(store: Store) -> None:
    task, untouched = made(store, double_share=0.5), made(store)
    hand = exchange(store, task, ADA)
    exchange(store, task, ADA, [answer(hand.held[0].id), answer(hand.held[1].id, "skip")])
    rows = queue.overview(store).set_index("task").to_dict("index")
    assert rows[task.id] == {"wanted": 9, "given": 1, "people": 1, "held": 4}
    assert rows[untouched.id] == {"wanted": 6, "given": 0, "people": 0, "held": 0}


def test_the_overview_counts_imported_labels_once_each_until_withdrawn(store: Store) -> None:
    task, other = made(store, double_share=1.0), made(store, dataset="other")
    one, two, *_ = exchange(store, task, ADA).held
    exchange(store, task, ADA, [answer(one.id)])
    exchange(store, task, ADA, [answer(two.id, "skip")])
    pair = {"query_id": one.query_id, "doc_id": one.doc_id}
    file = [
        {"person": "ada", **pair},
        {"person": "bob", **pair},
        {"person": "bob", "query_id": two.query_id, "doc_id": two.doc_id},
        {"person": "cyd", "query_id": "q1", "doc_id": "in no list"},
        {"person": "llm", **pair, "source": "model"},
    ]
    rows = pd.DataFrame(file).assign(dataset="tiny", relevance=1, task="", guideline_version="")
    rows = rows.assign(source=rows["source"].fillna("import"), imported=state.now())
    store.add_judgements(rows)
    counts = queue.overview(store).set_index("task")[["wanted", "given", "people"]]
    assert list(counts.loc[task.id]) == [12, 3, 2] and list(counts.loc[other.id]) == [6, 0, 0]
    withdraw(store, store.judgement_version() - 2, "import")
    assert queue.overview(store).set_index("task").loc[task.id, "given"] == 2


def work(store: Store, task: Task, person: Annotator, seed: int) -> list[str]:
    """Judge, skip, undo and send again at random until nothing comes; the pairs as they came."""
    dice, came, last = random.Random(seed), [], []
    hand = exchange(store, task, person, ahead=3)
    while hand.held:
        pair = hand.held[dice.randrange(len(hand.held))].id
        came.append(pair)
        log = [answer(pair, "skip" if dice.random() < 0.1 else "grade", dice.randrange(3))]
        if dice.random() < 0.1:
            log += [answer(pair, "undo"), answer(pair)]
        if dice.random() < 0.3:
            log = last + log
        hand, last = exchange(store, task, person, log, ahead=3), log[-1:]
    return came


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_four_people_at_once_never_fight_over_a_pair(store: Store, seed: int) -> None:
    task = made(store, n_queries=10, double_share=0.4, seed=seed)
    with ThreadPoolExecutor(4) as people:
        runs = [people.submit(work, store, task, one, seed + n) for n, one in enumerate(PEOPLE)]
        seen = [run.result() for run in runs]
    for came in seen:
        assert len(came) == len(set(came)), "a pair came twice to one person"
    rows = store.added_judgements()
    assert rows["entry"].is_unique
    rows = rows.drop_duplicates(["query_id", "doc_id", "person"], keep="last")
    given = rows.groupby(["query_id", "doc_id"])["person"].nunique().rename("given").reset_index()
    wanted = tasks.pairs(store, task.id).merge(given, how="left").fillna({"given": 0})
    assert (wanted["given"] <= wanted["labels"]).all()
    assert wanted["given"].sum() >= 0.9 * wanted["labels"].sum()
