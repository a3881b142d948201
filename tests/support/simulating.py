"""Simulated judging: hide judgements, give them back in an order, watch the leaderboard.

The leaderboard is nDCG@10 over the queries that are judged in the end. It is updated one
judgement at a time, since only that judgement's query moves.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame

from compute.datasets.qrels import read_qrels
from compute.evaluate.runs import canonical
from compute.judgements import orders
from tests.support.ranked_lists import read_trec

K = 10
DISCOUNT = 1 / np.log2(np.arange(2, K + 2))
PAIR = ["query_id", "doc_id"]

Values = NDArray[np.float64]
Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Contest:
    """The systems' top 10 and every judgement there is."""

    tops: DataFrame
    judgements: DataFrame

    @cached_property
    def lists(self) -> orders.RankedPairs:
        return orders.lists(self.tops, self.judgements, K)

    def blocks(self, known: Flags) -> orders.Blocks:
        """The lists beside what is known so far."""
        return orders.Framed(self.tops).blocks(self.known(known), self.systems, K)

    @cached_property
    def systems(self) -> list[str]:
        return sorted(self.tops["system"].unique())

    @cached_property
    def weight(self) -> Values:
        """(pairs, systems) What a gain of 1 adds to a system's DCG@10."""
        rank = self.lists.rank
        return np.divide(1, np.log2(rank + 1.0), out=np.zeros(rank.shape), where=rank > 0)

    @cached_property
    def judged(self) -> Flags:
        return ~np.isnan(self.lists.gain)

    @cached_property
    def pooled(self) -> Flags:
        """The pairs that a system has in its top 10."""
        return np.asarray((self.lists.rank > 0).any(axis=1))

    def of(self, system: str) -> Flags:
        """The judged pairs in the top 10 of one system."""
        found = self.judged.copy()
        found[self.lists.rank[:, self.systems.index(system)] == 0] = False
        return found

    def known(self, flags: Flags) -> DataFrame:
        """query_id, doc_id, relevance of the pairs that are judged by now."""
        pairs, gain = self.lists.pairs[flags], self.lists.gain[flags]
        return pairs.assign(relevance=gain.astype(np.int64))

    def means(self, known: Flags) -> Values:
        """(systems,) nDCG@10 by these judgements."""
        return self._by_query(known).mean(axis=0)

    def trajectory(self, start: Flags, rows: Rows) -> Values:
        """(rows + 1, systems) nDCG@10 before the first judgement and after each."""
        known, by_query = start.copy(), self._by_query(start)
        total = by_query.sum(axis=0)
        found = np.empty((len(rows) + 1, len(total)))
        found[0] = total
        for step, row in enumerate(rows, start=1):
            known[row] = True
            query = int(self.lists.query[row])
            new = self._scores(query, known)
            total = total + new - by_query[query]
            by_query[query] = new
            found[step] = total
        return found / len(by_query)

    @cached_property
    def _members(self) -> list[Rows]:
        n_queries = int(self.lists.query.max()) + 1
        return [np.flatnonzero(self.lists.query == query) for query in range(n_queries)]

    def _by_query(self, known: Flags) -> Values:
        return np.array([self._scores(query, known) for query in range(len(self._members))])

    def _scores(self, query: int, known: Flags) -> Values:
        rows = self._members[query]
        rows = rows[known[rows]]
        gain = self.lists.gain[rows]
        best = np.sort(gain)[::-1][:K]
        ideal = best @ DISCOUNT[: len(best)]
        return gain @ self.weight[rows] / ideal if ideal > 0 else np.zeros(len(self.systems))


def taus(trajectory: Values, final: Values) -> Values:
    """Kendall's tau-b of each row's order of the systems with the final one."""
    one, other = np.triu_indices(len(final), 1)

    def signs(scores: Values) -> Values:
        return np.sign(np.round(scores[..., one] - scores[..., other], 12))

    now, then = signs(trajectory), signs(final)
    untied = np.abs(now).sum(axis=-1) * np.abs(then).sum()
    agreeing = (now * then).sum(axis=-1)
    return np.divide(agreeing, np.sqrt(untied), out=np.zeros(len(now)), where=untied > 0)


def needed(trajectory: Values, final: Values, bar: float = 0.9) -> int:
    """Judgements after which tau stays above the bar."""
    below = np.flatnonzero(taus(trajectory, final) <= bar)
    return int(below[-1]) + 1 if len(below) else 0


def in_order(contest: Contest, start: Flags, name: str, *, every: int, seed: int = 0) -> Rows:
    """The hidden judged pairs of the pool in an order, asked again after `every` judgements.

    0: asked once. What nobody ever judged cannot be judged here and is passed over.
    """
    known, rows = start.copy(), []
    number = {pair: row for row, pair in enumerate(_pairs(contest.lists.pairs))}
    left = contest.judged & contest.pooled & ~start
    while left.any():
        placed = orders.first(name, contest.blocks(known), K, seed)
        wanted = [number[pair] for pair in _pairs(placed)]
        chosen = [row for row in wanted if left[row]][: every or None]
        rows += chosen
        known[chosen], left[chosen] = True, False
    return np.array(rows, np.int64)


def _pairs(frame: DataFrame) -> Iterator[tuple[str, str]]:
    return frame[PAIR].itertuples(index=False, name=None)


def from_files(folder: Path) -> Contest:
    """The runs of a folder, each named by its file, and its qrels.txt.gz."""
    tops = []
    for file in sorted(folder.glob("*.gz")):
        if not file.name.startswith("qrels"):
            _, hits = read_trec(file, any_tag=True)
            run = canonical(hits, depth=K, drop_self=False).frame
            tops.append(run.assign(system=file.name.removesuffix(".gz")))
    columns = ["system", *PAIR, "rank"]
    return Contest(pd.concat(tops)[columns], read_qrels(folder / "qrels.txt.gz"))
