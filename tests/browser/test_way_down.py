"""The way down in a browser, one click a step, and back: from a cell to a judged document."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from compute.base.settings import Settings
from compute.store.store import Store
from tests.support.acting import click_mark, heading, settled
from tests.support.processes.dashboards import port, serving


@pytest.fixture
def own(home: Path, tmp_path: Path) -> Iterator[tuple[str, Store]]:
    """A dashboard on a home of its own, for the test judges."""
    folder = shutil.copytree(home, tmp_path / "home")
    with serving(folder, port(8760)) as address:
        yield address, Store(Settings(home=folder))


@pytest.mark.long
def test_from_a_cell_down_to_a_judged_document_and_back(
    page: Page, browser: Browser, own: tuple[str, Store]
) -> None:
    address, store = own
    page.goto(f"{address}/?numbers=Computed&measure=R@100")
    heading(page, "Leaderboard")
    click_mark(page, "tiny", "bm25")
    page.wait_for_url(re.compile(r"/dataset\?.*dataset=tiny.*measure=R"))
    heading(page, "Dataset")
    _back_and_forward(page, "Leaderboard", "Dataset")
    settled(page)
    page.get_by_role("button", name="Compare the clicked system").click()
    page.wait_for_url(re.compile(r"/compare\?"))
    expect(page.get_by_text("R@100 over 3 queries")).to_be_visible()
    _same_in_another_browser(browser, page.url, "Compare", "R@100 over 3 queries")
    _back_and_forward(page, "Dataset", "Compare")
    expect(page.get_by_text("R@100 over 3 queries")).to_be_visible()
    click_mark(page, "tiny", "q3")
    page.wait_for_url(re.compile(r"/query\?.*query=q3"))
    heading(page, "Query")
    _back_and_forward(page, "Compare", "Query")
    _judge(page, store)
    _same_in_another_browser(browser, page.url, "Query", "harbour fish")


def _back_and_forward(page: Page, before: str, now: str) -> None:
    shown = page.url
    page.go_back()
    heading(page, before)
    page.go_forward()
    heading(page, now)
    page.wait_for_url(re.compile(re.escape(shown.partition("?")[0])))


def _judge(page: Page, store: Store) -> None:
    page.get_by_role("textbox", name="Your name").fill("ada")
    page.get_by_role("button", name="Continue").click()
    page.locator(".st-key-grade_1 button").wait_for()
    settled(page)
    page.locator(".st-key-grade_1 button").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    (judged,) = store.added_judgements().to_dict("records")
    assert (judged["query_id"], judged["person"], judged["relevance"]) == ("q3", "ada", 1)


def _same_in_another_browser(browser: Browser, address: str, name: str, words: str) -> None:
    context = browser.new_context(reduced_motion="reduce")
    other = context.new_page()
    other.goto(address)
    heading(other, name)
    expect(other.get_by_text(words).first).to_be_visible()
    context.close()
