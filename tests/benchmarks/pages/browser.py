"""How long a browser takes until a page is whole: drawn, and nothing running or waiting."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tests.benchmarks.pages.addresses import Address
from tests.benchmarks.pages.sessions import PATIENCE, Server
from tests.support.browsers import FLAGS

QUIET = 600
"""Milliseconds that a page stays whole; it counts from their beginning."""

_WATCH = """
(() => {
  const busy = '[data-testid="stSkeleton"], [data-stale="true"], [data-testid="stSpinner"]';
  let since = null;
  const look = () => {
    const app = document.querySelector('[data-testid="stApp"]');
    const ran = app && app.getAttribute("data-test-script-state") === "notRunning";
    const drawn = document.querySelector('[data-testid="stMain"] h1');
    const plots = [...document.querySelectorAll(".js-plotly-plot")];
    const whole = ran && drawn && !document.querySelector(busy)
      && plots.every((plot) => plot.querySelector("svg.main-svg, canvas"));
    since = whole ? since ?? performance.now() : null;
    window.wholeSince = since;
  };
  setInterval(look, 20);
})()
"""
_IS_WHOLE = "wait => window.wholeSince !== null && performance.now() - window.wholeSince > wait"


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
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    try:
        window = context.new_page()
        window.add_init_script(_WATCH)
        window.goto(f"http://{server.host}/{path}?{query}", wait_until="commit")
        window.wait_for_function(_IS_WHOLE, arg=QUIET, timeout=1000 * PATIENCE, polling=50)
        return float(window.evaluate("window.wholeSince")) / 1000
    finally:
        context.close()
