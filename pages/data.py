"""Data: what is stored, what goes in and what comes out."""

import streamlit as st

from pages import _address, _data_fetch, _data_import, _data_removing, _data_run
from pages import _data_sections as sections

DATASETS, RUNS, IMPORT, FETCH = "Datasets", "Runs", "Import", "Fetch"
PARTS = (DATASETS, RUNS, IMPORT, FETCH)

st.title("Data", anchor=False)
_address.arrive()
_data_removing.tell()
dataset, system = (st.query_params.get(key, "") for key in ("dataset", "system"))
one_run = bool(dataset and system)
_address.known("show", PARTS, "part of the page")
shown = st.segmented_control(
    "Part",
    PARTS,
    default=RUNS if one_run else DATASETS,
    required=True,
    key="show",
    bind="query-params",
    label_visibility="collapsed",
)
if shown == IMPORT:
    _data_import.section()
elif shown == FETCH:
    _data_fetch.section()
elif shown == RUNS and one_run:
    _data_run.section(dataset, system)
elif shown == RUNS:
    sections.runs()
else:
    sections.datasets()
