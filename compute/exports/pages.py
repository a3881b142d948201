"""Figures and tables of pages as files: no browser, no server, no second composition."""

from collections.abc import Mapping, Sequence

from compute.exports import figures, file_names, tables
from compute.exports.formats import Paper
from compute.exports.page_archive import Shown
from compute.judgements import Choice
from compute.store import run_versions
from compute.store.store import Store
from compute.views.about.page import page as about
from compute.views.efficiency.page import page as efficiency
from compute.views.lengths.page import page as lengths
from compute.views.overlap.page import page as overlap
from compute.views.page import Figure, Found, Page, find
from compute.views.page.store_ask import opened
from compute.views.shared.theme import Legend

PAGES: Mapping[str, Page] = {
    "about": about,
    "efficiency": efficiency,
    "lengths": lengths,
    "overlap": overlap,
}
"""Pages that are records, by the name in their address."""
_COUNTED = ("judgements", "rule", "sources")
"""Keys of the switch of judgements, which every page has."""


def write(
    store: Store, name: str, key: str, given: Mapping[str, Sequence[str]], form: str, paper: Paper
) -> bytes:
    """A figure or table of a page as a file of this format. Raises WrongInput, Missing."""
    chosen = {one: list(values) for one, values in given.items() if one not in _COUNTED}
    added = "judgements" in given
    values = [value for values in chosen.values() for value in values]
    named = run_versions.named(run_versions.stored(store), values)
    with opened(store, named, Choice() if added else None) as ask:
        found = find(PAGES[name], ask, key, **chosen)
        shown = exported(name, found)
        if isinstance(shown, figures.Figure):
            return figures.write(shown, form, paper)
        return tables.write(shown, form)


def exported(page: str, found: Found) -> Shown:
    """The part as files have it: with its name, and the words that its heading needs."""
    part = found.part
    if isinstance(part, Figure):
        name = file_names.of_figure(page, part.key, found.values)
        of = file_names.heading(part.key, found.values, found.titles)
        return figures.Figure(
            part.key, part.title, part.drawn(theme="light"), name, of, legend(part.legend)
        )
    rows = part.rows if part.file is None else part.file
    return tables.Table(part.key, part.title, rows, part.scores or tables.Scores(()), part.printed)


def legend(told: Legend | str | None) -> Legend | None:
    """A legend; a sentence is one entry of it."""
    return (lambda theme: [("", "", told)]) if isinstance(told, str) else told
