"""Systems made from the runs of others: what they need, when they are stale, what they rest on."""

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compute.base.errors import Missing, Unavailable
from compute.datasets import DATASETS, Dataset
from compute.intake import imports
from compute.jobs.matrix import cells, estimate
from compute.recompute import pairs, run
from compute.recompute.run import Bench
from compute.store import freshness
from compute.store.own_datasets import own_datasets
from compute.store.store import Store
from compute.systems import system
from tests.support import filled, models

FUSED = "rrf(bm25,bm25-multifield)"


@pytest.fixture
def searched(tmp_path: Path) -> Bench:
    """The tiny collection, and the runs that `FUSED` is made from."""
    return filled.searched(tmp_path)


@pytest.fixture
def row(searched: Bench) -> Dataset:
    return own_datasets(searched.store)["tiny"]


def write_run(path: Path, *docs: str) -> Path:
    lines = [f"q1 Q0 {doc} {rank} {9 - rank} mine\n" for rank, doc in enumerate(docs, 1)]
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.mark.long
def test_the_runs_that_a_system_is_made_from_are_published_too(bench: Bench, tiny: Dataset) -> None:
    outcome = run.run(bench, system(FUSED), tiny)
    stored = {part.system for part in bench.store.parts("hits")}
    assert stored == {"bm25", "bm25-multifield", FUSED}
    assert set(outcome.hits.provenance["inputs"]) == {
        "queries",
        "lengths",
        "hits:bm25",
        "hits:bm25-multifield",
    }
    again = run.run(bench, system(FUSED), tiny)
    assert (again.new, again.hits.id) == (False, outcome.hits.id)


def test_the_fused_run_is_the_sum_of_the_stored_ranks(searched: Bench, row: Dataset) -> None:
    outcome = run.run(searched, system(FUSED), row)
    expected: dict[tuple[str, str], float] = {}
    for name in ("bm25", "bm25-multifield"):
        part = searched.store.part("hits", "tiny", name)
        assert part is not None
        for hit in run.read(part).itertuples():
            key = str(hit.query_id), str(hit.doc_id)
            expected[key] = expected.get(key, 0) + 1 / (60 + int(str(hit.rank)))
    fused = run.read(outcome.hits)
    found = {(hit.query_id, hit.doc_id): hit.score for hit in fused.itertuples()}
    assert found == pytest.approx(expected)


@pytest.mark.long
def test_an_imported_run_is_taken_as_it_is_stored(
    searched: Bench, row: Dataset, tmp_path: Path
) -> None:
    fused = system("rrf(bm25,mine)")
    with pytest.raises(Missing, match="mine has no run on tiny here"):
        run.run(searched, fused, row)
    imports.import_run(searched, write_run(tmp_path / "run.txt", "d6"), row)
    first = run.run(searched, fused, row)
    assert cells(searched.store, [(fused.name, "tiny")])[fused.name, "tiny"].state == "up to date"
    imports.import_run(searched, write_run(tmp_path / "run.txt", "d2"), row, replace=True)
    # Made from a run that was replaced: left out of every page, then made anew.
    _, stale = freshness.split(
        searched.store.parts("hits")
        + searched.store.parts("queries")
        + searched.store.parts("lengths")
    )
    assert [part.system for part in stale] == [fused.name]
    assert cells(searched.store, [(fused.name, "tiny")])[fused.name, "tiny"].state == "out of date"
    second = run.run(searched, fused, row)
    assert second.hits.fingerprint != first.hits.fingerprint


def test_runs_fuse_on_a_collection_without_documents(bench: Bench, tmp_path: Path) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 d1 1\nq1 0 d2 0\n", encoding="utf-8")
    bare = imports.import_dataset(bench, "bare", qrels=qrels).dataset
    for name, docs in (("one", ("d2", "d1")), ("two", ("d1", "d3"))):
        imports.import_run(bench, write_run(tmp_path / name, *docs), bare, system=name)
    outcome = run.run(bench, system("rrf(one,two)"), bare)
    hits = run.read(outcome.hits)
    assert hits["doc_id"].tolist() == ["d1", "d2", "d3"]
    assert cells(bench.store, [("rrf(one,two)", "bare")])["rrf(one,two)", "bare"].state == (
        "up to date"
    )
    with pytest.raises(Missing, match="three has no run on bare"):
        run.run(bench, system("rrf(one,three)"), bare)


