"""Dense systems on a world of seven documents, against NumPy from the models' raw outputs.

The real MiniLM, and tiny models in folders, loaded as any other is.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pandas import DataFrame

from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import PROJECT, Settings
from compute.systems import SYSTEMS, system
from compute.systems.neural import encoding
from compute.systems.neural.dense import Dense
from compute.systems.neural.embedding import COMPARING, MERGING
from compute.systems.neural.vectors import ADDING, TRAINING
from compute.systems.searcher import Request
from tests.support import models

DOCUMENTS = [
    ("id with blanks", "Cats", "A cat purrs\twhen it is content."),
    ("9", "Dogs", "Dogs bark at night."),
    ("title only", "Trains and their timetables", ""),
    ("untitled", "", "The stock market fell by three percent. " * 40),
    ("nothing", "", ""),
    ("10", "Dogs", "Dogs bark at night."),
    ("long title", "the cat " * 300, "stock market"),
]
QUERIES = [
    ("q 1", "Why do kittens make that sound?"),
    ("q2", "share prices"),
    ("empty", ""),
    ("long", "  the dog and the cat " * 200),
]
IDS = [doc_id for doc_id, _, _ in DOCUMENTS]


def _ignore(done: int, total: int, unit: str) -> None:
    assert 0 <= done <= total


def minilm() -> Dense:
    searcher = SYSTEMS["minilm"].search
    assert isinstance(searcher, Dense)
    return searcher


def dense(name: str) -> Dense:
    searcher = system(name).search
    assert isinstance(searcher, Dense)
    return searcher


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of the tiny models."""
    folder = tmp_path_factory.mktemp("models")
    bert, other = models.bert(folder / "bert"), models.bert(folder / "other", seed=1)
    distilbert = models.distilbert(folder / "distilbert")
    roberta = models.roberta(folder / "roberta")
    build = models.sentence_transformer
    build(folder / "mean-cosine", distilbert)
    build(folder / "mean-dot", distilbert, similarity="dot", max_length=20)
    build(folder / "cls-dot", roberta, pooling="cls", similarity="dot")
    build(folder / "cls-unit", bert, pooling="cls", unit_vectors=True)
    build(folder / "contexts", bert, pooling="cls", similarity="dot")
    build(folder / "questions", other, pooling="cls", similarity="dot")
    prompts = {"query": "query: ", "document": "document: "}
    build(folder / "prompted", bert, prompts=prompts)
    return folder


@lru_cache(maxsize=8)
def _encoder(base: Path) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    return AutoTokenizer.from_pretrained(base), AutoModel.from_pretrained(base).eval()


def _by_hand(
    base: Path, texts: list[str], pooling: str, *, cosine: bool, most: int = 512
) -> np.ndarray:
    """Vectors from the token vectors of the first `most` word pieces, one text at a time."""
    import torch

    tokenizer, model = _encoder(base)
    vectors = []
    for text in texts:
        pieces = tokenizer(text, truncation=True, max_length=most, return_tensors="pt")
        with torch.no_grad():
            tokens = model(**pieces).last_hidden_state[0].numpy()
        vector = tokens[0] if pooling == "cls" else tokens.mean(axis=0)
        vectors.append(vector / np.linalg.norm(vector) if cosine else vector)
    return np.array(vectors)


def _queries() -> DataFrame:
    return DataFrame(QUERIES, columns=["query_id", "text"])


def _agree(hits: DataFrame, scores: np.ndarray, depth: int, within: float = 1e-4) -> None:
    """The hits of each query are its `depth` best `scores` (queries, documents)."""
    assert hits["query_id"].unique().tolist() == [query_id for query_id, _ in QUERIES]
    for row, (query_id, _) in zip(scores, QUERIES, strict=True):
        own = hits[hits["query_id"] == query_id]
        best = sorted(row, reverse=True)[:depth]
        expected = dict(zip(IDS, row, strict=True))
        assert own["score"].tolist() == pytest.approx(best, abs=within)
        assert own["score"].tolist() == pytest.approx(
            [expected[doc_id] for doc_id in own["doc_id"]], abs=within
        )


