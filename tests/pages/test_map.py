"""The page Map: addresses, orders, the window of queries, and the document in a cell."""

from pathlib import Path
from typing import Any

import pytest
from pandas import DataFrame
from streamlit.testing.v1 import AppTest

from compute.base.settings import PROJECT, Settings
from compute.intake import imports
from compute.recompute.run import Bench
from compute.store.store import Store
from tests.support.pages import button_named, noted
from tests.support.storage import hits, publish_run, scores
from tests.support.tiny import HOSTILE, write_tiny

RUN = "q1 Q0 d1 1 3.0 t\nq1 Q0 d4 2 2.0 t\nq2 Q0 d3 1 1.0 t\nq3 Q0 d6 1 1.0 t\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny collection with one run, and a hundred queries without texts with another."""
    folder = tmp_path_factory.mktemp("pages")
    settings = Settings(home=folder / "home", threads=1)
    store = Store(settings)
    bench = Bench(store, settings)
    tiny = imports.import_dataset(bench, "tiny", path=write_tiny(folder / "tiny")).dataset
    (folder / "some.run").write_text(RUN, encoding="utf-8")
    imports.import_run(bench, folder / "some.run", tiny, system="sure")
    names = [str(number) for number in range(1, 101)]
    asked = DataFrame({"query_id": names, "text": None, "n_words": 0})
    judged = DataFrame({"query_id": names, "doc_id": "d1", "relevance": 1})
    with store.publishing("made up") as publication:
        for kind, content in (("queries", asked), ("judgements", judged)):
            publication.add(kind, content, dataset="fiqa", fingerprint="f", provenance={})
    values = scores("nDCG@10", **{name: int(name) / 100 for name in names})
    publish_run(store, "fiqa", "bm25", hits(*[(name, "d1", 1) for name in names]), values)
    return settings.home


@pytest.fixture(autouse=True)
def at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))


def opened(**address: Any) -> AppTest:
    app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=60)
    app.query_params.update(address)
    app.switch_page("pages/map.py")
    app.run()
    assert not app.exception, app.exception
    assert not app.error, app.error
    return app


def plain(elements: Any) -> str:
    return " ".join(element.value for element in elements).replace("\\", "")


def html(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.get("html"))


def test_many_queries_are_a_picture_and_a_window_that_moves() -> None:
    app = opened(dataset="fiqa", order="lowest score first")
    assert len(app.get("plotly_chart")) == 2
    assert "Queries 1 to 30 of 100" in plain(app.markdown)
    earlier, later = button_named(app, "Earlier"), button_named(app, "Later")
    assert (earlier.label, earlier.disabled) == ("Earlier", True)
    later.click().run()
    assert "Queries 31 to 60 of 100" in plain(app.markdown)
    assert app.query_params["from"] == "31"
    button_named(app, "Earlier").click().run()
    assert "Queries 1 to 30 of 100" in plain(app.markdown)


def test_the_document_of_an_address_is_shown_word_for_word() -> None:
    app = opened(dataset="tiny", query="q1", document="d4")
    assert "ships in the harbour" in html(app)
    assert "&lt;script&gt;alert" in html(app)
    assert HOSTILE not in html(app)
    assert "not judged for this query: a hole. Ranked 2 by sure." in plain(noted(app))
