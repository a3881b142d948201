"""Damaged files above every page; beside its tabs the jobs at work, whose results appear there."""

import streamlit as st

from compute import jobs
from compute.store import damage
from compute.views.jobs.matrix import at_work
from pages._shared import escaping, failures, following, reading

UNWATCHED = ("jobs", "annotate")
"""One page shows the jobs itself; annotators must not read the names of systems."""


def damaged(title: str) -> None:
    """Name damaged files above the page of this title."""
    lines = [*reading.store().broken, *damage.told(reading.parts())]
    if title != "Judge" and lines:
        st.warning(escaping.text("; ".join(lines)), icon=":material/broken_image:")


@st.fragment(run_every="2s")
@failures.guarded
def watch() -> None:
    """Follow changes of the store, and show the running jobs."""
    following.follow(following.PAGE)
    if reading.is_outdated():
        st.rerun()
    line = at_work(jobs.listed(reading.store().settings, 20))
    if line:
        st.page_link("pages/jobs.py", label=escaping.text(line), icon=":material/sync:")
