"""Matrices as ranked lists: their order, their table, and their HTML."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go
from pandas import DataFrame

from compute.views.shared import drawing, narrow_lists
from compute.views.shared.narrow_lists import Lists, Ranked, Row
from tests.support.tiny import HOSTILE


def _lists(rows: DataFrame, names: Sequence[str], **_: object) -> Lists:
    entries = [(name, value, f"{value:.1f}") for name, value in zip(names, rows["v"], strict=True)]
    return Lists("Dataset", "System", [narrow_lists.ranked("one", entries)])


@drawing.in_lists(_lists)
@drawing.drawing
def matrix(rows: DataFrame, names: Sequence[str], *, theme: str) -> go.Figure:
    return go.Figure()


@drawing.in_lists(_lists, fits=True)
@drawing.drawing
def narrow_one(rows: DataFrame, names: Sequence[str], *, theme: str) -> go.Figure:
    return go.Figure()


@drawing.drawing
def bars(rows: DataFrame, *, theme: str) -> go.Figure:
    return go.Figure()


def test_the_best_stands_first_equal_ones_share_a_rank_and_absent_ones_have_none() -> None:
    entries = [("a", 0.2, ".2"), ("b", math.nan, "–"), ("c", 0.5, ".5"), ("d", 0.5, ".5")]
    found = narrow_lists.ranked("nfcorpus", [*entries, ("e", 0.1, ".1")])
    assert [(row.rank, row.name) for row in found.rows] == [
        (1, "c"),
        (1, "d"),
        (3, "a"),
        (4, "e"),
        (None, "b"),
    ]
    backwards = narrow_lists.ranked("nfcorpus", entries, descending=False)
    assert [row.name for row in backwards.rows] == ["a", "c", "d", "b"]


def test_a_table_of_several_lists_says_which() -> None:
    one, other = Ranked("x", [Row(1, "a", ".5")]), Ranked("y", [Row(None, "b", "–")])
    both = narrow_lists.table(Lists("Dataset", "System", [one, other]))
    assert both.columns.tolist() == ["Dataset", "Rank", "System", "Value"]
    assert both["Dataset"].tolist() == ["x", "y"]
    assert both["Rank"].isna().tolist() == [False, True]
    assert "Dataset" not in narrow_lists.table(Lists("Dataset", "System", [one]))


def test_names_from_outside_stay_letters_and_long_lists_end_with_how_many_more() -> None:
    shown = narrow_lists.as_html(Ranked(HOSTILE, [Row(1, HOSTILE, HOSTILE)]))
    assert "<script" not in shown and "<b>" not in shown and "<img" not in shown
    many = [Row(n + 1, f"s{n}", "") for n in range(narrow_lists.MOST_ROWS + 3)]
    shown = narrow_lists.as_html(Ranked("all", many))
    assert shown.count("<li") == narrow_lists.MOST_ROWS
    assert "and 3 more" in shown


def test_only_lists_with_ranks_keep_room_for_them() -> None:
    with_rank = narrow_lists.as_html(Ranked("t", [Row(1, "a", "x"), Row(None, "b", "y")]))
    without = narrow_lists.as_html(Ranked("t", [Row(None, "b", "y")]))
    assert with_rank.count("<span") == 6 and "1." in with_rank
    assert without.count("<span") == 2


def test_a_figure_gives_its_numbers_as_lists_or_as_the_frames_behind_it() -> None:
    rows = DataFrame({"v": [0.1, 0.9]})
    (name, table) = next(iter(drawing.numbers(matrix(rows, ("a", "b"), theme="light")).items()))
    assert name == "System" and table["System"].tolist() == ["b", "a"]
    assert drawing.numbers(bars(rows, theme="light"))["rows"] is rows
    assert drawing.numbers(go.Figure()) == {}


def test_on_a_narrow_screen_lists_stand_for_what_does_not_fit() -> None:
    rows = DataFrame({"v": [0.1, 0.9]})
    assert drawing.lists(matrix(rows, ("a", "b"), theme="light"), narrow=True)
    fits = narrow_one(rows, ("a", "b"), theme="light")
    assert drawing.lists(fits, narrow=True) is None and drawing.lists(fits)
    assert drawing.lists(bars(rows, theme="light")) is None
