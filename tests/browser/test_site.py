"""The static site, opened from the disk: it draws, keeps its choices in the address, acts on none
of its texts, and asks for nothing but its own files."""

import json
import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlencode

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, ViewportSize, expect

from compute.exports.site import Wanted, write
from compute.store.store import Store
from tests.support import hostile

pytestmark = pytest.mark.long
PHONE: ViewportSize = {"width": 390, "height": 844}
PAGES = (
    *("index", "dataset/hostile/ndcg10/systems", "compare/hostile/ndcg10", "query/hostile"),
    *("map/hostile", "overlap/heatmap/published", "about", "made/hostile"),
)
_DRAWN = "() => document.body.dataset.drawn !== undefined"
_SHOWN = "() => document.body.dataset.shown !== undefined"
_FINDINGS = """() => axe.run(document, {resultTypes: ['violations'], preload: false}).then(found =>
    found.violations.flatMap(rule => rule.nodes.map(node => [rule.id, node.html.slice(0, 200)])))"""
_WIDER = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
_ACTING = """() => [...document.querySelectorAll(
        'main script:not([type]), main iframe, main img[src*="http"]')]
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
        if name in PAGES[:3] and not size:
            expect(watched.locator(".figure .main-svg").first).to_be_attached()
        shown += watched.locator("body").inner_text()
    for words in (hostile.TITLE, hostile.SYSTEMS[0], hostile.IDS[0]):
        assert " ".join(words.split()) in " ".join(shown.split())
    watched.set_viewport_size({"width": 1440, "height": 900})


def test_a_choice_is_in_the_address_and_a_link_shows_it(watched: Page, site: str) -> None:
    _open(watched, f"{site}/dataset/hostile/ndcg10/systems.html")
    watched.get_by_role("navigation", name="Measure").get_by_role("link", name="RR@10").click()
    watched.wait_for_url("**/dataset/hostile/rr10/systems.html")
    watched.get_by_role("link", name="Compare", exact=True).click()
    watched.wait_for_url("**/compare/hostile/ndcg10.html")
    watched.locator("[data-tool]").evaluate("one => one.scrollIntoView()")
    watched.locator('select[name="a"]').focus()
    watched.locator('select[name="b"]').select_option(hostile.SYSTEMS[0])
    expect(watched.locator('select[name="b"]')).to_have_value(hostile.SYSTEMS[0])
    assert parse_qs(watched.url.partition("#")[2]) == {"b": [hostile.SYSTEMS[0]]}
    watched.locator('select[name="a"]').select_option(hostile.SYSTEMS[1])
    chosen = watched.locator("p", has_text="95% interval")
    expect(chosen).to_contain_text(f"{hostile.SYSTEMS[1]} − {hostile.SYSTEMS[0]}: ")
    watched.locator("[data-tool] tbody").get_by_role("link").first.click()
    watched.wait_for_url("**/query/hostile.html#**")
    expect(watched.locator("[data-tool] .lists h3")).to_have_text(list(hostile.SYSTEMS[::-1]))
    watched.go_back()
    expect(chosen).to_contain_text(f"{hostile.SYSTEMS[1]} − {hostile.SYSTEMS[0]}: ")


def test_two_systems_turned_round_have_turned_signs(watched: Page, site: str) -> None:
    said = []
    for a, b in (hostile.SYSTEMS, hostile.SYSTEMS[::-1]):
        _open(watched, f"{site}/compare/hostile/ndcg10.html#{urlencode({'a': a, 'b': b})}")
        watched.wait_for_function(_SHOWN)
        told = watched.locator("p", has_text="95% interval").inner_text()
        assert told.startswith(f"{a} − {b}: ")
        gap, low, high = re.findall(r"([+−]?\.\d{4})", told)[:3]
        said.append((gap, low, high))
    (gap, low, high), turned = said
    signs = str.maketrans("+−", "−+")
    assert turned == (gap.translate(signs), high.translate(signs), low.translate(signs))


def test_keys_open_how_the_numbers_were_made(watched: Page, site: str) -> None:
    _open(watched, f"{site}/dataset/hostile/ndcg10/systems.html")
    watched.keyboard.press("Tab")
    watched.keyboard.press("Enter")
    expect(watched.locator("main")).to_be_focused()
    watched.locator('main a[href$="made/hostile.html"]').focus()
    watched.keyboard.press("Enter")
    watched.wait_for_url("**/made/hostile.html")
    expect(watched.locator("pre").first).to_contain_text("python -m compute import-run")


def test_a_choice_that_is_not_there_is_said(watched: Page, site: str) -> None:
    _open(watched, f"{site}/query/hostile.html#query=nope&a=constructor&measure=RR%4010&messure=1")
    watched.wait_for_function(_SHOWN)
    said = watched.locator("[data-tool] p.said").all_inner_texts()
    assert said[0].startswith("List 1: constructor is not on this page; ")
    assert said[1].startswith("This page has no choice called messure: ")
    assert said[2].startswith("No list here has a query called nope: ")
    expect(watched.locator("[data-tool] .lists h3")).to_have_count(2)


def test_a_long_table_is_printed_whole(watched: Page, site: str) -> None:
    _open(watched, f"{site}/compare/hostile/ndcg10.html#a=")
    watched.wait_for_function(_SHOWN)
    watched.emulate_media(media="print")
    table = watched.locator(".tall").first
    assert table.evaluate("one => getComputedStyle(one).maxHeight") == "none"
    watched.emulate_media(media="screen")
