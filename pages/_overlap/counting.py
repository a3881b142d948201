"""Corpora without complete counts on the Overlap page, and a job that counts them."""

from collections.abc import Collection

import streamlit as st
from pandas import DataFrame

from compute import jobs
from compute.views.data import select as data_select
from compute.views.overlap import heatmap as figures
from pages._shared import drawing, navigation, reading, sign_in
from pages._shared.reading import read


def offer(counted: DataFrame, compared: Collection[str]) -> None:
    """Name the corpora that no figure shows, and draw a button that counts their words."""
    stored = read(data_select.datasets)
    stored = stored[stored["has_documents"]].drop_duplicates("collection")
    lacking = figures.lacking(stored, counted, compared)
    if not lacking.said:
        return
    drawing.caption(lacking.said)
    if not (lacking.datasets and sign_in.may(sign_in.OPERATOR)):
        return
    if st.button("Count the words", icon=":material/play_arrow:"):
        sign_in.require(sign_in.OPERATOR)
        names, who = lacking.datasets, sign_in.name()
        started = jobs.start(reading.store(), "overlap", datasets=names, person=who)
        navigation.queued(started)