def test_an_obstacle_of_an_input_is_said_before_a_job(searched: Bench, row: Dataset) -> None:
    run.run(searched, system(FUSED), row)
    wanted = ("rrf(bm25,gone)", "tiny")
    assert pairs.catalogued("gone") is None
    assert cells(searched.store, [(FUSED, "tiny")])[FUSED, "tiny"].state == "up to date"
    cell = cells(searched.store, [wanted])[wanted]
    assert cell.state == "cannot run here"


@pytest.mark.long
def test_a_stored_run_outlives_the_folder_of_its_model(
    bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    folder = models.bert(tmp_path / "model")
    own, other = f"dense({folder})", "mine"
    run.run(bench, system(own), tiny)
    imports.import_run(bench, write_run(tmp_path / "run.txt", "d6"), tiny)
    shutil.rmtree(folder)
    found = cells(bench.store, [(own, "tiny"), ("bm25", "tiny")])
    assert found[own, "tiny"].state == "cannot run here"
    assert "is not a model's folder" in found[own, "tiny"].remark
    assert found["bm25", "tiny"].state == "missing"
    assert estimate(bench.store, [(own, "tiny")]).unknown == 0
    fused = f"rrf({other},{own})"
    assert run.run(bench, system(fused), tiny).new
    assert cells(bench.store, [(fused, "tiny")])[fused, "tiny"].state == "up to date"


@pytest.mark.long
@pytest.mark.parametrize(
    "fused",
    [FUSED, "interpolate(bm25,bm25-multifield)"],
)
def test_what_is_stored_is_fused_to_the_depth_that_it_has(
    fused: str, bench: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    shallow = replace(bench, settings=replace(bench.settings, depth=2))
    before = {name: run.run(shallow, system(name), tiny).hits for name in system(fused).inputs}
    shutil.rmtree(tmp_path / "home" / "caches")
    outcome = run.run(bench, system(fused), tiny)
    after = {name: bench.store.part("hits", "tiny", name) for name in before}
    assert after == before
    # No input was searched again, which would have built its index.
    assert not list((tmp_path / "home").glob("caches/*/lucene"))
    assert (outcome.hits.provenance["depth"], run.read(outcome.hits)["rank"].max()) == (2, 2)
    assert "2 ranks deep, like its shallowest stored input" in run.said(bench, outcome)
    assert cells(bench.store, [(fused, "tiny")])[fused, "tiny"].state == "up to date"


def test_runs_that_ship_are_fused_as_they_are_without_their_collection(
    bench: Bench, tmp_path: Path
) -> None:
    store = Store(bench.settings)
    shipping, scifact = replace(bench, store=store), DATASETS["scifact"]
    name = "interpolate(bm25,minilm,weight=0.55)"
    outcome = run.run(shipping, system(name), scifact)
    assert outcome.hits.provenance["depth"] == 100
    assert [part.system for part in store.parts("hits") if not part.shipped] == [name]
    assert cells(store, [(name, "scifact")])[name, "scifact"].state == "up to date"
    # What ships of them is made of whole runs, and again so.
    with pytest.raises(Missing, match="SciFact is not here"):
        run.run(shipping, system("rrf(bm25,minilm)"), scifact)


def test_a_run_is_named_by_the_weights_that_the_folder_has_now(tmp_path: Path) -> None:
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "config.json").write_text("{}", "utf-8")
    row, data = system(f"deepct(model={folder})"), DATASETS["scifact"]
    queries = SimpleNamespace(fingerprint="q")
    loaded: Any = SimpleNamespace(dataset=data, queries=queries)
    searcher: Any = row.search
    named = partial(pairs.names, row, searcher, loaded, None, depth=9, drop_self=False)
    found = []
    for weights in (b"one", b"two"):
        (folder / "model.safetensors").write_bytes(weights)
        found.append(named())
    assert found[0].hits != found[1].hits
    shutil.rmtree(folder)
    with pytest.raises(Unavailable, match="is not a model's folder"):
        named()
