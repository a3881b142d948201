"""The lines of growth as small multiples: one panel for each cost, both axes logarithmic."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from compute.views.shared.theme import palette, template
from tests.benchmarks.growth.lines import Line, digits

COLUMNS = 4
WIDTH, PANEL = 1240, 240
THINGS = ("queries", "systems", "documents", "hits a query", "words", "datasets", "corpora")
"""One colour each, in the order of the palette; the names stand beside the lines."""
TICKS = {10.0**power: f"{10**power:g} s" for power in range(3)} | {
    10.0**power: f"{10 ** (power + 3):g} ms" for power in range(-6, 0)
}


def figure(lines: Sequence[Line]) -> go.Figure:
    """Seconds of processors by how many times the smallest size; the exponent beside each line."""
    costs = list(dict.fromkeys(line.cost for line in lines))
    rows = -(-len(costs) // COLUMNS)
    tall = max(_low_high([line for line in lines if line.cost == cost])[2] for cost in costs)
    drawn = make_subplots(
        rows,
        COLUMNS,
        subplot_titles=[f"<b>{cost}</b>" for cost in costs],
        horizontal_spacing=0.06,
        vertical_spacing=0.13,
    )
    for place, cost in enumerate(costs):
        row, column = divmod(place, COLUMNS)
        own = [line for line in lines if line.cost == cost]
        _panel(drawn, own, row + 1, column + 1)
        low, high, _ = _low_high(own)
        middle = (low + high) / 2
        # As many decades everywhere, so that slopes compare.
        of_panel = [middle - 0.58 * tall, middle + 0.58 * tall]
        drawn.update_yaxes(range=of_panel, row=row + 1, col=column + 1)
        last = place + COLUMNS >= len(costs)
        title = "times the smallest size" if last else ""
        drawn.update_xaxes(title_text=title, title_standoff=8, row=row + 1, col=column + 1)
        if column == 0:
            drawn.update_yaxes(title_text="time of processors", row=row + 1, col=1)
    look = palette("light")
    drawn.update_annotations(font_size=13)
    drawn.update_xaxes(type="log", tickvals=[1, 10, 100], range=[-0.1, 4.1])
    drawn.update_yaxes(type="log", tickvals=list(TICKS), ticktext=list(TICKS.values()))
    drawn.update_layout(
        template=template("light"),
        width=WIDTH,
        height=rows * PANEL + 80,
        showlegend=False,
        margin={"l": 64, "r": 20, "t": 34, "b": 96},
    )
    note = (
        "Beside each line: what grows, and the exponent (1 is linear, dotted; 2 is every two"
        " compared). Least squares over three sizes: a rough one."
    )
    drawn.add_annotation(
        text=note,
        x=0,
        y=0,
        xref="paper",
        yref="paper",
        yshift=-84,
        showarrow=False,
        xanchor="left",
        font={"size": 13, "color": look.muted},
    )
    return drawn


def _low_high(own: Sequence[Line]) -> tuple[float, float, float]:
    """The logarithms of the least and most of some lines, with their names, and between them."""
    seconds = [second for line in own for second in line.seconds]
    top = max(*seconds, *_apart([line.seconds[-1] for line in own]))
    low, high = np.log10(min(seconds)), np.log10(top)
    return float(low), float(high), float(high - low)


def _panel(drawn: go.Figure, own: Sequence[Line], row: int, column: int) -> None:
    look = palette("light")
    widest = max(line.sizes[-1] / line.sizes[0] for line in own)
    # All names stand behind the longest line: beside a shorter one, others pass.
    ends = _apart([line.seconds[-1] for line in own])
    for line, end in zip(own, ends, strict=True):
        colour = look.categories[THINGS.index(line.by)]
        times = [size / line.sizes[0] for size in line.sizes]
        at = {"row": row, "col": column}
        linear = [line.seconds[0] * time for time in (times[0], times[-1])]
        dotted = {"color": look.muted, "width": 1, "dash": "dot"}
        drawn.add_scatter(x=times[:: len(times) - 1], y=linear, mode="lines", line=dotted, **at)
        solid = {"color": colour, "width": 2}
        drawn.add_scatter(x=times, y=line.seconds, mode="lines+markers", line=solid, **at)
        drawn.add_scatter(
            x=[1.12 * widest],
            y=[end],
            mode="text",
            text=[f"{line.by} <b>{digits(line.exponent)}</b>"],
            textposition="middle right",
            textfont={"color": colour, "size": 12},
            cliponaxis=False,
            **at,
        )


def _apart(heights: Sequence[float], least: float = 2.1) -> list[float]:
    """The heights moved up where they would lie on each other; on a logarithmic axis."""
    moved = dict[int, float]()
    below = 0.0
    for place in sorted(range(len(heights)), key=heights.__getitem__):
        below = moved[place] = max(heights[place], below * least)
    return [moved[place] for place in range(len(heights))]
