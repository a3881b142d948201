"""Novelty and diversity: which subtopics of its query each document covers. Tests compare the
values with those of ndeval, the program of TREC's Web tracks, as called by ir_measures, except for
ties, which are ranked as for all measures. A document covers a subtopic if it is judged above 0 for
it; a subtopic that no document covers does not count."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame

ALPHA = 0.5
"""Share of a subtopic's gain that is lost with each better rank that covers it."""
MEASURES = ("alpha_nDCG@10", "alpha_nDCG@20", "StRecall@10")
"""Measures by which runs on a dataset with subtopics are also scored."""

Values = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Covered:
    """Subtopics in ranked lists: arrays with an element for each subtopic of each document."""

    query: Counts
    """Number of the query, from 0."""
    rank: Counts
    """Rank from 1."""
    subtopic: Counts
    """Number of the subtopic, from 0, over all queries."""

    def alpha_dcg(self, k: int, n: int) -> Values:
        """Return the alpha-DCG of each of n queries. Each subtopic of a document in the top k adds
        (1 - alpha)^c / log2(1 + rank), where c documents at better ranks cover the subtopic."""
        top = np.nonzero(self.rank <= k)[0]
        top = top[np.lexsort((self.rank[top], self.subtopic[top], self.query[top]))]
        query, subtopic, place = self.query[top], self.subtopic[top], np.arange(len(top))
        first = np.ones(len(top), np.bool_)
        first[1:] = (query[1:] != query[:-1]) | (subtopic[1:] != subtopic[:-1])
        before = place - np.maximum.accumulate(np.where(first, place, 0))
        gain = (1 - ALPHA) ** before / np.log2(self.rank[top] + 1)
        return np.bincount(query, gain, n).astype(np.float64)

    def subtopics(self, k: int, n: int) -> Values:
        """Return the number of different subtopics in the top k, for each of n queries."""
        top = self.rank <= k
        pairs = np.unique(np.stack([self.query[top], self.subtopic[top]]), axis=1)
        return np.bincount(pairs[0], minlength=n).astype(np.float64)


@dataclass(frozen=True)
class Diversity:
    """Subtopics covered by the run, by the ideal lists, and by all judged documents."""

    run: Covered
    ideal: Covered
    every: Covered
    """The judged documents, all at rank 1."""


def diversity(
    hits: DataFrame, subtopics: DataFrame, queries: Sequence[str], deep: int
) -> Diversity:
    """Join the top `deep` ranks of a run (query_id, doc_id, rank) with judgements by subtopic
    (query_id, doc_id, subtopic, relevance). The queries are numbered by their positions."""
    known = subtopics[(subtopics["relevance"] > 0) & subtopics["query_id"].isin(queries)]
    known = known.drop_duplicates(["query_id", "doc_id", "subtopic"])
    number = {query: place for place, query in enumerate(queries)}
    known = known.assign(
        number=known["query_id"].map(number), subtopic=pd.factorize(known["subtopic"])[0], rank=1
    )
    found = hits[hits["rank"] <= deep].merge(known.drop(columns="rank"), on=["query_id", "doc_id"])
    return Diversity(_covered(found), _ideal(known, deep), _covered(known))


def _ideal(known: DataFrame, deep: int) -> Covered:
    """Return lists that greedily add the document with the largest gain, among ties the one with
    the last id. Finding the best list is NP-complete, so ndeval also divides by the greedy one."""
    rows: list[tuple[int, int, int]] = []
    for number, of in known.groupby("number"):
        left = {doc: [*own] for doc, own in of.groupby("doc_id")["subtopic"]}
        worth = dict.fromkeys(of["subtopic"], 1.0)
        for rank in range(1, min(deep, len(left)) + 1):
            _, best = max((sum(map(worth.__getitem__, own)), doc) for doc, own in left.items())
            for subtopic in left.pop(best):
                rows.append((number, rank, subtopic))  # pyrefly: ignore
                worth[subtopic] *= 1 - ALPHA
    return _covered(DataFrame(rows, columns=["number", "rank", "subtopic"]))


def _covered(rows: DataFrame) -> Covered:
    """Turn rows (number, rank, subtopic) into arrays."""
    columns = (rows[name].to_numpy(np.int64) for name in ("number", "rank", "subtopic"))
    return Covered(*columns)
