"""Generated queries with a tiny T5: asked once, kept, appended, and asked again as they were."""

import shutil
from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from compute.base.errors import WrongInput
from compute.datasets import Dataset
from compute.intake import imports
from compute.recompute import generated_queries, run
from compute.store.loading import Bench, load
from compute.systems import System
from compute.systems.checkpoints import Checkpoint
from compute.systems.lexical import doc2query
from compute.systems.lexical.doc2query import Doc2Query, Generator
from compute.systems.searcher import Request
from tests.support import models
from tests.support.tiny import DOCUMENTS


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    return Checkpoint(str(models.t5(tmp_path_factory.mktemp("t5"))), revision="")


@pytest.mark.long
def test_queries_are_asked_once_and_appended_to_the_documents(
    bench: Bench, tiny: Dataset, t5: Checkpoint
) -> None:
    searcher = Doc2Query(checkpoint=t5, number=2, max_length=5)
    assert run.run(bench, System("asking", family="sparse", search=searcher), tiny).new
    (part,) = bench.store.parts("generated")
    # What asking took is part of what the index cost.
    (costs,) = bench.store.parts("efficiency", "tiny", "asking")
    values = run.read(costs).set_index("measure")["value"]
    assert values["index_seconds"] > part.provenance["seconds"] > 0
    queries = run.read(part)
    ids = [str(document["_id"]) for document in DOCUMENTS]
    assert queries["doc_id"].tolist() == [doc_id for doc_id in ids for _ in range(2)]
    assert queries["number"].tolist() == [1, 2] * 6
    assert queries["text"].str.len().gt(0).any()
    # Another system that reads them asks nothing again, nor does one whose index is gone.
    shutil.rmtree(bench.settings.home / "caches")
    loaded = load(bench, tiny)
    other = Doc2Query(k1=1.2, checkpoint=t5, number=2, max_length=5)
    assert generated_queries.part(bench, loaded, other.generator).id == part.id
    assert not (bench.settings.home / "caches").exists()
    # Other settings are other queries, of their own.
    assert generated_queries.part(bench, loaded, replace(other, seed=2).generator).id != part.id
    assert len(bench.store.parts("generated")) == 2


@pytest.mark.long
def test_what_is_indexed_is_the_text_and_then_its_queries(
    bench: Bench, tiny: Dataset, t5: Checkpoint
) -> None:
    searcher = Doc2Query(checkpoint=t5, number=3, max_length=5)
    loaded = load(bench, tiny)
    with generated_queries.expanded(bench, loaded, searcher) as (file, _):
        found = pd.read_parquet(file).set_index("doc_id")
    queries = run.read(generated_queries.part(bench, loaded, searcher.generator))
    for document in DOCUMENTS:
        own = queries[queries["doc_id"] == document["_id"]]["text"]
        assert len(own) == 3
        assert found.loc[document["_id"], "title"] == document["title"]
        assert found.loc[document["_id"], "text"] == " ".join([document["text"], *own])
    with generated_queries.expanded(bench, loaded, object()) as (file, seconds):
        assert loaded.documents is not None
        assert (file, seconds) == (loaded.documents.path, 0.0)
    assert not any(bench.settings.home.rglob("documents.parquet"))


@pytest.mark.long
def test_documents_are_found_by_the_queries_that_were_asked_of_them(
    bench: Bench, tiny: Dataset, t5: Checkpoint, tmp_path: Path
) -> None:
    loaded = load(bench, tiny)
    searcher = Doc2Query(checkpoint=t5, number=2, max_length=5)
    with generated_queries.expanded(bench, loaded, searcher) as (file, _):
        documents = pd.read_parquet(file)
    documents.loc[documents["doc_id"] == "d5", "text"] += " zeppelin"
    documents.to_parquet(tmp_path / "documents.parquet")
    folder = tmp_path / "index"
    folder.mkdir()
    searcher.index(tmp_path / "documents.parquet", folder, bench.settings, bench.progress)
    query = pd.DataFrame({"query_id": ["q"], "text": ["zeppelins"]})
    hits = searcher.search(folder, Request(query, 10, bench.settings, bench.progress))
    assert hits["doc_id"].tolist() == ["d5"]
    assert 0 < hits["score"].item() < log(1 + (6 - 1 + 0.5) / 1.5)


def test_an_interrupted_generation_ends_like_one_that_was_not(
    bench: Bench, tiny: Dataset, t5: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doc2query, "SHARD", 2)
    documents = load(bench, tiny).documents
    assert documents is not None
    generator = Generator(t5, number=2, max_length=5)
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    whole.mkdir()
    resumed.mkdir()
    generator.generate(documents.path, whole, bench.settings, bench.progress)

    def interrupt(done: int, total: int, unit: str) -> None:
        if done > 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generator.generate(documents.path, resumed, bench.settings, interrupt)
    kept = {file: file.stat().st_ino for file in resumed.glob("*.parquet")}
    assert len(kept) == 2
    generator.generate(documents.path, resumed, bench.settings, bench.progress)
    assert all(file.stat().st_ino == inode for file, inode in kept.items())
    assert doc2query.seconds(resumed.iterdir()) > doc2query.seconds(kept) > 0
    first, second = (pd.concat(map(pd.read_parquet, sorted(f.iterdir()))) for f in (whole, resumed))
    pd.testing.assert_frame_equal(first, second)
    other = Generator(t5, number=2, max_length=5, seed=2)
    (tmp_path / "other").mkdir()
    other.generate(documents.path, tmp_path / "other", bench.settings, bench.progress)
    third = pd.concat(map(pd.read_parquet, sorted((tmp_path / "other").iterdir())))
    assert (third["text"].to_numpy() != first["text"].to_numpy()).any()


def test_a_collection_without_documents_cannot_be_asked_about(
    bench: Bench, tmp_path: Path, t5: Checkpoint
) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("1 0 a 1\n", encoding="utf-8")
    row = imports.import_dataset(bench, "bare", qrels=qrels).dataset
    with pytest.raises(WrongInput, match="no documents to ask about"):
        generated_queries.part(bench, load(bench, row), Generator(t5))


def test_a_collection_whose_documents_were_not_counted_cannot_be_asked_about(
    bench: Bench, tiny: Dataset, t5: Checkpoint
) -> None:
    with pytest.raises(WrongInput, match="no documents to ask about"):
        generated_queries.part(bench, replace(load(bench, tiny), lengths=None), Generator(t5))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"number": 0}, "number is 0"),
        ({"top_k": 0}, "top_k is 0"),
        ({"top_p": 0.0}, "top_p is 0.0"),
        ({"max_length": 0}, "max_length is 0"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_what_makes_no_sense_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongInput, match=message):
        replace(Doc2Query(), **parameters)
