"""Text from outside shows as text on every page: nothing acts, nothing is asked for elsewhere."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Page, Request, expect

from tests.support import hostile
from tests.support.acting import settled, travel
from tests.support.pages import PAGES
from tests.support.processes.dashboards import port, serving

A, B = hostile.SYSTEMS
CHOSEN = {
    "dataset": "hostile",
    "measure": "nDCG@10",
    "numbers": "Computed",
    "judgements": "added",
    "a": A,
    "b": B,
    "query": hostile.IDS[0],
    "document": hostile.IDS[0],
}
ACTING = """() => [...document.querySelectorAll(
    'main script, main iframe, main object, main embed, main form[action], main base')]
    .concat([...document.querySelectorAll('a, area, image, img, use, link[href], form')].filter(e =>
        ['href', 'src', 'xlink:href', 'action'].some(n => /attacker|^\\s*javascript/i.test(
            e.getAttribute(n) || ''))))
    .concat([...document.querySelectorAll('*')].filter(e =>
        [...e.attributes].some(a => a.name.startsWith('on'))))
    .map(e => e.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    now = hostile.make(tmp_path_factory.mktemp("hostile"))
    with serving(now.home, port(8760)) as address:
        yield address


@pytest.fixture
def watched(page: Page) -> Iterator[Page]:
    """A window in which every request to elsewhere fails the test.

    They are noted, not stopped: who stops requests has no cache, and reads Streamlit each time.
    """
    elsewhere: list[str] = []

    def look(request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "data:", "blob:")):
            elsewhere.append(request.url)

    page.on("request", look)
    yield page
    assert elsewhere == []


def _drawn(page: Page) -> None:
    expect(page.locator("h1").first).to_be_visible()
    settled(page)


def _faults(page: Page) -> list[str]:
    """What acts on the page, or went wrong on it."""
    words = page.locator("main").inner_text()
    signs = ("Traceback", "in Beirscope, not in your input")
    acted = ["it acted"] * page.evaluate("() => window.acted !== undefined")
    return [*page.evaluate(ACTING), *acted, *(sign for sign in signs if sign in words)]


def _task(page: Page, address: str) -> str:
    page.goto(f"{address}/annotate")
    _drawn(page)
    page.get_by_role("button", name="Details").click()
    page.wait_for_url("**about=**")
    return page.url.rpartition("about=")[2]


@pytest.mark.long
def test_every_page_shows_what_is_hostile_as_text(watched: Page, attacked: str) -> None:
    page = watched
    chosen = urlencode(CHOSEN)
    task = _task(page, attacked)
    addresses = [f"{Path(file).stem}?{chosen}" for file in PAGES] + [
        f"dataset?{chosen}&show=Judgements",
        f"annotate?task={task}",
        f"data?dataset=hostile&system={quote(A)}",
        f"annotate?about={task}",
        f"query?dataset={quote(hostile.TEXT[:300])}&systems={quote(hostile.TITLE)}",
    ]
    shown, faults = "", {}
    for view in addresses:
        travel(page, f"{attacked}/{view.removeprefix('leaderboard')}")
        expect(page.locator("h1").first).to_be_visible()
        if found := _faults(page):
            faults[view] = found
        shown += page.locator("main").inner_text()
    assert faults == {}
    # It is there, letter by letter.
    for words in ("<script>window.acted=1</script>", "[link](javascript:window.acted=1)", A, "../"):
        assert words in shown
    page.goto(f"{attacked}/annotate?task={task}")
    _drawn(page)
    page.get_by_label("Your name").fill(hostile.PERSON_NAME)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text(hostile.MARK).first).to_be_visible()
    settled(page)
    assert _faults(page) == []
