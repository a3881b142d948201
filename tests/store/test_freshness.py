"""What is shown after a dataset changed: only what was made from what is stored now."""

import shutil
from pathlib import Path

import pytest

from compute.base.settings import Settings
from compute.datasets import DATASETS
from compute.intake import imports
from compute.reading import database
from compute.recompute import run
from compute.recompute.run import Bench
from compute.store import freshness, loading
from compute.store.own_datasets import own_datasets
from compute.store.store import Store
from compute.systems import system
from compute.views.data import select as data_select
from tests.support.tiny import write_tiny

RUN = "q1 Q0 d1 1 3.0 mine\nq2 Q0 d2 1 1.0 mine\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the tiny collection, a computed and an imported run, and their source."""
    place = tmp_path_factory.mktemp("made")
    now = Settings(home=place / "home", threads=1, latency_queries=0)
    bench = Bench(Store(now, shipped=place / "nothing"), now)
    row = imports.import_dataset(bench, "tiny", path=write_tiny(place / "tiny")).dataset
    run.run(bench, system("bm25"), row)
    (place / "mine.run").write_text(RUN, encoding="utf-8")
    imports.import_run(bench, place / "mine.run", row)
    bench.store.close()
    return place


@pytest.fixture
def bench(made: Path, tmp_path: Path) -> Bench:
    """A copy of that home."""
    home = shutil.copytree(made / "home", tmp_path / "home")
    now = Settings(home=home, threads=1, latency_queries=0)
    return Bench(Store(now, shipped=tmp_path / "nothing"), now)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """The tiny collection from which it was taken in."""
    return shutil.copytree(made / "tiny", tmp_path / "tiny")


def _shown(bench: Bench) -> dict[str, float]:
    opened = database.open_version(bench.store)
    frame = data_select.scores_shown(opened.cursor(), dataset="tiny", measure="nDCG@10")
    opened.close()
    return dict(zip(frame["system"], frame["value"], strict=True))


def _change(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_both_runs_show_at_first(bench: Bench, folder: Path) -> None:
    assert set(_shown(bench)) == {"bm25", "mine"}


def test_scores_on_other_judgements_are_left_out_until_scored_again(
    bench: Bench, folder: Path
) -> None:
    before = _shown(bench)
    _change(folder / "qrels" / "test.tsv", "q1\td1\t2", "q1\td4\t2")
    loaded = imports.import_dataset(bench, "tiny", path=folder, replace=True)
    assert _shown(bench) == {}
    hits = bench.store.part("hits", "tiny", "mine")
    assert hits is not None
    assert run.score(bench, loaded, hits).new
    after = _shown(bench)
    assert set(after) == {"mine"}
    assert after["mine"] < before["mine"]


def test_runs_for_other_queries_are_left_out(bench: Bench, folder: Path) -> None:
    _change(folder / "queries.jsonl", "ships in the harbour", "cooking rice")
    imports.import_dataset(bench, "tiny", path=folder, replace=True)
    assert _shown(bench) == {}
    parts = bench.store.parts()
    assert freshness.outdated(parts, ["tiny"]) == ["bm25", "mine"]
    assert freshness.outdated(parts, ["other"]) == []
    opened = database.open_version(bench.store)
    assert opened.cursor().execute("select count(*) from hits").fetchone() == (0,)


def test_an_imported_run_outlives_another_corpus_and_a_computed_one_does_not(
    bench: Bench, folder: Path
) -> None:
    _change(folder / "corpus.jsonl", "Ships leave", "Boats leave")
    imports.import_dataset(bench, "tiny", path=folder, replace=True)
    assert set(_shown(bench)) == {"mine"}


def test_a_run_that_keeps_self_hits_is_left_out_once_they_are_to_go(
    bench: Bench, folder: Path
) -> None:
    imports.import_dataset(bench, "tiny", path=folder, drop_self=True)
    assert _shown(bench) == {}


def test_the_slower_of_two_scorers_cannot_bring_old_judgements_back(
    bench: Bench, folder: Path
) -> None:
    row = own_datasets(bench.store)["tiny"]
    old = run.stored_dataset(bench.store, row)
    hits = bench.store.part("hits", "tiny", "mine")
    assert hits is not None
    _change(folder / "qrels" / "test.tsv", "q1\td1\t2", "q1\td4\t2")
    new = imports.import_dataset(bench, "tiny", path=folder, replace=True)
    right = run.score(bench, new, hits)
    run.score(bench, old, hits, again=True)
    assert _shown(bench) == {}
    assert run.score(bench, new, hits).scores.fingerprint == right.scores.fingerprint
    assert set(_shown(bench)) == {"mine"}


def test_shipped_results_go_with_the_dataset_that_they_were_made_on(tmp_path: Path) -> None:
    """Another collection under the name of a shipped one takes its shipped runs off the pages."""
    write_tiny(tmp_path / "sets" / "scifact")
    now = Settings(home=tmp_path / "home", datasets=tmp_path / "sets", threads=1, latency_queries=0)
    bench = Bench(Store(now), now)
    fresh, stale = freshness.split(bench.store.parts())
    assert "bm25" in {part.system for part in fresh if part.dataset == "scifact"}
    assert stale == []
    loading.load(bench, DATASETS["scifact"])
    fresh, stale = freshness.split(bench.store.parts())
    assert not {part.kind for part in fresh if part.dataset == "scifact"} & {"hits", "scores"}
    assert {part.dataset for part in stale} == {"scifact"}


@pytest.mark.long
def test_a_run_on_dropped_equal_ids_stands_beside_the_contracts(bench: Bench, folder: Path) -> None:
    row = own_datasets(bench.store)["tiny"]
    outcome = run.run(bench, system("bm25"), row, drop_equal_ids=True)
    assert outcome.hits.provenance["command"].endswith("run bm25 tiny --drop-equal-ids")
    assert set(_shown(bench)) == {"bm25", "mine", "bm25+drop-equal-ids"}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["top", "lengths", "scores", "documents"])
def test_a_lost_file_comes_back_by_running_again(bench: Bench, folder: Path, kind: str) -> None:
    name = "" if kind in ("lengths", "documents") else "bm25"
    part = bench.store.part(kind, "tiny", name)
    assert part is not None
    part.path.unlink()
    row = own_datasets(bench.store)["tiny"]
    if kind in ("lengths", "documents"):
        imports.import_dataset(bench, "tiny", path=folder, replace=True)
    run.run(bench, system("bm25"), row)
    assert set(_shown(bench)) == {"bm25", "mine"}
