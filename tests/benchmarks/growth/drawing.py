"""The lines of growth as small multiples: one panel for each cost, both axes logarithmic."""

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from compute.figures.theme import palette, template
from tests.benchmarks.growth.lines import Line

COLUMNS = 5
WIDTH, PANEL = 1240, 250
THINGS = ("queries", "systems", "documents", "hits a query", "words", "corpora")
"""One colour each; the names stand beside the lines."""


def figure(lines: Sequence[Line]) -> go.Figure:
    """Seconds of processors by how many times the smallest size; the exponent beside each line."""
    costs = list(dict.fromkeys(line.cost for line in lines))
    rows = -(-len(costs) // COLUMNS)
    drawn = make_subplots(
        rows,
        COLUMNS,
        subplot_titles=[f"<b>{cost}</b>" for cost in costs],
        horizontal_spacing=0.045,
        vertical_spacing=0.2,
    )
    for place, cost in enumerate(costs):
        row, column = divmod(place, COLUMNS)
        own = [line for line in lines if line.cost == cost]
        _panel(drawn, own, row + 1, column + 1)
        last = place + COLUMNS >= len(costs)
        title = "times the smallest size" if last else ""
        drawn.update_xaxes(title_text=title, row=row + 1, col=column + 1)
        if column == 0:
            drawn.update_yaxes(title_text="seconds of processors", row=row + 1, col=1)
    look = palette("light")
    drawn.update_annotations(font_size=13)
    drawn.update_xaxes(type="log", tickvals=[1, 3, 10], range=[-0.1, 1.75])
    drawn.update_yaxes(type="log", exponentformat="none", dtick=1, showline=False)
    drawn.update_layout(
        template=template("light"),
        width=WIDTH,
        height=rows * PANEL + 60,
        showlegend=False,
        margin={"l": 64, "r": 12, "t": 34, "b": 74},
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
        yshift=-62,
        showarrow=False,
        xanchor="left",
        font={"size": 13, "color": look.muted},
    )
    return drawn


def _panel(drawn: go.Figure, own: Sequence[Line], row: int, column: int) -> None:
    look = palette("light")
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
            x=[times[-1] * 1.12],
            y=[end],
            mode="text",
            text=[f"{line.by} <b>{line.exponent:.2f}</b>"],
            textposition="middle right",
            textfont={"color": colour, "size": 12},
            cliponaxis=False,
            **at,
        )


def _apart(heights: Sequence[float], least: float = 1.55) -> list[float]:
    """The heights moved up where they would lie on each other; on a logarithmic axis."""
    moved = dict[int, float]()
    below = 0.0
    for place in sorted(range(len(heights)), key=heights.__getitem__):
        below = moved[place] = max(heights[place], below * least)
    return [moved[place] for place in range(len(heights))]
