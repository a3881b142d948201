"""The Datasets and Runs sections of the Data page."""

import streamlit as st

from compute.base.words import counted
from compute.views.data import select as data_select
from compute.views.data import tables as figures
from compute.views.page import Table
from pages._data import removing
from pages._shared import address, dataset_facts, drawing, navigation, renderer, system_pickers
from pages._shared.pickers import pick_many
from pages._shared.reading import read


def datasets() -> None:
    """Draw the stored data of each dataset, and the imported tables."""
    rows, printed = read(data_select.datasets), read(data_select.printed)
    if rows.empty:
        st.info("Nothing is stored yet. Import files, or fetch a dataset.")
    else:
        carried = [[name] for name in rows["dataset"]]
        shown = figures.datasets_rows(rows, dataset_facts.titles())
        look = {"opens": navigation.DATASET, "carried": carried}
        renderer.section([Table("stored", "Stored datasets", shown, figures.DATASETS, **look)])
        drawing.caption(
            f"{counted(len(rows), 'dataset')}; click a row to open it.",
            "Splits of a dataset share its documents.",
        )
    if len(printed):
        look = {"opens": navigation.PRINTED, "carried": printed[["Table"]].to_numpy().tolist()}
        renderer.section([Table("printed", "Tables from elsewhere", printed, **look)])
        drawing.caption(f"{counted(len(printed), 'table')} from elsewhere; click one to open it.")
    own = rows.loc[rows["shipped"].ne(True), "dataset"].tolist()
    removing.a_dataset([*own, *printed["Table"]])


def runs() -> None:
    """Draw all stored runs; a click on a run opens its details."""
    rows = read(data_select.runs)
    if rows.empty:
        st.info("No run is stored yet. Import run files, or compute runs on the Jobs page.")
        return
    names = list(dict.fromkeys(rows["dataset"]))
    address.known("datasets", names, "dataset with runs")
    chosen = pick_many("Datasets", names, "datasets", width=400)
    rows = rows[rows["dataset"].isin(chosen or names)]
    carried = rows[["dataset", "system"]].to_numpy().tolist()
    shown = figures.runs_rows(rows, system_pickers.titles(), dataset_facts.titles())
    look = {"opens": navigation.RUN, "carried": carried}
    renderer.section([Table("stored_runs", "Stored runs", shown, figures.RUNS, **look)])
    drawing.caption(
        f"{counted(len(rows), 'run')}; click a row to open it.",
        "Depth: ranks stored per query (shipped runs: 100).",
    )
