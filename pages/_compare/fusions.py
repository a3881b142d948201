"""The button that stores a fusion."""

import streamlit as st

from compute import jobs
from pages._shared import drawing, escaping, navigation, reading
from pages._shared import sign_in as who


def store(fusion: str, dataset: str) -> None:
    """Draw a button that starts a job; people who may not start jobs see a message instead."""
    if not who.may(who.OPERATOR):
        drawing.caption(who.told(who.OPERATOR))
    elif st.button(escaping.text(f"Store {fusion}"), icon=":material/play_arrow:"):
        who.require(who.OPERATOR)
        started = jobs.start(reading.store(), "run", [fusion], [dataset], person=who.name())
        navigation.queued(started)
