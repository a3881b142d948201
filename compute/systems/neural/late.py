"""Late interaction: one vector per token, candidates from approximate search, and exact MaxSim.
faiss, torch and sentence-transformers are imported inside the functions that compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from compute.base import parquet_files
from compute.base.settings import Settings
from compute.systems.checkpoints import Checkpoint, OfCheckpoint
from compute.systems.neural import encoding, maxsim, multivector, vectors
from compute.systems.searcher import Ask, Limited, Progress, Request, Span, limited, no_hits, within

# These are imported only for types, since the catalogue of systems must not load pandas.
if TYPE_CHECKING:
    from pandas import DataFrame

INDEX = "tokens.faiss"
_LISTS_EACH = 1024
"""Approximate number of token vectors per list of the index, which has at most _LISTS lists."""
_LISTS = 4096
_TRAINED_ON = 64
"""Number of token vectors per list on which the lists are trained."""
_ADDED = 65_536
"""Number of token vectors converted to 32-bit floats at once."""
_SAMPLE = 16
"""Number of documents whose beginnings are the queries that measure recall."""
_WORDS = 12


@dataclass(frozen=True)
class LateInteraction(OfCheckpoint, Limited):
    """A model of token vectors. A document's score is MaxSim, computed from 32-bit products.

    The document is `title + " " + text`, truncated to `document_length` word pieces including
    special tokens, and the query is truncated to `query_length`; 0 means the model's own length.
    Token vectors are stored as 16-bit floats. For each token of a query, an inverted index (FAISS,
    4 bits per number), of which `probes` lists are searched, finds the `candidates` nearest token
    vectors. All documents with such a token are scored exactly. A document without tokens is never
    found. For a model that was not trained for late interaction, the unit vectors of the last layer
    are compared, without [CLS] and [SEP]. Raises WrongInput for a length below 3, or for fewer than
    one candidate.
    """

    checkpoint: Checkpoint
    query_length: int = 0
    document_length: int = 0
    candidates: int = limited(100, 1)
    probes: int = limited(8, 1)

    PARAMETERS: ClassVar[tuple[str, ...]] = (
        "model",
        "query_length",
        "document_length",
        "candidates",
        "probes",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("query_length", "document_length"):
            if getattr(self, name) != 0:
                within(self, name, 3)

    def index_identity(self) -> dict[str, Any]:
        """Return the weights, the truncation and the storage of vectors."""
        return self.checkpoint.identity() | {
            "vectors": "each token, float16",
            "query_length": self.query_length,
            "document_length": self.document_length,
            "fields": ["title + ' ' + text"],
            "approximate": f"inverted lists of {_LISTS_EACH}, at most {_LISTS}, 4 bits",
        }

    def identity(self) -> dict[str, Any]:
        """Return the identity of the index, the candidates and the ranking."""
        return self.index_identity() | {
            "candidates": self.candidates,
            "probes": self.probes,
            "ranker": "MaxSim",
        }

    def check(self) -> None:
        """Raise Unavailable if a library or the weights are missing."""
        self.checkpoint.check("torch", "sentence_transformers", "faiss")

    def index(
        self, documents: Path, folder: Path, settings: Settings, progress: Progress
    ) -> dict[str, Any]:
        """Store token vectors and their approximate index; returns the numbers of documents and
        tokens. Data that measure recall are stored, too: the titles (or else first words) of a
        seeded sample of documents, and their top 100 by exact MaxSim."""
        load = cache(lambda: self._load(settings))
        total = _encode(documents, folder, load, progress)
        tokens = maxsim.read(folder)
        facts = {"documents": total, "tokens": int(tokens.firsts[-1])}
        if not facts["tokens"]:
            return facts
        if not (folder / INDEX).exists():
            _build(folder / INDEX, tokens, settings.threads)
        queries = multivector.queries(load())(_beginnings(documents, tokens.counts))
        everything = np.flatnonzero(tokens.counts)
        exact = [
            everything[np.lexsort((everything, -scores))[: vectors.DEPTH]]
            for scores in tokens.scores(queries, everything)
        ]
        vectors.keep_compared(folder, queries, np.array(exact))
        return facts

    def recall(self, folder: Path, settings: Settings) -> float | None:
        """Return the share of the exact top 100 that is among the candidates."""
        kept = vectors.compared(folder)
        if kept is None:
            return None
        tokens = maxsim.read(folder)
        index = _open(folder / INDEX, self.probes, settings.threads)
        found = [self._candidates(index, tokens, query) for query in kept[0]]
        return vectors.recall(found, kept[1]) if kept[1].size else None

    def piece_documents(self, settings: Settings) -> int:
        """Return the number of documents per piece, as complete shards."""
        return encoding.whole_shards(settings.shard_documents)

    def piece_identity(self) -> dict[str, Any]:
        """Return the identity of the documents' token vectors."""
        identity = self.index_identity()
        for other in ("query_length", "approximate"):
            del identity[other]
        return identity | {"shard": encoding.SHARD}

    def make_piece(
        self, documents: Path, span: Span, folder: Path, settings: Settings, progress: Progress
    ) -> None:
        """Encode the token vectors of these documents."""
        _encode(documents, folder, lambda: self._load(settings), progress, span)

    def search(self, folder: Path, request: Request) -> DataFrame:
        """Rank the candidates down to `depth`: query_id, doc_id, score, best first."""
        texts, found = request.texts, []
        if not texts:
            return no_hits()
        with self._ranking(folder, request.settings) as (model, rank):
            encode = multivector.queries(model)
            asked = encoding.by_length(encode, texts)
            for done, query in enumerate(asked, 1):
                found.append(rank(query, request.depth))
                request.progress(done, len(texts), "queries")
        places, scores = map(np.concatenate, zip(*found, strict=True))
        counts = [len(own) for own, _ in found]
        query_ids = np.repeat(request.queries["query_id"].to_numpy(), counts)
        return encoding.hits(folder, query_ids, places, scores)

    @contextmanager
    def session(self, folder: Path, settings: Settings) -> Iterator[Ask]:
        """Open a function that answers one query with document ids, best first."""
        ids = encoding.read_ids(folder)
        with self._ranking(folder, settings) as (model, rank):
            encode = multivector.queries(model)
            yield lambda text, depth: ids.take(
                pa.array(rank(encode([text])[0], depth)[0])
            ).to_pylist()

    @contextmanager
    def _ranking(self, folder: Path, settings: Settings) -> Iterator[tuple[Any, Rank]]:
        """Open the model, and a function from a query's vectors to positions and scores."""
        tokens = maxsim.read(folder)
        index = _open(folder / INDEX, self.probes, settings.threads)

        def rank(query: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
            """Score the candidates of a query exactly."""
            places = self._candidates(index, tokens, query)
            (scores,) = tokens.scores([query], places)
            best = np.lexsort((places, -scores))[:depth]
            return places[best], scores[best]

        yield self._load(settings), rank

    def _candidates(self, index: Any, tokens: maxsim.Tokens, query: np.ndarray) -> np.ndarray:
        """Return the documents with a token that is near to a token of the query."""
        if index is None or not len(query):
            return np.empty(0, np.int64)
        _, near = index.search(np.ascontiguousarray(query, np.float32), self.candidates)
        return tokens.documents_of(near[near >= 0])

    def _load(self, settings: Settings) -> Any:
        """Load the model with these truncations."""
        return multivector.load(
            self.checkpoint.folder(),
            query_length=self.query_length,
            document_length=self.document_length,
            settings=settings,
        )


Rank = Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]


