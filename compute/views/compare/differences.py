"""Two systems on the same queries: wins, differences, and the queries behind them. `pairs` has a
row per query with value_a and value_b, from `compare.select.pairs`. All parts of a dataset have
equal weight, as in its mean."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame, Series

from compute.evaluate.measures import better
from compute.evaluate.significance import student
from compute.evaluate.tolerance import above, equal, ranks

SUMMARY = ("n", "mean_a", "mean_b", "spread", "a_more", "b_more", "equal")
"""The queries with both values, the means, the standard deviation of the differences (with n - 1;
absent for one query), and the numbers of queries by the larger value."""


class Verdict(NamedTuple):
    """Two systems on the queries for which both have a value."""

    n: int
    left_out: int
    mean_a: float
    mean_b: float
    difference: float
    a_better: int
    equal: int
    b_better: int


def valued(pairs: DataFrame) -> DataFrame:
    """Return the queries for which both systems have a value, with the difference: A minus B."""
    both = pairs.dropna(subset=["value_a", "value_b"])
    return both.assign(difference=both["value_a"] - both["value_b"])


def verdict(pairs: DataFrame, measure: str) -> Verdict:
    """Summarise all queries."""
    both = valued(pairs)
    whole = _mean_of_means(_columns(by_part(both, measure)))
    found = {name: whole[name] for name in Verdict._fields if name in whole}
    return Verdict(left_out=len(pairs) - len(both), **found)


def by_part(both: DataFrame, measure: str) -> DataFrame:
    """Return a row per part: dataset, and SUMMARY with counts by the better system."""
    rows = [
        {"dataset": name, **summary(own[["value_a", "value_b"]].to_numpy(dtype=float).T)}
        for name, own in both.groupby("dataset")
    ]
    return _by_better(DataFrame(rows, columns=["dataset", *SUMMARY]), measure)


def summary(both: NDArray[np.float64]) -> dict[str, float]:
    """Return the fields of SUMMARY of the values of A and B (two rows) on the same queries."""
    n, more = both.shape[1], both[0] - both[1]
    spread = more.std(ddof=1) if n > 1 else math.nan
    counts = (int(of.sum()) for of in (above(more, 0), above(0, more), equal(more, 0)))
    return dict(zip(SUMMARY, (n, *both.mean(axis=1), spread, *counts), strict=True))


def _by_better(rows: DataFrame, measure: str) -> DataFrame:
    """Name the counts by the better system instead of the larger value."""
    first, second = ("a_more", "b_more") if better(measure) > 0 else ("b_more", "a_more")
    return rows.rename(columns={first: "a_better", second: "b_better"})


def _columns(rows: DataFrame) -> dict[str, NDArray]:
    """Return the columns of SUMMARY, by the better system, as arrays."""
    names = [name for name in COLUMNS if name in rows]
    return {name: rows[name].to_numpy() for name in [*names, "spread"]}


def _mean_of_means(rows: Mapping[str, NDArray]) -> dict[str, Any]:
    """Return the statistics of a dataset, from its row or the rows of its parts. The interval is
    that of `significance.two`, in which each query of a part has weight 1 / (k n)."""
    k, n = len(rows["n"]), rows["n"].sum()
    mean_a, mean_b = (rows[name].sum() / (k or math.nan) for name in ("mean_a", "mean_b"))
    gap = mean_a - mean_b
    apart = rows["mean_a"] - rows["mean_b"] - gap
    squares = (rows["n"] - 1) * np.nan_to_num(rows["spread"]) ** 2 + rows["n"] * apart**2
    variance = (squares / (k * rows["n"]) ** 2).sum() * n / max(n - 1, 1)
    low, high = student(gap, np.sqrt(variance), n - 1)
    counts = {name: int(rows[name].sum()) for name in ("n", "a_better", "equal", "b_better")}
    means = {"mean_a": mean_a, "mean_b": mean_b, "difference": gap}
    return counts | means | {"low": float(low), "high": float(high)}


def across(rows: DataFrame, datasets: DataFrame, measure: str) -> DataFrame:
    """Return a row per dataset on which both systems have scores: dataset, title, n, mean_a,
    mean_b, difference, low, high (95%), a_better, equal, b_better. `rows`: from
    `compare.select.across`. `datasets`: dataset, title, parts, in the order to return. Parts are
    merged into one row if both systems have every part."""
    columns, there = _columns(_by_better(rows, measure)), rows.groupby("dataset").indices
    wholes = {
        one: list(parts) for one, parts in zip(datasets["dataset"], datasets["parts"], strict=True)
    }
    wholes = {one: parts for one, parts in wholes.items() if parts and there.keys() >= set(parts)}
    inside = {part for parts in wholes.values() for part in parts}
    found = []
    for name, title in zip(datasets["dataset"], datasets["title"], strict=True):
        own = [there[one] for one in wholes.get(name, [name]) if one in there]
        if own and name not in inside:
            of = {key: column[np.concatenate(own)] for key, column in columns.items()}
            found.append({"dataset": name, "title": title} | _mean_of_means(of))
    return DataFrame(found, columns=COLUMNS)


def by_family(rows: DataFrame, found: DataFrame) -> DataFrame:
    """Replace intervals in rows of `across` by those of `compare.select.across_families`."""
    given = rows[["dataset"]].merge(found, "left", "dataset").set_index(rows.index)
    own = rows["dataset"].isin(found["dataset"])
    return rows.assign(**{end: given[end].where(own, rows[end]) for end in ("low", "high")})


def ahead(rows: DataFrame, measure: str) -> Series:
    """Return true for rows of `across` in which A has the better mean."""
    return Series(above(better(measure) * rows["difference"], 0), index=rows.index)


def sure(rows: DataFrame) -> Series:
    """Return true for rows (low, high) whose interval excludes 0, false for absent intervals."""
    return Series(above(rows["low"], 0) | above(0, rows["high"]), index=rows.index)


COLUMNS = [
    "dataset",
    "title",
    "n",
    "mean_a",
    "mean_b",
    "difference",
    "low",
    "high",
    "a_better",
    "equal",
    "b_better",
]


BY_MEASURE, BY_RANKING = "by the measure", "by the ranking"
OF_A, OF_B = "a ahead", "b ahead"
ORDERS = {
    BY_MEASURE: "Largest difference",
    OF_A: "A better",
    OF_B: "B better",
    BY_RANKING: "Lowest RBO",
}
"""Orders of queries, and their labels."""


def where_ahead(both: DataFrame, order: str, measure: str) -> DataFrame:
    """Return the queries on which A (or B) has the better value; for other orders, all queries."""
    sides = {OF_A: 1, OF_B: -1}
    if order not in sides:
        return both
    return both[above(sides[order] * better(measure) * both["difference"], 0)]


def contenders(both: DataFrame, n: int) -> list[str]:
    """Return the queries that can be among the n of `most_different` by the measure."""
    gaps = Series(ranks(both["difference"].abs()), index=both.index)
    last = gaps.nsmallest(n).max()
    return both.loc[gaps <= last, "query_id"].unique().tolist()


def most_different(both: DataFrame, alike: DataFrame, order: str, n: int) -> DataFrame:
    """Return the n queries where two systems differ most, by the measure or by rank-biased overlap.
    `alike` (dataset, query_id, rbo, shared) lacks queries that neither system answers. The other
    criterion breaks ties."""
    if order != BY_RANKING:  # a million rows take a second to merge and sort
        both = both[both["query_id"].isin(contenders(both, n))]
    rows = both.merge(alike, on=["dataset", "query_id"], how="left")
    rows = rows.assign(gap=ranks(rows["difference"].abs()))
    keys = ["rbo", "gap"] if order == BY_RANKING else ["gap", "rbo"]
    keys = [*keys, "dataset", "query_id"]
    return rows.sort_values(keys, kind="stable").head(n).drop(columns="gap").reset_index(drop=True)
