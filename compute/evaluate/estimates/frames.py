"""Frame of a sample: every query–document pair in some system's top k."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame

Values = NDArray[np.float64]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]

PAIR = ["query_id", "doc_id"]


@dataclass(frozen=True)
class Frame:
    """N pairs of Q queries that S systems retrieved down to a depth, ordered by their ids."""

    systems: tuple[str, ...]
    queries: tuple[str, ...]
    """All evaluated queries; a query without hits has no pair and scores 0."""
    pairs: DataFrame
    """query_id and doc_id of each row."""
    query: Counts
    """(N,) Position in `queries` of the row's query."""
    rank: Counts
    """(N, S) Rank of the pair in each system's list, from 1, also below `depth`; 0 if the system
    did not retrieve it."""
    depth: int
    """The frame contains no documents that are below this rank in every list."""

    @property
    def n(self) -> int:
        """Return the number of pairs, N."""
        return len(self.query)

    @cached_property
    def places(self) -> Counts:
        """Return the row at each rank of each list, (S, Q, depth); N at an empty rank."""
        found = np.full((len(self.systems), len(self.queries), self.depth), self.n)
        row, system = np.nonzero((self.rank > 0) & (self.rank <= self.depth))
        found[system, self.query[row], self.rank[row, system] - 1] = row
        return found

    @cached_property
    def identity(self) -> str:
        """Return a fingerprint of the systems, queries, pairs and ranks."""
        ids = self.pairs.to_csv(index=False) + repr((self.systems, self.queries, self.depth))
        return hashlib.sha256(ids.encode() + self.rank.astype("<i4").tobytes()).hexdigest()[:16]

    def part(self, systems: Sequence[str], *, answered: bool = False) -> "Frame":
        """Return the frame of some systems; with `answered`, of only the queries they answer."""
        columns = [place for place, name in enumerate(self.systems) if name in systems]
        rank = self.rank[:, columns]
        rows = np.flatnonzero(((rank > 0) & (rank <= self.depth)).any(axis=1))
        pairs, query = self.pairs.iloc[rows].reset_index(drop=True), self.query[rows]
        queries = self.queries
        if answered:
            here, query = np.unique(query, return_inverse=True)
            queries = tuple(self.queries[place] for place in here)
        names = tuple(self.systems[place] for place in columns)
        return Frame(names, queries, pairs, query, rank[rows], self.depth)

    def rows(self, pairs: DataFrame) -> Counts:
        """Return the row of each pair (query_id, doc_id); -1 for pairs outside the frame."""
        return self._index.get_indexer(pd.MultiIndex.from_frame(pairs[PAIR]))

    @cached_property
    def _index(self) -> pd.MultiIndex:
        return pd.MultiIndex.from_frame(self.pairs)

    def grades(self, judgements: DataFrame) -> Values:
        """Return the relevance of each row, (N,), from judgements (query_id, doc_id, relevance): at
        least 0, and NaN if it is not judged."""
        rows, found = self.rows(judgements), np.full(self.n, np.nan)
        relevance = judgements["relevance"].to_numpy(np.float64).clip(min=0)
        found[rows[rows >= 0]] = relevance[rows >= 0]
        return found

    def outside(self, judgements: DataFrame, levels: Values) -> Values:
        """Count each query's judged pairs outside the frame that reach each level, (Q, L)."""
        query = pd.Index(self.queries).get_indexer(pd.Index(judgements["query_id"]))
        away = (query >= 0) & (self.rows(judgements) < 0)
        reached = judgements["relevance"].to_numpy(np.float64)[away, None] >= levels
        found = np.zeros((len(self.queries), len(levels)))
        np.add.at(found, query[away], reached)
        return found


def of_lists(tops: DataFrame, queries: Sequence[str], depth: int) -> Frame:
    """Make the frame of ranked lists with the columns system, query_id, doc_id and rank (from 1).
    Ranks below `depth` are kept only for the prediction; lists of other queries are left out."""
    tops = tops[tops["query_id"].isin(list(queries))]
    systems, asked = sorted(tops["system"].unique()), sorted(queries)
    held = tops.loc[tops["rank"] <= depth, PAIR].drop_duplicates()
    pairs = held.sort_values(PAIR, ignore_index=True)
    query = pd.Index(asked).get_indexer(pd.Index(pairs["query_id"])).astype(np.int64)
    bare = Frame(tuple(systems), tuple(asked), pairs, query, np.zeros((0, 0), np.int64), depth)
    row, rank = bare.rows(tops), np.zeros((len(pairs), len(systems)), np.int64)
    system = pd.Index(systems).get_indexer(pd.Index(tops["system"]))
    rank[row[row >= 0], system[row >= 0]] = tops["rank"].to_numpy(np.int64)[row >= 0]
    return Frame(tuple(systems), tuple(asked), pairs, query, rank, depth)
