"""Overlap as a person asks for it: by command, and as a job that a worker does."""

import json
from pathlib import Path

import pytest

from compute import jobs
from compute.__main__ import main
from compute.base.errors import Missing, WrongInput
from compute.corpora import overlap
from compute.jobs.records import tasks
from tests.support.processes.jobbing import ended, tiny_home, worker
from tests.support.storage import open_store
from tests.support.tiny import write_tiny


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BEIRSCOPE_DATASETS", "")


@pytest.mark.long
def test_collections_are_counted_compared_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_tiny(tmp_path / "tiny")
    for name in ("tiny", "same"):
        command = ["import-dataset", str(folder), "--name", name, "--split", "test"]
        assert main(command) == 0
    capsys.readouterr()
    assert main(["overlap", "compute"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in said] == ["same", "tiny", "similarities stored"]
    assert "word pieces" in said[0]
    assert main(["overlap", "compute", "tiny"]) == 0
    said = capsys.readouterr().out
    assert "(already counted)" in said
    assert "similarities are up to date" in said
    assert main(["overlap", "compute", "tiny", "--again"]) == 0
    assert "similarities stored" in capsys.readouterr().out
    assert main(["overlap", "show", "--dataset", "tiny", "--json"]) == 0
    rows = [row for row in json.loads(capsys.readouterr().out) if "tiny" in row.values()]
    own = [row for row in rows if row["dataset"] == "same"]
    assert [row["floor"] for row in own] == [0.0, 1e-6, 1e-5, 1e-4]
    assert own[0]["unigrams"] == pytest.approx(1, abs=1e-12)
    # The others are what ships.
    assert {row["other"] for row in rows if row["dataset"] == "same"} == {"tiny"}
    assert main(["overlap", "show"]) == 0
    assert "1e-06" in capsys.readouterr().out


@pytest.mark.usefixtures("shipped_results")
def test_wrong_names_are_answered_with_right_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["overlap", "show", "--dataset", "scifac"]) == 2
    assert "did you mean scifact" in capsys.readouterr().err
    assert main(["overlap", "compute"]) == 2
    assert "name a dataset, such as scifact" in capsys.readouterr().err
    store = open_store(tmp_path / "home")
    with pytest.raises(Missing, match="no documents are stored"):
        jobs.start(store, "overlap")
    with pytest.raises(WrongInput, match="leave --systems out"):
        jobs.start(store, "overlap", ["bm25"], ["tiny"])


@pytest.mark.long
def test_a_worker_counts_and_compares_each_collection_once(tmp_path: Path) -> None:
    store = tiny_home(tmp_path, names=("one", "two/test", "two"))
    asked = jobs.start(store, "overlap")
    assert asked.targets == (("", "one"), ("", "two"))
    with worker(store.settings):
        done = ended(store.settings, asked.job)
        assert (done.state, done.title) == ("done", "word counts of one, two")
        titles = [task.title for task in tasks(store.settings, asked.job)]
        assert titles == ["word counts of one", "word counts of two"]
        assert overlap.up_to_date(store, ["one", "two"]) == ["one", "two"]
        nothing = jobs.start(store, "overlap", datasets=["two/test"])
        assert (nothing.job, nothing.up_to_date) == ("", (("", "two/test"),))
        first = store.part("ngrams", "two")
        again = jobs.start(store, "overlap", datasets=["two"], again=True)
        assert ended(store.settings, again.job).state == "done"
    second = store.part("ngrams", "two")
    assert first is not None and second is not None
    assert first.id != second.id
    # A matrix of systems and datasets has no place for tasks without a system.
    assert "" not in set(jobs.matrix(store)["system"])
