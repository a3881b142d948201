"""Orders in which the unjudged pairs in the systems' top k are judged. An order is a pure function
of the ranked lists and the existing judgements. It is computed when a task is made; an order that
learns from judgements (`ADAPTIVE`) is worth recomputing for the remaining pairs.
`tests/benchmarks/orders.py` compares the orders by simulated judging."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.evaluate.estimates.frames import Frame, of_lists

CUT = 10
"""Cut-off of nDCG in `impact`, as on the leaderboard."""
_MANY = 6  # numbers of systems from this one on are one group
_RANKS = (1, 2, 3, 5, 10, 1_000_000)  # last rank of each group of best ranks
_ROWS = 10_000  # pairs whose differences are computed at a time

Values = NDArray[np.float64]
Counts = NDArray[np.int64]
_PAIR = ["query_id", "doc_id"]


def pool(tops: DataFrame, judgements: DataFrame, depth: int) -> DataFrame:
    """Return the unjudged pairs in any system's top `depth`, by id: query_id, doc_id."""
    pairs = tops.loc[tops["rank"] <= depth, ["query_id", "doc_id"]].drop_duplicates()
    judged = judgements[["query_id", "doc_id"]].drop_duplicates()
    found = pairs.merge(judged, on=["query_id", "doc_id"], how="left", indicator=True)
    holes = found.loc[found["_merge"] == "left_only", ["query_id", "doc_id"]]
    return holes.sort_values(["query_id", "doc_id"], ignore_index=True)


@dataclass(frozen=True)
class RankedPairs:
    """The top k of every system joined with the judgements, for all queries or a block of
    consecutive ones. Unlike `evaluate.top_lists.Lists`, it is sparse, since lists have up to 1,000
    ranks and are streamed in blocks. Arrays have a row for each pair that is in a top k or judged,
    ordered by ids."""

    query_ids: pa.Array
    """The sorted ids of the queries."""
    doc_ids: pa.Array
    """The sorted ids of the documents."""
    first: int
    """The number of the first query."""
    query: Counts
    """Number of each row's query; the first one has the number `first`."""
    document: Counts
    """Position of each row's document in `doc_ids`."""
    rank: NDArray[np.int32]
    """(rows, systems) Rank from 1; 0 if the system's top k lacks the document."""
    gain: Values
    """Relevance, at least 0; NaN if unjudged."""

    @property
    def holes(self) -> Counts:
        """Return the rows of unjudged pairs."""
        return np.flatnonzero(np.isnan(self.gain))

    @property
    def pairs(self) -> DataFrame:
        """Return query_id and doc_id of every row."""
        return _frame(*self.ids(np.arange(len(self.query))))

    def ids(self, rows: Counts) -> tuple[pa.Array, pa.Array]:
        """Return the ids of the queries and documents of some rows."""
        asked = self.query_ids.take(pa.array(self.query[rows] - self.first))
        return asked, self.doc_ids.take(pa.array(self.document[rows]))


Blocks = Callable[[], Iterator[RankedPairs]]
"""A function that yields all lists, in blocks of queries ordered by id, at every call."""


class Tops(Protocol):
    """A source of ranked lists: a frame, or the store."""

    def blocks(self, judgements: DataFrame, systems: Sequence[str], depth: int) -> Blocks:
        """Join the systems' top `depth` with the judgements (query_id, doc_id, relevance)."""
        ...

    def frame(self, systems: Sequence[str], depth: int) -> Frame:
        """Return the sampling frame of the systems' top `depth`, over the evaluated queries."""
        ...


@dataclass(frozen=True)
class Framed:
    """Lists that are in memory: system, query_id, doc_id, rank."""

    tops: DataFrame

    def blocks(self, judgements: DataFrame, systems: Sequence[str], depth: int) -> Blocks:
        """Return all queries as a single block."""
        found = lists(self.tops[self.tops["system"].isin(systems)], judgements, depth)
        return lambda: iter([found])

    def frame(self, systems: Sequence[str], depth: int) -> Frame:
        """Return the sampling frame over all queries of the lists."""
        tops = self.tops[self.tops["system"].isin(systems)]
        return of_lists(tops, sorted(self.tops["query_id"].unique()), depth)


