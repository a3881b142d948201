"""Compare: two systems, query by query, on one dataset or on all."""

from typing import Any

import streamlit as st

from compute.views.compare import select
from pages._compare import sections
from pages._shared import address, dataset_facts, pickers, query_kind, system_pickers
from pages._shared.pickers import pick
from pages._shared.reading import read

st.title("Compare", anchor=False)
runs = read(select.runs)
if runs.empty:
    st.info("No dataset has two systems to compare yet: python -m compute demo computes some.")
    address.stop()
names = [*dict.fromkeys(runs["dataset"]), sections.ALL]
address.recall("dataset", names)
address.known("dataset", names, "dataset with two systems")
measures = address.measures()
above = st.container()
with pickers.pickers():
    name = pick("Dataset", names, "dataset", width=230, titles=dataset_facts.titles())
    own = runs if name == sections.ALL else runs[runs["dataset"] == name]
    systems = sorted(set(own["system"]))
    with above:
        address.known("a", systems, f"system on {name}")
        address.known("b", systems, f"system on {name}")
    first, second = system_pickers.usual_pair(systems, name)
    titles = system_pickers.titles()
    look: dict[str, Any] = {"width": 230, "titles": titles, "told": system_pickers.told(systems)}
    offered = system_pickers.with_versions(systems, set(own["dataset"]))
    a = pick("A", offered, "a", default=first, **look)
    b = pick("B", offered, "b", default=first if a == second else second, **look)
    measure = pick("Measure", measures, "measure", width=150)
    parts = sections.members(name)
    if name == sections.ALL:
        query_kind.of_datasets(above)
    else:
        query_kind.of_dataset(parts, above, dataset_facts.titles().get(name, name))
    sections.swap()
if name != sections.ALL:
    address.remember("dataset", name)
if a == b:
    st.info("A and B are the same system: choose another for one of them.")
    address.stop()
system_pickers.remember([a, b])
both = titles.get(a, a), titles.get(b, b)
view = sections.View(name, a, b, both, measure, parts)
if name == sections.ALL:
    sections.all_datasets(view)
else:
    sections.one_dataset(view)
