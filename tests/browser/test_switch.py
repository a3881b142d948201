"""The switch between official and added judgements, in a browser: what is looked at stays.

And of what is left, nothing stays.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from compute.base.settings import Settings
from compute.judgements import PERSON
from compute.store.store import Store
from tests.support.acting import settled
from tests.support.processes.dashboards import port, serving


@pytest.fixture(scope="module")
def judged(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A dashboard on a home of its own, where one hole was judged."""
    own = shutil.copytree(home, tmp_path_factory.mktemp("judged") / "home")
    store = Store(Settings(home=own))
    row = {"dataset": "tiny", "query_id": "q3", "doc_id": "d1", "relevance": 1, "person": "ada"}
    store.add_judgements(
        pd.DataFrame([row | {"task": "", "guideline_version": "", "source": PERSON}])
    )
    store.close()
    with serving(own, port(8760)) as address:
        yield address


def test_every_page_is_found_and_one_left_with_an_open_menu_leaves_the_next_whole(
    page: Page, judged: str
) -> None:
    """It is the first here: nobody has asked the server before."""
    missing = page.get_by_text("Page not found")
    # The first visitor of a server, and the first page under its own name.
    for path, found in (
        ("about", "How numbers are computed"),
        ("leaderboard?numbers=Computed", "Leader"),
    ):
        page.goto(f"{judged}/{path}")
        expect(page.get_by_role("heading", name=found, level=1)).to_be_visible()
        settled(page)
        expect(missing).to_have_count(0)
    page.wait_for_url(f"{judged}/?numbers=Computed*")
    page.goto(f"{judged}/compare?dataset=tiny")
    settled(page)
    page.get_by_role("button", name="Export").first.click()
    expect(page.get_by_role("button", name="PDF").first).to_be_visible()
    page.get_by_role("link", name="Workspace", exact=True).first.click()
    page.get_by_role("link", name="Jobs", exact=True).first.click()
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()
    settled(page)
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()


@pytest.mark.long
def test_the_switch_keeps_the_query_and_the_document_that_are_shown(
    page: Page, judged: str
) -> None:
    page.goto(f"{judged}/query?dataset=tiny")
    # What is to be kept must have been shown.
    expect(page.locator("mark").first).to_be_visible()
    settled(page)
    page.get_by_role("radio", name="Official + added").click()
    page.wait_for_url("**judgements=added**")
    expect(page.get_by_text("1 added judgement (1 assessor).")).to_be_visible()
    page.wait_for_url(lambda url: "query=q" in url and "document=d" in url)
