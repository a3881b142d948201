"""Figures of a dataset's queries: how difficult they are for its systems, and their judgements."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray
from pandas import DataFrame, Series

from compute.base.words import counted
from compute.views.dataset.query_outcomes import HIGH
from compute.views.shared import axes, binned_queries, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing
from compute.views.shared.theme import escape, precise

MOST_STEPS = 6
"""Up to this many judged documents per query, the axis has a tick per document."""


@drawing
def difficulty(rows: DataFrame, measure: str, *, theme: str) -> go.Figure:
    """Draw the value of the best, the median and the worst system on each query, easiest first.
    `rows`: dataset, query_id, text, best, middle, worst, in display order. A mark's customdata is
    the dataset and id of its query."""
    look, edges = looks.palette(theme), binned_queries.groups(len(rows))
    line = {"width": 2, "color": look.text, "shape": "hvh"}
    median = {"mode": "lines", "name": "median system", "line": line, "hoverinfo": "skip"}
    figure = go.Figure()
    figure.add_bar(**_bands(rows, edges, look))
    figure.add_scatter(
        x=binned_queries.places(edges), y=binned_queries.means(rows["middle"], edges), **median
    )
    across = "queries, sorted by median score"
    return figure.update_layout(
        height=330,
        hovermode="x",
        hoverdistance=-1,
        showlegend=True,
        bargap=0,
        margin={"t": 26},
        xaxis=binned_queries.axis(len(rows), across),
        yaxis=axes.SHARES
        | {"range": [-0.03, 1.03], "zeroline": False, "title": {"text": escape(measure)}},
    )


def _bands(rows: DataFrame, edges: NDArray[np.int64], look: looks.Palette) -> dict[str, Any]:
    """Return a bar per query, or group of neighbours, from the worst to the best system's value."""
    first = rows.iloc[edges[:-1]]
    best, worst = (binned_queries.means(rows[name], edges) for name in ("best", "worst"))
    hover = [
        _hover(row, end - start)
        for row, start, end in zip(first.itertuples(), edges[:-1], edges[1:], strict=True)
    ]
    return {
        "x": binned_queries.places(edges),
        # A query on which all systems tie is a thin line, so that it can have a tooltip.
        "y": np.maximum(best - worst, 0.006),
        "base": worst,
        "width": np.diff(edges),
        "name": "range over systems",
        "marker": {"color": look.sequential[3], "line": {"width": 0}},
        "customdata": first[["dataset", "query_id"]].to_numpy().tolist(),
        **traces.hover(hover),
        **traces.UNFADED,
    }


def _hover(row: Any, n: int) -> str:
    many = f"<br>first of {n:,} neighbours" if n > 1 else ""
    return (
        f"{binned_queries.name(row)}"
        f"<br>best {precise(row.best)}, median {precise(row.middle)},"
        f" worst {precise(row.worst)}{many}"
    )


@drawing
def judged(grades: DataFrame, *, theme: str) -> go.Figure:
    """Draw judged documents per query by grade, queries with the most relevant documents first.
    `grades`: dataset, query_id, relevance, n. A bar's customdata: dataset and id of its query."""
    wide = by_query(grades)
    levels = [int(str(level)) for level in wide]
    edges = binned_queries.groups(len(wide))
    named = wide.index.to_frame(index=False).iloc[edges[:-1]]
    figure = go.Figure()
    for level in sorted(levels, key=lambda one: (one <= 0, one)):
        figure.add_bar(
            x=binned_queries.places(edges),
            y=binned_queries.means(wide[level], edges),
            width=np.diff(edges),
            name=_said(level),
            marker={"color": _shade(level, max(levels), theme), "line": {"width": 0}},
            customdata=named.to_numpy().tolist(),
            hovertext=[f"<b>{escape(name)}</b><br>{_said(level)}" for name in named["query_id"]],
            hovertemplate="%{hovertext}: %{y:,.3~f}<extra></extra>",
            **traces.UNFADED,
        )
    return figure.update_layout(**_judged_layout(wide))


def _judged_layout(wide: DataFrame) -> dict[str, Any]:
    counts: dict[str, Any] = {"title": {"text": "judged documents"}, "rangemode": "tozero"}
    if wide.sum(axis=1).max() <= MOST_STEPS:
        # By default Plotly would place ticks at half documents.
        counts["dtick"] = 1
    return {
        "height": 340,
        "barmode": "stack",
        "bargap": 0,
        "showlegend": True,
        "legend": {"traceorder": "normal"},
        "margin": {"t": 30},
        "xaxis": binned_queries.axis(
            len(wide), "queries, those with most relevant documents first"
        ),
        "yaxis": counts | {"zeroline": False},
    }


def by_query(grades: DataFrame) -> DataFrame:
    """Return a row per query, most relevant documents first, and a column per grade."""
    wide = grades.pivot_table(
        index=["dataset", "query_id"], columns="relevance", values="n", fill_value=0
    )
    relevant = relevant_of(wide)
    order = pd.DataFrame({"relevant": relevant, "all": wide.sum(axis=1)}).sort_values(
        ["relevant", "all"], ascending=False, kind="stable"
    )
    return wide.loc[order.index]


def relevant_of(wide: DataFrame) -> Series:
    """Return the number of relevant documents of each row of `by_query`."""
    return wide[[level for level in wide if int(str(level)) > 0]].sum(axis=1)


def _said(level: int) -> str:
    number = f"{level}".replace("-", "−")
    return f"relevant, grade {number}" if level > 0 else f"not relevant, grade {number}"


def _shade(level: int, highest: int, theme: str) -> str:
    look = looks.palette(theme)
    if level <= 0:
        return look.line
    return looks.colour(0.35 + 0.6 * (level / max(highest, 1)), look.sequential)


def judged_note(grades: DataFrame) -> list[str]:
    """State the number of judgements, and of relevant documents per query."""
    wide = by_query(grades)
    relevant = relevant_of(wide)
    none = int((relevant == 0).sum())
    median = f"{relevant.median():,.1f}".removesuffix(".0")
    return [
        f"{int(wide.to_numpy().sum()):,} judgements of {counted(len(wide), 'query')}; relevant"
        f" documents per query: {relevant.min():,.0f} to {relevant.max():,.0f}, median {median}.",
        f"{counted(none, 'query')} without a relevant document." if none else "",
    ]


def kinds_note(rows: DataFrame) -> str:
    """Count queries by outcome; `rows` are from `query_outcomes.kind`."""
    return (
        f"All systems score 0 on {int(rows['all_fail'].sum()):,} of {counted(len(rows), 'query')}"
        f" and ≥ {HIGH:g} on {int(rows['all_succeed'].sum()):,}; on"
        f" {int(rows['alone'].sum()):,} a single system is best."
    )
