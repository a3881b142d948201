"""The ranked lists and the map in a browser: walking by keys, a cell that opens its document."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.acting import FIGURE, click_at, go, heading, settled

CELL = """([figure, rank, row]) => {
    const plot = document.querySelector(`${figure} .js-plotly-plot`);
    if (!plot?._fullLayout) return null;
    const {left, top} = plot.getBoundingClientRect(), {xaxis, yaxis} = plot._fullLayout;
    return [left + xaxis._offset + xaxis.d2p(rank), top + yaxis._offset + yaxis.d2p(row)];
}"""


def _query(page: Page, words: str) -> None:
    expect(page.get_by_test_id("stHtml").get_by_text(words, exact=True)).to_be_visible()
    settled(page)


@pytest.mark.long
def test_keys_walk_from_query_to_query_but_not_while_one_writes(page: Page, dashboard: str) -> None:
    page.goto(f"{dashboard}/query?dataset=tiny&systems=bm25,bm25(b%3D0.9)&order=by+id&query=q1")
    _query(page, "ships in the harbour")
    page.locator("h1").click()
    page.keyboard.press("n")
    _query(page, "crossing the river by bridge")
    page.wait_for_url("**query=q2**")
    settled(page)
    page.keyboard.press("p")
    _query(page, "ships in the harbour")
    find = page.get_by_role("textbox", name="Find")
    find.click()
    page.keyboard.type("pond")
    expect(find).to_have_value("pond")
    _query(page, "ships in the harbour")


def test_a_cell_of_the_map_opens_its_document_and_leads_to_the_lists(
    page: Page, dashboard: str
) -> None:
    page.goto(f"{dashboard}/map?dataset=tiny&order=by+id")
    click_at(page, CELL, [FIGURE, 1, 1])
    window = page.get_by_role("dialog")
    expect(window).to_contain_text("crossing the river by bridge")
    expect(window).to_contain_text("Ranked 1 by BM25")
    page.wait_for_url(re.compile(r"query=q2.*document=d[23]"))
    settled(page)
    window.get_by_role("button", name="Ranked lists of this query").click()
    page.wait_for_url(re.compile(r"/query\?.*query=q2"))
    heading(page, "Query")
    _query(page, "crossing the river by bridge")
    page.go_back()
    expect(page.get_by_role("heading", name="Map")).to_be_visible()
    expect(page.get_by_role("dialog")).to_contain_text("crossing the river by bridge")
    # The window's address opens the window in any browser.
    go(page, f"{dashboard}/map?dataset=tiny&query=q2&document=d3")
    expect(page.get_by_role("dialog")).to_contain_text("A ferry crosses the river")
    settled(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


BOX = """([figure, rank]) => {
    const plot = document.querySelector(`${figure} .js-plotly-plot`);
    if (!plot?._fullLayout) return null;
    const {left, top} = plot.getBoundingClientRect(), {xaxis2, yaxis} = plot._fullLayout;
    return [left + xaxis2._offset + xaxis2.d2p(0.5), top + yaxis._offset + yaxis.d2p(rank)];
}"""


@pytest.mark.long
def test_a_document_that_a_click_opens_comes_into_view(page: Page, dashboard: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 420})
    page.goto(f"{dashboard}/query?dataset=tiny&systems=bm25&order=by+id&query=q1&ranks=10")
    _query(page, "ships in the harbour")
    picker = page.get_by_role("combobox", name=re.compile("Document"))
    expect(picker).not_to_be_in_viewport()
    page.locator(FIGURE).first.evaluate("figure => figure.scrollIntoView()")
    click_at(page, BOX, [FIGURE, 2])
    page.wait_for_url(re.compile("document="))
    expect(picker).to_be_in_viewport()
