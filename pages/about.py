"""About the numbers: what every number here means, and where it comes from."""

import tomllib

import streamlit as st

from compute.base.settings import PROJECT
from compute.evaluate.measures import known
from compute.views.about import contract
from compute.views.data import select as data_select
from pages._shared import drawing
from pages._shared.reading import read

WIDTH = 900

st.title("About the numbers", anchor=False)
st.markdown(contract.contents(), width=WIDTH)
st.markdown(contract.RULES, width=WIDTH)
st.header("Measures", anchor=contract.PLACES["Measures"])
st.table(contract.definitions(), hide_index=True, border="horizontal")
drawing.caption(
    "Names as ir_measures writes them. These are stored for every run; the setting measures adds"
    " others, and python -m compute score --measure scores stored runs by one. There are"
    f" {known()}."
)
st.header("Published figures", anchor=contract.PLACES["Published figures"])
st.markdown(
    "Shown beside the computed figures and never mixed with them. *In-domain*: the system was"
    " trained on that dataset. *Suspect*: the value contradicts its neighbours in print; it is"
    " shown and never used.",
    width=WIDTH,
)
st.table(contract.printed_tables(), hide_index=True, border="horizontal", width=WIDTH)
st.header("Known differences", anchor=contract.PLACES["Known differences"])
st.markdown(contract.DIFFERENCES, width=WIDTH)
st.header("What is stored here", anchor=contract.PLACES["What is stored here"])
st.markdown(
    "A result is kept under a fingerprint of all that could change it: the collection, the system"
    " with its parameters and weights, the version of each kind's meaning. Versions of libraries"
    " are recorded beside it and do not make it another result.",
    width=WIDTH,
)
origins = read(data_select.origins)
heads = {"rows": "Hits", "created": "Stored", "shipped": "Came with the project"}
shown = origins.rename(columns=heads).rename(columns=str.capitalize)
shown["Stored"] = shown["Stored"].str.replace("T", " ")
drawing.table(shown, "origins", "Stored runs")
drawing.caption(
    f"{len(origins):,} runs; those that came with the project are cut to their top 100."
)
st.header("Versions", anchor=contract.PLACES["Versions"])
project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
drawing.caption(f"Beirscope {project['version']}, and the packages that its numbers depend on:")
drawing.table(contract.versions(), "versions", "Versions", width=420)
