"""Lengths: who prefers short documents?"""

import streamlit as st

from compute.corpora.lengths import MAX_WORDS
from compute.views.leaderboard import select as leaderboard_select
from compute.views.lengths import select
from pages import _address, _shared
from pages import _lengths_sections as sections
from pages._shared import pick, read

st.title("Lengths", anchor=False)
_address.arrive()
stored = read(select.catalogue)
stored = stored[stored["is_counted"] | (stored["n_runs"] > 0)]
if stored.empty:
    st.info("No lengths are counted yet: python -m compute demo runs systems and counts them.")
    st.stop()
names = list(stored["dataset"])
_address.recall("dataset", names)
_address.known("dataset", names, "dataset with lengths or runs")
_address.known("k", sections.TOPS, "number of documents")
_address.known("axis", sections.AXES, "axis")
with _shared.pickers():
    name = pick("Dataset", names, "dataset", width=240)
    k = pick("Top", sections.TOPS, "k", width=100)
    axis = pick("Axis", sections.AXES, "axis", width=150)
    cut = _shared.switch(f"Cut at {MAX_WORDS} words", "cut")
_address.remember("dataset", name)
row = stored[stored["dataset"] == name].iloc[0]
view = sections.View(row, int(k), axis == sections.LOG, MAX_WORDS if cut else None)
named = read(leaderboard_select.systems)
if row["is_counted"]:
    sections.beside_corpus(view, named)
else:
    st.info(_shared.text(sections.uncounted(row)))
if stored["is_counted"].any():
    sections.medians(view, named)
if row["is_counted"]:
    sections.head_to_head(view, named)
    sections.grades(view)
sections.averages()
sections.beside_print(named)
