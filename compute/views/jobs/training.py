"""Progress of a training: its losses, step by step."""

import plotly.graph_objects as go
from pandas import DataFrame

from compute.views.jobs.matrix import duration
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing

HEIGHT = 220
SMOOTHED = 20
"""Points averaged by the thick line, which is drawn for at least twice as many points."""


@drawing
def losses(curve: DataFrame, *, total: int, theme: str) -> go.Figure:
    """Draw the losses (step, name, value) by step, on an axis that reaches to step `total`. Each
    loss is a line; if it has many points, a thicker line is its mean over the previous SMOOTHED
    points. Several losses have a legend."""
    palette = looks.palette(theme)
    figure = go.Figure()
    names = list(dict.fromkeys(curve["name"]))
    for name, colour in zip(names, palette.categories * len(names), strict=False):
        own = curve[curve["name"] == name].sort_values("step")
        smooth = len(own) >= 2 * SMOOTHED
        figure.add_trace(_line(own, name, colour, thin=smooth))
        if smooth:
            mean = own["value"].rolling(SMOOTHED, min_periods=1).mean()
            figure.add_trace(_line(own.assign(value=mean), name, colour, mean=True))
    figure.update_layout(
        height=HEIGHT,
        showlegend=len(names) > 1,
        # By zooming, the user can read the end of a long training.
        dragmode="zoom",
        xaxis={"title": {"text": "step"}, "range": [0, max(total, 1)], "tickformat": ",d"}
        | {"fixedrange": False},
        yaxis={"title": {"text": "loss"}, "rangemode": "tozero", "fixedrange": False},
    )
    return figure


def _line(
    own: DataFrame, name: str, colour: str, *, thin: bool = False, mean: bool = False
) -> go.Scatter:
    said = f"{looks.escape(name)}{' (mean of the points before)' if mean else ''}"
    return go.Scatter(
        x=own["step"].tolist(),
        y=own["value"].tolist(),
        mode="lines" if len(own) > 1 else "markers",
        name=looks.escape(name),
        showlegend=not mean,
        opacity=0.4 if thin else 1,
        line={"color": colour, "width": 1 if thin else 2},
        hovertemplate=f"{said}<br>step %{{x:,d}}: %{{y:.4f}}<extra></extra>",
    )


def said(curve: DataFrame, total: int) -> str:
    """Describe the progress: `Step 40 of 81: loss 0.51 (started at 1.84); 3 min so far.`"""
    last = curve[curve["step"] == curve["step"].max()]
    first = curve[curve["step"] == curve["step"].min()].set_index("name")["value"]
    values = ", ".join(
        f"{row.name_} {looks.plain(row.value, 4)} (started at {looks.plain(first[row.name_], 4)})"
        for row in last.rename(columns={"name": "name_"}).itertuples(index=False)
        if row.name_ in first
    )
    step = int(last["step"].iloc[0])
    took = f"; {duration(float(last['seconds'].iloc[0]))} so far" if "seconds" in last else ""
    return f"Step {step:,} of {max(total, step):,}: {values}{took}."
