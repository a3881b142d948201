"""The ways between pages: a click in a figure or a table opens what it is about.

Streamlit's own switch of pages leaves entries in the browser's history that show something else,
and drops from an address what a widget of the page before was bound to. Here the browser itself
goes to the whole address, as it does for Back and Forward, and `restore` takes all of it.
"""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import parse_qs, urlencode

import streamlit as st
import streamlit.components.v2 as components
from pandas import DataFrame
from pandas.io.formats.style import Styler

from compute.views import page as records
from pages._shared import drawing, streamlit_internals

_GO = components.component(
    "way",
    js="""
    export default function ({ data }) {
      const to = new URL(data.to, window.location.href);
      if (to.href === window.location.href) return;
      window.history.pushState({}, "", to);
      window.dispatchEvent(new PopStateEvent("popstate"));
    }
    """,
)
_TOP = components.component(
    "top",
    js="""
    export default function () {
      document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0 });
    }
    """,
)
FIRST = "leaderboard"
"""The page that opens without a path; Streamlit knows it by no other."""
DATASET = records.Link("dataset", carried=("dataset",))
RUN = records.Link("data", {"show": "Runs"}, carried=("dataset", "system"))
"""All that is known of a run: how it was made, and the run as a file."""
COUNTED = ("judgements", "rule", "sources")
"""Keys of the switch above the pages in the address."""
_OF_KIND, _BY_KIND = ("queries",), (FIRST, "dataset", "compare", "holes", "lengths")
"""The kind of queries in the address, and the pages that can be of one alone."""


def restore() -> None:
    """Take the whole address of this run, with what Streamlit dropped when the page changed."""
    whole = streamlit_internals.query()
    if parse_qs(whole, keep_blank_values=True).keys() - st.query_params.to_dict().keys():
        streamlit_internals.restore(whole)


def to(page: str, **address: str | Sequence[str]) -> None:
    """Have the browser go to a page (`query`), at the next `follow`; for callbacks."""
    keys = (*COUNTED, *_OF_KIND * (page in _BY_KIND))
    kept = {key: st.query_params.get_all(key) for key in keys}
    named = {key: value for key, value in (kept | address).items() if value}
    path = "./" if page == FIRST else page
    st.session_state["_way"] = f"{path}?{urlencode(named, doseq=True)}"


def follow() -> None:
    """Go where a click said, before the page draws itself again."""
    if way := st.session_state.pop("_way", None):
        _GO(data={"to": way}, key="_way_to")
        st.stop()


def at_top() -> None:
    """Have the next run of `from_top` begin at the top; for what draws another view of a page."""
    st.session_state["_at_top"] = True


def from_top() -> None:
    """Scroll to the top where `at_top` asked for it: a browser keeps its place in the page."""
    # Always there: what stands below would be mounted anew where it moves up by one.
    place = st.empty()
    if st.session_state.pop("_at_top", False):
        with place:
            _TOP(key="_top")


def clicks(key: str) -> int:
    """How often a mark of a figure was clicked in this session."""
    return st.session_state.get(f"_clicks_{key}", 0)


def plot(part: records.Figure, go: Callable[..., None]) -> None:
    """Draw a figure; a click on a mark calls `go` with what the mark carries."""
    key = part.key

    def clicked() -> None:
        points = st.session_state[key]["selection"]["points"]
        carried = points[0].get("customdata", []) if points else []
        if carried != []:
            st.session_state[f"_clicks_{key}"] = clicks(key) + 1
            go(*(carried if isinstance(carried, list) else [carried]))

    drawing.plot(part, on_select=clicked, selection_mode="points")


def table(
    part: records.Table, shown: DataFrame | Styler, go: Callable[..., None], **options: Any
) -> None:
    """Draw a table as a frame; a click into a row calls `go` with what the row carries.

    `options` are those of `st.dataframe`.
    """
    # A selected row would stay so when another is chosen elsewhere: then it is a new table.
    whole = part.selected is not None
    widget = f"{part.key}_{part.selected}" if whole else part.key

    def clicked() -> None:
        found = st.session_state[widget]["selection"]
        rows = [(row,) for row in found["rows"]]
        for row, *column in (rows if whole else found["cells"])[:1]:
            go(*part.carried[row], *(column if part.by_cell else ()))

    kept: dict[str, Any] = {"selection_mode": "single-cell"}
    if whole:
        kept = {"selection_mode": "single-row", "widget": widget}
        kept |= {"selection_default": {"selection": {"rows": [part.selected]}}}
    drawing.table(part, shown, on_select=clicked, **(kept | options))
