"""How long a browser takes until a page is whole: drawn, and nothing running or waiting."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

from tests.benchmarks.pages.addresses import Address
from tests.benchmarks.pages.sessions import PATIENCE, Server
from tests.support.acting import FLAGS, by_menu
from tests.support.pages import TITLES

QUIET = 600
"""Milliseconds that a page stays whole; it counts from their beginning."""

_WATCH = """
(() => {
  const busy = '[data-testid="stSkeleton"], [data-stale="true"], [data-testid="stSpinner"]';
  let since = null;
  const look = () => {
    const app = document.querySelector('[data-testid="stApp"]');
    const ran = app && app.getAttribute("data-test-script-state") === "notRunning";
    const head = document.querySelector('[data-testid="stMain"] h1');
    const drawn = head && (!window.wanted || head.innerText.trim() === window.wanted);
    const plots = [...document.querySelectorAll(".js-plotly-plot")];
    const whole = ran && drawn && !document.querySelector(busy)
      && plots.every((plot) => plot.querySelector("svg.main-svg, canvas"));
    since = whole ? since ?? performance.now() : null;
    window.wholeSince = since;
  };
  setInterval(look, 20);
  addEventListener("click", () => { window.clicked = performance.now(); }, true);
})()
"""
# What it returns is what the page had when it had been whole for so long: it may go on later.
_IS_WHOLE = """
wait => window.wholeSince != null && performance.now() - window.wholeSince > wait
  && [window.wholeSince]
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A Chromium without a window."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("BEIRSCOPE_CHROMIUM") or next(filter(None, map(shutil.which, names)))
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


def seconds(browser: Browser, server: Server, address: Address) -> float:
    """From navigating to the address, in a fresh window, until the page is whole."""
    page, query = address
    path = "" if page == "leaderboard" else page
    with _window(browser) as window:
        window.goto(f"http://{server.host}/{path}?{query}", wait_until="commit")
        return _whole(window) / 1000


def clicks(browser: Browser, server: Server, times: int) -> Iterator[tuple[str, float]]:
    """Every page in turn, so often, by a click on its name in the menu or among the tabs, in one
    session: its title, and seconds from the click until it is whole."""
    titles = list(TITLES.values())
    with _window(browser) as window:
        window.goto(f"http://{server.host}/", wait_until="commit")
        _whole(window)
        for _ in range(times):
            for before, title in zip(titles, [*titles[1:], titles[0]], strict=True):
                window.evaluate("title => { window.wanted = title; }", title)
                by_menu(window, title, from_title=before)
                whole = _whole(window)
                yield title, (whole - window.evaluate("window.clicked")) / 1000


@contextmanager
def _window(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    try:
        window = context.new_page()
        window.add_init_script(_WATCH)
        yield window
    finally:
        context.close()


def _whole(window: Page) -> float:
    """Since when the page is whole, in milliseconds of its own clock."""
    limit = 1000 * PATIENCE
    found = window.wait_for_function(_IS_WHOLE, arg=QUIET, timeout=limit, polling=50)
    return float(found.json_value()[0])
