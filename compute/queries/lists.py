"""Ranked lists held against judgements, kept for the next question about the same lists.

The sections of the page Holes ask the same lists for intervals, for pairs of systems, for ranks
and for the pool: reading and arranging 10,000 queries takes far longer than any answer.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence

from duckdb import DuckDBPyConnection

from compute import holes

MOST_BYTES = 150_000_000
"""What is kept at most; the lists that were asked for last stay in any case."""

JUDGEMENTS = "select query_id, doc_id, relevance from judgements where dataset = $dataset"
OFFICIAL = "select query_id, doc_id, relevance from main.judgements where dataset = $dataset"
_TOP = """
select system, query_id, doc_id, rank from top
where dataset = $dataset and rank <= $k and system in (select unnest($systems))
"""
_DEEP = """
select system, query_id, doc_id, rank from hits
where dataset = $dataset and rank <= $k and system in (select unnest($systems))
"""
_FILES = """
select list(id order by id) from parts
where dataset = $dataset and (
    kind = 'judgements' or (kind in ('top', 'hits') and system in (select unnest($systems)))
)
"""
# What counts of the added judgements changes with each of them, and has no name.
_DIGEST = """
select count(*), bit_xor(hash(query_id, doc_id, relevance)),
       sum(hash(query_id, doc_id, relevance)::hugeint)
from judgements where dataset = $dataset
"""


class _Kept:
    """Lists by what they were made from, the ones used last at the end; for any thread."""

    def __init__(self) -> None:
        self._lists: OrderedDict[Hashable, holes.Lists] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> holes.Lists | None:
        with self._lock:
            if key in self._lists:
                self._lists.move_to_end(key)
            return self._lists.get(key)

    def put(self, key: Hashable, lists: holes.Lists) -> None:
        with self._lock:
            self._lists[key] = lists
            while len(self._lists) > 1 and sum(map(_size, self._lists.values())) > MOST_BYTES:
                self._lists.popitem(last=False)


_KEPT = _Kept()


def _size(lists: holes.Lists) -> int:
    return lists.document.nbytes + lists.gain.nbytes + lists.known.nbytes


def held(
    cursor: DuckDBPyConnection,
    dataset: str,
    systems: Sequence[str],
    k: int,
    *,
    top: str = "",
    judgements: str = JUDGEMENTS,
) -> holes.Lists:
    """The first k ranks of systems, in their order, as the cursor's judgements see them.

    `top` and `judgements` are SELECTs to read others than all lists and all judgements.
    """
    # The extract holds ten ranks and is read many times faster.
    top = top or (_TOP if k <= 10 else _DEEP)
    names = sorted(set(systems))
    key = (dataset, tuple(names), k, top, judgements, *_state(cursor, dataset, names))
    lists = _KEPT.get(key)
    if lists is None:
        asked = {"dataset": dataset, "systems": names, "k": k}
        hits = cursor.execute(top, asked).df()
        judged = cursor.execute(judgements, {"dataset": dataset}).df()
        lists = holes.arrange(hits, judged, k, names)
        _KEPT.put(key, lists)
    return lists.of(systems)


def _state(cursor: DuckDBPyConnection, dataset: str, systems: list[str]) -> tuple[Hashable, ...]:
    """What lists rest on: files, which never change, and what is judged."""
    (files,) = cursor.execute(_FILES, {"dataset": dataset, "systems": systems}).fetchall()[0]
    return (tuple(files or ()), *cursor.execute(_DIGEST, {"dataset": dataset}).fetchall())
