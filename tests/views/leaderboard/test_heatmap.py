"""The heatmap and the strip: what they draw for boards worked by hand and for the papers'."""

import math
from itertools import pairwise
from typing import Any

import pytest
from pandas import DataFrame

from compute.datasets import published
from compute.datasets.catalogue import DATASETS
from compute.systems import SYSTEMS
from compute.views.leaderboard import board as leaderboard
from compute.views.leaderboard.board import Board, board
from compute.views.leaderboard.cells import DIFFERENCE, printed
from compute.views.leaderboard.heatmap import (
    AGAINST,
    AVERAGE,
    BELOW_BEST,
    VALUE,
    heatmap,
    legend,
    unmarked,
)
from compute.views.leaderboard.wins import MOST_LINES, nothing_to_compare, strip
from compute.views.shared.drawing import lists
from compute.views.shared.theme import INKS, palette

DATASET_TABLE = DataFrame([row.record() for row in DATASETS.values()]).rename(
    columns={"name": "dataset"}
)
SYSTEM_TABLE = DataFrame(
    [(row.name, row.title, row.family) for row in SYSTEMS.values()],
    columns=["system", "title", "family"],
)


@pytest.fixture(scope="module")
def v4() -> Board:
    figures = published.results()
    rows = figures[figures["source"] == "BEIR v4, Table 2"]
    return board(printed(rows), DATASET_TABLE, SYSTEM_TABLE, "nDCG@10")


def made(*rows: tuple[str, str, float], measure: str = "nDCG@10") -> Board:
    frame = DataFrame(rows, columns=["dataset", "system", "value"])
    frame = frame.assign(in_domain=False, suspect=False, remark="")
    return board(frame, DATASET_TABLE, SYSTEM_TABLE, measure)


def drawn(of_board: Board, colour_by: str = BELOW_BEST, **options: Any) -> Any:
    given: dict[str, Any] = {"baseline": None, "theme": "light", "colour_by": colour_by}
    return heatmap(of_board, **given | options)


def dots(of_board: Board, baseline: str, theme: str = "light") -> Any:
    return strip(of_board, baseline, theme)


def texts(figure: Any) -> dict[tuple[float, float], tuple[str, str]]:
    """Place -> text and its ink."""
    return {
        (x, y): (text, trace["textfont"]["color"])
        for trace in figure.select_traces({"mode": "text"})
        for x, y, text in zip(trace["x"], trace["y"], trace["text"], strict=True)
    }


def overlay(figure: Any) -> dict[tuple[str, str], tuple[float, float, str]]:
    """Dataset and system -> place and hover."""
    (trace,) = figure.select_traces({"mode": "markers"})
    rows = zip(trace["customdata"], trace["x"], trace["y"], trace["hovertext"], strict=True)
    return {(dataset, system): (x, y, hover) for (dataset, system), x, y, hover in rows}


def text_of(figure: Any, dataset: str, system: str) -> str:
    x, y, _ = overlay(figure)[dataset, system]
    return texts(figure)[x, y][0]


def fill_of(figure: Any, dataset: str, system: str) -> float | None:
    x, y, _ = overlay(figure)[dataset, system]
    (row,) = [trace for trace in figure.select_traces({"type": "heatmap"}) if trace["y0"] == y]
    return row["z"][0][int(x)]


def test_the_first_row_is_the_average_and_systems_stand_by_it(v4: Board) -> None:
    figure = drawn(v4)
    assert figure.layout.yaxis.ticktext[0] == "<b>Zero-shot average</b>"
    names = [name.partition("</span>")[2].strip() for name in figure.layout.xaxis.ticktext]
    assert names[:4] == ["BM25+CE", "docT5query", "ColBERT", "BM25"]
    assert [text_of(figure, AVERAGE, name) for name in ("bm25+ce-minilm", "dpr")] == [
        "<b>.476</b>",
        "<i>.223</i>",
    ]


def test_its_lists_rank_the_systems_of_each_row_and_leave_unranked_what_is_not_compared(
    v4: Board,
) -> None:
    told = lists(drawn(v4))
    assert told is not None
    average, *_, last = told.lists
    assert average.title == "Zero-shot average"
    assert average.rows[0] == (1, "BM25+CE (MiniLM)", ".476")
    assert average.rows[-1] == (None, "DPR", ".223")
    assert (last.title, last.rows[0]) == ("MSMARCO", (1, "BM25 (Anserini)", ".228"))
    assert {row.rank for row in last.rows if "in-domain" in row.said} == {None}
    # Where less is better the least stands first.
    holes = lists(drawn(made(("nfcorpus", "a", 0.4), ("nfcorpus", "b", 0.1), measure="Hole@10")))
    assert holes is not None
    assert [row[:2] for row in holes.lists[0].rows] == [(1, "b"), (2, "a")]