def _run(searcher: Dense, documents: Path, folder: Path, settings: Settings) -> DataFrame:
    facts = searcher.index(documents, folder, settings, _ignore)
    assert facts["documents"] == len(DOCUMENTS)
    return searcher.search(folder, Request(_queries(), 5, settings, _ignore))


def _joined(between: str = " ") -> list[str]:
    return [f"{title}{between}{text}".strip() for _, title, text in DOCUMENTS]


@pytest.mark.long
def test_scores_of_minilm_are_cosines_of_mean_pooled_vectors(
    documents: Path, settings: Settings, tmp_path: Path
) -> None:
    hits = _run(minilm(), documents, tmp_path, settings)
    base = minilm().checkpoint.folder()
    texts = [text for _, text in QUERIES]
    queries = _by_hand(base, texts, "mean", cosine=True, most=256)
    vectors = _by_hand(base, _joined(), "mean", cosine=True, most=256)
    _agree(hits, queries @ vectors.T, 5)
    assert hits[hits["query_id"] == "q 1"]["doc_id"].iloc[0] == "id with blanks"
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"


@pytest.mark.parametrize(
    ("model", "base", "pooling", "cosine", "most"),
    [
        ("mean-cosine", "distilbert", "mean", True, 512),
        pytest.param("mean-dot", "distilbert", "mean", False, 20, marks=pytest.mark.long),
        pytest.param("cls-dot", "roberta", "cls", False, 512, marks=pytest.mark.long),
        ("cls-unit", "bert", "cls", True, 512),
    ],
)
def test_a_model_is_taken_as_it_says(
    model: str,
    base: str,
    pooling: str,
    cosine: bool,
    most: int,
    world: Path,
    documents: Path,
    settings: Settings,
    tmp_path: Path,
) -> None:
    hits = _run(dense(f"dense({world / model})"), documents, tmp_path, settings)
    texts = [text.strip() for _, text in QUERIES]
    queries = _by_hand(world / base, texts, pooling, cosine=cosine, most=most)
    vectors = _by_hand(world / base, _joined(), pooling, cosine=cosine, most=most)
    _agree(hits, queries @ vectors.T, 5)


def test_two_encoders_read_title_separator_text_and_the_query(
    world: Path, documents: Path, settings: Settings, tmp_path: Path
) -> None:
    name = f"dpr(model={world / 'contexts'},query_model={world / 'questions'})"
    hits = _run(dense(name), documents, tmp_path, settings)
    texts = [text.strip() for _, text in QUERIES]
    queries = _by_hand(world / "other", texts, "cls", cosine=False)
    vectors = _by_hand(world / "bert", _joined(" [SEP] "), "cls", cosine=False)
    _agree(hits, queries @ vectors.T, 5)
    tokenizer, _ = _encoder(world / "bert")
    # The tokens of the pair of title and text, an empty title too.
    for title, text in (("Cats", "A cat purrs."), ("", "The stock market fell.")):
        joined = dense("dpr").join(title, text)
        assert tokenizer(joined)["input_ids"] == tokenizer(title, text)["input_ids"]


def test_prompts_of_the_model_come_before_queries_and_documents(
    world: Path, documents: Path, settings: Settings, tmp_path: Path
) -> None:
    hits = _run(dense(f"dense({world / 'prompted'})"), documents, tmp_path, settings)
    asked = [f"query: {text.strip()}" for _, text in QUERIES]
    queries = _by_hand(world / "bert", asked, "mean", cosine=True)
    read = [f"document: {text}" for text in _joined()]
    vectors = _by_hand(world / "bert", read, "mean", cosine=True)
    _agree(hits, queries @ vectors.T, 5)


