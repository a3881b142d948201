"""Systems by kinds of queries: which of them does well on which."""

import plotly.graph_objects as go
from pandas import DataFrame

from compute.evaluate.measures import better
from compute.views.shared import axes, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.ranked import Lists, ranked
from compute.views.shared.theme import between, escape, plain, precise

ROW = 26
"""Height of a system in pixels."""


def _lists(rows: DataFrame, measure: str, **_: object) -> Lists:
    """The systems by their means on each kind, with intervals."""
    lists = []
    for label, of in rows.groupby("label", sort=False):
        told = [(one["title"], one["value"], _with_interval(one)) for one in of.to_dict("records")]
        title = f"{label} (n = {of['n_queries'].max():,})"
        lists.append(ranked(title, told, descending=better(measure) > 0))
    return Lists("Kind of query", "System", lists)


@in_lists(_lists)
@drawing
def panels(rows: DataFrame, measure: str, *, theme: str) -> go.Figure:
    """The mean of every system on each kind of query with its interval: a panel for each kind.

    `rows` as `select_slices.by_slice` has them, with title and family, systems in the order to
    show. A mark's customdata is its system.
    """
    systems = rows.drop_duplicates("system")
    place = {name: number for number, name in enumerate(systems["system"])}
    labels = [*dict.fromkeys(rows["label"])]
    figure, wide = go.Figure(), (1 - 0.02 * (len(labels) - 1)) / len(labels)
    ends = rows[["low", "high", "value"]]
    low, high = ends.min().min(), ends.max().max()
    pad = 0.06 * max(high - low, 0.05)
    shown = {"range": [low - pad, high + pad], "nticks": 4}
    for number, label in enumerate(labels):
        of, axis = rows[rows["label"] == label], str(number + 1) if number else ""
        figure.add_scatter(**_marks(of, place, theme), xaxis=f"x{axis}", yaxis="y")
        left = number * (wide + 0.02)
        title = {"text": f"{escape(label, 22)}<br>n = {of['n_queries'].max():,}"}
        drawn = {"domain": [left, left + wide], "title": title, "showgrid": True, "zeroline": False}
        figure.update_layout({f"xaxis{axis}": shown | drawn})
    return figure.update_layout(
        template=looks.template(theme),
        height=ROW * len(systems) + 110,
        yaxis=axes.names_down([str(title) for title in systems["title"]], above=0.6, below=0.6),
    )


def _marks(of: DataFrame, place: dict[str, int], theme: str) -> dict:
    look = looks.palette(theme)
    colours = [looks.mark(family, looks.FAMILIES, theme)[0] for family in of["family"]]
    lengths = (of["high"] - of["value"]).fillna(0).tolist()
    hovers = [
        f"<b>{escape(one['title'])}</b><br>{escape(one['label'])}: {precise(one['value'])}"
        f"<br>95%: {between(one['low'], one['high'])}"
        for one in of.to_dict("records")
    ]
    return {
        "x": of["value"],
        "y": [place[name] for name in of["system"]],
        "mode": "markers",
        "error_x": traces.error_bars(lengths, look.muted),
        "marker": {"size": 9, "opacity": 1, "color": colours},
        "customdata": [[name] for name in of["system"]],
        **traces.hover(hovers),
        **traces.UNFADED,
    }


def _with_interval(one: dict) -> str:
    return f"{plain(one['value'])} ({between(one['low'], one['high'])})"
