"""A dataset or a run taken away: what goes, what stays, and by the Data page."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from compute import jobs
from compute.__main__ import main
from compute.base.errors import Conflict, Missing
from compute.base.settings import PROJECT, Settings
from compute.datasets import Dataset
from compute.intake import imports, query_labels
from compute.jobs import removing
from compute.judgements.asking import journal
from compute.reading import database
from compute.recompute.run import Bench
from compute.store.own_datasets import own_datasets
from compute.store.store import Store
from compute.views.shared import catalogue
from tests.support import filled
from tests.support.tiny import write_tiny

RUNS = {
    "one": "q1 Q0 d1 1 3.0 t\nq2 Q0 d3 1 1.0 t\n",
    "two": "q1 Q0 d2 1 3.0 t\nq2 Q0 d2 1 1.0 t\n",
}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """The tiny collection with its splits test and dev, and two runs on the first."""
    filled.copied("splits", tmp_path / "home", _splits)
    settings = Settings(home=tmp_path / "home", threads=1)
    return Bench(Store(settings), settings)


def _splits(bench: Bench, folder: Path) -> Dataset:
    write_tiny(folder / "tiny")
    (folder / "tiny/qrels/dev.tsv").write_text("query-id\tcorpus-id\tscore\nq3\td1\t1\n")
    tiny = imports.import_dataset(bench, "tiny", path=folder / "tiny").dataset
    imports.import_dataset(bench, "tiny/dev", path=folder / "tiny")
    filled.add(bench, tiny, RUNS)
    return tiny


def kinds(bench: Bench, dataset: str) -> set[str]:
    return {part.kind for part in bench.store.parts(dataset=dataset)}


def systems(bench: Bench) -> list[str]:
    cursor = database.open_version(bench.store).cursor()
    return catalogue.runs(cursor).query("dataset == 'tiny'")["system"].tolist()


def test_one_run_goes_in_one_transaction_and_the_other_stays(bench: Bench) -> None:
    version = bench.store.version()
    gone = removing.remove(bench.store, "tiny", "one")
    assert bench.store.version() == version + 1
    assert {"hits", "top", "scores"} <= {part.kind for part in gone}
    assert {part.system for part in gone} == {"one"}
    assert systems(bench) == ["two"]


def test_a_collection_goes_with_the_last_of_its_splits(bench: Bench) -> None:
    removing.remove(bench.store, "tiny")
    assert kinds(bench, "tiny") >= {"documents", "lengths"}
    assert not kinds(bench, "tiny") & {"queries", "judgements", "hits", "scores"}
    removing.remove(bench.store, "tiny/dev")
    assert kinds(bench, "tiny") == kinds(bench, "tiny/dev") == set()
    assert "tiny" not in own_datasets(bench.store)


def test_labels_of_queries_are_named(bench: Bench, tmp_path: Path) -> None:
    tiny = own_datasets(bench.store)["tiny"]
    (tmp_path / "labels").write_text("q1\ttopic\tsea\nq2\ttopic\tland\n", encoding="utf-8")
    query_labels.import_file(bench, tmp_path / "labels", tiny)
    parts = removing.planned(bench.store, "tiny")
    assert ", 2 query labels (" in removing.said(bench.store, parts, "tiny")


def test_added_judgements_stay_and_count_again(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "more.qrels").write_text("q1 0 d4 1\n", encoding="utf-8")
    home = ["--dataset", "tiny", "--person", "ada"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
        assert main(["judgements", "import", str(tmp_path / "more.qrels"), *home]) == 0
    parts = removing.planned(bench.store, "tiny")
    assert "1 added judgement of people stay" in removing.said(bench.store, parts, "tiny")
    removing.remove(bench.store, "tiny")
    assert len(bench.store.added_judgements(dataset="tiny")) == 1


def test_wrong_and_shipped_names_and_what_is_at_work_are_refused(bench: Bench) -> None:
    with pytest.raises(Missing, match="did you mean tiny"):
        removing.planned(bench.store, "tini")
    with pytest.raises(Missing, match="no run of bm25 on tiny is stored"):
        removing.planned(bench.store, "tiny", "bm25")
    with pytest.raises(Conflict, match="shipped with the project"):
        removing.planned(bench.store, "scifact")


def test_the_command_says_what_goes_and_removes_it_when_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    assert main(["remove", "tiny", "--system", "two"]) == 0
    assert capsys.readouterr().out.startswith("would remove 1 run (two, ")
    assert systems(bench) == ["one", "two"]
    assert main(["remove", "tiny", "--yes"]) == 0
    assert capsys.readouterr().out.startswith("removed 2 runs, 3 queries, ")
    assert systems(bench) == []


def data_page() -> AppTest:
    app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=60)
    return app.switch_page("pages/data.py").run()


def test_the_page_removes_a_dataset_after_a_tick(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    app = data_page()
    app.selectbox(key="_removing").select("tiny").run()
    assert app.button(key="remove tiny").disabled
    app.checkbox(key="sure tiny").check().run()
    app.button(key="remove tiny").click().run()
    assert not app.exception
    assert app.success[0].value.startswith("Removed tiny")
    assert data_page().selectbox(key="_removing").options == ["tiny/dev"]
    assert "tiny" not in own_datasets(bench.store)


def test_a_queued_job_keeps_its_dataset(bench: Bench) -> None:
    jobs.start(bench.store, "run", ["bm25"], ["tiny"])
    with pytest.raises(Conflict, match="cancel"):
        removing.remove(bench.store, "tiny")


def test_with_a_dataset_go_its_consents_and_with_a_machine_what_it_was_asked(
    bench: Bench,
) -> None:
    to = "http://a/v1"
    journal.allow(bench.store, "tiny", to, "ada")
    asked = journal.Journal(bench.store, "tiny", "gpt", "judge-1", "1-x", to)
    asked.begin(("q1", "d1"), 10, journal.Spent(9, 99))
    with (
        journal.alone(bench.store, "tiny", "gpt"),
        pytest.raises(Conflict, match="gpt is judging tiny"),
    ):
        removing.remove(bench.store, "tiny")
    assert kinds(bench, "tiny") >= {"queries", "hits"}
    # It has no grade yet: there is nothing but its requests.
    parts = removing.planned(bench.store, "tiny", machine="gpt")
    assert "the requests to the LLM" in removing.said(bench.store, parts, "tiny")
    assert removing.remove(bench.store, "tiny", machine="gpt") == []
    assert journal.asked(bench.store, "tiny", "gpt").empty
    assert journal.allowed(bench.store, "tiny", to)
    removing.remove(bench.store, "tiny")
    assert not journal.allowed(bench.store, "tiny", to)
