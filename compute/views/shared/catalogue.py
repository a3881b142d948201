"""SELECTs of the datasets, systems and runs that every page names."""

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.reading.questions import question


@question()
def datasets(cursor: DuckDBPyConnection) -> DataFrame:
    """dataset, title, collection, task, domain, group, zero_shot: the catalogue and own ones."""
    return cursor.execute(
        """
        select name as dataset, title, collection, task, domain, "group", zero_shot
        from datasets
        """
    ).df()


@question()
def systems(cursor: DuckDBPyConnection) -> DataFrame:
    """system, title, family: the catalogue and what else was computed or imported, and what
    `cells.by_language` makes of a table in two languages."""
    return cursor.execute(
        """
        select name as system, title, family from systems union all
        select name || spoken, title || spoken, family
        from systems, (values (', English'), (', Polish')) as languages(spoken)
        where name in (select system from published where note like 'lang=%')
        """
    ).df()


@question(datasets=("dataset",), shows="datasets")
def facts(cursor: DuckDBPyConnection, dataset: str) -> DataFrame:
    """The record of a dataset: one row with the fields of `Dataset`."""
    return cursor.execute("select * from datasets where name = ?", [dataset]).df()


@question(datasets=("dataset",), whole=True)
def leading(cursor: DuckDBPyConnection, dataset: str) -> DataFrame:
    """system: by the mean of nDCG@10 on the dataset, the best first."""
    return cursor.execute(
        """
        select system from means where dataset = $dataset and measure = 'nDCG@10'
        order by value desc, system
        """,
        {"dataset": dataset},
    ).df()


@question()
def unjudged(cursor: DuckDBPyConnection) -> DataFrame:
    """dataset: those with runs, and without a judgement or a score."""
    return cursor.execute(
        """
        select distinct dataset from parts
        where kind = 'top'
          and dataset not in (
              select dataset from parts where kind in ('judgements', 'scores') and rows > 0
          )
          and not exists (select 1 from judgements where judgements.dataset = parts.dataset)
        order by dataset
        """
    ).df()


@question()
def runs(cursor: DuckDBPyConnection) -> DataFrame:
    """dataset, system: the runs whose ranked lists are stored.

    The datasets with the most runs come first; among equals those whose documents are stored,
    then PyDocs, whose texts are installed, then in the catalogue's order.
    """
    return cursor.execute(
        """
        select dataset, system
        from parts left join datasets on dataset = name
        where kind = 'top'
        order by count(*) over (partition by dataset) desc,
                 coalesce(collection, dataset) not in (
                     select dataset from parts where kind = 'documents'),
                 "group" is distinct from 'PyDocs', datasets.rowid, system
        """
    ).df()
