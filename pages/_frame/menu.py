"""Navigation: eight menu entries, tabs within an entry, and the start of the front page."""

from typing import Any, NamedTuple
from urllib.parse import urlsplit

import streamlit as st

from compute.views.page import offers
from pages._frame import added_switch
from pages._frame.progress import UNWATCHED, watch
from pages._shared import dataset_facts, escaping, navigation, page_run, system_pickers
from pages._shared.served import Served

NAME = """<svg xmlns="http://www.w3.org/2000/svg" width="132" height="28" viewBox="0 0 132 28">
<text x="0" y="21" font-family="'Source Sans 3', 'Source Sans Pro', sans-serif" font-size="22"
font-weight="700" fill="#2a7ac0">Beirscope</text></svg>"""
WHAT = "Beirscope compares retrieval systems and shows their unjudged documents."

METHODS = "How numbers are computed"


class Page(NamedTuple):
    """A row in the table of pages; `door` is its entry in the menu."""

    title: str
    door: str
    tab: str = ""
    """Its label among the pages of the same menu entry; empty if it is the only one."""


PAGES = {
    "leaderboard": Page("Leaderboard", "Leaderboard", "Scores"),
    "efficiency": Page("Efficiency", "Leaderboard", "Efficiency"),
    "dataset": Page("Dataset", "Dataset"),
    "compare": Page("Compare", "Compare"),
    "query": Page("Query", "Query", "Ranked lists"),
    "map": Page("Map", "Query", "Relevance map"),
    "holes": Page("Holes", "Holes"),
    "annotate": Page("Judge", "Judge"),
    "overlap": Page("Overlap", "Corpora", "Overlap"),
    "lengths": Page("Lengths", "Corpora", "Lengths"),
    "data": Page("Data", "Workspace", "Data"),
    "jobs": Page("Jobs", "Workspace", "Jobs"),
    "about": Page(METHODS, "Workspace", METHODS),
}
"""Pages by file and address; the menu opens the first page of an entry."""


def choose() -> tuple[str, Any]:
    """Draw the menu; return the name and the Streamlit page of the requested page."""
    st.logo(NAME, size="large")
    shown = {page.door: name for name, page in reversed(PAGES.items())}
    # The menu highlights the open page, so that page represents its entry.
    here = urlsplit(st.context.url or "").path.rpartition("/")[2]
    shown |= {PAGES[here].door: here} if here in PAGES else {}
    listed = {
        name: st.Page(
            f"pages/{name}.py",
            title=page.door if name == shown[page.door] else page.title,
            default=name == navigation.FIRST,
            visibility="visible" if name == shown[page.door] else "hidden",
        )
        for name, page in PAGES.items()
    }
    asked = st.navigation(list(listed.values()), position="top")
    return next(name for name, one in listed.items() if one.url_path == asked.url_path), asked


def tabs(name: str) -> Any:
    """Draw links to the pages of the same entry, and the switch of judgements; return the slot for
    the link between them (`context`)."""
    door = PAGES[name].door
    several = [other for other, page in PAGES.items() if page.door == door and page.tab]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="_tabs"):
        for other in several:
            st.page_link(f"pages/{other}.py", label=PAGES[other].tab)
        if name not in UNWATCHED:
            watch()
        # Assessors must not see the names of systems.
        place = st.empty() if door != "Judge" else None
        added_switch.begin(PAGES[name].title)
    return place


def context(place: Any) -> None:
    """Draw a link to Compare with the dataset, systems and measure kept from page to page."""
    state = st.session_state
    dataset, systems = state.get("_last_dataset", ""), state.get("_last_systems", [])[:2]
    if place is None or not dataset or len(systems) < 2 or page_run.current().page == "Compare":
        return
    named = {"dataset": dataset, **dict(zip("ab", systems, strict=True))}
    named |= {"measure": state["_last_measure"]} if "_last_measure" in state else {}
    titles = system_pickers.titles()
    two = " vs ".join(titles.get(one, one) for one in systems)
    words = [dataset_facts.titles().get(dataset, dataset), two, named.get("measure", "")]
    label = f"Compare {escaping.text(' · '.join(filter(None, words)))}"
    icon = ":material/push_pin:"
    place.page_link("pages/compare.py", label=label, icon=icon, query_params=named)


def start(name: str) -> None:
    """Draw a sentence and ways to start above the front page, until a run is imported."""
    if name != navigation.FIRST or offers.has_own(Served()):
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="_start"):
        st.markdown(WHAT, width="stretch")
        given: dict[str, Any] = {"page": "pages/data.py", "query_params": {"show": "Import"}}
        st.page_link(**given, label="I have runs and judgements", icon=":material/upload_file:")
        given["query_params"] = {"show": "Import", "have": "runs"}
        st.page_link(**given, label="I have runs only", icon=":material/upload_file:")
        st.markdown(":material/arrow_downward: Explore BEIR below", width="content")
