"""Texts of PyDocs, read from the installed library when a page first shows them."""

import streamlit as st

from compute.base.errors import BeirscopeError
from compute.datasets import Dataset
from compute.intake import texts, upload_process
from pages._shared import address, escaping, reading


def bring(dataset: Dataset) -> None:
    """Store the texts of a PyDocs collection; for other collections without texts, draw a link to
    the form that adds them. The texts are read once per home, in a separate process. A failure is
    reported and not retried in this session."""
    if not texts.lacks_texts(reading.parts(), dataset.name):
        return
    if dataset.group != "PyDocs":
        told = f"Import corpus.jsonl or {dataset.title}'s BEIR archive; Fetch downloads archives"
        address.link("Add texts", "pages/data.py", told, show="Import", to=dataset.name)
        return
    failed = st.session_state.setdefault("_texts_failed", {})
    if dataset.name not in failed:
        with st.spinner(escaping.text(f"Reading {dataset.title} from the installed library, once")):
            failed[dataset.name] = _taken(dataset.name)
        reading.AHEAD.await_published()
        st.rerun()
    st.info(escaping.text(failed[dataset.name]))


def _taken(name: str) -> str:
    """Import the texts, and return the last message of the process."""
    try:
        answers = list(upload_process.ask("take texts", [], dataset=name))
    except BeirscopeError as error:
        return str(error)
    return answers[-1].get("error") or answers[-1]["said"]
