"""What a trained system asked in place of the query: a section of the page Query."""

from collections.abc import Sequence

import streamlit as st
from pandas import DataFrame

from compute.views.query import augmented as figures
from compute.views.query import select as query_select
from pages._shared import colours, drawing, escaping
from pages._shared.reading import read

PLAIN = "bm25-wordpiece"
"""The same search with the query as it is."""
_BARS = 560


def section(
    dataset: str, query_id: str, systems: Sequence[str], titles: Sequence[tuple[str, str]]
) -> None:
    """For each shown system that rewrote the query: its words, and what that changed."""
    asked = read(query_select.augmented, dataset=dataset, query_id=query_id, systems=systems)
    if asked.empty:
        return
    named = dict(titles)
    for system, query in asked.groupby("system", sort=False):
        st.header(escaping.text(f"What {named.get(str(system), system)} asked"), anchor=False)
        _words(str(system), figures.relative(query))
        _changed(dataset, query_id, str(system))


def _words(system: str, query: DataFrame) -> None:
    with st.container(width=_BARS):
        figure = figures.bars(query, colours.theme())
        drawing.plot(figure, f"augmented-{system}", "Weights of the words of the query")
    drawing.caption(
        "How to read this: the system does not ask the query as it was typed. It gives each word"
        " of it a weight and adds words of its own; a longer bar counts more. ## begins a piece"
        " that goes on with a word.",
        figures.told(query),
    )


def _changed(dataset: str, query_id: str, system: str) -> None:
    both = [system, PLAIN]
    hits = read(query_select.listed, dataset=dataset, query_id=query_id, systems=both, depth=10)
    if PLAIN not in set(hits["system"]):
        drawing.caption(f"What that changed shows once {PLAIN} has a run on this dataset.")
        return
    rows = figures.moved(hits, system, PLAIN)
    drawing.table(rows, f"moved-{system}", "What augmentation changed in the ranking")
    drawing.caption(
        f"The first ten documents with the augmented query, and with the query as it is ({PLAIN})."
    )
