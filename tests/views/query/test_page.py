"""The Query page asked without a browser: systems, queries, documents and the sum of a score."""

from collections.abc import Iterator
from typing import Any, cast

import plotly.graph_objects as go
import pytest
from pandas import DataFrame

from compute.base.errors import Missing
from compute.evaluate.measures import MEASURES
from compute.views.dataset.page import page as dataset_page
from compute.views.efficiency import augmented_table
from compute.views.page import (
    Ask,
    Button,
    Figure,
    Message,
    Note,
    Passage,
    Table,
    Widget,
    find,
    parts,
)
from compute.views.page.store_ask import opened
from compute.views.query.page import page
from compute.views.query.words import by_value
from tests.support import filled
from tests.support.filled import HOSTILE

REWRITTEN = DataFrame(
    {
        "query_id": ["q1", "q1", "q1", "q2"],
        "piece": ["ships", "in", "lighthouse", "river"],
        "in_query": [True, True, False, True],
        "weight": [0.5, 0.0, 0.25, 1.0],
    }
)


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """The tiny collection with a run that asked other queries, and one of a hostile name."""
    bench = filled.having(tmp_path_factory.mktemp("query"))
    of: dict[str, Any] = {"dataset": "tiny", "system": "plain", "fingerprint": "asked"}
    with bench.store.publishing("test") as publication:
        publication.add("augmented", REWRITTEN, provenance={}, **of)
    with opened(bench.store) as found:
        yield found


def shown(ask: Ask, kind: type, **address: Any) -> list[Any]:
    return [part for part in parts(page, ask, dataset="tiny", **address) if isinstance(part, kind)]


def drawn(ask: Ask, key: str, **address: Any) -> go.Figure:
    return cast(Figure, find(page, ask, key, dataset="tiny", **address).part).drawn(theme="light")


def rows(ask: Ask, key: str, **address: Any) -> DataFrame:
    return cast(Table, find(page, ask, key, dataset="tiny", **address).part).shown


def boxes(ask: Ask, **address: Any) -> list[str]:
    """The labels in the ranked lists."""
    traces: Any = drawn(ask, "lists", **address).data
    return [text for trace in traces for text in trace.text or ()]


def told(ask: Ask, **address: Any) -> str:
    return " ".join(fact for note in shown(ask, Note, **address) for fact in note.facts)


@pytest.mark.parametrize(
    ("address", "systems"),
    [
        ({"systems": f"plain,{HOSTILE}"}, ["plain", "mine"]),
        ({"systems": [HOSTILE, "plain"]}, ["mine", "plain"]),
        ({"systems": "plain"}, ["plain"]),
        ({"a": "plain", "b": HOSTILE}, ["plain", "mine"]),
        ({"b": HOSTILE}, ["plain", "mine"]),
        ({"b": "plain"}, ["plain"]),
        ({"a": HOSTILE, "b": HOSTILE}, ["mine"]),
    ],
)
def test_an_address_names_the_lists_in_either_manner_from_left_to_right(
    ask: Ask, address: dict[str, Any], systems: list[str]
) -> None:
    layout: Any = drawn(ask, "lists", query="q1", **address).layout
    heads = layout.annotations
    assert len(heads) == len(systems)
    assert all(name in head.text for name, head in zip(systems, heads, strict=True))


def test_without_systems_the_page_says_how_many_can_be_chosen(ask: Ask) -> None:
    assert shown(ask, Message, systems="") == [Message("Choose up to four systems.")]


@pytest.mark.parametrize(("systems", "first"), [("plain", "d1"), ([HOSTILE, "plain"], "d4")])
def test_the_document_of_the_leftmost_list_is_read_first(
    ask: Ask, systems: Any, first: str
) -> None:
    read = [one.values for one in shown(ask, Widget, systems=systems, query="q1")]
    assert [values["doc_id"] for values in read if "doc_id" in values] == [first]


def test_boxes_have_the_signs_that_the_caption_explains(ask: Ask) -> None:
    labels = boxes(ask, systems=[HOSTILE, "plain"], query="q1")
    assert sorted(label.split(" ")[0] for label in labels) == ["<b>?</b>"] * 2 + ["✓2"] * 2
    (lists,) = (one for one in shown(ask, Figure) if one.key == "lists")
    assert "? unjudged" in str(lists.legend)


@pytest.mark.parametrize(
    ("ranks", "order"), [("100", "lowest score first"), ("10", "highest score first")]
)
def test_deeper_lists_and_other_orders_draw(ask: Ask, ranks: str, order: str) -> None:
    assert boxes(ask, ranks=ranks, order=order)


def test_the_sum_is_the_stored_score(ask: Ask) -> None:
    # d1 of grade 2 first, d4 unjudged; the best order has d5 of grade 1 second.
    table = rows(ask, "sum", systems="plain", query="q1")
    assert table["Contribution"].tolist() == ["2", "0", "2"]
    assert table["Ideal contribution"].tolist() == ["2", "0.6309", "2.6309"]
    words = told(ask, systems="plain", query="q1")
    assert "2 ÷ 2.6309 (the sum of the best order) = .7602, as stored." in words


