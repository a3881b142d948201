"""Reports above every page: damaged files, and running jobs that add results."""

import streamlit as st

from compute import jobs
from compute.store import damage
from compute.views.jobs.matrix import at_work
from pages._shared import escaping, failures, following, reading

UNWATCHED = ("jobs", "annotate")
"""Pages that show no running jobs: Jobs itself, and Judge, where system names must be hidden."""


def damaged(title: str) -> None:
    """Report damaged files above the page with this title."""
    lines = [*reading.store().broken, *damage.told(reading.parts())]
    if title != "Judge" and lines:
        st.warning(escaping.text("; ".join(lines)), icon=":material/broken_image:")


@st.fragment(run_every="2s")
@failures.guarded
def watch() -> None:
    """Follow changes of the store and show the running jobs."""
    following.follow(following.PAGE)
    if reading.is_outdated():
        st.rerun()
    line = at_work(jobs.listed(reading.store().settings, 20))
    if line:
        st.page_link("pages/jobs.py", label=escaping.text(line), icon=":material/sync:")
