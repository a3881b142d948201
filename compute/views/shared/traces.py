"""Traces and parts of traces that several figures share, as plain values. Plotly validates a figure
at every change, so it is faster to build one at once from plain values."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from compute.views.shared.theme import Palette, colorscale

Trace = dict[str, Any]

UNFADED: Trace = {key: {"marker": {"opacity": 1}} for key in ("selected", "unselected")}
"""Selected marks look like the others, since a click opens something and fades nothing."""
_SILENT: Trace = {"hoverinfo": "skip"}


def hover(texts: Sequence[Any]) -> Trace:
    """Return tooltips as hover texts, since a template would interpret `%{x}` in a title."""
    return {"hovertext": texts, "hovertemplate": "%{hovertext}<extra></extra>"}


def marks(x: Any, y: Any, look: Trace, words: Sequence[Any] | None = None, **more: Any) -> Trace:
    """Return marks at points, in rows from 0 up if `y` is None; without `words` they have no
    tooltip. `look`: size, colour and so on. They are opaque, since Plotly makes marks with a list
    of sizes transparent."""
    said = _SILENT if words is None else hover(words)
    places = {"x": x, "y": list(range(len(x))) if y is None else y, "mode": "markers"}
    return {"type": "scatter", **places, "marker": {"opacity": 1} | look, **said, **more}


def targets(x: Any, y: Any, texts: Sequence[str], data: Any = None, *, size: int = 20) -> Trace:
    """Return invisible points with tooltips that can be clicked; `data` is their customdata."""
    return marks(x, y, {"opacity": 0, "size": size}, texts, customdata=data)


def cells(
    z: Any, stops: Sequence[str] = (), most: float = 1, words: Any = None, **more: Any
) -> Trace:
    """Return a matrix's cells, coloured by `stops` from 0 to `most`, or without stops by the
    layout's axis."""
    scale = {"zmin": 0, "zmax": most, "colorscale": colorscale(stops), "showscale": False}
    scale = scale if stops else {"coloraxis": "coloraxis"}
    said = _SILENT if words is None else hover(words)
    gaps = {"xgap": 2, "ygap": 2, "hoverongaps": False}
    return {"type": "heatmap", "z": z} | scale | gaps | said | more


def texts(
    places: Iterable[tuple[Any, Any]], words: Iterable[str], inks: Iterable[str], size: int = 13
) -> list[Trace]:
    """Return words at positions (x, y), a trace per ink, since a selection fades other traces."""
    by_ink: dict[str, list[tuple[tuple[Any, Any], str]]] = {}
    for place, word, ink in zip(places, words, inks, strict=True):
        by_ink.setdefault(ink, []).append((place, word))
    return [
        {
            "type": "scatter",
            "x": [x for (x, _), _ in own],
            "y": [y for (_, y), _ in own],
            "text": [word for _, word in own],
            "mode": "text",
            "textfont": {"color": ink, "size": size},
            "unselected": {"textfont": {"color": ink}},
            "hoverinfo": "skip",
            "showlegend": False,
        }
        for ink, own in sorted(by_ink.items())
    ]


def text_size(columns: int) -> int:
    return 13 if columns <= 12 else 12 if columns <= 16 else 11


def outline(
    look: Palette, x: tuple[float, float], y: tuple[float, float], width: float = 3
) -> dict[str, Any]:
    """Return the outline of a selection between the two ends of `x` and of `y`."""
    corners = {"x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1]}
    return {"type": "rect", **corners, "line": {"color": look.outline, "width": width}}


def around(x: float, y: float, look: Palette) -> dict[str, Any]:
    """Return the outline of the cell around a point."""
    return outline(look, (x - 0.5, x + 0.5), (y - 0.5, y + 0.5))


def lines(
    starts: Iterable[float],
    ends: Iterable[float],
    rows: Iterable[float],
    look: Trace,
    words: Sequence[Any] | None = None,
    **more: Any,
) -> Trace:
    """Return a horizontal line for each row, with tooltips `words` as in `marks`. None between rows
    makes gaps, so one trace draws all lines."""
    x = [x for pair in zip(starts, ends, strict=True) for x in (*pair, None)]
    y = [y for row in rows for y in (row, row, None)]
    said = hover([text for text in words or () for _ in range(3)]) if words else _SILENT
    return {"type": "scatter", "x": x, "y": y, "mode": "lines", "line": look, **said, **more}


def histogram(counts: Any, edges: Any, what: str, unit: str = "", digits: int = 0) -> Trace:
    """Return a histogram of queries by a number. The tooltip calls the number `what`, in `unit`."""
    ends = " to ".join(f"%{{customdata[{end}]:.{digits}f}}" for end in (0, 1))
    return {
        "x": (edges[:-1] + edges[1:]) / 2,
        "y": counts,
        "customdata": np.column_stack([edges[:-1], edges[1:]]),
        "hovertemplate": f"%{{y:,}} queries: {what}{ends}{unit}<extra></extra>",
    }


def error_bars(lengths: Sequence[float], colour: str, thickness: float = 1.5) -> dict[str, Any]:
    """Return error bars on both sides of marks, without caps."""
    found = {"type": "data", "array": lengths, "color": colour}
    return found | {"thickness": thickness, "width": 0}


def marker(
    looked: Sequence[tuple[str, str]],
    hollow: Sequence[bool],
    look: Palette,
    size: float,
    widths: tuple[float, float] = (0.5, 2),
) -> dict[str, Any]:
    """Return a Plotly marker from the (colour, symbol) of each mark. `widths` are the outline
    widths of filled and of hollow marks."""
    inside = look.background
    pairs = [(colour, out) for (colour, _), out in zip(looked, hollow, strict=True)]
    return {
        "size": size,
        "symbol": [symbol for _, symbol in looked],
        "color": [inside if out else colour for colour, out in pairs],
        "line": {
            "color": [colour if out else inside for colour, out in pairs],
            "width": [widths[out] for out in hollow],
        },
    }


def quantiles(
    ends: Sequence[tuple[Iterable[float], Iterable[float]]],
    medians: Sequence[float],
    rows: Sequence[float],
    words: Sequence[str],
    look: Palette,
    size: float = 1.0,
) -> list[Trace]:
    """Return a thin line, a thick line and a ring at the median for each row, all scaled by `size`.
    `ends`: the starts and ends of the thin lines (5 to 95%), then of the thick ones (25 to 75%)."""
    bars = [
        lines(*pair, rows, {"width": size * width, "color": look.muted})
        for pair, width in zip(ends, (1.25, 5), strict=True)
    ]
    line = {"width": 2 * size, "color": look.text}
    ring = {"size": 10 * size, "color": look.background, "line": line}
    return [*bars, marks(medians, rows, ring, words)]
