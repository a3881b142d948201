"""Encoding in shards, and search among vectors, against NumPy."""

import io
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

from compute.base.errors import Unavailable
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


@pytest.mark.long
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


@pytest.mark.long
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


def _clustered(count: int, seed: int, dtype: str = "float32") -> np.ndarray:
    """Unit vectors of 32 numbers around 50 centres."""
    generator = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(size=(50, 32))
    rows = centres[generator.integers(0, 50, count)] + 0.5 * generator.normal(size=(count, 32))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(dtype)


def _built(folder: Path, layout: vectors.Layout, shards: list[np.ndarray]) -> bytes:
    folder.mkdir()
    layout.build(folder, shards, 2)
    return (folder / vectors.FILE).read_bytes()


def _quantised(pq: int, refine: int = 0) -> vectors.Layout:
    return vectors.Layout("ivf", "float32", 32, 200, 256, 60, 60, pq, refine)


@pytest.mark.long
def test_more_bytes_find_more_and_refining_finds_all(tmp_path: Path) -> None:
    stored, queries = _clustered(4000, 1), _clustered(40, 2)
    scores, exact = vectors.nearest(queries, [stored], 10, threads=2)
    found = []
    for pq in (2, 8, 32):
        _built(tmp_path / str(pq), _quantised(pq), [stored[:1500], stored[1500:]])
        opened = _quantised(pq).opened(tmp_path / str(pq), 2)
        found.append(vectors.recall(opened(queries, 10)[1], exact))
    assert found[0] < found[1] < found[2]
    assert found[1] > 0.5 and found[2] > 0.9
    # All clusters are searched, and the ten nearest are among the 400 candidates.
    candidates = _quantised(8).opened(tmp_path / "8", 2)
    again, places = vectors.refined(candidates, stored, 400)(queries, 10)
    assert (places == exact).all()
    assert again == pytest.approx(scores, abs=1e-6)
    # Bytes of codes alone: 30 more of each vector.
    sizes = [(tmp_path / str(pq) / vectors.FILE).stat().st_size for pq in (2, 32)]
    assert sizes[1] - sizes[0] == pytest.approx(4000 * 30, rel=0.01)


@pytest.mark.long
def test_blocks_and_shards_change_no_quantised_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored, queries = _clustered(3000, 1), _clustered(20, 2)
    whole = _built(tmp_path / "whole", _quantised(8), [stored])
    monkeypatch.setattr(vectors, "_BLOCK", 700)
    shards = [stored[:100], stored[100:2500], stored[2500:]]
    assert _built(tmp_path / "shards", _quantised(8), shards) == whole
    first, again = (_quantised(8).opened(tmp_path / "whole", 2)(queries, 50) for _ in range(2))
    assert all((one == other).all() for one, other in zip(first, again, strict=True))


def test_fewer_vectors_than_centroids_can_be_quantised(tmp_path: Path) -> None:
    stored = _clustered(7, 1)
    layout = vectors.Layout("ivf", "float32", 32, 200, 256, 0, 64, 8)
    _built(tmp_path / "few", layout, [stored])
    scores, places = layout.opened(tmp_path / "few", 1)(stored, 10)
    # Each vector is a centroid itself, so nothing is lost.
    assert places[:, 0].tolist() == list(range(7))
    assert scores[:, 0] == pytest.approx(np.ones(7), abs=1e-5)


def test_clusters_that_find_too_few_candidates_leave_the_rest_empty(tmp_path: Path) -> None:
    stored, queries = _clustered(300, 1), _clustered(5, 2)
    layout = vectors.Layout("ivf", "float32", 32, 200, 256, 30, 1, 8, 200)
    _built(tmp_path / "few", layout, [stored])
    candidates = layout.opened(tmp_path / "few", 1)
    scores, places = vectors.refined(candidates, stored, 200)(queries, 100)
    for row in range(5):
        hits = places[row] >= 0
        assert 0 < hits.sum() < 100
        # Hits first, best first, each with its own product.
        assert hits[: hits.sum()].all()
        assert scores[row, hits] == pytest.approx(stored[places[row, hits]] @ queries[row])
        assert (np.diff(scores[row, hits]) <= 0).all()


