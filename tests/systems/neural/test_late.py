"""Late interaction with tiny models, against plain NumPy from their raw outputs."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pandas import DataFrame

from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import Settings
from compute.systems import SYSTEMS
from compute.systems.checkpoints import Checkpoint
from compute.systems.neural import encoding, late, maxsim, multivector
from compute.systems.neural.late import LateInteraction
from compute.systems.searcher import Request
from tests.support import models

DOCUMENTS = [
    ("d1", "Cats", "The cat purrs, the dog barks."),
    ("d2", "", "stock market " * 300),
    ("d3", "", ""),
    ("d4", "dog!", "the dog"),
    ("d5", "query", ""),
]
QUERIES = [("q1", "the cat"), ("q2", "market stock dog " * 30), ("q3", "")]
TEXTS = [encoding.joined(title, text) for _, title, text in DOCUMENTS]
Vectors = Callable[[str, str], np.ndarray]
"""The token vectors of a text as `query` or `document`, by hand."""


def _ignore(done: int, total: int, unit: str) -> None:
    assert 0 <= done <= total


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A ColBERT of the paper's authors, and an encoder that was not trained for this."""
    folder = tmp_path_factory.mktemp("models")
    base = models.bert(folder / "bert", seed=3)
    plain = models.sentence_transformer(folder / "plain", base, max_length=256)
    return {"colbert": models.stanford_colbert(folder / "colbert"), "plain": plain}


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(home=tmp_path_factory.mktemp("home"), threads=1)


@pytest.fixture(scope="module")
def systems(folders: dict[str, Path]) -> dict[str, LateInteraction]:
    colbert = Checkpoint(str(folders["colbert"]))
    return {
        "colbert": LateInteraction(colbert, query_length=32, document_length=300),
        "plain": LateInteraction(Checkpoint(str(folders["plain"]))),
    }


@pytest.fixture(scope="module")
def indexes(
    systems: dict[str, LateInteraction],
    documents: Path,
    settings: Settings,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, tuple[Path, dict]]:
    """The folder of each system's index, and the facts about it."""
    made = {}
    for name, system in systems.items():
        folder = tmp_path_factory.mktemp(name)
        made[name] = folder, system.index(documents, folder, settings, _ignore)
    return made


@pytest.fixture(scope="module")
def by_hand(folders: dict[str, Path]) -> dict[str, Vectors]:
    """Token vectors, one text at a time, from the encoders' last layers."""
    import torch
    from safetensors.numpy import load_file
    from transformers import BertModel, BertTokenizer

    def hidden(folder: Path, ids: Any, attended: int) -> np.ndarray:
        model = BertModel.from_pretrained(folder)
        mask = torch.tensor([[1] * attended + [0] * (len(ids) - attended)])
        with torch.inference_mode():
            return model(torch.tensor([ids]), attention_mask=mask).last_hidden_state[0].numpy()

    def unit(rows: np.ndarray) -> np.ndarray:
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def colbert(text: str, side: str) -> np.ndarray:
        folder = folders["colbert"]
        tokenizer = BertTokenizer.from_pretrained(folder)
        marker, most = ("[unused0]", 32) if side == "query" else ("[unused1]", 300)
        names = ["[CLS]", marker, *tokenizer.tokenize(text)[: most - 3], "[SEP]"]
        read = len(names)
        if side == "query":
            names += ["[MASK]"] * (most - read)
        rows = hidden(folder, tokenizer.convert_tokens_to_ids(names), read)
        rows = unit(rows @ load_file(folder / "model.safetensors")["linear.weight"].T)
        kept = [side == "query" or name not in "!,.?" for name in names]
        return rows[kept]

    def plain(text: str, side: str) -> np.ndarray:
        folder = folders["plain"]
        tokenizer = BertTokenizer.from_pretrained(folder)
        names = ["[CLS]", *tokenizer.tokenize(text)[:254], "[SEP]"]
        rows = hidden(folder, tokenizer.convert_tokens_to_ids(names), len(names))
        return unit(rows)[1:-1]

    return {"colbert": colbert, "plain": plain}


@pytest.mark.parametrize("name", ["colbert", "plain"])
def test_candidates_then_exact_scores_equal_an_exhaustive_search(
    name: str,
    systems: dict[str, LateInteraction],
    indexes: dict[str, tuple[Path, dict]],
    by_hand: dict[str, Vectors],
    settings: Settings,
) -> None:
    queries = DataFrame(QUERIES, columns=["query_id", "text"])
    system = replace(systems[name], candidates=2000)
    hits = system.search(indexes[name][0], Request(queries, 10, settings, _ignore))
    vectors = [by_hand[name](text, "document") for text in TEXTS]
    counts = np.array([len(rows) for rows in vectors])
    for query_id, text in QUERIES:
        query = by_hand[name](text, "query")
        scores = maxsim.maxsim(query, np.concatenate(vectors), counts)
        expected = {
            doc_id: score
            for (doc_id, _, _), score, count in zip(DOCUMENTS, scores, counts, strict=True)
            if count and len(query)
        }
        own = hits[hits["query_id"] == query_id]
        # Vectors are kept as 16-bit floats.
        assert dict(zip(own["doc_id"], own["score"], strict=True)) == pytest.approx(
            expected, abs=0.002 * max(len(query), 1)
        )
        assert own["score"].is_monotonic_decreasing
    assert hits["query_id"].nunique() == (3 if name == "colbert" else 2)