Keys = Callable[[RankedPairs], tuple[NDArray[Any], ...]]
"""A function that returns sort keys of the unjudged pairs of a block, as for `numpy.lexsort`: the
primary key is the last one. Ties are broken by id."""
Order = Callable[[Blocks, int, int], Keys]
"""A function (blocks, depth, seed) -> keys. The columns of systems are ordered by name."""


def first(name: str, blocks: Blocks, depth: int, seed: int, most: int | None = None) -> DataFrame:
    """Return the pairs to judge first (`most` of them, or all): query_id, doc_id, place (from 1).
    Only one block and the result are in memory. The row order of the blocks' source does not
    matter. Raises WrongInput for an unknown order."""
    keys = order(name)(blocks, depth, seed)
    front: _Front | None = None
    for found in blocks():
        rows = found.holes
        new = _Front(keys(found), *found.ids(rows)).cut(most)
        front = new if front is None else front.before(new).cut(most)
    nothing = DataFrame(columns=_PAIR, dtype="str")
    frame = _frame(front.query_ids, front.doc_ids) if front else nothing
    return frame.assign(place=np.arange(1, len(frame) + 1))


@dataclass(frozen=True)
class _Front:
    """The first pairs so far, with their sort keys."""

    keys: tuple[NDArray[Any], ...]
    query_ids: pa.Array
    doc_ids: pa.Array

    def before(self, other: "_Front") -> "_Front":
        """Append the pairs of another front."""
        keys = zip(self.keys, other.keys, strict=True)
        return _Front(
            tuple(np.concatenate(both) for both in keys),
            pa.concat_arrays([self.query_ids, other.query_ids]),
            pa.concat_arrays([self.doc_ids, other.doc_ids]),
        )

    def cut(self, most: int | None) -> "_Front":
        """Return the first `most` pairs, sorted; ties keep their order."""
        rows = np.lexsort(self.keys)[:most]
        taken = pa.array(rows)
        keys = tuple(key[rows] for key in self.keys)
        return _Front(keys, self.query_ids.take(taken), self.doc_ids.take(taken))


def _frame(query_ids: pa.Array, doc_ids: pa.Array) -> DataFrame:
    return DataFrame(
        {
            name: pd.Series(ids.to_pandas(), dtype="str")
            for name, ids in zip(_PAIR, (query_ids, doc_ids), strict=True)
        }
    )


def lists(tops: DataFrame, judgements: DataFrame, depth: int) -> RankedPairs:
    """Return the arrays of the systems' top `depth`, with systems ordered by name."""
    top = tops[tops["rank"] <= depth]
    names = sorted(top["system"].unique())
    codes = pd.Categorical(top["system"], names).codes.astype(np.int64)
    columns = {name: pa.array(top[name], pa.string()) for name in _PAIR}
    ranks = top["rank"].to_numpy(np.int64)
    table = pa.table({"system": codes, **columns, "rank": ranks})
    return arranged(table, judgements, len(names))


def arranged(top: pa.Table, judgements: DataFrame, n_systems: int, first: int = 0) -> RankedPairs:
    """Return the arrays of ranked lists with the columns system (its number), query_id, doc_id and
    rank. The judgements are those of the same queries; `first` is the number of the first query."""
    (asked, query), (documents, document) = (
        _numbered(top[name], judgements[name]) for name in _PAIR
    )
    pairs, row = np.unique(query * max(len(documents), 1) + document, return_inverse=True)
    n_top = top.num_rows
    rank = np.zeros((len(pairs), n_systems), np.int32)
    rank[row[:n_top], top["system"].to_numpy()] = top["rank"].to_numpy()
    gain = np.full(len(pairs), np.nan)
    relevance = judgements["relevance"].to_numpy(np.float64, na_value=np.nan)
    gain[row[n_top:]] = relevance.clip(min=0)
    query, document = np.divmod(pairs, max(len(documents), 1))
    return RankedPairs(asked, documents, first, query + first, document, rank, gain)


def _numbered(retrieved: pa.ChunkedArray, judged: pd.Series) -> tuple[pa.Array, Counts]:
    """Return the distinct ids, sorted, and the index of each given id among them."""
    # The column may be chunked, since it can be a concatenation of several.
    given = pa.array(judged, pa.string())
    more = given.chunks if isinstance(given, pa.ChunkedArray) else [given]
    every = [*retrieved.cast(pa.string()).chunks, *more]
    coded = pa.concat_arrays(every or [pa.array([], pa.string())]).dictionary_encode()
    order = pc.call_function("sort_indices", [coded.dictionary]).to_numpy()
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return coded.dictionary.take(pa.array(order)), place[coded.indices.to_numpy()]