def test_the_sample_is_spread_evenly_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_BLOCK", 10)
    stored = np.arange(47, dtype=np.float32)[:, None].repeat(2, axis=1)
    found = vectors._sample([stored[:35], stored[35:36], stored[36:]], 47, 12)
    assert found[:, 0].tolist() == list(range(0, 47, 4))
    # 1 GB of 384 numbers, where 128 vectors of each of 9,295 clusters would be 1.8 GB.
    assert _quantised(48)._training(9295, 384) == 699_050
    assert _quantised(0)._training(9295, 384) == 128 * 9295


def test_large_memory_mapped_files_do_not_stay_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "vectors.npy"
    np.save(file, np.ones((60_000, 256), np.float32))
    monkeypatch.setattr(vectors, "_BLOCK", 1000)

    def held() -> int:
        """Bytes of files in the memory of this process."""
        status = Path("/proc/self/status").read_text("utf-8")
        return int(status.partition("RssFile:")[2].split()[0]) * 1024

    def most() -> int:
        shards, before = [np.load(file, mmap_mode="r")], held()
        return max(held() - before for block in vectors._blocks(shards) if block.sum())

    assert most() > 50_000_000
    monkeypatch.setattr(vectors, "_MAPPED", 10_000_000)
    assert most() < 20_000_000


@pytest.mark.parametrize(
    ("kind", "dtype", "pq", "gigabytes"),
    [
        ("flat", "float32", 0, 0),
        ("hnsw", "float32", 0, 11.2),
        ("hnsw", "float16", 0, 7.0),
        ("ivf", "float32", 0, 14.4),
        ("ivf", "float32", 48, 1.7),
    ],
)
def test_an_index_that_needs_more_memory_than_the_setting_is_refused(
    kind: str, dtype: str, pq: int, gigabytes: float
) -> None:
    layout = vectors.Layout(kind, dtype, 32, 200, 256, 0, 64, pq)
    layout.fit(5_400_000, 384, 0)
    layout.fit(5_400_000, 384, int((gigabytes + 0.1) * 1e9))
    if gigabytes:
        with pytest.raises(Unavailable, match=f"needs {gigabytes} GB, more than the setting"):
            layout.fit(5_400_000, 384, int((gigabytes - 0.1) * 1e9))


def test_equal_vectors_are_refined_to_equal_scores() -> None:
    generator = np.random.default_rng(4)
    for dimensions in (16, 31, 384, 768):
        stored = generator.normal(size=(60, dimensions)).astype(np.float16)
        stored[10:47] = stored[10]
        queries = generator.normal(size=(9, dimensions)).astype(np.float32)
        for count in range(1, 61):
            places = np.tile(np.arange(count), (9, 1))
            again = vectors.refined(lambda *_, at=places: (at * 0.0, at), stored, 1)
            scores, found = again(queries, count)
            for own, order in zip(scores, found, strict=True):
                assert len(set(own[(order >= 10) & (order < 47)].tolist())) <= 1


def test_a_full_disk_is_said_to_be_full() -> None:
    with pytest.raises(OSError, match="No space left"), Path("/dev/full").open("wb") as file:
        encoding._put(file, np.zeros((1000, 384), np.float16))


@pytest.mark.parametrize("shape", [(0, 4), (3, 4), (5,)])
def test_arrays_are_written_as_numpy_does(shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape), dtype=np.float16).reshape(shape)
    ours, theirs = io.BytesIO(), io.BytesIO()
    encoding._put(ours, array)
    np.save(theirs, array)
    assert ours.getvalue() == theirs.getvalue()
