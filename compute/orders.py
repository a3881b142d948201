"""What to judge first: orders of the unjudged pairs in the systems' top k.

An order is a pure function of the ranked lists and the judgements there are. A list is put in
order once, when it is made; an order that learns from judgements (`ADAPTIVE`) is worth asking
again for what remains. Which is best is told by judging simulated on real judgements
(`tests/benchmarks/orders.py`).
"""

import hashlib
import heapq
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame

from compute.errors import WrongInput

CUT = 10
"""The leaderboard is nDCG at this rank."""
_MANY = 6  # systems that have a document: so many or more
_RANKS = (1, 2, 3, 5, 10, 1_000_000)  # the last ranks of groups of best ranks
_ROWS = 10_000  # pairs whose differences are taken at a time

Values = NDArray[np.float64]
Counts = NDArray[np.int64]
Order = Callable[[DataFrame, DataFrame, int, int], DataFrame]
"""(tops, judgements, depth, seed) -> query_id, doc_id, place.

`tops` has system, query_id, doc_id, rank; `judgements` query_id, doc_id, relevance, a pair once.
The frame has each pair of `pool` once, place 1 first. The order of rows given does not matter.
"""


def pool(tops: DataFrame, judgements: DataFrame, depth: int) -> DataFrame:
    """query_id, doc_id of the unjudged pairs in any system's top `depth`, by their ids."""
    pairs = tops.loc[tops["rank"] <= depth, ["query_id", "doc_id"]].drop_duplicates()
    judged = judgements[["query_id", "doc_id"]].drop_duplicates()
    found = pairs.merge(judged, on=["query_id", "doc_id"], how="left", indicator=True)
    holes = found.loc[found["_merge"] == "left_only", ["query_id", "doc_id"]]
    return holes.sort_values(["query_id", "doc_id"], ignore_index=True)


@dataclass(frozen=True)
class Lists:
    """The top k of every system beside the judgements; arrays have a row per pair, by its ids."""

    pairs: DataFrame
    """query_id, doc_id: what stands in a top k, and what is judged."""
    query: Counts
    """Number of the query, from 0."""
    rank: Counts
    """By system, from 1; 0 where its top k lacks the document."""
    gain: Values
    """Relevance, at least 0; NaN for a hole."""

    @property
    def holes(self) -> Counts:
        """The rows of the pool."""
        return np.flatnonzero(np.isnan(self.gain))

    def placed(self, rows: Counts) -> DataFrame:
        """Rows in the order in which they are to be judged, as an order gives them back."""
        frame = self.pairs.iloc[rows].reset_index(drop=True)
        return frame.assign(place=np.arange(1, len(frame) + 1))


def lists(tops: DataFrame, judgements: DataFrame, depth: int) -> Lists:
    """The arrays of the systems' top `depth`, systems by name."""
    top = tops[tops["rank"] <= depth]
    keys = ["query_id", "doc_id"]
    judged = judgements[[*keys, "relevance"]]
    pairs = top[keys].drop_duplicates().merge(judged, on=keys, how="outer")
    pairs = pairs.sort_values(keys, ignore_index=True)
    rows = top[keys].merge(pairs[keys].reset_index(), on=keys, how="left")["index"]
    names = sorted(top["system"].unique())
    rank = np.zeros((len(pairs), len(names)), np.int64)
    rank[rows, pd.Categorical(top["system"], names).codes] = top["rank"]
    return Lists(
        pairs=pairs[keys],
        query=pd.factorize(pairs["query_id"])[0].astype(np.int64),
        rank=rank,
        gain=pairs["relevance"].to_numpy(np.float64, na_value=np.nan).clip(min=0),
    )


def by_fusion(tops: DataFrame, judgements: DataFrame, depth: int, seed: int) -> DataFrame:
    """By the sum of 1 / (60 + rank) over the systems (Cormack, Clarke and Büttcher 2009)."""
    found = lists(tops, judgements, depth)
    rank = found.rank[found.holes]
    share = np.divide(1, 60 + rank, out=np.zeros(rank.shape), where=rank > 0)
    return found.placed(found.holes[np.argsort(-np.round(share.sum(axis=1), 12), kind="stable")])


