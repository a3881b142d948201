"""Tables of a dataset's statistics and systems, and a figure of the distribution of scores."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from pandas import DataFrame, Series

from compute.datasets.published import sources
from compute.evaluate.measures import better
from compute.evaluate.tolerance import order, ranks
from compute.views.shared import axes, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing

STEPS = 25
"""Columns of a histogram from 0 to 1."""
ROW = 61
"""Pixels per system: its distribution, with the quartiles below."""
_SHOULDER = 0.6
_AT_0, _AT_1 = -0.035, 1.035

Row = Mapping[Hashable, Any]

STATISTICS = {
    "n_documents": ("Documents", 0),
    "n_queries": ("Queries", 0),
    "relevant_per_query": ("Relevant documents per query", 1),
    "document_words": ("Words per document, mean", 2),
    "query_words": ("Words per query, mean", 2),
}
"""Label and number of decimals of each statistic by its field."""
WORDS = ("Table", "System", "Remark")
"""Columns of `published_table` that hold text instead of numbers."""


@drawing
def distribution(spread: DataFrame, histogram: DataFrame, measure: str, *, theme: str) -> go.Figure:
    """Draw the distribution of a measure over the queries, one half histogram per system, in order.

    `spread`: system, title, family, n_queries, mean, p5 p25 p50 p75 p95, at_0, at_1. `histogram`:
    system, step, n_queries over STEPS equal steps, only of queries strictly between 0 and 1.
    Queries at exactly 0 and 1, often most of them, appear as percentages at both ends. Below each
    histogram are a thin line for the 5th–95th percentile of all queries, a thick one for the
    interquartile range, and a ring for the median; at the right, mean and median.
    """
    shares = histogram.merge(spread[["system", "n_queries"]], on="system", suffixes=("", "_all"))
    shares["share"] = shares["n_queries"] / shares["n_queries_all"]
    tallest = float(shares["share"].max()) if len(shares) else 1.0
    figure = go.Figure()
    notes, records = [], spread.to_dict("records")
    for place, row in enumerate(records):
        colour, _ = looks.mark(row["family"], looks.FAMILIES, theme)
        own = shares[shares["system"] == row["system"]]
        _columns(figure, own.assign(share=own["share"] / tallest * _SHOULDER), place, colour)
        notes += _values(row, place, theme)
    ends = [(spread[low], spread[high]) for low, high in (("p5", "p95"), ("p25", "p75"))]
    rows, hover = [place + 0.1 for place in range(len(records))], [_hover(row) for row in records]
    figure.add_traces(
        traces.quantiles(ends, spread["p50"].tolist(), rows, hover, looks.palette(theme))
    )
    _layout(figure, spread["title"].tolist(), measure, notes, theme)
    return figure


def _columns(figure: go.Figure, shares: DataFrame, place: int, colour: str) -> None:
    """Add one system's histogram to the figure, upwards from its row `place`."""
    figure.add_bar(
        x=(shares["step"] + 0.5) / STEPS,
        width=1 / STEPS,
        y=-shares["share"],
        base=place,
        marker={"color": colour, "opacity": 0.85, "line": {"width": 0}},
        hoverinfo="skip",
    )


def _values(row: Row, place: int, theme: str) -> list[dict[str, Any]]:
    """Return the texts of one system: mean and median, and the shares at 0 and 1."""
    mean, median = looks.plain(row["mean"]), looks.plain(row["p50"])
    muted = looks.palette(theme).muted
    said = f'<b>{mean}</b> <span style="color:{muted}">{median}</span>'
    return [
        _note(1, place - 0.05, said, xref="paper", xanchor="left", xshift=12),
        _note(_AT_0, place - 0.1, f"{row['at_0'] / row['n_queries']:.0%}"),
        _note(_AT_1, place - 0.1, f"{row['at_1'] / row['n_queries']:.0%}"),
    ]


def _hover(row: Row) -> str:
    return (
        f"<b>{looks.escape(row['title'])}</b><br>mean {row['mean']:.3f}, median {row['p50']:.3f}"
        f"<br>{row['n_queries']:,} queries: {row['at_0']:,} at 0, {row['at_1']:,} at 1"
    )


def _layout(
    figure: go.Figure,
    titles: Sequence[str],
    measure: str,
    notes: list[dict[str, Any]],
    theme: str,
) -> None:
    across = {"range": [-0.07, 1.07], "title": {"text": f"{looks.escape(measure)} of a query"}}
    figure.update_layout(
        # Adding the notes one by one would take a second for twenty systems.
        annotations=[*notes, *_heads(theme)],
        height=ROW * len(titles) + 96,
        barmode="overlay",
        bargap=0,
        margin={"r": 114 if theme == "print" else 92, "t": 30},
        xaxis=axes.SHARES | across | axes.BARE,
        yaxis=axes.names_down(titles, above=0.75, below=0.3, ticksuffix="  "),
    )


