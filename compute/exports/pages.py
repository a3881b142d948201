"""Writes figures, tables and views of pages as files, without the dashboard."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from pandas import DataFrame

from compute.base.errors import Missing, WrongInput
from compute.base.words import near
from compute.exports import figures, page_archive, tables
from compute.exports.exported import exported
from compute.exports.formats import ONE, Paper
from compute.judgements import RULES, SOURCES, Choice
from compute.reading.inputs import Inputs, of_sample
from compute.store.store import Store
from compute.views.about import view_provenance
from compute.views.annotate import select_added
from compute.views.page import Figure, Found, Page, every, find
from compute.views.page.store_ask import StoreAsk, opened


def _late(module: str) -> Page:
    """Return a page that is imported when used, since few need graph or statistics libraries."""
    return lambda ask: import_module(f"compute.views.{module}").page(ask)


PAGES: Mapping[str, Page] = {
    name: _late(f"{name}.page" if name != "map" else "query.map_page")
    for name in (
        *("leaderboard", "dataset", "compare", "query", "map"),
        *("overlap", "lengths", "holes", "efficiency", "about"),
    )
}
"""The pages that are records, by the name in their address, in the order of the site."""
TITLES = {"about": "How numbers are computed"}
"""Titles of pages whose titles are not their names."""
_COUNTED = ("judgements", "rule", "sources")
"""Keys of the judgement picker, which is on every page."""
Given = Mapping[str, Sequence[str]]
"""The keys and values of an address."""


def page_of(name: str) -> Page:
    """Return the page with this name. Raises WrongInput for an unknown one."""
    if name not in PAGES:
        known = f"{near(name, PAGES)}known: {', '.join(sorted(PAGES))}"
        raise WrongInput(f"no page {name!r} to export; {known}")
    return PAGES[name]


@dataclass
class Asked:
    """A page at an address, read from a store."""

    ask: StoreAsk
    name: str
    given: Given
    rests_on: Inputs = field(default_factory=Inputs)
    """The inputs of all answers so far."""

    @property
    def chosen(self) -> dict[str, list[str]]:
        """Return the values of controls in the address."""
        return {key: list(values) for key, values in self.given.items() if key not in _COUNTED}

    @property
    def judgements(self) -> str:
        """Return the judgements that count, in words."""
        return "official + added" if self.ask.choice else "official"

    def note(self, _: Callable[..., DataFrame], found: Inputs) -> None:
        """Add the inputs of an answer to `rests_on`."""
        self.rests_on |= found

    def every(self) -> Iterator[Found]:
        """Yield the figures and tables of the page. Raises Missing or WrongInput for wrong
        choices."""
        for found in every(page_of(self.name), self.ask, **self.chosen):
            if isinstance(found.part, Figure) and found.part.sample:
                self.rests_on |= of_sample(*found.part.sample)
            yield found


@contextmanager
def asked(store: Store, name: str, given: Given) -> Iterator[Asked]:
    """Open a page at an address, in the newest version of a store."""
    named = [value for kept in given.values() for value in kept]
    choice = counting(given)
    with opened(store, named) as ask:
        of = "".join([*given.get("dataset", ())][-1:])
        usual = ["added"] if ask(select_added.usual, dataset=of)["counts"].iloc[0] else []
        counts = "added" in given.get("judgements", usual)
        found = Asked(ask, name, given)
        how: dict[str, Any] = {"choice": choice if counts else None, "added": choice}
        found.ask = replace(ask, heard=found.note, **how)
        yield found


def counting(given: Given) -> Choice:
    """Return the rule and sources of added judgements in an address; `sources=` means none."""
    rule = next((name for name in given.get("rule", ()) if name in RULES), Choice().rule)
    named = list(given.get("sources", ()))
    sources = tuple(name for name in named if name in SOURCES)
    return Choice(rule, sources if sources or named == [""] else Choice().sources)


def write(store: Store, name: str, key: str, given: Given, form: str, paper: Paper) -> bytes:
    """Return a figure or table of a page as a file of this format. Raises Missing if the page has
    no such part, and WrongInput for an invalid choice."""
    with asked(store, name, given) as view:
        shown = exported(name, find(page_of(name), view.ask, key, **view.chosen))
        if isinstance(shown, figures.Figure):
            if paper.width == ONE and not shown.narrow:
                raise WrongInput(f"{key} does not fit in one column: leave out --width {ONE}")
            return figures.write(shown, form, paper)
        return tables.write(shown, form)


def archive(store: Store, name: str, given: Given) -> bytes:
    """Return a page at an address as a zip of its figures, tables, data and provenance. Raises
    WrongInput for an invalid choice, and Missing for an empty page."""
    with asked(store, name, given) as view:
        found = list(view.every())
        if not found:
            raise Missing(f"the page {name} is empty for these choices")
        shown = [exported(name, one) for one in found]
        last = found[-1]
        kind = last.values.get("queries")
        where = page_archive.address(f"/{name}", last.values, given)
        record = view_provenance.record(
            store,
            view.rests_on,
            version=(view.ask.manifest, view.ask.judgement),
            choice=view.ask.choice,
            queries=last.titles["queries"][kind] if kind else "",
            address=where,
        )
        title = TITLES.get(name, name.capitalize())
        return page_archive.archive(page_archive.View(title, where, shown, record))
