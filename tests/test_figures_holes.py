"""The figures and tables of the page Holes."""

import math
from collections.abc import Hashable
from typing import Any

import pytest
from pandas import DataFrame

from compute.figures import holes as figures
from compute.figures import turning

RECORDED: dict[Hashable, Any] = {
    "n_judgements": 9,
    "highest": 2,
    "n_not_relevant": 3,
    "n_added": 0,
    "n_added_not_relevant": 0,
}


def scored(**values: float) -> DataFrame:
    """Systems with their scores, the best first; each can be .1 less to .2 more."""
    rows = [
        {
            "system": name,
            "title": f"<i>{name}</i> %{{x}}",
            "n_queries": 1200,
            "n_holes": 34,
            "value": value,
            "low": value - 0.1,
            "high": value + 0.2,
            "hole": 0.4,
            "hole_beir": 0.25,
        }
        for name, value in values.items()
    ]
    return DataFrame(rows)


def pair(first: str, second: str, difference: float, low: float, high: float, verdict: str) -> dict:
    keys = ("first", "second", "difference", "low", "high", "verdict")
    return dict(zip(keys, (first, second, difference, low, high, verdict), strict=True))


PAIRS = DataFrame(
    [
        pair("a", "b", 0.2, -0.1, 0.3, "open"),
        pair("c", "a", -0.4, -0.5, -0.3, "second"),
        pair("b", "c", 0.2, 0.1, 0.4, "first"),
    ]
)


def trace(figure: Any, name: str) -> Any:
    traces: list[Any] = list(figure.data)
    (found,) = [one for one in traces if one.name == name]
    return found


def texts(figure: Any) -> dict[tuple[int, int], str]:
    """What stands in the cells, by column and row."""
    traces = [one for one in figure.data if one.type == "scatter"]
    cells = [cell for one in traces for cell in zip(one.x, one.y, one.text, strict=True)]
    return {(x, y): text for x, y, text in cells}


def said(figure: Any) -> str:
    return " ".join(note.text for note in figure.layout.annotations)


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_a_bar_over_all_a_score_can_be(theme: str) -> None:
    figure = figures.score_intervals(scored(a=0.6, b=0.4), "nDCG@10", theme=theme)
    assert trace(figure, "score (holes count as not relevant)").x == (0.6, 0.4)
    bar = trace(figure, "all it can be")
    assert bar.x == pytest.approx((0.5, 0.8, None, 0.3, 0.6, None))
    assert bar.y == (0, 0, None, 1, 1, None)
    traces: list[Any] = list(figure.data)
    assert not {"expected", "holes left out"} & {one.name for one in traces}


def test_guesses_are_marked_where_there_are_any() -> None:
    rows = scored(a=0.6).assign(expected=0.7, condensed=0.65)
    figure = figures.score_intervals(rows, "nDCG@10", theme="light")
    assert trace(figure, "expected").x == (0.7,)
    assert trace(figure, "holes left out").x == (0.65,)
    hover = trace(figure, "all it can be").hovertext[0]
    assert "nDCG@10 0.600, can be 0.500 to 0.800" in hover
    assert "34 holes in 1,200 queries" in hover and "expected: 0.700" in hover


def test_hole_shares_stand_at_the_right_both_ways() -> None:
    figure = figures.score_intervals(scored(a=0.6), "P@5", theme="light")
    assert "<b>40%</b>" in said(figure) and "25%" in said(figure)
    assert "Hole@5" in said(figure) and "never<br>judged" in said(figure)


def test_a_system_without_hits_has_no_share() -> None:
    rows = scored(a=0.0).assign(hole=float("nan"))
    assert "<b>–</b>" in said(figures.score_intervals(rows, "nDCG@10", theme="light"))


def test_the_scale_holds_every_bar_and_no_more() -> None:
    across: Any = figures.score_intervals(scored(a=0.8, b=0.6), "nDCG@10", theme="light").layout
    assert across.xaxis.ticktext == (".4", ".5", ".6", ".7", ".8", ".9", "1.0")
    low, high = across.xaxis.range
    assert 0.3 < low < 0.5 and 1 < high < 1.1


def test_titles_are_drawn_letter_by_letter() -> None:
    rows = scored(a=0.6, b=0.4)
    drawn: list[Any] = [
        figures.score_intervals(rows, "nDCG@10", theme="light"),
        turning.order_matrix(rows, PAIRS.head(1), "nDCG@10", theme="light"),
    ]
    for figure in drawn:
        assert "&lt;i&gt;" in figure.to_json().replace("\\u003c", "<")
        assert "<i>" not in figure.to_json().replace("\\u003c", "<")
        hovers = [one.hovertemplate for one in figure.data if one.hovertemplate]
        assert set(hovers) == {"%{hovertext}<extra></extra>"}, "a title must be no template"


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_the_matrix_has_the_better_system_across(theme: str) -> None:
    figure: Any = turning.order_matrix(scored(a=0.8, b=0.6, c=0.4), PAIRS, "nDCG@10", theme=theme)
    heat = figure.data[0]
    # b and c down, a and b across: open 0, holds 2.
    assert [list(row) for row in heat.z] == [[0, None], [2, 2]]
    assert figure.layout.yaxis.ticktext == tuple(f"&lt;i&gt;{n}&lt;/i&gt; %{{x}}" for n in "bc")
    assert texts(figure) == {(0, 1): ".200", (0, 2): ".400", (1, 2): ".200"}
    assert "+0.400, can be +0.300 to +0.500<br>holds" in heat.hovertext[1][0]
    assert "the holes could turn it" in heat.hovertext[0][0]