@pytest.mark.parametrize("measure", [*MEASURES[:4], "Hole_beir@10"])
def test_a_measure_is_taken_apart_or_said_not_to_be(ask: Ask, measure: str) -> None:
    words = told(ask, query="q1", measure=measure)
    assert (", as stored." in words) != ("is not a sum over ranks" in words)


def test_a_relevant_document_that_no_list_shows_can_be_read(ask: Ask) -> None:
    found = shown(ask, Passage, query="q1", document="d5")
    assert ("Lighthouse", "ships in the harbour") in [(one.title, one.query) for one in found]
    assert "d5: relevant, grade 1. Not in the list of" in told(ask, query="q1", document="d5")


def test_every_relevant_document_has_its_ranks(ask: Ask) -> None:
    """d5 is in no list; d1 is first in one and second in the other, whichever is shown."""
    table = rows(ask, "relevant", systems="plain", query="q1")
    assert table["Document"].tolist() == ["d1", "d5"]
    assert table["Grade"].tolist() == [2, 1]
    assert table.filter(like="Rank: ").fillna(0).to_numpy().tolist() == [[1], [0]]
    assert table["Other systems retrieving it"].tolist() == [1, 0]
    assert table["Lost"].tolist() == ["", "Not retrieved by any system"]


def test_buttons_and_keys_walk_the_order(ask: Ask) -> None:
    for query, before, after in (("q1", "", "q2"), ("q2", "q1", "q3"), ("q3", "q2", "")):
        steps = [one for one in shown(ask, Button, order="by id", query=query) if one.shortcut]
        assert [step.shortcut for step in steps] == ["P", "N"]
        assert [step.opens.names.get("query", "") for step in steps] == [before, after]
        assert [step.disabled for step in steps] == [not before, not after]


def test_queries_where_a_or_b_is_better_come_first(ask: Ask) -> None:
    def first(order: str, measure: str) -> str:
        address = {"systems": ["plain", HOSTILE], "order": order, "measure": measure}
        return shown(ask, Passage, **address)[0].title

    assert first("a ahead", "nDCG@10") != first("b ahead", "nDCG@10")
    # A lower share of unjudged documents is better.
    assert by_value("a ahead", "Hole@10") == by_value("b ahead", "nDCG@10") == "behind"


def test_words_narrow_the_queries(ask: Ask) -> None:
    (line, *_) = shown(ask, Passage, find="bridge", query="q1")
    assert line.title == "crossing the river by bridge"
    assert "1 of 3 queries contains 'bridge'." in told(ask, find="bridge")
    assert "3 queries." in told(ask)
    assert shown(ask, Message, find="no words") == [Message("No query contains 'no words'.")]


def test_a_system_that_rewrote_the_query_says_how(ask: Ask) -> None:
    assert "Added: 1 word piece; not searched at all: in." in told(ask, query="q1", systems="plain")
    assert drawn(ask, "augmented-plain", query="q1", systems="plain").data
    with pytest.raises(Missing, match="no 'augmented-plain'"):
        find(page, ask, "augmented-plain", dataset="tiny", query="q1", systems=HOSTILE)


def test_other_pages_have_it_beside_the_papers_table(ask: Ask) -> None:
    on_dataset = parts(dataset_page, ask, dataset="tiny", show="Systems")
    for found in (on_dataset, parts(augmented_table.section, ask)):
        (*_, table) = (part for part in found if isinstance(part, Table))
        assert table.shown["Words added"].iloc[0] == 0.5


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ({"dataset": "nosuch"}, "No dataset with ranked lists here is called nosuch"),
        ({"dataset": "fever"}, "then python -m compute run bm25 fever"),
        ({"dataset": "tiny", "a": "nosuch"}, "No run on tiny here is called nosuch"),
        ({"dataset": "tiny", "query": "nosuch"}, "No query of tiny here is called nosuch"),
        ({"dataset": "tiny", "measure": "nosuch"}, "No measure here is called nosuch"),
    ],
)
def test_wrong_names_are_said(ask: Ask, address: dict[str, str], said: str) -> None:
    with pytest.raises(Missing, match=said):
        parts(page, ask, **address)


class Noting:
    """An `Ask` that notes what it is asked."""

    def __init__(self, ask: Ask) -> None:
        self._ask, self.queries = ask, list[str]()

    def __call__(self, query: Any, **parameters: Any) -> DataFrame:
        self.queries.append(query.__name__)
        return self._ask(query, **parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ask, name)


def test_one_part_is_found_without_the_others(ask: Ask) -> None:
    # An address has the controls of other parts, too.
    noting = Noting(ask)
    find(page, cast(Ask, noting), "values", dataset="tiny", query="q1", beside="d4", sum="plain")
    assert not {"listed", "documents", "places", "judged"} & {*noting.queries}
    find(page, cast(Ask, noting), "sum", dataset="tiny", query="q1", beside="d4", sum="plain")
    assert not {"documents", "places"} & {*noting.queries}