def _by_block(keys: Callable[[RankedPairs, int, int], tuple[NDArray[Any], ...]]) -> Order:
    """Return an order whose keys depend only on the block, the depth and the seed."""
    return lambda blocks, depth, seed: lambda found: keys(found, depth, seed)


@_by_block
def by_fusion(found: RankedPairs, depth: int, seed: int) -> tuple[NDArray[Any], ...]:
    """Order pairs by the sum of 1 / (60 + rank) over systems (Cormack et al. 2009)."""
    rank = found.rank[found.holes]
    share = np.divide(1, 60 + rank, out=np.zeros(rank.shape), where=rank > 0)
    return (-np.round(share.sum(axis=1), 12),)


@_by_block
def by_depth(found: RankedPairs, depth: int, seed: int) -> tuple[NDArray[Any], ...]:
    """Order pairs by their best rank in any system, then by how many systems have that rank."""
    rank = found.rank[found.holes]
    best = _best(rank, depth)
    return -(rank == best[:, None]).sum(axis=1), best


def _best(rank: NDArray[np.int32], depth: int) -> NDArray[np.int32]:
    """Return the best rank of each row; rows that no system retrieved come last."""
    return np.where(rank > 0, rank, depth + 1).min(axis=1, initial=depth + 1)


@_by_block
def at_random(found: RankedPairs, depth: int, seed: int) -> tuple[NDArray[Any], ...]:
    """Order pairs by a hash of seed and pair, independently of the other pairs."""
    pairs = zip(*(ids.to_pylist() for ids in found.ids(found.holes)), strict=True)
    digests = b"".join(
        hashlib.blake2b(f"{seed}\0{query_id}\0{doc_id}".encode(), digest_size=16).digest()
        for query_id, doc_id in pairs
    )
    high, low = np.frombuffer(digests, ">u8").reshape(-1, 2).T
    return low, high


@_by_block
def move_to_front(found: RankedPairs, depth: int, seed: int) -> tuple[NDArray[Any], ...]:
    """Order pairs as Cormack, Palmer and Clarke (1998): continue down a list while it yields
    relevant documents.

    Each list of a system for a query begins at the front. The next document of the front list is
    judged; if it is not relevant, the list moves one step back. Existing judgements are replayed,
    and unjudged documents count as not relevant. Among lists equally far in front, the one at the
    smallest depth comes first, then the order is by query and system. Down a list, its number of
    misses and its depth never decrease, and other lists do not change them. So a pair's place is
    its earliest in a list, by misses, depth, query and system.
    """
    row, system = np.nonzero(found.rank)
    below = np.lexsort((found.rank[row, system], system, found.query[row]))
    row, system = row[below], system[below]
    list_of = found.query[row] * found.rank.shape[1] + system
    begins = np.flatnonzero(np.diff(list_of, prepend=-1))
    own = np.repeat(begins, np.diff(begins, append=len(row)))
    missed = ~(found.gain[row] > 0)
    before = np.cumsum(missed) - missed
    misses, place = before - before[own], np.arange(len(row)) - own
    turns = np.lexsort((system, place, misses))
    held, at = np.unique(row[turns], return_index=True)
    chosen = turns[at[np.isnan(found.gain[held])]]
    return system[chosen], found.query[row[chosen]], place[chosen], misses[chosen]


def impact(blocks: Blocks, depth: int, seed: int) -> Keys:
    """Order pairs by their expected effect on the differences between the systems' nDCG@10. For two
    systems s and t, a relevant pair changes their difference by |Δ_s − Δ_t|, where Δ is the change
    of a system's mean, including the growth of the ideal ranking. This change is multiplied by the
    expected relevance (`expected_gain`) and summed over all pairs of systems, weighted by how open
    their order is (`openness`). Documents below rank 10 matter only through the ideal ranking. Ties
    are broken by the best rank."""
    moving = _Movement.of(blocks)

    def keys(found: RankedPairs) -> tuple[NDArray[Any], ...]:
        moved = np.round(moving.of_holes(found), 12)
        return _best(found.rank[found.holes], depth), -moved

    return keys


