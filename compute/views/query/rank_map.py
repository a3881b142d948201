"""Map with queries as rows and ranks as columns; cells are coloured by relevance."""

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from pandas import DataFrame, Series
from PIL import Image, ImageColor

from compute.views.query.rank_map_cells import EMPTY, HOLE, bands
from compute.views.query.words import said
from compute.views.shared import axes as shared_axes
from compute.views.shared import theme as looks
from compute.views.shared import traces
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.narrow_lists import Lists, Ranked, Row

ROW = 22
"""Pixels per listed query."""
ALL = 240
"""Pixels of the overview of all queries."""
NAMES = 210
_HEAD, _FOOT = 44, 40
_WIDE, _HIGH = 800, ALL
_STRIPS = 160
_ACROSS = 6
ORDERS = {
    "highest score first": "highest",
    "lowest score first": "lowest",
    "most unjudged first": "holes",
    "by difference": "difference",
    "by id": "id",
}
"""Orders of the queries by title; the values are names in `rank_map_cells.order`."""

Cells = NDArray[np.int8]


@dataclass(frozen=True)
class Panel:
    """The map of one system."""

    title: str
    cells: Cells
    """Rows of `query.select_map.cells`, in display order."""
    values: NDArray[np.float64]
    """Score of the system on each row's query; NaN if there is none."""
    remark: str = ""


def panel(
    title: str, cells: DataFrame, values: Series, measure: str, places: NDArray[np.int64]
) -> Panel:
    """Return a system's map, sorted by `places`; its remark has mean score and unjudged share."""
    array = cells.to_numpy(np.int8)[places]
    filled = int((array != EMPTY).sum())
    share = f"{100 * (array == HOLE).sum() / filled:.0f}% unjudged" if filled else "no hits"
    scores = values.to_numpy(np.float64, na_value=np.nan)[places]
    mean = looks.plain(float(values.mean()) if values.notna().any() else np.nan)
    return Panel(title, array, scores, f"{measure} {mean}, {share}")


def part(panel: Panel, rows: slice) -> Panel:
    """Return a panel with only some rows."""
    return replace(panel, cells=panel.cells[rows], values=panel.values[rows])


def names(query_ids: Sequence[str], texts: DataFrame) -> list[str]:
    """Return each query's text if it is stored, else its id. `texts`: query_id, text."""
    known = dict(zip(texts["query_id"], texts["text"], strict=True))
    return [
        known[name] if isinstance(known.get(name), str) and known[name].strip() else name
        for name in query_ids
    ]


def grades(panels: Sequence[Panel]) -> list[int]:
    """Return the grades above 0 in the panels, ascending."""
    return sorted({int(level) for p in panels for level in np.unique(p.cells) if level > 0})


def colours(levels: Sequence[int], theme: str) -> list[str]:
    """Return colours for an empty rank, unjudged, not relevant, then grades above 0, ascending."""
    look = looks.palette(theme)
    # The highest grade has the strongest blue, even if it is the only one.
    shares = [0.9 - 0.5 * back / max(len(levels) - 1, 1) for back in range(len(levels))][::-1]
    blues = [looks.colour(share, look.sequential) for share in shares]
    return [look.background, look.line, look.diverging[3], *blues]


def _kinds(cells: Cells, levels: Sequence[int]) -> NDArray[np.uint8]:
    """Replace each cell by its index in `colours`."""
    table = np.full(256, 2, np.uint8)
    for place, code in enumerate((EMPTY, HOLE)):
        table[code - EMPTY] = place
    for place, level in enumerate(levels):
        table[level - EMPTY] = place + 3
    return table[cells.astype(np.int16) - EMPTY]


def legend(levels: Sequence[int], theme: str) -> list[looks.Entry]:
    """Return the legend of the colours."""
    _, hole, judged, *blues = colours(levels, theme)
    one = len(levels) == 1
    relevant = ["relevant" if one else f"relevant, grade {level}" for level in levels]
    entries = list(zip(blues, relevant, strict=True))[::-1]
    entries += [(judged, "not relevant"), (hole, "unjudged")]
    return [(colour, "■", words) for colour, words in entries]


def _lists(panels: Sequence[Panel], names: Sequence[str], **_: object) -> Lists:
    """Return each system's queries in order: score, numbers of relevant and unjudged documents."""
    return Lists(
        "System",
        "Query",
        [
            Ranked(
                panel.title,
                [
                    Row(None, name, _row_said(cells, value))
                    for name, cells, value in zip(names, panel.cells, panel.values, strict=True)
                ],
            )
            for panel in panels
        ],
    )


def _row_said(cells: Cells, value: float) -> str:
    found, holes = int((cells > 0).sum()), int((cells == HOLE).sum())
    return f"{looks.plain(float(value))}; {found} relevant, {holes} unjudged"


