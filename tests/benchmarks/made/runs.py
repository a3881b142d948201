"""Runs for the full-size store: 15 systems search made-up collections, as good as in print.

Every query has candidates: its judged documents, and others that nobody judged. A system's score of
a candidate adds up what all systems see, what its family sees, what it alone sees, its taste for
long documents, and a bonus for relevant ones. The bonus is fitted so that the mean nDCG@10 of a
sample of queries is the printed one; so relevant documents come seldom at low ranks and the more
often the better the system.
"""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from compute.datasets import Dataset, published
from tests.benchmarks.made.collections import Collection

UNJUDGED = 260
"""Candidates of a query that nobody judged."""
CELLS = 2_000_000
"""Candidates looked at at a time."""
SAMPLE = 256
"""Queries on which the bonus is fitted."""
STEPS = 9
"""Halvings of the interval that the bonus lies in."""
LARGEST_BONUS = 12.0
ON_TOPIC = {"lexical": 1.2, "sparse": 0.6, "late": 0.6, "dense": 0.2}
"""How much more a judged document that is not relevant looks like an answer than an unjudged.

By family: those that the pools were made from found what was judged.
"""
OWN = 8.0
"""How much the document looks like an answer that the query itself is."""
SHARED, FAMILY, ALONE = 0.7, 0.6, 0.4
"""Weights of what all systems, those of a family, and one system see."""
SHORT = 0.02
"""Queries for which a lexical system finds fewer documents than asked for."""

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Searcher:
    """A made-up stand-in for a system of the catalogue."""

    name: str
    family: str
    like: str
    """The system whose printed nDCG@10 it is to reach."""
    factor: float = 1.0
    """Times this."""
    length: float = 0.0
    """What one standard deviation of the logarithm of a document's length adds."""
    decimals: int = 6
    """Of a score: with few of them there are ties."""
    scale: float = 0.1
    first: str = ""
    """The system whose hits it ranks anew."""
    milliseconds: float = 20.0
    """Of a query, in the median."""
    bytes_per_document: float = 300.0


SEARCHERS = (
    Searcher("bm25", "lexical", "bm25-multifield", 0.98, 0.25, 2, 3.0),
    Searcher("bm25-multifield", "lexical", "bm25-multifield", 1.0, 0.15, 2, 3.0),
    Searcher("bm25-rm3", "lexical", "bm25-multifield", 0.95, 0.3, 4, 3.0, milliseconds=90),
    Searcher("deepct", "lexical", "deepct", 1.0, 0.1, 2, 3.0),
    Searcher("doct5query", "lexical", "doct5query", 1.0, 0.2, 2, 3.0, milliseconds=35),
    Searcher("sparta", "sparse", "sparta", 1.0, 0.3, 4, 2.0, milliseconds=70),
    Searcher("splade", "sparse", "tas-b", 1.12, 0.1, 2, 2.0, milliseconds=110),
    Searcher("dpr", "dense", "dpr", 1.0, -0.2, 4, 1.5, "", 25, 3072),
    Searcher("ance", "dense", "ance", 1.0, 0.1, 4, 1.5, "", 27, 3072),
    Searcher("tas-b", "dense", "tas-b", 1.0, -0.35, 4, 1.5, "", 24, 3072),
    Searcher("sbert-cosine", "dense", "sbert-cosine", 1.0, -0.3, 6, 0.08, "", 23, 3072),
    Searcher("minilm", "dense", "tas-b", 0.99, -0.2, 6, 0.08, "", 9, 1536),
    Searcher("colbert", "late", "colbert", 1.0, 0.05, 4, 2.0, "", 350, 20_000),
    Searcher(
        "bm25+ce-minilm", "late", "bm25+ce-minilm", 1.0, 0.05, 4, 2.0, "bm25-multifield", 620, 300
    ),
)


@dataclass(frozen=True)
class Candidates:
    """What a stretch of queries could be answered with; arrays are queries x candidates."""

    first: int
    """The number of the first query."""
    documents: NDArray[np.int32]
    """Numbers of documents of the corpus."""
    gain: Floats
    """Relevance, 0 where there is none."""
    seen: Floats
    """What all systems see; minus infinity where a row has no candidate."""
    length: Floats
    """Standardised logarithm of the documents' lengths."""
    worth: Floats
    """The share of a system's bonus that the document has."""
    rejected: NDArray[np.bool_]
    """Judged, and not relevant."""


