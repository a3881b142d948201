"""Figures of quality against cost on a logarithmic axis, with Pareto fronts and named marks. A
panel has a fixed size, so that names can be placed; on a narrow screen panels are stacked."""

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from pandas import DataFrame

from compute.evaluate.measures import better
from compute.views.efficiency import pareto
from compute.views.shared import axes, labels, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import COLUMN, drawing

WIDTH, HEIGHT = 630, 430
LEFT, RIGHT, HEAD, FOOT = 52, 12, 12, 46
SIZE = 11
FONT = 12
LETTERS = 28
_DASHES = ("dot", "dash", "longdash", "dashdot")
"""Line styles of the fronts of different machines."""

Span = tuple[float, float]
Row = Mapping[Hashable, Any]


@drawing
def panel(
    rows: DataFrame, cost: str, measure: str, *, theme: str, narrow: bool = False
) -> go.Figure:
    """Draw systems by quality and one of `pareto.COSTS`, leaving out systems without that cost.
    `rows` are from `pareto.points` with title and family. Marks of every machine but the first are
    open; each machine has its own front."""
    shown = rows[rows[cost].notna()].sort_values(["value", "system"]).reset_index(drop=True)
    wide = COLUMN if narrow else WIDTH
    ends = spans(shown, cost)
    look = looks.palette(theme)
    machines = order(rows)
    lines = list(_fronts(shown, (cost, measure), ends, machines))
    named = placed(shown, cost, ends, lines, theme, wide)
    return go.Figure(
        data=[*_lines(lines, machines, look), _marks(shown, cost, measure, machines, theme)],
        layout={
            "annotations": list(_names(shown, named[1], ends, theme, wide)),
            "shapes": list(_leaders(*named, ends, theme, wide)),
            **_frame(cost, measure, ends, wide),
        },
    )


def spans(rows: DataFrame, cost: str) -> tuple[Span, Span]:
    """Return the ends of both axes; those of the cost are decimal logarithms."""
    return _across(rows[cost]), _up(rows["value"])


def order(rows: DataFrame) -> list[str]:
    """Return the machines, those with most rows first; means over several machines come last."""
    found = rows["hardware"].value_counts(sort=True)
    return sorted(found.index, key=lambda name: (name == pareto.SEVERAL, -found[name], name))


def _across(values: Iterable[float]) -> Span:
    """Return a range of logarithms of over a decade, with room for names beside the marks."""
    logs = [math.log10(value) for value in values if value > 0] or [0.0]
    low, high = min(logs), max(logs)
    spare = max(0.12 * (high - low), (1.2 - (high - low)) / 2, 0.2)
    return low - spare, high + spare


def _up(values: Iterable[float]) -> Span:
    found = list(values) or [0.0]
    low, high = min(found), max(found)
    spare = max(0.12 * (high - low), 0.02)
    return low - spare, high + spare


Line = tuple[str, list[tuple[float, float]]]


def _fronts(
    rows: DataFrame, axes: tuple[str, str], spans: tuple[Span, Span], machines: Sequence[str]
) -> Iterator[Line]:
    """Yield each machine's front as a step line: the best value available at each cost. `axes`:
    cost and measure. The line begins at the worse end of the values."""
    cost, measure = axes
    on = pareto.fronts(rows, cost, measure)
    worst = spans[1][0 if better(measure) > 0 else 1]
    for machine in machines:
        own = rows[on & (rows["hardware"] == machine)].sort_values([cost, "value"])
        if own.empty:
            continue
        stairs: list[tuple[float, float]] = []
        for x, y in zip(own[cost], own["value"], strict=True):
            stairs += [(x, stairs[-1][1])] if stairs else [(x, worst)]
            stairs.append((x, y))
        yield machine, [*stairs, (10 ** spans[0][1], stairs[-1][1])]


def _lines(lines: Sequence[Line], machines: Sequence[str], look: looks.Palette) -> list[go.Scatter]:
    """Draw the fronts, each machine in its own line style."""
    return [
        go.Scatter(
            x=[x for x, _ in stairs],
            y=[y for _, y in stairs],
            mode="lines",
            line={
                "color": look.muted,
                "width": 1.5,
                "dash": _DASHES[machines.index(machine) % len(_DASHES)],
            },
            hoverinfo="skip",
        )
        for machine, stairs in lines
    ]


