"""Searches vectors with FAISS: exactly, through a graph (HNSW), or in clusters (IVF, IVF-PQ). All
scores are inner products. Vectors are in memory-mapped shards (see encoding.py), which are read
block by block. An approximate index contains the vectors itself, so the shards are removed once it
is built, unless they are needed to refine its results."""

import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from compute.base.errors import Unavailable, WrongInput
from compute.base.files import written_aside
from compute.base.words import sized
from compute.systems.searcher import Progress, within

KINDS = ("flat", "hnsw", "ivf")
FILE = "vectors.faiss"
"""The approximate index, in the folder of the document ids."""
TRAINED = "trained.faiss"
"""The trained but empty index, which is kept until FILE exists."""
COMPARED = "compared.npz"
"""File of queries and their exact hits, in the folder of an approximate index."""
TRAINING, ADDING = "training the index", "vectors in the index"
"""Progress messages; the second one has numbers."""
DEPTH = 100
"""Depth at which the recall of an approximate index is reported."""
_BLOCK = 65_536
"""Number of vectors compared at once; with 384 dimensions they take 100 MB."""
_CODED = 2048
"""Number of vectors added at once with `pq`; faiss needs 1 kB for each byte of each vector."""
_MOST = 2**31 - 1
"""The largest integer that faiss accepts as a parameter."""
_TRAINING = 128
"""Number of vectors per cluster on which the clusters of IVF are trained."""
_SAMPLE_BYTES = 1 << 30
"""Maximum size of the vectors on which product quantisation is trained."""
_CENTROIDS = 256
"""Number of centroids for each part of a vector that becomes one byte."""
_MAPPED = 2 << 30
"""Number of bytes of a memory-mapped file that may stay in memory while it is read."""
_BETWEEN = 16
"""Number of queries that are refined before the pages read for them are released."""


Nearest = Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]
"""A function from queries and a depth to the scores and positions of documents, best first."""


