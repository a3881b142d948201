"""The Data page as addresses open it: datasets, runs, import."""

from pathlib import Path

import pytest

from compute.intake import imports
from compute.views.data import importing, tables
from tests.support import filled
from tests.support.filled import HOSTILE
from tests.support.pages import opened

PAGE = "pages/data.py"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`tiny` with two runs, one's name hostile, and `bare` without documents or texts."""
    bench = filled.having(tmp_path_factory.mktemp("data"))
    qrels = bench.settings.home.parent / "qrels.txt"
    qrels.write_text("q1 0 d1 1\n", "utf-8")
    imports.import_dataset(bench, "bare", qrels=qrels, called="my <b>qrels.txt")
    return bench.settings.home


@pytest.fixture(autouse=True)
def _home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))


def test_datasets_say_what_is_stored_of_them_and_where_it_came_from() -> None:
    shown = opened(PAGE).dataframe[0].value.to_dict("records")
    tiny, bare = (next(row for row in shown if row["Dataset"] == one) for one in ("tiny", "bare"))
    assert [tiny[name] for name in ("Documents", "Queries", "Judgements")] == [6, 3, 5]
    assert [tiny["Runs"], bare["Documents"]] == [2, None]
    assert [tiny["Texts"], bare["Texts"]] == ["documents and queries", "ids only"]
    assert bare["From"] == "Uploaded as my <b>qrels.txt"
    of_pydocs = tables.texts({"has_documents": False, "has_texts": False, "group": "PyDocs"})
    assert of_pydocs == "made on first use"


def test_runs_say_what_they_hold_and_where_they_came_from() -> None:
    shown = opened(PAGE, show="Runs", datasets="tiny").dataframe[0].value.to_dict("records")
    (hostile,) = (row for row in shown if row["System"] == HOSTILE)
    (plain,) = (row for row in shown if row["System"] == "plain")
    assert [hostile[name] for name in ("From", "Hits", "File")] == ["imported", 3, "some.run"]
    assert [hostile["Queries answered"], plain["Queries answered"]] == ["2 of 3", "all 3"]


def test_import_asks_for_files_before_anything_else() -> None:
    app = opened(PAGE, show="Import", to="bare")
    assert app.selectbox(key="to").value == "bare"
    assert app.selectbox(key="to").options[0] == "A new dataset"
    assert [button.label for button in app.button if button.label.startswith("Import")] == []


def test_an_address_of_one_run_opens_it() -> None:
    app = opened(PAGE, dataset="tiny", system="plain")
    assert "plain" in " ".join(element.value for element in (*app.header, *app.markdown))


def test_systems_are_offered_only_to_a_dataset_with_documents() -> None:
    """`bare` has judgements alone: there is nothing to search."""
    offered = {}
    for name in ("tiny", "bare"):
        answer = {"file": "qrels.txt", "system": "", "ok": True, "said": "imported"}
        state = {"_imported": (name, [answer], [])}
        app = opened(PAGE, state, show="Import", to=name)
        offered[name] = [button.label for button in app.button]
        app.query_params["to"] = "A new dataset"
        assert "Open the dataset" not in [button.label for button in app.run().button]
    assert "Run systems on it" in offered["tiny"]
    assert "Open the dataset" in offered["bare"]
    assert "Run systems on it" not in offered["bare"]


@pytest.mark.parametrize(
    ("archive", "taken", "name"),
    [
        ("", set(), "my-data"),
        ("", {"my-data", "my-data-2"}, "my-data-3"),
        ("folder/Our pages (v2).zip", set(), "Our-pages-v2"),
        ("scifact.zip", {"scifact"}, "scifact-2"),
        ("....zip", set(), "my-data"),
    ],
)
def test_a_new_dataset_is_offered_a_free_name(archive: str, taken: set[str], name: str) -> None:
    assert importing.free_name(archive, taken) == name


def test_the_outcome_of_an_import_counts_runs_and_refusals() -> None:
    dataset, run = {"system": "", "ok": True}, {"system": "a", "ok": True}
    refused = {"system": "", "ok": False}
    assert importing.outcome([dataset, run, run, refused]) == "2 runs imported, 1 refused"
    assert importing.outcome([dataset]) == "1 imported, 0 refused"
