"""Lengths: who prefers short documents?"""

import streamlit as st

from compute.corpora.lengths import MAX_WORDS
from compute.views.leaderboard import select as leaderboard_select
from compute.views.lengths import select
from pages._lengths import sections
from pages._shared import (
    address,
    dataset_facts,
    escaping,
    pickers,
    query_kind,
    reading,
    system_pickers,
)
from pages._shared.pickers import pick
from pages._shared.reading import read

st.title("Lengths", anchor=False)
stored = read(select.catalogue)
stored = stored[stored["is_counted"] | (stored["n_runs"] > 0)]
if stored.empty:
    st.info("No lengths are counted yet: python -m compute demo runs systems and counts them.")
    address.stop()
names = list(stored["dataset"])
address.recall("dataset", names)
address.known("dataset", names, "dataset with lengths or runs")
address.known("k", sections.TOPS, "number of documents")
address.known("axis", sections.AXES, "axis")
above = st.container()
with pickers.pickers():
    name = pick("Dataset", names, "dataset", width=240, titles=dataset_facts.titles())
    k = pick("Top", sections.TOPS, "k", width=100)
    axis = pick("Axis", sections.AXES, "axis", width=150)
    counted = sections.counted_systems()
    systems = system_pickers.picked(counted, "system with counted lengths", above)
    record = dataset_facts.record(name)
    query_kind.of_dataset(record.parts or (name,), above, record.title)
    cut = pickers.switch(f"Cut at {MAX_WORDS} words", "cut")
address.remember("dataset", name)
row = stored[stored["dataset"] == name].iloc[0]
view = sections.View(row, int(k), axis == sections.LOG, MAX_WORDS if cut else None, systems)
named = read(leaderboard_select.systems)
if row["is_counted"]:
    sections.beside_corpus(view, named)
else:
    st.info(escaping.text(sections.uncounted(row)))
whole = reading.kind() is None
if whole and stored["is_counted"].any():
    sections.medians(view, named)
if row["is_counted"]:
    sections.head_to_head(view, named)
    sections.grades(view)
if whole:
    sections.averages()
    sections.beside_print(named)
