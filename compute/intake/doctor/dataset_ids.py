"""Comparison of runs and qrels with the ids of their dataset."""

import pyarrow as pa
from duckdb import DuckDBPyConnection

from compute.base.words import counted
from compute.intake import by_text
from compute.intake.doctor.ids import Ids, look_at
from compute.intake.doctor.judged_hits import exchanged, remark_judged
from compute.intake.doctor.known import Known
from compute.intake.doctor.report import Tally, Where

_UNKNOWN = """
select count(*), coalesce(sum(n), 0)::bigint, arg_min(id, line), min(line),
       (select count(*) from ids)
from ids where id not in (select id from known)
"""
_MISSING = """
select count(*), arg_min(id, place) from (select id, row_number() over () as place from known)
where id not in (select id from ids)
"""
_LONGEST = """
select max(n) from lists
"""
_DEEP = """
select coalesce(sum(n - $depth), 0)::bigint, arg_min(id, line), min(line)
from (
    select query_id as id, count(distinct doc_id) as n, min(line) as line from hits
    where query_id in (select id from known) and not ($drop_self and query_id = doc_id)
    group by query_id)
where n > $depth
"""
_ASKED = """
create or replace view asked as
    select doc_id as id, min(line) as line, count(*) as n from hits
    where query_id in (select id from queries) group by doc_id
"""
# The scores are compared in 32 bits, as in rankings.
_TOP = """
select query_id::varchar as query_id, doc_id from (
    select query_id, doc_id, max(try_cast(score as float)) as score from hits
    where query_id in (select query_id from judged) and not ($drop_self and query_id = doc_id)
    group by query_id, doc_id)
qualify row_number() over (partition by query_id order by score desc, doc_id desc) <= 10
"""
_PAIRS = "select distinct query_id::varchar as query_id, doc_id from hits"
_FIRST = "select id from ids limit 1000"
UNKNOWN = "unknown document"
CHUNKS = "chunks of documents"
_ANOTHER = "is it for another dataset? choose that one"


def hold_run(database: DuckDBPyConnection, file: str, tally: Tally, against: Known) -> None:
    """Report ids of a run that the dataset lacks, queries of the dataset that the run lacks, hits
    below the dataset's depth, and a top 10 with almost no judged documents; only the queries if the
    run has none of them. The database has the tables `hits(query_id, doc_id, score, line)`,
    `lists(id, line, n)` and `documents(id, line, n)` of the run."""
    unknown = _hold_queries(database, file, tally, against)
    if unknown is None:
        return
    (longest,) = database.sql(_LONGEST).fetchall()[0]
    if longest > against.depth:
        asked = {"depth": against.depth, "drop_self": bool(against.drop_self)}
        count, first, line = database.sql(_DEEP, params=asked).fetchall()[0]
        what = f"hit below rank {against.depth:,}"
        tally.remark(what, f"query {first!r}", Where(file, line or 0), "left out", count)
    if against.doc_ids is not None:
        database.register("queries", pa.table({"id": against.query_ids}))
        if unknown:  # an import ignores the documents of unknown queries
            database.execute(_ASKED)
        _hold_documents(database, "asked" if unknown else "documents", file, tally, against)
    if against.judged is not None:
        database.register("judged", against.judged)
        top = database.sql(_TOP, params={"drop_self": bool(against.drop_self)}).to_arrow_table()
        corpus = against.doc_ids is not None
        remark_judged(top, against.judged, Where(file), tally, corpus=corpus)


def hold_qrels(database: DuckDBPyConnection, file: str, tally: Tally, against: Known) -> None:
    """Do the same as `hold_run` for qrels, whose judgements of unknown queries and documents are
    kept. Judgements are counted as an import counts them."""
    _views(database, "lists", against.query_ids)
    count, pairs, first, line, _ = database.sql(_UNKNOWN).fetchall()[0]
    example = f"query {first!r}; {count:,} such in all"
    what, treatment = "judgement of an unknown query", "kept, but does not count"
    tally.remark(what, example, Where(file, line or 0), treatment, pairs)
    Ids(database, "query", file).remark_written_otherwise(tally, against.dataset)
    if against.doc_ids is not None:
        _views(database, "documents", against.doc_ids)
        count, pairs, first, line, _ = database.sql(_UNKNOWN).fetchall()[0]
        example = f"document {first!r}; {count:,} such in all"
        what, treatment = "judgement of a document not in the corpus", "kept, as judged"
        tally.remark(what, example, Where(file, line or 0), treatment, pairs)
        Ids(database, "document", file).remark_written_otherwise(tally, against.dataset)


def _hold_queries(
    database: DuckDBPyConnection, file: str, tally: Tally, against: Known
) -> int | None:
    """Report unknown and missing queries; return how many are unknown, or None for all."""
    _views(database, "lists", against.query_ids)
    count, hits, first, line, whole = database.sql(_UNKNOWN).fetchall()[0]
    where = Where(file, line or 0)
    Ids(database, "query", file).remark_written_otherwise(tally, against.dataset)
    if count == whole:
        example = f"none of its {counted(whole, 'query id')} is a query of {against.dataset}"
        pairs = database.sql(_PAIRS).to_arrow_table()
        hint = exchanged(pairs, against.judged) if against.judged is not None else ""
        example += f", as {first!r}"
        tally.refuse("run on another dataset", example, where, hint or _ANOTHER)
        return None
    example = f"query {first!r}; {counted(hits, 'hit')} in all"
    tally.remark("unknown query", example, where, "its hits are left out", count)
    missing, example = database.sql(_MISSING).fetchall()[0]
    name, treatment = f"query {example!r} of {against.dataset}", "it scores 0"
    tally.remark("missing query", name, Where(file), treatment, missing)
    return count


def _hold_documents(
    database: DuckDBPyConnection, table: str, file: str, tally: Tally, against: Known
) -> None:
    """Report the documents that are not in the corpus, or why all are unknown."""
    _views(database, table, against.doc_ids)
    count, _, first, line, whole = database.sql(_UNKNOWN).fetchall()[0]
    if count < whole:
        remark_documents(database, file, tally, against.dataset)
        return
    assert against.doc_ids is not None
    ids = database.sql(_FIRST).to_arrow_table()["id"].combine_chunks().cast(pa.string())
    if of := by_text.of_known(ids, against.doc_ids):
        example = f"{of[0]!r} of {of[1]!r}"
        tally.refuse(CHUNKS, example, Where(file, line or 0), "fold them to documents (--fold)")
        return
    Ids(database, "document", file).remark_written_otherwise(tally, against.dataset)
    example = f"none of its {counted(whole, 'document')} is in {against.dataset}, as {first!r}"
    tally.refuse("run on another dataset", example, Where(file, line or 0), _ANOTHER)


def remark_documents(database: DuckDBPyConnection, file: str, tally: Tally, dataset: str) -> None:
    """Report documents in the table `ids(id, line, n)` that are not in `known(id)`."""
    Ids(database, "document", file).remark_written_otherwise(tally, dataset)
    count, hits, first, line, _ = database.sql(_UNKNOWN).fetchall()[0]
    example = f"{counted(count, 'document')}, as {first!r}; {counted(hits, 'hit')} in all"
    tally.remark(UNKNOWN, example, Where(file, line or 0), "kept, as unjudged", count)


def _views(database: DuckDBPyConnection, table: str, known: pa.ChunkedArray | None) -> None:
    """Create the views `ids` and `known` for one of the tables lists, documents and asked."""
    look_at(database, table)
    database.register("known", pa.table({"id": known}))
