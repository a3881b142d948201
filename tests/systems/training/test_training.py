"""Training by recipe: interrupted and gone on with, stored, named, searched, and shown."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compute import jobs
from compute.__main__ import main
from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import PROJECT, Settings
from compute.datasets import Dataset
from compute.intake import imports
from compute.jobs.matrix import known_systems
from compute.jobs.steps import STEPS
from compute.recompute import run, training
from compute.store import freshness
from compute.store.loading import Bench
from compute.store.store import Part, Store
from compute.systems import system, trained
from compute.systems.neural.dense import Dense
from compute.systems.training import biencoder, losses
from compute.systems.training.ict import Ict
from compute.systems.training.recipes import material
from compute.views.jobs import training as figures
from tests.support import models as tiny_models
from tests.support.tiny import write_tiny

KILLED_AT = 5
_TRAIN = """
import os, signal, sys
from compute.base import settings
from compute.datasets import dataset
from compute.recompute import training
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.store.store import Part, Store
from compute.systems.training import biencoder

def die(done, total, unit):
    if unit == "steps" and done == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

biencoder.CHECKPOINT_SECONDS = 0
store = Store(settings.load())
on, row = dataset("tiny", own_datasets(store)), training.named(sys.argv[1], "tiny")
training.train(Bench(store, store.settings, die), row, on, again=True)
"""


@dataclass(frozen=True)
class World:
    """A home with the tiny collection, and both recipes trained there."""

    bench: Bench
    dataset: Dataset
    names: dict[str, str]
    trained: dict[str, training.Trained]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("training")
    now = Settings(home=folder / "home", threads=1, latency_queries=0)
    bench = Bench(Store(now), now)
    tiny = imports.import_dataset(bench, "tiny", path=write_tiny(folder / "tiny")).dataset
    model = tiny_models.sentence_transformer(
        folder / "model", tiny_models.bert(folder / "bert"), max_length=64
    )
    fit = f"model={model},batch=2,epochs=3,lr=0.01,max_length=32"
    names = {"genq": f"genq({fit},queries=title)", "ict-herbert": f"ict-herbert({fit})"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEIRSCOPE_HOME", str(now.home))
        patch.setenv("BEIRSCOPE_THREADS", "1")
        patch.setenv("BEIRSCOPE_LATENCY_QUERIES", "0")
        rows = {base: training.named(name, "tiny") for base, name in names.items()}
        made = {base: training.train(bench, row, tiny) for base, row in rows.items()}
        yield World(bench, tiny, {base: row.name for base, row in rows.items()}, made)


@pytest.mark.long
def test_a_killed_training_goes_on_to_the_same_model(world: World) -> None:
    whole, name = world.trained["genq"], world.names["genq"]
    command = [sys.executable, "-c", _TRAIN, name, str(KILLED_AT)]
    assert subprocess.run(command, cwd=PROJECT).returncode == -signal.SIGKILL
    assert list((world.bench.settings.home / "training").iterdir())
    resumed = training.train(world.bench, system(name), world.dataset, again=True)
    curves = [run.read(one.losses) for one in (resumed, whole)]
    assert curves[0]["step"].tolist() == curves[1]["step"].tolist()
    assert curves[0]["step"].max() > KILLED_AT
    np.testing.assert_allclose(curves[0]["value"], curves[1]["value"], atol=1e-6)
    last = [one.model.provenance["facts"]["loss"] for one in (resumed, whole)]
    assert last[0] == pytest.approx(last[1], abs=1e-6)
    assert not list((world.bench.settings.home / "training").iterdir())


def test_the_first_loss_is_the_in_batch_softmax_of_cosines(world: World) -> None:
    row = training.named("genq(batch=3,queries=sentence,epochs=1)", "tiny")
    recipe = row.recipe
    assert recipe is not None
    from sentence_transformers import SentenceTransformer

    folder = world.bench.settings.home / "still"
    base = tiny_models.bert(
        folder / "bert", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )
    start = tiny_models.sentence_transformer(folder / "model", base, max_length=32)
    pairs = [("harbour at dawn", "ships leave"), ("bridge", "the river"), ("fish", "market day")]
    heard: list[float] = []
    how = biencoder.Fit(steps=1, lr=0.01, warmup=0, seed=1)
    biencoder.fit(
        start,
        lambda step: pairs,
        how,
        folder / "out",
        world.bench.settings,
        lambda step, total, found: heard.append(found["loss"]),
    )
    vectors = SentenceTransformer(str(start), device="cpu").encode(
        [text for pair in pairs for text in pair], normalize_embeddings=True
    )
    scores = 20 * np.asarray(vectors[0::2]) @ np.asarray(vectors[1::2]).T
    expected = np.mean(np.log(np.exp(scores).sum(axis=1)) - np.diag(scores))
    assert heard == [pytest.approx(expected, rel=1e-4)]


def test_a_trained_model_is_a_system_by_its_name(world: World) -> None:
    name = world.names["genq"]
    found = system(name)
    assert found.search is not None
    found.search.check()
    outcome = run.run(world.bench, found, world.dataset)
    part = world.bench.store.part("model", "tiny", name)
    assert part is not None
    assert outcome.hits.provenance["inputs"][f"model:{name}"] == part.fingerprint
    fused = system(f"rrf({name},bm25)")
    assert fused.inputs == (name, "bm25")
    assert name in known_systems(world.bench.store.parts())
    retrained = name.replace("genq[tiny](", "genq[tiny](index=hnsw,")
    assert trained.behind(system(retrained).search) == [part]


@pytest.mark.parametrize("similarity", [pytest.param("cosine", marks=pytest.mark.long), "dot"])
def test_judged_pairs_train_one_model_with_either_similarity(world: World, similarity: str) -> None:
    how = f"queries=judged,similarity={similarity}"
    name = world.names["genq"].replace("queries=title", how).replace("epochs=3", "epochs=1")
    row = training.named(name.replace("genq(", "genq[tiny]("), "tiny")
    done = training.train(world.bench, row, world.dataset)
    assert done.model.provenance["facts"]["similarity"] == similarity
    assert row.trained_on == ("tiny",)
    search = system(row.name).search
    assert isinstance(search, Dense)
    encode = search.encoder(world.bench.settings, "documents")
    lengths = np.linalg.norm(np.stack(list(encode(["a sea", "a longer text of the sea"]))), axis=1)
    assert np.allclose(lengths, 1, atol=1e-5) == (similarity == "cosine")


def test_a_run_shows_only_while_its_model_is_the_stored_one(world: World) -> None:
    name, store = world.names["ict-herbert"], world.bench.store
    outcome = run.run(world.bench, system(name), world.dataset)
    model = store.part("model", "tiny", name)
    assert model is not None
    assert outcome.hits.id in {part.id for part in freshness.split(store.parts())[0]}
    other = [
        replace(part, fingerprint="other") if part == model else part for part in store.parts()
    ]
    assert outcome.hits.id in {part.id for part in freshness.split(other)[1]}
    without = [part for part in store.parts() if part != model]
    assert outcome.hits.id in {part.id for part in freshness.split(without)[0]}


def test_what_is_trained_is_not_trained_again(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    name = world.names["genq"]
    order = {"system": name, "dataset": "tiny", "options": {"again": False}}
    assert STEPS["train"](world.bench, order) is False
    assert main(["train", name, "tiny"]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"{name}: 9 steps") and "(trained before)" in told


def test_a_system_not_trained_yet_names_the_command(world: World) -> None:
    found = system("genq[tiny](seed=7)")
    assert found.search is not None
    with pytest.raises(Unavailable, match=r"python -m compute train 'genq\(seed=7\)' tiny"):
        found.search.check()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bm25", "bm25 cannot be trained here; these can: .*genq"),
        ("genq[scifact]", "is trained on scifact, not on tiny"),
        ("genq(queries=none)", "queries is 'none'; it must be one of: t5, judged, title, sentence"),
        ("genq(similarity=euclid)", "similarity is 'euclid'; it must be one of: , cosine, dot"),
        ("genq(batch=1)", "batch is 1; it must be 2 or more"),
        ("ict-herbert(keep=2)", "keep is 2.0; it must be from 0 to 1"),
        ("genq(bm25)", "genq is not made from other systems"),
    ],
)
def test_wrong_recipes_are_refused_in_a_sentence(name: str, message: str) -> None:
    with pytest.raises(WrongInput, match=message):
        training.named(name, "tiny")


def test_a_job_trains_every_recipe_on_every_dataset(world: World) -> None:
    kind = jobs.KINDS["train"]
    found = kind.targets(world.bench.store, ["genq(seed=2)", "ict-herbert"], ["tiny"])
    assert found == [("genq[tiny](seed=2)", "tiny"), ("ict-herbert[tiny]", "tiny")]


def test_a_damaged_model_is_refused(world: World, tmp_path: Path) -> None:
    part = world.trained["genq"].model
    trained.unpack(part, tmp_path / "whole")
    assert trained.content_hash(tmp_path / "whole") == part.provenance["content"]
    other = replace(part, provenance=part.provenance | {"content": "0" * 64})
    with pytest.raises(WrongInput, match="is damaged"):
        trained.unpack(other, tmp_path / "damaged")


def test_the_curve_drops_what_is_done_anew(tmp_path: Path) -> None:
    def heard(done: int, total: int, unit: str) -> None:
        told.append((done, total, unit))

    told: list[tuple[int, int, str]] = []
    losses.begin(tmp_path, {"system": "genq[tiny]"})
    first = losses.Curve(tmp_path, heard)
    for step in (1, 2, 3):
        first(step, 4, {"loss": float(step)})
    again = losses.Curve(tmp_path, heard)
    for step in (3, 4):
        again(step, 4, {"loss": 10.0 * step})
    assert [row["losses"]["loss"] for row in losses.rows(tmp_path)] == [1, 2, 30, 40]
    assert told[-1] == (4, 4, "steps")
    curve = losses.frame(losses.rows(tmp_path))
    assert figures.said(curve, 4).startswith("Step 4 of 4: loss 40.0000 (started at 1.0000); ")
    figure = figures.losses(curve, total=4, theme="light")
    assert list(figure.to_dict()["data"][0]["x"]) == [1, 2, 3, 4]


def test_a_long_training_keeps_means_of_many_steps(tmp_path: Path) -> None:
    curve = losses.Curve(tmp_path, lambda *_: None)
    total = 3 * losses.POINTS
    for step in range(1, 7):
        curve(step, total, {"loss": float(step)})
    assert [row["losses"]["loss"] for row in losses.rows(tmp_path)] == [2.0, 5.0]


def test_a_round_goes_through_all_documents_once() -> None:
    steps = [biencoder.batch(5, 2, seed=1, step=step) for step in range(6)]
    assert [number for number, _ in steps] == [0, 0, 0, 1, 1, 1]
    for number in (0, 1):
        places = np.concatenate([found for turn, found in steps if turn == number])
        assert sorted(places) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("keep", "stays"), [(0.0, 0.0), (1.0, 1.0), (0.1, 0.1)])
def test_the_sentence_stays_in_its_document_as_often_as_asked(keep: float, stays: float) -> None:
    from compute.systems.training.ict import inverse_cloze

    chance = np.random.default_rng(1)
    cloze = ("Harbour", ["Ships leave.", "A ferry crosses.", "The lamp guides."])
    drawn = [inverse_cloze(cloze, keep, chance) for _ in range(2_000)]
    share = np.mean([sentence in rest for sentence, rest in drawn])
    assert share == pytest.approx(stays, abs=0.03)
    assert {sentence for sentence, _ in drawn} == set(cloze[1])
    assert all(rest.startswith("Harbour ") for _, rest in drawn)


def test_of_two_sentences_without_a_title_one_is_to_find_the_other(tmp_path: Path) -> None:
    """Of a single one nothing is left to find; and of one document no batch can be made."""
    path = tmp_path / "documents.parquet"
    texts = ["Ships leave. A ferry crosses.", "Ships leave."]
    pq.write_table(pa.table({"doc_id": ["a", "b"], "title": ["", ""], "text": texts}), path)
    part = Part("documents", "documents", "tiny", "", "documents", path, 0, 0, "", {}, "")
    found = material({"language": "en"}, documents=part)
    recipe = system("ict-herbert[scifact-pl]").recipe
    assert recipe
    with pytest.raises(WrongInput, match=r"^1 of these documents"):
        recipe.train(found, tmp_path, Settings(threads=1), lambda *_: None)


def test_the_papers_settings_are_the_defaults() -> None:
    ict = system("ict-herbert[scifact-pl]").recipe
    assert isinstance(ict, Ict)
    assert (ict.model, ict.steps, ict.batch, ict.lr) == (
        "allegro/herbert-base-cased",
        1_800_000,
        64,
        2e-4,
    )
    genq = system("genq[scifact]").parameters
    assert (genq["number"], genq["documents"], genq["queries"]) == (5, 100_000, "t5")
    assert genq["model"] == "sentence-transformers/msmarco-distilbert-base-tas-b"
