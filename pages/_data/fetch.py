"""The section Fetch of the page Data: what can be had from where it is published."""

import shutil

import streamlit as st
from pandas import DataFrame

from compute import jobs
from compute.intake.fetch import offers
from compute.store.store import Store
from compute.views.data import fetching as figures
from compute.views.page import Table
from pages._shared import address, drawing, escaping, failures, pickers, reading, renderer, sign_in
from pages._shared.pickers import pick_many

Beat = list[tuple[str, str]]


def section() -> None:
    """The archives of the catalogue's datasets: what is here, and a button that fetches others."""
    store = reading.store()
    before = _beat(store)
    rows = offers.listed(store.settings)
    names = rows.loc[rows["obstacle"] == "", "archive"].tolist()
    address.known("archives", names, "archive that can be fetched")
    _start(store, rows, names)
    _watch(store, before)
    title, there = "Archives that can be fetched", figures.can_be_had(rows)
    renderer.section([Table("fetchable", title, there, figures.FETCHABLE, height="auto")])
    drawing.caption(
        how="an archive brings every split of a dataset; one that is here is used"
        " by runs as it stands, packed. It is fetched from where its authors or BEIR publish it,"
        " for you to use under the licence named; its checksum is compared with the published one,"
        " and an interrupted fetch goes on where it stopped. Of the hub's archives the size is told"
        " when the fetch begins. Long to encode: more than a million documents, which take dense"
        " systems most of a day or more without a GPU."
    )
    st.header("Not offered for download", anchor=False)
    title, lacking = "Archives that cannot be fetched", figures.cannot_be_had(rows)
    renderer.section([Table("not_offered", title, lacking, figures.NOT_OFFERED, height="auto")])
    drawing.caption(
        "What to do: get the documents where they are given out, bring them into the BEIR layout"
        " (corpus.jsonl, queries.jsonl and qrels/test.tsv) and put them, as a folder or zip archive"
        " of this name, into the folder datasets of the server's home folder."
    )


def _start(store: Store, rows: DataFrame, names: list[str]) -> None:
    """What is chosen, and the button."""
    if not sign_in.may(sign_in.OPERATOR):
        drawing.caption(sign_in.told(sign_in.OPERATOR))
        return
    with pickers.pickers():
        chosen = pick_many("Archives", names, "archives", empty="none", width=400)
        lacking = rows[rows["archive"].isin(chosen) & (rows["here"] == "")]["archive"].tolist()
        if st.button("Fetch", type="primary", icon=":material/download:", disabled=not lacking):
            sign_in.require(sign_in.OPERATOR)
            with st.spinner("Queueing"):
                wanted = [offers.OFFERS[name].rows[0].name for name in lacking]
                jobs.start(store, "fetch", datasets=wanted, person=sign_in.name())
            st.rerun()
    free = shutil.disk_usage(store.settings.home).free
    st.markdown(escaping.text(figures.chosen(rows, chosen, free)))


def _fetches(store: Store) -> list[jobs.Job]:
    return [job for job in jobs.listed(store.settings, 20) if job.kind == "fetch"]


def _beat(store: Store) -> Beat:
    return [(job.id, job.state) for job in _fetches(store)]


def _watch(store: Store, before: Beat) -> None:
    """The fetches at work, and why the last one failed if it did."""
    active = any(state in ("queued", "running") for _, state in before)
    st.fragment(_progress, run_every="2s" if active else None)(store, before)


@failures.guarded
def _progress(store: Store, before: Beat) -> None:
    # It goes on by itself, long after app.py let somebody in.
    sign_in.require(sign_in.VIEWER)
    found = _fetches(store)
    if [(job.id, job.state) for job in found] != before:
        st.rerun()
    for job in found:
        if job.active:
            tasks = jobs.tasks(store.settings, job.id)
            running = [task for task in tasks if task.state == "running"]
            st.progress(job.share, text=escaping.text(figures.title(job, running)))
    if any(job.active for job in found) and not jobs.workers_alive(store.settings):
        st.warning("No worker is running: fetches wait until one is started, as Jobs says how.")
    if found and found[0].state == "failed":
        st.error(escaping.text(found[0].error))
        st.page_link("pages/jobs.py", label="Retry it on the page Jobs", icon=":material/replay:")
