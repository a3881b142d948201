"""Training bm25-augmented on the tiny collection, with a tiny encoder of the real vocabulary."""

import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from pandas import DataFrame
from pandas.testing import assert_frame_equal

from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import PROJECT, Settings
from compute.corpora import word_pieces
from compute.store.store import Part
from compute.systems.augmented import examples, model, training, vectors
from compute.systems.augmented.examples import Examples
from compute.systems.augmented.recipe import Augmentation
from compute.systems.augmented.search import COLUMNS, Augmented
from compute.systems.checkpoints import from_text
from compute.systems.training.recipes import MODEL, Material
from tests.support import models
from tests.support.tiny import DOCUMENTS, JUDGEMENTS, QUERIES


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers that knows the vocabulary of the documents."""
    size = word_pieces.word_pieces().get_vocab_size()
    return models.bert(tmp_path_factory.mktemp("encoder"), vocab_size=size)


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    """The tiny collection: three queries to train on, the third held out; d4 found by BM25."""
    folder = tmp_path_factory.mktemp("material")

    def part(kind: str, **columns: Sequence[object]) -> Part:
        path = folder / f"{kind}.parquet"
        pq.write_table(pa.table(dict(columns)), path)
        return Part(kind, kind, "tiny", "", kind, path, 0, 0, "", {}, "")

    ids, titles, texts = ([row[key] for row in DOCUMENTS] for key in ("_id", "title", "text"))
    queries, grades = QUERIES[:2], [row for row in JUDGEMENTS if row[0] != "q3"]
    return Material(
        "material",
        {
            "documents": part("documents", doc_id=ids, title=titles, text=texts),
            "queries": part(
                "queries",
                query_id=[row["_id"] for row in queries],
                text=[row["text"] for row in queries],
            ),
            "judgements": part(
                "judgements",
                query_id=[row[0] for row in grades],
                doc_id=[row[1] for row in grades],
                relevance=[row[2] for row in grades],
            ),
            "hits": part(
                "hits",
                query_id=["q1", "q1", "q1", "q2"],
                doc_id=["d1", "d4", "d6", "d3"],
                rank=[1, 2, 3, 1],
            ),
            "held_out_queries": part("held_queries", query_id=["q3"], text=["harbour fish"]),
            "held_out_judgements": part(
                "held_judgements", query_id=["q3"], doc_id=["d6"], relevance=[1]
            ),
        },
        {"hard_from": 100},
    )


def _recipe(encoder: Path, **changes: object) -> Augmentation:
    made = Augmentation(from_text(str(encoder)), epochs=4, batch=2, learning_rate=1e-3)
    return replace(made, patience=99, **changes)  # pyrefly: ignore


def _examples(material: Material) -> Examples:
    return examples.read(material, 100, lambda *_: None)


def test_hard_negatives_are_what_bm25_finds_and_nobody_judged_relevant(
    material: Material,
) -> None:
    found = _examples(material)
    row = found.documents.doc_ids.index
    assert found.train.query_ids == ["q1", "q2"]
    assert found.train.judged[0] == {row("d1"), row("d5")}
    assert found.train.hard[0].tolist() == [row("d4"), row("d6")]
    assert found.train.hard[1].tolist() == []
    assert found.held_out.query_ids == ["q3"]


def test_a_batch_masks_every_other_document_judged_relevant(material: Material) -> None:
    found = _examples(material)
    for seed in range(20):
        (pairs,) = examples.epoch(found.train, 2, 1, np.random.default_rng(seed))
        assert sorted(pairs.queries) == [0, 1]
        for place, query in enumerate(pairs.queries):
            drawn = int(pairs.rows[pairs.positive[place]])
            assert drawn in found.train.judged[query]
            masked = set(pairs.rows[pairs.masked[place]].tolist())
            assert masked == (found.train.judged[query] & set(pairs.rows.tolist())) - {drawn}


def test_before_training_it_ranks_as_plain_bm25(
    encoder: Path, material: Material, tmp_path: Path
) -> None:
    recipe = _recipe(encoder)
    loop = training.Loop(recipe, _examples(material), tmp_path)
    loop.model.eval()
    with torch.no_grad():
        added, asked = loop.model([loop.model.batch(loop.examples.train.pieces)])
    assert added.max() < 10 * model.START
    assert asked.weight.std() < 0.2 * asked.weight.mean()
    assert min(training.SCALES) / 2 < asked.weight.mean() < 1.5


@pytest.mark.parametrize(
    "ablation",
    [
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in ({"price": "uniform"}, {"weights": "none"}, {"vectors": "words"})
        ),
        {},
    ],
)
def test_training_lowers_the_loss_and_leaves_a_model(
    encoder: Path, material: Material, tmp_path: Path, ablation: dict[str, str]
) -> None:
    losses = []
    recipe = _recipe(encoder, epochs=12, **ablation)
    facts = recipe.train(
        material,
        tmp_path,
        Settings(threads=1),
        lambda step, total, found: losses.append(found.get("contrastive", 0.0)),
    )
    told = [value for value in losses if value]
    assert sum(told[-4:]) < sum(told[:4])
    assert facts["steps"] == len(told) == 12
    assert [file.name for file in tmp_path.iterdir()] == [MODEL]
    loaded = model.load(tmp_path / MODEL)
    pieces = _examples(material).train.pieces[0]
    weighed = model.weights(loaded, loaded.batch([pieces]))[0]
    query = [(vectors.names()[piece], mine, weight) for piece, mine, weight in weighed]
    own = [weight for _, mine, weight in query if mine]
    assert len(own) == 4
    asked = DataFrame({"query_id": ["q1", "none"], "text": [QUERIES[0]["text"], None]})
    rows = Augmented(checkpoint=from_text(str(tmp_path / MODEL))).queries(
        asked, Settings(threads=1)
    )
    whole = DataFrame([("q1", *piece) for piece in query], columns=COLUMNS)
    assert_frame_equal(rows, whole, rtol=1e-5)
    if ablation.get("weights") == "none":
        assert min(own) >= 1
    assert loaded.shape.bm25 == ("vectors" not in ablation)


def test_a_piece_twice_in_a_query_has_the_mean_of_its_weights(encoder: Path) -> None:
    shape = model.Shape(0.9, 0.4, True, True, 512)
    size = word_pieces.word_pieces().get_vocab_size()
    made = model.fresh(encoder, size, 1, shape).eval()
    made.weight.data.fill_(0.05)
    batch = made.batch([[2000, 3000, 2000]])
    with torch.no_grad():
        hidden = made.encoder(input_ids=batch.input_ids)[0]
        _, asked = made([batch])
    own = torch.relu(hidden[0] @ made.weight)
    assert asked.piece.tolist() == [2000, 3000]
    expected = torch.stack([(own[1] + own[3]) / 2, own[2]])
    torch.testing.assert_close(asked.weight, expected, rtol=1e-5, atol=1e-6)


def test_an_encoder_of_another_vocabulary_is_refused(tmp_path: Path, material: Material) -> None:
    other = models.bert(tmp_path / "other")
    with pytest.raises(Unavailable, match="bert-base-uncased"):
        _recipe(other).train(material, tmp_path / "none", Settings(threads=1), lambda *_: None)


@pytest.mark.parametrize(
    "wrong", [{"price": "cheap"}, {"b": 2.0}, {"epochs": 0}, {"vectors": "dense"}]
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(WrongInput, match=next(iter(wrong))):
        replace(Augmentation(), **wrong)  # pyrefly: ignore


_SCRIPT = """
import pickle, sys
from pathlib import Path
from compute.base.settings import Settings
recipe, material, folder = pickle.loads(Path(sys.argv[1]).read_bytes())
def report(step, total, losses):
    print(step, losses.get("loss", ""), flush=True)
