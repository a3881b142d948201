"""Numbers of unjudged documents of each query, in the pool and in the corpus. The pool is the lists
of all stored runs on the dataset, at stored depth."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base.bounded_cache import Kept
from compute.evaluate import holes
from compute.evaluate.top_lists import Numbers
from compute.reading.questions import select
from compute.views.shared.held_lists import added, counted, digest, ids

UNKNOWN = 2**40
"""Number used for an unknown corpus size, larger than any corpus."""
_AT_ONCE = 5_000_000
"""Most hits whose documents are deduplicated at once, to limit memory."""
_MOST_KEPT = 50

_RANGES = """
with runs as (
    select system, rows, coalesce(provenance->>'$.cut', provenance->>'$.depth')::bigint as depth
    from parts where kind = 'hits' and dataset = $dataset
), corpus as (
    select max(rows) as n from parts
    where kind in ('documents', 'lengths')
      and dataset = (select collection from datasets where name = $dataset)
), strange as (
    select max((provenance->>'$.judgements_of_unknown_documents')::bigint) as n from parts
    where kind = 'queries' and dataset = $dataset
)
select (select coalesce(list(system order by system), []) from runs) as systems,
       (select min(depth) from runs) as least_depth, (select max(depth) from runs) as most_depth,
       (select coalesce(sum(rows), 0)::bigint from runs) as n_hits,
       (select nullif(n, 0) from corpus) as n_documents,
       (select coalesce(n, 0) from strange) as n_strange
"""
_FILES = "select path from parts where kind = 'hits' and dataset = $dataset order by rows desc, id"
_LENGTHS = "select query_id, count(*) as n from read_parquet($files) group by query_id"
_CORPUS = """
select path from parts
where kind in ('documents', 'lengths') and rows > 0
  and dataset = (select collection from datasets where name = $dataset)
order by kind desc
"""
_STRANGE = """
with inside as (
    select doc_id from read_parquet($corpus)
    where doc_id in (select doc_id from added.labels where dataset = $dataset)
)
select query_id, count(*) as n from added.labels anti join inside using (doc_id)
where dataset = $dataset group by query_id
"""
_POOL = """
with pool as (
    select distinct query_id, doc_id from read_parquet($files)
    where query_id between $first and $last
      and query_id in (select unnest($queries))
)
select query_id, count(*) as n from pool anti join counted using (query_id, doc_id)
group by query_id
"""

_KEPT: Kept[Numbers | None] = Kept(_MOST_KEPT, lambda _: 1)


@select(datasets=("dataset",))
def ranges(dataset: str) -> str:
    """Select the basis of the wider ranges of a score in one row: systems (names of the stored
    runs), least_depth and most_depth (stored), n_hits, n_documents of the corpus (null if unknown),
    n_strange (judgements of documents outside the corpus)."""
    return _RANGES


def outside(
    cursor: DuckDBPyConnection,
    dataset: str,
    lists: holes.Lists,
    measure: str,
    most_hits: int | None = None,
) -> holes.Outside:
    """Return for each range the number of unjudged documents of each query of `lists`, in the form
    that `holes.means` takes. A number too large to matter may be replaced by a smaller one.
    `most_hits`: leave out the pool if more hits than this would need deduplication."""
    gain, k = holes.formula(measure)
    room = gain.enough(k)
    if room == 0:
        return dict.fromkeys((holes.POOL, holes.COLLECTION), np.zeros(len(lists.queries), np.int64))
    # Two lists have at most 2k unjudged documents, besides those that fill an ideal order.
    wanted = None if room is None else room + 2 * k
    (about,) = ranges(cursor, dataset).to_dict("records")
    pool = _pool(cursor, dataset, lists, wanted, about, most_hits)
    size = UNKNOWN
    if pd.notna(about["n_documents"]):
        size = int(about["n_documents"]) + int(about["n_strange"])
    # Judged documents are in the corpus, except those known to be outside it.
    rest = size - lists.n_judged + _strange(cursor, dataset, lists.queries)
    rest = np.maximum(rest, 0 if pool is None else pool)
    return ({} if pool is None else {holes.POOL: pool}) | {holes.COLLECTION: rest}


def _pool(
    cursor: DuckDBPyConnection,
    dataset: str,
    lists: holes.Lists,
    wanted: int | None,
    about: Mapping[Hashable, Any],
    most_hits: int | None,
) -> Numbers | None:
    """Return each query's number of unjudged documents in the pool; None if it is too large."""
    names = ids(cursor, dataset, about["systems"])
    key = (dataset, lists.queries, wanted, names, digest(cursor, dataset), most_hits)

    def count() -> Numbers | None:
        files = [path for (path,) in cursor.execute(_FILES, {"dataset": dataset}).fetchall()]
        found, left = np.zeros(len(lists.queries), np.int64), np.arange(len(lists.queries))
        if wanted is not None and files:
            # Most lists have enough unjudged documents and need no deduplication.
            longest = cursor.execute(_LENGTHS, {"files": files[:1]}).df()
            found = (_in_order(longest, lists.queries) - lists.n_judged).clip(0)
            left = np.flatnonzero(found < wanted)
        n_hits = int(about["n_hits"]) * len(left) // max(len(lists.queries), 1)
        if most_hits is not None and n_hits > most_hits:
            return None
        asked = [lists.queries[place] for place in left]
        found[left] = _told_apart(cursor, dataset, files, asked, n_hits)
        return found

    return _KEPT.of(key, count)


def _told_apart(
    cursor: DuckDBPyConnection, dataset: str, files: list[str], asked: list[str], n_hits: int
) -> Numbers:
    """Count the distinct unjudged documents in the files for each of the queries, in order."""
    found = [np.zeros(0, np.int64)]
    size = max(len(asked) // (n_hits // _AT_ONCE + 1), 1)
    with counted(cursor, dataset):
        for start in range(0, len(asked) if files else 0, size):
            some = asked[start : start + size]
            named = {"files": files, "queries": some, "first": min(some), "last": max(some)}
            found.append(_in_order(cursor.execute(_POOL, named).df(), some))
    return np.concatenate(found) if files else np.zeros(len(asked), np.int64)


def _strange(cursor: DuckDBPyConnection, dataset: str, queries: Sequence[str]) -> Numbers:
    """Count each query's added judgements of documents outside the corpus."""
    named = {"dataset": dataset}
    corpus = cursor.execute(_CORPUS, named).fetchall()
    if not corpus or not added(cursor, dataset):
        return np.zeros(len(queries), np.int64)
    found = cursor.execute(_STRANGE, {**named, "corpus": corpus[0][0]}).df()
    return _in_order(found, queries)


def _in_order(counts: DataFrame, queries: Sequence[str]) -> Numbers:
    """Return the counts (query_id, n) in the order of the queries; 0 where absent."""
    n = counts.set_index("query_id")["n"].reindex(list(queries), fill_value=0)
    return n.to_numpy(np.int64)
