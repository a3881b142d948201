"""Means of every run's scores, kept from one version of the store to the next. Parts never change,
and neither do their means, so only the means of parts that no process has read yet are computed.
Otherwise, every publication would recompute means over millions of scores."""

import contextlib
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection

from compute.base import parquet_files
from compute.base.files import make_folder, written_aside
from compute.base.locks import locked
from compute.reading import part_views
from compute.store.parts import KINDS
from compute.store.store import Part

_Run = tuple[str, str]

MEANS = """
with evaluated as materialized (
    select distinct dataset, system, query_id from {scores}
),
answered as (
    select dataset, system, query_id from {top} where rank = 1
),
-- The few queries without hits: joining scores with these is quicker than with all the others.
unanswered as materialized (
    select dataset, system, query_id, true as unanswered
    from evaluated anti join answered using (dataset, system, query_id)
),
counts as (
    select dataset, system, count(*) as n_queries, count(unanswered) as n_unanswered
    from evaluated left join unanswered using (dataset, system, query_id)
    group by dataset, system
),
per_run as (
    select
        dataset,
        system,
        measure,
        favg(value) as value,
        favg(value) filter (where unanswered is null) as value_returned
    from {scores} left join unanswered using (dataset, system, query_id)
    group by dataset, system, measure
)
select
    dataset,
    system,
    measure,
    value,
    -- Without the hits nobody can tell which queries were answered.
    case when id is not null then value_returned end as value_returned,
    n_queries,
    case when id is not null then n_unanswered end as n_unanswered
from per_run
join counts using (dataset, system)
left join (select id, dataset, system from parts where kind = 'top') using (dataset, system)
order by dataset, system, measure
"""
"""`scores` and `top` are the tables of these names, or some of their rows."""

FORUMS = "select name, len(parts) as n_parts, unnest(parts) as part from datasets"
"""A row for each part of a dataset that has parts, such as the forums of CQADupStack."""

OF_PARTS = """
select
    name,
    system,
    measure,
    favg(value),
    case when count(value_returned) = n_parts then favg(value_returned) end,
    sum(n_queries)::bigint,
    case when count(n_unanswered) = n_parts then sum(n_unanswered) end::bigint
from {forums} join {means} on part = dataset
group by name, n_parts, system, measure
having count(*) = n_parts
"""
"""The mean of a dataset of parts: the mean of its parts' means, if all parts have one. `forums` is
FORUMS or some of its rows; `means` is a table with the columns of `means`."""

MEANS_OF_MEANS = (
    f"insert into means with forums as ({FORUMS})"
    f" {OF_PARTS.format(forums='forums', means='means')} order by name, system, measure"
)

SPREADS = """
select dataset, system, count(*) as runs, stddev_samp(value) as spread
from (
    select dataset, system, run, favg(value) as value from run_scores
    where measure = $measure group by all
) group by all
"""
"""dataset, system, runs, spread of systems with several runs. The spread is the standard deviation
of the runs' means by a measure."""

_MADE_BY = hashlib.sha256(f"{duckdb.__version__} {MEANS}".encode()).hexdigest()
"""Version of the averaging; means that another version computed are not reused."""
_REMEMBERED = parquet_files.schema(
    "parts dataset system measure value:double value_returned:double n_queries:int64"
    " n_unanswered:int64"
).with_metadata({"made_by": _MADE_BY})
"""The column `parts` has the ids of the scores and top hits behind a mean."""


def create(connection: DuckDBPyConnection) -> None:
    """Create the table `means` from `scores`, `top`, `parts` and `datasets`."""
    connection.sql(MEANS.format(scores="scores", top="top")).create("means")
    connection.execute(MEANS_OF_MEANS)


def create_remembered(connection: DuckDBPyConnection, parts: list[Part], home: Path) -> None:
    """Create the same table, but with known means from a file in the home's caches."""
    tops = {(part.dataset, part.system): part for part in parts if part.kind == "top"}
    # A part without scores has no means to remember, and would count as unseen each time.
    scored = [part for part in parts if part.kind == "scores" and part.rows]
    ids = {name: top.id for name, top in tops.items()}
    keys = {f"{part.id} {ids.get((part.dataset, part.system), '')}": part for part in scored}
    known = _remembered(home)
    wanted = [key in keys for key in known["parts"].to_pylist()]
    known = known.filter(pa.array(wanted, pa.bool_()))
    unseen = keys.keys() - set(known["parts"].to_pylist())
    if unseen:
        known = pa.concat_tables(
            [known, _counted(connection, {key: keys[key] for key in unseen}, tops)]
        )
        # A read-only or full home is read all the same.
        with contextlib.suppress(OSError):
            _remember(known, home)
    rows = connection.from_arrow(known.drop_columns(["parts"]))
    rows.order("dataset, system, measure").create("means")
    connection.execute(MEANS_OF_MEANS)


def _counted(
    connection: DuckDBPyConnection, scores: Mapping[str, Part], tops: Mapping[_Run, Part]
) -> pa.Table:
    """Return the means of some score parts, with the keys of the parts."""
    runs = {(part.dataset, part.system): key for key, part in scores.items()}
    given = {"scores": list(scores.values()), "top": [tops[run] for run in runs if run in tops]}
    with connection.cursor() as cursor:
        # In this schema, the names in the statement mean only these parts.
        cursor.execute("create schema unseen; use unseen")
        for kind, of in given.items():
            if of:
                part_views.create(cursor, kind, _by_dataset(of))
            else:
                cursor.from_arrow(KINDS[kind].empty_table()).create(kind)
        schema = parquet_files.schema("id kind dataset system")
        records = [{name: getattr(part, name) for name in schema.names} for part in given["top"]]
        cursor.from_arrow(pa.Table.from_pylist(records, schema)).create("parts")
        found = cursor.sql(MEANS.format(scores="scores", top="top")).to_arrow_table()
        cursor.execute("use main; drop schema unseen cascade")
    pairs = zip(found["dataset"].to_pylist(), found["system"].to_pylist(), strict=True)
    keys = pa.array([runs[pair] for pair in pairs], pa.string())
    return found.add_column(0, "parts", keys).cast(_REMEMBERED)


def _by_dataset(parts: Iterable[Part]) -> dict[str, list[str]]:
    files: dict[str, list[str]] = {}
    for part in parts:
        files.setdefault(part.dataset, []).append(str(part.path))
    return files


def _remembered(home: Path) -> pa.Table:
    """Return the means in the file; none if it cannot be read."""
    with contextlib.suppress(OSError, pa.ArrowException):
        kept = pq.read_table(_file(home), page_checksum_verification=True)
        if kept.schema.equals(_REMEMBERED, check_metadata=True):
            return kept
    return _REMEMBERED.empty_table()


def _remember(rows: pa.Table, home: Path) -> None:
    make_folder(_file(home).parent)
    with locked(home / "locks" / "means.lock"), written_aside(_file(home), alone=True) as file:
        pq.write_table(rows, file, write_page_checksum=True)


def _file(home: Path) -> Path:
    return home / "caches" / "means.parquet"