facts = recipe.train(material, folder, Settings(threads=1), report)
print("done", facts["final_loss"], facts["best_epoch"], flush=True)
"""


@pytest.mark.long
def test_killed_in_the_middle_it_goes_on_to_the_same_model(
    encoder: Path, material: Material, tmp_path: Path
) -> None:
    recipe = _recipe(encoder, epochs=20)
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    for folder in (whole, parted):
        folder.mkdir()
    expected = recipe.train(material, whole, Settings(threads=1), lambda *_: None)
    given = tmp_path / "given"
    given.write_bytes(pickle.dumps((recipe, material, parted)))
    command = [sys.executable, "-c", _SCRIPT, str(given)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PROJECT) as first:
        assert first.stdout is not None
        for line in first.stdout:
            if line.startswith("8 "):
                first.send_signal(signal.SIGKILL)
                break
        rest = first.stdout.read()
    assert "done" not in rest and first.returncode == -signal.SIGKILL
    assert (parted / training.CHECKPOINT).exists()
    steps: list[int] = []
    found = recipe.train(
        material,
        parted,
        Settings(threads=1),
        lambda step, _, losses: steps.append(step) if "loss" in losses else None,
    )
    assert 1 < steps[0] <= 9, "it went on"
    assert found["final_loss"] == pytest.approx(expected["final_loss"], abs=1e-6)
    assert found == expected | {"final_loss": found["final_loss"]}
    assert models_equal(whole / MODEL, parted / MODEL)


def models_equal(one: Path, other: Path) -> bool:
    """Whether two models have the same weights."""
    first, second = (model.load(folder).state_dict() for folder in (one, other))
    return all(torch.allclose(first[name], second[name], atol=1e-6) for name in first)
