"""The figures and tables of the Holes page."""

import math
from collections.abc import Hashable
from typing import Any

import pytest
from pandas import DataFrame

from compute.views.holes import intervals as figures
from compute.views.holes import order_flips
from compute.views.shared import axes
from tests.support.holes import html, words

RECORDED: dict[Hashable, Any] = {
    "n_judgements": 9,
    "highest": 2,
    "n_not_relevant": 3,
    "n_added": 0,
    "n_added_not_relevant": 0,
}


def scored(**values: float) -> DataFrame:
    """Systems with their scores, the best first; each can be .1 less to .2 more by its own list,
    .15 less in the pool, .3 in the collection."""
    rows = [
        {
            "system": name,
            "title": f"<i>{name}</i> %{{x}}",
            "n_queries": 1200,
            "n_holes": 34,
            "value": value,
            "low": value - 0.1,
            "high": value + 0.2,
            "pool_low": value - 0.15,
            "pool_high": value + 0.2,
            "collection_low": value - 0.3,
            "collection_high": value + 0.2,
            "hole": 0.4,
            "hole_beir": 0.25,
        }
        for name, value in values.items()
    ]
    return DataFrame(rows)


ABOUT: dict[Hashable, Any] = {
    "systems": ["bm25", "mine"],
    "least_depth": 100,
    "most_depth": 100,
    "n_hits": 7,
    "n_documents": 5183,
}


def pair(
    first: str,
    second: str,
    difference: float,
    low: float,
    high: float,
    verdict: str,
    wider: tuple[str, str] | None = None,
) -> dict:
    """A pair whose ends are the same in all ranges; `wider`: the verdicts of pool, collection."""
    keys = ("first", "second", "difference", "low", "high", "verdict")
    found = dict(zip(keys, (first, second, difference, low, high, verdict), strict=True))
    for name, told in zip(("pool", "collection"), wider or (verdict, verdict), strict=True):
        found |= {f"{name}_low": low, f"{name}_high": high, f"{name}_verdict": told}
    return found


