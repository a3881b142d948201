"""A file from a figure's menu arrives in a real browser, and is the figure."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from tests.support.acting import go, settled

pytestmark = pytest.mark.browser


def test_a_figure_and_a_table_are_saved_from_their_menus(
    dashboard: str, page: Page, tmp_path: Path
) -> None:
    go(page, f"{dashboard}/?numbers=Computed&view=Table&group=own")
    page.locator(".st-key-_export_wins").get_by_role("button").click()
    svg = page.get_by_role("button", name="SVG", exact=True)
    expect(svg).to_be_visible()
    settled(page)
    with page.expect_download() as arriving:
        svg.click()
    assert arriving.value.suggested_filename == "wins.svg"
    arriving.value.save_as(tmp_path / "wins.svg")
    words = "".join(ElementTree.parse(tmp_path / "wins.svg").getroot().itertext())
    assert "one dot per dataset" in words
    page.keyboard.press("Escape")
    expect(svg).to_be_hidden()
    page.locator(".st-key-_export_board").get_by_role("button").click()
    latex = page.get_by_role("button", name="LaTeX", exact=True)
    expect(latex).to_be_visible()
    settled(page)
    with page.expect_download() as arriving:
        latex.click()
    arriving.value.save_as(tmp_path / "board.tex")
    written = (tmp_path / "board.tex").read_text("utf-8")
    assert r"\label{tab:board}" in written
    assert "& tiny" in written