@pytest.mark.long
def test_minilm_sums_the_best_cosines_between_words(
    documents: Path, settings: Settings, tmp_path: Path
) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    row = SYSTEMS["minilm-maxsim"].search
    assert isinstance(row, LateInteraction)
    folder = str(row.checkpoint.folder())
    model = AutoModel.from_pretrained(folder)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)

    def words(text: str) -> np.ndarray:
        pieces = tokenizer(text, truncation=True, max_length=256, return_tensors="pt")
        with torch.inference_mode():
            rows = model(**pieces).last_hidden_state[0, 1:-1].numpy()
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    row.index(documents, tmp_path, settings, _ignore)
    queries = DataFrame([("q", "why do cats purr")], columns=["query_id", "text"])
    hits = row.search(tmp_path, Request(queries, 10, settings, _ignore))
    query = words("why do cats purr")
    expected = {
        doc_id: (query @ words(text).T).max(axis=1).sum()
        for (doc_id, _, _), text in zip(DOCUMENTS, TEXTS, strict=True)
        if text
    }
    found = dict(zip(hits["doc_id"], hits["score"], strict=True))
    assert found == pytest.approx({doc_id: expected[doc_id] for doc_id in found}, abs=0.005)
    assert hits["doc_id"].iloc[0] == "d1" == max(expected, key=expected.__getitem__)


def test_texts_are_cut_and_padded_as_the_model_wants(
    systems: dict[str, LateInteraction], indexes: dict[str, tuple[Path, dict]], settings: Settings
) -> None:
    tokens = maxsim.read(indexes["colbert"][0])
    # [CLS], the marker and [SEP] are there, full stops and commas are not.
    assert tokens.counts.tolist() == [3 + 16, 300, 3, 6, 4]
    assert maxsim.read(indexes["plain"][0]).counts.tolist() == [18, 254, 0, 4, 1]
    rows = multivector.queries(systems["colbert"]._load(settings))(["the cat", "the " * 100])
    assert [len(row) for row in rows] == [32, 32]


def test_lengths_of_zero_are_the_models_own(folders: dict[str, Path], settings: Settings) -> None:
    model = multivector.load(
        folders["colbert"], query_length=0, document_length=0, settings=settings
    )
    assert len(multivector.documents(model)(["the " * 400])[0]) == 180


def test_a_batch_gives_what_single_texts_give(folders: dict[str, Path], settings: Settings) -> None:
    for folder in folders.values():
        model = multivector.load(folder, query_length=0, document_length=0, settings=settings)
        for encode in (multivector.queries(model), multivector.documents(model)):
            together = encode(TEXTS)
            for text, rows in zip(TEXTS, together, strict=True):
                assert rows == pytest.approx(encode([text])[0], abs=1e-5)


def test_facts_tell_counts_and_what_approximate_search_finds(
    systems: dict[str, LateInteraction],
    indexes: dict[str, tuple[Path, dict]],
    documents: Path,
    settings: Settings,
) -> None:
    folder, facts = indexes["plain"]
    # The long document's tokens crowd others out of the first hundred.
    recall = systems["plain"].recall(folder, settings)
    assert recall is not None and 0 < recall < 1
    assert facts == {"documents": 5, "tokens": 18 + 254 + 4 + 1}
    # The same index, looked through with more candidates.
    everything = replace(systems["plain"], candidates=2000)
    assert everything.index(documents, folder, settings, _ignore) == facts
    assert everything.recall(folder, settings) == 1


def test_few_candidates_are_still_scored_exactly(
    systems: dict[str, LateInteraction], indexes: dict[str, tuple[Path, dict]], settings: Settings
) -> None:
    queries = DataFrame([("q", "the cat")], columns=["query_id", "text"])
    folder = indexes["plain"][0]
    all_, few = (
        replace(systems["plain"], candidates=count).search(
            folder, Request(queries, 10, settings, _ignore)
        )
        for count in (2000, 1)
    )
    exact = dict(zip(all_["doc_id"], all_["score"], strict=True))
    assert 0 < len(few) <= 2 < len(all_)
    assert [exact[doc_id] for doc_id in few["doc_id"]] == few["score"].tolist()


