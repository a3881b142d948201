"""What the page Overlap lacks: collections that are not counted, or not whole, and their job."""

from collections.abc import Collection

import streamlit as st
from pandas import DataFrame

from compute import jobs
from compute.views.data import select as data_select
from compute.views.overlap import heatmap as figures
from pages import _shared, _signing
from pages._shared import read


def offer(counted: DataFrame, compared: Collection[str]) -> None:
    """Name the collections here that no figure shows, and a button that counts what they need."""
    stored = read(data_select.datasets)
    stored = stored[stored["has_documents"]].drop_duplicates("collection")
    lacking = figures.lacking(stored, counted, compared)
    if not lacking.said:
        return
    _shared.caption(lacking.said)
    if not (lacking.datasets and _signing.may(_signing.OPERATOR)):
        return
    if st.button("Count their words", icon=":material/play_arrow:"):
        _signing.require(_signing.OPERATOR)
        names, who = lacking.datasets, _signing.name()
        started = jobs.start(_shared.store(), "overlap", datasets=names, person=who)
        st.markdown(_shared.text(f"{started.sentence}: the page Jobs shows how far it is."))
