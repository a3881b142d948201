"""Every SELECT of the Query page."""

from collections.abc import Sequence

from duckdb import DuckDBPyConnection
from pandas import DataFrame


def runs(cursor: DuckDBPyConnection) -> DataFrame:
    """dataset, system: the runs whose ranked lists are stored.

    Datasets whose documents are stored come first, then in the catalogue's order.
    """
    return cursor.execute(
        """
        select dataset, system
        from parts left join datasets on dataset = name
        where kind = 'top'
        order by coalesce(collection, dataset) not in (
                     select dataset from parts where kind = 'documents'),
                 datasets.rowid, system
        """
    ).df()


_QUERIES = """
with scored as (
    select query_id, max(value) filter (where system = $a) as value_a,
           max(value) filter (where system = $b) as value_b
    from scores
    where dataset = $dataset and measure = $measure and system in ($a, $b)
    group by query_id
), relevant as (
    select query_id, count(*) filter (where relevance > 0) as n_relevant
    from judgements where dataset = $dataset group by query_id
), placed as (
    select query_id, text, value_a, value_b, coalesce(n_relevant, 0) as n_relevant,
           row_number() over (
               order by case when $by_difference then abs(value_a - value_b) end desc nulls last,
                        try_cast(query_id as bigint) nulls last, query_id) as place
    from queries left join scored using (query_id) left join relevant using (query_id)
    where dataset = $dataset
      and (contains(lower(query_id), lower($find)) or contains(lower(text), lower($find)))
)
select *, lag(query_id) over (order by place) as previous,
       lead(query_id) over (order by place) as next, count(*) over () as n_found,
       (select count(*) from queries where dataset = $dataset) as n_queries
from placed
qualify place <= 200 or query_id = $keep
order by place
"""


def queries(
    cursor: DuckDBPyConnection,
    *,
    dataset: str,
    measure: str,
    a: str,
    b: str,
    by_difference: bool = False,
    find: str = "",
    keep: str = "",
) -> DataFrame:
    """The first 200 queries of a dataset with `find` in id or text; beyond them `keep`, if found.

    place (from 1), query_id, text, value_a, value_b, n_relevant, previous, next (ids), n_found,
    n_queries (of the dataset). Sorted by the difference of systems a and b, largest first, or by
    id, numbers as numbers.
    """
    wanted = {"dataset": dataset, "measure": measure, "a": a, "b": b, "find": find, "keep": keep}
    return cursor.execute(_QUERIES, wanted | {"by_difference": by_difference}).df()


def ranked(
    cursor: DuckDBPyConnection, dataset: str, collection: str, query_id: str, systems: Sequence[str]
) -> DataFrame:
    """The top 10 of systems for a query: system, rank, doc_id, score, relevance, title, text.

    relevance is absent for a hole, title and text where texts are not loaded.
    """
    hits = cursor.execute(
        """
        select system, rank, doc_id, score, relevance
        from (select * from top
              where dataset = $dataset and query_id = $query_id
                and system in (select unnest($systems))) as hit
        left join (select doc_id, relevance from judgements
                   where dataset = $dataset and query_id = $query_id) as judged using (doc_id)
        order by system, rank
        """,
        {"dataset": dataset, "query_id": query_id, "systems": list(systems)},
    ).df()
    # The ids go in as values: DuckDB then skips row groups instead of joining the corpus.
    texts = cursor.execute(
        """
        select doc_id, title, text from documents
        where dataset = $collection and doc_id in (select unnest($doc_ids))
        """,
        {"collection": collection, "doc_ids": hits["doc_id"].unique().tolist()},
    ).df()
    return hits.merge(texts, on="doc_id", how="left")


def query_values(
    cursor: DuckDBPyConnection, dataset: str, query_id: str, systems: Sequence[str]
) -> DataFrame:
    """What a query scores: system, measure, value."""
    return cursor.execute(
        """
        select system, measure, value from scores
        where dataset = $dataset and query_id = $query_id and system in (select unnest($systems))
        order by system, measure
        """,
        {"dataset": dataset, "query_id": query_id, "systems": list(systems)},
    ).df()
