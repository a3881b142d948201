"""After every way to a page a fresh browser shows at its address what stands there."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page

from compute.base.settings import Settings
from compute.intake import imports
from compute.judgements import PERSON
from compute.recompute.run import Bench
from compute.store.store import Store
from tests.support.acting import by_menu, click_mark, go, settled
from tests.support.filled import RUNS
from tests.support.pages import TITLES
from tests.support.processes.dashboards import port, serving
from tests.support.tiny import write_tiny

SHOWN = """() => {
    const texts = (of) => [...document.querySelectorAll(of)].map((one) => one.innerText.trim());
    const value = (one) => [one.getAttribute("aria-label") || one.name || "",
                            one.type === "checkbox" || one.type === "radio" ? one.checked
                                : one.value];
    const figures = [...document.querySelectorAll(".js-plotly-plot")].map((one) =>
        one.data.map((trace) => [trace.type, trace.x, trace.y, trace.z, trace.text, trace.name]));
    return JSON.stringify({
        address: window.location.href,
        headings: texts("h1, h2, h3"),
        chosen: [...document.querySelectorAll("[data-testid=stMain] input")].map(value),
        tags: texts("[data-testid=stMain] [data-baseweb=tag], [role=radio][aria-checked=true]"),
        figures,
    });
}"""
"""The address, headings, what pickers show, and the data of the figures."""
GIVEN = "dataset=second&measure=R%40100&judgements=added"


@pytest.fixture(scope="module")
def two(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A dashboard on a home with two imported collections, of which the second was judged."""
    folder = tmp_path_factory.mktemp("two")
    own = shutil.copytree(home, folder / "home")
    now = Settings(home=own, latency_queries=0)
    bench = Bench(Store(now), now)
    given = write_tiny(folder / "second")
    second = imports.import_dataset(bench, "second", path=given).dataset
    for system, lines in RUNS.items():
        file = folder / "some.run"
        file.write_text(lines, encoding="utf-8")
        imports.import_run(bench, file, second, system=system)
    row = {"dataset": "second", "query_id": "q3", "doc_id": "d6", "relevance": 1, "person": "ada"}
    about = {"task": "", "guideline_version": "", "source": PERSON}
    bench.store.add_judgements(pd.DataFrame([row | about]))
    with serving(own, port(8790)) as address:
        yield address


def _shown(page: Page, title: str) -> Any:
    only = "title => document.querySelector('h1')?.innerText.trim() === title"
    page.wait_for_function(only, arg=title)
    settled(page)
    # A figure is drawn some time after the run of its page.
    return page.wait_for_function(
        f"""() => {{
            const [now, before] = [({SHOWN})(), window.lastShown];
            window.lastShown = now;
            return now === before && now;
        }}""",
        polling=500,
    ).json_value()


def _same(page: Page, browser: Browser, way: str, title: str) -> Any:
    """What a page shows, with its address, at which a fresh browser shows the same."""
    here, address = _shown(page, title), page.url
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    try:
        fresh = context.new_page()
        go(fresh, address)
        assert _shown(fresh, title) == here, (way, address)
        return here
    finally:
        context.close()


@pytest.mark.long
@pytest.mark.parametrize("title", TITLES.values())
def test_the_address_after_every_way_to_a_page_opens_the_same_in_a_fresh_browser(
    page: Page, browser: Browser, two: str, title: str
) -> None:
    before = "Map" if title == "Query" else "Query"
    go(page, f"{two}/{before.lower()}?{GIVEN}")
    typed = _shown(page, before)
    entries = page.evaluate("history.length")
    by_menu(page, title)
    arrived = _same(page, browser, "menu", title)
    # A tab is reached by the first page of its door.
    steps = page.evaluate("history.length") - entries
    page.reload()
    assert _shown(page, title) == arrived
    page.evaluate("steps => history.go(-steps)", steps)
    assert _shown(page, before) == typed
    page.evaluate("steps => history.go(steps)", steps)
    assert _shown(page, title) == arrived


@pytest.mark.long
@pytest.mark.parametrize("title", ["Query", "Map"])
def test_a_typed_address_opens_the_same_in_a_fresh_browser(
    page: Page, browser: Browser, two: str, title: str
) -> None:
    go(page, f"{two}/{title.lower()}?{GIVEN}")
    _same(page, browser, "typed", title)


@pytest.mark.long
def test_the_address_after_links_and_clicks_opens_the_same_in_a_fresh_browser(
    page: Page, browser: Browser, two: str
) -> None:
    ways = (
        ("Dataset", "&show=Systems", "Reliability of the full ranking", "Leaderboard"),
        ("Dataset", "&show=Systems", "Ranked lists per query", "Query"),
        ("Query", "", "Open in the relevance map", "Map"),
        ("Query", "", "Next", "Query"),
        ("Map", "", "Ranked lists per query", "Query"),
        ("Compare", "", "Swap A and B", "Compare"),
    )
    for start, more, name, title in ways:
        go(page, f"{two}/{start.lower()}?{GIVEN}{more}")
        _shown(page, start)
        before = page.url
        page.get_by_role("button", name=name).first.click()
        page.wait_for_function("before => window.location.href !== before", arg=before)
        _same(page, browser, f"{name} on {start}", title)
    go(page, f"{two}/?numbers=Computed&view=Heatmap")
    _shown(page, "Leaderboard")
    click_mark(page, "second", "plain")
    _same(page, browser, "a click on a cell", "Dataset")


@pytest.mark.long
def test_a_page_that_the_menu_opened_names_the_dataset_that_it_shows(page: Page, two: str) -> None:
    go(page, f"{two}/compare?{GIVEN}")
    steps = page.evaluate("history.length")
    page.get_by_role("link", name="Holes", exact=True).first.click()
    page.wait_for_url("**/holes?**dataset=second**")
    settled(page)
    assert "judgements=added" in page.url
    assert page.evaluate("history.length") == steps + 1
    page.reload()
    settled(page)
    assert page.get_by_role("combobox", name="Dataset").first.input_value() == "second"
