"""Versions of a system on a dataset: their origins, scores and changes."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import pandas as pd
import plotly.graph_objects as go
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.datasets import DATASETS
from compute.reading.questions import question
from compute.store import run_versions
from compute.store.store import Part
from compute.views.compare import select as compare_select
from compute.views.compare.tables import p_text
from compute.views.page import Column
from compute.views.shared import axes, standings, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing
from compute.views.shared.theme import between, escape, plain, precise, signed

_TESTED = {"difference": "difference", "low": "from", "high": "to", "p_randomisation": "p"}
"""Columns of a test, and their names in the table."""
_DASH = "–"
MOST_NAMED = 6
"""Most versions whose name and date are below the line; of more, only some are labelled."""


def history(kept: Sequence[Part], live: Part | None) -> DataFrame:
    """Return the runs of a system on a dataset, the oldest first and the live one last: system (as
    in a picker), label, date, note, made (the file, or the parameters). `kept`: the hits of its
    versions in order; the hits of several parts of a dataset count as one run."""
    runs = list({part.system: part for part in [*kept, *([live] if live else [])]}.values())
    labels = run_versions.labels(runs)
    return DataFrame(
        {
            "system": [part.system for part in runs],
            "label": labels,
            "date": [run_versions.published(part)[:10] for part in runs],
            "note": [part.provenance.get("run_version", {}).get("note", "") for part in runs],
            "made": [_made(part) for part in runs],
        }
    )


def shared(runs: Iterable[Part], systems: Iterable[str]) -> list[str]:
    """Return the datasets on which all these runs have hits, leaving out parts of datasets."""
    held: dict[str, set[str]] = {}
    for part in runs:
        held.setdefault(part.dataset, set()).add(part.system)
    parts = {part for of in DATASETS.values() for part in of.parts}
    return [name for name, of in held.items() if of >= {*systems} and name not in parts]


def _made(hits: Part) -> str:
    """Return what a run was made from: its file, or its numeric parameters."""
    about = hits.provenance
    named = [*sorted(about.get("identity", {}).items()), ("depth", about.get("depth"))]
    numbers = [f"{name} = {value}" for name, value in named if isinstance(value, int | float)]
    return about.get("file") or ", ".join(numbers)


@question(datasets=("datasets",), systems=("systems",), shows="runs")
def scored(
    cursor: DuckDBPyConnection, datasets: Sequence[str], systems: Sequence[str], measure: str
) -> DataFrame:
    """Return a row for each of these runs, in order: system, n, value, low, high, hole; and for the
    per-query differences from the previous run: difference, its 95% interval `from` and `to`, and
    p. The differences are absent for the first run, or if either run is out of date. Each pair is
    tested by itself, as on Compare (`significance.two`)."""
    standing = standings.standing(cursor, datasets, measure)
    rows = standings.ranked(standing[standing["system"].isin(list(systems))], measure)
    tested = [
        compare_select.tested(cursor, datasets, now, before, measure).assign(system=now)
        for before, now in pairwise(systems)
    ]
    beside = pd.concat([DataFrame(columns=["system", *_TESTED], dtype=float), *tested])
    beside = beside[["system", *_TESTED]].rename(columns=_TESTED).set_index("system")
    return rows.set_index("system").reindex(list(systems)).join(beside).reset_index()


@drawing
def line(rows: DataFrame, measure: str, base: float | None = None, *, theme: str) -> go.Figure:
    """Draw the means of versions with intervals, a baseline's mean `base`, and Hole@10 below.
    `rows`: `history` joined with `scored`, the oldest first."""
    look = looks.palette(theme)
    lengths = (rows["high"] - rows["value"]).fillna(0).tolist()
    hovers = [_hover(row, measure) for row in rows.to_dict("records")]
    drawn = {"x": [*range(len(rows))], "mode": "lines+markers", "showlegend": False}
    drawn |= traces.hover(hovers) | {"marker": {"size": 8}}
    solid, dotted = {"color": look.primary}, {"color": look.muted, "dash": "dot"}
    ends = (float(rows[["low", "value"]].min().min()), float(rows[["high", "value"]].max().max()))
    figure, bars = go.Figure(), traces.error_bars(lengths, look.muted)
    figure.add_scatter(y=rows["value"], error_y=bars, line=solid, **drawn)
    figure.add_scatter(y=rows["hole"], yaxis="y2", line=dotted, **drawn)
    if base is not None:
        dashed = {"mode": "lines", "line": {"color": look.muted, "dash": "dash"}}
        ends, told = (min(*ends, base), max(*ends, base)), [f"baseline {precise(base)}"] * 2
        across = [-0.5, len(rows) - 0.5]
        figure.add_scatter(x=across, y=[base] * 2, showlegend=False, **dashed, **traces.hover(told))
    return figure.update_layout(
        height=360,
        xaxis=_axis(rows) | {"anchor": "y2"},
        yaxis={"title": {"text": measure}, "domain": [0.36, 1]} | axes.spanning(*ends, 5),
        yaxis2={"title": {"text": "Hole@10"}, "domain": [0, 0.26], "range": [-0.05, 1.05]}
        | {"tickformat": ".0%", "nticks": 3},
    )


def _axis(rows: DataFrame) -> dict:
    named = zip(rows["label"], rows["date"], strict=True)
    titles = [f"{escape(label, 12)}<br>{date}" for label, date in named]
    step = -(-len(rows) // MOST_NAMED)
    ticks = {"tickvals": [*range(0, len(rows), step)], "ticktext": titles[::step]}
    return ticks | axes.BARE | {"range": [-0.5, len(rows) - 0.5]}


def _hover(row: dict, measure: str) -> str:
    note = f"<br>{escape(row['note'])}" if row["note"] else ""
    return (
        f"<b>version {escape(row['label'])}</b>, {row['date']}{note}<br>{measure}"
        f" {precise(row['value'])}, 95%: {between(row['low'], row['high'])}<br>Hole@10"
        f" {plain(100 * row['hole'], 0)}%"
    )


def columns(rows: DataFrame, measure: str) -> list[Column]:
    """Return columns for mean, Hole@10 and each version's change from the previous one."""
    return [
        Column("Version", "label"),
        Column("Date", "date"),
        Column("Note", "note"),
        Column(measure, "value", plain),
        Column("Hole@10", "hole", lambda share: f"{share:.0%}" if pd.notna(share) else _DASH),
        Column("vs. previous version", "difference", signed),
        Column("95%", ("from", "to"), _ends),
        Column("p", format=p_text),
        *[Column("Made from", "made")] * bool(rows["made"].any()),
    ]


def _ends(low: float, high: float) -> str:
    return f"{signed(low)} to {signed(high)}" if pd.notna(low) else _DASH
