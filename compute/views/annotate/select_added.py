"""Every SELECT on the added judgements themselves."""

from collections.abc import Sequence

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.judgements import IN_VIEW

# As `judgements.labels` has it: a person's newest row of a pair, adjudications and what was not
# blind apart, after what the person has withdrawn; what was not blind where nothing blind stands.
# `dated` is as `judgements.labels.place_in_order`, `gone` as `judgements.labels.taken_back`.
_STANDING = """
with gone as (
    select unnest([back.id, old.id]) as id
    from added_judgements as back
        join added_judgements as old using (dataset, query_id, doc_id, person)
    where back.takes_back = old.entry and (back.imported is null or old.imported is not null)
), counting as (
    select *, case when imported is not null then least(time, imported) end as dated
    from added_judgements where id not in (select id from gone)
), said as (
    select dataset, query_id, doc_id, person, source, relevance, dated, id,
        case when source = 'adjudication' then 'settled' when task = $in_view then 'seen'
        else 'blind' end as slot
    from counting where source in (select unnest($sources))
    union all
    select dataset, query_id, doc_id, person, source, null, dated, id,
        unnest(if(task = $in_view, ['seen'], ['blind', 'seen', 'settled'])) as slot
    from counting where source = 'withdrawn'
), newest as (
    select * from said
    qualify row_number() over (
        partition by dataset, query_id, doc_id, person, slot
        order by dated desc nulls first, id desc) = 1
), standing as (
    select * from newest where relevance is not null
    qualify row_number() over (
        partition by dataset, query_id, doc_id, person, slot = 'settled' order by slot) = 1
)
select
    source, count(*) as n_judgements, count(distinct person) as n_people,
    count(distinct (dataset, query_id, doc_id)) as n_pairs
from standing
group by rollup (source) order by source nulls first
"""


def counted(cursor: DuckDBPyConnection, sources: Sequence[str]) -> DataFrame:
    """What stands of the added judgements: source, n_judgements, n_people, n_pairs.

    The first row, whose source is absent, is over all of the sources.
    """
    return cursor.execute(_STANDING, {"sources": list(sources), "in_view": IN_VIEW}).df()


def rows(cursor: DuckDBPyConnection, dataset: str) -> DataFrame:
    """Every row of the added judgements of a dataset, in the order they were saved."""
    frame = cursor.execute(
        "select * from added_judgements where dataset = ? order by id", [dataset]
    ).df()
    return frame.astype({"relevance": "Int64"})


def number(cursor: DuckDBPyConnection, dataset: str) -> DataFrame:
    """n_rows of the added judgements of a dataset, one row."""
    return cursor.execute(
        "select count(*) as n_rows from added_judgements where dataset = ?", [dataset]
    ).df()


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
