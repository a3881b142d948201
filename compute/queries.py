"""Every SELECT of the pages: a cursor and parameters go in, a frame comes out."""

from collections.abc import Sequence

from duckdb import DuckDBPyConnection
from pandas import DataFrame

# Leaderboard


def datasets(cursor: DuckDBPyConnection) -> DataFrame:
    """dataset, title, collection, task, domain, group, zero_shot: the catalogue and own ones."""
    return cursor.execute(
        """
        select name as dataset, title, collection, task, domain, "group", zero_shot
        from datasets
        """
    ).df()


def systems(cursor: DuckDBPyConnection) -> DataFrame:
    """system, title, family: the catalogue and what else was computed or imported."""
    return cursor.execute("select name as system, title, family from systems").df()


def published_tables(cursor: DuckDBPyConnection) -> DataFrame:
    """source, measure: which printed table holds figures of which measure."""
    return cursor.execute(
        """
        select distinct source, measure from published where measure like '%@%'
        order by source, measure
        """
    ).df()


def published(cursor: DuckDBPyConnection, source: str, measure: str) -> DataFrame:
    """dataset, system, value, in_domain, suspect, note: one printed table."""
    return cursor.execute(
        """
        select dataset, system, value, in_domain, suspect, note
        from published where source = ? and measure = ?
        """,
        [source, measure],
    ).df()


def trained_pairs(cursor: DuckDBPyConnection) -> DataFrame:
    """dataset, system: what the papers mark as in-domain."""
    return cursor.execute("select distinct dataset, system from published where in_domain").df()


def measures(cursor: DuckDBPyConnection) -> DataFrame:
    """measure: those that stored runs have."""
    return cursor.execute("select distinct measure from means order by measure").df()


def means(cursor: DuckDBPyConnection, measure: str) -> DataFrame:
    """dataset, system, value, value_returned, n_queries, n_unanswered of stored runs."""
    return cursor.execute(
        """
        select dataset, system, value, value_returned, n_queries, n_unanswered
        from means where measure = ? order by dataset, system
        """,
        [measure],
    ).df()


def holes(cursor: DuckDBPyConnection) -> DataFrame:
    """dataset, system, hole: the mean Hole@10 of stored runs, 0 to 1."""
    return cursor.execute(
        """
        select dataset, system, value as hole from means where measure = 'Hole@10'
        order by dataset, system
        """
    ).df()


# Dataset


def catalogue(cursor: DuckDBPyConnection) -> DataFrame:
    """dataset, title, computed (systems scored here): those with any first, then as listed."""
    return cursor.execute(
        """
        select name as dataset, title, count(distinct system) as computed
        from datasets left join means on name = dataset
        group by name, title, datasets.rowid
        order by computed = 0, datasets.rowid
        """
    ).df()


def facts(cursor: DuckDBPyConnection, dataset: str) -> DataFrame:
    """The record of a dataset: one row with the fields of `Dataset`."""
    return cursor.execute("select * from datasets where name = ?", [dataset]).df()


def statistics(
    cursor: DuckDBPyConnection, datasets: Sequence[str], collections: Sequence[str]
) -> DataFrame:
    """One row of what is loaded of these datasets (one, or all parts) and their collections.

    n_documents, n_queries, relevant_per_query, query_words, document_words (means over documents
    and queries), n_judgements; absent where nothing is loaded, words also where no text is.
    """
    return cursor.execute(
        """
        with words as (
            select n_words from lengths where dataset in (select unnest($collections))
            union all
            select n_words from documents
            where dataset in (select unnest($collections))
              and dataset not in (
                  select dataset from lengths where dataset in (select unnest($collections)))
        ), asked as (
            select n_words from queries where dataset in (select unnest($datasets))
        ), judged as (
            select count(*) as n, count(*) filter (where relevance > 0) as relevant
            from judgements where dataset in (select unnest($datasets))
            group by dataset, query_id
        )
        select nullif((select count(*) from words), 0) as n_documents,
               nullif((select count(*) from asked), 0) as n_queries,
               (select avg(relevant) from judged) as relevant_per_query,
               (select nullif(avg(n_words), 0) from asked) as query_words,
               (select avg(n_words) from words) as document_words,
               (select sum(n) from judged) as n_judgements
        """,
        {"datasets": list(datasets), "collections": list(collections)},
    ).df()