def _heads(theme: str) -> list[dict[str, Any]]:
    above: dict[str, Any] = {"yref": "paper", "yanchor": "bottom"}
    above["font"] = {"color": looks.palette(theme).muted}
    at_right = above | {"xref": "paper", "xanchor": "left", "xshift": 12}
    return [
        _note(1, 1, "mean, median", **at_right),
        _note(_AT_0, 1, "at 0", **above),
        _note(_AT_1, 1, "at 1", **above),
    ]


def _note(x: float, y: float, text: str, **placing: Any) -> dict[str, Any]:
    return {"x": x, "y": y, "text": text, **placing}


def in_order(means: DataFrame, measures: Sequence[str]) -> list[str]:
    """Return the systems in the order of `measure_table`: by the first measure, the best first."""
    wide = means.pivot(index="system", columns="measure", values="value")
    first = next(measure for measure in measures if measure in wide)
    return list(wide.index[order(better(first) * wide[first], wide.index)])


def measure_table(means: DataFrame, measures: Sequence[str]) -> DataFrame:
    """Return the systems of a dataset with all their measures, sorted by the first measure.
    `means`: system, title, measure, value, n_unanswered."""
    wide = means.pivot(index="system", columns="measure", values="value")
    shown = [measure for measure in measures if measure in wide]
    by_system = means.groupby("system")
    wide = wide[shown].assign(Unanswered=by_system["n_unanswered"].max())
    wide.insert(0, "System", by_system["title"].first())
    table = wide.loc[in_order(means, measures)].reset_index(drop=True)
    table.columns.name = None
    return table


def best(table: DataFrame, measures: Sequence[str]) -> DataFrame:
    """Return a frame like `measure_table`, true for the best values of each column."""
    mask = DataFrame(False, table.index, table.columns)
    for measure in measures:
        mask[measure] = ranks(table[measure] * better(measure)) == 1
    return mask


def statistics_table(printed: DataFrame, counted: DataFrame) -> DataFrame:
    """Return the published and the loaded statistics of a dataset as text: Statistic, Published,
    Here, Difference. `printed` and `counted` each have one row, with the columns of STATISTICS. A
    dataset without published statistics has only Statistic and Here."""
    rows = []
    for name, (label, digits) in STATISTICS.items():
        one, other = _one(printed[name]), _one(counted[name])
        gap = round(other, digits) - round(one, digits)
        rows.append((label, number(one, digits), number(other, digits), _gap(gap, digits)))
    table = DataFrame(rows, columns=["Statistic", "Published", "Here", "Difference"])
    unprinted = printed[list(STATISTICS)].isna().all(axis=None)
    return table[["Statistic", "Here"]] if unprinted else table


def _one(column: Series) -> float:
    """Return the only value of a column as a number."""
    return float(pd.to_numeric(column).astype("float64").iloc[0])


def number(value: float, digits: int = 0) -> str:
    """Format a number with fixed decimals; – if absent."""
    return "–" if pd.isna(value) else f"{value:,.{digits}f}"


def _gap(value: float, digits: int) -> str:
    if pd.isna(value):
        return "–"
    return f"{value:+,.{digits}f}".replace("-", "−") if round(value, digits) else "0"


def published_table(figures: DataFrame, measures: Sequence[str]) -> DataFrame:
    """Return the published scores on a dataset: Table, System, a column per measure, Remark.
    `figures`: source, printed, measure, value, note. The main papers' newest table and, among
    columns, the known `measures` come first."""
    keys = ["source", "printed"]
    places = {source: place for place, source in enumerate(sources(figures))}
    figures = figures.assign(place=figures["source"].map(places))
    figures = figures.sort_values(["place", "value"], ascending=[True, False], kind="stable")
    wide = figures.pivot_table(
        index=keys, columns="measure", values="value", aggfunc="first", sort=False
    )
    found = [str(measure) for measure in wide]
    shown = [measure for measure in measures if measure in found]
    shown += sorted(set(found) - set(shown))
    remarks = figures.groupby(keys, sort=False)["note"].agg(_joined)
    table = wide[shown].assign(Remark=remarks).reset_index()
    table.columns.name = None
    names = {"latency_s": "Latency (s)", "augmentation_length": "Words added"}
    return table.rename(columns={"source": "Table", "printed": "System"} | names)


def _joined(notes: Series) -> str:
    return "; ".join(dict.fromkeys(note for note in notes if note))
