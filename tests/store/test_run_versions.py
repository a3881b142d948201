"""Versions of a run: kept in the transaction that replaces it, and counted only where picked."""

from pathlib import Path

import pytest

from compute.base.errors import Conflict, WrongInput
from compute.commands.show.stored import tell_stale
from compute.datasets import Dataset
from compute.intake import imports
from compute.jobs import removing
from compute.reading.database import open_version, snapshot
from compute.recompute import run as recompute
from compute.store import damage, run_versions
from compute.store.loading import Bench
from compute.store.run_versions import Version
from compute.store.store import Part
from tests.support import filled
from tests.support.tiny import write_tiny

FIRST = "q1 Q0 d1 1 3.0 mine\nq1 Q0 d2 2 2.0 mine\nq2 Q0 d2 1 1.0 mine\n"
SECOND = FIRST.replace("3.0", "1.5")


def _take_in(
    bench: Bench, tiny: Dataset, folder: Path, text: str, version: Version | None = None
) -> Part:
    file = folder / "some.run"
    file.write_text(text, "utf-8")
    return imports.import_run(bench, file, tiny, version=version).hits


def _twice(bench: Bench, folder: Path) -> Dataset:
    taken = filled.take(bench, {})
    _take_in(bench, taken, folder, FIRST)
    _take_in(bench, taken, folder, SECOND, Version("", "turned"))
    return taken


@pytest.fixture
def tiny(tmp_path: Path) -> Dataset:
    """The collection; `mine` on it is in its second version, beside the first."""
    return filled.copied("two versions", tmp_path / "home", _twice)


@pytest.fixture
def two(bench: Bench, tiny: Dataset) -> Bench:
    """The home that has it."""
    return bench


def test_the_run_that_is_replaced_stays_as_a_version_and_counts_only_where_picked(
    two: Bench,
) -> None:
    assert {part.system for part in two.store.parts() if part.system} == {"mine"}
    (old,), new = run_versions.stored(two.store, "tiny"), two.store.part("hits", "tiny", "mine")
    assert (old.system, old.version_of) == ("mine@1", "mine")
    assert new and new.provenance["run_version"] == {
        "label": "2",
        "note": "turned",
        "before": "mine@1",
    }
    scores = "select distinct system from scores order by system"
    assert open_version(two.store).cursor().execute(scores).fetchall() == [("mine",)]
    picked = open_version(two.store, picked=["mine@1"]).cursor()
    assert picked.execute(scores).fetchall() == [("mine",), ("mine@1",)]
    first = "select system, doc_id from top where query_id = 'q1' and rank = 1 order by system"
    assert picked.execute(first).fetchall() == [("mine", "d2"), ("mine@1", "d1")]
    title = "select title from systems where name = 'mine@1'"
    assert picked.execute(title).fetchall() == [("mine, version 1",)]


def test_equal_hits_make_no_version(two: Bench, tiny: Dataset, tmp_path: Path) -> None:
    before = two.store.parts("hits")[0]
    again = _take_in(two, tiny, tmp_path, SECOND.replace("mine\n", "mine \n"), Version("x"))
    assert again.provenance["sha256"] != before.provenance["sha256"]
    assert again.provenance["run_version"]["label"] == "2"
    assert run_versions.published(again) == before.created
    assert run_versions.told(again, new=True) == "the same hits as before: no version is created"
    assert [part.system for part in run_versions.stored(two.store)] == ["mine@1"]


