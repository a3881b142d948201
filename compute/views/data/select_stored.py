"""What is stored and where it comes from, for About the numbers and `show`."""

import numpy as np
from duckdb import DuckDBPyConnection
from pandas import DataFrame, Series

from compute.evaluate.measures import FORMULAS
from compute.evaluate.tolerance import ranks


def origins(cursor: DuckDBPyConnection) -> DataFrame:
    """Where the stored runs come from: dataset, system, rows, created, shipped, command."""
    return cursor.execute(
        """
        select dataset, system, rows, left(created, 16) as created, shipped,
               json_extract_string(provenance, '$.command') as command
        from parts where kind = 'hits'
        order by dataset, system
        """
    ).df()


def scores_shown(
    cursor: DuckDBPyConnection,
    *,
    dataset: str | None = None,
    system: str | None = None,
    measure: str | None = None,
    published: bool = False,
    returned_only: bool = False,
) -> DataFrame:
    """dataset, system, measure, value and what it rests on, for `show`; None: all of them.

    Computed: n_queries (those averaged over) and n_unanswered. Published: paper, its table as
    source, and the remark. Of a dataset and measure the best value comes first.
    """
    chosen = {"dataset": dataset, "system": system, "measure": measure}
    if published:
        return _best_first(cursor.execute(_PUBLISHED_SHOWN, chosen).df())
    return _best_first(cursor.execute(_MEANS_SHOWN, chosen | {"returned_only": returned_only}).df())


def _best_first(frame: DataFrame) -> DataFrame:
    """By dataset and measure the best value first, equal ones as they stand."""
    rank = Series(np.nan, index=frame.index)
    for (_, measure), values in frame.groupby(["dataset", "measure"])["value"]:
        # Print has more than measures, such as seconds.
        formula = FORMULAS.get(str(measure).partition("@")[0])
        rank[values.index] = ranks((formula.better if formula else 1) * values)
    keys = ["dataset", "measure", "rank"]
    ordered = frame.assign(rank=rank).sort_values(keys, kind="stable", ignore_index=True)
    return ordered.drop(columns="rank")


_MEANS_SHOWN = """
    select
        dataset, system, measure,
        if($returned_only, n_queries - n_unanswered, n_queries) as n_queries, n_unanswered,
        if($returned_only, value_returned, value) as value
    from means
    where dataset = coalesce($dataset, dataset)
        and system = coalesce($system, system)
        and measure = coalesce($measure, measure)
    order by system
"""
_PUBLISHED_SHOWN = """
    select dataset, system, measure, value, paper, source, note
    from published
    where dataset = coalesce($dataset, dataset)
        and system = coalesce($system, system)
        and measure = coalesce($measure, measure)
    order by system, paper, source
"""
