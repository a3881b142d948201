"""Rerankers with tiny models, against their raw logits, one pair at a time."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pandas import DataFrame

from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import Settings
from compute.systems.checkpoints import Checkpoint
from compute.systems.combine import rerank
from compute.systems.combine.monot5 import MonoT5
from compute.systems.combine.rerank import CrossEncoder, LateReranker, Reranker, read_texts
from compute.systems.searcher import Request
from tests.support import models

DOCUMENTS = [
    ("d1", "Cats", "The cat purrs, the dog barks."),
    ("d2", "", "stock market " * 300),
    ("d3", "", ""),
    ("d4", "dog!", "the dog"),
    ("d5", "query", ""),
]
TEXTS = {doc_id: f"{title} {text}".strip() for doc_id, title, text in DOCUMENTS}
QUERIES = {"q1": "the cat", "q2": "market dog " * 300, "q3": "stock"}
# Of q3 nothing was found; q9 is a query of other judgements.
FIRST = [
    ("q1", ["d4", "d2", "d1", "d5"]),
    ("q2", ["d3", "d2", "d4"]),
    ("q9", ["d1"]),
]
Score = Callable[[str, str], float]


def _ignore(done: int, total: int, unit: str) -> None:
    assert 0 < done <= total == 7
    assert unit == "pairs"


def run(lists: list[tuple[str, list[str]]] = FIRST) -> DataFrame:
    rows = [(q, d, rank, 1 / rank) for q, ids in lists for rank, d in enumerate(ids, 1)]
    return DataFrame(rows, columns=["query_id", "doc_id", "rank", "score"])


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(home=tmp_path_factory.mktemp("home"), threads=1)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {
        "cross-encoder": models.cross_encoder(folder / "cross-encoder", seed=5),
        "monot5": models.t5(folder / "t5", seed=5),
        "colbert": models.stanford_colbert(folder / "colbert", seed=5),
    }


@pytest.fixture(scope="module")
def rerankers(folders: dict[str, Path]) -> dict[str, Reranker]:
    checkpoints = {name: Checkpoint(str(folder)) for name, folder in folders.items()}
    return {
        "cross-encoder": CrossEncoder(checkpoints["cross-encoder"]),
        "monot5": MonoT5(checkpoints["monot5"], yes="prawda", no="fałsz"),
        "colbert": LateReranker(checkpoints["colbert"], query_length=32, document_length=180),
    }


@pytest.fixture(scope="module")
def by_hand(folders: dict[str, Path]) -> dict[str, Score]:
    """The score of one pair from the model's own output for it alone."""
    return {
        "cross-encoder": _cross_encoder(folders["cross-encoder"]),
        "monot5": _monot5(folders["monot5"]),
        "colbert": _colbert(folders["colbert"]),
    }


def _cross_encoder(folder: Path) -> Score:
    import torch
    from transformers import BertForSequenceClassification, BertTokenizer

    tokenizer = BertTokenizer.from_pretrained(folder)
    model = BertForSequenceClassification.from_pretrained(folder)

    def score(query: str, document: str) -> float:
        first, second = tokenizer.tokenize(query), tokenizer.tokenize(document)
        # The longer one is shortened until both fit.
        while len(first) + len(second) > 512 - 3:
            (second if len(second) > len(first) else first).pop()
        names = ["[CLS]", *first, "[SEP]", *second, "[SEP]"]
        ids = torch.tensor([tokenizer.convert_tokens_to_ids(names)])
        kinds = torch.tensor([[0] * (len(first) + 2) + [1] * (len(second) + 1)])
        with torch.inference_mode():
            return float(model(ids, token_type_ids=kinds).logits[0, 0])

    return score


def _monot5(folder: Path) -> Score:
    import torch
    from transformers import T5ForConditionalGeneration, T5Tokenizer

    tokenizer = T5Tokenizer.from_pretrained(folder)
    model = T5ForConditionalGeneration.from_pretrained(folder)

    def score(query: str, document: str) -> float:
        names = tokenizer.tokenize(f"Query: {query} Document: {document} Relevant:")[:511]
        ids = torch.tensor([tokenizer.convert_tokens_to_ids([*names, "</s>"])])
        with torch.inference_mode():
            logits = model(ids, decoder_input_ids=torch.tensor([[0]])).logits[0, 0].numpy()
        answers = tokenizer.convert_tokens_to_ids(["▁prawda", "▁fałsz"])
        shares = np.exp(logits[answers].astype(np.float64))
        return float(np.log(shares[0] / shares.sum()))

    return score