def test_a_cut_can_be_asked_for(
    world: Path, documents: Path, settings: Settings, tmp_path: Path
) -> None:
    hits = _run(
        dense(f"dense({world / 'mean-cosine'},max_length=8)"), documents, tmp_path, settings
    )
    texts = [text.strip() for _, text in QUERIES]
    queries = _by_hand(world / "distilbert", texts, "mean", cosine=True, most=8)
    vectors = _by_hand(world / "distilbert", _joined(), "mean", cosine=True, most=8)
    _agree(hits, queries @ vectors.T, 5)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "dense({world}/mean-dot,similarity=cosine)",
            "compares by 'dot', not by 'cosine' as requested",
        ),
        ("tas-b(model={world}/mean-dot)", "uses 'mean' pooling; its row says 'cls'"),
        ("dense({world}/short,max_length=65)", "reads 64 word pieces"),
        ("dense({world}/far)", "compares by 'euclidean'; only cosine and dot"),
    ],
)
def test_a_model_that_is_not_what_the_row_says_is_refused(
    name: str, message: str, world: Path, settings: Settings, tmp_path_factory: Any
) -> None:
    if not (world / "short").exists():
        base = models.bert(world / "positions", max_position_embeddings=64)
        models.sentence_transformer(world / "short", base, max_length=64)
        models.sentence_transformer(world / "far", world / "bert", similarity="euclidean")
    searcher = dense(name.format(world=world))
    with pytest.raises(WrongInput, match=message):
        searcher.encoder(settings, "documents")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("minilm(max_length=2)", "max_length is 2; it must be 3 to 512, or 0"),
        ("minilm(max_length=513)", "it must be 3 to 512"),
        ("minilm(similarity=euclid)", "similarity is 'euclid'"),
        ("minilm(index=lsh)", "index is 'lsh'; it must be one of: flat, hnsw, ivf"),
        ("minilm(dtype=int8)", "dtype is 'int8'"),
        ("minilm(index=ivf,nprobe=0)", "nprobe is 0; it must be 1 or more"),
        ("minilm(index=ivf,pq=-1)", "pq is -1; it must be 0 or more"),
        ("minilm(pq=48)", "pq is 48, but index is flat: pq needs index=ivf"),
        ("minilm(index=ivf,refine=10)", "refine is 10 without pq"),
        ("dense", "name one model"),
        ("dense(a,b)", "name one model"),
        ("dense(a,model=b)", "give the model first in the brackets"),
    ],
)
def test_names_out_of_range_are_answered(name: str, message: str) -> None:
    with pytest.raises(WrongInput) as refused:
        system(name)
    assert message in str(refused.value)


def test_what_ships_keeps_its_identity() -> None:
    weights = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    vectors = {
        "model": "sentence-transformers/all-MiniLM-L6-v2",
        "weights": weights,
        "pooling": "mean",
        "vectors": "unit length",
        "max_length": 256,
        "fields": ["title + ' ' + text"],
    }
    assert minilm().index_identity() == vectors
    assert minilm().identity() == vectors | {"ranker": "exact inner product"}
    assert dense("minilm(index=hnsw)").index_identity() != vectors
    # How it is searched does not matter to what is stored.
    graph = dense("minilm(index=hnsw,ef_search=64)")
    assert graph.index_identity() == dense("minilm(index=hnsw)").index_identity()
    assert graph.identity() != dense("minilm(index=hnsw)").identity()
    clusters, quantised = dense("minilm(index=ivf)"), dense("minilm(index=ivf,pq=48)")
    assert clusters.index_identity() == vectors | {"index": "ivf", "nlist": 0}
    assert clusters.identity()["ranker"] == "ivf inner product, nprobe 64"
    assert quantised.index_identity() != clusters.index_identity()
    # Vectors that refine are kept, however many of them do.
    refined = dense("minilm(index=ivf,pq=48,refine=500)")
    assert refined.index_identity() != quantised.index_identity()
    assert refined.index_identity() == dense("minilm(index=ivf,pq=48,refine=9)").index_identity()
    assert refined.identity()["ranker"] == "ivf-pq inner product, nprobe 64, 500 refined"
    assert refined.piece_identity() == minilm().piece_identity()
    other = dense("dpr(query_model=a/b)")
    assert other.index_identity() == dense("dpr").index_identity()
    assert other.identity() != dense("dpr").identity()


