"""Navigation between pages: a click in a figure or table opens its subject. Streamlit's own page
switch leaves wrong entries in the browser's history and drops address keys to which a widget of the
previous page was bound. Here the browser itself goes to the full address, as for Back and Forward,
and `restore` reads the whole address."""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import parse_qs, urlencode

import streamlit as st
import streamlit.components.v2 as components
from pandas import DataFrame
from pandas.io.formats.style import Styler

from compute import jobs
from compute.views import page as records
from pages._shared import drawing, escaping, streamlit_internals

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
"""The page that opens without a path; Streamlit has no other name for it."""
DATASET = records.Link("dataset", carried=("dataset",))
RUN = records.Link("data", {"show": "Runs"}, carried=("dataset", "system"))
"""Link to the details of a run: how it was made, and the run as a file."""
PRINTED = records.Link("leaderboard", {"numbers": "Published"}, carried=("table",))
COUNTED = ("judgements", "rule", "sources")
"""Address keys of the judgement picker above the pages."""
_OF_KIND, _BY_KIND = ("queries",), (FIRST, "dataset", "compare", "holes", "lengths")
"""Address key of the query group, and the pages that can be limited to one."""


def restore() -> None:
    """Read the full address of this run, with keys that Streamlit dropped on a page change."""
    whole = streamlit_internals.query()
    if parse_qs(whole, keep_blank_values=True).keys() - st.query_params.to_dict().keys():
        streamlit_internals.restore(whole)


def to(page: str, **address: str | Sequence[str]) -> None:
    """Send the browser to a page, such as `query`, at the next `follow`; for callbacks."""
    keys = (*COUNTED, *_OF_KIND * (page in _BY_KIND))
    kept = {key: st.query_params.get_all(key) for key in keys}
    named = {key: value for key, value in (kept | address).items() if value}
    path = "./" if page == FIRST else page
    st.session_state["_way"] = f"{path}?{urlencode(named, doseq=True)}"


def follow() -> None:
    """Go to a click's target before the page is redrawn."""
    if way := st.session_state.pop("_way", None):
        _GO(data={"to": way}, key="_way_to")
        st.stop()


def queued(started: jobs.Started) -> None:
    """Draw the outcome of starting a job, as a link to Jobs."""
    told = escaping.text(f"{started.sentence}: see Jobs for its progress")
    st.page_link("pages/jobs.py", label=told, icon=":material/arrow_forward:")


def leave_fragment() -> None:
    """Rerun the whole page, which calls `follow`, if a click in a fragment leads elsewhere."""
    if "_way" in st.session_state:
        st.rerun()


def at_top() -> None:
    """Make the next `from_top` scroll to the top; for controls that change the view."""
    st.session_state["_at_top"] = True


def from_top() -> None:
    """Scroll to the top if `at_top` requested it, since browsers keep the scroll position."""
    # The slot is always there, since parts below would be remounted if they moved.
    place = st.empty()
    if st.session_state.pop("_at_top", False):
        with place:
            _TOP(key="_top")


def clicks(key: str) -> int:
    """Return the number of clicks on marks of a figure in this session."""
    return st.session_state.get(f"_clicks_{key}", 0)


def plot(part: records.Figure, go: Callable[..., None]) -> None:
    """Draw a figure; a click on a mark calls `go` with the mark's values."""
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
    """Draw a table; a click in a row calls `go` with its values. `options` as in `st.dataframe`."""
    # The old row would stay selected when another is chosen elsewhere, so that makes a new table.
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
