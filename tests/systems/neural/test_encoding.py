"""Encoding in shards, and search among vectors, against NumPy."""

import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pandas import DataFrame

from compute.base.settings import PROJECT
from compute.systems.neural import encoding, vectors

TEXTS = ["bb", "", "a", "dddd", "ccc", "b", "eeeee"]


def _ignore(done: int, total: int, unit: str) -> None:
    assert 0 <= done <= total


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    file = tmp_path / "documents.parquet"
    rows = [(f"d{place}", "", text) for place, text in enumerate(TEXTS)]
    DataFrame(rows, columns=["doc_id", "title", "text"]).to_parquet(file)
    return file


def _lengths(texts: list[str]) -> np.ndarray:
    return np.array([[len(text), 1.0] for text in texts], np.float32)


def test_loading_the_model_is_told_before_documents_are(documents: Path, tmp_path: Path) -> None:
    told: list[tuple[object, ...]] = []
    encoding.in_shards(documents, tmp_path, "x", lambda: _lengths, lambda *one: told.append(one))
    assert told[:2] == [(0, 0, "loading the model"), (0, 7, "documents")]
    assert told[-1] == (7, 7, "documents")


def test_batches_are_sorted_by_length_and_files_are_in_file_order(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "SHARD", 4)
    monkeypatch.setattr(encoding, "SLICE", 3)
    seen: list[list[str]] = []

    def encode(texts: list[str]) -> np.ndarray:
        seen.append(texts)
        return _lengths(texts)

    total = encoding.in_shards(documents, tmp_path, "x", lambda: encode, _ignore)
    assert total == 7
    assert seen == [["", "a", "bb"], ["dddd"], ["b", "ccc", "eeeee"]]
    shards = list(encoding.read(tmp_path, "x"))
    assert [shard[:, 0].tolist() for shard in shards] == [[2, 0, 1, 4], [3, 1, 5]]
    assert all(isinstance(shard, np.memmap) for shard in shards)
    assert encoding.read_ids(tmp_path).to_pylist() == [f"d{place}" for place in range(7)]
    encoding.merge(tmp_path, "x")
    (whole,) = encoding.read(tmp_path, "x")
    assert whole[:, 0].tolist() == [2, 0, 1, 4, 3, 1, 5]
    assert not list(tmp_path.glob("x-*"))
    # Merged is finished: no encoder is loaded.
    encoding.in_shards(documents, tmp_path, "x", lambda: pytest.fail("loaded"), _ignore)


def test_many_vectors_of_a_document_are_kept_with_their_count(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "SHARD", 4)

    def encode(texts: list[str]) -> list[np.ndarray]:
        return [np.full((len(text), 2), len(text), np.float16) for text in texts]

    encoding.in_shards(documents, tmp_path, "t", lambda: encode, _ignore, pack=encoding.matrices)
    first, second = encoding.read(tmp_path, "t")
    assert (first.shape, second.shape) == ((7, 2), (9, 2))
    assert first[:, 0].tolist() == [2, 2, 1, 4, 4, 4, 4]
    counts = [shard.tolist() for shard in encoding.read(tmp_path, "t", "count")]
    assert counts == [[2, 0, 1, 4], [3, 1, 5]]


KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from compute.systems.neural import encoding

encoding.SHARD = 2
def encode(texts):
    if "ccc" in texts:
        os.kill(os.getpid(), signal.SIGKILL)
    return np.array([[len(text), 1.0] for text in texts], np.float32)
encoding.in_shards(Path(sys.argv[1]), Path(sys.argv[2]), "x", lambda: encode, lambda *_: None)
"""


def test_a_killed_encoding_keeps_its_finished_shards(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "SHARD", 2)
    command = [sys.executable, "-c", KILLED, str(documents), str(tmp_path)]
    assert subprocess.run(command, cwd=PROJECT).returncode == -signal.SIGKILL
    kept = {file: file.stat().st_ino for file in tmp_path.glob("x-*.npy")}
    assert len(kept) == 2
    encoded: list[str] = []

    def encode(texts: list[str]) -> np.ndarray:
        encoded.extend(texts)
        return _lengths(texts)

    encoding.in_shards(documents, tmp_path, "x", lambda: encode, _ignore)
    assert encoded == ["b", "ccc", "eeeee"]
    assert all(file.stat().st_ino == inode for file, inode in kept.items())
    found = np.concatenate([*encoding.read(tmp_path, "x")])
    assert found[:, 0].tolist() == [len(text) for text in TEXTS]


# The first example may load faiss.
@settings(deadline=None)
@given(
    arrays.arrays(np.float32, (3, 4), elements=st.integers(-2, 2)),
    arrays.arrays(np.float32, (7, 4), elements=st.integers(-2, 2)),
    st.lists(st.integers(0, 7), max_size=3).map(sorted),
    st.integers(1, 9),
)
def test_the_nearest_are_exact_whatever_the_shards(
    queries: np.ndarray, stored: np.ndarray, cuts: list[int], depth: int
) -> None:
    bounds = [0, *cuts, len(stored)]
    shards = [stored[start:end] for start, end in pairwise(bounds) if end > start]
    products = queries @ stored.T
    best = -np.sort(-products, axis=1)[:, :depth]
    one = [vectors.nearest(query[None], shards, depth, threads=1) for query in queries]
    alone = tuple(np.concatenate(found) for found in zip(*one, strict=True))
    for scores, places in (vectors.nearest(queries, shards, depth, threads=1), alone):
        assert (scores == best).all()
        assert (np.take_along_axis(products, places, axis=1) == scores).all()
        assert all(len(set(row)) == len(row) for row in places.tolist())


def test_large_shards_are_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_BLOCK", 10)
    stored = np.random.default_rng(1).normal(size=(47, 4)).astype(np.float16)
    queries = stored[:3].astype(np.float32)
    shards = [stored[:35], stored[35:36], stored[36:]]
    scores, places = vectors.nearest(queries, shards, 5, threads=1)
    products = queries @ stored.astype(np.float32).T
    assert (places == np.argsort(-products, axis=1)[:, :5]).all()
    assert scores == pytest.approx(-np.sort(-products, axis=1)[:, :5], abs=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_more_candidates_find_more_of_the_nearest(dtype: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(2)
    stored = generator.normal(size=(3000, 16)).astype(dtype)
    queries = generator.normal(size=(20, 16)).astype(np.float32)
    exact = vectors.nearest(queries, [stored], 100, threads=2)[1]
    found = []
    for kind, nprobe in (("hnsw", 1), ("ivf", 1), ("ivf", 32), ("ivf", 10_000)):
        folder = tmp_path / f"{kind}-{nprobe}"
        folder.mkdir()
        layout = vectors.Layout(kind, dtype, 16, 100, 400, 0, nprobe)
        layout.build(folder, [stored[:1000], stored[1000:]], 2)
        places = layout.opened(folder, 2)(queries, 100)[1]
        found.append(vectors.recall(places, exact))
    graph, *clusters = found
    assert graph > 0.97
    assert clusters[0] < clusters[1] < clusters[2]
    # Every cluster searched is exact search.
    assert clusters[2] > (0.999 if dtype == "float32" else 0.99)


def test_recall_is_the_share_of_the_exact_places_found() -> None:
    exact = np.array([[1, 2, 3, 4], [5, 6, 7, 8]])
    found = np.array([[4, 3, 9, -1], [8, 7, 6, 5]])
    assert vectors.recall(found, exact) == 0.75
