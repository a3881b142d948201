"""The real MiniLM on a world of six documents, against plain NumPy."""

import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import constants
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pandas import DataFrame

from compute.errors import Unavailable
from compute.settings import Settings, load
from compute.systems import SYSTEMS, dense
from compute.systems.dense import Dense

DOCUMENTS = [
    ("id with blanks", "Cats", "A cat purrs\twhen it is content."),
    ("9", "Dogs", "Dogs bark at night."),
    ("title only", "Trains and their timetables", ""),
    ("untitled", "", "The stock market fell by three percent. " * 40),
    ("nothing", "", ""),
    ("10", "Dogs", "Dogs bark at night."),
]
QUERIES = [("q 1", "Why do kittens make that sound?"), ("q2", "share prices"), ("empty", "")]


def _ignore(done: int, total: int, unit: str) -> None:
    assert 0 < done <= total


def minilm() -> Dense:
    searcher = SYSTEMS["minilm"].search
    assert isinstance(searcher, Dense)
    return searcher


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    home = tmp_path_factory.mktemp("home")
    return replace(load({"BEIRSCOPE_HOME": str(home)}), threads=2)


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("world") / "documents.parquet"
    DataFrame(DOCUMENTS, columns=["doc_id", "title", "text"]).to_parquet(file)
    return file


def _by_hand(texts: list[str]) -> np.ndarray:
    """Mean of the token vectors of at most 256 word pieces, scaled to length 1."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = str(minilm()._folder())
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    vectors = []
    for text in texts:
        pieces = tokenizer(text, truncation=True, max_length=256, return_tensors="pt")
        with torch.no_grad():
            mean = model(**pieces).last_hidden_state[0].numpy().mean(axis=0)
        vectors.append(mean / np.linalg.norm(mean))
    return np.array(vectors)


def test_scores_are_cosines_of_mean_pooled_vectors(
    documents: Path, settings: Settings, tmp_path: Path
) -> None:
    assert minilm().index(documents, tmp_path, settings, _ignore) == {"documents": 6}
    queries = DataFrame(QUERIES, columns=["query_id", "text"])
    hits = minilm().search(tmp_path, queries, 4, settings, _ignore)
    cosines = (
        _by_hand([text for _, text in QUERIES]) @ _by_hand([f"{t} {x}" for _, t, x in DOCUMENTS]).T
    )
    for row, (query_id, _) in zip(cosines, QUERIES, strict=True):
        own = hits[hits["query_id"] == query_id]
        expected = dict(zip((doc_id for doc_id, _, _ in DOCUMENTS), row, strict=True))
        assert len(own) == 4
        assert own["score"].tolist() == pytest.approx(sorted(row, reverse=True)[:4], abs=1e-5)
        assert own["score"].tolist() == pytest.approx(
            [expected[d] for d in own["doc_id"]], abs=1e-5
        )
    assert hits[hits["query_id"] == "q 1"]["doc_id"].iloc[0] == "id with blanks"
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"


def test_an_interrupted_encoding_goes_on_where_it_was(
    documents: Path, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "SHARD", 2)
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    whole.mkdir()
    resumed.mkdir()
    minilm().index(documents, whole, settings, _ignore)

    def interrupt(done: int, total: int, unit: str) -> None:
        if done > 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        minilm().index(documents, resumed, settings, interrupt)
    kept = {file: file.stat().st_ino for file in resumed.glob("vectors-*.npy")}
    assert len(kept) == 2
    minilm().index(documents, resumed, settings, _ignore)
    assert all(file.stat().st_ino == inode for file, inode in kept.items())
    for file in whole.glob("vectors-*.npy"):
        assert (np.load(file) == np.load(resumed / file.name)).all()
    assert len(list(resumed.glob("vectors-*.npy"))) == 3


@given(
    arrays.arrays(np.float32, (3, 4), elements=st.integers(-2, 2)),
    arrays.arrays(np.float32, (7, 4), elements=st.integers(-2, 2)),
    st.lists(st.integers(0, 7), max_size=3).map(sorted),
    st.integers(1, 9),
)
def test_the_nearest_are_exact_whatever_the_shards(
    queries: np.ndarray, vectors: np.ndarray, cuts: list[int], depth: int
) -> None:
    bounds = [0, *cuts, len(vectors)]
    shards = [vectors[start:end] for start, end in pairwise(bounds) if end > start]
    scores, places = dense.nearest(queries, shards, depth, threads=1)
    products = queries @ vectors.T
    best = -np.sort(-products, axis=1)[:, :depth]
    assert (scores == best).all()
    assert (np.take_along_axis(products, places, axis=1) == scores).all()
    assert all(len(set(row)) == len(row) for row in places.tolist())


def test_no_queries_are_no_hits(settings: Settings, tmp_path: Path) -> None:
    queries = DataFrame({"query_id": [], "text": []})
    assert minilm().search(tmp_path, queries, 10, settings, _ignore).empty


def test_other_weights_than_the_pinned_ones_are_refused() -> None:
    with pytest.raises(Unavailable, match="is not the pinned"):
        replace(minilm(), sha256="0" * 64).check()


def test_weights_neither_installed_nor_reachable_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Its name in the environment is read once, when the first test imports the library.
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    absent = replace(minilm(), model="beirscope-test/no-such-model", package="no_such_package")
    with pytest.raises(Unavailable, match="beirscope-test/no-such-model"):
        absent.check()