def by_depth(tops: DataFrame, judgements: DataFrame, depth: int, seed: int) -> DataFrame:
    """By the best rank that a system gives the pair; then by how many have it so high."""
    found = lists(tops, judgements, depth)
    rank = found.rank[found.holes]
    best = np.where(rank > 0, rank, depth + 1).min(axis=1, initial=depth + 1)
    having = (rank == best[:, None]).sum(axis=1)
    return found.placed(found.holes[np.lexsort((-having, best))])


def at_random(tops: DataFrame, judgements: DataFrame, depth: int, seed: int) -> DataFrame:
    """By a hash of seed and pair: what else is in the pool changes nothing between two pairs."""
    pairs = pool(tops, judgements, depth)
    keys = [
        hashlib.blake2b(f"{seed}\0{query_id}\0{doc_id}".encode(), digest_size=16).digest()
        for query_id, doc_id in pairs.itertuples(index=False, name=None)
    ]
    rows = sorted(range(len(keys)), key=keys.__getitem__)
    return pairs.iloc[rows].reset_index(drop=True).assign(place=np.arange(1, len(pairs) + 1))


def move_to_front(tops: DataFrame, judgements: DataFrame, depth: int, seed: int) -> DataFrame:
    """Cormack, Palmer and Clarke 1998: go on down a list while it brings relevant documents.

    Every list of a system for a query begins at the front. The next document of the front list
    is judged; one that is not relevant moves the list one step back. The judgements there are
    play themselves back, and what is unjudged counts as not relevant until it is judged. Of
    lists equally far in front the one that is least deep comes first, then by query and system.
    """
    found = lists(tops, judgements, depth)
    row, system = np.nonzero(found.rank)
    below = np.lexsort((found.rank[row, system], system, found.query[row]))
    lists_of = defaultdict(list)
    for one, of in zip(row[below].tolist(), system[below].tolist(), strict=True):
        lists_of[int(found.query[one]), of].append(one)
    waiting = [(0, 0, query, system) for query, system in lists_of]
    heapq.heapify(waiting)
    chosen: dict[int, None] = {}
    while waiting:
        misses, depth, query, system = heapq.heappop(waiting)
        here = lists_of[query, system][depth]
        if np.isnan(found.gain[here]):
            chosen[here] = None
        missed = not found.gain[here] > 0
        if depth + 1 < len(lists_of[query, system]):
            heapq.heappush(waiting, (misses + missed, depth + 1, query, system))
    return found.placed(np.fromiter(chosen, np.int64, len(chosen)))


def impact(tops: DataFrame, judgements: DataFrame, depth: int, seed: int) -> DataFrame:
    """By how much a pair is expected to change the differences between the systems' nDCG@10.

    For two systems a pair moves |Δ_s − Δ_t|, Δ a system's change of its mean if the document is
    relevant, the ideal ranking's growth included, times the relevance to be expected
    (`expected_gain`). That is summed over all pairs of systems, each by how open its order is
    (`openness`). What lies below rank 10 moves them by the ideal ranking alone. Where pairs move
    them alike, the one with the best rank comes first.
    """
    found = lists(tops, judgements, depth)
    moved = np.round(movement(found), 12)
    rank = np.where(found.rank > 0, found.rank, depth + 1)[found.holes]
    best = rank.min(axis=1, initial=depth + 1)
    return found.placed(found.holes[np.lexsort((best, -moved))])


