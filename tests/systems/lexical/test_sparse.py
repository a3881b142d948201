"""Sparse systems with tiny models, against weights worked out from the models' raw outputs."""

import json
from dataclasses import replace
from functools import cache
from math import log, sqrt
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from pandas import DataFrame

from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import Settings
from compute.systems import SYSTEMS, system
from compute.systems.checkpoints import Checkpoint
from compute.systems.lexical import impact
from compute.systems.lexical.deepct import DeepCt
from compute.systems.lexical.impact import Impact
from compute.systems.lexical.sparse import Sparse
from compute.systems.lexical.sparta import Sparta
from compute.systems.searcher import Progress, Request
from tests.support import models

DOCUMENTS = [
    ("id with blanks", "Cat", "cat purrs\tnight"),
    ("9", "Dogs", "dogs bark"),
    ("title only", "stock market", ""),
    ("untitled", "", "the market " * 400 + "cat"),
    ("nothing", "", ""),
    ("10", "Dogs", "dogs bark"),
]
QUERIES = [("q 1", "cat night"), ("twice", "dog dog bark"), ("empty", ""), ("long", "ab " * 900)]


def _ignore(done: int, total: int, unit: str) -> None:
    assert 0 <= done <= total


@pytest.fixture(scope="module")
def splade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("splade")
    return models.sparse_encoder(folder / "encoder", models.masked_bert(folder / "base"))


@pytest.fixture(scope="module")
def distilbert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return models.distilbert(tmp_path_factory.mktemp("sparta"))


