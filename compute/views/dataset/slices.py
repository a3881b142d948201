"""Figure of systems by query group."""

import math

import plotly.graph_objects as go
from pandas import DataFrame

from compute.evaluate.measures import better
from compute.views.shared import axes, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.narrow_lists import Lists, ranked
from compute.views.shared.theme import between, escape, plain, precise

ROW, BETWEEN = 26, 90
"""Pixels of a system, and pixels below a row of panels for tick labels."""
ACROSS = 5
"""Most panels in a row; with more, tick labels and names would overlap."""


def _lists(rows: DataFrame, measure: str, **_: object) -> Lists:
    """Return the systems' means on each query group, with intervals, as ranked lists."""
    lists = []
    for label, of in rows.groupby("label", sort=False):
        told = [(one["title"], one["value"], _with_interval(one)) for one in of.to_dict("records")]
        title = f"{label} (n = {of['n_queries'].max():,})"
        lists.append(ranked(title, told, descending=better(measure) > 0))
    return Lists("Query group", "System", lists)


@in_lists(_lists)
@drawing
def panels(rows: DataFrame, measure: str, *, theme: str) -> go.Figure:
    """Draw each system's mean on each query group with its interval, up to ACROSS panels in a row.
    `rows` are from `select_slices.by_slice`, with title and family, systems in display order. A
    mark's customdata is its system."""
    systems = rows.drop_duplicates("system")
    place = {name: number for number, name in enumerate(systems["system"])}
    labels = [*dict.fromkeys(rows["label"])]
    figure, across = go.Figure(), min(len(labels), ACROSS)
    wide, longest = (1 - 0.02 * (across - 1)) / across, 22 if across < 4 else 16
    names = axes.names_down([str(title) for title in systems["title"]], above=0.6, below=0.6)
    n_rows, shown = math.ceil(len(labels) / across), _range(rows)
    whole = n_rows * (ROW * len(systems) + BETWEEN) - BETWEEN
    for number, label in enumerate(labels):
        down, beside = divmod(number, across)
        of, axis, row = rows[rows["label"] == label], _axis(number), _axis(down)
        figure.add_trace(_marks(of, place, theme) | {"xaxis": f"x{axis}", "yaxis": f"y{row}"})
        title = {"text": f"{escape(label, longest)}<br>n = {of['n_queries'].max():,}"}
        drawn = {"title": title, "showgrid": True, "zeroline": False, "anchor": f"y{row}"}
        left, top = beside * (wide + 0.02), 1 - down * (ROW * len(systems) + BETWEEN) / whole
        figure.update_layout({f"xaxis{axis}": shown | drawn | {"domain": [left, left + wide]}})
        if not beside:
            domain = [max(top - ROW * len(systems) / whole, 0), top]
            figure.update_layout({f"yaxis{row}": names | {"anchor": f"x{axis}", "domain": domain}})
    return figure.update_layout(height=whole + 110)


def _axis(number: int) -> str:
    return str(number + 1) if number else ""


def _range(rows: DataFrame) -> dict:
    """Return an axis that covers all intervals, cut at 0 and 1 unless a mean lies beyond; otherwise
    the wide interval of a group of two queries would squeeze all others."""
    means = rows["value"]
    low = max(rows[["low", "value"]].min().min(), min(means.min(), 0))
    high = min(rows[["high", "value"]].max().max(), max(means.max(), 1))
    return axes.spanning(low, high, 4)


def _marks(of: DataFrame, place: dict[str, int], theme: str) -> dict:
    colours = [looks.mark(family, looks.FAMILIES, theme)[0] for family in of["family"]]
    lengths = (of["high"] - of["value"]).fillna(0).tolist()
    bars = traces.error_bars(lengths, looks.palette(theme).muted)
    hovers = [
        f"<b>{escape(one['title'])}</b><br>{escape(one['label'])}: {precise(one['value'])}"
        f"<br>95%: {between(one['low'], one['high'])}"
        for one in of.to_dict("records")
    ]
    y, look = [place[name] for name in of["system"]], {"size": 9, "color": colours}
    about = {"customdata": [[name] for name in of["system"]], **traces.UNFADED}
    return traces.marks(of["value"], y, look, hovers, error_x=bars, **about)


def _with_interval(one: dict) -> str:
    return f"{plain(one['value'])} ({between(one['low'], one['high'])})"
