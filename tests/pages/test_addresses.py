"""The address of every page holds all that it shows: what others import changes nothing there."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from compute.judgements import PERSON
from compute.store.loading import Bench
from pages._frame import menu
from tests.support import filled
from tests.support.filled import RUNS
from tests.support.pages import PAGES, address_of, opened, words_of
from tests.support.scored import publish
from tests.support.worlds import QUERIES

KEPT = [f"_last_{key}" for key in ("dataset", "systems", "system", "other", "judgements", "rule")]
"""What a visit keeps when the page changes."""
WIDGETS = ("selectbox", "multiselect", "toggle", "radio", "button_group", "text_input", "slider")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """Two imported collections with two runs each, and an added judgement."""
    found = filled.bench(tmp_path)
    monkeypatch.setenv("BEIRSCOPE_HOME", str(found.settings.home))
    for name in ("first", "second"):
        filled.take(found, name=name)
    row = {"dataset": "second", "query_id": "q3", "doc_id": "d6", "relevance": 1, "person": "ada"}
    about = {"task": "", "guideline_version": "", "source": PERSON}
    found.store.add_judgements(pd.DataFrame([row | about]))
    yield found


def _shown(app: AppTest) -> dict[str, Any]:
    """What a person sees of a page."""
    headings = [one.value for kind in (app.title, app.header, app.subheader) for one in kind]
    found: list[tuple[str, Any]] = [(kind, one) for kind in WIDGETS for one in app.get(kind)]
    widgets = {(kind, one.label, str(one.key)): one.value for kind, one in found}
    drawn = app.session_state["_run"].drawn
    figures = {
        key: json.loads(one.figure.to_json()) if hasattr(one, "figure") else one.shown.to_json()
        for key, one in drawn.items()
    }
    # Where to start stands on the page of a bare address only.
    said = words_of(app).removeprefix(f"{menu.WHAT}\n")
    return {"headings": headings, "widgets": widgets, "figures": figures, "words": said}


def _same(page: str, app: AppTest) -> None:
    """What the page shows is what its address opens elsewhere, and there it stays as it is."""
    address = address_of(app)
    fresh = opened(page, **address)
    assert _shown(fresh) == _shown(app), (page, address)
    assert address_of(fresh) == address, page


def _by_menu(page: str, before: AppTest) -> AppTest:
    """The page as the menu opens it: without an address, in a visit that has been elsewhere."""
    return opened(page, {k: before.session_state[k] for k in KEPT if k in before.session_state})


@pytest.mark.long
def test_the_address_of_a_page_that_the_menu_opened_opens_the_same_elsewhere(bench: Bench) -> None:
    given = {"dataset": "second", "measure": "R@100", "judgements": "added"}
    app = opened("pages/query.py", **given, systems=list(RUNS)[:1])
    _same("pages/query.py", app)
    for page in PAGES:
        arrived = _by_menu(page, app)
        _same(page, arrived)
        if page in ("pages/holes.py", "pages/compare.py", "pages/map.py", "pages/lengths.py"):
            assert address_of(arrived)["dataset"] == ["second"]
            assert address_of(arrived)["judgements"] == ["added"]


@pytest.mark.long
def test_what_somebody_imports_does_not_change_what_an_address_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = filled.bench(tmp_path)
    monkeypatch.setenv("BEIRSCOPE_HOME", str(bench.settings.home))
    judgements = pd.DataFrame({"query_id": QUERIES, "doc_id": "d1", "relevance": 1})
    hits = pd.DataFrame({"query_id": QUERIES, "doc_id": "d1", "score": 1.0})
    publish(bench.store, "scifact", judgements, {"bm25": hits, "minilm": hits})
    before = {page: opened(page) for page in PAGES}
    # Its name comes before all others, and whoever has runs of their own sees these first.
    filled.take(bench, name="aaa")
    for page, was in before.items():
        address = address_of(was)
        after, shown = _shown(opened(page, **address))["widgets"], _shown(was)["widgets"]
        assert {key: after[key] for key in after.keys() & shown.keys()} == shown, address
        assert "aaa" not in {names for (_, _, key), names in after.items() if key == "dataset"}
    both = opened(numbers="Computed", group="")
    assert _shown(both)["figures"].keys() >= {"cells"}
