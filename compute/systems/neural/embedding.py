"""Dense retrieval with any encoder: encodes, stores and searches vectors. faiss and the models are
imported inside the functions that compute."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from compute.base import files, json_files, parquet_files
from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import Settings
from compute.systems.neural import encoding, vectors
from compute.systems.neural.encoding import Encode
from compute.systems.searcher import Ask, Progress, Request, Span, no_hits

# These are imported only for types, since the catalogue of systems must not load pandas.
if TYPE_CHECKING:
    from pandas import DataFrame

NAME = "vectors"
LAYOUT = ("index", *(one.name for one in fields(vectors.Layout) if one.name != "kind"))
"""Parameters of every vector system; `index` is the field `index_kind`."""
SAMPLE = 200
"""Number of documents whose beginnings are the queries that measure recall."""
MERGING, COMPARING = "writing the vectors to one file", "comparing with exact search"
"""Progress messages without numbers."""
_FACTS = "facts.json"
_SEED = 20_210


@dataclass(frozen=True, kw_only=True)
class Embedding(ABC):
    """One vector for each document and query, compared by inner product. `index_kind` is flat
    (exact), hnsw or ivf; their parameters are those of `vectors.Layout`. `dtype`, float32 or
    float16, is the type in which vectors are stored. A graph built by several threads differs
    slightly from build to build; everything else is deterministic."""

    index_kind: str = "flat"
    dtype: str = "float32"
    m: int = 32
    ef_construction: int = 200
    ef_search: int = 256
    nlist: int = 0
    nprobe: int = 64
    pq: int = 0
    refine: int = 0

    @property
    def layout(self) -> vectors.Layout:
        """Return how vectors are stored and searched."""
        return vectors.Layout(self.index_kind, *(getattr(self, name) for name in LAYOUT[1:]))

    def __post_init__(self) -> None:
        self.layout.check()

    @abstractmethod
    def vectors_identity(self) -> dict[str, Any]:
        """Return what determines the vectors: weights, pooling, truncation, fields."""

    @abstractmethod
    def join(self, title: str, text: str) -> Any:
        """Return the input of the model for a document."""

    @abstractmethod
    def encoder(self, settings: Settings, of: str) -> Encode:
        """Load the model; returns a function from texts to vectors (texts, dimensions), for
        "documents" or "queries"."""

    def index_identity(self) -> dict[str, Any]:
        """Return the identity of the vectors, and of their storage if it is not exact."""
        return self.vectors_identity() | self.layout.stored()

    def identity(self) -> dict[str, Any]:
        """Return the identity of the index, and how it is searched."""
        return self.index_identity() | {"ranker": self.layout.ranker()}

    def index(
        self, documents: Path, folder: Path, settings: Settings, progress: Progress
    ) -> dict[str, Any]:
        """Encode the documents and build the index; returns the number of documents. An approximate
        index is stored with data that measure its recall: the titles, or first words, of sampled
        documents, and their exact search results. Finished shards and a trained or finished index
        are kept, so the next call resumes after an interruption."""
        facts = folder / _FACTS
        if not facts.exists():
            about = self._build(documents, folder, settings, progress)
            with files.written_aside(facts) as file:
                file.write(json.dumps(about).encode())
        if (folder / vectors.FILE).exists():
            (folder / vectors.TRAINED).unlink(missing_ok=True)
            if not self.refine:
                # The approximate index contains the vectors itself.
                (folder / f"{NAME}.npy").unlink(missing_ok=True)
        return json_files.read(facts)

    def piece_documents(self, settings: Settings) -> int:
        """Return the number of documents per piece, as complete shards."""
        return encoding.whole_shards(settings.shard_documents)

    def piece_identity(self) -> dict[str, Any]:
        """Return the identity of the vectors, however they are searched."""
        return self.vectors_identity() | {"dtype": self.dtype, "shard": encoding.SHARD}

    def make_piece(
        self, documents: Path, span: Span, folder: Path, settings: Settings, progress: Progress
    ) -> None:
        """Encode the shards of these documents."""
        self._encode(documents, folder, settings, progress, span)

    def _encode(
        self,
        documents: Path,
        folder: Path,
        settings: Settings,
        progress: Progress,
        span: Span | None = None,
    ) -> int:
        """Encode documents into shards; returns their number."""
        count = parquet_files.opened(documents).metadata.num_rows

        def pack(rows: list[Any]) -> dict[str, np.ndarray]:
            # This check comes with the first shard, not after all are encoded.
            self.layout.fit(count, len(rows[0]), settings.vector_bytes)
            return {"": self._finite(np.stack(rows), "a document")}

        return encoding.in_shards(
            documents,
            folder,
            NAME,
            lambda: self.encoder(settings, "documents"),
            progress,
            join=self.join,
            pack=pack,
            span=span,
        )

    def _build(
        self, documents: Path, folder: Path, settings: Settings, progress: Progress
    ) -> dict[str, Any]:
        """Encode the documents and build the approximate index, if there is one; returns facts."""
        total = self._encode(documents, folder, settings, progress)
        progress(0, 0, MERGING)
        encoding.merge(folder, NAME)
        if self.index_kind == "flat" or not total:
            return {"documents": total}
        stored = encoding.read(folder, NAME)
        if not (folder / vectors.FILE).exists():
            # Shards from other workers have not been checked yet.
            self.layout.fit(total, stored[0].shape[1], settings.vector_bytes)
            self.layout.build(folder, stored, settings.threads, progress)
        progress(0, 0, COMPARING)
        texts = _beginnings(documents)
        queries = np.stack(self._encoded(texts, settings))
        exact = vectors.nearest(queries, stored, vectors.DEPTH, settings.threads)[1]
        vectors.keep_compared(folder, list(queries[:, None]), exact)
        return {"documents": total}

    def recall(self, folder: Path, settings: Settings) -> float | None:
        """Return the share of the exact top 100 that the index finds with these parameters."""
        kept = vectors.compared(folder)
        if kept is None:
            return None
        queries, exact = np.concatenate(kept[0]), kept[1]
        found = self._nearest(folder, settings)(queries, vectors.DEPTH)[1]
        return vectors.recall(found, exact) if exact.size else None

    def _finite(self, rows: np.ndarray, of: str) -> np.ndarray:
        """Convert rows to the storage type. Raises WrongInput for infinite or too large numbers."""
        if not np.isfinite(rows).all():
            raise WrongInput(
                f"the vector of {of} has numbers that are not finite: try another model"
            )
        with np.errstate(over="ignore"):
            stored = rows.astype(self.dtype)
        if not np.isfinite(stored).all():
            raise WrongInput(f"the vector of {of} has numbers too large for dtype=float16")
        return stored

    def _encoded(
        self, texts: list[str], settings: Settings, progress: Progress = lambda *_: None
    ) -> list[np.ndarray]:
        """Encode queries; returns their vectors in order."""
        encode = self.encoder(settings, "queries")
        report = encoding.after(progress, 0, len(texts), "queries")
        rows = encoding.by_length(encode, [text.strip() for text in texts], report)
        if not all(np.isfinite(row).all() for row in rows):
            raise WrongInput(
                "the vector of a query has numbers that are not finite: try another model"
            )
        return rows

    def search(self, folder: Path, request: Request) -> DataFrame:
        """Search by inner product: query_id, doc_id, score. Every query has `depth` hits if there
        are enough documents; with clusters or a graph, there may be fewer."""
        texts, settings = request.texts, request.settings
        if not texts:
            return no_hits()
        encoded = self._encoded(texts, settings, request.progress)
        asked = np.stack(encoded).astype(np.float32, copy=False)
        scores, places = self._nearest(folder, settings)(asked, request.depth)
        hits = places >= 0
        query_ids = request.queries["query_id"].to_numpy()[np.nonzero(hits)[0]]
        return encoding.hits(folder, query_ids, places[hits], scores[hits])

    @contextmanager
    def session(self, folder: Path, settings: Settings) -> Iterator[Ask]:
        """Load the system and return a function from a query to document ids, best first."""
        encode, ids = self.encoder(settings, "queries"), encoding.read_ids(folder)
        nearest = self._nearest(folder, settings)

        def ask(text: str, depth: int) -> pa.Array:
            query = np.array(list(encode([text.strip()])), np.float32)
            places = nearest(query, depth)[1][0]
            return ids.take(pa.array(places[places >= 0]))

        yield ask

    def _nearest(self, folder: Path, settings: Settings) -> vectors.Nearest:
        """Return a function to the scores and positions of the best documents; it is exact if there
        is no approximate index."""
        self._require(folder)
        stored = encoding.read(folder, NAME)
        if (folder / vectors.FILE).exists():
            found = self.layout.opened(folder, settings.threads)
            return vectors.refined(found, stored[0], self.refine) if self.refine else found
        return lambda queries, depth: vectors.nearest(queries, stored, depth, settings.threads)

    def _require(self, folder: Path) -> None:
        """Raise Unavailable if a file of the index is missing, since hits would be missing, too."""
        facts = folder / _FACTS
        if not facts.exists() or not json_files.read(facts)["documents"]:
            return
        is_flat = self.index_kind == "flat"
        wanted = [] if is_flat else [vectors.FILE]
        wanted += [f"{NAME}.npy"] if is_flat or self.refine else []
        for name in wanted:
            if not (folder / name).exists():
                raise Unavailable(f"{folder / name} is lost: remove {folder}, then run it again")


def _beginnings(documents: Path) -> list[str]:
    """Return the titles, or the first ten words, of sampled documents."""
    file = parquet_files.opened(documents)
    total = file.metadata.num_rows
    chosen = np.random.default_rng(_SEED).permutation(total)[:SAMPLE]
    wanted = set(chosen.tolist())
    records = (row for row in enumerate(encoding.records(file)) if row[0] in wanted)
    return [title or " ".join(text.split()[:10]) for _, (title, text) in records]
