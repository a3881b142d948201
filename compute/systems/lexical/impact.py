"""Impact indexes: texts are weighted terms, compared by their inner product with Anserini and
Lucene. Weights are rounded to integers, which Lucene stores as term frequencies. The score of a
document is exactly the inner product of the rounded weights."""

from __future__ import annotations

import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from compute.base import parquet_files
from compute.base.files import written_aside
from compute.base.settings import Settings
from compute.systems.checkpoints import Checkpoint, OfCheckpoint
from compute.systems.lexical import anserini, lucene
from compute.systems.neural import encoding
from compute.systems.searcher import Ask, Limited, Progress, Request, Span, limited, no_hits

# These are imported only for types, since the catalogue of systems must not load pandas.
if TYPE_CHECKING:
    from pandas import DataFrame

Weights = dict[str, int]
"""Terms, without spaces, and the weight of each in the document or query: 1 or more."""
Encode = Callable[[list[str]], list[Weights]]
"""A function from texts to the weighted terms of each, in the order of the texts."""

SHARD = 512
"""Number of documents in one file; an interrupted encoding loses at most this many."""
_WEIGHTS = "collection"
"""Subfolder of the index's folder for encoded documents."""
_COLLECTION = ["-collection", "JsonVectorCollection"]
_IMPACTS = ["-impact", "-pretokenized"]


class Weighted(OfCheckpoint, ABC):
    """A searcher whose documents are weighted terms, computed by a model shard by shard."""

    @abstractmethod
    def documents_encoder(self, settings: Settings) -> Encode:
        """Load the model; returns a function from documents' texts to their weighted terms."""

    @abstractmethod
    def _term_options(self) -> list[str]:
        """Return Anserini's options for indexing weighted terms."""

    def check(self) -> None:
        """Raise Unavailable if Java, a library or the weights are missing."""
        anserini.check()
        self.checkpoint.check("torch", "transformers")

    def index(
        self, documents: Path, folder: Path, settings: Settings, progress: Progress
    ) -> dict[str, Any]:
        """Make Lucene's index in `folder/lucene`; returns the numbers of documents, indexed and
        empty ones. A document without weighted terms is left out. Finished shards are kept, so the
        next call resumes after an interruption."""
        collection, options = folder / _WEIGHTS, [*_COLLECTION, *self._term_options()]
        total = _encode(documents, folder, lambda: self.documents_encoder(settings), progress)
        facts = lucene.index(collection, folder, total, options, settings, progress)
        shutil.rmtree(collection)
        return facts

    def piece_documents(self, settings: Settings) -> int:
        """Return the number of documents per piece, as complete shards."""
        return encoding.whole_shards(settings.shard_documents, SHARD)

    def make_piece(
        self, documents: Path, span: Span, folder: Path, settings: Settings, progress: Progress
    ) -> None:
        """Write the weighted terms of these documents in the form that `index` reads."""
        _encode(documents, folder, lambda: self.documents_encoder(settings), progress, span)


@dataclass(frozen=True)
class Impact(Weighted, Limited):
    """A model that weights terms in documents and queries; weights times `scale` are rounded. Title
    and text, joined with a space, are truncated to `max_length` word pieces. Only the 1,024
    heaviest terms of a query count. Raises WrongInput for a `max_length` below 3 or a `scale` below
    1."""

    checkpoint: Checkpoint
    max_length: int = limited(512, 3)
    scale: int = limited(100, 1)

    PARAMETERS: ClassVar[tuple[str, ...]] = ("model", "max_length", "scale")

    def index_identity(self) -> dict[str, Any]:
        """Return the weights of the model, truncation and scale."""
        return {
            "engine": f"Anserini {anserini.VERSION}",
            "encoder": type(self).__name__,
            "checkpoint": self.checkpoint.identity(),
            "max_length": self.max_length,
            "scale": self.scale,
            "fields": ["title + ' ' + text"],
        }

    def identity(self) -> dict[str, Any]:
        """Return the identity of the index, which determines the search."""
        return self.index_identity() | {"ranker": "inner product of rounded weights"}

    def _term_options(self) -> list[str]:
        return _IMPACTS

    def piece_identity(self) -> dict[str, Any]:
        """Return the identity of the index, and the size of its shards."""
        return self.index_identity() | {"shard": SHARD}

    def search(self, folder: Path, request: Request) -> DataFrame:
        """Search by the inner product of the rounded weights: query_id, doc_id, score."""
        texts = request.texts
        if not texts:
            return no_hits()
        weighted = encoding.by_length(self.queries_encoder(request.settings), texts)
        lines = [spelled(weights) for weights in weighted]
        hits = lucene.search(folder, request, lines, _IMPACTS)
        # Anserini changes tied scores slightly; rounding restores them, since weights are integers.
        return hits.assign(score=hits["score"].round())

    @contextmanager
    def session(self, folder: Path, settings: Settings) -> Iterator[Ask]:
        """Open a function that answers a query as `search` does; its hits stay with Lucene."""
        encode = self.queries_encoder(settings)
        # Some work is done only in a model's first call.
        encode(["query"])
        with anserini.session(folder / "lucene", _IMPACTS, settings) as ask:
            yield lambda text, depth: ask(spelled(encode([text])[0]), depth)

    @abstractmethod
    def queries_encoder(self, settings: Settings) -> Encode:
        """Load the model; returns a function from queries' texts to their weighted terms."""


def rounded(vector: np.ndarray, scale: int) -> Weights:
    """Return the weights of a vector (vocabulary,) as integers, without those that round to 0. A
    term is named by the number of its dimension, since word pieces may contain anything."""
    whole = np.rint(vector * scale).astype(np.int64)
    places = np.flatnonzero(whole > 0)
    return dict(zip(map(str, places.tolist()), whole[places].tolist(), strict=True))


def spelled(weights: Weights) -> str:
    """Write a query for Anserini: each term repeated by its weight, the heaviest first."""
    heaviest = sorted(weights, key=lambda term: weights[term], reverse=True)[: lucene.CLAUSES]
    return " ".join(" ".join([term] * weights[term]) for term in heaviest)


def _encode(
    documents: Path,
    folder: Path,
    load: Callable[[], Encode],
    progress: Progress,
    span: Span | None = None,
) -> int:
    """Write the weighted terms of a file's documents and their ids to `folder`; returns the number
    of documents. With a `span`, which must begin at the start of a shard, only the span's shards
    are written, without ids, and named as in the complete index."""
    file, collection = parquet_files.opened(documents), folder / _WEIGHTS
    serials = lucene.serials(file, None if span else folder)
    start, end = span or (0, len(serials))
    texts = (encoding.joined(*record) for record in encoding.records(file, start))
    collection.mkdir(exist_ok=True)
    encode, total = None, end - start
    for first in range(start, end, SHARD):
        last = min(first + SHARD, end)
        shard = list(islice(texts, last - first))
        target = collection / f"{first // SHARD:06}.jsonl"
        if not target.exists():
            encode = encode or load()
            report = encoding.after(progress, first - start, total)
            rows = encoding.by_length(encode, shard, report)
            _write(target, serials[first:last].tolist(), rows)
        progress(last - start, total, "documents")
    return total


def _write(target: Path, serials: list[int], rows: list[Mapping[str, int]]) -> None:
    """Write the weighted terms of a shard in Anserini's format."""
    with written_aside(target, alone=True) as lines:
        for number, weights in zip(serials, rows, strict=True):
            line = {"id": lucene.serial(number), "vector": weights}
            lines.write(json.dumps(line).encode() + b"\n")
