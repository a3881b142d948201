"""Figures of two systems on the same queries: the leader, the differences, the queries."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from pandas import DataFrame, Series

from compute.base.words import counted
from compute.evaluate.measures import better
from compute.evaluate.tolerance import above
from compute.views.compare import differences
from compute.views.shared import axes as shared_axes
from compute.views.shared import binned_queries, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing
from compute.views.shared.theme import escape, precise

GRID = 40
"""Grid steps from 0 to 1, to which more than MOST_MARKS queries are rounded."""
MOST_MARKS = 1500
ROW = 34
"""Pixels per dataset."""

_REACH = 1.24
"""End of the axis of differences, with room for a line of text beyond the longest bar."""

Titles = tuple[str, str]


def _values(a: float, b: float, titles: Titles) -> str:
    return f"<br>{escape(titles[0], 40)} {precise(a)}<br>{escape(titles[1], 40)} {precise(b)}"


@drawing
def bars(
    both: DataFrame, titles: Titles, measure: str, *, theme: str, narrow: bool = False
) -> go.Figure:
    """Draw a bar for the difference on every query, A's largest lead first. `both`: dataset,
    query_id, text, value_a, value_b, difference, sorted. With very many queries, a bar is the mean
    of neighbours. A bar's customdata is the dataset and id of its first query. The better system is
    named above and below the bars, abbreviated in a `narrow` figure."""
    n, gaps = len(both), both["difference"].to_numpy(float)
    edges = binned_queries.groups(n)
    height = binned_queries.means(gaps, edges)
    first = both.iloc[edges[:-1]]
    hover = [
        _bar_hover(row, titles, (start, end, n), (gaps[start], gaps[end - 1]))
        for row, start, end in zip(first.itertuples(), edges[:-1], edges[1:], strict=True)
    ]
    look = looks.palette(theme)
    figure = go.Figure()
    figure.add_bar(
        x=binned_queries.places(edges),
        y=height,
        width=np.diff(edges),
        marker={
            "color": _shades(height, measure, look),
            "line": {"width": 0},
        },
        customdata=first[["dataset", "query_id"]].to_numpy().tolist(),
        **traces.hover(hover),
        **traces.UNFADED,
    )
    reach = max(float(np.abs(height).max(initial=0)), 0.02)
    figure.update_layout(**_bars_layout(n, titles, measure, reach, narrow=narrow))
    figure.update_layout(annotations=_leaders(titles, measure, look, 22 if narrow else 40, reach))
    return figure


def _bar_hover(
    row: Any, titles: Titles, place: tuple[int, int, int], ends: tuple[float, float]
) -> str:
    (start, end, n), query = place, binned_queries.name(row)
    if end - start == 1:
        gap = precise(ends[0], with_sign=True)
        return f"{query}{_values(row.value_a, row.value_b, titles)}<br>difference {gap}"
    gaps = " to ".join(precise(gap, with_sign=True) for gap in ends)
    return f"Queries {start + 1:,} to {end:,} of {n:,}<br>differences {gaps}<br>first: {query}"


def _bars_layout(
    n: int, titles: Titles, measure: str, reach: float, *, narrow: bool
) -> dict[str, Any]:
    first = escape(titles[0], 26 if narrow else 40)
    best = f"{first} better" if better(measure) > 0 else f"the larger value of {first}"
    across = f"queries, those with{'<br>' if narrow else ' '}{best} first"
    return {
        "height": 320,
        "hovermode": "x",
        "hoverdistance": -1,
        "bargap": 0,
        "xaxis": binned_queries.axis(n, across),
        "yaxis": _ticks(reach)
        | {"range": [-_REACH * reach, _REACH * reach]}
        | {"title": {"text": f"difference in {escape(measure)}"}},
    }


def _leaders(
    titles: Titles, measure: str, look: looks.Palette, longest: int, reach: float
) -> list[dict[str, Any]]:
    """Return labels beyond the longest bars: which system is better above, and which below."""
    inks = {"color": look.win}, {"color": look.loss}
    both = [
        (f"{escape(title, longest)} is better", ink)
        for title, ink in zip(titles, inks, strict=True)
    ]
    up, down = both if better(measure) > 0 else both[::-1]
    at = {"xref": "paper", "yref": "y"}
    left, right = {"x": 0, "xanchor": "left"}, {"x": 1, "xanchor": "right"}
    return [
        at | left | {"y": reach, "yanchor": "bottom", "text": f"▲ {up[0]}", "font": up[1]},
        at | right | {"y": -reach, "yanchor": "top", "text": f"▼ {down[0]}", "font": down[1]},
    ]


@drawing
def scatter(both: DataFrame, titles: Titles, measure: str, *, theme: str) -> go.Figure:
    """Draw a mark per query, with A's value on the vertical and B's on the horizontal axis; queries
    at the same place share a larger mark. With more than MOST_MARKS queries, places are rounded to
    GRID steps. A mark's customdata is the dataset and id of one of its queries."""
    look = looks.palette(theme)
    line = {"width": 1.25, "dash": "dot", "color": look.muted}
    ticks = shared_axes.SHARES | {"range": [-0.05, 1.05], "zeroline": False}
    figure = go.Figure()
    figure.add_scatter(x=[0, 1], y=[0, 1], mode="lines", line=line, hoverinfo="skip")
    figure.add_trace(_marks(_places(both), titles, measure, look))
    return figure.update_layout(
        height=400,
        xaxis=ticks | {"title": {"text": escape(titles[1], 40)}},
        yaxis=ticks | {"title": {"text": escape(titles[0], 40)}},
    )


