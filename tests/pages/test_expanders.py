"""Sections that are shut cost nothing, and an address says which ones are open."""

from pathlib import Path

import pytest

from pages._shared.metrics import REGISTRY
from tests.support.pages import address_of, opened
from tests.views.leaderboard import boards


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return boards.judged(tmp_path_factory.mktemp("boards") / "home")


@pytest.fixture(autouse=True)
def env(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEIRSCOPE_HOME", str(home))


def asked(question: str) -> float:
    """How often pages asked it, in this process."""
    return REGISTRY.get_sample_value("beirscope_answers_total", {"question": question}) or 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("page", "question", "key"),
    [
        ("leaderboard", "leaderboard.select.printed_of", "ours-published"),
        ("holes", "holes.select.by_rank", "ranks"),
        ("holes", "holes.select.left_out", "left_out"),
        ("dataset", "dataset.select.published_figures", "published"),
    ],
)
def test_what_is_shut_is_asked_once_it_is_open(page: str, question: str, key: str) -> None:
    address = {"dataset": "one", "show": "Overview"} if page != "leaderboard" else {}
    before = asked(question)
    app = opened(page, **address)
    assert asked(question) == before and key not in app.session_state["_run"].drawn
    opened(page, **address, open=key)
    assert asked(question) > before


def test_a_key_of_a_control_opens_the_section_that_holds_it() -> None:
    own = {"dataset": "one", "a": "good", "b": "alike"}
    shut = opened("compare", **own)
    assert "different" in shut.session_state["_run"].drawn
    assert not {"kinds", "scatter", "tests"} & shut.session_state["_run"].drawn.keys()
    app = opened("compare", **own, find="0.02")
    assert "tests" in app.session_state["_run"].drawn and "scatter" not in (
        app.session_state["_run"].drawn
    )
    both = opened("compare", **own, open=["scatter", "tests"])
    assert {"scatter", "tests"} <= both.session_state["_run"].drawn.keys()
    assert address_of(both)["open"] == ["scatter", "tests"]
