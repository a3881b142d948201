"""Efficiency: what does quality cost in time and in space?"""

import streamlit as st

from compute.views.efficiency import select
from pages import _address, _augmented_print, _shared
from pages import _efficiency_sections as sections
from pages._shared import pick, pick_many, read

st.title("Efficiency", anchor=False)
_address.arrive()
costs = read(select.costs)
if costs.empty:
    sections.nothing()
    st.stop()
systems = list(dict.fromkeys(costs["system"]))
choices = [sections.EVERY, *dict.fromkeys(costs["dataset"])]
_address.known("dataset", choices, "dataset with measured runs")
measures = _address.measures()
_address.known("systems", systems, "system with measured runs")
with _shared.pickers():
    dataset = pick("Dataset", choices, "dataset", width=240)
    measure = pick("Measure", measures, "measure", width=140)
    chosen = pick_many("Systems", systems, "systems", width=330)
    slow = _shared.switch("95th percentile of latency", "slow")
view = sections.view(costs, dataset, measure, chosen)
if view is not None:
    sections.figures(view, slow=slow)
    sections.table(view)
sections.unmeasured()
sections.beside_print(costs, view.datasets if view is not None else [])
_augmented_print.section()