def test_a_large_matrix_has_its_numbers_in_the_hover() -> None:
    names = [f"s{place}" for place in range(turning.MOST_WITH_NUMBERS + 1)]
    rows = scored(**{name: 0.9 - place / 100 for place, name in enumerate(names)})
    pairs = DataFrame([pair(names[0], name, 0.1, 0, 0.2, "open") for name in names[1:]])
    figure: Any = turning.order_matrix(rows, pairs, "nDCG@10", theme="light")
    assert [one.type for one in figure.data] == ["heatmap"]
    assert "+0.100" in figure.data[0].hovertext[0][0]


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (("open", "first"), "could turn 1 of the 2 orders."),
        (("open", "open"), "could turn all of the 2 orders."),
        (("equal", "second"), "could turn none of the 2 orders."),
    ],
)
def test_how_many_orders_could_turn_is_said(verdicts: tuple[str, ...], words: str) -> None:
    pairs = PAIRS.head(2).assign(verdict=list(verdicts))
    notes = turning.orders_note(pairs, n_left_out=0)
    assert words in notes[0] and not notes[-1]
    assert "3 systems" in turning.orders_note(pairs, n_left_out=3)[-1]


def test_ranks_show_what_is_unjudged_and_leave_empty_ranks_blank() -> None:
    ranks = DataFrame(
        [("a", 1, 4, 1, 2), ("a", 2, 4, 4, 0), ("b", 1, 4, 0, 4), ("b", 2, 0, 0, 0)],
        columns=["system", "rank", "n_filled", "n_holes", "n_relevant"],
    )
    figure: Any = figures.rank_heatmap(scored(b=0.9, a=0.5), ranks, theme="dark")
    heat = figure.data[0]
    assert heat.z[0][0] == 0 and math.isnan(heat.z[0][1])
    assert list(heat.z[1]) == [0.25, 1]
    assert texts(figure) == {(1, 0): "0", (1, 1): "25", (2, 1): "100"}
    assert "1 of 4 unjudged, 2 relevant" in heat.hovertext[1][0]


def test_what_collections_of_relevant_documents_cannot_tell_is_said() -> None:
    silent = RECORDED | {"n_not_relevant": 0, "n_added": 20, "highest": 1}
    notes = " ".join(figures.intervals_note(scored(a=0.5), "nDCG@10", silent))
    assert "Only relevant documents are recorded" in notes
    assert "30 more added judgements" in notes and "any grade, 0 or 1;" in notes
    told = scored(a=0.5).assign(expected=0.6, condensed=0.6)
    assert "optimistic" in " ".join(figures.intervals_note(told, "nDCG@10", RECORDED))
    enough = silent | {"n_added": 80}
    assert "what the added and judged" in " ".join(figures.intervals_note(told, "nDCG@10", enough))
    assert "after added judgements" in figures.intervals_note(scored(a=0.5), "P@10", enough)[-1]


def test_added_judgements_that_do_not_count_now_are_not_asked_for_again() -> None:
    none = RECORDED | {"n_not_relevant": 0}
    added = none | {"n_added": 60, "n_added_not_relevant": 40}
    note = figures.intervals_note(scored(a=0.5), "P@10", none, added)[-1]
    assert note.endswith("Both appear where official + added is chosen above.")
    few = none | {"n_added": 20, "n_added_not_relevant": 20}
    note = figures.intervals_note(scored(a=0.5), "P@10", none, few)[-1]
    assert "Both appear after 30 more added judgements" in note


def test_a_changed_order_is_said() -> None:
    before = scored(a=0.4, b=0.3, c=0.2, d=0.2)
    assert "is the same" in figures.order_note(before, before.assign(value=[0.4, 0.3, 0.1, 0.2]))
    one = figures.order_note(before, before.assign(value=[0.3, 0.4, 0.2, 0.2])).replace("%{x}", "")
    assert one == "The order changed: <i>b</i>  is now ahead of <i>a</i> ."
    many = figures.order_note(before, before.assign(value=[0.1, 0.2, 0.3, 0.4]))
    assert many.count("ahead of") == 3 and many.endswith("and 2 more pairs.")
    assert figures.order_note(before.head(1), before.head(1)) == ""


def test_only_where_the_best_list_moves_is_it_said_to_move() -> None:
    assert "best list" in figures.intervals_note(scored(a=0.5), "nDCG@10", RECORDED)[0]
    assert "best list" not in figures.intervals_note(scored(a=0.5), "P@10", RECORDED)[0]


def test_before_and_after_side_by_side() -> None:
    before, after = scored(a=0.6, b=0.5), scored(b=0.7, a=0.6).assign(hole=0.1)
    table: Any = figures.before_and_after(before, after, "nDCG@10")
    assert table.data.values.tolist() == [
        ["<i>b</i> %{x}", 0.5, 0.7, pytest.approx(0.2), 0.4, 0.1, 2, 1],
        ["<i>a</i> %{x}", 0.6, 0.6, 0.0, 0.4, 0.1, 1, 2],
    ]
    assert "+.200" in table.to_html() and "10%" in table.to_html()


def test_the_printed_effect_best_first() -> None:
    rows = [("ANCE", 0.654, 0.735, 0.144), ("docT5query", 0.713, 0.714, 0.028)]
    table: Any = figures.published_effect(
        DataFrame(rows, columns=["title", "before", "after", "hole"])
    )
    assert table.data["System"].tolist() == ["ANCE", "docT5query"]
    assert ".735" in table.to_html() and "+.081" in table.to_html() and "14%" in table.to_html()


def test_the_numbers_behind_the_bars() -> None:
    table: Any = figures.interval_table(scored(a=0.6).assign(expected=0.7), "nDCG@10")
    heads = ["System", "nDCG@10", "Low", "High", "Expected", "Hole@10", "Never judged", "Holes"]
    assert list(table.data.columns) == heads
    assert ".500" in table.to_html() and "25%" in table.to_html()
