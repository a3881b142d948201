"""Fragments that the server has drawn again as soon as somebody judges, in any browser, and the
fragment of every page that then looks whether all of it is out of date.
"""

from collections.abc import Callable

import streamlit as st

from compute.reading.ahead import PAGE, PART
from pages._shared import streamlit_internals
from pages._shared.streamlit_internals import BackMsg


@st.cache_resource(show_spinner=False)
def _asking() -> dict[str, dict[str, BackMsg]]:
    """By kind, the message that asks for the fragment of each session."""
    return {PART: {}, PAGE: {}}


def begin() -> None:
    """Forget what the last run of a page had follow: this run may be another page's."""
    if session := streamlit_internals.session():
        for asking in _asking().values():
            asking.pop(session, None)


def follow(kind: str = PART) -> None:
    """From now on have the fragment that calls this drawn again by `wake` of the same kind."""
    session, asked = streamlit_internals.session(), streamlit_internals.fragment_message()
    if session and asked:
        _asking()[kind][session] = asked


def follows() -> bool:
    """True if a part of this run's page does."""
    return streamlit_internals.session() in _asking()[PART]


def number(kind: str) -> int:
    """The number of pages that have such a part."""
    return len(_asking()[kind])


def wake(kind: str = PART) -> None:
    """Have every part that follows drawn again, since something is new."""
    asking = _asking()[kind]
    for session, asked in list(asking.items()):
        # Who has gone to another page meanwhile would be taken back.
        if not streamlit_internals.rerun(session, asked, _still(asking, session, asked)):
            asking.pop(session, None)


def _still(asking: dict[str, BackMsg], session: str, asked: BackMsg) -> Callable[[], bool]:
    return lambda: asking.get(session) is asked
