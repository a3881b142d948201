"""Holes: how much is unjudged, and could it turn the order?"""

import streamlit as st

from compute.views.query import select as query_select
from pages import _address, _agreement_sections, _counted, _pool_sections, _query_sections, _shared
from pages import _holes_sections as sections
from pages._shared import pick, pick_many, read

st.title("Holes", anchor=False)
_address.arrive()
runs = read(query_select.runs)
if runs.empty:
    st.info("No ranked lists are stored yet: python -m compute demo computes some.")
    st.stop()
names = list(dict.fromkeys(runs["dataset"]))
_address.recall("dataset", names)
_query_sections.known_dataset(names)
_address.known("measure", sections.MEASURES, "measure with an interval")
above = st.container()
with _shared.pickers():
    name = pick("Dataset", names, "dataset", width=260)
    measure = pick("Measure", sections.MEASURES, "measure", width=140)
    known = list(runs.loc[runs["dataset"] == name, "system"])
    with above:
        _address.known("systems", known, f"run on {name}")
    chosen = pick_many("Systems", known, "systems", width=420)
_address.remember("dataset", name)
_agreement_sections.way(name)
rows = sections.scores(name, chosen or known, measure)
sections.orders(name, rows, measure)
sections.ranks(name, rows, measure)
sections.before_and_after(name, chosen or known, measure)
_counted.download(name)
_agreement_sections.agreement(name)
_pool_sections.pool(name, chosen or known, measure)