class Bench:
    """The candidates of all queries of one collection, stretch by stretch."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self._ids = collection.doc_ids
        lengths = np.log(collection.n_words)
        self._length = ((lengths - lengths.mean()) / max(lengths.std(), 1e-9)).astype(np.float32)
        self._order = np.random.default_rng([collection.seed, 4]).permutation(len(self._ids))
        self._rows = _judged(collection, self._ids)

    def stretches(self) -> Iterator[Candidates]:
        """All queries, in their order."""
        widths = np.array([len(documents) for documents, _ in self._rows]) + UNJUDGED
        start = 0
        while start < len(widths):
            most = np.maximum.accumulate(widths[start:]) * np.arange(1, len(widths) - start + 1)
            stop = start + max(int(np.searchsorted(most, CELLS, side="right")), 1)
            yield self._candidates(start, stop)
            start = stop

    def sample(self) -> Candidates:
        """The first queries, as many as bonuses are fitted on."""
        return self._candidates(0, min(SAMPLE, len(self._rows)), own=False)

    def _candidates(self, start: int, stop: int, *, own: bool = True) -> Candidates:
        rows = self._rows[start:stop]
        width = max(len(documents) for documents, _ in rows)
        random = np.random.default_rng([self.collection.seed, 5, start])
        documents = np.zeros((len(rows), width + UNJUDGED), np.int32)
        grade = np.full(documents.shape, -9, np.int32)
        # Neighbours in a mixed order: different ones for a query, shared with a few others.
        begin = random.integers(0, len(self._order), (len(rows), 1))
        places = (begin + np.arange(UNJUDGED)) % len(self._order)
        documents[:, width:] = self._order[places]
        grade[:, width:] = -1
        for number, (judged, relevance) in enumerate(rows):
            documents[number, : len(judged)] = judged
            grade[number, : len(judged)] = np.maximum(relevance, 0)
            twice = np.isin(documents[number, width:], judged)
            grade[number, width:][twice] = -9
        seen = SHARED * random.standard_normal(documents.shape, np.float32)
        seen[grade == -9] = -np.inf
        if own:
            self._add_own(start, documents[:, -1:], grade[:, -1:], seen[:, -1:])
        gain = np.maximum(grade, 0).astype(np.float32)
        hard = np.maximum(1 + 0.6 * random.standard_normal((len(rows), 1), np.float32), 0)
        worth: Any = hard * (gain > 0) * (0.7 + 0.3 * gain / max(gain.max(), 1))
        lengths = self._length[documents]
        return Candidates(start, documents, gain, seen, lengths, worth, grade == 0)

    def _add_own(self, start: int, documents: NDArray, grade: NDArray, seen: NDArray) -> None:
        """The query's own document, where queries are documents; all systems find it."""
        if self.collection.dataset.drop_self:
            names = self.collection.queries()["query_id"].iloc[start : start + len(documents)]
            documents[:, 0] = _places(self._ids, pa.array(names, pa.string()))
            grade[:, 0], seen[:, 0] = -1, OWN


def _places(ids: pa.Array, wanted: pa.Array) -> NDArray[np.int32]:
    """Where in the corpus documents stand."""
    places = pc.call_function("index_in", [wanted], pc.SetLookupOptions(ids))
    return places.to_numpy(zero_copy_only=False).astype(np.int32)


def _judged(collection: Collection, ids: pa.Array) -> list[tuple[NDArray, NDArray]]:
    """By query its judged documents, as numbers, and their relevance."""
    rows = collection.judgements()
    documents = _places(ids, pa.array(rows["doc_id"], pa.string()))
    relevance = rows["relevance"].to_numpy()
    groups = rows.groupby("query_id").indices
    found = [groups[query_id] for query_id in collection.queries()["query_id"]]
    return [(documents[places], relevance[places]) for places in found]


def scored(searcher: Searcher, bonus: float, among: Candidates, seed: int) -> Floats:
    """The scores of candidates, the same for the same seed."""
    stretch, name = among.first, zlib.crc32(searcher.name.encode())
    family = np.random.default_rng([seed, stretch, zlib.crc32(searcher.family.encode())])
    own = np.random.default_rng([seed, stretch, name])
    found: Floats = family.standard_normal(among.seen.shape, np.float32)
    found *= FAMILY
    found += among.seen
    found += ALONE * own.standard_normal(among.seen.shape, np.float32)
    found += searcher.length * among.length
    found += np.float32(ON_TOPIC[searcher.family]) * among.rejected
    found += np.float32(bonus) * among.worth
    return found