def test_the_lists_of_wins_say_who_wins_how_often() -> None:
    rows = [("nfcorpus", "a", 0.4), ("nfcorpus", "b", 0.1), ("scifact", "a", 0.3)]
    told = lists(dots(made(*rows, ("scifact", "b", 0.5)), "b"))
    assert told is not None
    assert told.lists[0].rows == [(1, "a", "1 : 1; median +.050")]


def test_every_cell_can_be_clicked_and_tells_what_it_is(v4: Board) -> None:
    cells = overlay(drawn(v4, baseline="bm25-multifield"))
    assert len(cells) == 20 * 10
    assert cells["nq", "ance"][2] == (
        "<b>ANCE</b> on <b>NQ</b><br>nDCG@10 0.446, rank 4 of 9<br>+0.117 against BM25 (Anserini)"
    )
    assert "in-domain" in cells["nq", "dpr"][2]
    (trace,) = drawn(v4).select_traces({"mode": "markers"})
    assert trace["marker"]["opacity"] == 0


def test_a_hover_says_which_difference_would_have_been_found() -> None:
    table = made(("fiqa", "bm25", 0.3), ("fiqa", "a", 0.4), ("fiqa", "b", 0.2), ("fiqa", "c", 0.3))
    marks = DataFrame({"dataset": "fiqa", "system": ["a", "b", "c"], "p": [0.2, 0.01, 1.0]})
    marks = marks.assign(side=[0, -1, 0], detectable=[0.125, 0.09, math.nan])
    cells = overlay(drawn(table, baseline="bm25", marks=marks))
    said = [
        cells["fiqa", system][2].partition(", ")[2].partition(" against ")[2] for system in "abc"
    ]
    assert [words.partition(", ")[2] for words in said] == [
        "not significant (p = .200, corrected)<br>80% power to detect .125",
        "significant (p = .010, corrected)",
        "not significant (p = 1.000, corrected)",
    ]


def test_the_best_is_bold_and_in_domain_is_italic_without_fill(v4: Board) -> None:
    figure = drawn(v4)
    assert text_of(figure, "webis-touche2020", "bm25-multifield") == "<b>.367</b>"
    assert text_of(figure, "nq", "dpr") == "<i>.474</i>"
    assert fill_of(figure, "nq", "dpr") is None
    assert text_of(figure, "msmarco", "bm25-multifield") == "<i>.228</i>"


def test_a_row_without_a_best_has_no_colour_and_says_so(v4: Board) -> None:
    figure = drawn(v4)
    assert fill_of(figure, "msmarco", "bm25-multifield") is None
    assert "no best value: nearly every" in overlay(figure)["msmarco", "bm25-multifield"][2]
    assert "no best" not in overlay(figure)["nq", "bm25-multifield"][2]
    assert fill_of(drawn(v4, VALUE), "msmarco", "bm25-multifield") == 0.228


def test_below_best_is_coloured_from_half_of_the_best_on() -> None:
    figure = drawn(made(("fiqa", "a", 0.4), ("fiqa", "b", 0.3), ("fiqa", "c", 0.1)))
    fills = [fill_of(figure, "fiqa", name) for name in "abc"]
    assert fills == [1.0, pytest.approx(0.5), 0.0]


def test_against_the_baseline_its_column_stays_unfilled_and_absolute() -> None:
    table = made(("fiqa", "bm25", 0.3), ("fiqa", "a", 0.4), ("fiqa", "b", 0.0))
    figure = drawn(table, AGAINST, baseline="bm25")
    assert text_of(figure, "fiqa", "bm25") == ".300"
    assert fill_of(figure, "fiqa", "bm25") is None
    assert text_of(figure, "fiqa", "a") == "<b>+.100</b>"
    assert fill_of(figure, "fiqa", "a") == pytest.approx(0.75)
    assert (text_of(figure, "fiqa", "b"), fill_of(figure, "fiqa", "b")) == ("−.300", 0.0)


def test_against_a_baseline_without_a_figure_stands_a_dash_and_the_hover_has_the_value() -> None:
    table = made(("fiqa", "bm25", 0.3), ("fiqa", "a", 0.4), ("nq", "a", 0.5), ("nq", "b", 0.6))
    figure = drawn(table, AGAINST, baseline="bm25")
    assert (text_of(figure, "nq", "a"), fill_of(figure, "nq", "a")) == ("–", None)
    hover = overlay(figure)["nq", "a"][2]
    assert "nDCG@10 0.500" in hover and "no score of BM25 (Pyserini) to compare with" in hover
    told = legend(table, AGAINST, "bm25", None, None, "light")[-1][2]
    assert "or for the baseline" in told
    assert "baseline" not in legend(table, BELOW_BEST, "bm25", None, None, "light")[-1][2]
    table.cells.loc[table.cells["dataset"] == "fiqa", "suspect"] = True
    assert text_of(drawn(table, AGAINST, baseline="bm25"), "fiqa", "a") == "<i>?</i>"


