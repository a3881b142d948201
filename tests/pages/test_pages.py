"""Every page of the table draws, on an empty store and on a filled one; addresses open views; new
versions are shown once they are open."""

import shutil
from pathlib import Path

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from compute.base.settings import Settings
from compute.exports.page_archive import Figure
from compute.intake import imports
from compute.recompute.run import Bench
from compute.store.store import Store
from compute.views.shared.drawing import numbers
from tests.support.filled import HOSTILE
from tests.support.filled import home as filled_home
from tests.support.pages import PAGES, noted, opened, visited
from tests.support.storage import hits, open_store, publish_run, scores
from tests.support.tiny import write_tiny

MOST_CAPTIONED = 85
"""Words in all captions of a page, before anything is clicked."""


@pytest.fixture
def filled() -> Path:
    return filled_home()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which nothing was done yet, for tests that only look."""
    return tmp_path_factory.mktemp("empty")


@pytest.fixture
def empty_home(empty: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(empty))
    return empty


@pytest.fixture
def tiny_home(filled: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(filled))
    return filled


def _has_few_words(app: AppTest, file: str) -> None:
    assert len(app.title) == 1
    # What a folded section says stands behind a click.
    folded = {id(caption) for section in app.expander for caption in section.caption}
    said = " ".join(caption.value for caption in app.caption if id(caption) not in folded)
    assert file == "pages/about.py" or len(said.split()) <= MOST_CAPTIONED, said


@pytest.mark.parametrize("file", PAGES)
def test_every_page_draws_on_an_empty_store(empty_home: Path, file: str) -> None:
    _has_few_words(opened(file), file)


RUN = hits(("q1", "d1", 1))


def test_the_title_of_a_dataset_stays_whole_in_captions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, name = open_store(tmp_path / "home"), "Smith. Again and again the same words as before"
    monkeypatch.setenv("BEIRSCOPE_HOME", str(store.home))
    for system in ("bm25", name):
        publish_run(store, "scifact", system, RUN, scores("nDCG@10", q1=0.1, q2=0.2))
    app = opened("pages/compare.py", dataset="scifact", a="bm25", b=name)
    shown = [caption.value.replace("\\", "") for caption in app.caption]
    assert any(f"{name} " in words for words in shown)
    assert not any(words.endswith("Smith.") for words in shown)


@pytest.mark.parametrize("file", PAGES)
def test_every_page_draws_what_was_computed(tiny_home: Path, file: str) -> None:
    app = opened(file, dataset="tiny", numbers="Computed", measure="nDCG@10", query_id="q3")
    _has_few_words(app, file)
    drawn = app.session_state["_run"].drawn.values() if "_run" in app.session_state else ()
    bare = [one.key for one in drawn if isinstance(one, Figure) and not numbers(one.figure)]
    assert bare == [], "a figure's numbers stand in a table that keys reach"
    for element in (*app.markdown, *noted(app)):
        assert HOSTILE not in element.value, "a name from outside must not be read as Markdown"


def test_the_first_screen_shows_the_main_table_on_an_empty_store(empty_home: Path) -> None:
    app = opened()
    assert app.selectbox(key="numbers").value == "Published"
    assert app.selectbox(key="table").value == "BEIR v4, Table 2"
    assert "Average over 18 datasets" in noted(app)[0].value
    assert [chart.key for chart in app.get("plotly_chart")] == ["cells"]
    every = ["order", "wins", "aggregates", "bump"]
    keys = [chart.key for chart in opened(open=every).get("plotly_chart")]
    assert keys == ["cells", *every]


def test_pages_follow_what_is_published_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    app = opened()
    assert "own" not in app.multiselect(key="group").options
    settings = Settings(home=tmp_path / "home", threads=1)
    bench = Bench(Store(settings), settings)
    imports.import_dataset(bench, "tiny", path=write_tiny(tmp_path / "tiny"))
    # Not `app.run()`: once AppTest knows the page it runs that file alone, past app.py.
    assert "own" in opened().multiselect(key="group").options


def test_nothing_is_shown_at_another_address() -> None:
    option = config.get_config_options()["server.address"]
    before, origin = option.value, option.where_defined
    option.set_value("0.0.0.0", "a test")
    try:
        app = visited()
    finally:
        option.set_value(before, origin)
    assert "serves only its own machine" in app.error[0].value
    assert not app.title


def test_a_bug_is_logged_under_the_id_that_the_page_shows(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = shutil.copytree(filled, tmp_path / "home")
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))
    # No input leads to a bug that is known: a library that fails stands for one.
    monkeypatch.setattr("streamlit.plotly_chart", lambda *_, **__: 1 / 0)
    app = visited()
    (log,) = (home / "logs").glob("bug-*.log")
    assert log.stem.removeprefix("bug-") in app.error[0].value
    assert "ZeroDivisionError" in log.read_text("utf-8")
