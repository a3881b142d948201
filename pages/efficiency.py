"""Efficiency: what does quality cost in time and in space?"""

import streamlit as st

from compute.views.efficiency import select
from pages._efficiency import sections
from pages._shared import address, augmented_published, dataset_facts, pickers, system_pickers
from pages._shared.pickers import pick
from pages._shared.reading import read

st.title("Efficiency", anchor=False)
costs = read(select.costs)
if costs.empty:
    sections.nothing()
    address.stop()
systems = list(dict.fromkeys(costs["system"]))
choices = [sections.EVERY, *dict.fromkeys(costs["dataset"])]
address.known("dataset", choices, "dataset with measured runs")
measures = address.measures()
above = st.container()
with pickers.pickers():
    titles, usual = dataset_facts.titles(), sections.usual(costs)
    dataset = pick("Dataset", choices, "dataset", default=usual, width=240, titles=titles)
    measure = pick("Measure", measures, "measure", width=140)
    chosen = system_pickers.picked(systems, "system with measured runs", above)
    slow = pickers.switch("95th percentile of latency", "slow")
view = sections.view(costs, dataset, measure, chosen)
if view is not None:
    sections.figures(view, slow=slow)
    sections.table(view)
sections.unmeasured()
sections.beside_print(costs, view.datasets if view is not None else [])
augmented_published.section()