def _places(both: DataFrame) -> DataFrame:
    """Return x, y, n (queries there), and dataset, query_id, text of a query, for each place."""
    step = GRID if len(both) > MOST_MARKS else 1000
    x, y = ((both[name] * step).round() / step for name in ("value_b", "value_a"))
    named = {name: (name, "first") for name in ("dataset", "query_id", "text")}
    by_place = both.assign(x=x, y=y).groupby(["x", "y"], sort=False)
    return by_place.agg(n=("query_id", "size"), **named).reset_index()


def _marks(places: DataFrame, titles: Titles, measure: str, look: looks.Palette) -> dict[str, Any]:
    opacity = {"opacity": 0.75}
    marker = opacity | {
        "size": _sizes(places["n"]),
        "color": _shades(places["y"] - places["x"], measure, look),
        "line": {"width": 0.75, "color": look.background},
    }
    hover = [_mark_hover(row, titles) for row in places.itertuples()]
    about = {"customdata": places[["dataset", "query_id"]].to_numpy().tolist()}
    about |= {key: {"marker": opacity} for key in ("selected", "unselected")}
    return traces.marks(places["x"], places["y"], marker, hover, **about)


def _shades(gaps: Any, measure: str, look: looks.Palette) -> list[str]:
    """Return the colour of the better system: blue for A, orange for B."""
    worth = better(measure) * np.asarray(gaps, dtype=np.float64)
    ahead, behind = above(worth, 0), above(0, worth)
    return np.where(ahead, look.win, np.where(behind, look.loss, look.muted)).tolist()


def _sizes(n: Series) -> list[float]:
    """Return mark sizes: areas grow with the number of queries, from 7 to 34 pixels across."""
    scale = max(float(n.max()), 24.0) if len(n) else 1.0
    return (7 + 27 * np.sqrt((n - 1) / scale)).round(1).tolist()


def _mark_hover(row: Any, titles: Titles) -> str:
    values = _values(row.y, row.x, titles)
    if row.n == 1:
        return binned_queries.name(row) + values
    return f"{row.n:,} queries{values}<br>one of them: {binned_queries.name(row)}"


@drawing
def likeness(alike: DataFrame, *, theme: str) -> go.Figure:
    """Draw a histogram of rank-biased overlap (`rbo`, 0 to 1) over queries, and its mean."""
    look = looks.palette(theme)
    count, edges = np.histogram(alike["rbo"].clip(0, 1), bins=20, range=(0, 1))
    figure = go.Figure()
    figure.add_bar(
        **traces.histogram(count, edges, "overlap ", digits=2),
        width=0.05,
        marker={"color": look.primary, "line": {"width": 1, "color": look.background}},
    )
    mean = float(alike["rbo"].mean())
    ink = {"color": look.text, "width": 1.5, "dash": "dot"}
    figure.add_vline(x=mean, line=ink)
    note = {"text": f"mean {looks.plain(mean)}", "yref": "paper", "yanchor": "bottom"}
    # Near 0 the text would overlap the axis labels.
    note["xanchor"] = "left" if mean < 0.1 else "center"
    figure.add_annotation(x=mean, y=1, **note)
    figure.update_layout(height=400, bargap=0, margin={"t": 24})
    across = "rank-biased overlap of a query's two lists"
    figure.update_xaxes(title_text=across, range=[0, 1], **shared_axes.SHARES, **shared_axes.BARE)
    figure.update_yaxes(title_text="queries", rangemode="tozero")
    return figure


INTERVALS = "Lines: 95% CI. Hollow: not significant. Blue: A is better; orange: B is."


