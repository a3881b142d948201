"""Holes: how much is unjudged, and could it turn the order?"""

import streamlit as st

from pages._frame import added_switch
from pages._holes import agreement, pool, sections
from pages._shared import address, dataset_facts, pickers, system_pickers
from pages._shared.pickers import pick, pick_many

st.title("Holes", anchor=False)
address.arrive()
runs, names = dataset_facts.with_lists()
dataset_facts.known_dataset(names)
address.known("measure", sections.MEASURES, "measure with an interval")
above = st.container()
with pickers.pickers():
    name = pick("Dataset", names, "dataset", width=260, titles=dataset_facts.titles())
    measure = pick("Measure", sections.MEASURES, "measure", width=140)
    known = list(runs.loc[runs["dataset"] == name, "system"])
    with above:
        address.known("systems", known, f"run on {name}")
    titles = system_pickers.titles()
    chosen = pick_many("Systems", known, "systems", width=420, titles=titles)
address.remember("dataset", name)
agreement.way(name)
rows = sections.scores(name, chosen or known, measure)
sections.orders(name, rows, measure)
sections.ranks(name, rows, measure)
sections.before_and_after(name, chosen or known, measure)
added_switch.download(name)
agreement.agreement(name)
pool.pool(name, chosen or known, measure)