def test_where_the_baseline_has_no_run_it_is_said_that_no_mark_can_stand() -> None:
    both = made(("scifact", "bm25", 0.5), ("scifact", "dense", 0.6))
    assert unmarked(both, "bm25") == ""
    lacking = made(("scifact", "bm25", 0.5), ("scifact", "dense", 0.6), ("nfcorpus", "dense", 0.3))
    assert unmarked(lacking, "bm25") == (
        "No ▲ or ▼ on NFCorpus: the baseline, BM25 (Pyserini), has no run there."
    )
    # A dataset that the baseline alone has lacks nothing.
    alone = made(("scifact", "bm25", 0.5), ("scifact", "dense", 0.6), ("nfcorpus", "bm25", 0.3))
    assert unmarked(alone, "bm25") == ""


def test_without_any_average_there_is_no_row_for_it() -> None:
    figure = drawn(made(("fiqa", "a", 0.4), ("scifact", "b", 0.3)))
    assert AVERAGE not in {dataset for dataset, _ in overlay(figure)}
    assert figure.layout.yaxis.ticktext == ("FiQA-2018", "SciFact")


def test_long_names_get_height_of_their_own() -> None:
    def height(name: str, number: int) -> int:
        return drawn(made(*[("fiqa", f"{name}{i}", 0.4) for i in range(number)])).layout.height

    assert height("BM25 (k1=1.5, b=0.7) x", 8) >= height("s", 8) + 80
    assert height("BM25 (k1=1.5, b=0.7) x", 30) >= height("s", 30) + 90
    assert height("s", 8) == height("s", 2)


def test_value_is_coloured_from_0_to_1() -> None:
    figure = drawn(made(("fiqa", "a", 0.4), ("fiqa", "b", 0.3)), VALUE)
    assert fill_of(figure, "fiqa", "a") == 0.4


def test_fewer_holes_are_a_win() -> None:
    table = made(("fiqa", "bm25", 0.3), ("fiqa", "a", 0.2), measure="Hole@10")
    figure = drawn(table, AGAINST, baseline="bm25")
    assert text_of(figure, "fiqa", "a") == "<b>−.100</b>"
    assert fill_of(figure, "fiqa", "a") == pytest.approx(0.75)
    assert dots(table, "bm25").layout.annotations[0].text == "<b>1</b> : 0"


def test_a_board_of_differences_is_coloured_around_zero_without_a_best() -> None:
    figure = drawn(made(("fiqa", "a", 0.0001), ("scifact", "a", -0.05)), DIFFERENCE)
    assert text_of(figure, "fiqa", "a") == ".000"
    assert text_of(figure, "scifact", "a") == "−.050"
    assert fill_of(figure, "scifact", "a") == pytest.approx(0.375)
    assert figure.layout.yaxis.ticktext[0] == "<b>Mean difference</b>"


def test_what_is_missing_is_a_dash_and_suspect_values_are_marked() -> None:
    table = made(("fiqa", "a", 0.4), ("scifact", "b", 0.3))
    figure = drawn(table)
    assert text_of(figure, "fiqa", "b") == "–"
    assert fill_of(figure, "fiqa", "b") is None
    table.cells.loc[0, ["suspect", "usable", "best"]] = [True, False, False]
    assert text_of(drawn(table), "fiqa", "a") == "<i>.400?</i>"


def test_blocks_of_tasks_stand_apart_and_rows_do_not_overlap(v4: Board) -> None:
    rows = sorted(trace["y0"] for trace in drawn(v4).select_traces({"type": "heatmap"}))
    gaps = {round(after - before, 6) for before, after in pairwise(rows)}
    assert gaps == {1.0, 1.3, 1.4}


def test_text_keeps_its_ink_when_a_cell_is_selected(v4: Board) -> None:
    for theme in ("light", "dark"):
        figure = drawn(v4, theme=theme)
        inks = [trace["textfont"]["color"] for trace in figure.select_traces({"mode": "text"})]
        faded = [
            trace["unselected"]["textfont"]["color"]
            for trace in figure.select_traces({"mode": "text"})
        ]
        look = palette(theme)
        assert inks == faded and set(inks) <= {*INKS, look.text, look.muted}


def test_the_chosen_cell_has_an_outline(v4: Board) -> None:
    figure = drawn(v4, chosen=("nq", "ance"))
    x, y, _ = overlay(figure)["nq", "ance"]
    (shape,) = figure.layout.shapes
    assert (shape.x0, shape.x1, shape.y0, shape.y1) == (x - 0.5, x + 0.5, y - 0.5, y + 0.5)
    assert shape.line.width == 3
    assert not drawn(v4, chosen=("nowhere", "ance")).layout.shapes