@in_lists(_lists, fits=True)
@drawing
def overview(
    panels: Sequence[Panel],
    names: Sequence[str],
    chosen: slice,
    *,
    theme: str,
    narrow: bool = False,
) -> go.Figure:
    """Draw all queries of each panel as one picture; two lines enclose the rows of the list below
    it. The lists on a narrow screen use the queries' `names`. A point's customdata is the 0-based
    position of a query. Rows that share a line of pixels blend their colours. Heads are abbreviated
    in a `narrow` figure."""
    levels = grades(panels)
    n, depth = panels[0].cells.shape
    figure = go.Figure()
    _frame(figure, panels, depth, theme, height=ALL, top=n, left=56, narrow=narrow)
    figure.update_yaxes(title={"text": "query", "standoff": 2})
    for place, panel in enumerate(panels):
        axes = _axes(place)
        figure.add_layout_image(
            source=picture(panel.cells, levels, theme),
            **{"xref": axes["xaxis"], "yref": "y", "x": 0.5, "y": 0},
            **{"sizex": depth, "sizey": n, "sizing": "stretch", "layer": "below"},
        )
        _strips(figure, panel, axes)
        for edge in (chosen.start, chosen.stop):
            line = {"color": looks.palette(theme).outline, "width": 2}
            figure.add_shape(
                type="line", xref=axes["xaxis"], yref="y", line=line,
                x0=0.5, x1=depth + 0.5, y0=edge, y1=edge,
            )  # fmt: skip
    return figure


