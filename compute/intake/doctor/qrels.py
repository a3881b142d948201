"""Checks of TREC's and BEIR's qrels files: their content, and how an import treats it."""

from pathlib import Path

import pyarrow as pa
from duckdb import DuckDBPyConnection

from compute.base.scratch_database import scratch
from compute.datasets import qrels, shapes
from compute.intake.doctor import lines
from compute.intake.doctor.dataset_ids import hold_qrels
from compute.intake.doctor.ids import Ids, look_at
from compute.intake.doctor.known import Known
from compute.intake.doctor.report import Tally, Where

_TABLES = """
create table documents as
    select doc_id as id, min(line) as line, count(distinct query_id) as n
    from judgements group by doc_id;
create table lists as
    select query_id as id, min(line) as line, count(distinct doc_id) as n, max(relevance) as best
    from judgements group by query_id;
create table pairs as
    select query_id, doc_id, count(*) as n, count(distinct relevance) as grades,
           max(relevance) as relevance, list(line order by line)[2] as line
    from judgements group by query_id, doc_id
"""
_COUNTS = """
select count(*), (select count(*) from lists), (select count(*) from documents) from pairs
"""
_LEVELS = """
select relevance, count(*) from pairs group by relevance order by relevance
"""
_AGAIN = """
select sum(n - 1)::bigint, arg_min([query_id, doc_id], line), min(line) from pairs
where n > 1 and (grades > 1) = $different
"""
_SUBTOPICS = """
select count(*), count(distinct iteration), min(line) from judgements
"""
_SUBTOPIC_AGAIN = """
select [query_id, doc_id, iteration], max(line) from judgements
group by query_id, doc_id, iteration having count(distinct relevance) > 1 limit 1
"""
_HOPELESS = """
select count(*), arg_min(id, line), min(line) from lists where best <= 0
"""
_BELOW = """
select count(*), arg_min(relevance, line), min(line) from judgements where relevance < 0
"""
_SELF = """
select count(*), arg_min(query_id, line), min(line) from judgements where query_id = doc_id
"""


def judged(path: Path, table: pa.Table) -> Known:
    """Return the queries and pairs of a qrels file, with which its runs are compared. `table` is
    the result of `examine`."""
    pairs = table.group_by(["query_id", "doc_id"]).aggregate([("relevance", "max")])
    columns = [pairs[name].cast(pa.large_string()) for name in ("query_id", "doc_id")]
    names = pa.chunked_array([columns[0].unique()])
    judged = pa.table([*columns, pairs["relevance_max"]], ["query_id", "doc_id", "relevance"])
    return Known(path.name, names, drop_self=None, judged=judged)


def examine(
    path: Path,
    counts: dict[str, float],
    tally: Tally,
    against: Known | None,
    how: shapes.How,
    held: shapes.Held | None = None,
) -> pa.Table:
    """Count the content of a qrels file, report its faults, and compare it with a dataset if one is
    given. `held` is the file's content if it is in neither TREC's nor BEIR's format. Returns
    query_id, doc_id, relevance and line of the readable lines. Raises Missing or WrongInput for a
    file that cannot be read further."""
    file = str(path)
    table = _table(path, tally, against, how, held)
    if not table.num_rows:
        return table
    with scratch() as database:
        database.register("judgements", table)
        database.execute(_TABLES)
        names = ("judgements", "queries", "documents")
        counts |= dict(zip(names, database.sql(_COUNTS).fetchall()[0], strict=True))
        counts |= {f"relevance {level}": n for level, n in database.sql(_LEVELS).fetchall()}
        if qrels.has_subtopics(table):
            _by_subtopic(database, file, tally)
        else:
            _judged_again(database, file, tally)
        _remark(database, file, tally)
        for what, name in (("query", "lists"), ("document", "documents")):
            look_at(database, name)
            Ids(database, what, file).remark(tally)
        if against:
            hold_qrels(database, file, tally, against)
    return table.select(["query_id", "doc_id", "relevance", "line"])


def _table(
    path: Path, tally: Tally, against: Known | None, how: shapes.How, held: shapes.Held | None
) -> pa.Table:
    """Return the readable judgements of a file, with query ids, and report the faulty lines."""
    if held:
        table, told = held.as_judged(how)
        tally.remark("converted grades", told, Where(str(path)), "as said", int(bool(told)))
        return against.by_ids(table, path) if against else table
    form = qrels.form(path, how)
    if form.fault:
        tally.refuse("no header", form.fault, Where(str(path), form.skip + 1), form.remedy)
    if how.levels or how.rounded:
        return qrels.table_of(path, form, how)[0]
    return lines.survey(path, form.layout, tally, form.skip).table


def _by_subtopic(database: DuckDBPyConnection, file: str, tally: Tally) -> None:
    """Report judgements by subtopic, and refuse a pair with two grades for one subtopic."""
    count, n, line = database.sql(_SUBTOPICS).fetchall()[0]
    told, treatment = f"{n:,} in the second column", "kept; a pair gets its highest grade"
    tally.remark("judged by subtopic", told, Where(file, line), treatment, count)
    for (query, doc, subtopic), line in database.sql(_SUBTOPIC_AGAIN).fetchall():
        example = f"query {query!r}, subtopic {subtopic!r}, document {doc!r}"
        where = Where(file, line)
        tally.refuse("pair judged twice, differently", example, where, "keep one of the lines")


def _judged_again(database: DuckDBPyConnection, file: str, tally: Tally) -> None:
    """Refuse a pair that has two grades, and report pairs with the same grade twice."""
    count, pair, line = database.sql(_AGAIN, params={"different": True}).fetchall()[0]
    if count:
        example, where = f"query {pair[0]!r}, document {pair[1]!r}", Where(file, line)
        treatment = "keep one of the lines"
        tally.refuse("pair judged twice, differently", example, where, treatment)
    count, pair, line = database.sql(_AGAIN, params={"different": False}).fetchall()[0]
    if count:
        example, where = f"query {pair[0]!r}, document {pair[1]!r}", Where(file, line)
        tally.remark("pair judged again with the same grade", example, where, "counted once", count)


def _remark(database: DuckDBPyConnection, file: str, tally: Tally) -> None:
    """Report hopeless queries, negative grades, and documents named like their queries."""
    for query, what, shown, treatment in (
        (_HOPELESS, "query without relevant document", "query {!r}", "scores 0 on every measure"),
        (_BELOW, "relevance below 0", "{}", "judged, not relevant"),
        (_SELF, "document named like its query", "query {!r}", "kept"),
    ):
        count, first, line = database.sql(query).fetchall()[0]
        tally.remark(what, shown.format(first), Where(file, line or 0), treatment, count)
