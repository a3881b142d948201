"""Whether a run's first ranks are judged at all; if not, which ids are the same but for writing."""

import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from compute.base.scratch_database import scratch
from compute.intake.doctor.report import Tally, Where

UNJUDGED = "top 10 without judgements"
NEARLY_NONE = 0.005
"""A share of judged hits below which the judgements are hardly meant for the run."""
EXCHANGED = "the judgements' queries are documents of the run: exchange the columns of the qrels"

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
_OTHER = "wrong dataset, or ids written otherwise?"
_BEGINS = (
    "the judgements are placeholders (none above 0, or one document for all queries): judge some"
    " documents."
)
_EXCHANGED = """
select count(*) from hits
join judged on hits.query_id = judged.doc_id and hits.doc_id = judged.query_id
"""
_IDS = "select distinct doc_id from top where doc_id not in (select doc_id from judged)"
_JUDGED = "select distinct doc_id from judged"


def remark_judged(top: pa.Table, judged: pa.Table, where: Where, tally: Tally) -> None:
    """Tell where none, or nearly none, of the hits of judged queries is judged.

    `top` has query_id, doc_id of the first 10 ranks, `judged` those of the judgements, a pair
    once, both as large strings, and its relevance.
    """
    with scratch() as database:
        database.register("top", top)
        database.register("judged", judged)
        n, found = database.sql(_COUNTS).fetchall()[0]
        if not n or found >= NEARLY_NONE * n:
            return
        (begins,) = database.sql(_PLACEHOLDERS).fetchall()[0]
        hint = "" if begins else _exchanged(database, top) or _alike(database)
    tally.remark(
        UNJUDGED,
        f"{found:,} of {n:,} top-10 hits are judged" + f"; {hint}" * bool(hint),
        where,
        f"{_BEGINS if begins else _OTHER} Unjudged counts as not relevant",
        n - found,
    )


def exchanged(hits: pa.Table, judged: pa.Table) -> str:
    """EXCHANGED where hits are judged once query and document change places, else empty."""
    with scratch() as database:
        database.register("judged", judged)
        return _exchanged(database, hits)


def _exchanged(database: DuckDBPyConnection, hits: pa.Table) -> str:
    database.register("hits", hits)
    (found,) = database.sql(_EXCHANGED).fetchall()[0]
    return EXCHANGED if found else ""


def _alike(database: DuckDBPyConnection) -> str:
    own, theirs = (
        sorted(name for (name,) in database.sql(query).fetchall()) for query in (_IDS, _JUDGED)
    )
    for words, bare in _WAYS:
        known = {bare(name): name for name in reversed(theirs)}
        for name in own:
            if bare(name) in known:
                said = repr if bare is not _normal else ascii  # which look the same
                mine, other = said(name), said(known[bare(name)])
                return f"document {mine} is {other} in the judgements, {words}"
    return ""


def _normal(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def folded(name: str) -> str:
    """The same for ids that only case or Unicode's normal form tells apart."""
    return _normal(_normal(name).casefold())


def _without_prefix(name: str) -> str:
    """The number that an id ends in, else what stands behind its last / : # or |."""
    number = re.search("[0-9]+$", name)
    return number[0].lstrip("0") if number else folded(re.split("[/:#|]", name)[-1])


_WAYS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("in another normal form of Unicode", _normal),
    ("in other letters, small or capital", folded),
    ("but for zeros before it", lambda name: name.lstrip("0")),
    ("but for what stands before it", _without_prefix),
)


class Twins:
    """Finds ids that only case or Unicode's normal form tells apart, in little memory."""

    WHAT = "document ids that only case or Unicode's normal form tells apart"

    def __init__(self) -> None:
        self._seen = array("q")

    def see(self, name: str) -> None:
        """Count one id in."""
        if not (name.isascii() and name.isdecimal()):  # numbers have no case
            self._seen.append(hash(folded(name)))

    def among(self, names: Callable[[], Iterable[str]]) -> list[tuple[str, str]]:
        """The pairs, once all ids were seen; `names` gives them again, and only if there are."""
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
        """The first pair, its letters by their codes where they look the same."""
        one, other = pairs[0]
        if _normal(one) == _normal(other):
            return f"{one!a} and {other!a}"
        return f"{one!r} and {other!r}"