def means_of(cursor: DuckDBPyConnection, datasets: Sequence[str]) -> DataFrame:
    """Every mean of some datasets: dataset, system, measure, value, n_queries, n_unanswered."""
    return cursor.execute(
        """
        select dataset, system, measure, value, n_queries, n_unanswered
        from means
        where dataset in (select unnest($datasets))
        order by dataset, system, measure
        """,
        {"datasets": list(datasets)},
    ).df()


def spread(cursor: DuckDBPyConnection, datasets: Sequence[str], measure: str) -> DataFrame:
    """How a measure spreads over the queries of datasets (one, or all parts), a row per system.

    system, n_queries, mean, the quantiles p5 p25 p50 p75 p95, at_0 and at_1 (the
    number of queries at exactly 0 and 1); best mean first.
    """
    return cursor.execute(
        """
        select system, count(*) as n_queries, avg(value) as mean,
               quantile_cont(value, 0.05) as p5, quantile_cont(value, 0.25) as p25,
               quantile_cont(value, 0.50) as p50, quantile_cont(value, 0.75) as p75,
               quantile_cont(value, 0.95) as p95,
               count(*) filter (where value <= 0) as at_0,
               count(*) filter (where value >= 1) as at_1
        from scores
        where dataset in (select unnest($datasets)) and measure = $measure
        group by system
        order by mean desc, system
        """,
        {"datasets": list(datasets), "measure": measure},
    ).df()


def histogram(
    cursor: DuckDBPyConnection, datasets: Sequence[str], measure: str, steps: int
) -> DataFrame:
    """system, step (0 to steps - 1), n_queries: those strictly between 0 and 1, in equal steps."""
    return cursor.execute(
        """
        select system, least(floor(value * $steps)::int, $steps - 1) as step,
               count(*) as n_queries
        from scores
        where dataset in (select unnest($datasets)) and measure = $measure
          and value > 0 and value < 1
        group by all order by all
        """,
        {"datasets": list(datasets), "measure": measure, "steps": steps},
    ).df()


def example(cursor: DuckDBPyConnection, dataset: str, collection: str) -> DataFrame:
    """The first query in file order with a relevant document, and its first most relevant one.

    query_id, query, doc_id, relevance, title, text (absent where texts are not loaded); no row
    where nothing is judged relevant.
    """
    return cursor.execute(
        """
        with asked as (
            select query_id, text as query, row_number() over () as place
            from queries where dataset = $dataset
        ), judged as (
            select query_id, doc_id, relevance, row_number() over () as line
            from judgements where dataset = $dataset
        ), best as (
            select * from asked join judged using (query_id)
            where relevance > 0 order by place, relevance desc, line limit 1
        ), written as (
            select doc_id, title, text from documents
            where dataset = $collection and doc_id = (select doc_id from best)
        )
        select query_id, query, doc_id, relevance, title, text
        from best left join written using (doc_id)
        """,
        {"dataset": dataset, "collection": collection},
    ).df()


def published_figures(cursor: DuckDBPyConnection, datasets: Sequence[str]) -> DataFrame:
    """The papers' figures for datasets: dataset, source, system, printed, measure, value,
    in_domain, suspect, note."""
    return cursor.execute(
        """
        select dataset, source, system, printed, measure, value, in_domain, suspect, note
        from published where dataset in (select unnest($datasets))
        order by source, measure, value desc
        """,
        {"datasets": list(datasets)},
    ).df()


# Query


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


# About the numbers


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
        return cursor.execute(_PUBLISHED_SHOWN, chosen).df()
    return cursor.execute(_MEANS_SHOWN, chosen | {"returned_only": returned_only}).df()


_MEANS_SHOWN = """
    select
        dataset, system, measure,
        if($returned_only, n_queries - n_unanswered, n_queries) as n_queries, n_unanswered,
        if($returned_only, value_returned, value) as value
    from means
    where dataset = coalesce($dataset, dataset)
        and system = coalesce($system, system)
        and measure = coalesce($measure, measure)
    order by dataset, measure, value desc, system
"""
_PUBLISHED_SHOWN = """
    select dataset, system, measure, value, paper, source, note
    from published
    where dataset = coalesce($dataset, dataset)
        and system = coalesce($system, system)
        and measure = coalesce($measure, measure)
    order by dataset, measure, value desc, system, paper, source
"""
