"""Questions asked by the Data page, About and `show`: stored data and their sources."""

import numpy as np
from duckdb import DuckDBPyConnection
from pandas import DataFrame, Series

from compute.evaluate.measures import FORMULAS
from compute.evaluate.tolerance import ranks
from compute.reading.questions import question, select

_DATASETS = """
with own as (
    select dataset,
           any_value(rows) filter (where kind = 'queries') as n_queries,
           any_value(provenance->'$.source') filter (where kind = 'queries') as origin,
           any_value(provenance->>'$.queries_of_all_splits.words')
               filter (where kind = 'queries') as query_words,
           bool_or(shipped) filter (where kind = 'queries') as shipped,
           any_value(left(created, 16)) filter (where kind = 'queries') as created,
           any_value(rows) filter (where kind = 'judgements') as n_judgements,
           count(*) filter (where kind = 'hits') as n_runs,
           count(*) filter (where kind = 'hits' and provenance->>'$.imported' = 'true')
               as n_imported,
           count(*) filter (where kind = 'hits' and shipped) as n_shipped,
           sum(bytes) filter (where kind not in ('documents', 'lengths')) as bytes
    from parts where dataset <> '' group by dataset
    having count(*) filter (where kind in ('queries', 'judgements', 'hits')) > 0
), corpora as (
    select dataset as collection, max(rows) as n_documents,
           bool_or(kind = 'documents') as has_documents, sum(bytes) as corpus_bytes
    from parts where kind in ('documents', 'lengths') group by dataset
)
select name as dataset, title, "group", language, split, datasets.collection,
       corpora.n_documents, coalesce(has_documents, false) as has_documents,
       own.n_queries,
       coalesce(own.query_words is not null and not shipped, false) as has_texts,
       n_judgements, n_runs, n_imported, n_shipped,
       (own.bytes + coalesce(corpus_bytes, 0))::bigint as bytes,
       origin, shipped, created, note
from datasets join own on name = own.dataset
left join corpora on datasets.collection = corpora.collection
order by datasets.rowid
"""
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


@select()
def datasets() -> str:
    """Select the stored data of each dataset with queries, judgements or runs: dataset, title,
    group, language, split, collection, n_documents, has_documents (texts, not only lengths),
    n_queries, has_texts (of the queries), n_judgements, n_runs, n_imported, n_shipped, bytes (of
    the dataset and its runs; the corpus counts for every dataset that shares it), origin (JSON of
    its source), shipped, created (UTC), note. Counts of missing data are null."""
    return _DATASETS


@select()
def printed() -> str:
    """Select the imported tables, with the headings of a page."""
    return """
        select dataset as "Table", rows as "Scores", provenance->>'$.file' as "File",
               replace(left(created, 16), 'T', ' ') as "Stored",
               provenance->>'$.sha256' as "SHA-256"
        from parts where kind = 'printed' order by dataset
    """


@select(shows="runs")
def runs() -> str:
    """Select every stored run, by dataset, then system: dataset, system, origin (computed, imported
    or shipped), created (UTC), hits, n_queries (of the split), n_answered (with a hit), depth
    (stored), file (its name, if imported), bytes."""
    return """
        with answered as (
            select dataset, system, count(*) as n_answered from top where rank = 1 group by all
        ), asked as (
            select dataset, rows as n_queries from parts where kind = 'queries'
        )
        select dataset, system,
               case when shipped then 'shipped'
                    when provenance->>'$.imported' = 'true' then 'imported'
                    else 'computed' end as origin,
               left(created, 16) as created, rows as hits, n_queries,
               coalesce(n_answered, 0) as n_answered,
               coalesce(provenance->>'$.cut', provenance->>'$.depth')::integer as depth,
               provenance->>'$.file' as file, bytes
        from parts
        left join asked using (dataset)
        left join answered using (dataset, system)
        where kind = 'hits'
        order by dataset, system
    """


@select(shows="runs")
def origins() -> str:
    """Select the origins of stored runs: dataset, system, rows, created, shipped, command."""
    return """
        select dataset, system, rows, left(created, 16) as created, shipped,
               json_extract_string(provenance, '$.command') as command
        from parts where kind = 'hits'
        order by dataset, system
    """


@question(datasets=("dataset",), confined=False)
def scores_shown(
    cursor: DuckDBPyConnection,
    *,
    dataset: str | None = None,
    system: str | None = None,
    measure: str | None = None,
    published: bool = False,
    returned_only: bool = False,
) -> DataFrame:
    """Return dataset, system, measure, value and their basis for `show`, the best value of each
    dataset and measure first; None means all. Computed scores have n_queries (in the mean) and
    n_unanswered; published ones have paper, source (its table) and note."""
    chosen = {"dataset": dataset, "system": system, "measure": measure}
    if published:
        return _best_first(cursor.execute(_PUBLISHED_SHOWN, chosen).df())
    return _best_first(cursor.execute(_MEANS_SHOWN, chosen | {"returned_only": returned_only}).df())


def _best_first(frame: DataFrame) -> DataFrame:
    """Sort by dataset and measure, with the best value first; ties keep their order."""
    rank = Series(np.nan, index=frame.index)
    for (_, measure), values in frame.groupby(["dataset", "measure"])["value"]:
        # Papers also report figures that have no formula, such as seconds.
        formula = FORMULAS.get(str(measure).partition("@")[0])
        rank[values.index] = ranks((formula.better if formula else 1) * values)
    keys = ["dataset", "measure", "rank"]
    ordered = frame.assign(rank=rank).sort_values(keys, kind="stable", ignore_index=True)
    return ordered.drop(columns="rank")
