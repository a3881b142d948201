"""SELECTs of the Query page."""

from collections.abc import Sequence

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.evaluate.slices import REASON
from compute.reading import top_ranks
from compute.reading.questions import question, select
from compute.views.shared.part_files import files

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
               order by case $order when 'difference' then abs(value_a - value_b)
                                    when 'ahead' then value_a - value_b
                                    when 'behind' then value_b - value_a
                                    when 'highest' then value_a
                                    when 'lowest' then -value_a end desc nulls last,
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


@select(datasets=("dataset",), systems=("a", "b"), shows="runs")
def queries(
    *,
    dataset: str,
    measure: str,
    a: str,
    b: str,
    order: str = "id",
    find: str = "",
    keep: str = "",
) -> str:
    """Select the first 200 queries with `find` in id or text, and the query `keep` if it matches:
    place (from 1), query_id, text, value_a, value_b, n_relevant, previous, next (ids), n_found,
    n_queries (of the dataset). `order` is "difference" (of systems a and b, the largest first),
    "ahead" or "behind" (a minus b), "lowest" or "highest" (value of a) or "id". Ties are ordered by
    id, numeric ids as numbers."""
    return _QUERIES


@question(datasets=("dataset",), systems=("systems",), shows="runs")
def listed(
    cursor: DuckDBPyConnection, dataset: str, query_id: str, systems: Sequence[str], depth: int
) -> DataFrame:
    """Return systems' lists for a query down to a depth: system, rank, doc_id, score, relevance
    (absent if unjudged). The first ten ranks come from a stored extract."""
    found = files(cursor, "top" if depth <= top_ranks.DEPTH else "hits", dataset, systems)
    if not found:
        found = files(cursor, "top", dataset, systems)
    if not found:
        return DataFrame({name: [] for name in ("system", "rank", "doc_id", "score", "relevance")})
    frame = cursor.execute(
        """
        select system, rank, doc_id, score, relevance
        from (select * from read_parquet($files)
              where query_id = $query_id and rank <= $depth) as hit
        left join (select doc_id, relevance from judgements
                   where dataset = $dataset and query_id = $query_id) as judged using (doc_id)
        order by system, rank
        """,
        {"files": found, "dataset": dataset, "query_id": query_id, "depth": depth},
    ).df()
    return frame.astype({"relevance": "Int64"})


@select(collections=("collection",))
def documents(collection: str, doc_ids: Sequence[str]) -> str:
    """Select doc_id, title and text of the given documents, if loaded."""
    # The ids become a filter of the scan, so DuckDB skips row groups that have none of them.
    return """
        select doc_id, title, text from documents
        where dataset = $collection and doc_id in (select unnest($doc_ids))
    """


@question(datasets=("dataset",), systems=("systems",), shows="runs")
def augmented(
    cursor: DuckDBPyConnection, dataset: str, query_id: str, systems: Sequence[str]
) -> DataFrame:
    """Return systems' augmented queries in order: system, piece (of a word), in_query, weight."""
    found = files(cursor, "augmented", dataset, systems)
    if not found:
        return DataFrame({name: [] for name in ("system", "piece", "in_query", "weight")})
    return cursor.execute(
        """
        select system, piece, in_query, weight
        from read_parquet($files, file_row_number = true)
        where query_id = $query_id order by system, file_row_number
        """,
        {"files": found, "query_id": query_id},
    ).df()


@select(datasets=("dataset",))
def judged(dataset: str, query_id: str) -> str:
    """Select doc_id and relevance of a query's judged documents, the most relevant first."""
    return """
        select doc_id, relevance from judgements
        where dataset = $dataset and query_id = $query_id order by relevance desc, doc_id
    """


@select(datasets=("dataset",), shows="runs")
def relevant(dataset: str, query_id: str) -> str:
    """Select doc_id, relevance, system and rank of a query's relevant documents in each list that
    has them, most relevant first; system and rank are null if no list has the document."""
    return """
        select doc_id, relevance, system, rank
        from (select doc_id, relevance from judgements
              where dataset = $dataset and query_id = $query_id and relevance > 0)
        left join (select doc_id, system, rank from hits
                   where dataset = $dataset and query_id = $query_id) using (doc_id)
        order by relevance desc, doc_id, system
    """


@question(datasets=("dataset",), systems=("systems",), shows="runs")
def places(
    cursor: DuckDBPyConnection, dataset: str, query_id: str, doc_id: str, systems: Sequence[str]
) -> DataFrame:
    """Return system and rank of a document for a query, down to the stored depth."""
    found = files(cursor, "hits", dataset, systems)
    if not found:
        return DataFrame({"system": [], "rank": []})
    return cursor.execute(
        """
        select system, rank from read_parquet($files)
        where query_id = $query_id and doc_id = $doc_id order by rank, system
        """,
        {"files": found, "query_id": query_id, "doc_id": doc_id},
    ).df()


@select(datasets=("dataset",), systems=("systems",), shows="runs")
def query_values(dataset: str, query_id: str, systems: Sequence[str]) -> str:
    """Select system, measure and value of a query's scores."""
    return """
        select system, measure, value from scores
        where dataset = $dataset and query_id = $query_id and system in (select unnest($systems))
        order by system, measure
    """


@select(datasets=("dataset",), shows="datasets")
def reasons(dataset: str) -> str:
    """Select query_id, reason and text of the queries for which people gave a reason."""
    return f"""
        select query_id, value as reason, text
        from query_labels join queries using (dataset, query_id)
        where dataset = $dataset and key = '{REASON}' order by reason, query_id
    """


@select(datasets=("dataset",))
def graded(dataset: str, query_id: str, doc_id: str) -> str:
    """Select machine (an LLM) and relevance of each LLM grade of a document."""
    return """
        select system as machine, relevance from machine_grades
        where dataset = $dataset and query_id = $query_id and doc_id = $doc_id order by system
    """
