"""The ways between pages: a click in a figure or a table opens what it is about."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st
from pandas import DataFrame

from pages import _shared

QUERY, COMPARE, DATASET = "pages/query.py", "pages/compare.py", "pages/dataset.py"


def to_query(dataset: str, query_id: str, a: str, b: str, measure: str) -> None:
    """Have the Query page open with two systems at a query, once `follow` is reached."""
    pickers = {"dataset": dataset, "a": a, "b": b, "measure": measure}
    st.session_state["_way"] = (QUERY, {"query": query_id}, pickers)


def to_compare(dataset: str, a: str, b: str, measure: str) -> None:
    """Have the Compare page open with two systems, once `follow` is reached."""
    pickers = {"dataset": dataset, "a": a, "b": b, "measure": measure}
    st.session_state["_way"] = (COMPARE, {}, pickers)


def follow() -> None:
    """Go where a click said; what bound pickers show travels in the session (`_address.link`)."""
    if way := st.session_state.pop("_way", None):
        page, address, pickers = way
        st.session_state["_arriving"] = pickers
        st.switch_page(page, query_params=address)


def plot(figure: Any, key: str, alt: str, go: Callable[..., None]) -> None:
    """Draw a figure; a click on a mark calls `go` with what the mark carries."""

    def clicked() -> None:
        points = st.session_state[key]["selection"]["points"]
        carried = points[0].get("customdata") if points else None
        if carried:
            go(*carried)

    _shared.plot(figure, key, alt, on_select=clicked, selection_mode="points")
    follow()


def table(
    shown: DataFrame, key: str, carried: Sequence[Sequence[str]], go: Callable[..., None]
) -> None:
    """Draw a table; a click into a row calls `go` with what is `carried` for that row."""

    def clicked() -> None:
        cells = st.session_state[key]["selection"]["cells"]
        if cells:
            go(*carried[cells[0][0]])

    height = 38 + 35 * min(len(shown), 20)
    st.dataframe(
        shown,
        hide_index=True,
        height=height,
        row_height=35,
        key=key,
        on_select=clicked,
        selection_mode="single-cell",
    )
    follow()
