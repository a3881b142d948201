"""Ranking of systems with its uncertainty, from per-query scores or from a published table."""

from collections.abc import Sequence

import numpy as np
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.evaluate import rank_intervals
from compute.evaluate.rank_intervals import Ranking
from compute.reading.questions import question
from compute.views.leaderboard.cells import by_language
from compute.views.leaderboard.select import published
from compute.views.shared import matrices

COLUMNS = ("mean", "low", "high", "rank", "rank_low", "rank_high", "first", "group")
"""Columns of `rank_intervals.Ranking`, where they are explained."""


@question(datasets=("datasets",), systems=("systems",), shows="runs")
def of_runs(
    cursor: DuckDBPyConnection,
    measure: str,
    datasets: Sequence[str],
    systems: Sequence[str],
    sign: int,
    weighted: bool = False,
) -> DataFrame:
    """Rank systems by the mean over datasets of the mean over judged queries, the best first:
    system, COLUMNS, and the fields from `drawn` to `n_families` of `rank_intervals.Ranking`. Forums
    of CQADupStack count equally. `sign` is -1 if lower is better. Every system must have a run on
    every dataset. `weighted`: queries count by weight on datasets that have weights."""
    boards = matrices.of_boards(cursor, measure, datasets, systems, weighted)
    return _frame(rank_intervals.of_scores(boards, sign=sign), systems)


@question(datasets=("datasets", "source"), shows="tables in print")
def of_print(
    cursor: DuckDBPyConnection,
    source: str,
    measure: str,
    datasets: Sequence[str],
    systems: Sequence[str],
    sign: int,
) -> DataFrame:
    """Rank systems by a published table, as `of_runs` does; only datasets can be resampled."""
    rows = published(cursor, source, measure)[["dataset", "system", "value"]]
    table = by_language(rows).pivot(index="system", columns="dataset", values="value")
    table = table.reindex(index=list(systems), columns=list(datasets))
    return _frame(rank_intervals.of_means(table.to_numpy(), sign=sign), systems)


def _frame(found: Ranking, systems: Sequence[str]) -> DataFrame:
    """Return a ranking as a frame, with the names of its systems and its counts."""
    named = found.systems.assign(system=np.array(systems)[found.systems["row"]])
    return named[["system", *COLUMNS]].assign(
        drawn=found.drawn,
        n_datasets=found.n_datasets,
        n_queries=found.n_queries,
        n_left_out=found.n_left_out,
        n_families=found.n_families,
    )
