"""The Efficiency page as addresses open it: with costs of two machines, and without any."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pandas import DataFrame
from streamlit.testing.v1 import AppTest

from compute.__main__ import main
from compute.base.settings import Settings
from compute.evaluate import runs
from compute.intake import imports
from compute.reading.database import open_version
from compute.recompute import run as recompute
from compute.recompute.efficiency import Costs
from compute.store import provenance
from compute.store.loading import Bench, Loaded
from compute.store.store import Store
from compute.views.efficiency import page as efficiency_page
from compute.views.efficiency import select as efficiency_select
from tests.support import filled, pages
from tests.support.pages import noted
from tests.support.storage import hits
from tests.support.tiny import write_tiny

HOSTILE = "<b>Abacus*&$x$"
GOOD = hits(("q1", "d1", 1), ("q2", "d2", 1), ("q3", "d6", 1))
POOR = hits(("q1", "d4", 1), ("q2", "d2", 1))
LATENCY = {"bm25": 2.0, "minilm": 20.0, "bm25-rm3": 50.0}


def _run(bench: Bench, loaded: Loaded, system: str, *, costs: bool = True) -> None:
    """Publish a run with costs as if it had been searched here; bm25-rm3 on another machine."""
    about = provenance.record(["run", system, loaded.dataset.name], 1.0, identity={})
    if system == "bm25-rm3":
        about["hardware"] = {"processor": HOSTILE, "cores": 8, "memory_gib": 64.0}
    run = runs.canonical(GOOD if system == "minilm" else POOR, depth=10, drop_self=False)
    values = {"latency_p50_ms": LATENCY[system], "latency_p95_ms": 60.0, "index_bytes": 5e6}
    measured = Costs(values, {"load": 40.0, "latency_queries": 3}) if costs else None
    recompute.publish_run(bench, loaded, system, run, 10, f"{system} hits", about, measured)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Two collections: three systems on one, one on the other and one there without costs."""
    bench = filled.bench(folder := tmp_path_factory.mktemp("efficiency"))
    source = write_tiny(folder / "tiny")
    one, two = (imports.import_dataset(bench, name, path=source) for name in ("one", "two"))
    for system in LATENCY:
        _run(bench, one, system)
    _run(bench, two, "bm25")
    _run(bench, two, "minilm", costs=False)
    return bench


def opened(home: Path, **address: Any) -> AppTest:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEIRSCOPE_HOME", str(home))
        return pages.opened("efficiency", **address)


def captions(app: AppTest) -> str:
    return "\n".join(element.value for element in noted(app)).replace("\\", "")


def test_a_dataset_has_two_figures_a_table_and_the_machines(bench: Bench) -> None:
    app = opened(bench.settings.home, dataset="one")
    assert len(app.get("plotly_chart")) == 2
    assert list(app.dataframe[0].value["Median latency"]) == [20.0, 2.0, 50.0]
    told = captions(app)
    assert "different hardware (not comparable): filled marks " in told
    assert f"open marks {HOSTILE}, 8 cores, 64 GiB; each has its own line" in told
    assert "The machine was busy (up to 40 processes" in told
    assert "Not measured" in told
    for element in (*app.markdown, *noted(app)):
        assert HOSTILE not in element.value
    assert all(HOSTILE not in json.dumps(chart.proto.spec) for chart in app.get("plotly_chart"))


@pytest.mark.usefixtures("shipped_results")
def test_means_name_the_datasets_that_all_shown_systems_have(bench: Bench) -> None:
    home = bench.settings.home
    alone = captions(opened(home, systems=["bm25"], dataset="mean over datasets"))
    assert "Means over the" in alone
    assert "Means over the 9 datasets that the shown system has" in alone
    two = opened(home, systems=["bm25", "bm25-rm3"])
    (over,) = re.findall(r"Means over the [^:]*: ([^.]*)\.", captions(two))
    assert "one" in over.split(", ")
    assert "two" not in over.split(", ")


@pytest.mark.usefixtures("shipped_results")
def test_the_papers_table_says_the_same_of_a_system_as_the_table_above_it(bench: Bench) -> None:
    app = opened(bench.settings.home, systems=["bm25-multifield"], open="printed-costs")
    printed = app.dataframe[-1].value
    own = printed[printed["System"] == "BM25 (Anserini)"].iloc[0]
    assert own["Latency here"] == app.dataframe[0].value["Median latency"].item()
    assert own["Index here"] == app.dataframe[0].value["Index size"].item()


def test_the_switch_shows_the_slow_queries(bench: Bench) -> None:
    for slow, title in (
        ("true", "95th percentile of query latency"),
        ("false", "median query latency"),
    ):
        app = opened(bench.settings.home, dataset="one", slow=slow)
        layout = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]
        assert title in layout["xaxis"]["title"]["text"]


def test_without_costs_the_page_says_how_to_get_them_and_shows_the_papers(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, threads=1)
    Store(settings)
    app = opened(tmp_path)
    assert len(app.dataframe[-1].value) == 21
    said = app.info[0].value.replace("\\", "")
    assert "so imported runs have none" in said


def test_runs_without_costs_are_known(bench: Bench) -> None:
    rows = efficiency_select.unmeasured(open_version(bench.store).cursor())
    own = rows[rows["dataset"].isin(["one", "two"])]
    assert own.values.tolist() == [["two", "minilm"]]


@pytest.mark.long
def test_costs_are_printed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))

    def printed(*words: str) -> str:
        capsys.readouterr()
        assert main(["efficiency", *words]) == 0
        return capsys.readouterr().out

    shown = json.loads(printed("--dataset", "one", "--json"))
    assert [row["system"] for row in shown] == ["bm25", "bm25-rm3", "minilm"]
    assert [row["latency_p50_ms"] for row in shown] == [2.0, 50.0, 20.0]
    assert "index_seconds" in shown[0]
    assert "index_seconds" not in printed("--dataset", "one")
    columns = ["dataset", "system", "index_bytes", "hardware", "load", "date"]
    assert printed("--measure", "index_bytes").split()[:6] == columns
    words = {
        ("--measure", "index_byte"): "did you mean index_bytes",
        ("--system", "bm25", "--dataset", "too"): "run bm25 too --again",
    }
    for wrong, told in words.items():
        assert main(["efficiency", *wrong]) == 2
        assert told in capsys.readouterr().err
    (row,) = json.loads(printed("--published", "--system", "tas-b", "--json"))
    assert row["cpu_ms_per_query"] == 125.0


def test_the_page_opens_on_the_fullest_dataset_where_systems_have_none_in_common() -> None:
    costs = DataFrame(
        [("one", "bm25"), ("two", "bm25"), ("two", "minilm"), ("one", "minilm")],
        columns=["dataset", "system"],
    )
    assert efficiency_page.usual(costs) == efficiency_page.EVERY
    assert efficiency_page.usual(costs.iloc[:3]) == efficiency_page.EVERY
    costs.loc[4] = ["three", "rm3"]
    assert efficiency_page.usual(costs.iloc[1:]) == "two"
