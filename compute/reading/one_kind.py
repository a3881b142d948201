"""One query group: a cursor whose scores, means, judgements and lists are restricted to it. The
schema `one_kind` comes first in the cursor's search path, as `added` comes before `main`, so
SELECTs stay unchanged. Code that reads files directly calls `narrowed`."""

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base.scratch_database import transaction
from compute.reading.means import FORUMS, MEANS, OF_PARTS


def _views(source: str, *names: str) -> str:
    """Return the SQL of views with the rows of these tables that belong to the group. Datasets are
    also given as a list, with which views over parts open no other datasets' files (a join with the
    queries would). Without an overlay, the schema `added` has the official results."""
    return "\n".join(
        f"create view one_kind.{name} as select * from {source}.{name} semi join one_kind.asked"
        " using (dataset, query_id) where list_contains(getvariable('of_datasets'), dataset);"
        for name in names
    )


_SCHEMA = f"""
create schema one_kind;
create table kept.of_kind (number bigint, dataset text, query_id text);
create view one_kind.asked as
select dataset, query_id from kept.of_kind where number = getvariable('of_kind');
{_views("added", "scores", "run_scores", "judgements")}
{_views("main", "queries", "top", "hits")}
create view one_kind.means_of_parts as
{MEANS.format(scores="one_kind.scores", top="one_kind.top")};
create view one_kind.means as
with forums as (
    select name, part, count(*) over (partition by name) as n_parts from ({FORUMS}) as every
    where part in (select dataset from one_kind.asked)
)
select * from one_kind.means_of_parts
union all {OF_PARTS.format(forums="forums", means="one_kind.means_of_parts")};
create view one_kind.length_counts as
with rooted as (
    select name as dataset, collection from main.datasets
    where list_contains(getvariable('of_datasets'), name)
), long as (
    select rooted.dataset, doc_id, n_words from main.lengths
    join rooted on lengths.dataset = collection
    where list_contains(getvariable('of_collections'), lengths.dataset)
)
select dataset, system, "of", level, n_words, count from main.length_counts
where "of" = 'corpus' and list_contains(getvariable('of_datasets'), dataset)
union all
select dataset, '', 'queries', 0, n_words, count(*) from one_kind.queries
where n_words > 0 group by all
union all
select dataset, '', 'judged', relevance, n_words, count(*)
from main.judgements semi join one_kind.asked using (dataset, query_id)
join long using (dataset, doc_id)
where list_contains(getvariable('of_datasets'), dataset) group by all
union all
select dataset, system, 'top', rank, n_words, count(*)
from one_kind.top join long using (dataset, doc_id) group by all
"""
_THERE = "select 1 from duckdb_schemas() where schema_name = 'one_kind'"
_FILL = "insert into kept.of_kind select $number, dataset, query_id from of_kind"
_COLLECTIONS = "select distinct collection from main.datasets where list_contains($of, name)"
_LEAVE = "delete from kept.of_kind where number = ?"
_ASKED = "select query_id from one_kind.asked where dataset = ?"

_NUMBERS = itertools.count(1)
_MAKING = threading.Lock()


@contextmanager
def alone(cursor: DuckDBPyConnection, queries: DataFrame) -> Iterator[None]:
    """Restrict a cursor of `Overlays` to these queries (dataset, query_id) for the with-block. The
    mean of a dataset of parts then covers only the parts that have such queries."""
    _prepare(cursor)
    number, datasets = next(_NUMBERS), sorted(set(queries["dataset"]))
    cursor.register("of_kind", pa.Table.from_pandas(queries, preserve_index=False))
    cursor.execute(_FILL, {"number": number})
    cursor.unregister("of_kind")
    found = cursor.execute(_COLLECTIONS, {"of": datasets}).fetchall()
    cursor.execute("set variable of_kind = ?", [number])
    cursor.execute("set variable of_datasets = ?", [datasets])
    cursor.execute("set variable of_collections = ?", [[name for (name,) in found]])
    ((path,),) = cursor.execute("select current_setting('search_path')").fetchall()
    cursor.execute("set search_path = ?", [f"one_kind,{path}"])
    try:
        yield
    finally:
        cursor.execute("set search_path = ?", [path])
        cursor.execute("reset variable of_kind")
        cursor.execute(_LEAVE, [number])


def _prepare(cursor: DuckDBPyConnection) -> None:
    """Create the schema for the first reader, since most versions are never read by group."""
    with _MAKING:
        if cursor.execute(_THERE).fetchall():
            return
        with transaction(cursor):
            cursor.execute(_SCHEMA)


def narrowed(cursor: DuckDBPyConnection, dataset: str) -> pa.Array | None:
    """Return the ids of a dataset's queries to which the cursor is restricted, or None."""
    ((number,),) = cursor.execute("select getvariable('of_kind')").fetchall()
    if number is None:
        return None
    found = cursor.sql(_ASKED, params=[dataset]).to_arrow_table()
    return found["query_id"].combine_chunks()


def among(ids: pa.Array | pa.ChunkedArray, queries: pa.Array) -> pa.BooleanArray:
    """Return a mask of the ids that belong to these queries."""
    return pc.call_function("is_in", [ids], pc.SetLookupOptions(queries))
