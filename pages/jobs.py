"""Jobs: start, watch and cancel computations."""

import streamlit as st

from compute import jobs
from compute.views.jobs.matrix import able
from compute.views.page import Switch
from pages._jobs import demo, judging, others, sections, training
from pages._shared import address, dataset_facts, pickers, reading, system_pickers
from pages._shared.pickers import pick_many, switch

st.title("Jobs", anchor=False)
store = reading.store()
sections.watch(store, sections.beat(jobs.listed(store.settings, sections.MOST)))
named = sections.named_systems()
cells = jobs.matrix(store, named, reading.parts())
asked = st.query_params.get_all("datasets")
address.known("systems", set(cells["system"]), "system that can run")
address.known("datasets", set(cells["dataset"]), "dataset with its own runs")
with pickers.pickers():
    systems = pick_many(
        "Systems",
        list(dict.fromkeys(cells["system"])),
        "systems",
        empty="none",
        width=300,
        titles=system_pickers.titles(),
    )
    place_of_datasets = st.container(width=400)
    everything = switch(Switch("all", "Show unavailable systems and datasets"))
    again = switch(Switch("again", "Recompute up-to-date results"))
sections.name_a_system(store)
without = ""
if not everything:
    without = sections.left_out(cells[~cells["dataset"].isin(asked)])
    cells = cells[cells["dataset"].isin([*able(cells, "dataset"), *asked])]
    cells = cells[cells["system"].isin([*able(cells, "system"), *systems])]
with place_of_datasets:
    names = list(dict.fromkeys(cells["dataset"]))
    titles = dataset_facts.titles()
    datasets = pick_many("Datasets", names, "datasets", empty="none", width=400, titles=titles)
chosen = cells[cells["system"].isin(systems) & cells["dataset"].isin(datasets)]
sections.start(store, cells, chosen, again=again)
if cells.empty:
    st.info("No dataset is available.")
else:
    sections.matrix(cells, chosen, without)
demo.section(store)
stored = {part.dataset for part in reading.parts() if part.kind == "queries"}
others.start(store, [name for name in dataset_facts.titles() if name in stored])
training.start(store, list(dict.fromkeys(cells["dataset"])))
judging.start(store)