def test_over_24_systems_names_stand_upright_and_numbers_go() -> None:
    few = made(*[("fiqa", f"s{number}", number / 30) for number in range(25)])
    figure = drawn(few)
    assert texts(figure) == {}
    assert figure.layout.xaxis.tickangle == -90
    assert figure.layout.xaxis.tickfont.size == 9
    # Of one dataset the average would be the same row again.
    assert len(overlay(figure)) == 25


def test_shown_systems_are_coloured_by_the_best_of_all() -> None:
    rows = [("best", 0.8), ("mid", 0.6), ("bm25", 0.4)]
    table = made(*[(name, *row) for name in ("fiqa", "nq") for row in rows])
    whole, picked = drawn(table), drawn(table, shown=["bm25", "mid"])
    assert {system for _, system in overlay(picked)} == {"bm25", "mid"}
    for dataset in ("fiqa", AVERAGE):
        for system in ("bm25", "mid"):
            assert fill_of(picked, dataset, system) == fill_of(whole, dataset, system)
    assert "rank 2 of 3" in overlay(picked)["fiqa", "mid"][2]
    gone = drawn(table, AGAINST, baseline="best", shown=["bm25", "mid"])
    assert "0.200 against best" in overlay(gone)["fiqa", "mid"][2]


def test_names_from_outside_are_no_markup() -> None:
    hostile = "<a href='javascript:alert(1)'>x</a>"
    table = made((hostile, hostile, 0.4), (hostile, "bm25", 0.3))
    for figure in (drawn(table, AGAINST, baseline="bm25"), dots(table, "bm25")):
        figure.update_traces(customdata=None)  # data for clicks, never drawn
        content = figure.to_json().replace("\\u003c", "<").replace("\\u0026", "&")
        assert "<a" not in content
        assert "&lt;a" in content


def test_the_strip_counts_in_domain_cells_and_shows_them_open(v4: Board) -> None:
    figure = dots(v4, "bm25-multifield")
    notes = [note.text for note in figure.layout.annotations]
    assert notes[0] == "<b>16</b> : 2"
    assert "<b>1</b> : 17" in notes
    won = figure.data[0]
    open_marks = [x for x, shade in zip(won.x, won.marker.color, strict=True) if shade == "#ffffff"]
    assert open_marks == [pytest.approx(0.145)]
    assert len(won.x) + len(figure.data[1].x) == 9 * 18


def test_the_strip_clips_what_lies_beyond_its_edge(v4: Board) -> None:
    lost = dots(v4, "bm25-multifield").data[1]
    beyond = [x for x, mark in zip(lost.x, lost.marker.symbol, strict=True) if "left" in mark]
    assert beyond and set(beyond) == {-0.3}
    assert min(lost.x) == -0.3


def test_equal_values_are_named_beside_the_strip() -> None:
    table = made(("fiqa", "bm25", 0.3), ("fiqa", "a", 0.3), ("nq", "bm25", 0.3), ("nq", "a", 0.4))
    figure = dots(table, "bm25")
    assert figure.layout.annotations[0].text == "<b>1</b> : 0, 1 equal"


def test_dots_of_a_line_lie_in_lanes_of_their_own() -> None:
    rows = [(f"d{place}", name, 0.3) for place in range(4) for name in ("bm25", "a")]
    figure = dots(made(*rows), "bm25")
    equal = figure.data[2]
    assert len(set(equal.y)) == 4 and set(equal.x) == {0.0}


def test_nothing_to_compare_leaves_no_differences() -> None:
    table = made(("fiqa", "a", 0.3))
    assert leaderboard.differences(table, "a").empty
    assert math.isnan(leaderboard.against(table, "b").iloc[0])


def test_a_missing_strip_is_explained() -> None:
    table = made(("fiqa", "bm25", 0.3), ("fiqa", "a", 0.3), ("mine", "b", 0.2), ("nq", "c", 0.1))
    assert nothing_to_compare(table, "bm25") == ""
    said = nothing_to_compare(table, "b")
    assert "b has no score on the datasets counted here" in said
    assert "Filter: Group own" in said
    assert "no other system has a score on the datasets of c" in nothing_to_compare(table, "c")


def test_of_many_systems_those_that_win_most_have_a_line() -> None:
    many = made(("scifact", "base", 0.0), *(("scifact", f"s{n}", n / 100) for n in range(60)))
    figure = dots(many, "base")
    assert len(figure.layout.yaxis.tickvals) == MOST_LINES
    assert figure.layout.yaxis.ticktext[0] == "s59"
    assert "20 systems with fewer wins are not shown" in figure.layout.xaxis.title.text