PAIRS = DataFrame(
    [
        pair("a", "b", 0.2, -0.1, 0.3, "open"),
        pair("c", "a", -0.4, -0.5, -0.3, "second"),
        pair("b", "c", 0.2, 0.1, 0.4, "first", ("first", "open")),
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
def test_a_bar_over_the_own_list_and_thinner_lines_over_pool_and_collection(theme: str) -> None:
    figure = figures.score_intervals(scored(a=0.6, b=0.4), "nDCG@10", theme=theme)
    assert trace(figure, "score (unjudged = not relevant)").x == (0.6, 0.4)
    bar, pool, whole = (trace(figure, name) for name in ("top k", "pool", "corpus"))
    assert bar.x == pytest.approx((0.5, 0.8, None, 0.3, 0.6, None))
    assert bar.y == (0, 0, None, 1, 1, None)
    assert pool.x[:2] == pytest.approx((0.45, 0.8)) and whole.x[:2] == pytest.approx((0.3, 0.8))
    assert bar.line.width > pool.line.width > whole.line.width
    traces: list[Any] = list(figure.data)
    assert traces.index(whole) < traces.index(pool) < traces.index(bar), "the bar lies on the lines"
    assert not {"imputed", "condensed list"} & {one.name for one in traces}


def test_guesses_are_marked_where_there_are_any() -> None:
    rows = scored(a=0.6).assign(expected=0.7, condensed=0.65)
    figure = figures.score_intervals(rows, "nDCG@10", theme="light")
    assert trace(figure, "imputed").x == (0.7,)
    assert trace(figure, "condensed list").x == (0.65,)
    hover = trace(figure, "top k").hovertext[0]
    assert "nDCG@10 0.600; possible range<br>top k: 0.500 to 0.800<br>pool: 0.450 to" in hover
    assert "corpus: 0.300 to 0.800" in hover
    assert "34 unjudged in 1,200 queries" in hover and "imputed: 0.700" in hover


def test_hole_shares_stand_at_the_right_both_ways() -> None:
    figure = figures.score_intervals(scored(a=0.6), "P@5", theme="light")
    assert "<b>40%</b>" in said(figure) and "25%" in said(figure)
    assert "Hole@5" in said(figure) and "judged for<br>no query" in said(figure)


def test_a_system_without_hits_has_no_share() -> None:
    rows = scored(a=0.0).assign(hole=float("nan"))
    assert "<b>–</b>" in said(figures.score_intervals(rows, "nDCG@10", theme="light"))


def test_the_scale_holds_every_bar_and_no_more() -> None:
    across: Any = figures.score_intervals(scored(a=0.8, b=0.6), "nDCG@10", theme="light").layout
    assert across.xaxis.ticktext == (".2", ".3", ".4", ".5", ".6", ".7", ".8", ".9", "1.0")
    low, high = across.xaxis.range
    assert 0.1 < low < 0.3 and 1 < high < 1.1


def test_titles_are_drawn_letter_by_letter() -> None:
    rows = scored(a=0.6, b=0.4)
    drawn: list[Any] = [
        figures.score_intervals(rows, "nDCG@10", theme="light"),
        order_flips.order_matrix(rows, PAIRS.head(1), "nDCG@10", theme="light"),
    ]
    for figure in drawn:
        assert "&lt;i&gt;" in figure.to_json().replace("\\u003c", "<")
        assert "<i>" not in figure.to_json().replace("\\u003c", "<")
        hovers = [one.hovertemplate for one in figure.data if one.hovertemplate]
        assert set(hovers) == {"%{hovertext}<extra></extra>"}, "a title must be no template"


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_the_matrix_has_the_better_system_across(theme: str) -> None:
    figure: Any = order_flips.order_matrix(
        scored(a=0.8, b=0.6, c=0.4), PAIRS, "nDCG@10", theme=theme
    )
    heat = figure.data[0]
    # b and c down, a and b across: open 0; 4 holds in the collection, 3 in the pool.
    assert [list(row) for row in heat.z] == [[0, None], [4, 3]]
    assert figure.layout.yaxis.ticktext == tuple(f"&lt;i&gt;{n}&lt;/i&gt; %{{x}}" for n in "bc")
    assert texts(figure) == {(0, 1): ".200", (0, 2): ".400", (1, 2): ".200"}
    held = (
        "+0.400; possible range<br>top k: +0.300 to +0.500, holds<br>pool: +0.300 to +0.500, holds"
    )
    assert held in heat.hovertext[1][0]
    assert "top k: −0.100 to +0.300, could flip" in heat.hovertext[0][0]
    assert (
        "pool: +0.100 to +0.400, holds<br>corpus: +0.100 to +0.400, could flip"
        in (heat.hovertext[1][1])
    )


def test_a_large_matrix_has_its_numbers_in_the_hover() -> None:
    names = [f"s{place}" for place in range(order_flips.MOST_WITH_NUMBERS + 1)]
    rows = scored(**{name: 0.9 - place / 100 for place, name in enumerate(names)})
    pairs = DataFrame([pair(names[0], name, 0.1, 0, 0.2, "open") for name in names[1:]])
    figure: Any = order_flips.order_matrix(rows, pairs, "nDCG@10", theme="light")
    assert [one.type for one in figure.data] == ["heatmap"]
    assert "+0.100" in figure.data[0].hovertext[0][0]


def test_how_many_orders_could_turn_is_said_of_each_range() -> None:
    said = "Pairs whose order could flip, of 3: 1 (top k), 1 (pool), 2 (corpus)."
    assert order_flips.turned(PAIRS) == said
    note = order_flips.orders_note
    assert "Left out" not in words(note(PAIRS, "nDCG@10", n_left_out=0))
    assert "Left out: the 3 systems" in words(note(PAIRS, "nDCG@10", n_left_out=3))
    uncounted = PAIRS.drop(columns=["pool_low", "pool_high", "pool_verdict"])
    said = "Pairs whose order could flip, of 3: 1 (top k), 2 (corpus)."
    assert order_flips.turned(uncounted) == said


def test_where_no_order_holds_a_sentence_says_so() -> None:
    assert not order_flips.none_holds(PAIRS)
    none = PAIRS.assign(verdict="open")
    assert "All 3 pairwise orders could flip" in order_flips.none_holds(none)
    assert "The order of the two systems could flip" in order_flips.none_holds(none.head(1))


def test_ranges_of_differences_that_are_not_exact_are_called_so() -> None:
    assert "may be narrower" in words(order_flips.orders_note(PAIRS, "AP@10", n_left_out=0))
    assert "upper" not in words(order_flips.orders_note(PAIRS, "nDCG@10", n_left_out=0))
    assert order_flips.most_paired("nDCG@10", 10_000) == order_flips.MOST_PAIRED
    assert order_flips.most_paired("AP@10", 10_000) == 3
    assert order_flips.most_paired("AP@10", 50) == order_flips.MOST_PAIRED


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
    how = words(figures.intervals_note(scored(a=0.5), "nDCG@10", silent, ABOUT))
    assert "any grade, 0 or 1." in how
    note = words(figures.last_note(scored(a=0.5), silent))
    assert "The official qrels contain only relevant documents" in note
    assert "30 more added judgements" in note
    told = scored(a=0.5).assign(expected=0.6, condensed=0.6)
    assert "optimistic" in words(figures.last_note(told, RECORDED))
    enough = silent | {"n_added": 80}
    assert "of added and judged" in words(figures.last_note(told, enough))
    assert "after added judgements" in words(figures.last_note(scored(a=0.5), enough))


def test_added_judgements_that_do_not_count_now_are_not_asked_for_again() -> None:
    none = RECORDED | {"n_not_relevant": 0}
    added = none | {"n_added": 60, "n_added_not_relevant": 40}
    note = words(figures.last_note(scored(a=0.5), none, added))
    assert note.endswith("Both appear if you choose official + added judgements above.")
    few = none | {"n_added": 20, "n_added_not_relevant": 20}
    few_note = words(figures.last_note(scored(a=0.5), none, few))
    assert "Both appear after 30 more added judgements" in few_note


def test_a_changed_order_is_said() -> None:
    before = scored(a=0.4, b=0.3, c=0.2, d=0.2)
    assert "is the same" in figures.order_note(before, before.assign(value=[0.4, 0.3, 0.1, 0.2]))
    one = figures.order_note(before, before.assign(value=[0.3, 0.4, 0.2, 0.2])).replace("%{x}", "")
    said = "The ranking changed (not tested): <i>b</i>  now leads <i>a</i>  by .100."
    assert one == said
    close = figures.order_note(before, before.assign(value=[0.3, 0.30004, 0.2, 0.2]))
    assert close.endswith("is the same before and after, except for leads below .001.")
    many = figures.order_note(before, before.assign(value=[0.1, 0.2, 0.3, 0.4]))
    assert many.count("now leads") == 3 and many.endswith("and 2 more pairs.")
    assert figures.order_note(before.head(1), before.head(1)) == ""


def noted(measure: str, rows: DataFrame | None = None, **about: Any) -> str:
    rows = scored(a=0.5) if rows is None else rows
    return words(figures.intervals_note(rows, measure, RECORDED, ABOUT | about))


def test_what_raises_the_divisor_is_said_of_each_measure() -> None:
    assert "Wider ranges only lower the lower bound" in noted("nDCG@10")
    assert "The three ranges are the same" in noted("P@10")


def test_the_ranges_are_named_with_what_they_are_over() -> None:
    said = noted("nDCG@10")
    assert "Bar: range if unjudged documents in the top 10 get any grade, 0 to " in said
    assert (
        "Thinner line: range if any document in the pool of 2 stored runs could be relevant."
        in said
    )
    assert "Thinnest line: the corpus of 5,183." in said
    assert "Over 1,200 judged queries" in said
    assert "whose size is unknown" in noted("R@5", n_documents=float("nan"))


def test_a_pool_that_is_too_large_to_count_here_is_named_and_not_drawn() -> None:
    rows = scored(a=0.5).drop(columns=["pool_low", "pool_high"])
    assert "too large to compute here" in noted("R@10", rows)
    assert "python -m compute holes" in noted("R@10", rows)
    figure = figures.score_intervals(rows, "R@10", theme="light")
    traces: list[Any] = list(figure.data)
    assert "pool" not in {one.name for one in traces}


def test_a_range_that_is_no_wider_is_neither_drawn_nor_in_the_legend() -> None:
    rows = scored(a=0.5, b=0.4)
    rows["collection_low"] = rows["pool_low"] + 0.001
    traces: list[Any] = list(figures.score_intervals(rows, "nDCG@10", theme="light").data)
    names = [one.name for one in traces]
    assert "pool" in names and "corpus" not in names
    assert "No wider (not drawn): the corpus of 5,183." in noted("nDCG@10", rows)


def test_before_and_after_side_by_side() -> None:
    before, after = scored(a=0.6, b=0.5), scored(b=0.7, a=0.6).assign(hole=0.1)
    table = figures.before_and_after(before, after, "nDCG@10")
    assert table.shown.values.tolist() == [
        ["<i>b</i> %{x}", 0.5, 0.7, pytest.approx(0.2), 0.4, 0.1, 2, 1],
        ["<i>a</i> %{x}", 0.6, 0.6, 0.0, 0.4, 0.1, 1, 2],
    ]
    assert "+.200" in html(table) and "10%" in html(table)


def test_the_printed_effect_best_first() -> None:
    rows = [("ANCE", 0.654, 0.735, 0.144), ("docT5query", 0.713, 0.714, 0.028)]
    effect = DataFrame(rows, columns=["title", "before", "after", "hole"])
    table = figures.published_effect(effect)
    assert table.shown["System"].tolist() == ["ANCE", "docT5query"]
    assert ".735" in html(table) and "+.081" in html(table) and "14%" in html(table)


def test_the_numbers_behind_the_bars() -> None:
    table = figures.interval_table(scored(a=0.6).assign(expected=0.7), "nDCG@10")
    ends = [f"{name}: {end}" for name in ("Top k", "Pool", "Corpus") for end in ("low", "high")]
    heads = [
        "System",
        "nDCG@10",
        *ends,
        "Imputed",
        "Hole@10",
        "Not judged for any query",
        "Unjudged",
    ]
    assert list(table.shown.columns) == heads
    assert ".500" in html(table) and "25%" in html(table)


def test_the_verdict_says_how_much_is_unjudged_and_whose_score_that_leaves_open() -> None:
    rows = scored(one=0.5, two=0.4).assign(hole=[0.08, 0.4], high=[0.55, 0.6])
    rows["title"] = ["One", "Two"]
    assert figures.verdict(rows, "nDCG@10") == (
        "8–40% of the top 10 is unjudged. Most uncertain: Two, .400 (possible range from its top"
        " 10: .300–.600)."
    )
    alone = figures.verdict(rows.head(1), "nDCG@10")
    assert alone.startswith(
        "8% of the top 10 is unjudged. One, .500 (possible range from its top 10: .400–.550)"
    )
    none = figures.verdict(rows.assign(n_holes=0, hole=0.0), "P@5")
    assert none == "All documents in the top 5 are judged."


@pytest.mark.parametrize(
    ("low", "high", "ends"),
    [
        (0.6, 0.7, (".56", ".70")),
        (0.2, 0.9, (".1", ".9")),
        (0.0, 1.0, ("0", "1.0")),
        (1.5, 13.2, ("1", "14")),
    ],
)
def test_an_axis_of_scores_has_few_round_ticks(
    low: float, high: float, ends: tuple[str, str]
) -> None:
    axis = axes.spanning(low, high)
    assert (axis["ticktext"][0], axis["ticktext"][-1]) == ends
    assert 5 <= len(axis["tickvals"]) <= 18
    assert axis["range"][0] < low and high < axis["range"][1]