@dataclass(frozen=True)
class Layout:
    """How vectors are stored and searched.

    HNSW: `m` links for each vector, and `ef_construction` and `ef_search` candidates while the
    graph is built and searched (Malkov and Yashunin, arXiv 1603.09320). IVF: `nlist` clusters (0
    means four times the square root of the number of documents), of which `nprobe` are searched.
    With `pq`, the index stores that many bytes for each vector instead of its numbers (product
    quantisation: Jégou et al., PAMI 2011). With `refine`, this many candidates, and at least as
    many as requested hits, are rescored with the stored vectors.
    """

    kind: str
    dtype: str
    m: int
    ef_construction: int
    ef_search: int
    nlist: int
    nprobe: int
    pq: int = 0
    refine: int = 0

    def check(self) -> None:
        """Raise WrongInput for a value out of range."""
        if self.kind not in KINDS:
            raise WrongInput(f"index is {self.kind!r}; it must be one of: {', '.join(KINDS)}")
        if self.dtype not in ("float32", "float16"):
            raise WrongInput(f"dtype is {self.dtype!r}; it must be float32 or float16")
        lows = {"m": 2, "ef_construction": 1, "ef_search": 1, "nlist": 0, "nprobe": 1}
        for name, low in (lows | {"pq": 0, "refine": 0}).items():
            within(self, name, low)
            within(self, name, low, _MOST)
        if self.pq and self.kind != "ivf":
            raise WrongInput(f"pq is {self.pq}, but index is {self.kind}: pq needs index=ivf")
        if self.refine and not self.pq:
            raise WrongInput(f"refine is {self.refine} without pq: give both, or leave refine out")

    def fit(self, count: int, dimensions: int, memory: int) -> None:
        """Raise Unavailable if indexing this many vectors is estimated to need more than `memory`
        bytes; 0 is no limit. Raises WrongInput if `pq` does not divide the dimensions."""
        if self.pq and dimensions % self.pq:
            raise WrongInput(
                f"pq is {self.pq}, but the vectors have {dimensions} numbers: pq must divide them"
            )
        needed = self._memory(count, dimensions)
        if memory and needed > memory:
            smaller = "a smaller pq" if self.pq else "index=ivf with pq"
            raise Unavailable(
                f"an index of {count:,} vectors of {dimensions} numbers needs {sized(needed)}, more"
                f" than the setting vector_bytes allows ({sized(memory)}): take {smaller}, or raise"
                " the setting"
            )

    def _memory(self, count: int, dimensions: int) -> int:
        """Return the approximate number of bytes needed to build the index."""
        vector = dimensions * np.dtype(self.dtype).itemsize
        if self.kind == "flat":
            return 0
        block = min(count, _BLOCK) * dimensions * 4
        if self.kind == "hnsw":
            # A vector has 2m links of 4 bytes on the lowest level, in a list that doubles when
            # full.
            return block + count * (vector + 16 * self.m)
        sample = min(self._training(self._clusters(count), dimensions), count) * dimensions * 4
        coding = min(count, _CODED) * self.pq * _CENTROIDS * 4
        # Lists double when full, so they use 1.5 times the space on average.
        return block + sample + coding + round(1.5 * count * ((self.pq or vector) + 8))

    def stored(self) -> dict[str, Any]:
        """Return the parameters that determine the index files; empty for exact 32-bit vectors."""
        kind: dict[str, dict[str, Any]] = {
            "flat": {},
            "hnsw": {"index": "hnsw", "m": self.m, "ef_construction": self.ef_construction},
            "ivf": {"index": "ivf", "nlist": self.nlist},
        }
        quantised = {"pq": self.pq, "vectors kept": bool(self.refine)} if self.pq else {}
        dtype = {} if self.dtype == "float32" else {"dtype": self.dtype}
        return kind[self.kind] | quantised | dtype

    def ranker(self) -> str:
        """Describe how the stored vectors are searched."""
        searched = {
            "flat": "exact inner product",
            "hnsw": f"hnsw inner product, ef_search {self.ef_search}",
            "ivf": f"ivf{'-pq' if self.pq else ''} inner product, nprobe {self.nprobe}",
        }
        refined = f", {self.refine} refined" if self.refine else ""
        return searched[self.kind] + refined

    def build(
        self,
        folder: Path,
        shards: Sequence[np.ndarray],
        threads: int,
        progress: Progress = lambda *_: None,
    ) -> None:
        """Write the approximate index of all vectors to `folder`, atomically. An interrupted call's
        training is reused; vectors are added from the first one on."""
        faiss_on(threads)
        index = self._trained(folder, shards, progress)
        count, done = sum(map(len, shards)), 0
        step = _CODED if self.pq else _BLOCK
        for block in _blocks(shards):
            progress(done, count, ADDING)
            for first in range(0, len(block), step):
                index.add(block[first : first + step])
            done += len(block)
        progress(count, count, ADDING)
        write(index, folder / FILE)

    def _trained(self, folder: Path, shards: Sequence[np.ndarray], progress: Progress) -> Any:
        """Return the trained index without vectors, from `folder` or trained now."""
        import faiss

        if (folder / TRAINED).exists():
            return faiss.read_index(str(folder / TRAINED))
        count, dimensions = sum(map(len, shards)), shards[0].shape[1]
        index = self._empty(dimensions, count)
        if not index.is_trained:
            progress(0, 0, TRAINING)
            sample = _sample(shards, count, self._training(index.nlist, dimensions))
            if self.pq and len(sample) < _CENTROIDS:
                # faiss refuses fewer vectors than centroids, so some are used several times.
                sample = np.resize(sample, (_CENTROIDS, dimensions))
            index.train(sample)
            write(index, folder / TRAINED)
        return index

    def _clusters(self, count: int) -> int:
        """Return the number of clusters for this many vectors."""
        return min(self.nlist or round(4 * count**0.5), count)

    def _training(self, nlist: int, dimensions: int) -> int:
        """Return the maximum number of vectors on which this many clusters are trained."""
        # It is at least twice the clusters, since `_sample` may return half as many vectors.
        most = max(_SAMPLE_BYTES // (4 * dimensions), 2 * nlist)
        return min(_TRAINING * nlist, most) if self.pq else _TRAINING * nlist

    def _empty(self, dimensions: int, count: int) -> Any:
        """Make an untrained index."""
        import faiss

        metric = faiss.METRIC_INNER_PRODUCT
        half: Any = faiss.ScalarQuantizer.QT_fp16
        if self.kind == "hnsw":
            if self.dtype == "float16":
                index = faiss.IndexHNSWSQ(dimensions, half, self.m, metric)
            else:
                index = faiss.IndexHNSWFlat(dimensions, self.m, metric)
            index.hnsw.efConstruction = self.ef_construction
            _reserve(index, count)
            return index
        nlist = self._clusters(count)
        centres: Any = faiss.IndexFlatIP(dimensions)
        if self.pq:
            index = faiss.IndexIVFPQ(centres, dimensions, nlist, self.pq, 8, metric)
            index.pq.cp.min_points_per_centroid = 1
        elif self.dtype == "float16":
            # False: the vectors themselves are encoded, in 16 bits as stored, rather than their
            # distances from the centre.
            index = faiss.IndexIVFScalarQuantizer(centres, dimensions, nlist, half, metric, False)
        else:
            index = faiss.IndexIVFFlat(centres, dimensions, nlist, metric)
        # The index holds only a pointer to the centres, so it takes over their ownership.
        centres.this.disown()
        index.own_fields = True
        index.cp.min_points_per_centroid = 1
        return index

    def opened(self, folder: Path, threads: int) -> Nearest:
        """Open the approximate index; returns a function like `nearest`. Position -1: no hit."""
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
    """Return scores and positions (across all shards) of each query's nearest vectors, (queries,
    min(depth, documents)) each, best first; ties are in the order of positions."""
    faiss = faiss_on(threads)
    scores = np.empty((len(queries), 0), np.float32)
    places = np.empty((len(queries), 0), np.int64)
    seen = 0
    for block in _blocks(shards):
        k = min(depth, len(block))
        found, where = faiss.knn(queries, block, k, metric=faiss.METRIC_INNER_PRODUCT)
        scores = np.concatenate([scores, found], axis=1)
        places = np.concatenate([places, np.where(where < 0, -1, where + seen)], axis=1)
        scores, places = _best(scores, places, depth)
        seen += len(block)
    return scores, places


def refined(candidates: Nearest, stored: np.ndarray, least: int) -> Nearest:
    """Return a function that rescores at least `least` candidates with the vectors in `stored`."""

    def search(queries: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
        """Find candidates and score them with the stored vectors."""
        places = candidates(queries, max(depth, least))[1]
        scores = np.full(places.shape, -np.inf, np.float32)
        for row, query in enumerate(np.asarray(queries, np.float32)):
            hits = places[row] >= 0
            # BLAS rounds by a row's position, so equal vectors could get different scores.
            rows = np.asarray(stored[places[row, hits]], np.float32)
            scores[row, hits] = np.einsum("ij,j->i", rows, query)
            if row % _BETWEEN == _BETWEEN - 1:
                _forget(stored)
        return _best(scores, places, depth)

    return search


def keep_compared(folder: Path, queries: Sequence[np.ndarray], exact: np.ndarray) -> None:
    """Store queries, each with one or more vectors, and their first exact hits."""
    rows, counts = np.concatenate(queries), [len(query) for query in queries]
    with written_aside(folder / COMPARED, alone=True) as file:
        np.savez(file, rows=rows, counts=counts, exact=exact)


def compared(folder: Path) -> tuple[list[np.ndarray], np.ndarray] | None:
    """Return what `keep_compared` stored; None if it stored nothing, as for an exact index."""
    if not (folder / COMPARED).exists():
        return None
    with np.load(folder / COMPARED) as kept:
        return np.split(kept["rows"], np.cumsum(kept["counts"])[:-1]), kept["exact"]


def recall(found: Iterable[np.ndarray], exact: np.ndarray) -> float:
    """Return the mean share of a row of `exact` that is in the same row of `found`."""
    shares = [np.isin(best, row).mean() for row, best in zip(found, exact, strict=True)]
    return float(np.mean(shares)) if shares else 1.0


def faiss_on(threads: int) -> Any:
    """Import faiss and set its number of threads."""
    # OpenMP reads these when loaded: threads that spin while waiting slow a busy machine 40-fold.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    import faiss

    faiss.omp_set_num_threads(threads)
    return faiss


def _best(scores: np.ndarray, places: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the best `depth` scores and positions of each row; ties by position."""
    order = np.lexsort((places, -scores), axis=1)[:, :depth]
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(places, order, axis=1)


def _reserve(graph: Any, count: int) -> None:
    """Reserve space for this many vectors, since a growing array temporarily needs it twice."""
    import faiss

    codes: Any = faiss.downcast_index(graph.storage)
    codes.codes.resize(count * codes.sa_code_size())
    codes.codes.clear()


def _blocks(shards: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield 32-bit vectors in order, in blocks: large shards are split and small ones combined."""
    held: list[np.ndarray] = []
    for piece in _pieces(shards):
        held.append(piece)
        if sum(map(len, held)) >= _BLOCK:
            yield _together(held)
            held = []
    if held:
        yield _together(held)


def _pieces(shards: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield stored rows in order, at most a block at once."""
    for shard in shards:
        for first in range(0, len(shard), _BLOCK):
            yield shard[first : first + _BLOCK]
            _forget(shard)


def _forget(shard: np.ndarray) -> None:
    """Release the pages of a large memory-mapped file, which count as this process's memory."""
    if isinstance(shard.base, mmap.mmap) and shard.nbytes > _MAPPED:
        shard.base.madvise(mmap.MADV_DONTNEED)


def _together(held: list[np.ndarray]) -> np.ndarray:
    whole = held[0] if len(held) == 1 else np.concatenate(held)
    return np.ascontiguousarray(whole, np.float32)


def _sample(shards: Sequence[np.ndarray], count: int, most: int) -> np.ndarray:
    """Return up to `most` vectors, spread evenly over the corpus, as 32-bit floats."""
    step = max(1, -(-count // most))
    sample = np.empty((-(-count // step), shards[0].shape[1]), np.float32)
    seen = filled = 0
    for piece in _pieces(shards):
        wanted = piece[-seen % step :: step]
        sample[filled : filled + len(wanted)] = wanted
        seen, filled = seen + len(piece), filled + len(wanted)
    return sample


def write(index: Any, file: Path) -> None:
    """Write the index to a file, atomically."""
    import faiss

    aside = file.with_name(file.name + ".part")
    faiss.write_index(index, str(aside))
    aside.replace(file)
