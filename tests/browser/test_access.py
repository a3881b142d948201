"""What axe finds, what keys reach, and what a phone shows."""

import json
import re
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, ViewportSize, expect

from tests.support.acting import FIGURE, settled
from tests.support.pages import PAGES, TITLES

PHONE: ViewportSize = {"width": 390, "height": 844}
OF_STREAMLIT = {
    (
        "color-contrast",
        "stWidgetLabel",
    ): "the label of a picker that takes no choice now is faint, which WCAG allows",
}
"""Rule and Streamlit's own element, with the reason; none is in what we draw ourselves."""

# Each rule with the Streamlit element around what it finds; OURS where we made the HTML.
_FINDINGS = """() => axe.run(document, {resultTypes: ['violations']}).then(found =>
    found.violations.flatMap(rule => rule.nodes.map(node => {
        const at = document.querySelector(node.target[0]);
        const ours = at?.closest('[data-testid=stHtml], [data-testid^=stBidi], .js-plotly-plot');
        const around = at?.closest('[data-testid]:not([data-testid^=stMarkdown])'
            + ':not([data-testid^=stBaseButton]):not([data-testid^=stIcon])');
        const element = ours ? 'OURS' : around?.dataset.testid ?? '?';
        return [rule.id, element, node.html.slice(0, 200)];
    })))"""
_TRAVEL = """address => {
    history.pushState(null, '', address);
    window.dispatchEvent(new PopStateEvent('popstate', {state: null}));
}"""
_WIDER = """() => ['stMain', 'stApp'].map(name => document.querySelector(`[data-testid=${name}]`))
    .concat(document.documentElement).filter(one => one.scrollWidth > one.clientWidth)
    .map(one => one.outerHTML.slice(0, 100))"""


def _findings(page: Page) -> list[tuple[str, str, str]]:
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return [(rule, element, html) for rule, element, html in page.evaluate(_FINDINGS)]


def _walk(page: Page, dashboard: str) -> list[tuple[str, str, str]]:
    """Every page in one document, what axe finds on it; each has one h1, and none scrolls aside."""
    found = []
    for file in PAGES:
        name = Path(file).stem.removeprefix("leaderboard")
        page.evaluate(_TRAVEL, f"{dashboard}/{name}?dataset=tiny&numbers=Computed")
        expect(page.get_by_role("heading", level=1)).to_have_text(TITLES[file])
        settled(page)
        assert page.evaluate(_WIDER) == [], file
        found += _findings(page)
    return found


def _unknown(found: list[tuple[str, str, str]]) -> str:
    """What is not Streamlit's own, to read."""
    return json.dumps([one for one in found if one[:2] not in OF_STREAMLIT], indent=1)


@pytest.mark.long
def test_axe_finds_nothing_in_light_and_wide(page: Page, dashboard: str) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(f"{dashboard}/?dataset=tiny&numbers=Computed")
    settled(page)
    assert _unknown(_walk(page, dashboard)) == "[]"


@pytest.mark.long
def test_axe_finds_streamlits_own_alone_in_dark_on_a_phone(page: Page, dashboard: str) -> None:
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(PHONE)
    page.goto(f"{dashboard}/?dataset=tiny&numbers=Computed")
    settled(page)
    found = _walk(page, dashboard)
    assert _unknown(found) == "[]"
    assert {one[:2] for one in found} == set(OF_STREAMLIT)


@pytest.mark.long
def test_a_matrix_is_a_ranked_list_on_a_phone_and_a_figure_on_a_wide_screen(
    page: Page, dashboard: str
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{dashboard}/?numbers=Computed")
    lines = page.get_by_role("list", name="tiny").get_by_role("listitem")
    expect(lines.first).to_have_text(re.compile(r"^1\.BM25.*\.\d{3}$"))
    for line in lines.all():
        box = line.bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]
    settled(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.locator(FIGURE).first).to_contain_text("tiny")
    expect(lines).to_have_count(0)


@pytest.mark.long
def test_keys_open_the_numbers_of_a_figure_as_a_table(page: Page, dashboard: str) -> None:
    page.goto(f"{dashboard}/?numbers=Computed")
    expect(page.locator(FIGURE).first).to_contain_text("tiny")
    settled(page)
    page.get_by_test_id("stExpander").filter(has_text="Data table").first.locator("summary").focus()
    page.keyboard.press("Enter")
    table = page.get_by_role("region", name="nDCG@10 by system and dataset")
    expect(table).to_be_visible()
    settled(page)
    assert _unknown(_findings(page)) == "[]"
    reached = "one => one.contains(document.activeElement)"
    for _ in range(6):
        if table.evaluate(reached):
            break
        page.keyboard.press("Tab")
    assert table.evaluate(reached)


def test_the_menu_of_a_phone_has_a_label_and_closes_after_a_choice(
    page: Page, dashboard: str
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{dashboard}/data")
    settled(page)
    button = page.get_by_test_id("stExpandSidebarButton")
    label = "one => getComputedStyle(one, '::after').content"
    assert button.evaluate(label) == '"Menu"'
    button.click()
    page.get_by_test_id("stSidebarNavLink").get_by_text("Compare").click()
    expect(page.get_by_role("heading", name="Compare", exact=True)).to_be_visible()
    expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "true")
