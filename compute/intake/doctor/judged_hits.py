"""Checks that a run's top documents are judged; if not, searches for ids spelled differently."""

from array import array
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from compute.base.scratch_database import scratch
from compute.intake.doctor.ids import Ids, normal
from compute.intake.doctor.report import Tally, Where

UNJUDGED = "top 10 without judgements"
NEARLY_NONE = 0.005
"""Share of judged hits below which the judgements probably do not belong to the run."""
EXCHANGED = "the judgements' queries are documents of the run: exchange the columns of the qrels"
RUN_EXCHANGED = "the run's queries are judged documents: exchange its first and third columns"

_COUNTS = """
select count(*), count(judged.query_id)
from (select distinct query_id, doc_id from top) as top
left join judged using (query_id, doc_id)
where top.query_id in (select query_id from judged)
"""
_PLACEHOLDERS = """
select coalesce(max(relevance), 0) <= 0
       or count(distinct doc_id) = 1 and count(distinct query_id) > 1 from judged
"""
_OTHER = "wrong dataset, or another spelling of ids?"
_BEGINS = (
    "the judgements are placeholders (none above 0, or one document for all queries): judge some"
    " documents."
)
_EXCHANGED = """
select count(*), (select count(distinct query_id) > count(distinct doc_id) from hits) from hits
join judged on hits.query_id = judged.doc_id and hits.doc_id = judged.query_id
"""
_IDS = """
create view ids as select doc_id as id, 0 as line from top group by doc_id;
create view known as select distinct doc_id as id from judged
"""
_BY_CHANCE = 0.01
"""Share of unjudged documents whose ids may resemble a judged id by chance."""


def remark_judged(
    top: pa.Table, judged: pa.Table, where: Where, tally: Tally, *, corpus: bool
) -> None:
    """Report if none, or almost none, of the hits of judged queries are judged. Unless there is a
    `corpus` of known documents, also report documents that are judged under another spelling. `top`
    has query_id, doc_id of the first 10 ranks; `judged` has each judged pair once, as large
    strings, with its relevance."""
    with scratch() as database:
        database.register("top", top)
        database.register("judged", judged)
        n, found = database.sql(_COUNTS).fetchall()[0]
        database.execute(_IDS)
        ids = Ids(database, "document", where.file)
        if not n or found >= NEARLY_NONE * n:
            if not corpus:
                ids.remark_written_otherwise(tally, "the judgements", _BY_CHANCE)
            return
        (begins,) = database.sql(_PLACEHOLDERS).fetchall()[0]
        alike = None if begins else ids.written_otherwise("the judgements")
        hint = "" if begins else _exchanged(database, top) or (alike[1] if alike else "")
    tally.remark(
        UNJUDGED,
        f"{found:,} of {n:,} top-10 hits are judged" + f"; {hint}" * bool(hint),
        where,
        f"{_BEGINS if begins else _OTHER} Unjudged counts as not relevant",
        n - found,
    )


def exchanged(hits: pa.Table, judged: pa.Table) -> str:
    """If swapping query and document makes hits judged, return which columns to exchange (the
    run's, if it has more queries than documents); otherwise ''."""
    with scratch() as database:
        database.register("judged", judged)
        return _exchanged(database, hits)


def _exchanged(database: DuckDBPyConnection, hits: pa.Table) -> str:
    database.register("hits", hits)
    found, run = database.sql(_EXCHANGED).fetchall()[0]
    return (RUN_EXCHANGED if run else EXCHANGED) if found else ""


def folded(name: str) -> str:
    """Return a form that is equal for ids that differ only in case or Unicode's normal form."""
    return normal(normal(name).casefold())


class Twins:
    """Finds ids that differ only in case or Unicode's normal form, in eight bytes per id."""

    WHAT = "document ids that differ only in case or Unicode's normal form"

    def __init__(self) -> None:
        self._seen = array("q")

    def see(self, name: str) -> None:
        """Add one id."""
        if not (name.isascii() and name.isdecimal()):  # numbers have no case
            self._seen.append(hash(folded(name)))

    def among(self, names: Callable[[], Iterable[str]]) -> list[tuple[str, str]]:
        """Return the pairs, once all ids were seen; `names` yields the ids again if necessary."""
        seen = np.sort(np.frombuffer(self._seen, np.int64))
        again = set(seen[1:][seen[1:] == seen[:-1]].tolist())
        first: dict[str, str] = {}
        found = []
        for name in names() if again else ():
            if hash(folded(name)) in again and first.setdefault(folded(name), name) != name:
                found.append((first[folded(name)], name))
        return found

    @staticmethod
    def told(pairs: Sequence[tuple[str, str]]) -> str:
        """Return the first pair as text, with codes for letters that look the same."""
        one, other = pairs[0]
        if normal(one) == normal(other):
            return f"{one!a} and {other!a}"
        return f"{one!r} and {other!r}"
