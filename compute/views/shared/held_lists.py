"""Ranked lists joined with judgements, cached for further questions about the same lists, because
reading 10,000 queries takes far longer than answering. All sections of the Holes page use them."""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from compute.base.bounded_cache import Kept
from compute.evaluate import holes
from compute.reading import one_kind, top_ranks
from compute.views.shared.part_files import files

MOST_BYTES = 150_000_000
"""Memory for cached lists; the most recently used lists stay even if they are larger."""

OFFICIAL, ADDED, ALL = "official", "added", "all"
"""Which judgements are read: published, added, or both."""

_RANKED = """
select list_position($systems, system) - 1 as system, query_id, doc_id, rank
from read_parquet($files) where rank <= $k
"""
_CLOSED = """
with closed as (
    select system, query_id, doc_id,
           row_number() over (partition by system, query_id order by rank) as place
    from read_parquet($files) semi join counted using (query_id, doc_id)
)
select list_position($systems, system) - 1 as system, query_id, doc_id, place as rank
from closed where place <= $k
"""
_OFFICIAL = "select query_id, doc_id, relevance from read_parquet($files)"
_OF_SET = "select query_id, doc_id, relevance from judgements where dataset = $dataset"
_LABELS = "select query_id, doc_id, relevance from added.labels where dataset = $dataset"
_IDS = """
select list(id order by id) from parts
where dataset = $dataset and (
    kind = 'judgements' or (kind in ('top', 'hits') and system in (select unnest($systems)))
)
"""
_DIGEST_OF_SET = """
select 'set', count(*), bit_xor(hash(query_id, doc_id, relevance)),
       sum(hash(query_id, doc_id, relevance)::hugeint)
from judgements where dataset = $dataset
"""
_DIGEST = """
select count(*), bit_xor(hash(query_id, doc_id, relevance)),
       sum(hash(query_id, doc_id, relevance)::hugeint)
from added.labels where dataset = $dataset
"""


def _size(lists: holes.Lists) -> int:
    return lists.document.nbytes + lists.gain.nbytes + lists.known.nbytes


_KEPT = Kept(MOST_BYTES, _size)


def held(
    cursor: DuckDBPyConnection,
    dataset: str,
    systems: Sequence[str],
    k: int,
    *,
    closed: bool = False,
    official: bool = False,
) -> holes.Lists:
    """Return the first k ranks of each system joined with the judgements that count for the cursor.
    `closed`: from condensed lists, without unjudged documents. `official`: joined only with
    published judgements. The lists cover the queries that the cursor reads, but judged documents
    and existing grades are those of all queries."""
    names = sorted(set(systems))
    counts = () if official else added(cursor, dataset)
    told = () if official else digest(cursor, dataset)
    key = (dataset, tuple(names), k, ids(cursor, dataset, names), told)

    def read() -> holes.Lists:
        top = (_closed if closed else _top)(cursor, dataset, names, k)
        counted = judged(cursor, dataset, ALL if counts else OFFICIAL)
        return holes.arranged(top, counted, k, names)

    # Condensed lists, which only one section uses, would displace the others in the cache.
    found = read() if closed else _KEPT.of(key, read)
    found, queries = found.of(systems), one_kind.narrowed(cursor, dataset)
    if queries is None:
        return found
    own = one_kind.among(pa.array(found.queries, pa.string()), queries)
    return found.asked(np.flatnonzero(own.to_numpy(zero_copy_only=False)))


def judged(cursor: DuckDBPyConnection, dataset: str, which: str = ALL) -> pa.Table:
    """Return query_id, doc_id, relevance of the dataset's judgements that count for the cursor."""
    if set_of(cursor):
        own = cursor.sql(_OF_SET, params={"dataset": dataset}).to_arrow_table()
        return own.cast(holes.JUDGED) if which != ADDED else holes.JUDGED.empty_table()
    found = []
    official = files(cursor, "judgements", dataset, [""])
    if official and which != ADDED:
        found.append(cursor.sql(_OFFICIAL, params={"files": official}).to_arrow_table())
    if which != OFFICIAL and counts_added(cursor):
        found.append(cursor.sql(_LABELS, params={"dataset": dataset}).to_arrow_table())
    tables = [table.cast(holes.JUDGED) for table in found]
    return pa.concat_tables([holes.JUDGED.empty_table(), *tables])


@contextmanager
def counted(cursor: DuckDBPyConnection, dataset: str) -> Iterator[None]:
    """For a with-block, register the dataset's judgements as the cursor's table `counted`."""
    cursor.register("counted", judged(cursor, dataset))
    try:
        yield
    finally:
        cursor.unregister("counted")


def _top(cursor: DuckDBPyConnection, dataset: str, systems: list[str], k: int) -> pa.Table:
    """Return system, query_id, doc_id, rank of the first k hits."""
    if k <= top_ranks.DEPTH:
        return top_ranks.of_systems(cursor, dataset, systems, k)
    found = files(cursor, "hits", dataset, systems)
    if not found:
        return holes.TOP.empty_table()
    ranked = cursor.sql(_RANKED, params={"files": found, "systems": systems, "k": k})
    return ranked.to_arrow_table().cast(holes.TOP)


def _closed(cursor: DuckDBPyConnection, dataset: str, systems: list[str], k: int) -> pa.Table:
    """Return system, query_id, doc_id, rank of judged hits, ranked without the unjudged ones."""
    found = files(cursor, "hits", dataset, systems)
    if not found:
        return holes.TOP.empty_table()
    with counted(cursor, dataset):
        ranked = cursor.sql(_CLOSED, params={"files": found, "systems": systems, "k": k})
        return ranked.to_arrow_table().cast(holes.TOP)


def ids(cursor: DuckDBPyConnection, dataset: str, systems: list[str]) -> tuple[str, ...]:
    """Return the ids of the parts behind the lists, which identify their content."""
    (found,) = cursor.execute(_IDS, {"dataset": dataset, "systems": systems}).fetchall()[0]
    return tuple(found or ())


def digest(cursor: DuckDBPyConnection, dataset: str) -> tuple[Hashable, ...]:
    """Return a digest of the non-official judgements that count, or ()."""
    if not set_of(cursor):
        return added(cursor, dataset)
    (found,) = cursor.execute(_DIGEST_OF_SET, {"dataset": dataset}).fetchall()
    return found


def added(cursor: DuckDBPyConnection, dataset: str) -> tuple[Hashable, ...]:
    """Return a digest of the added judgements that count, or (); each new one changes it."""
    if not counts_added(cursor):
        return ()
    (found,) = cursor.execute(_DIGEST, {"dataset": dataset}).fetchall()
    return found if found[0] else ()


def set_of(cursor: DuckDBPyConnection) -> str | None:
    """Return the name of the cursor's judgement set; None unless it reads one set only."""
    ((name,),) = cursor.execute("select getvariable('judgement_set')").fetchall()
    return name


def counts_added(cursor: DuckDBPyConnection) -> bool:
    """Return true if added judgements count for the cursor, which is then an overlay's."""
    ((overlay,),) = cursor.execute("select getvariable('overlay')").fetchall()
    return overlay is not None
