"""Dataset: everything about one dataset."""

import streamlit as st

from compute import advice, queries
from compute.measures import MEASURES
from pages import _address, _shared
from pages import _dataset_sections as sections
from pages._shared import pick, read

st.title("Dataset", anchor=False)
_address.arrive()
names = list(read(queries.dataset.catalogue)["dataset"])
_address.recall("dataset", names)
_address.known("dataset", names, "dataset")
_address.known("measure", MEASURES, "measure")
with _shared.pickers():
    name = pick("Dataset", names, "dataset", width=280)
    measure = pick("Measure", MEASURES, "measure", width=160)
_address.remember("dataset", name)
facts = read(queries.dataset.facts, dataset=name)
dataset = advice.record(facts)
means = read(queries.dataset.means_of, datasets=[name])
named = read(queries.leaderboard.systems)
sections.facts(dataset)
if means.empty:
    st.info(_shared.text(sections.without_runs(dataset)))
left, right = st.columns([0.52, 0.48])
with left:
    sections.statistics(dataset, facts)
with right:
    sections.example(dataset)
if len(means):
    sections.systems(means.merge(named, on="system"))
    if not dataset.parts:
        target = {"dataset": name, "measure": measure}
        _address.link("Its queries, list by list", "pages/query.py", **target)
    sections.spread(dataset, measure, named)
if dataset.parts:
    sections.parts(dataset, measure)
sections.published(dataset)
