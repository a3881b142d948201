"""Corpora cut into shards that any worker makes: the same results as of the undivided ones."""

import json
import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from pandas import DataFrame

from compute import efficiency, imports, pairs, recompute, shards
from compute.jobs.matrix import known_datasets
from compute.loading import Bench
from compute.settings import Settings
from compute.store import Store
from compute.systems import system
from tests import models

DOCUMENTS = 4500
"""Two whole shards of vectors, and a piece of a third."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    return models.sentence_transformer(folder / "dense", models.bert(folder / "bert"))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BEIR folder of many short documents."""
    folder = tmp_path_factory.mktemp("corpus")
    words, chance = ["cat", "dog", "stock", "market", *"abcdefghijklmnop"], random.Random(7)
    texts = [" ".join(chance.choices(words, k=chance.randint(1, 6))) for _ in range(DOCUMENTS)]
    rows = [{"_id": f"d{place}", "title": "", "text": text} for place, text in enumerate(texts)]
    asked = [{"_id": f"q{place}", "text": text} for place, text in enumerate(texts[:20])]
    for name, records_ in (("corpus", rows), ("queries", asked)):
        lines = "".join(json.dumps(record) + "\n" for record in records_)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    (folder / "qrels").mkdir()
    judged = "".join(f"q{place}\td{place}\t1\n" for place in range(20))
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}", "utf-8")
    return folder


def home(folder: Path, corpus: Path, state: str = "") -> Bench:
    settings = Settings(
        home=folder / "home", state=state, threads=1, latency_queries=0, shard_documents=1
    )
    store = Store(settings, shipped=folder / "nothing")
    imports.import_dataset(Bench(store, settings), "many", path=corpus)
    return Bench(store, settings)


def undivided(bench: Bench, name: str) -> DataFrame:
    """The run by this process alone, its index built anew and as a whole."""
    alone = Bench(bench.store, replace(bench.settings, shard_documents=0, home=bench.store.home))
    for folder in (bench.store.home / "caches").glob("*"):
        if folder.is_dir():
            shutil.rmtree(folder)
    outcome = recompute.run(alone, system(name), known_datasets(bench.store)["many"], again=True)
    return recompute.read(outcome.hits)


def test_shards_of_vectors_make_the_run_of_the_undivided_corpus(
    tmp_path: Path, corpus: Path, model: Path
) -> None:
    bench, row = home(tmp_path, corpus), system(f"dense({model})")
    pair = pairs.pair(bench, row, known_datasets(bench.store)["many"])
    planned = shards.plan(bench, pair)
    spans = [(0, 2048), (2048, 4096), (4096, 4500)]
    assert [(shard.first, shard.last) for shard in planned] == spans
    # One is missing, one is made twice.
    assert [shards.make(bench, pair, planned[place]) for place in (0, 2, 2)] == [True, True, False]
    encoded: list[int] = []
    watching = replace(bench, progress=lambda done, total, unit: encoded.append(done))
    with recompute.index(watching, pair) as (folder, built):
        assert built
        assert {file.name for file in folder.iterdir()} == {
            *("ids.parquet", "vectors.npy", "facts.json", "built.json")
        }
        seconds = efficiency.of_index(folder, DOCUMENTS)["index_seconds"]
    # Only the second was encoded; what the others took is known.
    assert set(range(1, 2048)) & set(encoded) == set()
    assert seconds > 0
    assert shards.plan(bench, pair) == []
    divided = recompute.read(recompute.run(bench, row, pair.loaded.dataset).hits)
    assert undivided(bench, row.name).equals(divided)
