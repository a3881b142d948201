"""Systems of a dataset side by side: means, intervals, unjudged shares, queries won and lost."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from pandas import DataFrame, Series

from compute.base.words import counted
from compute.evaluate.measures import better
from compute.evaluate.tolerance import equal
from compute.views.page import Column
from compute.views.shared import axes, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.narrow_lists import Lists, ranked
from compute.views.shared.theme import between, escape, plain, precise

ROW, NARROW, MANY = 30, 19, 24
"""Pixels per system, and pixels if there are more than MANY systems."""
_LEFT, _RIGHT = (0.0, 0.6), (0.66, 1.0)


def _lists(rows: DataFrame, measure: str, against: str, **_: object) -> Lists:
    """Return the systems by mean, with interval and the numbers of queries won and lost."""
    told = [
        (
            row["title"],
            row["value"],
            f"{plain(row['value'])} ({between(row['low'], row['high'])}); "
            + (
                "the baseline"
                if row["title"] == against
                else f"better on {row['above']:,.0f}, worse on {row['below']:,.0f}"
            ),
        )
        for row in rows.to_dict("records")
    ]
    title = f"Queries compared with {against}"
    return Lists("Measure", "System", [ranked(title, told, descending=better(measure) > 0)])


@in_lists(_lists)
@drawing
def systems(
    rows: DataFrame, measure: str, against: str, *, theme: str, narrow: bool = False
) -> go.Figure:
    """Draw each system's mean with its interval, and at the right its queries compared with a
    baseline, and its Hole@10. `rows`, in display order: system, title, family, n, value, low, high,
    hole, above, same, below (queries whose value is above, at and below the baseline's). The
    customdata of marks and bars is the system. A `narrow` figure omits the baseline."""
    figure = go.Figure()
    figure.add_trace(_means(rows, theme))
    if narrow:
        return figure.update_layout(_column(rows, measure, theme))
    for trace in _bars(rows, measure, theme):
        figure.add_bar(**trace)
    size = 13 if len(rows) <= MANY else 11
    share = {"range": [0, 1], "tickvals": [0, 0.5, 1], "ticktext": ["0", "50", "100"]}
    return figure.update_layout(
        height=(ROW if len(rows) <= MANY else NARROW) * len(rows) + 112,
        barmode="stack",
        bargap=0.3,
        margin={"r": 64, "t": 46},
        annotations=_notes(rows, measure, against, size, theme),
        xaxis=_value_axis(rows, measure),
        xaxis2=axes.BARE | share | {"domain": _RIGHT, "title": {"text": "% of queries"}},
        yaxis=_names([str(title) for title in rows["title"]], size),
    )


def _column(rows: DataFrame, measure: str, theme: str) -> dict[str, Any]:
    """Return the layout of the means and Hole@10 for one column of a page."""
    notes = _notes(rows, measure, "", 13, theme)
    return {
        "height": NARROW * len(rows) + 112,
        "margin": {"r": 64, "t": 30},
        "annotations": [note for note in notes if note["x"] == 1],
        "xaxis": _value_axis(rows, measure) | {"domain": (0, 1)},
        "yaxis": _names([str(title) for title in rows["title"]], 13, 18),
    }


def _value_axis(rows: DataFrame, measure: str) -> dict[str, Any]:
    ends = rows[["low", "high", "value"]].to_numpy(float)
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    shown = {"showgrid": True, "zeroline": False, "domain": _LEFT}
    return axes.spanning(low, high, 10) | shown | {"title": {"text": f"mean {escape(measure)}"}}


def _names(titles: list[str], size: int, most: int = 28) -> dict[str, Any]:
    return axes.names_down(titles, above=0.6, below=0.6, longest=most, tickfont={"size": size})


def _means(rows: DataFrame, theme: str) -> dict[str, Any]:
    colours = [looks.mark(family, looks.FAMILIES, theme)[0] for family in rows["family"]]
    lengths = (rows["high"] - rows["value"]).fillna(0).tolist()
    hover = [_hover(row) for row in rows.itertuples()]
    about = {"error_x": traces.error_bars(lengths, looks.palette(theme).muted), **traces.UNFADED}
    about |= {"customdata": [[name] for name in rows["system"]]}
    return traces.marks(rows["value"], None, {"size": 10, "color": colours}, hover, **about)


def _hover(row: Any) -> str:
    interval = "" if np.isnan(row.low) else f", 95%: {precise(row.low)} to {precise(row.high)}"
    holes = "" if np.isnan(row.hole) else f"<br>{row.hole:.1%} of the top 10 unjudged"
    return f"<b>{escape(row.title)}</b><br>{precise(row.value)}{interval}{holes}"


def _bars(rows: DataFrame, measure: str, theme: str) -> list[dict[str, Any]]:
    look = looks.palette(theme)
    gains, losses = ("above", "below") if better(measure) > 0 else ("below", "above")
    every = rows[["above", "same", "below"]].sum(axis=1).clip(lower=1)
    bars = []
    for column, colour, said in (
        (gains, look.win, "better"),
        ("same", look.line, "the same"),
        (losses, look.loss, "worse"),
    ):
        hover = [
            f"<b>{escape(title)}</b><br>{said} on {n:,} of {of:,} queries"
            for title, n, of in zip(rows["title"], rows[column], every, strict=True)
        ]
        bars.append(
            {
                "x": rows[column] / every,
                "y": list(range(len(rows))),
                "orientation": "h",
                "xaxis": "x2",
                "marker": {"color": colour, "line": {"width": 0}},
                "customdata": [[name] for name in rows["system"]],
                **traces.hover(hover),
                **traces.UNFADED,
            }
        )
    return bars


def _notes(
    rows: DataFrame, measure: str, against: str, size: int, theme: str
) -> list[dict[str, Any]]:
    look = looks.palette(theme)
    at = {"xref": "paper", "font": {"size": size}}
    holes = [
        at | {"x": 1, "xanchor": "left", "xshift": 12, "y": place}
        | {"text": "–" if np.isnan(hole) else f"{hole:.0%}"}
        for place, hole in enumerate(rows["hole"])
    ]  # fmt: skip
    top = {"y": 1, "yref": "paper", "yanchor": "bottom", "font": {"color": look.muted}}
    better_worse = (
        f'<span style="color:{look.win}">better</span>, tied or'
        f' <span style="color:{look.loss}">worse</span><br>than {escape(against, 26)}'
    )
    return [
        *holes,
        at | top | {"x": 1, "xanchor": "left", "xshift": 12, "text": "Hole@10"},
        at | top | {"x": _RIGHT[0], "xanchor": "left", "align": "left", "text": better_worse},
        at | top | {"x": 0, "xanchor": "left", "text": f"{escape(measure)} with its 95% CI"},
    ]


@drawing
def alone(counts: Series, titles: dict[str, str], *, theme: str) -> go.Figure:
    """Draw a bar per system: the queries on which it is better than every other system."""
    look = looks.palette(theme)
    names = [str(name) for name in counts.index]
    figure = go.Figure()
    figure.add_bar(
        x=counts.tolist(),
        y=list(range(len(counts))),
        orientation="h",
        marker={"color": look.win, "line": {"width": 0}},
        text=[f"{n:,}" for n in counts],
        textposition="outside",
        cliponaxis=False,
        **traces.hover(
            [
                f"<b>{escape(titles.get(name, name))}</b><br>single best on {counted(n, 'query')}"
                for name, n in zip(names, counts, strict=True)
            ]
        ),
    )
    return figure.update_layout(
        height=26 * len(counts) + 60,
        margin={"r": 48},
        xaxis=axes.BARE
        | {"rangemode": "tozero", "title": {"text": "queries"}, "tickformat": ",d"}
        | ({"dtick": 1} if counts.max() < 8 else {}),
        yaxis=_names([titles.get(name, name) for name in names], 13),
    )


def place_columns(titles: Mapping[str, str], n_systems: int, *, texts: bool) -> list[Column]:
    """Return columns for the ranks of a document; rows are from `query_outcomes.found`."""
    ranked = f"{{}} of {counted(n_systems, 'system')}".format
    return [
        Column("Query", "query_id"),
        *[Column("Text", "text")] * texts,
        Column("Judgement", "relevance", _judgement),
        Column("Ranked by", "systems", ranked),
        Column("Best rank", "best"),
        Column("Median rank", "middle", _rank),
        Column("Highest by", "first", lambda name: titles.get(name, name)),
    ]


def _judgement(grade: float) -> str:
    if np.isnan(grade):
        return "hole"
    return ("relevant" if grade > 0 else "not relevant") + f" ({grade:.0f})"


def _rank(rank: float) -> str:
    return "–" if np.isnan(rank) else f"{rank:.1f}".removesuffix(".0")


def weighted_columns() -> list[Column]:
    """Return columns for weighted means beside unweighted ones; unknown groups are empty."""
    return [
        Column("System", "title"),
        Column("Weighted", "value_by", plain),
        Column("95% CI", ("low_by", "high_by"), between),
        Column("Significance group", "group"),
        Column("Each query once", "value", plain),
        Column("95% CI", ("low", "high"), between),
    ]


def query_columns(*, whole: bool, texts: bool) -> list[Column]:
    """Return columns for queries with the systems' results on them."""
    values = (("Best", "best"), ("Median", "middle"), ("Worst", "worst"))
    return [
        *[Column("Part", "dataset")] * whole,
        Column("Query", "query_id"),
        *[Column("Text", "text")] * texts,
        Column("Relevant", "n_relevant"),
        *(Column(head, field, plain) for head, field in values),
        Column("Best system", "best_system"),
    ]


def best_system(row: Mapping[Hashable, Any], titles: Mapping[str, str]) -> str:
    """Say which system is best on a query: `BM25 and 2 more; the median equals the best`."""
    name = titles.get(row["winner"], row["winner"])
    more = f" and {row['n_best'] - 1:,} more" if row["n_best"] > 1 else ""
    level = row["n_best"] > 1 and equal(row["middle"], row["best"])
    return f"{name}{more}{'; the median equals the best' if level else ''}"


def language_columns(rows: DataFrame) -> list[Column]:
    """Return columns for systems in two languages, with differences, leaving out empty columns."""
    found = [Column("System", "title")]
    for name, column in (("published", "printed"), ("here", "here")):
        one, other = rows[f"{column}_en"].notna(), rows[f"{column}_pl"].notna()
        if one.any() or other.any():
            found.append(Column(f"English, {name}", f"{column}_en", plain))
            found.append(Column(f"Polish, {name}", f"{column}_pl", plain))
        if (one & other).any():
            found.append(Column(f"Polish − English, {name}", f"{column}_gap", looks.signed))
    return [*found, Column("Printed in", "sources")]