def movement(found: Lists) -> Values:
    """The expected change that `impact` sorts by, per hole."""
    seen = (found.rank > 0) & (found.rank <= CUT)
    weight = np.divide(1, np.log2(found.rank + 1.0), out=np.zeros(seen.shape), where=seen)
    n_queries = int(found.query.max(initial=-1)) + 1
    gain = np.nan_to_num(found.gain)
    dcg = np.zeros((n_queries, weight.shape[1]))
    np.add.at(dcg, found.query, gain[:, None] * weight)
    ideal, grown = _ideals(found, n_queries)
    inverse = np.divide(1, ideal, out=np.zeros(n_queries), where=ideal > 0)
    n_judged = max(len(np.unique(found.query[~np.isnan(found.gain)])), 1)
    level = (dcg * inverse[:, None]).sum(axis=0) / n_judged
    one, other = np.triu_indices(weight.shape[1], 1)

    def differences(rows: Counts) -> Values:
        """(rows, pairs of systems) What a relevant document changes between two systems."""
        query = found.query[rows]
        after = (dcg[query] + weight[rows]) / grown[query, None]
        change = (after - dcg[query] * inverse[query, None]) / n_judged
        return np.abs(change[:, one] - change[:, other])

    expected, holes = expected_gain(found), found.holes
    parts = [holes[at : at + _ROWS] for at in range(0, len(holes), _ROWS)]
    chance = np.minimum(expected, 1)
    variance = sum((chance[rows] @ differences(rows) ** 2 for rows in parts), np.zeros(len(one)))
    open_orders = openness(np.abs(level[one] - level[other]), np.sqrt(variance))
    moved = [expected[rows] * (differences(rows) @ open_orders) for rows in parts]
    return np.concatenate(moved) if moved else np.zeros(0)


def openness(gap: Values, spread: Values) -> Values:
    """How much a change between two systems matters: exp(−gap / 2 spread) / spread.

    `gap` is what lies between their scores now, `spread` how far the holes are expected to move
    them apart (a standard deviation, each hole by itself): an order is open while the gap is
    within two of those, and a change counts as its share of what is still to come.
    """
    share = np.divide(1, spread, out=np.zeros(len(spread)), where=spread > 0)
    return np.exp(-gap * share / 2) * share


def _ideals(found: Lists, n_queries: int) -> tuple[Values, Values]:
    """By query the best DCG@10 that the judgements allow, now and with one more of gain 1."""
    discount = 1 / np.log2(np.arange(2, CUT + 2))
    now, grown = np.zeros(n_queries), np.zeros(n_queries)
    relevant = np.flatnonzero(found.gain > 0)
    relevant = relevant[np.argsort(found.query[relevant], kind="stable")]
    ends = np.searchsorted(found.query[relevant], np.arange(n_queries + 1))
    for query in range(n_queries):
        gains = found.gain[relevant[ends[query] : ends[query + 1]]]
        for into, more in ((now, []), (grown, [1.0])):
            best = np.sort(np.append(gains, more))[::-1][:CUT]
            into[query] = best @ discount[: len(best)]
    return now, grown


def expected_gain(found: Lists) -> Values:
    """The relevance to be expected of every pair, from what is judged in the systems' top k.

    The mean relevance of the pairs that as many systems have, of those with the same best rank,
    of the pair's query, and of the systems that have it (their mean), as if these four were
    independent: each as a multiple of the mean of all, towards which a few judgements' worth
    draws it.
    """
    having = found.rank > 0
    judged = np.flatnonzero(~np.isnan(found.gain) & having.any(axis=1))
    gain = found.gain[judged]
    mean = (gain.sum() + 1) / (len(judged) + 2)

    def multiple(n: NDArray, total: NDArray, prior: int) -> Values:
        return (total / mean + prior) / (n + prior)

    def of(group: Counts, prior: int) -> Values:
        size = int(group.max(initial=0)) + 1
        n, total = (
            np.bincount(group[judged], weights, size) for weights in (np.ones(len(judged)), gain)
        )
        return multiple(n, total, prior)[group]

    systems = multiple(having[judged].sum(axis=0), gain @ having[judged], 10)
    reliable = having @ systems / np.maximum(having.sum(axis=1), 1)
    count = np.minimum(having.sum(axis=1), _MANY)
    best = np.where(having, found.rank, _RANKS[-1]).min(axis=1, initial=_RANKS[-1])
    group = np.searchsorted(_RANKS, best)
    return mean * of(count, 10) * of(group, 10) * of(found.query, 4) * reliable


ORDERS: Mapping[str, Order] = {
    "impact": impact,
    "fusion": by_fusion,
    "move-to-front": move_to_front,
    "depth": by_depth,
    "random": at_random,
}
ADAPTIVE = ("impact", "move-to-front")
"""Orders that change with every judgement."""
DEFAULT = "impact"


def order(name: str) -> Order:
    """The order of this name. Raises WrongInput for an unknown one."""
    if name not in ORDERS:
        raise WrongInput(f"no order {name!r}; known: {', '.join(ORDERS)}")
    return ORDERS[name]