@dataclass(frozen=True)
class _Movement:
    """Everything besides a document's own ranks that determines how much it can change scores."""

    expected: "_Expected"
    dcg: Values
    """(queries, systems) DCG@10 of each system."""
    inverse: Values
    """(queries,) 1 over the ideal DCG@10; 0 if that is 0."""
    grown: Values
    """(queries,) Ideal DCG@10 with one more document of gain 1."""
    n_judged: int
    """Number of queries with a judgement."""
    open_orders: Values
    """(pairs of systems,) How open the order of two systems is: see `openness`."""

    @classmethod
    def of(cls, blocks: Blocks) -> "_Movement":
        """Collect the context from the judged rows, then the spreads from the unjudged ones."""
        known = _known(blocks)
        weight, n_queries = _weight(known.rank), known.n_queries
        dcg = np.zeros((n_queries, weight.shape[1]))
        np.add.at(dcg, known.query, known.gain[:, None] * weight)
        ideal, grown = _ideals(known)
        inverse = np.divide(1, ideal, out=np.zeros(n_queries), where=ideal > 0)
        n_judged = max(len(np.unique(known.query)), 1)
        expected = _Expected.of(known)
        closed = cls(expected, dcg, inverse, grown, n_judged, np.zeros(0))
        one, other = np.triu_indices(weight.shape[1], 1)
        variance = np.zeros(len(one))
        for found in blocks():
            chance = np.minimum(expected.of_rows(found), 1)
            for rows in _portions(found):
                variance = variance + chance[rows] @ closed.differences(found, rows) ** 2
        level = (dcg * inverse[:, None]).sum(axis=0) / n_judged
        open_orders = openness(np.abs(level[one] - level[other]), np.sqrt(variance))
        return cls(expected, dcg, inverse, grown, n_judged, open_orders)

    def of_holes(self, found: RankedPairs) -> Values:
        """Return the expected change due to each unjudged pair."""
        expected = self.expected.of_rows(found)
        moved = [
            expected[rows] * (self.differences(found, rows) @ self.open_orders)
            for rows in _portions(found)
        ]
        return np.concatenate(moved) if moved else np.zeros(0)

    def differences(self, found: RankedPairs, rows: Counts) -> Values:
        """Return how much a relevant document changes each difference, (rows, pairs of systems)."""
        query, dcg = found.query[rows], self.dcg
        one, other = np.triu_indices(dcg.shape[1], 1)
        after = (dcg[query] + _weight(found.rank[rows])) / self.grown[query, None]
        change = (after - dcg[query] * self.inverse[query, None]) / self.n_judged
        return np.abs(change[:, one] - change[:, other])


def _portions(found: RankedPairs) -> list[Counts]:
    """Return the unjudged rows in portions of _ROWS."""
    holes = found.holes
    return [holes[at : at + _ROWS] for at in range(0, len(holes), _ROWS)]


def _weight(rank: NDArray[np.int32]) -> Values:
    """Return the discounted value of a gain of 1 at each rank; 0 below rank 10."""
    seen = (rank > 0) & (rank <= CUT)
    return np.divide(1, np.log2(rank + 1.0), out=np.zeros(seen.shape), where=seen)


@dataclass(frozen=True)
class _Known:
    """The judged rows of all lists."""

    query: Counts
    rank: NDArray[np.int32]
    gain: Values
    n_queries: int
    """Number of queries in all lists."""


def _known(blocks: Blocks) -> _Known:
    """Collect the judged rows of all blocks."""
    query, rank, gain, n_queries, n_systems = [], [], [], 0, 0
    for found in blocks():
        rows = np.flatnonzero(~np.isnan(found.gain))
        query.append(found.query[rows])
        rank.append(found.rank[rows])
        gain.append(found.gain[rows])
        n_queries, n_systems = found.first + len(found.query_ids), found.rank.shape[1]
    if not query:
        nothing = np.zeros((0, n_systems), np.int32)
        return _Known(np.zeros(0, np.int64), nothing, np.zeros(0), n_queries)
    return _Known(np.concatenate(query), np.concatenate(rank), np.concatenate(gain), n_queries)


