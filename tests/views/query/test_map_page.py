"""The Map page asked without a browser: places, orders, clicks and the document in a cell."""

from collections.abc import Iterator
from typing import Any, cast

import pytest
from pandas import DataFrame

from compute.base.errors import Missing
from compute.views.page import Ask, Button, Figure, Link, Note, Passage, Text, find, parts
from compute.views.page.store_ask import opened
from compute.views.query.map_page import page
from compute.views.query.rank_map import pack
from tests.support import filled
from tests.support.storage import hits, publish_run, scores
from tests.support.tiny import HOSTILE

RUN = "q1 Q0 d1 1 3.0 t\nq1 Q0 d4 2 2.0 t\nq2 Q0 d3 1 1.0 t\nq3 Q0 d6 1 1.0 t\n"


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """The tiny collection with one run, and a hundred queries without texts with another."""
    bench = filled.bench(tmp_path_factory.mktemp("map"))
    store = bench.store
    filled.take(bench, {"sure": RUN})
    names = [str(number) for number in range(1, 101)]
    asked = DataFrame({"query_id": names, "text": None, "n_words": 0})
    judged = DataFrame({"query_id": names, "doc_id": "d1", "relevance": 1})
    with store.publishing("made up") as publication:
        for kind, content in (("queries", asked), ("judgements", judged)):
            publication.add(kind, content, dataset="fiqa", fingerprint="f", provenance={})
    values = scores("nDCG@10", **{name: int(name) / 100 for name in names})
    publish_run(store, "fiqa", "bm25", hits(*[(name, "d1", 1) for name in names]), values)
    with opened(store) as found:
        yield found


def shown(ask: Ask, kind: type, **address: Any) -> list[Any]:
    return [part for part in parts(page, ask, **address) if isinstance(part, kind)]


def figure(ask: Ask, key: str, **address: Any) -> Figure:
    return cast(Figure, find(page, ask, key, **address).part)


def told(ask: Ask, **address: Any) -> str:
    return " ".join(fact for note in shown(ask, Note, **address) for fact in note.facts)


def test_few_queries_are_listed_all_at_once(ask: Ask) -> None:
    assert [one.key for one in shown(ask, Figure, dataset="tiny")] == ["map"]
    legend: Any = figure(ask, "map", dataset="tiny").legend
    assert "relevant, grade 2" in [words for _, _, words in legend("light")]


@pytest.mark.parametrize(
    ("address", "rows"),
    [
        ({"order": "lowest score first"}, "1 to 24"),
        ({"from": "60"}, "60 to 83"),
        ({"from": "999"}, "77 to 100"),
        ({"from": "x"}, "1 to 24"),
        ({"query": "50", "order": "by id"}, "38 to 61"),
    ],
)
def test_many_queries_are_a_picture_and_a_window_at_a_place(
    ask: Ask, address: dict[str, str], rows: str
) -> None:
    assert [one.key for one in shown(ask, Figure, dataset="fiqa", **address)] == ["all", "map"]
    assert [one.text for one in shown(ask, Text, dataset="fiqa", **address)] == [
        f"Queries {rows} of 100"
    ]


def test_buttons_move_the_window_and_stop_at_its_ends(ask: Ask) -> None:
    for start, before, after in (("1", "1", "25"), ("25", "1", "49"), ("77", "53", "101")):
        steps = shown(ask, Button, dataset="fiqa", **{"from": start})[:2]
        assert [step.opens.names["from"] for step in steps] == [before, after]
        assert [step.disabled for step in steps] == [start == "1", start == "77"]


def test_a_click_opens_the_document_of_a_cell_or_the_queries_around_a_row(ask: Ask) -> None:
    opens = cast(Any, figure(ask, "map", dataset="tiny", order="by id").opens)
    assert opens(pack(0, 0, 2)) == Link(names={"from": "1", "query": "q1", "document": "d4"})
    assert opens(pack(0, 0, 9)) == Link(names={"from": "1", "query": "q1"}), "nothing stands there"
    opens = cast(Any, figure(ask, "all", dataset="fiqa").opens)
    assert [opens(row) for row in (3, 50)] == [Link(names={"from": n}) for n in ("1", "39")]


def test_the_cells_of_the_opened_document_have_an_outline(ask: Ask) -> None:
    address = {"dataset": "tiny", "query": "q1", "document": "d4"}
    layout: Any = figure(ask, "map", **address).drawn(theme="light").layout
    assert len(layout.shapes) == 1


def test_a_document_stands_in_a_window_with_its_place(ask: Ask) -> None:
    address = {"dataset": "tiny", "query": "q1", "document": "d4"}
    asked, document = shown(ask, Passage, **address)
    assert asked.title == "q1: ships in the harbour"
    assert (document.title, document.query) == (HOSTILE, "ships in the harbour")
    assert "unjudged for this query. Ranked 2 by sure." in told(ask, **address)
    ways = [one.opens.names for one in shown(ask, Button, **address)]
    at = {"dataset": "tiny", "systems": "sure", "measure": "nDCG@10"}
    assert ways == [at, at | {"query": "q1", "document": "d4"}]


def test_a_document_without_text_says_what_brings_it(ask: Ask) -> None:
    address = {"dataset": "fiqa", "query": "50", "document": "d1"}
    assert "Texts are not shipped" in shown(ask, Text, **address)[-1].text
    assert "relevant, grade 1. Ranked 1 by BM25" in told(ask, **address)


@pytest.mark.parametrize(("ranks", "other"), [("10", "sure"), ("100", "–")])
def test_depths_and_a_second_system_draw(ask: Ask, ranks: str, other: str) -> None:
    assert figure(ask, "map", dataset="tiny", ranks=ranks, other=other).drawn(theme="dark").data


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ({"dataset": "nosuch"}, "No dataset with ranked lists here is called nosuch"),
        ({"dataset": "fever"}, "Nothing has been computed on FEVER yet"),
        ({"dataset": "tiny", "system": "nosuch"}, "No run on tiny here is called nosuch"),
        ({"dataset": "tiny", "other": "nosuch"}, "No run on tiny here is called nosuch"),
    ],
)
def test_wrong_names_are_said(ask: Ask, address: dict[str, str], said: str) -> None:
    with pytest.raises(Missing, match=said):
        parts(page, ask, **address)
