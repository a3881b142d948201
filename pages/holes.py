"""Holes: how much is unjudged, and could it turn the order?"""

import streamlit as st

from pages._holes import agreement, estimates, judgement_sets, pool, sections
from pages._shared import address, dataset_facts, pickers, query_kind, reading, system_pickers
from pages._shared.pickers import pick

st.title("Holes", anchor=False)
runs, names = dataset_facts.with_lists()
dataset_facts.known_dataset(names)
address.known("measure", measures := sections.measures(), "measure with an interval")
above = st.container()
with pickers.pickers():
    name = pick("Dataset", names, "dataset", width=260, titles=dataset_facts.titles())
    measure = pick("Measure", measures, "measure", width=140)
    known = list(runs.loc[runs["dataset"] == name, "system"])
    systems = system_pickers.picked(known, f"run on {name}", above, [name])
    query_kind.of_dataset((name,), above, dataset_facts.titles().get(name, name))
address.remember("dataset", name)
whole = reading.kind() is None
if whole:
    agreement.way(name)
added = sections.has_added(name)
if added:
    sections.before_and_after(name, systems, measure)
    st.header("What the scores can be", anchor=False)
rows = sections.scores(name, systems, measure)
if whole:
    estimates.estimates(name)
sections.orders(name, rows, measure)
sections.ranks(name, rows, measure)
if not added:
    sections.before_and_after(name, systems, measure)
if whole:
    agreement.agreement(name)
    agreement.machines(name)
    judgement_sets.section(name, systems, measure)
else:
    sections.left_out()
pool.pool(name, systems, measure)
