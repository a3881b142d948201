"""A person's way through the dashboard, in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.acting import FIGURE, click_mark, heading, settled


def test_from_the_leaderboard_over_a_dataset_to_the_documents(page: Page, dashboard: str) -> None:
    page.goto(f"{dashboard}/?numbers=Computed")
    heading(page, "Leaderboard")
    click_mark(page, "tiny", "bm25")
    page.wait_for_url(re.compile(r"/dataset\?.*dataset=tiny"))
    expect(page.get_by_text("Own collection · English")).to_be_visible()
    settled(page)
    page.get_by_text("Ranked lists per query").click()
    page.wait_for_url(re.compile(r"/query"))  # The first dataset of a picker is not named.
    expect(page.get_by_text("holes").first).to_be_visible()
    expect(page.locator(FIGURE).first).to_contain_text("Harbour")


@pytest.mark.long
def test_the_first_screen_is_full_at_once(page: Page, dashboard: str) -> None:
    page.goto(dashboard)
    expect(page.locator(FIGURE).first).to_contain_text("TREC-COVID")
    page.goto(f"{dashboard}/?numbers=Computed")
    expect(page.locator(FIGURE).first).to_contain_text("tiny")


@pytest.mark.long
def test_a_wrong_name_in_the_address_gets_a_sentence(page: Page, dashboard: str) -> None:
    page.goto(f"{dashboard}/dataset?dataset=nothing&show=Overview")
    sentence = page.get_by_text("No dataset here is called nothing")
    expect(sentence).to_be_visible()
    settled(page)
    # Of another dataset nothing is shown until it is chosen.
    assert page.locator(FIGURE).count() == 0
    page.get_by_role("combobox", name="Dataset").click()
    page.get_by_role("option", name="tiny", exact=True).click()
    page.wait_for_url(re.compile("dataset=tiny"))
    expect(page.get_by_text("nDCG@10, query by query")).to_be_visible()
    expect(sentence).to_be_hidden()
    assert "Traceback" not in page.content()
