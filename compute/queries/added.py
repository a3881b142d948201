"""Every SELECT on the added judgements themselves."""

from collections.abc import Sequence

from duckdb import DuckDBPyConnection
from pandas import DataFrame

# As `judgements.labels` has it: a person's newest row of a pair, adjudications apart, after what
# the person has withdrawn.
_STANDING = """
with withdrawn as (
    select dataset, query_id, doc_id, person, max((time, id)) as last
    from added_judgements where source = 'withdrawn' group by all
), newest as (
    select dataset, query_id, doc_id, person, source, relevance
    from added_judgements left join withdrawn using (dataset, query_id, doc_id, person)
    where source in (select unnest($sources)) and (last is null or (time, id) > last)
    qualify row_number() over (
        partition by dataset, query_id, doc_id, person, source = 'adjudication'
        order by time desc, id desc) = 1
)
select
    source, count(*) as n_judgements, count(distinct person) as n_people,
    count(distinct (dataset, query_id, doc_id)) as n_pairs
from newest where relevance is not null
group by rollup (source) order by source nulls first
"""


def counted(cursor: DuckDBPyConnection, sources: Sequence[str]) -> DataFrame:
    """What stands of the added judgements: source, n_judgements, n_people, n_pairs.

    The first row, whose source is absent, is over all of the sources.
    """
    return cursor.execute(_STANDING, {"sources": list(sources)}).df()


def rows(cursor: DuckDBPyConnection, dataset: str) -> DataFrame:
    """Every row of the added judgements of a dataset, in the order they were saved."""
    frame = cursor.execute(
        "select * from added_judgements where dataset = ? order by id", [dataset]
    ).df()
    return frame.astype({"relevance": "Int64"})


def of_pair(cursor: DuckDBPyConnection, dataset: str, query_id: str, doc_id: str) -> DataFrame:
    """Every row of the added judgements of a query and document, in the order they were saved."""
    frame = cursor.execute(
        """
        select * from added_judgements
        where dataset = ? and query_id = ? and doc_id = ? order by id
        """,
        [dataset, query_id, doc_id],
    ).df()
    return frame.astype({"relevance": "Int64"})
