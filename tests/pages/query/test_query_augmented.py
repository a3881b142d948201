"""What a system asked in place of a query, on the pages: Query, Efficiency and Dataset."""

from pathlib import Path
from typing import Any

import pytest
from pandas import DataFrame
from streamlit.testing.v1 import AppTest

from compute.base.settings import PROJECT, Settings
from compute.intake import imports
from compute.store.loading import Bench
from compute.store.store import Store
from tests.support.tiny import write_tiny

RUN = "q1 Q0 d1 1 3.0 t\nq1 Q0 d4 2 2.0 t\nq2 Q0 d3 1 1.0 t\nq3 Q0 d6 1 1.0 t\n"
ASKED = DataFrame(
    {
        "query_id": ["q1", "q1", "q1", "q2"],
        "piece": ["ships", "in", "lighthouse", "river"],
        "in_query": [True, True, False, True],
        "weight": [0.5, 0.0, 0.25, 1.0],
    }
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny collection with two runs; one of them asked other queries."""
    folder = tmp_path_factory.mktemp("pages")
    settings = Settings(home=folder / "home", threads=1)
    bench = Bench(Store(settings), settings)
    collection = imports.import_dataset(bench, "tiny", path=write_tiny(folder / "tiny")).dataset
    for name in ("rewriting", "plain"):
        (folder / "some.run").write_text(RUN, encoding="utf-8")
        imports.import_run(bench, folder / "some.run", collection, system=name)
    of = {"dataset": "tiny", "system": "rewriting", "fingerprint": "asked", "provenance": {}}
    with bench.store.publishing("test") as publication:
        publication.add("augmented", ASKED, **of)  # pyrefly: ignore
    return settings.home


@pytest.fixture(autouse=True)
def at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))


def _opened(page: str, **address: Any) -> AppTest:
    app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=60)
    app.query_params.update(address)
    app.switch_page(f"pages/{page}.py")
    app.run()
    assert not app.exception, app.exception
    return app


@pytest.mark.usefixtures("shipped_results")
def test_the_papers_table_stands_beside_ours() -> None:
    for app in (_opened("efficiency"), _opened("dataset", dataset="tiny", show="Systems")):
        assert "Query augmentation" in [head.value for head in app.header]
        rows = app.dataframe[-1].value
        assert rows["Words added"].iloc[0] == ".5"