@pytest.mark.parametrize(
    "options",
    [
        *("", ",index=ivf,pq=8,refine=5"),
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in (",dtype=float16", ",index=hnsw", ",index=ivf")
        ),
    ],
)
def test_one_query_at_a_time_finds_the_same(
    options: str, world: Path, documents: Path, settings: Settings, tmp_path: Path
) -> None:
    searcher = dense(f"dense({world / 'contexts'}{options})")
    hits = _run(searcher, documents, tmp_path, settings)
    with searcher.session(tmp_path, settings) as ask:
        for query_id, text in QUERIES:
            found: Any = ask(text, 5)
            together = hits[hits["query_id"] == query_id]["doc_id"].tolist()
            # Two documents are alike: either may come first.
            assert _alike(found.to_pylist()) == _alike(together)


def _alike(doc_ids: list[str]) -> list[str]:
    return ["9" if doc_id == "10" else doc_id for doc_id in doc_ids]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["hnsw", "ivf"])
def test_an_approximate_index_tells_its_recall(
    kind: str, world: Path, documents: Path, settings: Settings, tmp_path: Path
) -> None:
    searcher = dense(f"dense({world / 'mean-cosine'},index={kind},dtype=float16)")
    facts = searcher.index(documents, tmp_path, settings, _ignore)
    assert facts == {"documents": 7}
    assert searcher.recall(tmp_path, settings) == 1
    # The index has the vectors; nothing is kept twice.
    assert {file.name for file in tmp_path.iterdir()} == {
        "compared.npz",
        "facts.json",
        "ids.parquet",
        "vectors.faiss",
    }
    hits = searcher.search(tmp_path, Request(_queries(), 5, settings, _ignore))
    exact = _run(replace(searcher, index_kind="flat"), documents, _new(tmp_path, "flat"), settings)
    assert hits["score"].tolist() == pytest.approx(exact["score"].tolist(), abs=2e-3)


@pytest.mark.long
def test_quantised_vectors_are_refined_by_those_that_are_kept(
    world: Path, documents: Path, settings: Settings, tmp_path: Path
) -> None:
    model = f"dense({world / 'mean-cosine'}"
    exact = _run(dense(f"{model})"), documents, _new(tmp_path, "flat"), settings)
    for refine, kept in (("", set()), (",refine=5", {"vectors.npy"})):
        searcher, folder = dense(f"{model},index=ivf,pq=8{refine})"), _new(tmp_path, f"pq{refine}")
        hits = _run(searcher, documents, folder, settings)
        names = {"compared.npz", "facts.json", "ids.parquet", "vectors.faiss"} | kept
        assert {file.name for file in folder.iterdir()} == names
        # Of seven documents each is a centroid of its own.
        assert hits["score"].tolist() == pytest.approx(exact["score"].tolist(), abs=1e-5)
        assert searcher.recall(folder, settings) == 1


