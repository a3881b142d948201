"""The Fetch section of the Data page: downloads from the datasets' publishers."""

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
    """Draw the archives of the catalogue's datasets, and a button that downloads missing ones."""
    store = reading.store()
    before = _beat(store)
    rows = offers.listed(store.settings)
    names = rows.loc[rows["obstacle"] == "", "archive"].tolist()
    address.known("archives", names, "archive that can be fetched")
    _start(store, rows, names)
    _watch(store, before)
    title, there = "Archives to download", figures.can_be_had(rows)
    renderer.section([Table("fetchable", title, there, figures.FETCHABLE, height="auto")])
    drawing.caption(
        "Archives come from their authors or from BEIR, under the stated licence. Checksums"
        " are verified, and interrupted downloads resume.",
        "Slow to encode: over a million documents, which take a dense system a day without a GPU.",
    )
    st.header("Not offered for download", anchor=False)
    title, lacking = "Archives that cannot be downloaded", figures.cannot_be_had(rows)
    renderer.section([Table("not_offered", title, lacking, figures.NOT_OFFERED, height="auto")])
    drawing.caption(
        "Get the documents from their distributor and put them into datasets in the server's"
        " home folder, as a folder or zip with this name in BEIR's layout."
    )


def _start(store: Store, rows: DataFrame, names: list[str]) -> None:
    """Draw the picker of archives and the button."""
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
    """Return a stamp that changes whenever a download starts or ends."""
    return [(job.id, job.state) for job in _fetches(store)]


def _watch(store: Store, before: Beat) -> None:
    """Show running downloads, and why the last one failed, if it did."""
    active = any(state in ("queued", "running") for _, state in before)
    st.fragment(_progress, run_every="2s" if active else None)(store, before)


@failures.guarded
def _progress(store: Store, before: Beat) -> None:
    """Draw running downloads; rerun the page if one started or ended since `before`."""
    # The fragment reruns long after app.py checked the sign-in.
    sign_in.require(sign_in.VIEWER)
    found = _fetches(store)
    if [(job.id, job.state) for job in found] != before:
        st.rerun()
    for job in found:
        if job.active:
            tasks = jobs.tasks(store.settings, job.id)
            running = [task for task in tasks if task.state == "running"]
            st.progress(jobs.share(job, tasks), text=escaping.text(figures.title(job, running)))
    if any(job.active for job in found) and not jobs.workers_alive(store.settings):
        st.warning("No worker is running. Downloads wait until a worker is started (see Jobs).")
    if found and found[0].state == "failed":
        st.error(escaping.text(found[0].error))
        st.page_link("pages/jobs.py", label="Retry it on the Jobs page", icon=":material/replay:")
