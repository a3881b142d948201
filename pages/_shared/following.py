"""Fragments that the server redraws after each judgement in any browser, and a fragment of every
page that checks whether the page is out of date."""

from collections.abc import Callable

import streamlit as st

from compute.reading.ahead import PAGE, PART
from pages._shared import streamlit_internals
from pages._shared.streamlit_internals import BackMsg


@st.cache_resource(show_spinner=False)
def _asking() -> dict[str, dict[str, BackMsg]]:
    """Return the message that requests the fragment of each session, by kind."""
    return {PART: {}, PAGE: {}}


def begin() -> None:
    """Forget what the last run of a page followed, since this run may be another page's."""
    if session := streamlit_internals.session():
        for asking in _asking().values():
            asking.pop(session, None)


def follow(kind: str = PART) -> None:
    """Let `wake` of the same kind redraw the fragment that calls this."""
    session, asked = streamlit_internals.session(), streamlit_internals.fragment_message()
    if session and asked:
        _asking()[kind][session] = asked


def follows() -> bool:
    """Return true if a part of this run's page is redrawn by `wake`."""
    return streamlit_internals.session() in _asking()[PART]


def number(kind: str) -> int:
    """Return the number of pages with a fragment of this kind."""
    return len(_asking()[kind])


def wake(kind: str = PART) -> None:
    """Redraw every fragment of this kind, since something has changed."""
    asking = _asking()[kind]
    for session, asked in list(asking.items()):
        # `_still` keeps users who have changed the page meanwhile from being sent back.
        if not streamlit_internals.rerun(session, asked, _still(asking, session, asked)):
            asking.pop(session, None)


def _still(asking: dict[str, BackMsg], session: str, asked: BackMsg) -> Callable[[], bool]:
    """Return a function that is true while the session still requests this fragment."""
    return lambda: asking.get(session) is asked