def test_what_cannot_be_indexed_is_refused_with_the_first_shard(
    world: Path,
    documents: Path,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(encoding, "SHARD", 2)
    told: list[int] = []
    searcher = dense(f"dense({world / 'mean-cosine'},index=ivf,pq=5)")
    message = "pq is 5, but the vectors have 16 numbers: pq must divide them"
    with pytest.raises(WrongInput, match=message):
        searcher.index(documents, tmp_path, settings, lambda done, *_: told.append(done))
    small = replace(settings, vector_bytes=100)
    with pytest.raises(Unavailable, match="more than the setting vector_bytes allows"):
        replace(searcher, pq=4).index(
            documents, tmp_path, small, lambda done, *_: told.append(done)
        )
    assert max(told) <= 2
    assert not list(tmp_path.glob("vectors*"))


KILLED = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from compute.base.settings import load
from compute.systems import system

def told(done, total, unit):
    if unit == sys.argv[4] and (done or not total):
        os.kill(os.getpid(), signal.SIGKILL)

system(sys.argv[1]).search.index(Path(sys.argv[2]), Path(sys.argv[3]), load(), told)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("unit", "left", "told"),
    [
        (MERGING, {"vectors-000000.npy"}, [MERGING, TRAINING, ADDING, COMPARING]),
        (ADDING, {"vectors.npy", "trained.faiss"}, [MERGING, ADDING, COMPARING]),
    ],
)
def test_a_killed_build_goes_on_at_its_stage(
    unit: str,
    left: set[str],
    told: list[str],
    world: Path,
    documents: Path,
    settings: Settings,
    tmp_path: Path,
) -> None:
    name = f"dense({world / 'mean-cosine'},index=ivf,pq=8)"
    command = [sys.executable, "-c", KILLED, name, str(documents), str(tmp_path), unit]
    environment = os.environ | {"BEIRSCOPE_HOME": str(settings.home), "BEIRSCOPE_THREADS": "2"}
    killed = subprocess.run(command, cwd=PROJECT, env=environment)
    assert killed.returncode == -signal.SIGKILL
    assert {file.name for file in tmp_path.iterdir()} == left | {"ids.parquet"}
    heard: list[str] = []

    def hear(done: int, total: int, unit: str) -> None:
        if unit not in heard and unit != "documents":
            heard.append(unit)

    searcher = dense(name)
    searcher.index(documents, tmp_path, settings, hear)
    # No model is loaded again.
    assert heard == told
    whole = _new(tmp_path, "whole")
    searcher.index(documents, whole, settings, _ignore)
    names = {"compared.npz", "facts.json", "ids.parquet", "vectors.faiss"}
    assert {file.name for file in tmp_path.iterdir() if file.is_file()} == names
    for file in names:
        assert (tmp_path / file).read_bytes() == (whole / file).read_bytes()


def _new(folder: Path, name: str) -> Path:
    folder = folder / name
    folder.mkdir()
    return folder


@pytest.mark.long
def test_half_precision_halves_what_is_stored(
    world: Path, documents: Path, settings: Settings, tmp_path: Path
) -> None:
    searcher = dense(f"dense({world / 'cls-dot'},dtype=float16)")
    hits = _run(searcher, documents, tmp_path, settings)
    stored = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    assert (stored.dtype, stored.shape) == (np.float16, (7, 16))
    assert isinstance(stored, np.memmap)
    texts = [text.strip() for _, text in QUERIES]
    queries = _by_hand(world / "roberta", texts, "cls", cosine=False)
    vectors = _by_hand(world / "roberta", _joined(), "cls", cosine=False)
    _agree(hits, queries @ vectors.T, 5, within=0.02)


def test_an_interrupted_encoding_goes_on_where_it_was(
    world: Path,
    documents: Path,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(encoding, "SHARD", 2)
    searcher = dense(f"dense({world / 'mean-cosine'})")
    whole, resumed = _new(tmp_path, "whole"), _new(tmp_path, "resumed")
    searcher.index(documents, whole, settings, _ignore)

    def interrupt(done: int, total: int, unit: str) -> None:
        if done > 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        searcher.index(documents, resumed, settings, interrupt)
    kept = sorted(file.name for file in resumed.glob("vectors-*.npy"))
    assert kept == ["vectors-000000.npy", "vectors-000001.npy"]
    encoded: list[int] = []
    monkeypatch.setattr(Dense, "encoder", _counting(Dense.encoder, encoded))
    searcher.index(documents, resumed, settings, _ignore)
    assert encoded == [2, 1]
    assert (np.load(whole / "vectors.npy") == np.load(resumed / "vectors.npy")).all()
    assert not list(resumed.glob("vectors-*.npy"))


def _counting(encoder: Callable[..., Any], encoded: list[int]) -> Callable[..., Any]:
    """The encoder, telling how many texts each call had."""

    def counted(self: Dense, settings: Settings, of: str) -> Callable[[list[str]], Any]:
        encode = encoder(self, settings, of)

        def tell(texts: list[str]) -> Any:
            encoded.append(len(texts))
            return encode(texts)

        return tell

    return counted


def test_no_queries_are_no_hits(settings: Settings, tmp_path: Path) -> None:
    queries = DataFrame({"query_id": [], "text": []})
    assert minilm().search(tmp_path, Request(queries, 10, settings, _ignore)).empty
