"""Search among vectors with FAISS: exact, through a graph (HNSW), or in clusters (IVF).

Scores are inner products throughout. Vectors lie in memory-mapped shards (see encoding.py); an
approximate index holds them itself, so that the shards go once it is built.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from compute.base.errors import WrongInput
from compute.systems.searcher import at_least

KINDS = ("flat", "hnsw", "ivf")
FILE = "vectors.faiss"
"""The approximate index, in the folder beside the document ids."""
DEPTH = 100
"""Hits that the recall of an approximate index is told for."""
_BLOCK = 65_536
"""Vectors compared at once: 100 MB of 384 dimensions."""
_TRAINING = 128
"""Vectors that the clustering of IVF sees for each cluster."""


Nearest = Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]
"""From queries and a depth to the scores and places of documents, best first."""


@dataclass(frozen=True)
class Layout:
    """How vectors are kept and searched.

    HNSW: `m` links of each vector, `ef_construction` and `ef_search` candidates while it is built
    and searched (Malkov and Yashunin, arXiv 1603.09320). IVF: `nlist` clusters, 0 for four times
    the square root of the number of documents, `nprobe` of them searched.
    """

    kind: str
    dtype: str
    m: int
    ef_construction: int
    ef_search: int
    nlist: int
    nprobe: int

    def check(self) -> None:
        """Raises WrongInput for a value out of range."""
        if self.kind not in KINDS:
            raise WrongInput(f"index is {self.kind!r}; it must be one of: {', '.join(KINDS)}")
        if self.dtype not in ("float32", "float16"):
            raise WrongInput(f"dtype is {self.dtype!r}; it must be float32 or float16")
        lows = {"m": 2, "ef_construction": 1, "ef_search": 1, "nlist": 0, "nprobe": 1}
        for name, low in lows.items():
            at_least(self, name, low)

    def stored(self) -> dict[str, Any]:
        """What of it the files of an index depend on; nothing for exact 32-bit vectors."""
        kind: dict[str, dict[str, Any]] = {
            "flat": {},
            "hnsw": {"index": "hnsw", "m": self.m, "ef_construction": self.ef_construction},
            "ivf": {"index": "ivf", "nlist": self.nlist},
        }
        return kind[self.kind] | ({} if self.dtype == "float32" else {"dtype": self.dtype})

    def ranker(self) -> str:
        """How the stored vectors are searched."""
        searched = {
            "flat": "exact inner product",
            "hnsw": f"hnsw inner product, ef_search {self.ef_search}",
            "ivf": f"ivf inner product, nprobe {self.nprobe}",
        }
        return searched[self.kind]

    def build(self, folder: Path, shards: Sequence[np.ndarray], threads: int) -> None:
        """Write the approximate index of all vectors to `folder`; it appears whole."""
        faiss = faiss_on(threads)
        count, dimensions = sum(map(len, shards)), shards[0].shape[1]
        index = self._empty(dimensions, count)
        if not index.is_trained:
            index.train(_sample(shards, count, _TRAINING * index.nlist))
        for shard in shards:
            index.add(np.ascontiguousarray(shard, np.float32))
        aside = folder / (FILE + ".part")
        faiss.write_index(index, str(aside))
        aside.replace(folder / FILE)

    def _empty(self, dimensions: int, count: int) -> Any:
        import faiss

        metric = faiss.METRIC_INNER_PRODUCT
        half: Any = faiss.ScalarQuantizer.QT_fp16
        if self.kind == "hnsw":
            if self.dtype == "float16":
                index = faiss.IndexHNSWSQ(dimensions, half, self.m, metric)
            else:
                index = faiss.IndexHNSWFlat(dimensions, self.m, metric)
            index.hnsw.efConstruction = self.ef_construction
            return index
        nlist = min(self.nlist or round(4 * count**0.5), count)
        centres: Any = faiss.IndexFlatIP(dimensions)
        if self.dtype == "float16":
            # Of the vectors themselves, not of their distance from the centre: halves as stored.
            index = faiss.IndexIVFScalarQuantizer(centres, dimensions, nlist, half, metric, False)
        else:
            index = faiss.IndexIVFFlat(centres, dimensions, nlist, metric)
        # The index keeps a bare pointer.
        centres.this.disown()
        index.own_fields = True
        index.cp.min_points_per_centroid = 1
        return index

    def opened(self, folder: Path, threads: int) -> Nearest:
        """The approximate index in `folder`, in memory: as `nearest`, but perhaps not the nearest.

        A place of -1 is no hit.
        """
        faiss = faiss_on(threads)
        index: Any = faiss.read_index(str(folder / FILE), faiss.IO_FLAG_MMAP_IFC)
        if self.kind == "hnsw":
            index.hnsw.efSearch = self.ef_search
        else:
            index.nprobe = self.nprobe
        return lambda queries, depth: index.search(
            np.ascontiguousarray(queries, np.float32), min(depth, index.ntotal)
        )


def nearest(
    queries: np.ndarray, shards: Iterable[np.ndarray], depth: int, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """Scores and places (documents counted through all shards) of each query's nearest vectors.

    Both (queries, min(depth, documents)), best first; of equal scores the earlier place first.
    """
    faiss = faiss_on(threads)
    scores = np.empty((len(queries), 0), np.float32)
    places = np.empty((len(queries), 0), np.int64)
    seen = 0
    for block in _blocks(shards):
        k = min(depth, len(block))
        found, where = faiss.knn(queries, block, k, metric=faiss.METRIC_INNER_PRODUCT)
        scores = np.concatenate([scores, found], axis=1)
        places = np.concatenate([places, where + seen], axis=1)
        scores, places = _best(scores, places, depth)
        seen += len(block)
    return scores, places


def recall(found: np.ndarray, exact: np.ndarray) -> float:
    """Share of the places in each row of `exact` that the same row of `found` has; their mean."""
    shares = [np.isin(best, row).mean() for row, best in zip(found, exact, strict=True)]
    return float(np.mean(shares)) if shares else 1.0


def faiss_on(threads: int) -> Any:
    """faiss, on so many threads."""
    # Read by OpenMP when it is loaded: waiting threads that spin slow a busy machine 40-fold.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    import faiss

    faiss.omp_set_num_threads(threads)
    return faiss


def _best(scores: np.ndarray, places: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.lexsort((places, -scores), axis=1)[:, :depth]
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(places, order, axis=1)


def _blocks(shards: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """32-bit vectors, in order: pieces of large shards, small ones put together."""
    held: list[np.ndarray] = []
    for shard in shards:
        for first in range(0, len(shard), _BLOCK):
            held.append(shard[first : first + _BLOCK])
            if sum(map(len, held)) >= _BLOCK:
                yield _together(held)
                held = []
    if held:
        yield _together(held)


def _together(held: list[np.ndarray]) -> np.ndarray:
    whole = held[0] if len(held) == 1 else np.concatenate(held)
    return np.ascontiguousarray(whole, np.float32)


def _sample(shards: Sequence[np.ndarray], count: int, most: int) -> np.ndarray:
    """Vectors spread evenly over the corpus, at most `most`, as 32-bit floats."""
    step = max(1, -(-count // most))
    wanted, seen, found = np.arange(0, count, step), 0, []
    for shard in shards:
        here = wanted[(wanted >= seen) & (wanted < seen + len(shard))] - seen
        found.append(np.asarray(shard[here], np.float32))
        seen += len(shard)
    return np.concatenate(found)
