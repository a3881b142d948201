"""The query x rank map as it is drawn: colours, clicks, names, and few bytes."""

import base64
import io
from typing import Any

import numpy as np
import pytest
from pandas import DataFrame, Series
from PIL import Image, ImageColor

from compute.views.query import rank_map as figures
from compute.views.query.rank_map_cells import EMPTY, HOLE
from compute.views.shared import theme as looks
from tests.support.tiny import HOSTILE

CELLS = DataFrame([[2, HOLE, 0], [1, EMPTY, EMPTY], [HOLE, -1, 2]], dtype=np.int8)
VALUES = Series([1.0, 0.5, np.nan])


def panel(cells: DataFrame = CELLS, title: str = "BM25") -> figures.Panel:
    places = np.arange(len(cells))
    values = Series(np.resize(VALUES, len(cells)))
    return figures.panel(title, cells, values, "nDCG@10", places)


def windowed(*panels: figures.Panel, names: tuple[str, ...] = ("a", "b", "c"), **more: Any) -> Any:
    return figures.window(panels, names, theme="light", **more)


def image(source: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2])))


def test_a_panel_puts_rows_in_order_and_says_mean_and_holes() -> None:
    shown = figures.panel("BM25", CELLS, VALUES, "nDCG@10", np.array([2, 0, 1]))
    assert shown.cells[:, 0].tolist() == [HOLE, 2, 1]
    assert shown.values[1:].tolist() == [1, 0.5]
    assert shown.remark == "nDCG@10 .750, 29% unjudged"
    assert figures.part(shown, slice(1, 2)).cells.tolist() == [[2, HOLE, 0]]


@pytest.mark.parametrize("theme", looks.PALETTES)
def test_every_kind_of_cell_has_a_colour_of_its_own(theme: str) -> None:
    shown = figures.colours([1, 2, 3], theme)
    assert len(set(shown)) == 6
    assert figures.colours([1], theme)[-1] == shown[-1]


def test_the_picture_has_the_colour_of_every_cell() -> None:
    shown = image(figures.picture(CELLS.to_numpy(), [1, 2], "light"))
    wide, high = shown.width // 3, shown.height // 3
    found = [[shown.getpixel((wide * x + 1, high * y + 1)) for x in range(3)] for y in range(3)]
    empty, hole, judged, one, two = map(ImageColor.getrgb, figures.colours([1, 2], "light"))
    assert found == [[two, hole, judged], [one, empty, empty], [hole, judged, two]]


def test_rows_that_share_a_line_of_the_picture_mix_their_colours() -> None:
    cells = np.tile(np.array([[1], [HOLE]], np.int8), (figures.ALL, 1))
    shown = image(figures.picture(cells, [1], "light"))
    _, hole, _, one = figures.colours([1], "light")
    mixed = np.mean([ImageColor.getrgb(hole), ImageColor.getrgb(one)], axis=0)
    assert shown.height == figures.ALL
    assert np.abs(np.array(shown)[7, 0] - mixed).max() <= 0.5


def test_ten_thousand_queries_by_a_hundred_ranks_stay_small() -> None:
    cells = np.full((10_000, 100), HOLE, np.int8)
    cells[np.arange(10_000), np.arange(10_000) % 100] = 1
    figure = figures.overview(
        [panel(DataFrame(cells))] * 2, [""] * len(cells), slice(0, 30), theme="light"
    )
    assert len(str(figure.to_json())) < 250_000


def test_a_point_of_the_overview_names_its_first_query() -> None:
    figure: Any = figures.overview([panel()], ("a", "b", "c"), slice(0, 2), theme="light")
    assert sorted(set(figure.data[0].customdata.tolist())) == [0, 1, 2]
    assert "query 2<br>mean score .500, 0% unjudged" in figure.data[0].hovertext
    assert [line.y0 for line in figure.layout.shapes] == [0, 2]


def test_every_cell_but_the_empty_ones_can_be_clicked_and_says_where_it_is() -> None:
    figure = windowed(panel(), panel(title="<b>B"))
    points = {
        figures.unpack(int(number))
        for trace in figure.data
        if trace.type == "scatter" and trace.mode == "markers"
        for number in trace.customdata
    }
    there = {(y, x + 1) for y, x in zip(*np.nonzero(CELLS.to_numpy() != EMPTY), strict=True)}
    assert points == {(place, *cell) for place in (0, 1) for cell in there}


def test_a_cell_says_how_it_is_judged() -> None:
    said = {
        int(number): trace.hovertemplate
        for trace in windowed(panel()).data
        if trace.type == "scatter" and trace.mode == "markers"
        for number in trace.customdata
    }
    assert "relevant, grade 2" in said[figures.pack(0, 0, 1)]
    assert "unjudged" in said[figures.pack(0, 0, 2)]
    assert "not relevant" in said[figures.pack(0, 2, 2)]


def test_scores_stand_at_the_right_and_names_are_words() -> None:
    figure = windowed(panel(title=HOSTILE), names=(HOSTILE, "b", "c"))
    texts = next(trace for trace in figure.data[1:] if trace.mode == "text")
    assert texts.text == ("1.000", ".500", "–")
    for words in (*figure.layout.yaxis.ticktext, figure.layout.annotations[0].text):
        assert "<script" not in words


def test_chosen_cells_are_outlined() -> None:
    figure = windowed(panel(), panel(), chosen=[(0, 1, 1), (1, 2, 3)])
    boxes = [(box.xref, box.y0, box.x0) for box in figure.layout.shapes]
    assert boxes == [("x", 0.5, 0.5), ("x2", 1.5, 2.5)]


def test_a_query_without_text_shows_its_id() -> None:
    texts = DataFrame({"query_id": ["q1", "q2", "q3"], "text": ["words", None, " "]})
    assert figures.names(["q3", "q1", "q2", "q4"], texts) == ["q3", "words", "q2", "q4"]


def test_the_legend_names_the_levels_that_there_are() -> None:
    assert next(iter(figures.legend([1], "light")))[2] == "relevant"
    words = " ".join(words for _, _, words in figures.legend([1, 3], "dark"))
    assert words.index("grade 3") < words.index("grade 1") < words.index("unjudged")
