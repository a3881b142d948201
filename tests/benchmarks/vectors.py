"""Exact search by this project, beside faiss's own flat index.

python -m tests.benchmarks.vectors exact [VECTORS]                (default: 100000)
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from compute.base.settings import load
from compute.systems.neural import vectors
from tests.benchmarks.side_by_side import Row, quicker, seconds, show

DIMENSIONS = 384
QUERIES = 100


def exact(count: str = "100000") -> None:
    """One query at a time, and all at once: ours through stored shards, faiss from its memory."""
    stored, queries = _random(int(count))
    threads = load().threads
    faiss = vectors.faiss_on(threads)
    flat = faiss.IndexFlatIP(DIMENSIONS)
    flat.add(stored)
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "vectors.npy"
        np.save(file, stored)
        held = [np.load(file, mmap_mode="r")]
        ways: list[Callable[[np.ndarray], Any]] = [
            lambda one: vectors.nearest(one, held, 100, threads),
            lambda one: flat.search(one, 100),
        ]
        for told, batch in (("one query at a time", 1), ("all at once", QUERIES)):
            (ours, own), (theirs, found) = (_batches(way, queries, batch) for way in ways)
            show(
                Row(
                    work=f"exact search of {len(queries)} queries among {len(stored):,} vectors"
                    f" of {DIMENSIONS}, {told}",
                    bar="",
                    ours=seconds(ours),
                    peer=f"faiss IndexFlatIP {seconds(theirs)}",
                    ratio=f"{quicker(theirs, ours)}; recall {vectors.recall(own, found):.4f}",
                    met=None,
                )
            )


def _batches(
    ask: Callable[[np.ndarray], Any], queries: np.ndarray, size: int
) -> tuple[float, np.ndarray]:
    """The seconds of the quicker of two rounds through all queries, and the places found."""
    took, found = [], []
    for _ in range(2):
        start = time.perf_counter()
        found = [ask(queries[at : at + size])[1] for at in range(0, len(queries), size)]
        took.append(time.perf_counter() - start)
    return min(took), np.concatenate(found)


def _random(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors that are stored, and those of queries."""
    generator = np.random.default_rng(7)
    stored = _unit(generator.standard_normal((count, DIMENSIONS), np.float32))
    return stored, _unit(generator.standard_normal((QUERIES, DIMENSIONS), np.float32))


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


if __name__ == "__main__":
    exact(*sys.argv[2:])
