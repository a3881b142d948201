"""Every page as data on a dataset without judgements: nothing is scored, and nothing is 0."""

from collections.abc import Iterator
from typing import Any

import pytest

from compute.base.settings import Settings
from compute.exports.pages import PAGES, asked
from compute.store.loading import Bench
from compute.store.store import Store
from compute.views.page import Button, Figure, Message, Note, Part, Table, parts
from compute.views.page.store_ask import StoreAsk, opened
from tests.support.storage import judgement
from tests.support.unjudged import unjudged

LACKING = "bare has no judgements yet, so nothing is scored"
SCORED: list[tuple[str, dict[str, Any]]] = [
    ("leaderboard", {"numbers": "Computed"}),
    ("holes", {"dataset": "bare"}),
    ("compare", {"dataset": "bare"}),
    *(("dataset", {"dataset": "bare", "show": one}) for one in ("Systems", "Queries", "Overview")),
]
SHOWN: list[tuple[str, dict[str, Any], str]] = [
    ("query", {"dataset": "bare"}, "lists"),
    ("map", {"dataset": "bare"}, "map"),
    ("lengths", {"dataset": "bare"}, "lengths"),
    ("dataset", {"dataset": "bare", "show": "Documents", "doc": "hub"}, "places"),
    ("dataset", {"dataset": "bare", "show": "Overview"}, "statistics"),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("unjudged")
    settings = Settings(home=folder / "home", threads=1)
    bench = Bench(Store(settings, shipped=folder / "nothing"), settings)
    unjudged(bench, folder)
    return bench.store


@pytest.fixture
def ask(store: Store) -> Iterator[StoreAsk]:
    with opened(store) as found:
        yield found


def messages(shown: list[Part]) -> str:
    return " ".join(one.text for one in shown if isinstance(one, Message))


@pytest.mark.parametrize(("name", "chosen"), SCORED)
def test_a_page_of_scores_says_what_is_lacking_and_what_to_do(
    ask: StoreAsk, name: str, chosen: dict[str, Any]
) -> None:
    shown = parts(PAGES[name], ask, **chosen)
    assert LACKING in messages(shown)
    links = {one.opens.page for one in shown if isinstance(one, Button)}
    # Compare has a button of its own for the documents to judge.
    assert {"data"} | {"annotate"} - {"annotate" if name == "compare" else ""} <= links
    tables = [one.shown for one in shown if isinstance(one, Table) and one.key != "statistics"]
    assert not any(rows.isin([0.0]).to_numpy().any() for rows in tables)


@pytest.mark.parametrize(("name", "chosen", "key"), SHOWN)
def test_other_pages_show_what_they_can(
    ask: StoreAsk, name: str, chosen: dict[str, Any], key: str
) -> None:
    shown = parts(PAGES[name], ask, **chosen)
    assert key in {one.key for one in shown if isinstance(one, Figure | Table)}
    for one in shown:
        if isinstance(one, Figure):
            assert "nan" not in str(one.drawn(theme="light").to_json()).lower()


def test_a_query_that_nobody_judged_has_no_score_to_take_apart(ask: StoreAsk) -> None:
    shown = parts(PAGES["query"], ask, dataset="bare", query="q1")
    assert "gains" not in {one.key for one in shown if isinstance(one, Figure)}
    notes = " ".join(one.shown for one in shown if isinstance(one, Note))
    assert "This query has no judged documents and therefore no score." in notes


@pytest.mark.long
def test_added_judgements_count_by_default(store: Store) -> None:
    for query, doc, grade in (("q1", "d1", 1), ("q2", "d4", 1), ("q3", "d3", 0)):
        store.add_judgements(judgement(query, doc, grade).assign(dataset="bare", source="person"))
    with asked(store, "compare", {"dataset": ["bare"]}) as view:
        assert view.judgements == "official + added"
        shown = parts(PAGES["compare"], view.ask, dataset="bare", measure="RR@10")
        assert not messages(shown)
    with asked(store, "compare", {"dataset": ["bare"], "judgements": ["official"]}) as view:
        assert LACKING in messages(parts(PAGES["compare"], view.ask, dataset="bare"))
    for name in PAGES:
        with asked(store, name, {"dataset": ["bare"]}) as view:
            assert parts(PAGES[name], view.ask, dataset="bare"), name
    with asked(store, "holes", {"dataset": ["bare"]}) as view:
        shown = parts(PAGES["holes"], view.ask, dataset="bare")
    notes = " ".join(one.shown for one in shown if isinstance(one, Note))
    assert "there is no score before the added ones" in notes
