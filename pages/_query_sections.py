"""The sections of the page Query."""

from collections.abc import Hashable, Sequence
from typing import Any

import streamlit as st
from pandas import DataFrame

from compute import advice, queries
from compute.datasets import Dataset
from compute.figures import query as figures
from compute.figures import text
from compute.measures import MEASURES
from pages import _address, _dataset_sections, _query_judging, _shared
from pages._shared import read

Systems = Sequence[tuple[str, str]]
"""Name and title, from left to right."""


def known_dataset(names: Sequence[str]) -> None:
    """Say what to do where the address names a dataset without ranked lists."""
    facts = read(queries.dataset.facts, dataset=st.query_params.get("dataset", ""))
    without = _dataset_sections.without_runs(advice.record(facts)) if len(facts) else ""
    _address.known("dataset", names, "dataset with ranked lists", without)


def choose_query(rows: DataFrame) -> dict[Hashable, Any]:
    """The query of the address, else the first; a picker between two steps."""
    known = {row["query_id"]: row for row in rows.to_dict("records")}
    shown = {name: figures.option(row) for name, row in known.items()}
    row = known[_address.chosen("query", shown)]
    _address.pin("query", row["query_id"])
    with _shared.pickers():
        _step("Previous", row["previous"], ":material/chevron_left:")
        _address.pick("query", "Query", shown)
        _step("Next", row["next"], ":material/chevron_right:")
    return row


def _step(label: str, name: object, icon: str) -> None:
    absent = not isinstance(name, str)
    st.button(label, icon=icon, disabled=absent, on_click=_address.choose, args=("query", name))


def _clicked() -> None:
    points = st.session_state["lists"]["selection"]["points"]
    if points:
        _address.choose("document", points[0]["customdata"])


def lists(hits: DataFrame, systems: Systems, measure: str, values: DataFrame) -> str:
    """Draw the ranked lists; returns the chosen document."""
    chosen = _address.chosen("document", figures.names(hits))
    notes = figures.notes(values, systems, measure)
    figure = figures.ranked_lists(hits, systems, chosen=chosen, notes=notes, theme=_shared.theme())
    _shared.plot(figure, "lists", "Ranked lists", on_select=_clicked, selection_mode="points")
    return chosen


def document(hits: DataFrame, chosen: str, query_id: str, query: str, dataset: Dataset) -> None:
    """The chosen document with the query's words marked, or what brings its text.

    A hole can be judged above it.
    """
    if not chosen:
        return
    _address.pick("document", "Document", figures.names(hits))
    _address.pin("document", chosen)
    _query_judging.hole(dataset, query_id, chosen)
    row = hits[hits["doc_id"] == chosen].iloc[0]
    with st.container(border=True, height="content"):
        if isinstance(row["text"], str):
            st.html(text.document(row["title"], row["text"], query))
        else:
            st.text(advice.without_texts(dataset))
        _shared.caption(f"{chosen}: {figures.said(row['relevance'])}")


def values(frame: DataFrame, systems: Systems) -> None:
    """What the query scores by every measure."""
    st.dataframe(figures.value_table(frame, systems, MEASURES), hide_index=True)