def _colbert(folder: Path) -> Score:
    from sentence_transformers import MultiVectorEncoder

    model = MultiVectorEncoder(str(folder), device="cpu")

    def score(query: str, document: str) -> float:
        one = model.encode_query(query, convert_to_numpy=True)
        other = model.encode_document(document, convert_to_numpy=True)
        assert len(one) == 32
        assert len(other) <= 180
        return float((one @ other.T).max(axis=1).sum())

    return score


def test_scores_are_the_models_own_of_each_pair_alone(
    rerankers: dict[str, Reranker],
    by_hand: dict[str, Score],
    documents: Path,
    settings: Settings,
) -> None:
    queries = DataFrame(QUERIES.items(), columns=["query_id", "text"])
    for name, reranker in rerankers.items():
        hits = reranker.combine([run()], documents, Request(queries, 1000, settings, _ignore))
        expected = {
            (query_id, doc_id): by_hand[name](QUERIES[query_id], TEXTS[doc_id])
            for query_id, doc_ids in FIRST
            for doc_id in doc_ids
            if query_id in QUERIES
        }
        found = zip(hits["query_id"], hits["doc_id"], hits["score"], strict=True)
        assert {(q, d): s for q, d, s in found} == pytest.approx(expected, abs=1e-4)
        # As 32-bit floats, which runs are sorted by, none tie.
        assert hits[hits["query_id"] == "q1"]["score"].astype("float32").nunique() == 4


def test_ranks_below_the_depth_go(
    rerankers: dict[str, Reranker], documents: Path, settings: Settings
) -> None:
    queries = DataFrame(QUERIES.items(), columns=["query_id", "text"])
    for reranker in rerankers.values():
        first = replace(reranker, depth=2)
        hits = first.combine([run()], documents, Request(queries, 1000, settings, lambda *_: None))
        assert list(zip(hits["query_id"], hits["doc_id"], strict=True)) == [
            ("q1", "d4"),
            ("q1", "d2"),
            ("q2", "d3"),
            ("q2", "d2"),
        ]