def _marks(
    rows: DataFrame, cost: str, measure: str, machines: Sequence[str], theme: str
) -> dict[str, Any]:
    looked = [looks.mark(family, looks.FAMILIES, theme) for family in rows["family"]]
    open_ = [machine != machines[0] for machine in rows["hardware"]]
    look = traces.marker(looked, open_, looks.palette(theme), SIZE)
    hover = [_hover(row, measure) for row in rows.to_dict("records")]
    x, y = (rows[column].tolist() for column in (cost, "value"))
    return traces.marks(x, y, look, hover, cliponaxis=False)


def _hover(row: Row, measure: str) -> str:
    told = [f"<b>{looks.escape(row['title'])}</b>"]
    told += [f"{looks.escape(measure)} {looks.precise(row['value'])}"]
    costs = ((name, write(row[field])) for field, (name, write, _) in COSTS.items())
    told += [f"{name} {said}" for name, said in costs if said != "–"]
    told += [looks.escape(row["hardware"], 80)]
    if row["load"] > 1:
        told.append(f"{row['load']:.1f} processes competed for a processor")
    return "<br>".join(told)


def milliseconds(value: float) -> str:
    """Format a time: `1.6 ms`, `12 ms`, `1.4 s`; – if absent."""
    if math.isnan(value):
        return "–"
    return f"{_digits(value)} ms" if value < 1000 else f"{_digits(value / 1000)} s"


def seconds(value: float) -> str:
    """Format a longer time: `0.2 s`, `12 s`, `4.3 min`; – if absent."""
    if math.isnan(value):
        return "–"
    for unit, length in (("s", 120), ("min", 120), ("h", math.inf)):
        if value < length:
            return f"{_digits(value)} {unit}"
        value /= 60
    raise AssertionError("no length is endless")


def size(value: float) -> str:
    """Format bytes in powers of ten, as in the papers: `3.6 MB`, `1.2 GB`; – if absent."""
    if math.isnan(value):
        return "–"
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{_digits(value)} {unit}"
        value /= 1000
    return f"{_digits(value)} TB"


def number(value: float) -> str:
    """Format a rate: `0.4`, `12`, `2,300`; – if absent."""
    return "–" if math.isnan(value) else _digits(value)


def share(value: float) -> str:
    """Format a share in per cent; – if absent."""
    return "–" if math.isnan(value) else f"{100 * value:.1f}%"


def _digits(value: float) -> str:
    """Format a number with one decimal, or without decimals from 10 on."""
    return f"{value:,.1f}" if value < 9.95 else f"{value:,.0f}"


def _place(cost: float, value: float, spans: tuple[Span, Span], wide: int) -> tuple[float, float]:
    """Return the position of a mark in pixels from the upper left of the plot."""
    (x0, x1), (y0, y1) = spans
    across = (math.log10(cost) - x0) / (x1 - x0) * (wide - LEFT - RIGHT)
    return across, (y1 - value) / (y1 - y0) * (HEIGHT - HEAD - FOOT)


def placed(
    rows: DataFrame,
    cost: str,
    spans: tuple[Span, Span],
    lines: Sequence[Line],
    theme: str,
    wide: int = WIDTH,
) -> tuple[list[labels.Mark], list[labels.Label]]:
    """Return the marks and the labels of their names, in pixels from the upper left of the plot."""
    marks = _named(rows, cost, spans, theme, wide)
    covered = [
        labels.along(*_place(*one, spans, wide), *_place(*other, spans, wide))
        for _, stairs in lines
        for one, other in itertools.pairwise(stairs)
    ]
    within = labels.Box(0, 0, wide - LEFT - RIGHT, HEIGHT - HEAD - FOOT)
    return marks, labels.place(marks, within, np.concatenate([labels.NOWHERE, *covered]))


def _named(
    rows: DataFrame, cost: str, spans: tuple[Span, Span], theme: str, wide: int
) -> list[labels.Mark]:
    """Return the marks with the sizes of their names, in pixels."""
    return [
        labels.mark(
            *_place(row[cost], row["value"], spans, wide),
            SIZE / 2,
            looks.cut(row["title"], LETTERS),
            FONT,
            theme,
        )
        for row in rows.to_dict("records")
    ]


