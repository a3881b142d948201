"""Means of a dataset's systems, and the pairs that differ significantly.

`datasets` is one dataset, or all parts of one whose mean is the mean of its parts' means.
"""

from collections.abc import Sequence

import numpy as np
from duckdb import DuckDBPyConnection
from pandas import DataFrame, Series

from compute.evaluate import power, significance
from compute.evaluate.measures import better
from compute.evaluate.significance import student
from compute.evaluate.tolerance import order
from compute.reading.questions import question, select
from compute.views.shared import matrices

PAIRS = (
    *("a", "b", "difference", "p", "n_pairs", "n", "level"),
    *("deviation", "detectable", "alone"),
)


@select(datasets=("datasets",), shows="runs")
def standing(datasets: Sequence[str], measure: str) -> str:
    """The mean of every system on every part: dataset, system, n, mean, spread (the standard
    deviation over its queries, n - 1 below; absent for one), hole (mean Hole@10)."""
    return """
        with valued as (
            select dataset, system, count(*) as n, favg(value) as mean,
                   stddev_samp(value) as spread
            from scores
            where list_contains($datasets, dataset) and measure = $measure
            group by dataset, system
        )
        select dataset, system, n, mean, spread, value as hole
        from valued left join (
            select dataset, system, value from means where measure = 'Hole@10'
        ) as holes using (dataset, system)
        order by dataset, system
    """


def ranked(rows: DataFrame, measure: str) -> DataFrame:
    """A row per system, the best first: system, n, value, low, high (Student's 95 %), hole.

    `rows`: from `standing`, a row per part; parts have equal weight, and a system that lacks one is
    left out.
    """
    n_parts = rows["dataset"].nunique()
    rows = rows.assign(error=rows["spread"] ** 2 / rows["n"])
    table = rows.groupby("system", as_index=False).agg(
        parts=("dataset", "size"),
        n=("n", "sum"),
        value=("mean", "mean"),
        error=("error", lambda errors: errors.sum(skipna=False)),
        hole=("hole", "mean"),
    )
    table = table[table["parts"] == n_parts]
    error = np.sqrt(table["error"]) / max(n_parts, 1)
    low, high = student(table["value"], error, table["n"] - n_parts)
    table = table.assign(low=low, high=high)
    places = order(better(measure) * table["value"], table["system"])
    columns = ["system", "n", "value", "low", "high", "hole"]
    return table[columns].iloc[places].reset_index(drop=True)


@question(datasets=("datasets",), systems=("systems",), shows="runs")
def among_all(
    cursor: DuckDBPyConnection, measure: str, datasets: Sequence[str], systems: Sequence[str]
) -> DataFrame:
    """Every pair of the systems on one dataset, corrected (maxT) for all of them: a, b, p, n_pairs,
    and as `power.of_pairs` difference, n, level, deviation, detectable, alone.

    p is below .05 exactly if `leaderboard.select_order.of_runs` separates the two on this dataset,
    by the same intervals. Raises WrongInput for fewer than two shared queries.
    """
    (board,) = matrices.of_boards(cursor, measure, datasets, systems)
    found = significance.pairs(board.values, weights=board.weights, resamples=0)
    found = power.of_pairs(found, board.values.shape[1]).assign(n_pairs=len(found))
    named = found.assign(
        p=found["p_adjusted"], **{side: np.array(systems)[found[side]] for side in "ab"}
    )
    return named[list(PAIRS)]


def pair(found: DataFrame, a: str, b: str) -> Series:
    """The row of two systems, in either order, in a frame of `among_all`."""
    there = found["a"].isin([a, b]) & found["b"].isin([a, b])
    return found[there].iloc[0]