def test_pairs_are_scored_alike_however_they_are_cut_into_blocks(
    rerankers: dict[str, Reranker],
    documents: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queries = DataFrame(QUERIES.items(), columns=["query_id", "text"])
    for reranker in rerankers.values():
        monkeypatch.setattr(rerank, "PAIRS", 2048)
        whole = reranker.combine([run()], documents, Request(queries, 1000, settings, _ignore))
        monkeypatch.setattr(rerank, "PAIRS", 3)
        pieces = reranker.combine([run()], documents, Request(queries, 1000, settings, _ignore))
        assert pieces["score"].tolist() == pytest.approx(whole["score"].tolist(), abs=1e-5)


def test_nothing_found_first_is_nothing_found(
    rerankers: dict[str, Reranker], documents: Path, settings: Settings
) -> None:
    queries = DataFrame(QUERIES.items(), columns=["query_id", "text"])
    for lists in ([], [("q9", ["d1"])]):
        hits = rerankers["monot5"].combine(
            [run(lists)], documents, Request(queries, 10, settings, _ignore)
        )
        assert hits.empty
        assert list(hits) == ["query_id", "doc_id", "score"]


def test_a_session_scores_the_hits_of_one_query(
    rerankers: dict[str, Reranker], documents: Path, settings: Settings
) -> None:
    queries = DataFrame(QUERIES.items(), columns=["query_id", "text"])
    for reranker in rerankers.values():
        hits = reranker.combine([run()], documents, Request(queries, 1000, settings, _ignore))
        with reranker.session(documents, settings) as ask:
            for query_id, doc_ids in FIRST[:2]:
                answer = ask(QUERIES[query_id], [run([(query_id, doc_ids)])])
                assert isinstance(answer, DataFrame)
                own = hits[hits["query_id"] == query_id]["score"].tolist()
                assert answer["score"].tolist() == pytest.approx(own, abs=1e-5)
            assert isinstance(nothing := ask("none", [run([])]), DataFrame)
            assert nothing.empty


def test_texts_are_found_by_id_in_the_order_asked_for(documents: Path) -> None:
    ids = run([("q", ["d4", "d3", "d1", "d4"])])["doc_id"]
    assert read_texts(documents, ids) == [TEXTS[doc_id] for doc_id in ("d4", "d3", "d1", "d4")]


def test_a_document_that_the_collection_lacks_is_named(documents: Path) -> None:
    with pytest.raises(WrongInput, match="found 'd7', which is not in the corpus"):
        read_texts(documents, run([("q", ["d1", "d7"])])["doc_id"])


def test_without_documents_nothing_is_reranked() -> None:
    with pytest.raises(Unavailable, match="import-dataset"):
        read_texts(None, run()["doc_id"])


def test_a_model_without_a_trained_score_is_refused(
    folders: dict[str, Path], settings: Settings, tmp_path: Path
) -> None:
    for folder, message in (
        (folders["monot5"], r"is not a cross-encoder \(its config.json says T5For.*monot5\(FIRST"),
        (models.cross_encoder(tmp_path / "two", outputs=2), "gives 2 numbers for a pair"),
    ):
        with pytest.raises(WrongInput, match=message):
            CrossEncoder(Checkpoint(str(folder)))._scorer(settings)


def test_vectors_of_texts_are_no_reranker(settings: Settings, tmp_path: Path) -> None:
    """Loaded as one, such a model would get a last layer of random numbers."""
    base = models.bert(tmp_path / "bert")
    for folder in (base, models.sentence_transformer(tmp_path / "dense", base)):
        with pytest.raises(WrongInput, match=r"is not a cross-encoder .*says BertModel"):
            CrossEncoder(Checkpoint(str(folder)))._scorer(settings)


def test_a_reranker_that_the_library_saved_is_one(
    folders: dict[str, Path], settings: Settings, tmp_path: Path
) -> None:
    from sentence_transformers import CrossEncoder as Model

    Model(str(folders["cross-encoder"]), device="cpu").save_pretrained(str(tmp_path / "saved"))
    pairs = [("the cat", "the dog")]
    scores = [
        CrossEncoder(Checkpoint(str(folder)))._scorer(settings)(pairs)
        for folder in (folders["cross-encoder"], tmp_path / "saved")
    ]
    np.testing.assert_allclose(*scores, rtol=1e-6)


def test_lengths_that_make_no_sense_are_refused(
    folders: dict[str, Path], settings: Settings
) -> None:
    for kind in (CrossEncoder, MonoT5):
        with pytest.raises(WrongInput, match="max_length is 2; it must be 3 or more"):
            kind(Checkpoint("any/model"), max_length=2)
    with pytest.raises(WrongInput, match="reads 512 word pieces"):
        CrossEncoder(Checkpoint(str(folders["cross-encoder"])), max_length=513)._scorer(settings)


def test_answers_that_are_no_single_piece_are_refused(
    folders: dict[str, Path], settings: Settings
) -> None:
    with pytest.raises(WrongInput, match="no piece 'maybe' to answer with"):
        MonoT5(Checkpoint(str(folders["monot5"])), yes="maybe")._scorer(settings)


def test_what_changes_the_order_is_in_the_identity(rerankers: dict[str, Reranker]) -> None:
    changes: list[tuple[str, dict[str, Any]]] = [
        ("cross-encoder", {"max_length": 256}),
        ("monot5", {"yes": "true", "no": "false"}),
        ("colbert", {"document_length": 300}),
        ("monot5", {"depth": 50}),
    ]
    for name, change in changes:
        identity = replace(rerankers[name], **change).identity()
        assert identity != rerankers[name].identity()
        assert json.loads(json.dumps(identity)) == identity


def test_a_checkpoint_that_never_was_public_is_said_to_be_missing() -> None:
    with pytest.raises(Unavailable, match=r"give the folder of a model, bm25\+colbert-pl\(model="):
        LateReranker(Checkpoint("")).check()


def test_a_depth_of_none_is_refused() -> None:
    with pytest.raises(WrongInput, match="depth is 0; it must be 1 or more"):
        CrossEncoder(Checkpoint("any/model"), depth=0)