def test_a_session_answers_like_a_search(
    systems: dict[str, LateInteraction], indexes: dict[str, tuple[Path, dict]], settings: Settings
) -> None:
    queries = DataFrame(QUERIES, columns=["query_id", "text"])
    for name, system in systems.items():
        folder = indexes[name][0]
        hits = system.search(folder, Request(queries, 2, settings, _ignore))
        with system.session(folder, settings) as ask:
            for query_id, text in QUERIES:
                own = hits[hits["query_id"] == query_id]
                assert ask(text, 2) == own["doc_id"].tolist()


def test_an_interrupted_index_goes_on_where_it_was(
    systems: dict[str, LateInteraction],
    indexes: dict[str, tuple[Path, dict]],
    documents: Path,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(encoding, "SHARD", 2)

    def interrupt(done: int, total: int, unit: str) -> None:
        if done > 3:
            raise KeyboardInterrupt

    system = systems["plain"]
    with pytest.raises(KeyboardInterrupt):
        system.index(documents, tmp_path, settings, interrupt)
    kept = {file: file.stat().st_ino for file in tmp_path.glob("tokens-*.npy")}
    assert len(kept) == 1
    facts = system.index(documents, tmp_path, settings, _ignore)
    assert facts == indexes["plain"][1]
    assert all(file.stat().st_ino == inode for file, inode in kept.items())
    whole, pieces = maxsim.read(indexes["plain"][0]), maxsim.read(tmp_path)
    assert [len(pieces.shards), *pieces.counts] == [3, *whole.counts]
    assert np.concatenate(pieces.shards) == pytest.approx(
        np.concatenate(whole.shards).astype(np.float32), abs=1e-3
    )


def test_a_corpus_without_a_word_has_no_hits(
    systems: dict[str, LateInteraction], settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "documents.parquet"
    DataFrame([("d", "", "")], columns=["doc_id", "title", "text"]).to_parquet(file)
    system = systems["plain"]
    assert system.index(file, tmp_path, settings, _ignore) == {"documents": 1, "tokens": 0}
    queries = DataFrame(QUERIES, columns=["query_id", "text"])
    assert system.search(tmp_path, Request(queries, 10, settings, _ignore)).empty


def test_no_queries_are_no_hits(
    systems: dict[str, LateInteraction], indexes: dict[str, tuple[Path, dict]], settings: Settings
) -> None:
    queries = DataFrame({"query_id": [], "text": []})
    assert (
        systems["plain"].search(indexes["plain"][0], Request(queries, 10, settings, _ignore)).empty
    )


def test_the_approximate_index_learns_from_a_sample_of_every_shard() -> None:
    shards = [np.full((size, 2), size, np.float16) for size in (5, 0, 7)]
    tokens = maxsim.Tokens(shards, np.array([5, 7]), np.array([0, 5]), np.array([0, 5, 5, 12]))
    assert late._some(tokens, 100)[:, 0].tolist() == [5] * 5 + [7] * 7
    assert len(late._some(tokens, 6)) == 6


def test_only_the_vectors_make_the_index(systems: dict[str, LateInteraction]) -> None:
    colbert = systems["colbert"]
    deeper = replace(colbert, candidates=200, probes=16)
    assert deeper.index_identity() == colbert.index_identity()
    assert deeper.identity() != colbert.identity()
    shorter = replace(colbert, document_length=180)
    assert shorter.index_identity() != colbert.index_identity()
    assert json.loads(json.dumps(deeper.identity())) == deeper.identity()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"query_length": 2}, "query_length is 2; it must be 3 or more"),
        ({"document_length": -1}, "document_length is -1; it must be 3 or more"),
        ({"candidates": 0}, "candidates is 0; it must be 1 or more"),
        ({"probes": 0}, "probes is 0; it must be 1 or more"),
    ],
)
def test_wrong_parameters_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(WrongInput, match=message):
        LateInteraction(Checkpoint("any/model"), **changes)


def test_more_word_pieces_than_a_model_has_positions_are_refused(
    folders: dict[str, Path], settings: Settings
) -> None:
    with pytest.raises(WrongInput, match="has 512 positions: 513 word pieces are too many"):
        multivector.load(folders["plain"], query_length=32, document_length=513, settings=settings)


def test_weights_that_do_not_load_are_named(
    folders: dict[str, Path], settings: Settings, tmp_path: Path
) -> None:
    broken = shutil.copytree(folders["colbert"], tmp_path / "broken")
    (broken / "model.safetensors").write_bytes(b"cut off")
    with pytest.raises(Unavailable, match="broken does not load"):
        multivector.load(broken, query_length=32, document_length=180, settings=settings)


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="is not a model's folder"):
        LateInteraction(Checkpoint(str(tmp_path))).check()