def openness(gap: Values, spread: Values) -> Values:
    """Return the weight of a change between two systems: exp(−gap / 2 spread) / spread. `gap` is
    the current difference of their scores, and `spread` the standard deviation that unjudged
    documents are expected to add, each by itself. An order is open while the gap is at most about
    two spreads, and a change counts relative to the spread."""
    share = np.divide(1, spread, out=np.zeros(len(spread)), where=spread > 0)
    return np.exp(-gap * share / 2) * share


def _ideals(known: _Known) -> tuple[Values, Values]:
    """Return the ideal DCG@10 of each query, now and with one more document of gain 1."""
    discount = 1 / np.log2(np.arange(2, CUT + 2))
    now, grown = np.zeros(known.n_queries), np.zeros(known.n_queries)
    relevant = np.flatnonzero(known.gain > 0)
    relevant = relevant[np.argsort(known.query[relevant], kind="stable")]
    ends = np.searchsorted(known.query[relevant], np.arange(known.n_queries + 1))
    for query in range(known.n_queries):
        gains = known.gain[relevant[ends[query] : ends[query + 1]]]
        for into, more in ((now, []), (grown, [1.0])):
            best = np.sort(np.append(gains, more))[::-1][:CUT]
            into[query] = best @ discount[: len(best)]
    return now, grown


def expected_gain(found: RankedPairs) -> Values:
    """Return the expected relevance of every pair, from the judgements in the systems' top k. It is
    the overall mean times four factors, as if they were independent: for pairs that as many systems
    retrieved, for pairs with the same best rank, for the pair's query, and for its systems (their
    mean). Each is a ratio to the overall mean, shrunk towards 1 by a few judgements' weight."""
    return _Expected.of(_known(lambda: iter([found]))).of_rows(found)


@dataclass(frozen=True)
class _Expected:
    """`expected_gain`, learned from the judged rows: the mean relevance, and the factors by number
    of systems (`count`), best rank, query and system."""

    mean: float
    count: Values
    best: Values
    query: Values
    systems: Values

    @classmethod
    def of(cls, known: _Known) -> "_Expected":
        """Learn the factors: a group's mean relevance over the overall mean, shrunk towards 1."""
        having = known.rank > 0
        judged = np.flatnonzero(having.any(axis=1))
        gain, having = known.gain[judged], having[judged]
        mean = (gain.sum() + 1) / (len(judged) + 2)

        def multiple(n: NDArray[Any], total: NDArray[Any], prior: int) -> Values:
            return (total / mean + prior) / (n + prior)

        def of(group: Counts, size: int, prior: int) -> Values:
            n, total = (np.bincount(group, w, size) for w in (np.ones(len(judged)), gain))
            return multiple(n, total, prior)

        return cls(
            mean,
            of(_how_many(having), _MANY + 1, 10),
            of(_how_high(known.rank[judged]), len(_RANKS), 10),
            of(known.query[judged], known.n_queries, 4),
            multiple(having.sum(axis=0), gain @ having, 10),
        )

    def of_rows(self, found: RankedPairs) -> Values:
        """Return the expected relevance of each row of some lists."""
        having = found.rank > 0
        reliable = having @ self.systems / np.maximum(having.sum(axis=1), 1)
        count, best = self.count[_how_many(having)], self.best[_how_high(found.rank)]
        return self.mean * count * best * self.query[found.query] * reliable


def _how_many(having: NDArray[np.bool_]) -> Counts:
    """Return the group of each row by its number of systems."""
    return np.minimum(having.sum(axis=1), _MANY)


def _how_high(rank: NDArray[np.int32]) -> Counts:
    """Return the group of each row by its best rank."""
    return np.searchsorted(_RANKS, _best(rank, _RANKS[-1] - 1))


ORDERS: Mapping[str, Order] = {
    "impact": impact,
    "fusion": by_fusion,
    "move-to-front": move_to_front,
    "depth": by_depth,
    "random": at_random,
}
ADAPTIVE = ("impact", "move-to-front")
"""Orders that change with every judgement."""
SAMPLED = "sampled"
"""The name of the random order (`sampling`) whose judgements allow estimates of scores."""
NAMES = (*ORDERS, SAMPLED)
DEFAULT = "impact"


def order(name: str) -> Order:
    """Return the order with this name. Raises WrongInput for an unknown one."""
    if name not in ORDERS:
        raise WrongInput(f"no order {name!r}; known: {', '.join(NAMES)}")
    return ORDERS[name]
