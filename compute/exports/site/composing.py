"""Composes a view of a site: the parts of its page, a tool for other values, and provenance."""

from collections.abc import Mapping, Sequence
from typing import Any

from compute.exports.site import views
from compute.exports.site.asking import SiteAsk
from compute.exports.site.views import MADE, View
from compute.judgements import RULES
from compute.reading.inputs import Inputs, papers
from compute.views.about import tables, view_provenance
from compute.views.page import (
    Ask,
    Button,
    Choice,
    Code,
    Heading,
    Link,
    Page,
    Step,
    Steps,
    Table,
    Text,
    Widget,
    folded,
)

TOOLS = {"pairs": "Any two systems", "lists": "Any query"}
"""Headings of the tools that run in the reader's browser."""
MOST_SIDE_BY_SIDE = 4
"""Maximum number of published tables or datasets that are listed; more are collapsed."""


def view(site: SiteAsk, shown: View, page: Page, tools: Mapping[Any, Any], ask: Ask) -> Steps:
    """Yield the parts of a view. `tools` has data by the tool's name, dataset and, for some,
    measure."""
    site.behind.clear()
    yield from page(ask)
    tool = views.shown(shown.page).tool
    of = shown.values.get("dataset"), shown.values.get("measure")
    given = tools.get((tool, *of)) or tools.get((tool, *of[:1]))
    if given:
        yield Heading(TOOLS[tool])
        yield Widget(tool, given)
    if shown.page != MADE:
        yield from _made_of(site)


def _made_of(site: SiteAsk) -> Steps:
    """Yield judgements, published tables, and links to the provenance page of each dataset."""
    behind = Inputs()
    for one in site.behind:
        behind |= one
    if not (behind.runs or behind.sources or behind.datasets):
        return
    yield Heading("Provenance")
    cited = papers(site.store.parts("printed"))
    typed = [f"{one} ({cited.get(one, 'in print')})" for one in sorted(behind.sources)]
    yield from _few(
        [Text(f"Transcribed from {one}.") for one in typed], f"{len(typed)} published tables"
    )
    names = behind.datasets | {dataset for dataset, _ in behind.runs}
    rows = [row for row in site.datasets if names.intersection((row.name, *row.parts))]
    if rows:
        yield Text(f"Judgements: {judgements(site)}.")
        links = [Button(row.title, Link(MADE, {"dataset": row.name})) for row in rows]
        yield from _few(links, f"{len(rows)} datasets")


def _few(steps: Sequence[Step], title: str) -> Sequence[Step]:
    """Return the steps, collapsed into one if there are many."""
    return steps if len(steps) <= MOST_SIDE_BY_SIDE else [folded(steps, (), title)]


def judgements(site: SiteAsk) -> str:
    """Return the judgements that count, in words."""
    choice = site.choice
    if choice is None:
        return "official"
    several = RULES[choice.rule].text
    return f"official + added by {', '.join(choice.sources)}; of several for a pair {several}"


def made(site: SiteAsk, ask: Ask) -> Steps:
    """Yield the provenance page of a dataset's numbers, with the commands that reproduce them."""
    rows = {row.name: row for row in site.datasets}
    titles = {name: row.title for name, row in rows.items()}
    row = rows[(yield Choice("dataset", "Dataset", list(rows), titles=titles))]
    own = row.parts or (row.name,)
    stored = site.overlays.reading.parts
    runs = (of for kind, *of in stored if kind == "scores" and of[0] in own)
    record = recorded(
        site, Inputs(frozenset((one, system) for one, system in runs), frozenset(own))
    )
    yield Table("runs", f"Runs on {row.title}", tables.runs_table(record["runs"]))
    found = tables.collections_table(record["collections"])
    yield Table("collections", f"Source of {row.title}", found)
    yield Heading("Commands that reproduce it")
    yield Code(view_provenance.as_shell(record))
    known = [Code(view_provenance.as_json(record))]
    yield folded(known, (), "The full record, as JSON")


def recorded(site: SiteAsk, behind: Inputs) -> dict[str, Any]:
    """Return the inputs of numbers as JSON values."""
    version = site.manifest, site.judgement
    return view_provenance.record(site.store, behind, version=version, choice=site.choice)
