"""Pages asked on a store, without a server: the same figures and tables as in the browser."""

from pathlib import Path

import pytest

from compute.base.settings import Settings
from compute.exports.pages import PAGES
from compute.store.store import Store
from compute.views.page import Figure, Table, parts
from compute.views.page.store_ask import opened
from compute.views.shared.drawing import numbers
from tests.support import pages


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which nothing was done yet, for tests that only look."""
    return tmp_path_factory.mktemp("home")


@pytest.mark.usefixtures("shipped_results")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=() if name in ("leaderboard", "map", "holes") else pytest.mark.long
        )
        for name in PAGES
    ],
)
def test_a_page_without_a_browser_has_what_the_dashboard_draws(
    name: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))
    with opened(Store(Settings(home=home, threads=1))) as ask:
        found = [one for one in parts(PAGES[name], ask) if isinstance(one, Figure | Table)]
        keys = [one.key for one in found]
        app = pages.opened(f"pages/{name}.py", open=[*keys, "before-after"])
        drawn = app.session_state["_run"].drawn
        found = [one for one in parts(PAGES[name], ask) if isinstance(one, Figure | Table)]
    assert [one.key for one in found] == [key for key in drawn if not key.startswith("_")]
    assert [one.title for one in found] == [drawn[one.key].title for one in found]
    for one in found:
        if isinstance(one, Figure):
            # The data table below a figure takes no name of a column twice.
            shown = numbers(drawn[one.key].figure).values()
            assert all(rows.columns.is_unique for rows in shown)
            figure = one.drawn(theme="light").update_layout(clickmode=None)
            assert figure == drawn[one.key].figure.update_layout(clickmode=None)