def test_a_label_of_ones_own_names_the_version_and_is_not_given_twice(
    two: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    _take_in(two, tiny, tmp_path, FIRST.replace("3.0", "4.0"), Version("tuned"))
    with pytest.raises(Conflict, match="mine has a version tuned on tiny"):
        _take_in(two, tiny, tmp_path, FIRST, Version("tuned"))
    last = _take_in(two, tiny, tmp_path, FIRST, Version())
    assert last.provenance["run_version"] == {"label": "4", "note": "", "before": "mine@tuned"}
    kept = run_versions.stored(two.store, "tiny", "mine")
    assert [part.system for part in kept] == ["mine@1", "mine@2", "mine@tuned"]
    with pytest.raises(WrongInput, match="cannot name a version"):
        run_versions.given("two words", "")


def test_no_run_takes_the_name_of_a_version(two: Bench, tiny: Dataset, tmp_path: Path) -> None:
    for name in ("mine@1", "mine@9", "bm25@1"):
        with pytest.raises(Conflict, match="would read as a version of"):
            _take_in(two, tiny, tmp_path, FIRST.replace("mine", name))


def test_no_run_takes_the_place_of_a_version_whose_system_is_gone(
    two: Bench, tiny: Dataset, tmp_path: Path
) -> None:
    removing.remove(two.store, "tiny", "mine")
    with pytest.raises(Conflict, match="would read as a version of mine"):
        (tmp_path / "new.run").write_text(FIRST.replace("mine", "mine@1"), "utf-8")
        imports.import_run(two, tmp_path / "new.run", tiny, replace=True)


def test_a_run_that_has_long_had_such_a_name_keeps_it(tmp_path: Path) -> None:
    tiny, bench = filled.tiny(tmp_path / "home"), filled.bench(tmp_path)
    _take_in(bench, tiny, tmp_path, FIRST.replace("mine", "mine@2"))
    _take_in(bench, tiny, tmp_path, FIRST)
    _take_in(bench, tiny, tmp_path, SECOND, Version())
    assert [part.system for part in run_versions.stored(bench.store)] == ["mine@3"]
    assert {part.system for part in bench.store.parts("hits")} == {"mine", "mine@2"}


def test_a_version_scored_again_stays_a_version(two: Bench, tiny: Dataset) -> None:
    (old,) = run_versions.stored(two.store)
    outcome = recompute.score(two, recompute.stored_dataset(two.store, tiny), old, again=True)
    assert outcome.new
    assert outcome.scores.version_of == "mine"


def test_a_version_is_removed_alone_or_with_its_dataset(two: Bench) -> None:
    removing.remove(two.store, "tiny", "mine")
    assert [part.system for part in run_versions.stored(two.store)] == ["mine@1"]
    removing.remove(two.store, "tiny", "mine@1")
    assert run_versions.stored(two.store) == []


def test_a_damaged_version_is_named_with_what_takes_it_away(two: Bench) -> None:
    (old,) = run_versions.stored(two.store)
    old.path.unlink()
    (told,) = damage.told(damage.verify(two.store))
    assert "hits of mine@1 on tiny left out (lost)" in told
    assert f"copy parts/hits/{old.path.name} of a backup here, or remove" in told
    assert "remove tiny --system mine@1 --yes" in told


def test_damaged_scores_of_a_version_are_made_again_and_the_version_stays(
    two: Bench, tiny: Dataset
) -> None:
    (scores,) = two.store.parts("scores", "tiny", "mine@1")
    scores.path.unlink()
    (told,) = damage.told(damage.verify(two.store))
    assert told == "scores of mine@1 on tiny left out (lost): python -m compute rescore tiny"
    (hits,) = run_versions.stored(two.store)
    recompute.score(two, recompute.stored_dataset(two.store, tiny), hits)
    assert damage.told(damage.verify(two.store)) == []
    assert [part.system for part in run_versions.stored(two.store)] == ["mine@1"]


def test_with_a_dataset_go_the_versions_of_its_runs(two: Bench) -> None:
    removing.remove(two.store, "tiny")
    assert two.store.parts(picked=None) == []


def test_a_snapshot_has_versions_where_it_is_told_to(two: Bench, tmp_path: Path) -> None:
    import duckdb

    for name, picked in (("without", ()), ("with", None)):
        snapshot(two.store, tmp_path / name, picked=picked)
        with duckdb.connect(str(tmp_path / name), read_only=True) as opened:
            found = opened.execute("select count(distinct system) from hits").fetchone()
        assert found == (1 if picked == () else 2,)


def test_a_version_of_other_queries_is_named_with_what_takes_it_away(
    two: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_tiny(tmp_path / "fewer")
    qrels = folder / "qrels" / "test.tsv"
    qrels.write_text(qrels.read_text("utf-8").replace("q3\td6\t1\n", ""), "utf-8")
    imports.import_dataset(two, "tiny", path=folder, replace=True)
    tell_stale(two, "tiny", ["mine@1"])
    assert "compute remove tiny --system mine@1 removes it" in capsys.readouterr().err
