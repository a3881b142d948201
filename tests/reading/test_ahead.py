"""The newest version of a store, open before anybody asks for it."""

import logging
import threading
import time
from pathlib import Path

import pytest

from compute.reading import ahead
from compute.reading.ahead import Ahead
from compute.reading.answers import Answers
from compute.store.store import Store
from compute.views.shared import query_slices
from tests.support.storage import hits, judgement, open_store, publish_run, scores

RUN = hits(("q1", "d1", 1))


class Open:
    """So many open pages of each kind, and the kinds that were woken."""

    def __init__(self, **numbers: int) -> None:
        self.numbers, self.woken = numbers, list[str]()

    def number(self, kind: str) -> int:
        return self.numbers.get(kind, 0)

    def wake(self, kind: str) -> None:
        self.woken.append(kind)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "home")


def before(store: Store, **numbers: int) -> Ahead:
    answers = Answers(store, query_slices.of_kind)
    return Ahead(lambda: answers, Open(**numbers))


def test_a_new_version_is_shown_once_it_is_open(store: Store) -> None:
    opener = before(store)
    publish_run(store, "tiny", "bm25", RUN, scores("R@10", q1=0.1))
    first = store.version()
    # Nobody opens ahead: the newest, as ever.
    assert opener.current() == (first, 0)
    opener.open_newest()
    opener.beat = time.monotonic()
    publish_run(store, "tiny", "minilm", RUN, scores("R@10", q1=0.2))
    assert store.version() > first
    assert opener.current() == (first, 0)
    # What people judge is seen at once, whatever is being opened.
    store.add_judgements(judgement("q1", "d1", 1))
    assert opener.current() == (first, 1)
    opener.open_newest()
    assert opener.current() == (store.version(), 1)
    assert {
        file.name.partition("-")[0] for file in (store.home / "caches").glob("*-*.parquet")
    } == {
        "scores",
        "top",
    }


def test_the_more_pages_are_open_the_longer_each_stands_while_people_judge(store: Store) -> None:
    publish_run(store, "tiny", "bm25", RUN, scores("R@10", q1=0.1))
    few, many = before(store), before(store, page=100)
    drawn = few.current(), time.monotonic() - 2 * ahead.BREATH
    assert not few.is_outdated(*drawn, follows=False)
    store.add_judgements(judgement("q1", "d1", 1))
    assert few.is_outdated(*drawn, follows=False)
    assert not many.is_outdated(*drawn, follows=False), "drawn a moment ago, as 99 others were"
    publish_run(store, "tiny", "minilm", RUN, scores("R@10", q1=0.2))
    assert many.is_outdated(*drawn, follows=False), "a new run is shown at once"


def test_what_the_dashboard_itself_published_is_waited_for(store: Store) -> None:
    opener = before(store)
    opener.beat = time.monotonic()
    publish_run(store, "tiny", "bm25", RUN, scores("R@10", q1=0.1))
    assert opener.current()[0] == 0
    opening = threading.Timer(0.2, opener.open_newest)
    opening.start()
    opener.await_published()
    opening.join()
    assert opener.current()[0] == store.version()


def test_nobody_waits_for_one_that_is_not_opened(store: Store) -> None:
    opener = before(store)
    opener.beat = time.monotonic() - 2 * ahead.PATIENCE
    publish_run(store, "tiny", "bm25", RUN, scores("R@10", q1=0.1))
    assert opener.current() == (store.version(), 0)


def test_a_failure_is_logged_once_and_the_next_version_is_opened(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    answers = Answers(store, query_slices.of_kind)
    looks, failing, passed = [], True, threading.Event()

    def asked() -> Answers:
        looks.append(len(looks))
        if failing:
            raise RuntimeError("the disk is away")
        passed.set()
        return answers

    opener = Ahead(asked, Open())
    publish_run(store, "tiny", "bm25", RUN, scores("R@10", q1=0.1))
    ending = threading.Event()
    with caplog.at_level(logging.WARNING, ahead.__name__):
        thread = threading.Thread(target=opener._stay, args=[ending])
        thread.start()
        while len(looks) < 3:
            threading.Event().wait(ahead.PAUSE / 5)
        failing = False
        assert passed.wait(10)
        while opener.version != store.version():
            threading.Event().wait(ahead.PAUSE / 5)
        ending.set()
        thread.join()
    (record,) = caplog.records
    assert "the disk is away" in record.getMessage()


def test_the_views_of_each_dataset_are_made_once_a_version_stays(store: Store) -> None:
    answers = Answers(store, query_slices.of_kind)
    publish_run(store, "tiny", "bm25", RUN, scores("R@10", q1=0.1))
    opener = Ahead(lambda: answers, Open())
    opener.open_newest()

    def made() -> list[tuple[str, ...]]:
        overlays = answers.overlays(opener.version)
        schemas = "select schema_name from duckdb_schemas() where schema_name like 'only%'"
        return overlays.reading.cursor().execute(schemas).fetchall()

    opener._narrow()
    assert made() == []  # Another version may follow at once.
    opener._opened = time.monotonic() - 2 * ahead.FIRST
    for _ in range(2):
        opener._narrow()
        assert made() == [("only_0",)]
