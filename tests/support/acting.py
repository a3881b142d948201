"""What a test does on a page, once the page has settled: as a person, who looks before a click.

A click in the middle of a run of the page may meet what the run is about to move or to replace.
Wait first for what the last step was to bring, then for the page to settle: a run that has not
begun yet cannot be told from one that is over.
"""

import os
import shutil
from typing import Any

from playwright.sync_api import Page, expect

from pages._frame import menu

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu-rasterization",
    "--in-process-gpu",
    # Tabs of one address share a process: what one has compiled of Streamlit and Plotly, all have.
    "--process-per-site",
]
FIGURE = "[data-testid=stPlotlyChart]"
_SETTLED = """() => {
    const app = document.querySelector('[data-testid=stApp]');
    return app?.dataset.testScriptState === 'notRunning'
        && !app.querySelector('[data-stale=true], [data-testid=stSkeleton]');
}"""
_TRAVEL = """address => {
    const app = document.querySelector('[data-testid=stApp]');
    const go = () => window.dispatchEvent(new PopStateEvent('popstate', {state: null}));
    window.ranSince = false;
    const observer = new MutationObserver(() => {
        if (app.dataset.testScriptState === 'running') {
            window.ranSince = true;
            observer.disconnect();
            clearInterval(again);
        }
    });
    observer.observe(app, {attributes: true});
    // A run that another one had begun is told from its own by no change: then once more.
    const again = setInterval(() => app.dataset.testScriptState === 'running' || go(), 5000);
    history.pushState(null, '', address);
    go();
}"""
_MARK = """([figure, carried]) => {
    const plot = document.querySelector(`${figure} .js-plotly-plot`);
    if (!plot?._fullLayout) return null;
    const {left, top} = plot.getBoundingClientRect(), {xaxis, yaxis} = plot._fullLayout;
    for (const trace of plot._fullData) {
        const at = (trace.customdata || []).findIndex(
            one => one && carried.every((name, place) => one[place] === name));
        if (at < 0 || !['scatter', 'bar'].includes(trace.type)) continue;
        return [left + xaxis._offset + xaxis.d2p(trace.x[at]),
                top + yaxis._offset + yaxis.d2p(trace.y[at]) + (trace.y[at] ? 0 : 1)];
    }
    return null;
}"""


def chromium() -> str | None:
    """The browser to drive: `$BEIRSCOPE_CHROMIUM`, or one on the PATH."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = (shutil.which(name) for name in names)
    return os.environ.get("BEIRSCOPE_CHROMIUM") or next(filter(None, found), None)


def settled(page: Page) -> None:
    """Wait until the server has run the page and the browser shows all of it."""
    page.wait_for_function(_SETTLED)


def by_menu(page: Page, title: str, *, from_title: str = "") -> None:
    """Open the page of a title as the menu and the tabs lead to it: by one click from a page of
    the same door, or if the door opens it."""
    titles = {one.title: one for one in menu.PAGES.values()}
    wanted, before = titles[title], titles.get(from_title)
    same = before is not None and before.door == wanted.door
    if not same:
        # On a phone the menu is folded, and a name may stand in the page, too.
        page.get_by_test_id("stTopNavLink").get_by_text(wanted.door, exact=True).click()
    if wanted.tab and (same or not before):
        page.locator(".st-key-_tabs").get_by_role("link", name=wanted.tab, exact=True).click()


def go(page: Page, address: str) -> None:
    """Open an address, and wait until the page has settled."""
    page.goto(address)
    settled(page)


def travel(page: Page, address: str) -> None:
    """Change to another page's address as by Back and Forward, and wait until it has settled.

    The document stays: loading Streamlit and Plotly anew costs more than most pages do.
    """
    page.evaluate(_TRAVEL, address)
    page.wait_for_function("() => window.ranSince")
    settled(page)


def heading(page: Page, name: str) -> None:
    """Wait until the page of this title is shown and has settled."""
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    settled(page)


def click_at(page: Page, place: str, argument: Any = None) -> None:
    """Click where `place` says, once it says the same in two frames of a settled page.

    It is JavaScript, from the argument to [x, y] in the window, or null where nothing is yet.
    """
    settled(page)
    found = page.wait_for_function(
        f"""argument => {{
            const [now, before] = [({place})(argument), window.lastPlace];
            window.lastPlace = now;
            return now && before && now.join() === before.join() && now;
        }}""",
        arg=argument,
    )
    page.mouse.click(*found.json_value())


def click_mark(page: Page, *carried: str) -> None:
    """Click the mark or bar of the first figure whose own data begin with these names."""
    click_at(page, _MARK, [FIGURE, carried])
