"""Every view of a site has what its page has for the same values, and links that lead somewhere."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from compute.base.settings import Settings
from compute.exports import tables
from compute.exports.pages import PAGES
from compute.exports.site import Wanted, write
from compute.exports.site.asking import SiteAsk, opened
from compute.exports.site.views import View, Views
from compute.store.store import Store
from compute.views.page import Figure, Heading, Message, Note, Part, Table, parts
from tests.support import hostile

ACTING = ("script", "iframe", "img", "object", "form")


class Read(HTMLParser):
    """What a browser reads of a page: tags, texts by their tag, and what it would act on."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ways: list[str] = []
        self.places: set[str] = set()
        self.figures: list[str] = []
        self.acting: list[str] = []
        self.said: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ways += [given[name] for name in ("href", "src") if name in given]
        self.places |= {given[name] for name in ("id",) if name in given}
        if tag == "figure":
            self.figures.append(given["aria-label"])
        if tag in ACTING and given.get("type") != "application/json":
            self.acting.append(f"{tag} {given}")
        self.acting += [f"{tag} {name}" for name in given if name.startswith("on")]
        self._open += [tag] * (tag not in ("meta", "link", "br", "hr"))
        self.said.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        for tag in {*self._open}:
            self.said[tag][-1] += data


@contextmanager
def asked(store: Store, wanted: Wanted) -> Iterator[tuple[SiteAsk, list[View]]]:
    """What the pages of a site ask, and its views."""
    with opened(store, wanted) as ask:
        pages = dict(PAGES)
        yield ask, Views(ask, pages, ask.is_wanted).every


def _words(part: Part) -> tuple[str, list[str]]:
    """The tag and the texts that a part is drawn with."""
    match part:
        case Heading():
            return "h2", [part.text]
        case Message():
            return "p", [part.text]
        case Note():
            return "details" if part.behind() else "p", [part.shown, part.narrow().behind()]
        case Table():
            columns = [one for one in part.columns if not one.in_files]
            if any(isinstance(one.format, str) and one.format for one in columns):
                return "table", [part.title]  # Numbers have fewer digits than in print.
            heads, rows, _ = tables.shown(replace(part, columns=columns))
            labels = {one.head: one.label for one in part.listed if one.label} if columns else {}
            heads = [labels.get(one, one) for one in heads]
            return "table", [part.title, *heads, *(cell for row in rows[:20] for cell in row)]
    return "", []


def _check(site: Path, store: Store, wanted: Wanted) -> None:
    with asked(store, wanted) as (ask, views):
        assert {view.page for view in views} == PAGES.keys()
        for view in views:
            page = Read((site / view.path).read_text("utf-8"))
            found = parts(PAGES[view.page], ask, **view.values)
            assert page.figures == [one.title for one in found if isinstance(one, Figure)], view
            for part in found:
                tag, words = _words(part)
                texts = page.said.get(tag, [])
                assert not words or any(all(one in text for one in words) for text in texts), words


def _links(site: Path) -> None:
    read = {file: Read(file.read_text("utf-8")) for file in site.rglob("*.html")}
    for file, page in read.items():
        for way in page.ways:
            path, place = urldefrag(way)
            target = (file.parent / unquote(path)).resolve() if path else file
            assert target.is_relative_to(site) and target.is_file(), (file, way)
            assert (
                not place
                or "=" in place
                or target.suffix != ".html"
                or place in read[target].places
            ), way


@pytest.mark.long
@pytest.mark.usefixtures("shipped_results")
def test_every_view_has_the_parts_of_its_page(tmp_path: Path) -> None:
    store = Store(Settings(home=tmp_path / "home", threads=1))
    wanted = Wanted(datasets=("scifact",), measures=("nDCG@10",))
    write(store, tmp_path / "site", wanted)
    _check(tmp_path / "site", store, wanted)
    _links((tmp_path / "site").resolve())
    assert (tmp_path / "site" / "efficiency" / "scifact.html").is_file()
    assert not (tmp_path / "site" / "efficiency" / "nfcorpus.html").exists()


@pytest.mark.long
def test_no_text_of_a_hostile_home_is_markup(tmp_path: Path) -> None:
    store = Store(hostile.make(tmp_path))
    wanted = Wanted(title=hostile.TITLE, by=hostile.PERSON_NAME, measures=("nDCG@10",))
    write(store, tmp_path / "site", wanted)
    _check(tmp_path / "site", store, wanted)
    _links((tmp_path / "site").resolve())
    for file in (tmp_path / "site").rglob("*.html"):
        page = Read(file.read_text("utf-8"))
        own = {"script {'src': '", "script {'type'"}
        assert [one for one in page.acting if not one.startswith(tuple(own))] == []
        for text in page.said.get("script", []):
            assert not text or json.loads(text)
    written = "".join(one.read_text("utf-8") for one in (tmp_path / "site").rglob("*.html"))
    assert hostile.MARK not in written
