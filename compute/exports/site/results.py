"""One dataset of a site: its systems, its scores by query, and the tests of every two systems."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from compute.base.errors import WrongInput
from compute.datasets import Dataset
from compute.evaluate import significance
from compute.evaluate.measures import better
from compute.evaluate.tolerance import above
from compute.exports.site import figures
from compute.exports.site.shown import Shown, parts
from compute.views.dataset import query_outcomes, select_systems
from compute.views.dataset import systems as systems_figure
from compute.views.dataset.select_systems import MEDIAN
from compute.views.leaderboard import order_confidence, select_order
from compute.views.shared import standings
from compute.views.shared.theme import between, signed

MOST_DRAWN = 40
"""Systems in a figure, as on the page Dataset; the table has all."""
UNIT = 1_000_000
"""Values by query are whole numbers of millionths: half as long as decimals."""


def standing(shown: Shown, dataset: Dataset, measure: str) -> dict[str, Any] | None:
    """The systems on a dataset, the best first, each beside a baseline; None without scores."""
    asked: dict[str, Any] = {"datasets": parts(dataset), "measure": measure}
    every = shown.ask(standings.standing, **asked)
    rows = standings.ranked(every, measure).merge(shown.systems, on="system", how="left")
    if rows.empty:
        return None
    baseline = "bm25" if "bm25" in set(rows["system"]) else MEDIAN
    moved = shown.ask(select_systems.moved, baseline=baseline, **asked)
    rows = rows.merge(moved, on="system").fillna({"family": "imported"})
    against = shown.titles.get(baseline, baseline)
    first = rows.head(MOST_DRAWN)
    figure = systems_figure.systems(first, measure, against, theme="light")
    notes = [
        f"The {MOST_DRAWN} best of {len(rows):,}." * (len(rows) > len(first)),
        *query_outcomes.parts_note(every, len(dataset.parts)),
    ]
    return {
        "said": _said(shown, dataset, measure, rows["system"].tolist()),
        "against": against,
        "figure": figures.drawn(figure, f"{measure} of systems on {dataset.title}", notes),
        "rows": [_row(row) for row in rows.to_dict("records")],
    }


def _row(row: dict[Any, Any]) -> dict[str, Any]:
    return {
        "system": row["called"],
        "title": row["title"],
        "value": f"{row['value']:.4f}",
        "interval": between(row["low"], row["high"]),
        "holes": "–" if np.isnan(row["hole"]) else f"{row['hole']:.1%}",
        "n": int(row["n"]),
        "above": int(row["above"]),
        "below": int(row["below"]),
    }


def _said(shown: Shown, dataset: Dataset, measure: str, names: Sequence[str]) -> str:
    asked: dict[str, Any] = {"datasets": [dataset.name], "systems": names}
    try:
        order = shown.ask(select_order.of_runs, measure=measure, sign=better(measure), **asked)
    except WrongInput:  # one system, or too few queries
        return ""
    return order_confidence.verdict(order, shown.titles)


def by_query(shown: Shown, dataset: Dataset, measure: str) -> dict[str, Any] | None:
    """The values of all systems by query, and every two systems compared; None without scores."""
    table = _values(shown, dataset, measure)
    if table.empty:
        return None
    queries = table.index.to_frame(index=False)
    values = table.to_numpy(np.float64).T
    return {
        "systems": [shown.called.get(str(name), str(name)) for name in table],
        "parts": queries["dataset"].tolist() if dataset.parts else [],
        "queries": queries["query_id"].tolist(),
        "unit": UNIT,
        "better": better(measure),
        "values": [
            [None if np.isnan(value) else round(value * UNIT) for value in own] for own in values
        ],
        "pairs": list(_pairs(shown, dataset, measure, table)),
    }


def _values(shown: Shown, dataset: Dataset, measure: str) -> DataFrame:
    """Values, a column for each system, a row for each query of the dataset or of its parts."""
    found = [
        shown.cursor.execute(
            "select dataset, query_id, system, value from scores where dataset = ? and measure = ?",
            [name, measure],
        ).df()
        for name in parts(dataset)
    ]
    rows = pd.concat(found, ignore_index=True)
    table = rows.pivot(index=["dataset", "query_id"], columns="system", values="value")
    # A system that lacks a part has no mean over all of them.
    there = rows.groupby("system")["dataset"].nunique()
    whole = there.index[there == rows["dataset"].nunique()]
    return table[sorted(whole)]


def _pairs(shown: Shown, dataset: Dataset, measure: str, table: DataFrame) -> Iterator[list[Any]]:
    """Every two systems on the queries that both have: a row for each pair, as `_pair` has it."""
    systems = [str(name) for name in table]
    values, of = table.to_numpy(np.float64).T, table.index.get_level_values("dataset").to_numpy()
    asked: dict[str, Any] = {"datasets": [dataset.name], "systems": systems, "measure": measure}
    corrected: dict[Any, float] = {}
    with suppress(WrongInput):  # too few systems, or queries that all of them have
        among = shown.ask(standings.among_all, **asked)
        corrected = dict(zip(zip(among["a"], among["b"], strict=True), among["p"], strict=True))
    for row in _tested(values, of):
        pair = systems[int(row["a"])], systems[int(row["b"])]
        yield _pair(row, values, corrected.get(pair), measure)


def _tested(values: np.ndarray, of: np.ndarray) -> Iterator[dict[Any, Any]]:
    """The t-test of each pair: a row of `significance.pairs`, and n; none under two queries."""
    whole = not np.isnan(values).any()
    every = range(len(values))
    for rows in [list(every)] if whole else map(list, combinations(every, 2)):
        both = np.logical_not(np.isnan(values[rows]).any(axis=0))
        with suppress(WrongInput):
            found = significance.pairs(
                values[rows][:, both],
                weights=significance.by_part(Series(of[both])),
                test="t",
                correction="none",
                resamples=0,
            )
            for row in found.to_dict("records"):
                yield row | {"a": rows[row["a"]], "b": rows[row["b"]], "n": int(both.sum())}


def _pair(
    row: dict[Any, Any], values: np.ndarray, corrected: float | None, measure: str
) -> list[Any]:
    """a and b, as places; difference a − b and its 95% interval, with signs; p of the t-test, and
    of the randomisation test corrected for all pairs, if known; queries that have both, and on how
    many a and b are better."""
    a, b = int(row["a"]), int(row["b"])
    worth = better(measure) * (values[a] - values[b])
    numbers = [signed(float(row[name]), 4) for name in ("difference", "low", "high")]
    ps = [_chance(row["p"]), "" if corrected is None else _chance(corrected)]
    ahead = int(np.sum(above(worth, 0))), int(np.sum(above(-worth, 0)))
    return [a, b, *numbers, *ps, row["n"], *ahead]


def _chance(p: float) -> str:
    return "p\u00a0<\u00a0.001" if p < 0.001 else f"p\u00a0=\u00a0{f'{p:.3f}'.removeprefix('0')}"
