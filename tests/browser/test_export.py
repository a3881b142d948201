"""A file from a figure's menu arrives in a real browser, and is the figure; a page prints."""

import re
import zipfile
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from tests.support.acting import FIGURE, go, settled, travel

pytestmark = pytest.mark.browser
WHITE = "rgb(255, 255, 255)"


@pytest.mark.long
def test_a_figure_and_a_table_are_saved_from_their_menus(
    dashboard: str, page: Page, tmp_path: Path
) -> None:
    go(page, f"{dashboard}/?numbers=Computed&view=Table&group=own&open=order")
    page.locator(".st-key-_export_order").get_by_role("button").click()
    svg = page.get_by_role("button", name="SVG", exact=True)
    expect(svg).to_be_visible()
    settled(page)
    with page.expect_download() as arriving:
        svg.click()
    assert arriving.value.suggested_filename == "tiny-order-own-ndcg10-174mm.svg"
    arriving.value.save_as(tmp_path / "order.svg")
    words = "".join(ElementTree.parse(tmp_path / "order.svg").getroot().itertext())
    assert "ranks first, but is not significantly different" in words
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


@pytest.mark.long
def test_a_figure_is_saved_for_one_column_of_a_paper(
    dashboard: str, page: Page, tmp_path: Path
) -> None:
    # An open list closes when a menu that does not fit into the window is scrolled.
    page.set_viewport_size({"width": 1440, "height": 1400})
    go(page, f"{dashboard}/dataset?dataset=tiny&show=Systems")
    menu = page.locator(".st-key-_export_standing").get_by_role("button")
    menu.click()
    settled(page)
    page.get_by_role("combobox", name="Width").click()
    page.get_by_role("option", name="One column, 84 mm").click()
    page.get_by_role("combobox", name="Font").click()
    page.get_by_role("option", name=re.compile("^With serifs: .")).click()
    page.get_by_role("checkbox", name="Include title").uncheck(force=True)
    expect(page.get_by_text("nDCG@10 of systems on tiny").last).to_be_visible()
    settled(page)
    with page.expect_download() as arriving:
        page.get_by_role("button", name="PDF", exact=True).click()
    assert arriving.value.suggested_filename == "tiny-standing-ndcg10-84mm.pdf"
    arriving.value.save_as(tmp_path / "standing.pdf")
    content = (tmp_path / "standing.pdf").read_bytes()
    box = re.search(rb"/MediaBox \[0 0 ([0-9.]+) ", content)
    assert box is not None
    assert float(box[1]) == pytest.approx(84 / 25.4 * 72, abs=0.01)
    titled = re.search(rb"/Title <FEFF([0-9A-F]+)>", content)
    assert titled is not None
    title = bytes.fromhex(titled[1].decode()).decode("utf-16-be")
    assert title.startswith("nDCG@10 of systems on tiny"), title


@pytest.mark.long
def test_a_view_holds_what_its_page_shows_and_nothing_of_another(
    dashboard: str, page: Page, tmp_path: Path
) -> None:
    go(page, f"{dashboard}/dataset?dataset=tiny&show=Systems")
    travel(page, f"{dashboard}/efficiency")
    with page.expect_download() as arriving:
        page.get_by_role("button", name="Download this page (ZIP)").click()
    assert arriving.value.suggested_filename == "beirscope-efficiency-ndcg10.zip"
    arriving.value.save_as(tmp_path / "view.zip")
    with zipfile.ZipFile(tmp_path / "view.zip") as packed:
        names = packed.namelist()
    assert "data/latency-p50-ms.csv" in names
    assert not [name for name in names if "standing" in name]


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_a_page_prints_light_and_whole(
    dashboard: str, page: Page, scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=scheme)
    go(page, f"{dashboard}/dataset?dataset=tiny&show=Systems")
    expect(page.locator(f"html[data-printed={scheme}]")).to_have_count(1)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print", color_scheme=scheme)
    # What A4, lying, leaves between its margins.
    page.set_viewport_size({"width": 1031, "height": 703})
    try:
        expect(page.locator(FIGURE).first).to_be_visible()
        for hidden in ("stHeader", "stButton", "stDownloadButton", "stPopover"):
            for one in page.get_by_test_id(hidden).all():
                expect(one).to_be_hidden()
        title = page.get_by_role("heading", name="Dataset", exact=True)
        expect(title).to_have_css("color", "rgb(15, 20, 26)")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == WHITE
        for figure in page.locator(f"{FIGURE} .main-svg").all():
            box = figure.bounding_box()
            assert box is None or box["x"] + box["width"] <= 1031
        printed = page.pdf(prefer_css_page_size=True)
        sizes = re.findall(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", printed)
        assert sizes and all(float(wide) > float(high) for wide, high in sizes)
    finally:
        page.emulate_media(media="screen", color_scheme="light")
