"""Every SELECT of the Map page."""

import numpy as np
from duckdb import DuckDBPyConnection
from pandas import DataFrame, Index

from compute.queries.query import TOP, files
from compute.rankmap import EMPTY, HOLE
from compute.scopes import about_datasets

_CELLS = """
with asked as (
    select query_id, row_number() over (
        order by try_cast(query_id as bigint) nulls last, query_id) - 1 as number
    from queries where dataset = $dataset
), hit as (
    select query_id, doc_id, rank from read_parquet($files) where rank <= $depth
), judged as (
    select query_id, doc_id, relevance from judgements where dataset = $dataset
)
select number, rank, relevance
from hit join asked using (query_id) left join judged using (query_id, doc_id)
"""


@about_datasets
def values(
    cursor: DuckDBPyConnection, dataset: str, measure: str, system: str, other: str = ""
) -> DataFrame:
    """What two systems score by query: query_id, value, other; every query of the dataset.

    By id, numbers as numbers, as the rows of `cells`.
    """
    return cursor.execute(
        """
        with scored as (
            select query_id, max(value) filter (where system = $system) as value,
                   max(value) filter (where system = $other) as other
            from scores
            where dataset = $dataset and measure = $measure and system in ($system, $other)
            group by query_id
        )
        select query_id, value, other
        from queries left join scored using (query_id) where dataset = $dataset
        order by try_cast(query_id as bigint) nulls last, query_id
        """,
        {"dataset": dataset, "measure": measure, "system": system, "other": other},
    ).df()


@about_datasets
def cells(cursor: DuckDBPyConnection, dataset: str, system: str, depth: int) -> DataFrame:
    """What stands at each rank: a row per query, by query_id, a column per rank down to `depth`.

    int8: the relevance, `rankmap.HOLE` or `rankmap.EMPTY`. The stored extract serves the first
    ten ranks; deeper ones come from the hits.
    """
    names = _ids(cursor, dataset)
    array = np.full((len(names), depth), EMPTY, np.int8)
    found = files(cursor, "top" if depth <= TOP else "hits", dataset, [system])
    if found:
        wanted = {"dataset": dataset, "files": found, "depth": depth}
        hit = cursor.execute(_CELLS, wanted).fetchnumpy()
        relevance = np.ma.filled(np.ma.asarray(hit["relevance"]).astype(np.int64), HOLE)
        judged = np.clip(relevance, HOLE + 1, 127)
        array[np.asarray(hit["number"]), np.asarray(hit["rank"]) - 1] = np.where(
            relevance == HOLE, HOLE, judged
        )
    return DataFrame(array, index=Index(names, name="query_id"), columns=range(1, depth + 1))


def _ids(cursor: DuckDBPyConnection, dataset: str) -> list[str]:
    found = cursor.execute(
        """
        select query_id from queries where dataset = ?
        order by try_cast(query_id as bigint) nulls last, query_id
        """,
        [dataset],
    )
    return [name for (name,) in found.fetchall()]


@about_datasets
def texts(cursor: DuckDBPyConnection, dataset: str, query_ids: list[str]) -> DataFrame:
    """query_id, text (absent where texts are not stored) of some queries."""
    return cursor.execute(
        """
        select query_id, text from queries
        where dataset = $dataset and query_id in (select unnest($query_ids))
        """,
        {"dataset": dataset, "query_ids": query_ids},
    ).df()
