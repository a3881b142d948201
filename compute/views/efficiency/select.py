"""SELECTs of the Efficiency page: the costs of stored runs."""

from compute.reading.questions import select

_COSTS = """
with costs as (
    pivot efficiency
    on measure in ('index_seconds', 'index_bytes', 'documents_per_second', 'search_seconds',
                   'queries_per_second', 'latency_p50_ms', 'latency_p95_ms', 'peak_memory_bytes',
                   'candidate_recall@100')
    using max(value) group by dataset, system
), told as (
    select dataset, system, left(provenance->>'$.date', 10) as date,
           provenance->>'$.hardware.processor' as processor,
           (provenance->>'$.hardware.cores')::bigint as cores,
           (provenance->>'$.hardware.memory_gib')::double as memory_gib,
           (provenance->>'$.load')::double as load,
           (provenance->>'$.latency_queries')::bigint as latency_queries,
           coalesce(provenance->>'$.untimed', '') as untimed
    from parts where kind = 'efficiency'
), sizes as (
    select dataset as collection, any_value(rows) as n_documents
    from parts where kind in ('lengths', 'documents') group by dataset
)
select dataset, coalesce(datasets.title, dataset) as title, system,
       costs.* exclude (dataset, system), sizes.n_documents, told.* exclude (dataset, system)
from costs join told using (dataset, system)
left join datasets on dataset = name
left join sizes on coalesce(datasets.collection, dataset) = sizes.collection
order by datasets.rowid, dataset, system
"""


@select(shows="runs")
def costs() -> str:
    """Select a row for each run with measured costs: dataset, title, system; a column for each of
    `efficiency.MEASURED` (null if not measured); n_documents; date; processor, cores, memory_gib;
    load (processes competing for a processor before the search), latency_queries (number timed one
    by one), untimed (reason why none was)."""
    return _COSTS


@select()
def unmeasured() -> str:
    """Select dataset and system of the runs searched here before costs were recorded."""
    return """
        select dataset, system from parts
        where kind = 'hits' and json_extract_string(provenance, '$.identity') is not null
          and (dataset, system) not in (
              select (dataset, system) from parts where kind = 'efficiency')
        order by dataset, system
    """


@select(shows="runs")
def added() -> str:
    """Select dataset, system, added: the mean number of word pieces added to a query."""
    return """
        select dataset, system, avg(n) as added
        from (select dataset, system, query_id, count(*) filter (where not in_query) as n
              from augmented group by all) as counted
        group by all order by dataset, system
    """