@drawing
def by_slice(key: str, rows: DataFrame, measure: str, *, theme: str) -> go.Figure:
    """Draw a mark for each query group: its mean difference with its interval. `key`: the title of
    the groups. `rows`: from `slices.contrasts`."""
    figure = go.Figure(data=[_intervals(rows, measure, theme, across=False)])
    ends = rows[["low", "high", "difference"]].abs().max().dropna().tolist()
    reach = min(max([0.02, *ends]) * 1.08, 1.05)
    return figure.update_layout(
        height=300,
        xaxis=_group_axis(key, rows),
        yaxis=_ticks(reach) | {"title": {"text": f"mean {escape(measure)} of A minus B"}},
    )


def _ticks(reach: float) -> dict[str, Any]:
    """Return an axis of differences from −reach to reach."""
    step = next((one for one in (0.01, 0.02, 0.05, 0.1, 0.2) if reach / one <= 5), 0.5)
    places = np.arange(-int(reach / step), int(reach / step) + 1)
    ticks = shared_axes.differences((places * step).tolist(), 2 if step < 0.1 else 1)
    return ticks | {"range": [-reach, reach], "zeroline": True}


def _group_axis(title: str, rows: DataFrame) -> dict[str, Any]:
    names = zip(rows["label"], rows["n"], strict=True)
    labels = [f"{escape(label, 18)}<br>n = {n:,}" for label, n in names]
    return {
        "tickvals": list(range(len(rows))),
        "ticktext": labels,
        "range": [-0.6, len(rows) - 0.4],
        "title": {"text": escape(title)},
        **shared_axes.BARE,
    }


def _intervals(rows: DataFrame, measure: str, theme: str, *, across: bool) -> dict[str, Any]:
    """Return marks at differences with 95% intervals; hollow if the interval contains 0."""
    look = looks.palette(theme)
    shade = _shades(rows["difference"], measure, look)
    fill = np.where(differences.sure(rows), shade, look.background).tolist()
    error = traces.error_bars((rows["high"] - rows["difference"]).fillna(0).tolist(), look.muted)
    x, y = rows["difference"].tolist(), list(range(len(rows)))
    x, y, bars = (x, y, "error_x") if across else (y, x, "error_y")
    marker = {"size": 11, "color": fill, "line": {"width": 2, "color": shade}}
    hover = [_interval_hover(row) for row in rows.itertuples()]
    return traces.marks(x, y, marker, hover, **{bars: error})


def _interval_hover(row: Any) -> str:
    head = f"<b>{escape(row.title)}</b><br>" if hasattr(row, "title") else ""
    ends = f"{precise(row.low, with_sign=True)} to {precise(row.high, with_sign=True)}"
    interval = "" if np.isnan(row.low) else f"<br>95%: {ends}"
    gap = precise(row.difference, with_sign=True)
    over = f"{counted(row.n, 'query')}: " if row.n else ""
    return f"{head}{over}{gap}{interval}"


@drawing
def forest(
    rows: DataFrame, titles: Titles, measure: str, *, theme: str, names: Titles = ("A", "B")
) -> go.Figure:
    """Draw a row for each dataset: its difference with the interval, and counts at the right.
    `rows`: from `differences.across`; counts may be absent. A mark's customdata is its dataset.
    `names`: the two systems' names."""
    trace = _intervals(rows, measure, theme, across=True)
    trace |= {"customdata": [[name] for name in rows["dataset"]], **traces.UNFADED}
    ends = rows[["low", "high", "difference"]].abs().max().dropna().tolist()
    reach = min(max([0.02, *ends]) * 1.08, 1.05)
    figure = go.Figure(data=[trace])
    figure.update_layout(
        height=ROW * len(rows) + 92,
        hovermode="y",
        hoverdistance=-1,
        margin={"r": 150, "t": 26},
        annotations=_counts(rows, theme, names),
        xaxis=_ticks(reach)
        | {"title": {"text": f"mean {escape(measure)} of {names[0]} minus {names[1]}"}},
        yaxis=shared_axes.names_down(rows["title"].tolist(), above=0.7, below=0.6),
    )
    return figure


def _counts(rows: DataFrame, theme: str, names: Titles) -> list[dict[str, Any]]:
    muted = looks.palette(theme).muted
    at = {"x": 1, "xref": "paper", "xanchor": "left", "xshift": 12}
    notes = [
        at
        | {"y": place}
        | {"text": f"<b>{row.a_better:,.0f}</b> : {row.b_better:,.0f}  "}
        | {"hovertext": f"equal on {row.equal:,.0f}"}
        for place, row in enumerate(rows.itertuples())
        if rows["a_better"].notna().iloc[place]
    ]
    head = f"{names[0]} : {names[1]} better" * bool(notes)
    return [*notes, at | {"y": -0.75, "text": head, "font": {"color": muted}}]
