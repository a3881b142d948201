"""The sections of the page Query."""

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
import streamlit.components.v2 as components
from pandas import DataFrame

from compute.datasets import Dataset
from compute.evaluate.measures import parse
from compute.evaluate.score_breakdown import explain, explains
from compute.views.query import score_breakdown
from compute.views.query import select as query_select
from compute.views.query import words as figures
from compute.views.query.ranked_lists import ranked_lists
from compute.views.shared import next_steps, text
from pages._query import judging
from pages._shared import address, colours, drawing, escaping, pickers, reading
from pages._shared.reading import read

Systems = Sequence[tuple[str, str]]
"""Name and title, from left to right."""
_IN_VIEW = components.component(
    "opened_in_view",
    js="""
    let last = 0;
    export default function ({ data }) {
      const place = document.querySelector(".st-key-_document");
      if (data.click === last || !place) return;
      last = data.click;
      const { top } = place.getBoundingClientRect();
      // Below the fold it would open unseen.
      if (top < 0 || top > 0.6 * window.innerHeight) place.scrollIntoView({ block: "center" });
    }
    """,
)
_FURTHER = 100
"""Relevant documents that no list shows are offered up to this many."""


class Page(NamedTuple):
    """What the page shows of a query: its lists, further documents, and what they are of."""

    hits: DataFrame
    further: DataFrame
    query_id: str
    query: str
    """Its text; empty where there is none."""
    dataset: Dataset
    systems: Systems


def choose_query(
    dataset: str, systems: Sequence[str], measure: str, order: str, find: str
) -> dict[Hashable, Any]:
    """The query of the address, else the first; a picker between two steps.

    Stops the page where no query contains what is looked for.
    """
    a, b = (*systems, "")[:2]
    usual = _left(dataset, (measure, a, b, order, find))
    keep = st.query_params.get("query") or usual
    of: Any = {"dataset": dataset, "measure": measure, "a": a, "b": b, "find": find, "keep": keep}
    rows = read(query_select.queries, order=order, **of)
    if rows.empty:
        st.info(escaping.text(f"No query contains {find!r}."))
        address.stop()
    if not find:
        address.known("query", rows["query_id"], f"query of {dataset}")
    known = {row["query_id"]: row for row in rows.to_dict("records")}
    shown = {name: figures.option(row) for name, row in known.items()}
    row = known[address.chosen("query", shown, usual)]
    address.remember(f"query of {dataset}", row["query_id"])
    with pickers.pickers():
        _step("Previous", row["previous"], ":material/chevron_left:", "P")
        address.pick("query", "Query", shown, usual)
        _step("Next", row["next"], ":material/chevron_right:", "N")
    drawing.caption(figures.found(row, find, len(rows)))
    return row


def _left(dataset: str, choices: tuple[str, ...]) -> str:
    """The query that was shown when this page was left, until its `choices` change; or none."""
    visit = pickers.begin()
    last = st.session_state.get(f"_last_query of {dataset}", "")
    query, made = visit.setdefault(f"query of {dataset}", (last, choices))
    return query if made == choices else ""


def _step(label: str, name: object, icon: str, key: str) -> None:
    absent = not isinstance(name, str)
    step = partial(address.choose, "query", name if isinstance(name, str) else None)
    st.button(label, icon=icon, shortcut=key, disabled=absent, on_click=step)


def as_shown(hits: DataFrame, systems: Sequence[str]) -> DataFrame:
    """The hits from the leftmost list on, so that its first document is the first to be read."""
    places = {name: place for place, name in enumerate(systems)}
    return hits.sort_values("system", key=lambda names: names.map(places), kind="stable")


def further(hits: DataFrame, dataset: Dataset, query_id: str, systems: Sequence[str]) -> DataFrame:
    """Documents that no list on the page shows: doc_id, relevance.

    Those that are judged relevant, and the one that the address names if a system ranks it.
    """
    judged = read(query_select.judged, dataset=dataset.name, query_id=query_id)
    judged = judged[~judged["doc_id"].isin(hits["doc_id"])]
    wanted = judged.loc[judged["relevance"] > 0, "doc_id"].head(_FURTHER).tolist()
    named = st.query_params.get("document", "")
    of: Any = {"dataset": dataset.name, "query_id": query_id, "systems": systems}
    if named and named not in wanted and named not in set(hits["doc_id"]):
        wanted += [named] if len(read(query_select.places, doc_id=named, **of)) else []
    frame = DataFrame({"doc_id": wanted}, dtype="str").merge(judged, on="doc_id", how="left")
    return frame.astype({"relevance": "Int64"})


def with_texts(dataset: Dataset, *frames: DataFrame) -> list[DataFrame]:
    """The frames with title and text of each doc_id, absent where texts are not loaded.

    Of all at once: to find the documents takes longer than to read them.
    """
    ids = dict.fromkeys(name for frame in frames for name in frame["doc_id"])
    texts = read(query_select.documents, collection=dataset.collection, doc_ids=list(ids))
    return [frame.merge(texts, on="doc_id", how="left") for frame in frames]


