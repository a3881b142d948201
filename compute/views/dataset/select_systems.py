"""SELECTs of the Dataset page for the systems and queries of a dataset, and for a document.
`datasets` is one dataset, or all parts of a dataset, whose mean is the mean of its parts' means."""

from collections.abc import Sequence

from compute.evaluate.tolerance import TOLERANCE
from compute.reading.questions import select

MEDIAN = "Median system"
"""Name of a baseline: the median value of all systems on each query."""


@select(datasets=("datasets",), shows="runs")
def moved(datasets: Sequence[str], measure: str, baseline: str) -> str:
    """Select system, above, same, below: the number of queries on which each system is above, at
    and below a baseline (a system or MEDIAN). Queries on which either has no value do not count."""
    return f"""
        with valued as materialized (
            select dataset, query_id, system, value
            from scores
            where list_contains($datasets, dataset) and measure = $measure
        ), base as (
            select dataset, query_id,
                   case when $baseline = '{MEDIAN}' then median(value)
                        else any_value(value) filter (where system = $baseline) end as base
            from valued group by dataset, query_id
        )
        select system, count(*) filter (where value - base > {TOLERANCE}) as above,
               count(*) filter (where abs(value - base) <= {TOLERANCE}) as same,
               count(*) filter (where base - value > {TOLERANCE}) as below
        from valued join base using (dataset, query_id)
        group by system order by system
    """


_QUERIES = f"""
with valued as materialized (
    select dataset, query_id, system, value from scores
    where list_contains($datasets, dataset) and measure = $measure
), summed as (
    select dataset, query_id, count(*) as n_systems, max(value, 2) as first,
           median(value) as middle, min(value) as worst
    from valued group by dataset, query_id
), led as (
    select dataset, query_id,
           count(*) filter (where first[1] - value <= {TOLERANCE}) as n_best,
           min(system) filter (where first[1] - value <= {TOLERANCE}) as winner,
           max(system) filter (where value - worst <= {TOLERANCE}) as loser
    from valued join summed using (dataset, query_id) group by dataset, query_id
), judged as (
    select dataset, query_id, count(*) filter (where relevance > 0) as n_relevant
    from judgements where list_contains($datasets, dataset)
    group by dataset, query_id
), asked as (
    select dataset, query_id, text from queries
    where list_contains($datasets, dataset)
)
select dataset, query_id, text, coalesce(n_relevant, 0) as n_relevant, n_systems,
       first[1] as best, first[2] as second, middle, worst, n_best, winner, loser
from summed
join led using (dataset, query_id)
left join judged using (dataset, query_id)
left join asked using (dataset, query_id)
order by middle desc, best desc, worst desc, dataset, query_id
"""


@select(datasets=("datasets",), shows="datasets")
def queries(datasets: Sequence[str], measure: str) -> str:
    """Select the scores of all systems by query, the easiest (by the median) first: dataset,
    query_id, text (null if not stored), n_relevant, n_systems, best, second (null for one system),
    middle (the median), worst, n_best (systems that equal the best), winner (the first of them by
    name), loser (the last by name of those that equal the worst)."""
    return _QUERIES


@select(datasets=("datasets",))
def grades(datasets: Sequence[str]) -> str:
    """Select dataset, query_id, relevance, n: number of judged documents per query and grade."""
    return """
        select dataset, query_id, relevance, count(*) as n
        from judgements where list_contains($datasets, dataset)
        group by dataset, query_id, relevance
        order by dataset, query_id, relevance
    """


@select(datasets=("datasets",), shows="runs")
def ranked_at(datasets: Sequence[str], doc_id: str) -> str:
    """Select a document's ranks by system, the best first: dataset, query_id, text, system, rank,
    relevance. relevance is null if the document is unjudged for the query; rank and system are null
    if it is judged but not ranked. Ranks go down to the stored depth of each run."""
    return """
        with ranked as (
            select dataset, query_id, system, rank from hits
            where list_contains($datasets, dataset) and doc_id = $doc_id
        ), judged as (
            select dataset, query_id, relevance from judgements
            where list_contains($datasets, dataset) and doc_id = $doc_id
        ), asked as (
            select dataset, query_id, text from queries
            where list_contains($datasets, dataset)
        )
        select dataset, query_id, text, system, rank, relevance
        from ranked full join judged using (dataset, query_id)
        left join asked using (dataset, query_id)
        order by rank nulls last, dataset, query_id, system
    """


@select(datasets=("datasets",))
def like(datasets: Sequence[str], part: str) -> str:
    """Select the first doc_ids that contain a text, among ranked (top 10) and judged documents."""
    return """
        with named as (
            select doc_id from top where list_contains($datasets, dataset)
            union
            select doc_id from judgements where list_contains($datasets, dataset)
        )
        select doc_id from named where contains(lower(doc_id), lower($part))
        order by length(doc_id), doc_id limit 12
    """
