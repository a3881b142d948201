"""Means of a dataset's systems, and the pairs that differ significantly. `datasets` is one dataset,
or all parts of a dataset, whose mean is the mean of its parts' means."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from duckdb import DuckDBPyConnection
from pandas import DataFrame, Series

from compute.evaluate import power, significance
from compute.evaluate.distributions import EQUAL, Runs, spread_said
from compute.evaluate.families import FEWEST_EFFECTIVE, effective, of_mean, said
from compute.evaluate.measures import better
from compute.evaluate.sign_flips import LEVEL
from compute.evaluate.significance import student
from compute.evaluate.tolerance import order
from compute.reading import query_families
from compute.reading.means import SPREADS
from compute.reading.questions import question
from compute.views.shared import matrices

PAIRS = (
    *("a", "b", "difference", "p", "n_pairs", "n", "level"),
    *("deviation", "detectable", "alone"),
)


_OF_RUNS = ["runs", "spread"]
_STANDING = f"""
        with valued as (
            select dataset, system, count(*) as n, favg(value) as mean,
                   stddev_samp(value) as spread
            from scores
            where list_contains($datasets, dataset) and measure = $measure
            group by dataset, system
        )
        select dataset, system, n, mean, valued.spread, value as hole, runs, again.spread as of_runs
        from valued left join (
            select dataset, system, value from means where measure = 'Hole@10'
        ) as holes using (dataset, system) left join (
            {SPREADS}
        ) as again using (dataset, system)
        order by dataset, system
    """
_VALUES = """
select dataset, system, query_id, value from scores
where list_contains($datasets, dataset) and measure = $measure and value is not null
"""


@question(datasets=("datasets",), shows="runs")
def standing(cursor: DuckDBPyConnection, datasets: Sequence[str], measure: str) -> DataFrame:
    """Return the mean of every system on every part: dataset, system, n, mean, spread (the standard
    deviation over queries, with n - 1; absent for one query), hole (mean Hole@10), runs, and
    of_runs (the standard deviation of the runs' means; it and runs are absent for one run). If
    queries have families, also return variance (of the mean) and freedom, from `families.of_mean`,
    and the number of families: 0 for a part without families, whose variance is over queries."""
    asked = {"datasets": list(datasets), "measure": measure}
    rows = cursor.execute(_STANDING, asked).df()
    families = query_families.of(cursor, datasets)
    if families.empty:
        return rows
    named = families["dataset"].unique().tolist()
    values = cursor.execute(_VALUES, asked | {"datasets": named}).df()
    found = []
    for (dataset, system), of in values.groupby(["dataset", "system"]):
        if (codes := query_families.codes(of, families)) is not None:
            error, freedom = of_mean(of["value"], codes)
            found.append((dataset, system, error**2, freedom, int(codes.max()) + 1))
    columns = ["dataset", "system", "variance", "freedom", "families"]
    rows = rows.merge(DataFrame(found, columns=columns), "left", ["dataset", "system"])
    rows["variance"] = rows["variance"].fillna(rows["spread"] ** 2 / rows["n"])
    rows["freedom"] = rows["freedom"].where(rows["families"].notna(), rows["n"] - 1)
    return rows.fillna({"families": 0})


@question(datasets=("datasets",), shows="runs")
def by_weight(cursor: DuckDBPyConnection, datasets: Sequence[str], measure: str) -> DataFrame:
    """Return `standing` by the weights of queries: dataset, system, n (queries of a weight above
    0), mean, variance, freedom, effective (Kish's number of equally weighted queries), hole
    (absent), runs and of_runs. The variance is absent if the effective number is under
    FEWEST_EFFECTIVE."""
    values = cursor.execute(_VALUES, {"datasets": list(datasets), "measure": measure}).df()
    given = query_families.of(cursor, datasets, "weight").rename(columns={"family": "weight"})
    values = values.merge(given.astype({"weight": float}), "inner", ["dataset", "query_id"])
    families, found = query_families.of(cursor, datasets), []
    for (dataset, system), of in values[values["weight"] > 0].groupby(["dataset", "system"]):
        shares = query_families.shares(of["weight"]).to_numpy()
        codes = query_families.codes(of, families)
        codes = np.arange(len(of)) if codes is None else codes
        mean, n = shares @ of["value"], effective(shares, codes)
        error, freedom = of_mean(of["value"], codes, shares)
        runs = matrices.over_runs(
            cursor, measure, of.drop(columns=["system", "value"]), [str(system)]
        )
        again = (runs.n[0], runs.spreads[0]) if runs else (np.nan, np.nan)
        error = error if n >= FEWEST_EFFECTIVE else np.nan
        found.append((dataset, system, len(of), mean, error**2, freedom, n, np.nan, *again))
    columns = ("dataset", "system", "n", "mean", "variance", "freedom", "effective", "hole")
    return DataFrame(found, columns=[*columns, "runs", "of_runs"])


def by_family(rows: DataFrame) -> str:
    """Say how many query families rows of `standing` have; empty if there are none."""
    if "families" not in rows or not len(rows):
        return ""
    own = rows[rows["system"] == rows["system"].iloc[int(rows["mean"].argmax())]]
    alone = (own["spread"] ** 2 / own["n"]).sum()
    effect = own["variance"].sum() / alone if alone > 0 else float("nan")
    told = said(int(own["n"].sum()), int(own["families"].sum()), effect)
    return f"Intervals and tests are by {told}."


def ranked(rows: DataFrame, measure: str) -> DataFrame:
    """Return a row per system, the best first: system, n, value, low, high (Student's 95% CI; with
    several runs, over queries and runs), hole, runs, spread (of the runs' means; absent for one
    run). `rows`: from `standing`, a row per part. Parts weigh equally; systems need all."""
    n_parts = rows["dataset"].nunique()
    if "variance" not in rows:
        freedom = rows.groupby("system")["n"].transform("sum") - n_parts
        rows = rows.assign(variance=rows["spread"] ** 2 / rows["n"], freedom=freedom)
    table = rows.groupby("system", as_index=False).agg(
        parts=("dataset", "size"),
        n=("n", "sum"),
        value=("mean", "mean"),
        variance=("variance", lambda of: of.sum(skipna=False)),
        freedom=("freedom", "min"),
        hole=("hole", "mean"),
    )
    table = table[table["parts"] == n_parts]
    error = np.sqrt(table["variance"]) / max(n_parts, 1)
    ends = student(table["value"], error, table["freedom"])
    table = table.assign(**dict(zip(("low", "high"), ends, strict=True)))
    if "runs" in rows and rows["runs"].notna().any():
        table = _over_runs(table.assign(error=error), rows, n_parts)
    places = order(better(measure) * table["value"], table["system"])
    columns = ["system", "n", "value", "low", "high", "hole", *table.columns.intersection(_OF_RUNS)]
    return table[columns].iloc[places].reset_index(drop=True)


def _over_runs(table: DataFrame, rows: DataFrame, n_parts: int) -> DataFrame:
    """Add runs (their number) and spread (the standard deviation of the runs' means) to a table of
    `ranked`, and replace intervals of systems with several runs by those over queries and runs."""
    given = rows.set_index(["system", "dataset"])[["runs", "of_runs"]].unstack()
    n, of = (given[name].reindex(table["system"]).to_numpy(float) for name in ("runs", "of_runs"))
    n, of = np.nan_to_num(n, nan=1), of / max(n_parts, 1)
    over = Runs(np.where(of > EQUAL, of**2, 0) / n, n - 1)
    half = np.where(over.some, over.half(table["error"], table["freedom"], LEVEL), np.nan)
    ends = {"low": table["value"] - half, "high": table["value"] + half}
    found = {name: end.fillna(table[name]) for name, end in ends.items()}
    return table.assign(
        **found, runs=n.max(axis=1).astype(int), spread=np.sqrt((of**2).sum(axis=1))
    )


def by_runs(ranked: DataFrame, titles: Mapping[str, str]) -> str:
    """Say which systems of `ranked` have several runs; empty if none has."""
    if "runs" not in ranked:
        return ""
    several = ranked[ranked["runs"] > 1]
    of = several[["system", "runs", "spread"]].itertuples(index=False)
    told = [f"{titles.get(name, name)} {n} (spread {spread_said(sd)})" for name, n, sd in of]
    if not told:
        return ""
    return (
        f"Means of several runs: {', '.join(told)}; their intervals cover queries and runs."
        " The run-to-run variance of the other systems is unknown."
    )


@question(datasets=("datasets",), systems=("systems",), shows="runs")
def among_all(
    cursor: DuckDBPyConnection, measure: str, datasets: Sequence[str], systems: Sequence[str]
) -> DataFrame:
    """Test every pair of the systems on one dataset, corrected (maxT) for all pairs: a, b, p,
    n_pairs, and from `power.of_pairs` difference, n, level, deviation, detectable, alone. If the
    dataset has query families, all tests are by family and `by_family` is true. p is below .05
    exactly if `leaderboard.select_order.of_runs`, with the same intervals, separates the two on
    this dataset. Raises WrongInput for fewer than two shared queries."""
    (board,) = matrices.of_boards(cursor, measure, datasets, systems)
    about: dict[str, Any] = {"weights": board.weights, "families": board.families}
    found = significance.pairs(board.values, **about, runs=board.runs, resamples=0)
    found = power.of_pairs(found, board.n_units).assign(n_pairs=len(found))
    named = found.assign(
        p=found["p_adjusted"], **{side: np.array(systems)[found[side]] for side in "ab"}
    )
    named = named[list(PAIRS)]
    return named if board.families is None else named.assign(by_family=True)


def pair(found: DataFrame, a: str, b: str) -> Series:
    """Return the row of two systems, in either order, in a frame of `among_all`."""
    there = found["a"].isin([a, b]) & found["b"].isin([a, b])
    return found[there].iloc[0]
