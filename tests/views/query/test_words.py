"""The ranked lists side by side, and documents as safe HTML."""

from html.parser import HTMLParser
from typing import Any

import pandas as pd
import pytest
from pandas import DataFrame

from compute.views.page import offers
from compute.views.query.ranked_lists import ranked_lists
from compute.views.query.words import judgement, value_columns, value_rows
from compute.views.shared.text import document, highlighted, query_words
from tests.support.tiny import HOSTILE
from tests.views.records import under

SYSTEMS = (("bm25", "BM25"), ("minilm", "<b>MiniLM</b>"))


def lists(*rows: tuple[str, int, str, float | None]) -> DataFrame:
    """system, rank, doc_id, relevance; without texts."""
    frame = DataFrame(rows, columns=["system", "rank", "doc_id", "relevance"])
    frame["relevance"] = frame["relevance"].astype("Int64")
    return frame.assign(score=1 / frame["rank"], title=None, text=None)


def drawn(*arguments: Any, theme: str = "light", **options: Any) -> Any:
    """The figure, its parts reachable by name: Plotly's own types know none."""
    return ranked_lists(*arguments, theme=theme, **options)


def labels(figure: Any) -> list[str]:
    return [text for trace in figure.data if trace.mode == "text" for text in trace.text]


def curves(figure: Any) -> list[Any]:
    return [trace for trace in figure.data if trace.mode == "lines"]


def test_a_document_in_both_lists_is_joined_by_a_curve() -> None:
    shown = lists(("bm25", 1, "d1", 1), ("bm25", 2, "d2", 0), ("minilm", 2, "d1", 1))
    (curve,) = curves(drawn(shown, SYSTEMS))
    assert (curve.y[0], curve.y[-1]) == (1, 2)


def test_curves_join_neighbouring_lists_only() -> None:
    shown = lists(("a", 1, "d1", 1), ("c", 1, "d1", 1), ("b", 1, "d2", 1))
    figure = drawn(shown, [("a", "A"), ("b", "B"), ("c", "C")])
    assert curves(figure) == []


def test_the_chosen_document_has_the_thick_curve_and_the_outlined_boxes() -> None:
    shown = lists(*[(name, rank, f"d{rank}", None) for name, _ in SYSTEMS for rank in (1, 2)])
    figure = drawn(shown, SYSTEMS, chosen="d2", theme="dark")
    assert [curve.line.width for curve in curves(figure)] == [1.5, 3]
    assert [box.line.width for box in figure.layout.shapes].count(3) == 2


def test_boxes_tell_relevant_judged_and_holes_apart() -> None:
    shown = lists(("bm25", 1, "d1", 2), ("bm25", 2, "d2", 1), ("bm25", 3, "d3", 0))
    shown = pd.concat([shown, lists(("bm25", 4, "d4", None))])
    figure = drawn(shown, SYSTEMS[:1])
    assert sorted(labels(figure)) == ["<b>?</b> d4", "· d3", "✓ d2", "✓2 d1"]
    assert [box.line.dash for box in figure.layout.shapes] == [None, None, None, "dot"]


def test_a_grade_below_zero_is_judged_not_relevant() -> None:
    assert [judgement(grade) for grade in (2, 0, -1, float("nan"))] == [
        "relevant",
        "judged",
        "judged",
        "hole",
    ]


def test_the_head_counts_holes_over_the_ranks_that_are_filled() -> None:
    shown = lists(("bm25", 1, "d1", None), ("bm25", 2, "d2", 1), ("bm25", 3, "d3", None))
    figure = drawn(shown, SYSTEMS, notes=["nDCG@10 .500", ""])
    heads = [head.text for head in figure.layout.annotations]
    assert "2/3 unjudged  nDCG@10 .500" in heads[0]
    assert "no hits" in heads[1]


def test_every_box_can_be_clicked_on_its_own_axes_and_names_its_document() -> None:
    shown = lists(("bm25", 1, "d1", 1), ("minilm", 1, "d<2>", None))
    targets = [trace for trace in drawn(shown, SYSTEMS).data if trace.mode == "markers"]
    assert [set(target.customdata) for target in targets] == [{"d1"}, {"d<2>"}]
    assert [target.xaxis for target in targets] == ["x2", "x3"]
    assert {target.marker.opacity for target in targets} == {0}


def test_ranks_below_the_depth_are_not_drawn() -> None:
    shown = lists(("bm25", 1, "d1", 1), ("bm25", 11, "d2", 1))
    assert len(drawn(shown, SYSTEMS, depth=10).layout.shapes) == 1


@pytest.mark.parametrize("column", ["title", "text", "doc_id"])
def test_hostile_words_stay_words_in_the_figure(column: str) -> None:
    shown = lists(("bm25", 1, "d1", 1)).assign(**{column: HOSTILE})
    figure = drawn(shown, SYSTEMS)
    hovers = [text for trace in figure.data for text in trace.hovertext or ()]
    heads = [head.text for head in figure.layout.annotations]
    for words in [*labels(figure), *hovers, *heads]:
        bare = words.replace("<b>", "").replace("</b>", "").replace("<br>", "")
        assert "<script" not in words
        assert "<" not in bare.replace("<span", "").replace("</span", "").replace("<extra", "")
        assert "$" not in words
    assert "&lt;script&gt;" in labels(figure)[0]


def test_the_values_of_a_query_stand_in_one_row_per_system() -> None:
    values = DataFrame(
        [("bm25", "nDCG@10", 0.5), ("minilm", "nDCG@10", 1.0), ("bm25", "Hole@10", 0.0)],
        columns=["system", "measure", "value"],
    )
    rows = value_rows(values, SYSTEMS)
    table = under(value_columns(rows, ("nDCG@10", "R@100", "Hole@10")), rows)
    assert table.to_numpy().tolist() == [["BM25", ".500", ".000"], ["<b>MiniLM</b>", "1.000", "–"]]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words += data


def read(html: str) -> _Tags:
    parser = _Tags()
    parser.feed(html)
    parser.close()
    return parser


def test_a_hostile_document_stays_text_and_loses_nothing() -> None:
    page = read(document(HOSTILE, f"before {HOSTILE} after", HOSTILE))
    assert set(page.tags) == {"div", "strong", "mark", "p"}
    assert page.words == f"{HOSTILE}before {HOSTILE} after"


def test_words_of_the_query_are_marked_whatever_their_case() -> None:
    page = highlighted("The Harbour, a harbour; harbours.", "the harbour")
    assert [part.split("</mark>")[0] for part in page.split('0.1rem">')[1:]] == [
        "Harbour",
        "harbour",
        "harbours",
    ]


def test_stop_words_and_single_letters_are_not_marked() -> None:
    assert query_words("Is the vitamin D of THAN i 5 c25?") == {"vitamin", "c25"}


def test_a_word_is_marked_in_any_script() -> None:
    assert "<mark" in highlighted("Füße und żółć", "żółć")
    assert query_words("Füße") == {"füße".casefold()}


def test_an_entity_in_the_text_is_shown_as_it_is_written() -> None:
    assert read(highlighted("&lt;b&gt; &amp;", "lt")).words == "&lt;b&gt; &amp;"


def test_bm25_or_the_best_two_are_shown_first() -> None:
    assert offers.first_pair(["a", "b", "bm25", "c"], ["c", "b"]) == ("c", "b")
    assert offers.first_pair(["a", "b", "c"], ["c", "gone", "a", "b"]) == ("c", "a")
    assert offers.first_pair(["a", "b", "c"], ["c"]) == ("a", "c")
    assert offers.first_pair(["a"], ["a"]) == ("a", "a")
