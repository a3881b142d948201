"""A run on the Data page: its details, how it was made, and the run as a file."""

from collections.abc import Mapping
from typing import Any

import streamlit as st
from pandas import DataFrame

from compute.exports import runs
from compute.reading.inputs import Inputs
from compute.store import provenance
from compute.store.provenance import portable
from compute.views.about import tables as figures
from compute.views.about import view_provenance
from compute.views.dataset import select as dataset_select
from pages._data import removing
from pages._shared import address, drawing, escaping, navigation, reading, sign_in
from pages._shared.reading import read


def section(dataset: str, system: str) -> None:
    """Draw the run of a system on a dataset."""
    if st.button("All runs", icon=":material/arrow_back:", type="tertiary"):
        navigation.to("data", show="Runs")
        navigation.follow()
    with reading.store().listed_once():
        _run(dataset, system)


def _run(dataset: str, system: str) -> None:
    found = provenance.of_runs(reading.store(), [(dataset, system)])
    if not found:
        st.info(escaping.text(f"No run of {system} on {dataset} is stored here."))
        return
    run = found[0]
    st.header(escaping.text(f"{run['system']} on {run['dataset']}"), anchor=False)
    drawing.caption(*_said(run))
    if run["damage"]:
        st.warning("This run is left out: its file is damaged. The command below recomputes it.")
    elif not run["is_current"]:
        st.warning(
            "This run is out of date because its inputs were replaced, so no other page shows"
            " it. The command below recomputes it."
        )
    _links(run, dataset, system)
    _again(dataset, system)
    _downloads(dataset, system)
    left, right = st.columns(2)
    with left:
        _scores(run, dataset, system)
    with right:
        st.markdown("**Dropped or reordered**")
        _table(figures.treated_table(run))
        _settings(run)
    _chain(run, view_provenance.behind(reading.store(), dataset, system))
    _machine(run)
    removing.a_run(dataset, system)


def _said(run: Mapping[str, Any]) -> list[str]:
    """Say how and when the run was stored, with a remark."""
    how = "Imported" if run["file"] else "Computed"
    seconds = f" in {run['seconds']:,.1f} s" if run["seconds"] else ""
    machine = figures.machine(run["hardware"])
    said = f"{how} {figures.date(run['date'])} UTC{seconds}" + (f" on {machine}" if machine else "")
    remark = figures.remark(run)
    return [f"{said}.", f"{remark[:1].upper()}{remark[1:]}." if remark else ""]


def _links(run: Mapping[str, Any], dataset: str, system: str) -> None:
    target = {"dataset": dataset, "system": system}
    with st.container(horizontal=True):
        address.link("The dataset", "pages/dataset.py", **target)
        if run["is_current"]:
            address.link(
                "Ranked lists per query",
                "pages/query.py",
                dataset=dataset,
                systems=system,
            )
        address.link("About the system", "pages/data.py", show="Runs", about=system, **target)


def _again(dataset: str, system: str) -> None:
    st.markdown("**Recompute**")
    whole = _whole(dataset, system)
    st.code(view_provenance.as_shell(whole), language="bash", wrap_lines=True)
    sign_in.download_button(
        "This page as JSON",
        view_provenance.as_json(whole),
        file_name=f"{runs.file_name(dataset, portable(system), '')}.json",
        mime="application/json",
        icon=":material/download:",
        type="tertiary",
    )


def _whole(dataset: str, system: str) -> dict[str, Any]:
    """Return the record of the run, its input runs, and its dataset."""
    rests_on = Inputs(frozenset({(dataset, system)}), frozenset({dataset}))
    version = reading.store().version(), 0
    return view_provenance.record(reading.store(), rests_on, version=version)


def _downloads(dataset: str, system: str) -> None:
    names = dataset, system
    store = reading.store()
    st.markdown("**The ranked lists as a TREC run file**")
    with st.container(horizontal=True):
        for ending, label in ((".gz", "Packed (.gz)"), ("", "Plain text (.txt)")):
            sign_in.download_button(
                label,
                lambda ending=ending: runs.run_file(store, *names, ending),
                file_name=runs.file_name(dataset, portable(system), ending or ".txt"),
                mime="application/gzip" if ending else "text/plain",
                icon=":material/download:",
                key=f"_run_file{ending}",
            )
    drawing.caption("query, Q0, document, rank, score, system; in the order used for scoring.")


def _scores(run: Mapping[str, Any], dataset: str, system: str) -> None:
    means = read(dataset_select.means_of, datasets=[dataset])
    means = means[means["system"] == system]
    st.markdown("**Scores**")
    if means.empty:
        st.caption("No current scores. Score the run again: `python -m compute rescore`.")
        return
    _table(figures.scores_table(means, reading.measures()))
    scored = run["scored"]
    again = f"Scored {figures.date(scored['date'])} UTC: {scored['command']}." if scored else ""
    drawing.caption(
        "Means over all evaluated queries. Unanswered queries score 0 and are left out of"
        " Hole@k and Judged@k.",
        again,
    )


def _settings(run: Mapping[str, Any]) -> None:
    st.markdown("**Settings**")
    _table(figures.facts_table(run["settings"], "Setting"))
    if run["facts"]:
        st.markdown("**Also recorded**")
        _table(figures.facts_table(run["facts"], "What"))


def _chain(run: Mapping[str, Any], inputs: list[dict[str, Any]]) -> None:
    collections = provenance.of_datasets(reading.store(), [run["dataset"]])
    if not collections:
        return
    st.markdown("**Inputs**")
    _table(figures.chain_table(run, inputs, collections[0]))
    drawing.caption(
        "A fingerprint is the SHA-256 hash of the content; equal fingerprints mean equal data.",
        "Hits of this run:"
        f" {run['fingerprints'].get('hits', '–')}; its scores:"
        f" {run['fingerprints'].get('scores', '–')}.",
    )


def _machine(run: Mapping[str, Any]) -> None:
    st.markdown("**Versions and machine**")
    left, right = st.columns(2)
    with left:
        _table(figures.facts_table(run["versions"], "Package"))
    with right:
        _table(figures.facts_table(run["hardware"], "Machine"))


def _table(frame: DataFrame) -> None:
    st.dataframe(frame, hide_index=True, placeholder="–", height="content")
