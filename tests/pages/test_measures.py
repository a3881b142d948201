"""Pages by measures that are not of the usual ones: what pickers offer, addresses, files."""

import io
import zipfile
from pathlib import Path

import pytest

from compute.__main__ import main
from compute.exports import tables
from compute.recompute import run
from tests.support import filled
from tests.support.filled import RUNS
from tests.support.pages import opened

BIASED = "RBP(p=0.8,rel=2)@10"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny collection with two runs that are scored by three measures more."""
    bench = filled.bench(tmp_path_factory.mktemp("measures"))
    row = filled.take(bench, dict(zip("ab", RUNS.values(), strict=True)), level=2)
    loaded = run.stored_dataset(bench.store, row)
    for part in bench.store.parts("hits", "tiny"):
        run.score(bench, loaded, part, measures=["AP", "Bpref", BIASED])
    return bench.settings.home


@pytest.fixture(autouse=True)
def at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))


@pytest.mark.long
@pytest.mark.usefixtures("shipped_results")
@pytest.mark.parametrize(
    ("page", "measure"),
    [
        *((page, BIASED) for page in ("dataset", "query", "efficiency")),
        *((page, "Bpref") for page in ("compare", "map")),
    ],
)
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
    assert any(r"relevant\: grade 2 or more, as AP\(rel=2\)@100" in shown for shown in facts), facts


def test_the_leaderboard_offers_what_is_stored() -> None:
    app = opened("leaderboard", numbers="Computed", measure=BIASED)
    assert app.selectbox(key="measure").value == BIASED


def test_the_measures_of_the_settings_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_MEASURES", "P@5")
    assert opened("dataset", dataset="tiny", measure="P@5").selectbox(key="measure").value == "P@5"


def test_a_measure_that_nothing_was_scored_by_is_answered_with_the_command() -> None:
    (warning,) = opened("dataset", dataset="tiny", measure="P@7").warning
    assert "python \\-m compute rescore \\-\\-measure P@7" in warning.value
    (warning,) = opened("dataset", dataset="tiny", measure="bpref").warning
    assert "Did you mean Bpref" in warning.value


@pytest.mark.long
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


@pytest.mark.long
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
