"""The line that says what the demo is doing; pages fill in as its results are published."""

import streamlit as st

from compute import demo, settings
from pages import _shared


def demo_progress() -> None:
    """A line above every page while the demo runs; nothing otherwise."""
    if demo.running(settings.load()):
        _watch()


@st.fragment(run_every="2s")
def _watch() -> None:
    now = settings.load()
    state = demo.read(now)
    if _shared.is_outdated() or not demo.running(now):
        st.rerun()
    failed = f", {len(state.failed)} failed" if state.failed else ""
    line = f"Demo: {state.done} of {state.total} runs on PyDocs are there{failed}. Now: {state.now}"
    st.progress(state.share, text=_shared.text(line))
