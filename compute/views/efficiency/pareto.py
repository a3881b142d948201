"""Quality against cost: the runs that are shown together, and the Pareto-optimal ones."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from compute.evaluate.measures import better
from compute.evaluate.tolerance import ranks

COSTS = {
    "latency_p50_ms": "median query latency",
    "latency_p95_ms": "95th percentile of query latency",
    "index_bytes": "index size",
}
"""Columns of costs that panels show, with their names on an axis."""
SEVERAL = "several machines"
"""Hardware of a mean over runs on different machines."""
_MEANS = (
    "value",
    "index_seconds",
    "index_bytes",
    "documents_per_second",
    "search_seconds",
    "queries_per_second",
    "latency_p50_ms",
    "latency_p95_ms",
    "peak_memory_bytes",
    "candidate_recall@100",
    "load",
)


class Points(NamedTuple):
    """A row per system with its value and costs, and the datasets that means cover."""

    rows: DataFrame
    """system, value, hardware, n_documents and every cost."""
    datasets: list[str]


def hardware(costs: DataFrame) -> Series:
    """Return the machine of each row, in words."""
    cores = costs["cores"].map(lambda n: "? cores" if pd.isna(n) else f"{n:.0f} cores")
    memory = costs["memory_gib"].map(lambda n: "" if pd.isna(n) else f", {n:.0f} GiB")
    # Pandas does not infer strings from a frame without rows.
    words = cores.astype("str") + memory.astype("str")
    return costs["processor"].astype("str").fillna("unknown processor") + ", " + words


def points(
    costs: DataFrame, means: DataFrame, systems: Sequence[str] = (), dataset: str = ""
) -> Points:
    """Return the systems (by default all) on a dataset, or, without a dataset, their means over the
    datasets that all of them have. `costs`: rows of `efficiency.select.costs`. `means`: dataset,
    system, value of one measure."""
    of_systems = costs.drop(columns="title", errors="ignore")
    rows = of_systems.merge(means[["dataset", "system", "value"]], on=["dataset", "system"])
    rows["hardware"] = hardware(rows)
    if systems:
        rows = rows[rows["system"].isin(systems)]
    if dataset:
        return Points(rows[rows["dataset"] == dataset].reset_index(drop=True), [dataset])
    shared = shared_datasets(rows)
    rows = rows[rows["dataset"].isin(shared)]
    by_system = rows.groupby("system", sort=False)
    mean = by_system[list(_MEANS)].agg(lambda values: values.mean(skipna=False))
    mean["hardware"] = by_system["hardware"].agg(
        lambda found: found.iloc[0] if found.nunique() == 1 else SEVERAL
    )
    mean["n_documents"] = by_system["n_documents"].sum()
    return Points(mean.reset_index(), shared)


def shared_datasets(rows: DataFrame) -> list[str]:
    """Return the datasets that all systems of the rows have, in the order of the rows."""
    count = rows.groupby("dataset", sort=False)["system"].nunique()
    return [str(name) for name in count.index[count == rows["system"].nunique()]]


def front(costs: Series, values: Series, sign: int) -> Series:
    """Return true for points of the Pareto front: no other is as good at lower cost, or better at
    the same cost. `sign` is 1 if higher is better, -1 if lower is better. Points with equal value
    and cost are all on the front or all off it; points with an absent value are off it."""
    cost, rank = costs.to_numpy(float), ranks(sign * values)
    cheaper, as_good = cost[:, None] <= cost, rank[:, None] <= rank
    less, more = cost[:, None] < cost, rank[:, None] < rank
    beaten = (cheaper & as_good & (less | more)).any(axis=0)
    return Series(~beaten & ~np.isnan(cost) & ~np.isnan(rank), index=costs.index)


def fronts(rows: DataFrame, cost: str, measure: str) -> Series:
    """Return true for points on their machine's front; means over machines have no front."""
    found = Series(False, index=rows.index)
    for machine, own in rows.groupby("hardware"):
        if machine != SEVERAL:
            found[own.index] = front(own[cost], own["value"], better(measure))
    return found
