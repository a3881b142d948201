"""SELECTs of datasets, systems, runs and queries that several pages use."""

from collections.abc import Sequence

from compute.reading.questions import select

CARD = "about"
"""Key in the address for the system whose card is shown, on every page."""


@select()
def datasets() -> str:
    """Select dataset, title, collection, task, domain, group and zero_shot of all datasets."""
    return """
        select name as dataset, title, collection, task, domain, "group", zero_shot
        from datasets
    """


@select()
def systems() -> str:
    """Select system, title and family of all systems: of the catalogue, computed, imported, and
    those that `cells.by_language` makes from a table in two languages."""
    return """
        select name as system, title, family from systems union all
        select name || spoken, title || spoken, family
        from systems, (values (', English'), (', Polish')) as languages(spoken)
        where name in (select system from published where note like 'lang=%')
    """


@select(datasets=("dataset",), shows="datasets")
def facts(dataset: str) -> str:
    """Select the record of a dataset: one row with the fields of `Dataset`."""
    return "select * from datasets where name = $dataset"


@select(datasets=("dataset",))
def asked(dataset: str, query_ids: Sequence[str]) -> str:
    """Select query_id and text (null if not stored) of these queries."""
    return """
        select query_id, text from queries
        where dataset = $dataset and query_id in (select unnest($query_ids))
    """


@select(datasets=("dataset",))
def narratives(dataset: str, query_ids: Sequence[str]) -> str:
    """Select query_id and text (a narrative) of those of these queries that have one."""
    return """
        select query_id, text from narratives
        where dataset = $dataset and query_id in (select unnest($query_ids))
    """


@select(datasets=("dataset",), whole=True)
def leading(dataset: str) -> str:
    """Select the systems scored on the dataset by descending mean nDCG@10."""
    return """
        select system from means where dataset = $dataset and measure = 'nDCG@10'
        order by value desc, system
    """


@select()
def unjudged() -> str:
    """Select the datasets that have runs but no judgements and no scores."""
    return """
        select distinct dataset from parts
        where kind = 'top'
          and dataset not in (
              select dataset from parts where kind in ('judgements', 'scores') and rows > 0
          )
          and not exists (select 1 from judgements where judgements.dataset = parts.dataset)
        order by dataset
    """


@select()
def runs() -> str:
    """Select dataset and system of the runs whose ranked lists are stored. Datasets with the most
    runs come first. Ties are broken by stored documents, then PyDocs (whose texts are installed),
    then catalogue order."""
    return """
        select dataset, system
        from parts left join datasets on dataset = name
        where kind = 'top'
        order by count(*) over (partition by dataset) desc,
                 coalesce(collection, dataset) not in (
                     select dataset from parts where kind = 'documents'),
                 "group" is distinct from 'PyDocs', datasets.rowid, system
    """


@select()
def trained_pairs() -> str:
    """Select dataset and system of the pairs that papers mark as in-domain."""
    return "select distinct dataset, system from published where in_domain"
