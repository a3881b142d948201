"""Every SELECT of the Data page: what is stored of each dataset, and of each run."""

from duckdb import DuckDBPyConnection
from pandas import DataFrame

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


def datasets(cursor: DuckDBPyConnection) -> DataFrame:
    """What is stored of each dataset that has queries, judgements or runs here, as listed.

    dataset, title, group, language, split, collection, n_documents, has_documents (their text,
    not their lengths alone), n_queries, has_texts (of the queries), n_judgements, n_runs,
    n_imported, n_shipped, bytes (of the dataset and its runs; the corpus counts for every dataset
    that shares it), origin (JSON of its source), shipped, created (UTC), note. Numbers of
    what is not stored are absent.
    """
    return cursor.execute(_DATASETS).df()


def runs(cursor: DuckDBPyConnection) -> DataFrame:
    """Every stored run: where it comes from and what is in it, by dataset, then system.

    dataset, system, origin (computed, imported or shipped), created (UTC), hits, n_queries (of the
    split), n_answered (with a hit), depth (kept), file (its name, of an import), bytes.
    """
    return cursor.execute(
        """
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
    ).df()