def bonuses(bench: Bench, targets: Mapping[str, float]) -> dict[str, float]:
    """By system the bonus of relevant documents with which nDCG@10 comes to the target."""
    among, seed = bench.sample(), bench.collection.seed
    best = _gained(among.gain, among.gain)
    found = {}
    for searcher in SEARCHERS:
        plain = scored(searcher, 0.0, among, seed)
        low, high = 0.0, LARGEST_BONUS
        for _ in range(STEPS):
            middle = (low + high) / 2
            better: Floats = among.worth * np.float32(middle)
            gained = _gained(np.add(plain, better, dtype=np.float32), among.gain)
            mean = float((gained / np.maximum(best, 1e-9)).mean())
            low, high = (middle, high) if mean < targets[searcher.name] else (low, middle)
        found[searcher.name] = (low + high) / 2
    return found


def _gained(scores: Floats, gain: Floats) -> NDArray[np.float64]:
    """The discounted gain of each row's best 10."""
    top = np.argpartition(-scores, 10, axis=1)[:, :10]
    order = np.take_along_axis(top, np.argsort(-np.take_along_axis(scores, top, 1), 1), 1)
    return (np.take_along_axis(gain, order, 1) / np.log2(np.arange(2, 12))).sum(axis=1)


def targets(dataset: Dataset) -> dict[str, float]:
    """The nDCG@10 that each system is to reach: what is printed for it, or for what it is like."""
    figures = published.results()
    chosen = (figures["measure"] == "nDCG@10") & ~figures["suspect"]
    rows = figures[chosen & (figures["dataset"] == dataset.name.partition("/")[0])]
    printed = rows.groupby("system")["value"].mean().to_dict()
    return {
        searcher.name: min(searcher.factor * printed.get(searcher.like, 0.4), 0.95)
        for searcher in SEARCHERS
    }


@dataclass
class Lists:
    """The hits of one system, stretch by stretch: query and document as numbers, and score."""

    query: list[NDArray[np.int32]]
    document: list[NDArray[np.int32]]
    score: list[NDArray[np.float64]]

    def table(self, collection: Collection) -> pa.Table:
        """query_id (a dictionary), doc_id, score, as a run file is read."""
        names = pa.array(collection.queries()["query_id"], pa.string())
        numbers = pa.array(np.concatenate(self.query))
        documents = pa.array(np.concatenate(self.document))
        return pa.table(
            {
                "query_id": pa.DictionaryArray.from_arrays(numbers, names),
                "doc_id": collection.doc_ids.take(documents).cast(pa.large_string()),
                "score": np.concatenate(self.score),
            }
        )


def search(bench: Bench, depth: int) -> dict[str, Lists]:
    """What each system finds for every query, to a depth."""
    found = {searcher.name: Lists([], [], []) for searcher in SEARCHERS}
    fitted = bonuses(bench, targets(bench.collection.dataset))
    for among in bench.stretches():
        seed, kept = bench.collection.seed, dict[str, NDArray[np.int64]]()
        for searcher in SEARCHERS:
            scores = scored(searcher, fitted[searcher.name], among, seed)
            if searcher.first:
                again = np.full_like(scores, -np.inf)
                columns = kept[searcher.first]
                np.put_along_axis(again, columns, np.take_along_axis(scores, columns, 1), 1)
                scores = again
            columns = np.argpartition(-scores, depth - 1, axis=1)[:, :depth]
            kept[searcher.name] = columns
            _add(found[searcher.name], searcher, among, columns, scores, seed)
    return found


def _add(
    lists: Lists,
    searcher: Searcher,
    among: Candidates,
    columns: NDArray[np.int64],
    scores: Floats,
    seed: int,
) -> None:
    chosen = np.take_along_axis(scores, columns, 1)
    whole = np.isfinite(chosen)
    if searcher.family == "lexical":
        random = np.random.default_rng([seed, among.first])
        short = random.random((len(columns), 1)) < SHORT
        whole &= ~short | (np.arange(columns.shape[1]) < random.integers(0, 100, short.shape))
    rows = np.broadcast_to(np.arange(len(columns))[:, None], columns.shape)
    values = searcher.scale * (chosen.astype(np.float64) + 4)
    lists.query.append((among.first + rows[whole]).astype(np.int32))
    lists.document.append(np.take_along_axis(among.documents, columns, 1)[whole])
    lists.score.append(np.round(values[whole], searcher.decimals))