def _leaders(
    marks: Sequence[labels.Mark],
    boxes: Sequence[labels.Label],
    spans: tuple[Span, Span],
    theme: str,
    width: int,
) -> Iterator[dict[str, Any]]:
    """Yield lines to names that could not be placed next to their own mark."""
    (x0, x1), (y0, y1) = spans
    wide, high = width - LEFT - RIGHT, HEIGHT - HEAD - FOOT
    line = {"color": looks.palette(theme).muted, "width": 1}
    for ends in labels.leaders(marks, boxes):
        # On a logarithmic axis a shape's position is a value, like a mark's.
        across = [10 ** (x0 + place / wide * (x1 - x0)) for place in ends[::2]]
        down = [y1 - place / high * (y1 - y0) for place in ends[1::2]]
        yield {"type": "line", "layer": "below", "line": line} | dict(
            zip(("x0", "x1", "y0", "y1"), (*across, *down), strict=True)
        )


def _names(
    rows: DataFrame,
    boxes: Sequence[labels.Label],
    spans: tuple[Span, Span],
    theme: str,
    width: int,
) -> Iterator[dict[str, Any]]:
    (x0, x1), (y0, y1) = spans
    wide, high = width - LEFT - RIGHT, HEIGHT - HEAD - FOOT
    font = {"size": FONT, "color": looks.palette(theme).text}
    for label, title in zip(boxes, rows["title"], strict=True):
        note = label.annotation(looks.escape(title, LETTERS), font)
        # On a logarithmic axis an annotation's position is a logarithm.
        yield note | {
            "x": x0 + note["x"] / wide * (x1 - x0),
            "y": y1 - note["y"] / high * (y1 - y0),
            "bgcolor": looks.palette(theme).background,
        }


def _frame(cost: str, measure: str, spans: tuple[Span, Span], wide: int) -> dict[str, Any]:
    still = {"zeroline": False, "automargin": False}
    across = _ticks(spans[0])[:: 1 if wide == WIDTH else 2]
    said = size if cost == "index_bytes" else milliseconds
    return {
        "width": wide,
        "height": HEIGHT,
        "margin": {"l": LEFT, "r": RIGHT, "t": HEAD, "b": FOOT, "autoexpand": False},
        "xaxis": still
        | {"type": "log", "range": list(spans[0]), "tickvals": across}
        | {"ticktext": [said(value).replace(".0", "") for value in across]}
        | {"title": {"text": pareto.COSTS[cost], "standoff": 6}},
        "yaxis": still
        | axes.spanning(*spans[1], 8)
        | {"range": list(spans[1])}
        | {"title": {"text": looks.escape(measure), "standoff": 6}},
    }


def _ticks(span: Span) -> list[float]:
    """Return round values within a logarithmic range: 1, 2 and 5 of each decade, or only 1."""
    first, last = math.floor(span[0]), math.ceil(span[1])
    digits = (1, 2, 5) if span[1] - span[0] < 2.5 else (1,)
    values = [digit * 10.0**power for power in range(first, last + 1) for digit in digits]
    return [value for value in values if span[0] <= math.log10(value) <= span[1]]


def legend(rows: DataFrame, theme: str) -> list[looks.Entry]:
    """Return the legend of the families, and of the machines if there are several."""
    families = [name for name in looks.FAMILIES if name in set(rows["family"])]
    entries = [looks.legend_entry(name, looks.FAMILIES, theme) for name in families]
    machines = order(rows)
    if len(machines) > 1:
        entries += [("", "○" if place else "●", name) for place, name in enumerate(machines)]
    return [*entries, ("", "┄", "Pareto frontier")]


COSTS: Mapping[str, tuple[str, Callable[[float], str], str]] = {
    "latency_p50_ms": ("median latency", milliseconds, "ms"),
    "latency_p95_ms": ("p95 latency", milliseconds, "ms"),
    "queries_per_second": ("batch throughput (q/s)", number, ""),
    "search_seconds": ("batch search time", seconds, "s"),
    "index_bytes": ("index size", size, "bytes"),
    "index_seconds": ("indexing", seconds, "s"),
    "documents_per_second": ("documents/s", number, ""),
    "peak_memory_bytes": ("memory", size, "bytes"),
    "candidate_recall@100": ("ANN recall@100 (vs exact)", share, ""),
}
"""Name, format and unit of every cost by its column."""
