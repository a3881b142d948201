"""Links and clicks open their view and name it in the address."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.acting import FIGURE, click_at, go, settled

BOX = """([figure, words]) => {
    const found = [...document.querySelectorAll(`${figure} text`)]
        .find(one => one.textContent.includes(words))?.getBoundingClientRect();
    return found ? [found.left + 40, found.top + found.height / 2] : null;
}"""
"""Inside the box in the ranked lists whose label has these words."""


def test_a_click_on_a_box_shows_its_document_and_stays_in_the_address(
    page: Page, dashboard: str
) -> None:
    page.goto(f"{dashboard}/query?dataset=tiny&query=q3&document=d6")
    click_at(page, BOX, [FIGURE, "<script>"])
    expect(page.get_by_text("The harbour master writes")).to_be_visible()
    page.wait_for_url("**document=d4*")


@pytest.mark.long
def test_the_system_of_a_clicked_cell_goes_on_to_the_queries(page: Page, dashboard: str) -> None:
    go(page, f"{dashboard}/dataset?dataset=tiny&system=bm25(b=0.9)")
    page.get_by_role("button", name="Ranked lists per query").click()
    # The clicked one first.
    page.wait_for_url(re.compile(r"/query\?.*systems=bm25(%28|\()b"))


@pytest.mark.long
def test_a_screen_800_wide_has_room_for_the_links_to_all_pages(page: Page, dashboard: str) -> None:
    page.set_viewport_size({"width": 800, "height": 900})
    go(page, f"{dashboard}/about")
    links = page.get_by_test_id("stTopNavLink")
    expect(links.last).to_have_text("Workspace")
    expect(links.last).to_be_visible()
    expect(page.get_by_text("1 more")).not_to_be_visible()


@pytest.mark.long
def test_an_address_opens_one_of_the_folded_questions(page: Page, dashboard: str) -> None:
    go(page, f"{dashboard}/about?open=How is all this checked?")
    expect(page.get_by_test_id("stExpander")).to_have_count(25)
    expect(page.get_by_text("to within 1e-9")).to_be_visible()
    expect(page.get_by_text("Hits are sorted by score")).not_to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("how", ["middle", "left"])
def test_a_page_of_the_menu_opened_in_a_tab_of_its_own_has_the_dataset(
    page: Page, dashboard: str, how: Any
) -> None:
    go(page, f"{dashboard}/dataset?dataset=tiny")
    settled(page)
    keys: Any = [] if how == "middle" else ["Control"]
    with page.context.expect_page() as opened:
        page.get_by_test_id("stTopNavLink").filter(has_text="Compare").click(
            button=how, modifiers=keys
        )
    expect(opened.value.get_by_role("heading", name="Compare", exact=True)).to_be_visible()
    assert "/compare?" in opened.value.url and "dataset=tiny" in opened.value.url
    assert "/dataset?" in page.url
