"""How numbers were made, as pages tell it: the panel under every page, and a page for each run."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.filled import HOSTILE, RUNS
from tests.support.filled import home as filled_home
from tests.support.pages import PAGES, noted, opened

NUMBERS = [page for page in PAGES if Path(page).stem not in ("annotate", "jobs", "data", "about")]


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(filled_home()))
    return filled_home()


def panel(page: str, part: str = "", **address: str | list[str]) -> AppTest:
    """The page with its panel open, at one of its parts."""
    return opened(page, {"_made": True} | ({"_made_of": part} if part else {}), **address)


def shown(app: AppTest) -> list[str]:
    """The labels of the expanders."""
    return [one.label for one in app.expander]


@pytest.mark.long
@pytest.mark.usefixtures("shipped_results")
@pytest.mark.parametrize("file", NUMBERS)
def test_every_page_with_numbers_says_under_them_how_they_were_made(file: str) -> None:
    found = json.loads(panel(file, "JSON", dataset="tiny").code[-1].value)
    assert found["view"].startswith("/")
    assert found["runs"] or found["collections"] or found["in_print"]


@pytest.mark.parametrize("name", ["annotate", "jobs", "about"])
def test_a_page_without_scores_says_nothing(name: str) -> None:
    assert "Provenance" not in shown(opened(f"pages/{name}.py"))


def test_the_runs_compared_are_told_and_no_others() -> None:
    names = list(RUNS)
    app = panel("pages/compare.py", dataset="tiny", a=names[0], b=names[1], measure="R@100")
    table = app.dataframe[-1].value
    assert sorted(table["System"]) == sorted(names)
    assert set(table["Dataset"]) == {"tiny"}
    assert all("import-run some.run" in command for command in table["Command"])
    said = " ".join(caption.value for caption in noted(app))
    assert "This view is based on 2 stored runs, 1 dataset" in said
    assert "R@100" in said.replace("\\", "")


def test_the_shell_makes_them_again(home: Path) -> None:
    app = panel("pages/dataset.py", "Shell", dataset="tiny")
    lines = app.code[-1].value.splitlines()
    assert "python -m compute import-dataset tiny --split test --name tiny" in lines
    assert len([line for line in lines if "import-run some.run" in line]) == 2
    assert str(home) not in app.code[-1].value


def test_printed_numbers_name_their_tables() -> None:
    app = panel("pages/leaderboard.py", "In print", numbers="Published")
    assert "BEIR v4, Table 2" in set(app.dataframe[-1].value["table"])


def test_a_closed_panel_asks_the_store_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object) -> None:
        raise AssertionError("asked though nobody opened it")

    monkeypatch.setattr("compute.store.provenance.of_runs", asked)
    assert "Provenance" in shown(opened("pages/dataset.py", dataset="tiny"))


@pytest.mark.parametrize("name", list(RUNS))
def test_a_run_has_a_page_of_its_own(home: Path, name: str) -> None:
    app = opened("pages/data.py", show="Runs", dataset="tiny", system=name)
    assert not app.warning
    tables = [table.value for table in app.dataframe]
    heads = [tuple(table.columns) for table in tables]
    assert heads[0] == ("Measure", "Mean", "Queries", "Unanswered")
    assert dict(zip(tables[0]["Measure"], tables[0]["Queries"], strict=True))["nDCG@10"] == 3
    assert ("What", "Now", "From", "Rows", "Fingerprint") in heads
    assert "import-run some.run --dataset tiny" in app.code[0].value
    assert {button.proto.label for button in app.get("download_button")} >= {
        "Packed (.gz)",
        "Plain text (.txt)",
    }
    for element in (*app.markdown, *noted(app), *app.header):
        assert HOSTILE not in element.value, "a name from outside must not be read as Markdown"
    assert str(home) not in str([*app.code, *app.markdown, *noted(app), *tables])


def test_a_run_that_is_not_here_is_said() -> None:
    app = opened("pages/data.py", show="Runs", dataset="tiny", system="<i>none</i>")
    assert "is stored here" in app.info[0].value
