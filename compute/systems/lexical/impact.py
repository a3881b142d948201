"""Impact indexes: texts as weighted terms, compared by inner product, with Anserini and Lucene.

Weights are rounded to whole numbers, which Lucene keeps as frequencies of a term: the score of a
document is the inner product of the rounded weights, exactly.
"""

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
from compute.systems.searcher import Ask, Limited, Progress, Request, Span, limited

# Only for types: the catalogue of systems loads no pandas.
if TYPE_CHECKING:
    from pandas import DataFrame

Weights = dict[str, int]
"""Terms, without spaces, and the frequency of each in the document or query: 1 or more."""
Encode = Callable[[list[str]], list[Weights]]
"""Function from texts to the weighted terms of each, in their order."""

SHARD = 512
"""Documents in one file: an interrupted encoding loses at most this many."""
_WEIGHTS = "collection"
"""The folder of encoded documents, inside that of the index."""
_COLLECTION = ["-collection", "JsonVectorCollection"]
_IMPACTS = ["-impact", "-pretokenized"]


class Weighted(OfCheckpoint, ABC):
    """A searcher whose documents are weighted terms, computed by a model shard by shard."""

    @abstractmethod
    def documents_encoder(self, settings: Settings) -> Encode:
        """Loads the model; the weighted terms of documents."""

    @abstractmethod
    def _term_options(self) -> list[str]:
        """Options of Anserini for indexing terms, each repeated according to its weight."""

    def check(self) -> None:
        """Raises Unavailable when Java, a library or the weights are missing."""
        anserini.check()
        self.checkpoint.check("torch", "transformers")

    def index(
        self, documents: Path, folder: Path, settings: Settings, progress: Progress
    ) -> dict[str, Any]:
        """documents, indexed and empty (counts): Lucene's index in `folder/lucene`.

        A document without weighted terms is left out. Finished shards are kept: after an
        interruption, the next call resumes there.
        """
        collection, options = folder / _WEIGHTS, [*_COLLECTION, *self._term_options()]
        total = _encode(documents, folder, lambda: self.documents_encoder(settings), progress)
        facts = lucene.index(collection, folder, total, options, settings, progress)
        shutil.rmtree(collection)
        return facts

    def piece_documents(self, settings: Settings) -> int:
        """Whole shards."""
        return encoding.whole_shards(settings.shard_documents, SHARD)

    def make_piece(
        self, documents: Path, span: Span, folder: Path, settings: Settings, progress: Progress
    ) -> None:
        """The weighted terms of these documents, in the form that `index` reads."""
        _encode(documents, folder, lambda: self.documents_encoder(settings), progress, span)


@dataclass(frozen=True)
class Impact(Weighted, Limited):
    """A model that weights terms in documents and queries; weights times `scale` are rounded.

    Title and text, joined with a space, are truncated to `max_length` word pieces. For a query, the
    1,024 heaviest terms count. Raises WrongInput for a `max_length` below 3 or a `scale` below 1.
    """

    checkpoint: Checkpoint
    max_length: int = limited(512, 3)
    scale: int = limited(100, 1)

    PARAMETERS: ClassVar[tuple[str, ...]] = ("model", "max_length", "scale")

    def index_identity(self) -> dict[str, Any]:
        """Weights of the model, truncation and scale."""
        return {
            "engine": f"Anserini {anserini.VERSION}",
            "encoder": type(self).__name__,
            "checkpoint": self.checkpoint.identity(),
            "max_length": self.max_length,
            "scale": self.scale,
            "fields": ["title + ' ' + text"],
        }

    def identity(self) -> dict[str, Any]:
        """The index; it determines the search."""
        return self.index_identity() | {"ranker": "inner product of rounded weights"}

    def _term_options(self) -> list[str]:
        return _IMPACTS

    def piece_identity(self) -> dict[str, Any]:
        """Identity of the index."""
        return self.index_identity() | {"shard": SHARD}

    def search(self, folder: Path, request: Request) -> DataFrame:
        """query_id, doc_id, score: the inner product of the rounded weights."""
        texts = request.texts
        weighted: list[Weights] = []
        if texts:
            lengths = [len(text) for text in texts]
            weighted = encoding.by_length(self.queries_encoder(request.settings), texts, lengths)
        lines = [spelled(weights) for weights in weighted]
        hits = lucene.search(folder, request, lines, _IMPACTS)
        # Anserini changes tied scores slightly; the weights are whole numbers.
        return hits.assign(score=hits["score"].round())

    @contextmanager
    def session(self, folder: Path, settings: Settings) -> Iterator[Ask]:
        """A function that answers one query like `search`; its hits stay with Lucene."""
        encode = self.queries_encoder(settings)
        # Work that a model does only in its first call.
        encode(["query"])
        with anserini.session(folder / "lucene", _IMPACTS, settings) as ask:
            yield lambda text, depth: ask(spelled(encode([text])[0]), depth)

    @abstractmethod
    def queries_encoder(self, settings: Settings) -> Encode:
        """Loads the model; the weighted terms of queries."""


def rounded(vector: np.ndarray, scale: int) -> Weights:
    """The weights of a vector (vocabulary,) as whole numbers, without those that round to 0. A term
    is the number of its dimension: names of word pieces may contain anything."""
    whole = np.rint(vector * scale).astype(np.int64)
    places = np.flatnonzero(whole > 0)
    return dict(zip(map(str, places.tolist()), whole[places].tolist(), strict=True))


def spelled(weights: Weights) -> str:
    """A query for Anserini: each term repeated according to its weight, the heaviest first."""
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
    of documents. With a `span`, which begins with a shard, only its own shards are written, named
    as in the complete index."""
    file, collection = parquet_files.opened(documents), folder / _WEIGHTS
    serials = lucene.serials(file, None if span else folder)
    start, end = span or (0, len(serials))
    texts = (encoding.joined(*record) for record in encoding.records(file, start))
    collection.mkdir(exist_ok=True)
    encode, total = None, end - start
    for first in range(start, end, SHARD):
        last, done = min(first + SHARD, end), first - start
        shard = list(islice(texts, last - first))
        target = collection / f"{first // SHARD:06}.jsonl"
        if not target.exists():
            encode = encode or load()

            def report(more: int, before: int = done) -> None:
                progress(before + more, total, "documents")

            rows = encoding.by_length(encode, shard, [len(text) for text in shard], report)
            _write(target, serials[first:last].tolist(), rows)
        progress(last - start, total, "documents")
    return total


def _write(target: Path, serials: list[int], rows: list[Mapping[str, int]]) -> None:
    with written_aside(target, alone=True) as lines:
        for number, weights in zip(serials, rows, strict=True):
            line = {"id": lucene.serial(number), "vector": weights}
            lines.write(json.dumps(line).encode() + b"\n")
