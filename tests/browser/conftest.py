"""A real dashboard on a small home, and a real Chromium to look at it."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from compute.base.settings import Settings
from compute.intake import imports
from compute.recompute import run
from compute.store.store import Store
from compute.systems import system
from tests.support.acting import FLAGS, chromium
from tests.support.processes.dashboards import WAIT, port, serving
from tests.support.tiny import write_tiny

PLAIN = "--js-flags=--no-opt --no-maglev --min-semi-space-size=64 --max-semi-space-size=128"
"""No page of a test lives long enough to earn back what optimised code and a small heap cost."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser test that fails is tried once more, and the summary names it under RERUN.

    A busy machine draws a page in another order at times. One that is named often has found
    something: look for it, `-p no:rerunfailures` tries each once.
    """
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the tiny collection, whose documents are hostile, and two runs on it."""
    folder = tmp_path_factory.mktemp("home")
    now = Settings(home=folder, latency_queries=0)
    bench = run.Bench(Store(now), now)
    loaded = imports.import_dataset(
        bench, "tiny", path=write_tiny(tmp_path_factory.mktemp("beir") / "tiny")
    )
    for name in ("bm25", "bm25(b=0.9)"):
        run.run(bench, system(name), loaded.dataset)
    return folder


@pytest.fixture(scope="session")
def dashboard(home: Path) -> Iterator[str]:
    """The address of a running dashboard."""
    with serving(home, port(8700)) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a window; without one the browser tests skip, or fail where required."""
    executable = chromium()
    if executable is None:
        reason = "no Chromium on the PATH or in $BEIRSCOPE_CHROMIUM"
        if os.environ.get("BEIRSCOPE_REQUIRE_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    expect.set_options(timeout=WAIT)
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=executable, args=[*FLAGS, PLAIN])
        yield running
        running.close()


@pytest.fixture(scope="session")
def window(browser: Browser) -> BrowserContext:
    """One window for all, of 1440 by 900: what it has fetched and compiled stays in its cache.

    Its first tab stays open and keeps the process of the dashboards' pages alive. Nothing moves
    that people may ask to keep still: drawing a turning wheel takes as long as drawing the page.
    """
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(WAIT)
    first = context.new_page()
    first.route("**/*", lambda route: route.fulfill(body="", content_type="text/html"))
    first.goto("http://127.0.0.1/")
    return context


@pytest.fixture
def page(window: BrowserContext) -> Iterator[Page]:
    """An empty tab that remembers nothing; what the page throws fails the test."""
    opened = window.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("dialog", lambda dialog: errors.append(f"dialog: {dialog.message}"))
    yield opened
    for tab in window.pages[1:]:
        _forget(tab)
        tab.close()
    window.clear_cookies()
    assert errors == []


def _forget(tab: Page) -> None:
    """Let the browser forget what the pages of an address kept in it; its cache stays."""
    parts = urlsplit(tab.url)
    if parts.scheme == "http":
        kept = {"origin": f"http://{parts.netloc}", "storageTypes": "local_storage,indexeddb"}
        tab.context.new_cdp_session(tab).send("Storage.clearDataForOrigin", kept)
