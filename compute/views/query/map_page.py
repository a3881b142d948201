"""The Map page: all queries of a run at once, with ranks as columns, coloured by relevance."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from pandas import DataFrame

from compute.datasets import Dataset
from compute.views.page import (
    Ask,
    Asked,
    Button,
    Choice,
    Figure,
    Legends,
    Link,
    Message,
    Note,
    Passage,
    Remember,
    Row,
    Step,
    Steps,
    Text,
    Widget,
    Window,
    offers,
)
from compute.views.query import rank_map, rank_map_cells, select, select_map, words
from compute.views.query.rank_map import ORDERS
from compute.views.shared import catalogue, next_steps
from compute.views.shared.theme import Legend

_OF = ("dataset", "system", "other", "order", "ranks")
NOTHING = "–"
"""Option of the picker for no second system."""
ROWS = 24
"""Queries that are listed at a time."""
FEW = 60
"""Up to this many queries, all are listed, without an overview."""


class View(NamedTuple):
    """The maps of one system or two, with their queries in the same order."""

    ask: Ask
    dataset: Dataset
    systems: list[tuple[str, str]]
    """Name and title of each system."""
    measure: str
    panels: list[rank_map.Panel]
    query_ids: list[str]
    """Ids of the queries, in the order shown."""
    rows: slice
    """The listed rows."""
    query: str
    document: str
    """The query and the document of the address; empty if it has none."""

    @property
    def depth(self) -> int:
        """Number of ranks shown."""
        return self.panels[0].cells.shape[1]

    def listed(self) -> list[str]:
        """Return the ids of the listed queries."""
        return self.query_ids[self.rows]

    def hits(self, query_id: str, system: str) -> DataFrame:
        """Return a system's list for a query, from `select.listed`."""
        of: dict[str, Any] = {"dataset": self.dataset.name, "query_id": query_id}
        return self.ask(select.listed, systems=[system], depth=self.depth, **of)


def page(ask: Ask) -> Steps:
    """Yield the page's controls and parts in screen order."""
    runs = ask(catalogue.runs)
    if runs.empty:
        yield Message(offers.NO_LISTS)
        return
    dataset, systems, measure, order, ranks = yield Row(partial(_controls, ask, runs))
    yield Remember(systems)
    yield Widget("texts", {"dataset": dataset})
    yield from offers.first_runs(ask, [dataset.name], systems)
    view = yield from _view(ask, dataset, systems, measure, order, ranks)
    legend = partial(rank_map.legend, rank_map.grades(view.panels))
    few = view.rows == slice(0, len(view.query_ids))
    # A narrow screen shows a few lists without the map.
    yield Legends(legend, of_matrix=few)
    if not few:
        yield from _all_queries(view, legend)
    yield from _some_queries(view, legend)
    names = [name for name, _ in view.systems]
    at = {"dataset": dataset.name, "systems": ",".join(names), "measure": measure}
    yield Button("Ranked lists per query", Link("query", at))
    if view.query in view.query_ids and view.document:
        shown = at | {"query": view.query, "document": view.document}
        window = partial(_document, view, Link("query", shown))
        yield Window("A document at its rank", window, closes="document")


def _controls(ask: Ask, runs: DataFrame) -> Steps:
    name = yield offers.dataset_with_lists(ask, runs)
    known = runs.loc[runs["dataset"] == name, "system"].tolist()
    first, second = offers.usual_pair(ask, known, name)
    look: dict[str, Any] = {"noun": f"run on {name}", "titles": offers.system_titles(ask)}
    system = yield Choice("system", "System", known, first, recalls=known, **look)
    others = [*known, NOTHING]
    other = yield Choice("other", "Compare with", others, second, recalls=known, **look)
    measure = yield offers.measure(ask)
    order = yield Choice("order", "Sort by", list(ORDERS), width=180)
    ranks = yield Choice("ranks", "Depth (k)", words.RANKS, "50", width=100)
    systems = [system, other] if other in known else [system]
    return offers.record(ask, name), systems, measure, ORDERS[order], int(ranks)


def _view(
    ask: Ask, dataset: Dataset, systems: list[str], measure: str, order: str, ranks: int
) -> Steps:
    """Read the maps, sort their rows, and return the `View`."""
    titled = words.titled(systems, ask(catalogue.systems))
    system, other = (*(name for name, _ in titled), "")[:2]
    of: dict[str, Any] = {"dataset": dataset.name}
    cells = [ask(select_map.cells, system=name, depth=ranks, **of) for name, _ in titled]
    values = ask(select_map.values, measure=measure, system=system, other=other, **of)
    places = rank_map_cells.order(cells[0], values, order)
    panels = [
        rank_map.panel(title, frame, values[column], measure, places)
        for (_, title), frame, column in zip(titled, cells, ("value", "other"), strict=False)
    ]
    query_ids = values["query_id"].to_numpy()[places].tolist()
    start, query = (yield Asked("from")), (yield Asked("query"))
    first = int(start) - 1 if start.isdecimal() else 0
    # If the address has no position, the list begins some rows above its query.
    if not start.isdecimal() and query in query_ids:
        first = query_ids.index(query) - ROWS // 2
    size = len(query_ids) if len(query_ids) <= FEW else ROWS
    rows = rank_map_cells.window(len(query_ids), first, size)
    document = yield Asked("document")
    return View(ask, dataset, titled, measure, panels, query_ids, rows, query, document)


