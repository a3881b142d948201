"""Encoding beside a plain SentenceTransformer loop; exact, HNSW and IVF search beside each other.

    python -m tests.benchmarks.vectors encode [DOCUMENTS] [ROUNDS] [DATASET]
    python -m tests.benchmarks.vectors exact [VECTORS]                (default: 100000)
    python -m tests.benchmarks.vectors search [VECTORS]               (default: 100000)
    python -m tests.benchmarks.vectors recall FOLDER                  (of an exact index)

`encode` takes the first documents (2,000 of SciFact) through MiniLM, in turn by each way; on a
busy machine the seconds of the processor count. `exact` is our exact search beside faiss's own
flat index. `search` makes up random vectors of
384 dimensions, the hardest there are for graphs and clusters: nothing is near anything. `recall`
searches the vectors of a real corpus, from the folder of an exact index in the caches.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute.base.settings import load
from compute.datasets import DATASETS
from compute.datasets.reading import source
from compute.systems import SYSTEMS
from compute.systems.neural import encoding, vectors
from compute.systems.neural.dense import Dense
from tests.benchmarks.side_by_side import Row, quicker, say, seconds, show

DIMENSIONS = 384
QUERIES = 100


def main(what: str, *options: str) -> None:
    """Run one of the parts."""
    {"encode": encode, "exact": exact, "search": search, "recall": recall}[what](*options)


def encode(documents: str = "2000", rounds: str = "1", dataset: str = "scifact") -> None:
    """Documents per second of three ways, and the largest difference of their vectors."""
    settings = load()
    searcher = SYSTEMS["minilm"].search
    assert isinstance(searcher, Dense)
    records = pd.DataFrame(source(DATASETS[dataset], settings).documents())[: int(documents)]
    pairs = zip(records["title"], records["text"], strict=True)
    texts = [encoding.joined(title, text) for title, text in pairs]
    model = _plain(searcher, settings.threads)
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "documents.parquet"
        records.to_parquet(file)

        def ours() -> np.ndarray:
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                searcher.index(file, Path(folder), settings, lambda *_: None)
                return np.load(Path(folder) / "vectors.npy")

        ways: dict[str, Callable[[], np.ndarray]] = {
            "loop of 32 in file order": lambda: np.concatenate(
                [model(texts[first : first + 32]) for first in range(0, len(texts), 32)]
            ),
            "encode(all)": lambda: model(texts),
            "ours, loading and storing included": ours,
        }
        _encode(ways, len(texts), int(rounds))


def _plain(searcher: Dense, threads: int) -> Callable[[list[str]], np.ndarray]:
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    model = SentenceTransformer(str(searcher.checkpoint.folder()), device="cpu")
    return lambda texts: np.asarray(model.encode(texts, normalize_embeddings=True))


def _encode(ways: dict[str, Callable[[], np.ndarray]], count: int, rounds: int) -> None:
    first: np.ndarray | None = None
    wall, used = dict.fromkeys(ways, 0.0), dict.fromkeys(ways, 0.0)
    for _ in range(rounds):
        for name, way in ways.items():
            start, busy = time.perf_counter(), time.process_time()
            found = way()
            wall[name] += time.perf_counter() - start
            used[name] += time.process_time() - busy
            first = found if first is None else first
            say(f"  {name}: differs by {np.abs(found - first).max():.1e}")
    plain, *_ = used
    for name in ways:
        say(
            f"{name:36} {rounds * count / wall[name]:7.1f} documents/s, "
            f"{used[name]:7.1f} s of the processor, {used[plain] / used[name]:.2f} x the loop"
        )


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


def search(count: str = "100000") -> None:
    """What random vectors cost each kind of index, and how much of the exact list they find."""
    _kinds(*_random(int(count)))


def recall(folder: str) -> None:
    """The same of the vectors in a folder; each query is a document with noise on it."""
    stored = np.concatenate([*encoding.read(Path(folder), "vectors")]).astype(np.float32)
    generator = np.random.default_rng(7)
    chosen = generator.permutation(len(stored))[:QUERIES]
    noise = generator.standard_normal((len(chosen), stored.shape[1]), np.float32)
    _kinds(stored, _unit(stored[chosen] + 0.5 * _unit(noise)))


def _random(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors that are stored, and those of queries."""
    generator = np.random.default_rng(7)
    stored = _unit(generator.standard_normal((count, DIMENSIONS), np.float32))
    return stored, _unit(generator.standard_normal((QUERIES, DIMENSIONS), np.float32))


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _kinds(stored: np.ndarray, queries: np.ndarray) -> None:
    threads = load().threads
    each, first = _latency(lambda one: vectors.nearest(one, [stored], 100, threads), queries)
    say(f"{len(stored):,} vectors of {stored.shape[1]}")
    say(f"exact        {stored.nbytes / 1e6:8.1f} MB, {each:7.2f} ms a query")
    base = vectors.Layout("hnsw", "float32", 32, 200, 256, 0, 64)
    layouts = [
        base,
        replace(base, ef_search=1024),
        replace(base, dtype="float16"),
        replace(base, kind="ivf"),
        replace(base, kind="ivf", nprobe=256),
    ]
    built: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for layout in layouts:
            _kind(layout, stored, queries, first, Path(scratch), built, threads)


def _kind(
    layout: vectors.Layout,
    stored: np.ndarray,
    queries: np.ndarray,
    nearest: np.ndarray,
    scratch: Path,
    built: dict[str, tuple[float, float]],
    threads: int,
) -> None:
    called = f"{layout.kind} {layout.dtype}"
    folder = scratch / called
    if called not in built:
        folder.mkdir()
        start, busy = time.perf_counter(), time.process_time()
        layout.build(folder, [stored], threads)
        built[called] = time.perf_counter() - start, time.process_time() - busy
    opened = layout.opened(folder, threads)
    milliseconds, found = _latency(lambda one: opened(one, 100), queries)
    size, share = (folder / vectors.FILE).stat().st_size / 1e6, vectors.recall(found, nearest)
    took, busy = built[called]
    say(
        f"{called:12} {size:8.1f} MB, {milliseconds:7.2f} ms a query, built in {took:6.1f} s "
        f"({busy:.1f} of the processor), recall@100 {share:.4f} ({layout.ranker()})"
    )


def _latency(ask: Callable[[np.ndarray], Any], queries: np.ndarray) -> tuple[float, np.ndarray]:
    """The median milliseconds of one query alone, and the places found."""
    ask(queries[:1])
    times, found = [], []
    for query in queries:
        start = time.perf_counter()
        found.append(ask(query[None])[1][0])
        times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1000, np.array(found)


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["search"]))