def picture(cells: Cells, levels: Sequence[int], theme: str) -> str:
    """Return the cells as a PNG in a data URL; above _HIGH queries, a pixel row averages
    several."""
    n, depth = cells.shape
    inks = [ImageColor.getrgb(colour) for colour in colours(levels, theme)]
    rgb = np.array(inks, np.float32)[_kinds(cells, levels)]
    starts = bands(n, _HIGH)
    if len(starts) < n:
        counts = np.diff(np.append(starts, n))[:, None, None]
        rgb = np.add.reduceat(rgb, starts, axis=0) / counts
    high, wide = max(_HIGH // len(rgb), 1), max(_WIDE // depth, 1)
    image = Image.fromarray(rgb.round().astype(np.uint8)).resize(
        (depth * wide, len(rgb) * high), Image.Resampling.NEAREST
    )
    file = io.BytesIO()
    image.save(file, "png", compress_level=1)  # these pictures hardly shrink further
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def _axes(place: int) -> dict[str, str]:
    return {"xaxis": f"x{place + 1}" if place else "x", "yaxis": "y"}


def _frame(
    figure: go.Figure,
    panels: Sequence[Panel],
    depth: int,
    theme: str,
    *,
    height: int,
    top: float,
    left: int,
    narrow: bool = False,
) -> None:
    """Lay out the axes of the panels side by side, with their heads, and leave room at the left."""
    gap, head, longest = 0.03, _HEAD + 18 * narrow, 18 if narrow else 28
    width = (1 - gap * (len(panels) - 1)) / len(panels)
    figure.update_layout(
        height=height + head + _FOOT,
        margin={"l": left, "r": 8, "t": head, "b": _FOOT},
        yaxis=shared_axes.BARE | {"range": [top, 0], "automargin": False, "tickformat": ",d"},
        **shared_axes.CLICKED,
    )
    for place, panel in enumerate(panels):
        start = place * (width + gap)
        axis: dict[str, Any] = {"domain": [start, start + width], "range": [0.5, depth + 0.5]}
        axis |= {"anchor": "y", "title": {"text": "rank", "standoff": 4}}
        still = {**shared_axes.BARE, "automargin": False}
        step = 10 if depth <= 50 else 20
        ticks = {"tickvals": [1, *range(step, depth + 1, step)]}
        figure.update_layout({_axes(place)["xaxis"].replace("x", "xaxis"): axis | still | ticks})
        told = panel.remark.replace(", ", "<br>") if narrow else panel.remark
        remark = f'<span style="color:{looks.palette(theme).muted}">{told}</span>'
        figure.add_annotation(
            text=f"<b>{looks.escape(panel.title, longest)}</b><br>{remark}",
            align="left",
            **{"x": start, "y": 1, "xref": "paper", "yref": "paper", "yshift": 4},
            **{"xanchor": "left", "yanchor": "bottom", "font": {"size": 13}},
        )


def _strips(figure: go.Figure, panel: Panel, axes: dict[str, str]) -> None:
    """Add invisible points over the overview, in _ACROSS columns."""
    n, depth = panel.cells.shape
    starts = bands(n, _STRIPS)
    ends = np.append(starts[1:], n)
    across = np.linspace(0.5, depth + 0.5, 2 * _ACROSS + 1)[1::2]
    middles = (starts + ends) / 2
    words = _strips_said(panel, starts, ends)
    points = traces.targets(
        np.tile(across, len(starts)).astype(np.float32),
        np.repeat(middles, len(across)).astype(np.float32),
        [said for said in words for _ in across],
        np.repeat(starts, len(across)).astype(np.int32),
        size=14,
    )
    figure.add_trace(points | {"unselected": {"marker": {"opacity": 0}}} | axes)


def _strips_said(panel: Panel, starts: np.ndarray, ends: np.ndarray) -> Iterator[str]:
    """Yield the tooltip of each strip of queries: mean score and unjudged share."""
    scored = ~np.isnan(panel.values)
    total, many = np.where(scored, panel.values, 0), scored.astype(int)
    filled, holes = (panel.cells != EMPTY).sum(axis=1), (panel.cells == HOLE).sum(axis=1)
    sums = (np.add.reduceat(each, starts).tolist() for each in (total, many, filled, holes))
    for start, stop, value, n, full, unjudged in zip(starts, ends, *sums, strict=True):
        of = f"queries {start + 1:,} to {stop:,}" if stop - start > 1 else f"query {stop:,}"
        mean = looks.plain(value / n if n else np.nan)
        yield f"{of}<br>mean score {mean}, {100 * unjudged / max(full, 1):.0f}% unjudged"


@in_lists(_lists)
@drawing
def window(
    panels: Sequence[Panel],
    names: Sequence[str],
    *,
    chosen: Sequence[tuple[int, int, int]] = (),
    theme: str,
) -> go.Figure:
    """Draw the rows of some queries, with names on the left and scores on the right. A cell's
    customdata is (panel, row, rank), the first two counted from 0, packed by `pack`. The cells in
    `chosen` are outlined. Names are drawn literally, without markup."""
    levels = grades(panels)
    rows, depth = panels[0].cells.shape
    figure = go.Figure()
    # The font of printed figures is wider.
    most, letter = (260, 8.2) if theme == "print" else (NAMES, 7)
    left = round(min(most, 30 + letter * max(map(len, names), default=0)))
    _frame(figure, panels, depth, theme, height=ROW * rows, top=rows - 0.5, left=left)
    figure.update_yaxes(**shared_axes.names_down(names, longest=30, ticks="", ticksuffix=" "))
    for place, panel in enumerate(panels):
        axes = _axes(place)
        _heat(figure, panel, levels, theme, axes)
        _targets(figure, panel, place, levels, axes)
        _scores(figure, panel, theme, axes)
    for place, row, rank in chosen:
        outline = traces.around(rank, row, looks.palette(theme))
        figure.add_shape(outline, xref=_axes(place)["xaxis"], yref="y")
    return figure


def _heat(
    figure: go.Figure, panel: Panel, levels: Sequence[int], theme: str, axes: dict[str, str]
) -> None:
    shown = colours(levels, theme)
    n = len(shown)
    steps = [[edge / n, shown[place]] for place in range(n) for edge in (place, place + 1)]
    figure.add_heatmap(
        z=_kinds(panel.cells, levels),
        x0=1,
        dx=1,
        y0=0,
        dy=1,
        zmin=-0.5,
        zmax=n - 0.5,
        colorscale=steps,
        showscale=False,
        hoverinfo="skip",
        ygap=2,
        xgap=1,
        **axes,
    )


def pack(place: int, row: Any, rank: Any) -> Any:
    """Pack a cell into one number, or cells (arrays of row and rank) into an array of numbers."""
    return (place * 10_000 + row) * 10_000 + rank


def unpack(number: int) -> tuple[int, int, int]:
    """Return panel, row and rank from a number made by `pack`."""
    return number // 100_000_000, number // 10_000 % 10_000, number % 10_000


def _targets(
    figure: go.Figure, panel: Panel, place: int, levels: Sequence[int], axes: dict[str, str]
) -> None:
    """Add invisible points at the cells, since a heatmap reports no clicks, in a trace per
    judgement. Tooltips are stored per trace and name the query by its axis, so that each of
    thousands of cells takes only a few bytes."""
    kinds = {1: said(np.nan), 2: "not relevant"}
    kinds |= {n + 3: said(level) for n, level in enumerate(levels)}
    of = _kinds(panel.cells, levels)
    for kind, words in kinds.items():
        rows, ranks = np.nonzero(of == kind)
        figure.add_scatter(
            x=(ranks + 1).astype(np.int16),
            y=rows.astype(np.int16),
            mode="markers",
            marker={"opacity": 0, "size": 12},
            unselected={"marker": {"opacity": 0}},
            customdata=pack(place, rows, ranks + 1).astype(np.int32),
            hovertemplate=f"<b>%{{y}}</b><br>rank %{{x}}: {words}<extra></extra>",
            **axes,
        )


def _scores(figure: go.Figure, panel: Panel, theme: str, axes: dict[str, str]) -> None:
    """Add scores to the right of the rows, over the end of the plot."""
    rows, depth = panel.cells.shape
    room = depth * 0.16  # fits four digits if two maps share a narrow window
    figure.update_layout(
        {axes["xaxis"].replace("x", "xaxis"): {"range": [0.5, depth + 0.5 + room]}}
    )
    ink = looks.palette(theme).text
    figure.add_scatter(
        x=np.full(rows, depth + 0.5 + room, np.float32),
        y=np.arange(rows, dtype=np.int16),
        mode="text",
        text=[looks.plain(float(value)) for value in panel.values],
        textposition="middle left",
        textfont={"size": 12, "color": ink},
        unselected={"textfont": {"color": ink}},
        hoverinfo="skip",
        **axes,
    )
