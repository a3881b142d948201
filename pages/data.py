"""Data: stored data, imports and downloads."""

import streamlit as st

from pages._data import fetch, importing, removing, run, sections
from pages._shared import address, navigation, pickers

DATASETS, RUNS, IMPORT, FETCH = "Datasets", "Runs", "Import", "Fetch"
PARTS = (DATASETS, RUNS, IMPORT, FETCH)

st.title("Data", anchor=False)
navigation.from_top()
removing.tell()
dataset, system = (st.query_params.get(key, "") for key in ("dataset", "system"))
one_run = bool(dataset and system)
address.known("show", PARTS, "part of the page")
shown = pickers.view("Part", PARTS, "show", default=RUNS if one_run else DATASETS)
if shown == IMPORT:
    importing.section()
elif shown == FETCH:
    fetch.section()
elif shown == RUNS and one_run:
    run.section(dataset, system)
elif shown == RUNS:
    sections.runs()
else:
    sections.datasets()
