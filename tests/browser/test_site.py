"""The static site, opened from the disk: it draws, keeps its choices in the address, acts on none
of its texts, and asks for nothing but its own files."""

import json
import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, ViewportSize, expect

from compute.exports.site import Wanted, write
from compute.store.store import Store
from tests.support import hostile

PHONE: ViewportSize = {"width": 390, "height": 844}
PAGES = ("index", "dataset", "compare", "query")
_DRAWN = "() => document.body.dataset.drawn !== undefined"
_FINDINGS = """() => axe.run(document, {resultTypes: ['violations'], preload: false}).then(found =>
    found.violations.flatMap(rule => rule.nodes.map(node => [rule.id, node.html.slice(0, 200)])))"""
_WIDER = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
_ACTING = """() => [...document.querySelectorAll('main script, main iframe, main img[src*="http"]')]
    .concat([...document.querySelectorAll('a, [src]')].filter(one =>
        /^\\s*[a-z]+:|^\\W*[/]{2}/i.test(one.getAttribute('href') ?? one.getAttribute('src'))))
    .concat([...document.querySelectorAll('*')].filter(one =>
        [...one.attributes].some(each => each.name.startsWith('on'))))
    .map(one => one.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a site of the hostile collection, with its texts."""
    folder = tmp_path_factory.mktemp("site")
    now = hostile.make(folder)
    wanted = Wanted(
        title=hostile.TITLE,
        by=hostile.PERSON_NAME,
        datasets=("hostile",),
        measures=("nDCG@10", "RR@10"),
        texts=True,
    )
    write(Store(now), folder / "site", wanted)
    return (folder / "site").as_uri()


@pytest.fixture
def watched(page: Page, site: str) -> Iterator[Page]:
    """A tab in which an error on the console, or a request for anything else, fails the test."""
    found: list[str] = []
    page.on("console", lambda said: found.append(said.text) if said.type == "error" else None)
    allowed = (site, "data:", "blob:")
    page.on("request", lambda one: None if one.url.startswith(allowed) else found.append(one.url))
    yield page
    assert found == []


def _open(page: Page, address: str) -> None:
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_function(_DRAWN)


@pytest.mark.long
@pytest.mark.parametrize(("scheme", "size"), [("light", None), ("dark", PHONE)])
def test_pages_draw_and_axe_finds_nothing(
    watched: Page, site: str, scheme: str, size: ViewportSize | None
) -> None:
    watched.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    if size:
        watched.set_viewport_size(size)
    shown = ""
    for name in PAGES:
        _open(watched, f"{site}/{name}.html")
        watched.evaluate(AXE_SCRIPT)
        assert json.dumps(watched.evaluate(_FINDINGS), indent=1) == "[]", name
        assert not watched.evaluate(_WIDER), name
        assert watched.evaluate(_ACTING) == []
        assert watched.evaluate("() => window.acted") is None
        if name == "compare" or (name != "query" and not size):
            expect(watched.locator(".figure .main-svg").first).to_be_attached()
        shown += watched.locator("body").inner_text()
    for words in (hostile.TITLE, hostile.SYSTEMS[0], hostile.IDS[0]):
        assert " ".join(words.split()) in " ".join(shown.split())
    watched.set_viewport_size({"width": 1440, "height": 900})


def test_a_choice_is_in_the_address_and_a_link_shows_it(watched: Page, site: str) -> None:
    _open(watched, f"{site}/dataset.html")
    watched.get_by_label("Measure").focus()
    watched.get_by_label("Measure").select_option("RR@10")
    expect(watched.get_by_role("heading", name=re.compile("RR@10 of systems"))).to_be_visible()
    chosen = watched.url
    assert chosen.endswith("#measure=RR%4010")
    expect(watched.get_by_label("Measure")).to_be_focused()
    watched.get_by_role("row").nth(1).get_by_role("link").click()
    watched.wait_for_url("**/compare.html#**")
    watched.wait_for_function(_DRAWN)
    expect(watched.get_by_label("Measure")).to_have_value("RR@10")
    watched.locator("tbody").get_by_role("link").first.click()
    watched.wait_for_url("**/query.html#**")
    expect(watched.get_by_role("heading", level=3)).to_have_count(2)
    watched.go_back()
    watched.go_back()
    assert watched.url == chosen
    expect(watched.get_by_label("Measure")).to_have_value("RR@10")


def test_two_systems_turned_round_have_turned_signs(watched: Page, site: str) -> None:
    said = []
    for a, b in (hostile.SYSTEMS, hostile.SYSTEMS[::-1]):
        _open(watched, f"{site}/compare.html#{urlencode({'a': a, 'b': b})}")
        told = watched.locator("p", has_text="95% interval").inner_text()
        assert told.startswith(f"{a} − {b}: ")
        gap, low, high = re.findall(r"([+−]?\.\d{4})", told)[:3]
        said.append((gap, low, high))
    (gap, low, high), turned = said
    signs = str.maketrans("+−", "−+")
    assert turned == (gap.translate(signs), high.translate(signs), low.translate(signs))


def test_keys_open_how_the_numbers_were_made(watched: Page, site: str) -> None:
    _open(watched, f"{site}/dataset.html")
    watched.keyboard.press("Tab")
    watched.keyboard.press("Enter")
    expect(watched.locator("main")).to_be_focused()
    watched.locator("summary", has_text="hostile").focus()
    watched.keyboard.press("Enter")
    expect(watched.locator("pre").first).to_contain_text("python -m compute import-run")
    watched.evaluate(AXE_SCRIPT)
    assert json.dumps(watched.evaluate(_FINDINGS), indent=1) == "[]"


def test_a_choice_that_is_not_there_is_said(watched: Page, site: str) -> None:
    _open(watched, f"{site}/query.html#dataset=nope&a=constructor&measure=RR%4010")
    said = watched.locator("p.said").all_inner_texts()
    assert said[0] == "Dataset: nope is not on this page; hostile is shown instead."
    assert said[1].startswith("List 1: constructor is not on this page; ")
    assert not any("Measure" in words or "no choice" in words for words in said)
    expect(watched.get_by_role("heading", level=3)).to_have_count(2)
    _open(watched, f"{site}/dataset.html#messure=RR%4010&measure=RR%4010")
    told = watched.locator("p.said").all_inner_texts()
    assert told[0].startswith("This page has no choice called messure: ")


def test_a_long_table_is_printed_whole(watched: Page, site: str) -> None:
    _open(watched, f"{site}/compare.html")
    watched.emulate_media(media="print")
    table = watched.locator(".tall").first
    assert table.evaluate("one => getComputedStyle(one).maxHeight") == "none"
    expect(watched.get_by_label("Dataset")).to_be_visible()
    watched.emulate_media(media="screen")