def _encode(
    documents: Path,
    folder: Path,
    load: Callable[[], Any],
    progress: Progress,
    span: Span | None = None,
) -> int:
    """Encode the token vectors of documents as 16-bit floats; returns the number of documents."""

    def encoder() -> encoding.Encode:
        encode = multivector.documents(load())
        return lambda texts: [row.astype(np.float16) for row in encode(texts)]

    pack = encoding.matrices
    return encoding.in_shards(
        documents, folder, maxsim.NAME, encoder, progress, pack=pack, span=span
    )


def _build(target: Path, tokens: maxsim.Tokens, threads: int) -> None:
    """Write the approximate index of all token vectors, which are numbered across all shards. Since
    its candidates are scored exactly, 4 bits per number find the same candidates as 8 or 32 bits. A
    graph (HNSW) found no more candidates, used 3 times the space and took 25 times as long to
    build."""
    faiss = vectors.faiss_on(threads)
    total, dimensions = int(tokens.firsts[-1]), tokens.shards[0].shape[1]
    lists = min(max(total // _LISTS_EACH, 1), _LISTS)
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dimensions),
        dimensions,
        lists,
        faiss.ScalarQuantizer.QT_4bit,
        faiss.METRIC_INNER_PRODUCT,
    )
    # Small corpora have fewer tokens per list than the clustering expects, which is harmless.
    index.cp.min_points_per_centroid = 1
    index.train(_some(tokens, lists * _TRAINED_ON))
    for shard in tokens.shards:
        for start in range(0, len(shard), _ADDED):
            index.add(shard[start : start + _ADDED].astype(np.float32))
    vectors.write(index, target)


def _some(tokens: maxsim.Tokens, count: int) -> np.ndarray:
    """Return a seeded sample of at most `count` token vectors, in their order."""
    total = int(tokens.firsts[-1])
    numbers = np.sort(np.random.default_rng(0).choice(total, min(count, total), replace=False))
    cuts = np.searchsorted(numbers, tokens.firsts[1:-1])
    parts = [
        shard[some - first]
        for shard, first, some in zip(
            tokens.shards, tokens.firsts, np.split(numbers, cuts), strict=False
        )
    ]
    return np.concatenate(parts).astype(np.float32)


def _open(file: Path, probes: int, threads: int) -> Any:
    """Open the approximate index with memory-mapped lists; None for a corpus without tokens."""
    if not file.exists():
        return None
    faiss = vectors.faiss_on(threads)
    index: Any = faiss.read_index(str(file), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY)
    index.nprobe = probes
    return index


def _beginnings(documents: Path, counts: np.ndarray) -> list[str]:
    """Return the titles, or else first words, of a seeded sample of the documents with tokens."""
    filled = np.flatnonzero(counts)
    size = min(_SAMPLE, len(filled))
    places = np.sort(np.random.default_rng(0).choice(filled, size, replace=False))
    texts, seen = [], 0
    for batch in parquet_files.batches(documents, ["title", "text"]):
        own = places[(places >= seen) & (places < seen + len(batch))] - seen
        records = batch.take(pa.array(own)).to_pylist()
        texts += [record["title"] or record["text"] or "" for record in records]
        seen += len(batch)
    return [" ".join(text.split()[:_WORDS]) for text in texts]
