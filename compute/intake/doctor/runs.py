"""Checks of run files: their content, and how an import treats it."""

from pathlib import Path

from duckdb import DuckDBPyConnection

from compute.base.scratch_database import scratch
from compute.base.words import counted
from compute.datasets import shapes
from compute.evaluate.runs import line_of
from compute.intake.doctor import lines
from compute.intake.doctor.dataset_ids import hold_run
from compute.intake.doctor.ids import Ids, look_at
from compute.intake.doctor.known import Known
from compute.intake.doctor.order import remark_order
from compute.intake.doctor.report import Tally, Where

_TABLES = """
create table documents as
    select doc_id as id, min(line) as line, count(*) as n from hits group by doc_id;
create table lists as
    select query_id as id, min(line) as line, count(*) as n from hits group by query_id;
"""
_COUNTS = """
select sum(n)::bigint, count(*), (select count(*) from documents), min(n), max(n) from lists
"""
_AGAIN = """
with twice as (
    select hash(query_id, doc_id) as pair from hits group by pair having count(*) > 1
), numbered as (
    select query_id, doc_id, line,
           row_number() over (partition by query_id, doc_id order by line) as time
    from hits where hash(query_id, doc_id) in (from twice)
)
select count(*), arg_min([query_id, doc_id], line), min(line) from numbered where time > 1
"""
_SELF = """
select count(*), arg_min(query_id, line), min(line) from hits where query_id = doc_id
"""
_TAGS = """
select tag, min(line) as line from hits group by tag order by line
"""
_SHARED = """
select count(distinct query_id) from (
    select query_id from hits group by query_id, doc_id having count(distinct tag) > 1)
"""
_NAMED = "read as one run if it is named: import-run --system NAME"


def examine(
    path: Path,
    counts: dict[str, float],
    tally: Tally,
    against: Known | None,
    how: shapes.How,
    held: shapes.Held | None = None,
) -> None:
    """Count the content of a run file, report its faults, and compare it with a dataset if one is
    given. `held` is the file's content if it is not in TREC's format. Raises Missing or WrongInput
    for a file that cannot be read further."""
    table = held.as_run() if held else lines.survey(path, line_of(path, ranks=True), tally).table
    if not table.num_rows:
        return
    if against:
        table = against.by_ids(table, path, how.fold)
    file = str(path)
    with scratch() as database:
        database.register("hits", table)
        database.execute(_TABLES)
        names = ("hits", "queries", "documents", "shortest list", "longest list")
        counts |= dict(zip(names, database.sql(_COUNTS).fetchall()[0], strict=True))
        if held and held.documents:
            counts["document texts"] = len(held.documents)
        if "tag" in table.column_names:
            _tags(database, file, tally)
        elif held is None:
            tally.remark("no tag", "the last of six columns", Where(file, 1), _NAMED)
        _remark_again(database, file, tally)
        remark_order(table, file, tally)
        _remark_self(database, file, tally, against)
        for what, name in (("query", "lists"), ("document", "documents")):
            look_at(database, name)
            Ids(database, what, file).remark(tally)
        if against:
            hold_run(database, file, tally, against)


def _tags(database: DuckDBPyConnection, file: str, tally: Tally) -> None:
    """Refuse a file in which one hit has several tags; remark on tags that change between lines."""
    tags = database.sql(_TAGS).fetchall()
    if len(tags) == 1:
        return
    (shared,) = database.sql(_SHARED).fetchall()[0]
    names = ", ".join(repr(tag) for tag, _ in tags[:3])
    example, where = f"{len(tags)} tags ({names})", Where(file, tags[1][1])
    if shared:
        of = f"{example}, {counted(shared, 'query')} with a document under several of them"
        tally.refuse("several runs in one file", of, where, "give each run its own file")
    else:
        tally.remark("tag that changes", example, where, _NAMED)


def _remark_again(database: DuckDBPyConnection, file: str, tally: Tally) -> None:
    """Report documents that occur twice in a list."""
    count, first, line = database.sql(_AGAIN).fetchall()[0]
    if count:
        example = f"query {first[0]!r}, document {first[1]!r}"
        treatment = "the one with the highest score is kept"
        tally.remark("document twice in a list", example, Where(file, line), treatment, count)


def _remark_self(
    database: DuckDBPyConnection, file: str, tally: Tally, against: Known | None
) -> None:
    """Report documents named like their query, which the dataset may drop."""
    count, first, line = database.sql(_SELF).fetchall()[0]
    if against and against.drop_self is not None:
        treatment = f"{'dropped' if against.drop_self else 'kept'}, as set for {against.dataset}"
    else:
        treatment = "dropped if the dataset requires it, else kept"
    example = f"query {first!r} finds itself"
    tally.remark("document named like its query", example, Where(file, line or 0), treatment, count)
