"""The menus under figures and tables, and the button that saves a view."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from compute.exports.figures import Figure
from tests.exports.test_pages import BOARD, HOSTILE, home  # noqa: F401
from tests.support import pages


@pytest.fixture(scope="module")
def leaderboard(home: Path) -> AppTest:  # noqa: F811
    return pages.opened(**BOARD, open="order")


def _label(block: Any) -> str:
    return block.proto.popover.label


def test_a_page_notes_its_figures_and_tables_and_nothing_is_drawn_before_it_is_asked(
    leaderboard: AppTest,
) -> None:
    shown = leaderboard.session_state["_run"].drawn
    assert {"board", "order"} <= set(shown)
    assert isinstance(shown["order"], Figure)
    menus = [found for found in leaderboard.get("popover") if _label(found) == "Export"]
    assert len(menus) == len(shown)
    # The buttons of a menu come with it when it is opened.
    labels = [button.proto.label for button in leaderboard.get("download_button")]
    assert labels == ["Download this page (ZIP)"]


@pytest.mark.long
def test_a_view_is_saved_with_every_picker_in_its_address(leaderboard: AppTest) -> None:
    with zipfile.ZipFile(io.BytesIO(leaderboard.session_state["_run"].save())) as packed:
        where = packed.read("address.txt").decode()
        names = packed.namelist()
        assert "tables/board.tex" in names and any(one.startswith("data/order") for one in names)
        assert HOSTILE in packed.read("provenance.json").decode()
    for part in ("numbers=Computed", "measure=nDCG%4010", "returned=false", "baseline=plain"):
        assert part in where
