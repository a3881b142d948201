"""Pages by measures that are not of the usual ones: what pickers offer, addresses, files."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from compute.__main__ import main
from compute.base.settings import PROJECT, Settings
from compute.exports import tables
from compute.intake import imports
from compute.recompute import run
from compute.store.loading import Bench
from compute.store.store import Store
from tests.support.tiny import write_tiny

BIASED = "RBP(p=0.8,rel=2)@10"
RUNS = {
    "a": "q1 Q0 d1 1 3.0 t\nq1 Q0 d4 2 2.0 t\nq2 Q0 d3 1 1.0 t\nq3 Q0 d6 1 1.0 t\n",
    "b": "q1 Q0 d4 1 3.0 t\nq1 Q0 d1 2 2.0 t\nq2 Q0 d2 1 1.0 t\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny collection with two runs that are scored by three measures more."""
    folder = tmp_path_factory.mktemp("measures")
    settings = Settings(home=folder / "home", threads=1)
    bench = Bench(Store(settings), settings)
    collection = imports.import_dataset(
        bench, "tiny", path=write_tiny(folder / "tiny"), level=2
    ).dataset
    for name, lines in RUNS.items():
        (folder / "some.run").write_text(lines, encoding="utf-8")
        outcome = imports.import_run(bench, folder / "some.run", collection, system=name)
        loaded = run.stored_dataset(bench.store, collection)
        run.score(bench, loaded, outcome.hits, measures=["AP", "Bpref", BIASED])
    return settings.home


@pytest.fixture(autouse=True)
def at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))


def opened(page: str, **address: Any) -> AppTest:
    app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=60)
    app.query_params.update(address)
    if page != "leaderboard":
        app.switch_page(f"pages/{page}.py")
    app.run()
    assert not app.exception, app.exception
    assert not app.error, app.error
    return app


@pytest.mark.usefixtures("shipped_results")
@pytest.mark.parametrize("page", ["dataset", "compare", "query", "map", "efficiency"])
@pytest.mark.parametrize("measure", [BIASED, "Bpref"])
def test_a_measure_that_runs_were_scored_by_is_picked_and_stays_in_the_address(
    page: str, measure: str
) -> None:
    app = opened(page, dataset="tiny", measure=measure)
    assert not [shown for shown in app.warning if "No measure here is called" in shown.value]
    assert app.selectbox(key="measure").value == measure
    assert set(app.selectbox(key="measure").options) >= {"nDCG@10", "AP", "Bpref", BIASED}


def test_from_which_grade_a_measure_counts_is_said_where_it_is_picked() -> None:
    app = opened("holes", dataset="tiny", measure="P(rel=2)@5")
    picker = app.selectbox(key="measure")
    assert picker.value == "P(rel=2)@5"
    assert set(picker.options) >= {"nDCG@10", "P@5", "AP(rel=2)@10"}
    assert not [shown for shown in app.warning if "No measure" in shown.value]
    facts = [shown.value for shown in opened("dataset", dataset="tiny").caption]
    assert any(r"relevant from 2 on, as AP\(rel=2\)@100" in shown for shown in facts), facts


def test_the_leaderboard_offers_what_is_stored() -> None:
    app = opened("leaderboard", numbers="Computed", measure=BIASED)
    assert app.selectbox(key="measure").value == BIASED


def test_the_measures_of_the_settings_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_MEASURES", "P@5")
    assert opened("dataset", dataset="tiny", measure="P@5").selectbox(key="measure").value == "P@5"


def test_a_measure_that_nothing_was_scored_by_is_answered_with_the_command() -> None:
    (warning,) = opened("dataset", dataset="tiny", measure="P@7").warning
    assert "python \\-m compute score \\-\\-measure P@7" in warning.value
    (warning,) = opened("dataset", dataset="tiny", measure="bpref").warning
    assert "Did you mean Bpref" in warning.value


def test_a_view_by_such_a_measure_is_saved_as_files(tmp_path: Path) -> None:
    app = opened("compare", dataset="tiny", a="a", b="b", measure=BIASED)
    with zipfile.ZipFile(io.BytesIO(app.session_state["_run"].save())) as saved:
        assert saved.testzip() is None
        for name in saved.namelist():
            assert not set(name) & set("()=,@ "), name
    shown = (
        opened("dataset", dataset="tiny", show="Overview").session_state["_run"].drawn["systems"]
    )
    assert BIASED in tables.csv(shown).decode().splitlines()[0]
    assert r"Bpref" in tables.tex(shown).decode()


def test_a_table_is_exported_by_a_measure_that_is_scored_for_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.csv"
    words = ["export", "table", "tests", "--dataset", "tiny", "--out", str(out)]
    assert main([*words, "--measure", "P@3"]) == 0
    assert "scored 2 runs by P@3" in capfd.readouterr().err
    assert out.stat().st_size
    assert main([*words, "--measure", "p@3"]) == 2
    assert "No measure here is called p@3" in capfd.readouterr().err
