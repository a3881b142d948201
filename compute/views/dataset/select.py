"""SELECTs of the Dataset page."""

from collections.abc import Sequence

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.evaluate.tolerance import TOLERANCE, order
from compute.reading.questions import question, select


@select()
def catalogue() -> str:
    """Select dataset, title and computed (number of systems with scores), those with most first."""
    return """
        with runs as (select dataset, count(*) as n from parts where kind = 'top' group by dataset)
        select name as dataset, title, count(distinct system) as computed
        from datasets left join means on name = dataset left join runs on name = runs.dataset
        group by name, title, datasets.rowid
        order by computed desc, any_value(n) desc nulls last, datasets.rowid
    """


@select(datasets=("datasets",), collections=("collections",), shows="datasets", whole=True)
def statistics(datasets: Sequence[str], collections: Sequence[str]) -> str:
    """Select one row of statistics of the loaded datasets (one, or all parts) and collections:
    n_documents, n_queries, relevant_per_query, query_words, document_words (means over documents
    and queries), n_judgements; null if nothing is loaded, word counts also without texts."""
    return """
        with words as (
            select n_words from lengths where list_contains($collections, dataset)
            union all
            select n_words from documents
            where list_contains($collections, dataset)
              and dataset not in (
                  select dataset from lengths where list_contains($collections, dataset))
        ), asked as (
            select n_words from queries where list_contains($datasets, dataset)
        ), judged as (
            select count(*) as n, count(*) filter (where relevance > 0) as relevant
            from judgements where list_contains($datasets, dataset)
            group by dataset, query_id
        )
        select nullif((select count(*) from words), 0) as n_documents,
               nullif((select count(*) from asked), 0) as n_queries,
               (select avg(relevant) from judged) as relevant_per_query,
               (select nullif(avg(n_words), 0) from asked) as query_words,
               (select avg(n_words) from words) as document_words,
               (select sum(n) from judged) as n_judgements
    """


@select(datasets=("datasets",), shows="runs")
def means_of(datasets: Sequence[str]) -> str:
    """Select dataset, system, measure, value, n_queries, n_unanswered on these datasets."""
    return """
        select dataset, system, measure, value, n_queries, n_unanswered
        from means
        where list_contains($datasets, dataset)
        order by dataset, system, measure
    """


@select(datasets=("datasets",))
def translations(datasets: Sequence[str]) -> str:
    """Select the translation similarity: of (queries or documents), system (the encoder), mean."""
    return """
        select of, system, max(mean) as mean from translation
        where list_contains($datasets, dataset) group by all order by all
    """


@question(datasets=("datasets",), shows="runs")
def spread(cursor: DuckDBPyConnection, datasets: Sequence[str], measure: str) -> DataFrame:
    """Return the distribution of a measure over the queries of datasets (one, or all parts), a row
    per system, the highest mean first: system, n_queries, mean, the quantiles p5 p25 p50 p75 p95,
    at_0 and at_1 (numbers of queries at 0 and at 1)."""
    found = cursor.execute(
        """
        select system, count(*) as n_queries, favg(value) as mean,
               quantile_cont(value, 0.05) as p5, quantile_cont(value, 0.25) as p25,
               quantile_cont(value, 0.50) as p50, quantile_cont(value, 0.75) as p75,
               quantile_cont(value, 0.95) as p95,
               count(*) filter (where value <= $tolerance) as at_0,
               count(*) filter (where value >= 1 - $tolerance) as at_1
        from scores
        where list_contains($datasets, dataset) and measure = $measure
        group by system
        """,
        {"datasets": list(datasets), "measure": measure, "tolerance": TOLERANCE},
    ).df()
    return found.iloc[order(found["mean"], found["system"])].reset_index(drop=True)


@select(datasets=("datasets",), shows="runs")
def histogram(datasets: Sequence[str], measure: str, steps: int) -> str:
    """Select system, step (0 to steps - 1), n_queries (with values strictly between 0 and 1)."""
    return f"""
        select system, least(floor(value * $steps)::int, $steps - 1) as step,
               count(*) as n_queries
        from scores
        where list_contains($datasets, dataset) and measure = $measure
          and value > {TOLERANCE} and value < 1 - {TOLERANCE}
        group by all order by all
    """


@select(datasets=("dataset",), collections=("collection",))
def example(dataset: str, collection: str) -> str:
    """Select the first query in file order with a relevant document, and its first most relevant
    one: query_id, query, doc_id, relevance, title, text (null if texts are not loaded). No row if
    nothing is judged relevant."""
    return """
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
    """


@select(datasets=("datasets",), shows="tables in print", confined=False)
def published_figures(datasets: Sequence[str]) -> str:
    """Select dataset, source, system, printed (the name there), measure, value, in_domain, suspect
    and note of published scores."""
    return """
        select dataset, source, system, printed, measure, value, in_domain, suspect, note
        from published where list_contains($datasets, dataset)
        order by source, measure, value desc
    """


@select(shows="tables in print")
def printed_statistics() -> str:
    """Select dataset, the fields of `Dataset` and dev_queries of the datasets with published
    statistics, without their splits."""
    return """
        select one.name as dataset, one.* exclude name, dev.n_queries as dev_queries
        from datasets as one left join datasets as dev on dev.name = one.name || '/dev'
        where one.n_queries is not null and one."group" <> 'own'
          and (one.name = one.collection or one."group" = 'BEIR-PL')
        order by one.rowid
    """