def _to(row: int) -> dict[str, str]:
    """Return the address key for the first listed row (0-based)."""
    return {"from": str(max(row, 0) + 1)}


def _all_queries(view: View, legend: Legend) -> Steps:
    """Yield an overview of all queries; a click lists the queries around it."""
    drawn = partial(rank_map.overview, view.panels, view.query_ids, view.rows)
    title = f"Relevance by rank, all queries of {view.dataset.title}"
    yield Figure(
        "all", title, drawn, legend, opens=lambda row: Link(names=_to(row - ROWS // 2)), of=_OF
    )
    yield Note(
        [
            f"Rows: {len(view.query_ids):,} queries (sorted as chosen); columns: ranks"
            f" 1–{view.depth}. Click to zoom; the orange lines mark the queries listed below."
        ]
    )


def _some_queries(view: View, legend: Legend) -> Steps:
    """Yield a list of queries; a click on a cell opens its document."""
    if len(view.listed()) < len(view.query_ids):
        yield Row(_steps(view), aligned="center")
    texts = view.ask(catalogue.asked, dataset=view.dataset.name, query_ids=view.listed())
    names = rank_map.names(view.listed(), texts)
    panels = [rank_map.part(panel, view.rows) for panel in view.panels]
    drawn = partial(rank_map.window, panels, names, chosen=_chosen(view))
    yield Figure(
        "map",
        "Relevance by rank, query by query",
        drawn,
        legend,
        opens=partial(_cell, view),
        of=(*_OF, "measure"),
    )
    yield Note(
        [f"Unjudged: share of the {view.depth} ranks shown."],
        of_matrix=(
            "In a good ranking, relevant documents are on the left. The numbers on the right are"
            f" {view.measure}. Blank cells: fewer results returned. Click a cell to read its"
            " document."
        ),
    )


def _steps(view: View) -> list[Step]:
    first, last, n = view.rows.start, view.rows.stop, len(view.query_ids)
    earlier, later = Link(names=_to(first - ROWS)), Link(names=_to(last))
    up, down = "keyboard_arrow_up", "keyboard_arrow_down"
    return [
        Button("Previous", earlier, icon=up, shortcut="P", disabled=first == 0),
        Button("Next", later, icon=down, shortcut="N", disabled=last == n),
        Text(f"Queries {first + 1:,} to {last:,} of {n:,}", width="content"),
    ]


def _cell(view: View, packed: int) -> Link:
    """Return a link to the document of a cell."""
    place, row, rank = rank_map.unpack(packed)
    query_id = view.listed()[row]
    hits = view.hits(query_id, view.systems[place][0])
    there = hits.loc[hits["rank"] == rank, "doc_id"]
    names = _to(view.rows.start) | {"query": query_id}
    return Link(names=names | ({"document": there.iloc[0]} if len(there) else {}))


def _chosen(view: View) -> list[tuple[int, int, int]]:
    """Return panel, row and rank of the cells with the address's document."""
    if view.query not in view.listed() or not view.document:
        return []
    row = view.listed().index(view.query)
    found = [view.hits(view.query, name) for name, _ in view.systems]
    return [
        (place, row, int(rank))
        for place, hits in enumerate(found)
        for rank in hits.loc[hits["doc_id"] == view.document, "rank"]
    ]


def _document(view: View, lists: Link) -> Steps:
    """Yield the address's document, its ranks, and a link to its query's lists."""
    ask, query, document = view.ask, view.query, view.document
    of: dict[str, Any] = {"dataset": view.dataset.name, "query_id": query}
    asked = ask(catalogue.asked, dataset=view.dataset.name, query_ids=[query])["text"].iloc[0]
    text = asked if isinstance(asked, str) else ""
    yield Passage(f"{query}: {text}" if text else f"Query {query}")
    judged = ask(select.judged, **of).set_index("doc_id")["relevance"]
    names = [name for name, _ in view.systems]
    places = ask(select.places, doc_id=document, systems=names, **of)
    said = words.said(judged.get(document, np.nan))
    yield Note([f"{document}: {said}.", *words.placed(places, view.systems)])
    found = ask(select.documents, collection=view.dataset.collection, doc_ids=[document])
    if len(found):
        yield Passage(found["title"].iloc[0], found["text"].iloc[0], text)
    else:
        yield Text(next_steps.without_texts(view.dataset))
    yield Button("Ranked lists of this query", lists)
