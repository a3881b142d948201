"""A figure of a page stands everywhere once the page yields it."""

import re
from pathlib import Path
from typing import cast

import plotly.graph_objects as go
import pytest
from pandas import DataFrame
from streamlit.testing.v1 import AppTest

from compute.__main__ import main
from compute.base.settings import Settings
from compute.exports import all_figures, browser, notebook, pages, site
from compute.exports.formats import ONE, Paper
from compute.intake import imports
from compute.recompute.run import Bench
from compute.store.store import Store
from compute.views.dataset import select
from compute.views.page import Ask, Choice, Figure, Note, Page, Steps, Table
from compute.views.shared import catalogue
from compute.views.shared.drawing import drawing
from tests.support.tiny import write_tiny

TITLE = "Documents & queries"


@drawing
def bars(rows: DataFrame, *, theme: str) -> go.Figure:
    """The figure's one file."""
    return go.Figure(go.Bar(x=rows["system"], y=rows["value"]))


def judged(ask: Ask) -> Steps:
    """A page with one control, a figure and a table."""
    names = list(dict.fromkeys(ask(catalogue.runs)["dataset"]))
    dataset = yield Choice("dataset", "Dataset", names)
    rows = ask(select.means_of, datasets=[dataset])[["dataset", "system", "value"]]

    def drawn(theme: str) -> go.Figure:
        return bars(rows, theme=theme)

    yield Figure("sizes", TITLE, drawn, "Blue: all.", of=("dataset",), narrow=True)
    yield Note(["All of them."])
    yield Table("sizes-table", TITLE, rows)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with one run, where the page is one of all pages."""
    settings = Settings(home=tmp_path / "home", threads=1)
    bench = Bench(Store(settings, tmp_path / "none"), settings)
    tiny = imports.import_dataset(bench, "tiny", path=write_tiny(tmp_path / "tiny")).dataset
    (tmp_path / "some.run").write_text("q1 Q0 d1 1 3.0 t\nq2 Q0 d2 1 1.0 t\n", "utf-8")
    imports.import_run(bench, tmp_path / "some.run", tiny, system="mine")
    monkeypatch.setenv("BEIRSCOPE_HOME", str(settings.home))
    monkeypatch.setitem(cast(dict[str, Page], pages.PAGES), "judged", judged)
    return settings.home


def _drawn() -> None:
    from pages._shared import reading, renderer
    from tests.exports.test_new_figure import judged  # pyrefly: ignore

    reading.begin("Judged")
    renderer.page("Judged", judged)


def test_it_stands_on_the_page_with_the_name_of_its_file(home: Path) -> None:
    app = AppTest.from_function(_drawn, default_timeout=60).run()
    assert not app.exception
    shown = app.session_state["_run"].drawn
    assert [one.name for one in shown.values()] == ["tiny-sizes", "tiny-sizes-table"]
    assert shown["sizes"].narrow and len(shown["sizes"].figure.data) == 1


@pytest.mark.long
def test_it_is_written_with_its_caption(home: Path, tmp_path: Path) -> None:
    if browser.find() is None:
        pytest.skip("no Chromium on the PATH or in $BEIRSCOPE_CHROMIUM")
    views = [one for one in all_figures.views(["tiny"], "nDCG@10") if one[0] == "judged"]
    (folder := tmp_path / "figures").mkdir()
    assert all_figures.write(Store(Settings(home=home)), views, folder, "svg", Paper(ONE)) == 0
    assert {one.name for one in folder.iterdir()} == {"tiny-sizes-84mm.svg", "captions.tex"}
    (caption,) = re.findall(r"\\caption{(.*)}", (folder / "captions.tex").read_text("utf-8"))
    assert caption.startswith(
        r"Documents \& queries $\cdot$ tiny $\cdot$ computed with Beirscope. Blue: all."
        " Systems: mine. Datasets: tiny. Drawn by"
    )


@pytest.mark.long
def test_the_command_line_the_notebook_and_the_site_have_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, file in (("figure", "x.html"), ("table", "x.csv")):
        key = f"judged.sizes{'-table' * (name == 'table')}"
        assert main(["export", name, key, "--out", str(tmp_path / file)]) == 0
    assert "Documents &amp; queries" in (tmp_path / "x.html").read_text("utf-8")
    with notebook.results() as results:
        assert set(results.part("judged", "sizes", dataset="tiny").to_dict()["data"][0]["x"]) == {
            "mine"
        }
    for name in pages.PAGES.keys() - {"judged"}:
        monkeypatch.delitem(cast(dict[str, Page], pages.PAGES), name)
    site.write(Store(Settings(home=home)), tmp_path / "site", site.Wanted())
    written = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert written.count("Documents &amp; queries") == 4 and "All of them." in written
