"""The sections of the page Map."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from pandas import DataFrame

from compute.datasets import Dataset
from compute.views.query import rank_map as figures
from compute.views.query import rank_map_cells, select_map
from compute.views.query import select as query_select
from compute.views.query import words as wording
from compute.views.shared import catalogue, next_steps, text
from compute.views.shared.theme import Legend
from pages._shared import address, colours, drawing
from pages._shared.reading import read

NOTHING = "–"
"""In the place of a second system."""
ROWS = 30
"""Queries that are listed at a time."""
FEW = 60
"""Up to so many queries are listed all at once, without a picture of all."""


@dataclass(frozen=True)
class Shown:
    """What the page shows: the maps of one system or two, in one order."""

    dataset: Dataset
    systems: list[tuple[str, str]]
    """Name and title."""
    measure: str
    order: str
    panels: list[figures.Panel]
    query_ids: list[str]
    """In the order shown."""
    rows: slice
    """Those that are listed."""

    @property
    def depth(self) -> int:
        return self.panels[0].cells.shape[1]

    def listed(self) -> list[str]:
        return self.query_ids[self.rows]


def shown(dataset: Dataset, system: str, other: str, measure: str, order: str, ranks: int) -> Shown:
    """Read the maps and put their rows in order."""
    names = [system, *([other] if other not in (system, NOTHING) else [])]
    of = {"dataset": dataset.name, "depth": ranks}
    cells = [read(select_map.cells, system=name, **of) for name in names]
    beside = (*names, "")[1]
    values = read(
        select_map.values, dataset=dataset.name, measure=measure, system=system, other=beside
    )
    places = rank_map_cells.order(cells[0], values, order)
    systems = wording.titled(names, read(catalogue.systems))
    panels = [
        figures.panel(title, frame, values[column], measure, places)
        for (_, title), frame, column in zip(systems, cells, ("value", "other"), strict=False)
    ]
    query_ids = values["query_id"].to_numpy()[places].tolist()
    size = len(query_ids) if len(query_ids) <= FEW else ROWS
    rows = rank_map_cells.window(len(query_ids), _start(query_ids), size)
    return Shown(dataset, systems, measure, order, panels, query_ids, rows)


def _start(query_ids: list[str]) -> int:
    """The first row to list: that of the address, else some above the query that it names."""
    start = st.query_params.get("from", "")
    if start.isdecimal():
        return int(start) - 1
    query = st.query_params.get("query", "")
    return query_ids.index(query) - ROWS // 2 if query in query_ids else 0


def _legend(now: Shown) -> Legend:
    return partial(figures.legend, figures.grades(now.panels))


def all_queries(now: Shown) -> None:
    """The picture of all queries; a click on it lists those around."""
    legend = _legend(now)
    few = now.rows == slice(0, len(now.query_ids))
    if not (few and colours.narrow()):  # there lists stand alone, without colours
        drawing.legend(legend)
    if few:
        return
    figure = figures.overview(now.panels, now.query_ids, now.rows, theme=colours.theme())
    plot = partial(drawing.plot, figure, "all", "All queries, rank by rank", legend)
    plot(on_select=_moved, selection_mode="points")
    drawing.caption(
        f"All {len(now.query_ids):,} queries, one above the other, in the order chosen above; ranks"
        " from left to right. Click on it to list the queries there: they stand between the two"
        " lines."
    )


def _moved() -> None:
    points = st.session_state["all"]["selection"]["points"]
    if points:
        _to(int(points[0]["customdata"]) - ROWS // 2)


def _to(row: int) -> None:
    st.query_params["from"] = str(max(row, 0) + 1)


def some_queries(now: Shown) -> None:
    """The list of queries; a click on a cell opens its document."""
    _steps(now)
    texts = read(select_map.texts, dataset=now.dataset.name, query_ids=now.listed())
    names = figures.names(now.listed(), texts)
    panels = [figures.part(panel, now.rows) for panel in now.panels]
    figure = figures.window(panels, names, chosen=_chosen(now), theme=colours.theme())
    click = partial(_clicked, now)
    options: Any = {"on_select": click, "selection_mode": "points"}
    drawing.plot(figure, "map", "Ranks by query", _legend(now), **options)
    drawing.caption(
        f"Holes: their share of the {now.panels[0].cells.shape[1]} ranks shown.",
        drawing.of_matrix(
            f"How to read this: a row is a query, a column a rank of its list, and at the right"
            f" stands its {now.measure}. Relevant documents belong at the left. Grey cells are"
            " holes, which count as not relevant; a blank"
            " end is a list that stops. Click on a cell to read its document."
        ),
    )


def _steps(now: Shown) -> None:
    first, last, n = now.rows.start, now.rows.stop, len(now.query_ids)
    if last - first == n:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        back, on = partial(_to, first - ROWS), partial(_to, last)
        left, right = ":material/keyboard_arrow_up:", ":material/keyboard_arrow_down:"
        st.button("Earlier", icon=left, shortcut="P", disabled=first == 0, on_click=back)
        st.button("Later", icon=right, shortcut="N", disabled=last == n, on_click=on)
        st.markdown(f"Queries {first + 1:,} to {last:,} of {n:,}", width="content")


def _clicked(now: Shown) -> None:
    points = st.session_state["map"]["selection"]["points"]
    if not points:
        return
    place, row, rank = figures.unpack(int(points[0]["customdata"]))
    query = now.listed()[row]
    found = _list_of(now, query, now.systems[place][0])
    _to(now.rows.start)
    address.choose("query", query)
    address.choose("document", next(iter(found.loc[found["rank"] == rank, "doc_id"]), None))


def _list_of(now: Shown, query: str, system: str) -> DataFrame:
    of: Any = {"dataset": now.dataset.name, "query_id": query}
    return read(query_select.listed, systems=[system], depth=now.depth, **of)


def _chosen(now: Shown) -> list[tuple[int, int, int]]:
    """The cells of the document in the address: panel, row, rank."""
    query, document = _named()
    if query not in now.listed() or not document:
        return []
    row = now.listed().index(query)
    found = [_list_of(now, query, name) for name, _ in now.systems]
    return [
        (place, row, int(rank))
        for place, hits in enumerate(found)
        for rank in hits.loc[hits["doc_id"] == document, "rank"]
    ]


def _named() -> tuple[str, str]:
    return st.query_params.get("query", ""), st.query_params.get("document", "")


def links(now: Shown) -> None:
    """The way back to the lists of a query."""
    systems = ",".join(name for name, _ in now.systems)
    of = {"dataset": now.dataset.name, "systems": systems, "measure": now.measure}
    address.link("The lists, query by query", "pages/query.py", **of)


def _closed() -> None:
    st.query_params.pop("document", None)


def document(now: Shown) -> None:
    """The document of the address in a window of its own."""
    query, document = _named()
    if query in now.query_ids and document:
        _open(now, query, document)


@st.dialog("A document at its rank", width="large", on_dismiss=_closed)
def _open(now: Shown, query: str, document: str) -> None:
    asked = read(select_map.texts, dataset=now.dataset.name, query_ids=[query])
    words = asked["text"].iloc[0]
    words = words if isinstance(words, str) else ""
    st.html(text.line(f"{query}: {words}" if words else f"Query {query}"))
    of: Any = {"dataset": now.dataset.name, "query_id": query}
    judged = read(query_select.judged, **of).set_index("doc_id")["relevance"]
    names = [name for name, _ in now.systems]
    where = read(query_select.places, doc_id=document, systems=names, **of)
    said = wording.said(judged.get(document, np.nan))
    drawing.caption(f"{document}: {said}. {' '.join(wording.placed(where, now.systems))}")
    found = read(query_select.documents, collection=now.dataset.collection, doc_ids=[document])
    if len(found):
        st.html(text.document(found["title"].iloc[0], found["text"].iloc[0], words))
    else:
        st.text(next_steps.without_texts(now.dataset))
    at = {"query": query, "document": document, "measure": now.measure}
    systems = ",".join(names)
    label = "This query's lists, to compare and to judge"
    address.link(label, "pages/query.py", dataset=now.dataset.name, systems=systems, **at)