def _clicked() -> None:
    points = st.session_state["lists"]["selection"]["points"]
    if points:
        address.choose("document", points[0]["customdata"])
        st.session_state["_opened"] = st.session_state.get("_opened", 0) + 1


def lists(
    hits: DataFrame,
    further: DataFrame,
    systems: Systems,
    measure: str,
    values: DataFrame,
    depth: int,
) -> str:
    """Draw the ranked lists; returns the chosen document."""
    chosen = address.chosen("document", figures.names(hits) | figures.names(further))
    notes = figures.notes(values, systems, measure)
    look: Any = {"chosen": chosen, "notes": notes, "depth": depth, "theme": colours.theme()}
    figure = ranked_lists(hits, systems, **look)
    options: Any = {"on_select": _clicked, "selection_mode": "points"}
    drawing.plot(figure, "lists", "Ranked lists", figures.LEGEND, **options)
    return chosen


def document(page: Page, chosen: str) -> None:
    """The chosen document with the query's words marked, or what brings its text.

    A hole can be judged above it.
    """
    if not chosen:
        return
    address.pick("document", "Document", _offered(page))
    judging.hole(page.dataset, page.query_id, chosen)
    _text(page, chosen)
    _IN_VIEW(data={"click": st.session_state.get("_opened", 0)}, key="_in_view")


def beside(page: Page, chosen: str) -> None:
    """Another document, to be read beside the chosen one: unless told the best of the next list."""
    listed = page.hits[page.hits["doc_id"] != chosen]
    if listed.empty:
        return
    next_list = listed[listed["system"] != page.systems[0][0]]
    first = (listed if next_list.empty else next_list)["doc_id"].iloc[0]
    names = _offered(page)
    names = {first: names[first]} | {name: line for name, line in names.items() if name != chosen}
    address.pick("beside", "Beside it", names)
    _text(page, address.chosen("beside", names))


def _offered(page: Page) -> dict[str, str]:
    further = figures.names(page.further)
    missed = {name: f"{line} · in no list here" for name, line in further.items()}
    return figures.names(page.hits) | missed


def _text(page: Page, doc_id: str) -> None:
    frames = (page.hits, page.further)
    row = next(f[f["doc_id"] == doc_id].iloc[0] for f in frames if doc_id in set(f["doc_id"]))
    with st.container(border=True, height="content"):
        if isinstance(row["text"], str):
            st.html(text.document(row["title"], row["text"], page.query))
        else:
            st.text(next_steps.without_texts(page.dataset))
        of: Any = {"dataset": page.dataset.name, "query_id": page.query_id, "doc_id": doc_id}
        places = read(query_select.places, systems=[name for name, _ in page.systems], **of)
        where = figures.placed(places, page.systems)
        drawing.caption(f"{doc_id}: {figures.said(row['relevance'])}. {where}")


def why(dataset: str, query_id: str, systems: Systems, measure: str, values: DataFrame) -> None:
    """The sum that makes the score, as a figure and as a table; the best order beside it."""
    st.header(f"Why this {measure}", anchor=False)
    if not explains(measure):
        drawing.caption(
            f"{measure} is no sum over the top ranks of one list: choose a measure such as nDCG@10."
        )
        return
    of: Any = {"dataset": dataset, "query_id": query_id}
    names = [name for name, _ in systems]
    hits = read(query_select.listed, systems=names, depth=parse(measure).k or 0, **of)
    judged = read(query_select.judged, **of)
    found = {name: explain(hits[hits["system"] == name], judged, measure) for name in names}
    titles = dict(systems)
    named = [(titles[name], of_system) for name, of_system in found.items()]
    figure = score_breakdown.gains(named, theme=colours.theme())
    said = "Blue: what the list adds; pale: the best order of what is judged relevant."
    drawing.plot(figure, "gains", f"What each rank adds to {measure}", said)
    drawing.caption(score_breakdown.reading(measure))
    shown = names[0]
    if len(names) > 1:
        shown = pickers.view("The sum of", names, "sum", titles=titles)
    frame = score_breakdown.table(found[shown])
    height = "content" if len(frame) <= 12 else 420
    drawing.table(frame, "sum", f"{measure} of {titles[shown]}, rank by rank", height=height)
    stored = values[(values["system"] == shown) & (values["measure"] == measure)]["value"]
    drawing.caption(
        score_breakdown.conclusion(found[shown], next(iter(stored), None), titles[shown])
    )


def values(frame: DataFrame, systems: Systems) -> None:
    """What the query scores by every measure."""
    table = figures.value_table(frame, systems, reading.measures())
    drawing.table(table, "values", "The query by measure")


def to_the_map(dataset: str, systems: Sequence[str], measure: str, query_id: str) -> None:
    """The way to every query of the first two systems, at this one."""
    named = dict(zip(("system", "other"), systems, strict=False))
    label = "All queries of these systems, rank by rank"
    at = {"dataset": dataset, "measure": measure, "query": query_id}
    address.link(label, "pages/map.py", **at, **named)