@pytest.fixture(scope="module")
def deepct(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return models.term_weights(tmp_path_factory.mktemp("deepct"))


@cache
def _loaded(folder: Path, kind: str) -> tuple[Any, Any]:
    import transformers

    model = getattr(transformers, kind).from_pretrained(folder).eval()
    return transformers.AutoTokenizer.from_pretrained(folder), model


def _outputs(folder: Path, kind: str, text: str, max_length: int) -> tuple[Any, list[int]]:
    """What the model alone makes of one text without padding, and the ids of its pieces."""
    import torch

    tokenizer, model = _loaded(folder, kind)
    pieces = tokenizer(text, truncation=True, max_length=max_length, return_tensors="pt")
    with torch.no_grad():
        return model(**pieces), pieces["input_ids"][0].tolist()


def _splade(folder: Path, text: str) -> np.ndarray:
    """log(1 + ReLU(logit)), the maximum over the pieces, as whole numbers."""
    output, _ = _outputs(folder, "BertForMaskedLM", text, 512)
    return np.rint(100 * np.log1p(output.logits[0].numpy().clip(min=0)).max(axis=0))


def _sparta(folder: Path, text: str, entries: int) -> np.ndarray:
    tokenizer, model = _loaded(folder, "AutoModel")
    words = model.embeddings.word_embeddings.weight.detach().numpy().copy()
    words[tokenizer.all_special_ids] = 0
    output, _ = _outputs(folder, "AutoModel", text, 512)
    best = (words @ output.last_hidden_state[0].numpy().T).max(axis=1)
    weights = np.log1p(best.clip(min=0))
    weights[np.argsort(-weights)[entries:]] = 0
    return np.rint(100 * weights)


def _run(
    searcher: Impact | DeepCt, documents: Path, folder: Path, settings: Settings
) -> dict[str, dict[str, float]]:
    searcher.index(documents, folder, settings, _ignore)
    queries = DataFrame(QUERIES, columns=["query_id", "text"])
    hits = searcher.search(folder, Request(queries, 10, settings, _ignore))
    return {
        str(query): dict(zip(own["doc_id"], own["score"], strict=True))
        for query, own in hits.groupby("query_id", sort=False)
    }


def _joined(title: str, text: str) -> str:
    return f"{title} {text}".strip()


def _products(query: np.ndarray, rows: dict[str, np.ndarray]) -> dict[str, float]:
    """The inner products above 0."""
    found = {doc_id: float(query @ row) for doc_id, row in rows.items()}
    return {doc_id: score for doc_id, score in found.items() if score > 0}


@pytest.mark.long
def test_splade_scores_are_inner_products_of_rounded_weights(
    documents: Path, settings: Settings, splade: Path, tmp_path: Path
) -> None:
    hits = _run(Sparse(Checkpoint(str(splade))), documents, tmp_path, settings)
    rows = {doc_id: _splade(splade, _joined(t, x)) for doc_id, t, x in DOCUMENTS}
    for query_id, text in QUERIES:
        assert hits[query_id] == _products(_splade(splade, text), rows)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ids.parquet", "lucene"]


@pytest.mark.long
def test_sparta_scores_are_sums_of_the_best_match_of_each_query_piece(
    documents: Path, settings: Settings, distilbert: Path, tmp_path: Path
) -> None:
    searcher = Sparta(Checkpoint(str(distilbert)), entries=40)
    hits = _run(searcher, documents, tmp_path, settings)
    rows = {doc_id: _sparta(distilbert, _joined(t, x), 40) for doc_id, t, x in DOCUMENTS}
    assert all(np.count_nonzero(row) <= 40 for row in rows.values())
    tokenizer, _ = _loaded(distilbert, "AutoModel")
    for query_id, text in QUERIES:
        query = np.zeros(len(tokenizer))
        for piece in tokenizer(text, add_special_tokens=False)["input_ids"]:
            query[piece] += 1
        assert hits.get(query_id, {}) == _products(query, rows)
    assert "empty" not in hits
    with searcher.session(tmp_path, settings) as ask:
        found = [ask(text, 10) for _, text in QUERIES]
    assert found == [len(hits.get(query_id, {})) for query_id, _ in QUERIES]
    assert any(found)


@pytest.mark.long
def test_deepct_writes_each_word_as_often_as_its_first_piece_says(
    documents: Path, settings: Settings, deepct: Path, tmp_path: Path
) -> None:
    searcher = DeepCt(checkpoint=Checkpoint(str(deepct)), scale=4)
    hits = _run(searcher, documents, tmp_path, settings)
    output, ids = _outputs(deepct, "AutoModelForTokenClassification", "Cat cat purrs\tnight", 512)
    numbers = np.sqrt(output.logits[0, :, 0].numpy().clip(min=0))
    # [CLS] cat cat p ##u ##r ##r ##s n ##i ##g ##h ##t [SEP]
    assert len(ids) == 14
    times = {"cat": max(numbers[1], numbers[2]), "purrs": numbers[3], "night": numbers[8]}
    counts = {word: max(round(4 * float(number)), 1) for word, number in times.items()}
    expected = _frequencies(searcher, settings, "Cat cat purrs\tnight")
    assert expected == counts
    lengths = {
        doc_id: sum(_frequencies(searcher, settings, _joined(t, x)).values())
        for doc_id, t, x in DOCUMENTS
        if _joined(t, x)
    }
    # Cut before its last word; "the" is a stop word.
    assert "cat" not in _frequencies(searcher, settings, _joined(*DOCUMENTS[3][1:]))
    market = _frequencies(searcher, settings, _joined(*DOCUMENTS[3][1:]))
    lengths["untitled"] -= market["the"]
    mean = sum(lengths.values()) / len(lengths)
    idf = log(1 + (5 - 1 + 0.5) / (1 + 0.5))
    norm = 0.9 * (1 - 0.4 + 0.4 * lengths["id with blanks"] / mean)
    score = sum(idf * counts[word] / (counts[word] + norm) for word in ("cat", "night"))
    assert hits["q 1"] == pytest.approx({"id with blanks": score}, abs=1e-4)


def _frequencies(searcher: DeepCt, settings: Settings, text: str) -> dict[str, int]:
    return searcher.documents_encoder(settings)([text])[0]


def test_deepct_without_smoothing_drops_what_rounds_to_nothing(deepct: Path) -> None:
    searcher = DeepCt(checkpoint=Checkpoint(str(deepct)), scale=10, smoothing="none", least=0)
    pieces = ["[CLS]", "purr", "##ing", "cat", "cat", "low", "[UNK]", "[SEP]"]
    numbers = [9.0, 0.72, 5.0, 0.2, 0.31, 0.04, 7.0, 9.0]
    special = {"[CLS]", "[UNK]", "[SEP]"}
    assert searcher._words(pieces, numbers, special) == {"purring": 7, "cat": 3}
    kept = replace(searcher, smoothing="sqrt", least=1, scale=1)._words(pieces, numbers, special)
    assert kept == {"purring": round(sqrt(0.72)), "cat": 1, "low": 1}


def test_an_interrupted_encoding_goes_on_where_it_was(
    documents: Path,
    settings: Settings,
    distilbert: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(impact, "SHARD", 2)
    searcher = Sparta(Checkpoint(str(distilbert)))
    collection = tmp_path / "collection"

    def encode(progress: Progress) -> int:
        return impact._encode(
            documents, tmp_path, lambda: searcher.documents_encoder(settings), progress
        )

    def interrupt(done: int, total: int, unit: str) -> None:
        if done > 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode(interrupt)
    kept = {file: file.stat().st_ino for file in collection.iterdir()}
    assert sorted(file.name for file in kept) == ["000000.jsonl", "000001.jsonl"]
    assert encode(_ignore) == 6
    assert all(file.stat().st_ino == inode for file, inode in kept.items())
    lines = (collection / "000002.jsonl").read_text("utf-8").splitlines()
    # Serial numbers follow the bytes of the ids: "10" is the first of the six, "nothing" the 4th.
    assert [json.loads(line)["id"] for line in lines] == ["000000000003", "000000000000"]


def test_a_query_of_too_many_terms_keeps_the_heaviest() -> None:
    weights = {str(term): 1 + (term >= 10) for term in range(1040)}
    words = impact.spelled(weights).split()
    assert len(set(words)) == 1024
    assert {str(term) for term in range(10, 1034)} <= set(words)
    assert words.count("500") == 2


def test_weights_that_round_to_nothing_are_left_out() -> None:
    vector = np.array([0.0, 0.004, 0.006, -1.0, 2.345], np.float32)
    assert impact.rounded(vector, 100) == {"2": 1, "4": 234}


def test_what_makes_no_sense_is_refused() -> None:
    checkpoint = Checkpoint("naver/nothing")
    with pytest.raises(WrongInput, match="max_length is 2"):
        Sparse(checkpoint, max_length=2)
    with pytest.raises(WrongInput, match="scale is 0"):
        Sparse(checkpoint, scale=0)
    with pytest.raises(WrongInput, match="entries is 0"):
        Sparta(checkpoint, entries=0)
    with pytest.raises(WrongInput, match="smoothing is 'log'"):
        DeepCt(smoothing="log")


def test_a_folder_that_is_no_model_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"has neither config\.json"):
        Sparse(Checkpoint(str(tmp_path))).check()


def test_any_sparse_encoder_is_a_system_by_its_name() -> None:
    found = system("sparse( some/model, scale=10 )")
    assert found.search == Sparse(Checkpoint("some/model"), scale=10)
    assert (found.name, found.family) == ("sparse(some/model,scale=10)", "sparse")
    assert system("splade(max_length=256)").search == replace(
        cast("Sparse", SYSTEMS["splade"].search), max_length=256
    )
    with pytest.raises(WrongInput, match=r"like sparse\(some/model\)"):
        system("sparse(scale=10)")


def test_models_of_another_kind_are_refused(
    distilbert: Path, settings: Settings, tmp_path: Path
) -> None:
    checkpoint = Checkpoint(str(distilbert))
    with pytest.raises(WrongInput, match="is not a sparse encoder: dense"):
        Sparse(checkpoint).documents_encoder(settings)
    with pytest.raises(WrongInput, match=r"it has no weights classifier\.bias"):
        DeepCt(checkpoint=checkpoint).documents_encoder(settings)
    for file in ("config.json", "model.safetensors"):
        (tmp_path / file).write_text("{}", encoding="utf-8")
    with pytest.raises(Unavailable, match="does not load"):
        Sparta(Checkpoint(str(tmp_path))).documents_encoder(settings)


def test_more_word_pieces_than_a_model_has_positions_are_refused(
    distilbert: Path, splade: Path, deepct: Path, settings: Settings
) -> None:
    for encoder in (
        Sparse(Checkpoint(str(splade)), max_length=513).documents_encoder,
        Sparta(Checkpoint(str(distilbert)), max_length=513).documents_encoder,
        DeepCt(checkpoint=Checkpoint(str(deepct)), max_length=513).documents_encoder,
    ):
        with pytest.raises(WrongInput, match="reads 512 word pieces"):
            encoder(settings)
