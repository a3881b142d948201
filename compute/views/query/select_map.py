"""Questions the Map page asks."""

import numpy as np
from duckdb import DuckDBPyConnection
from pandas import DataFrame, Index

from compute.reading import top_ranks
from compute.reading.questions import question
from compute.views.query.rank_map_cells import EMPTY, HOLE
from compute.views.shared.held_lists import counted
from compute.views.shared.part_files import files

_IDS = """
select query_id from read_parquet($files)
order by try_cast(query_id as bigint) nulls last, query_id
"""
_CELLS = """
with asked as (
    select query_id, row_number() over (
        order by try_cast(query_id as bigint) nulls last, query_id) - 1 as number
    from read_parquet($asked)
), hit as (
    select query_id, doc_id, rank from read_parquet($files) where rank <= $depth
)
select number, rank, relevance
from hit join asked using (query_id) left join counted using (query_id, doc_id)
"""
_VALUES = """
with scored as (
    select query_id, max(value) filter (where system = $system) as value,
           max(value) filter (where system = $other) as other
    from scores
    where dataset = $dataset and measure = $measure and system in ($system, $other)
    group by query_id
)
select query_id, value, other
from read_parquet($asked) left join scored using (query_id)
order by try_cast(query_id as bigint) nulls last, query_id
"""


@question(datasets=("dataset",), systems=("system", "other"), shows="runs")
def values(
    cursor: DuckDBPyConnection, dataset: str, measure: str, system: str, other: str = ""
) -> DataFrame:
    """Return query_id, value and other, the scores of two systems, for every query of the dataset.
    Like the rows of `cells` they are ordered by id, numeric ids as numbers."""
    asked = files(cursor, "queries", dataset, [""])
    if not asked:
        return DataFrame(columns=["query_id", "value", "other"], dtype=np.float64)
    wanted = {"dataset": dataset, "measure": measure, "system": system, "other": other}
    return cursor.execute(_VALUES, wanted | {"asked": asked}).df()


@question(datasets=("dataset",), systems=("system",), shows="runs")
def cells(cursor: DuckDBPyConnection, dataset: str, system: str, depth: int) -> DataFrame:
    """Return the judgement at each rank (int8): a row per query, by query_id, and a column per rank
    down to `depth`. A value is the relevance, `rank_map_cells.HOLE` or `rank_map_cells.EMPTY`. The
    first ten ranks come from a stored extract, deeper ones from the hits."""
    asked = files(cursor, "queries", dataset, [""])
    names = cursor.execute(_IDS, {"files": asked}).df()["query_id"] if asked else []
    array = np.full((len(names), depth), EMPTY, np.int8)
    found = files(cursor, "top" if depth <= top_ranks.DEPTH else "hits", dataset, [system])
    if asked and found:
        with counted(cursor, dataset):
            wanted = {"asked": asked, "files": found, "depth": depth}
            hit = cursor.execute(_CELLS, wanted).fetchnumpy()
        relevance = np.ma.filled(np.ma.asarray(hit["relevance"]).astype(np.int64), HOLE)
        judged = np.clip(relevance, HOLE + 1, 127)
        array[np.asarray(hit["number"]), np.asarray(hit["rank"]) - 1] = np.where(
            relevance == HOLE, HOLE, judged
        )
    return DataFrame(array, index=Index(names, name="query_id"), columns=range(1, depth + 1))
