"""The sections of the page Jobs."""

import shlex
import time
from collections.abc import Iterator, Sequence
from typing import Literal

import streamlit as st
from pandas import DataFrame
from streamlit.delta_generator import DeltaGenerator

from compute import jobs
from compute.figures import jobs as figures
from compute.jobs import Job
from compute.settings import Settings
from compute.store import Store
from pages import _shared

BADGES: dict[str, Literal["gray", "blue", "green", "orange"]] = {
    "queued": "gray",
    "running": "blue",
    "done": "green",
    "failed": "orange",
    "cancelled": "gray",
}
SHOWN, MOST = 5, 50
"""Ended jobs on the page, and with the older ones."""
LOG_LINES = 15

Beat = Sequence[object]
"""What changes whenever a job or a task begins or ends."""


def beat(now: Settings) -> Beat:
    """The beat of the jobs as they are."""
    return _beat(jobs.listed(now, MOST))


def _beat(found: Sequence[Job]) -> Beat:
    return [(job.id, job.state, sorted((job.counts or {}).items())) for job in found]


def start(store: Store, chosen: DataFrame, *, again: bool) -> None:
    """What the chosen cells would take, and the button that starts them."""
    targets = figures.to_do(chosen, again=again)
    with st.container(horizontal=True, vertical_alignment="center"):
        asked = st.button(
            "Start", type="primary", icon=":material/play_arrow:", disabled=not targets
        )
        if targets:
            words = figures.expected(jobs.estimate(store, targets), len(targets))
            left_out = figures.left_out(chosen, targets)
            st.markdown(_shared.text(words + left_out))
        else:
            st.markdown(_shared.text(figures.nothing_to_do(chosen)))
    place = chosen["system"].tolist(), chosen["dataset"].tolist(), again
    if asked:
        names = (list(dict.fromkeys(column)) for column in zip(*targets, strict=True))
        with st.spinner("Queueing…"):
            started = jobs.start(store, "run", *names, again=again)
        st.session_state["_started"] = place, started.sentence
        st.rerun()
    before, sentence = st.session_state.get("_started", (None, ""))
    if before == place:
        st.info(_shared.text(sentence[:1].upper() + sentence[1:]))


def matrix(cells: DataFrame, chosen: DataFrame) -> None:
    """Every system on every dataset; a click or a drag over cells chooses them."""
    targets = set(zip(chosen["system"], chosen["dataset"], strict=True))
    figure = figures.matrix(cells, chosen=targets, theme=_shared.theme())
    _shared.plot(figure, "matrix", "Runs of systems on datasets", on_select=_select)
    _shared.caption("Click a cell or drag over several to choose them.", figures.signs(cells))


def _select() -> None:
    points = st.session_state["matrix"]["selection"]["points"]
    if points:
        systems, datasets = zip(*(point["customdata"] for point in points), strict=True)
        st.session_state["systems"] = list(dict.fromkeys(systems))
        st.session_state["datasets"] = list(dict.fromkeys(datasets))


def watch(store: Store, before: Beat) -> None:
    """The list of jobs; it draws itself again, often while any is at work."""
    st.subheader("Queue", anchor=False)
    active = any(job.active for job in jobs.listed(store.settings, MOST))
    st.fragment(_list, run_every="2s" if active else "10s")(store, before)


@_shared.guarded
def _list(store: Store, before: Beat) -> None:
    found = jobs.listed(store.settings, MOST)
    if _beat(found) != before or _shared.is_outdated():
        st.rerun()
    _workers(store.settings)
    ended = [job for job in found if not job.active]
    for job in found:
        if job.active:
            _active(store, job)
    older = st.session_state.get("older", False)
    for job in ended[: MOST if older else SHOWN]:
        _ended(store, job)
    if len(ended) > SHOWN:
        st.toggle("Older jobs too", key="older")
    if not found:
        _shared.caption("No job was started here yet.")


def _workers(now: Settings) -> None:
    alive = jobs.workers_alive(now)
    if alive:
        _shared.caption(f"{len(alive)} worker{'s' * (len(alive) > 1)} at hand.")
        return
    st.warning("No worker is running: jobs wait until one is started. In a terminal:")
    home = f"BEIRSCOPE_HOME={shlex.quote(str(now.home))} " * (now.home != Settings().home)
    st.code(f"{home}python -m compute worker", language=None)


def _active(store: Store, job: Job) -> None:
    with st.container(border=True, gap="xsmall"):
        with _line(job):
            if st.button("Cancel", key=f"cancel {job.id}", icon=":material/stop_circle:"):
                jobs.cancel(store.settings, job.id)
                st.rerun()
        st.progress(job.share, text=_shared.text(job.summary))
        for task in _running(store, job):
            _shared.caption(f"{task.title}: {figures.step(task.progress)}")
        _details(store, job)


def _running(store: Store, job: Job) -> Iterator[Job]:
    tasks = jobs.tasks(store.settings, job.id)
    return (task for task in tasks if task.state == "running")


def _ended(store: Store, job: Job) -> None:
    with st.container(border=True, gap="xsmall"):
        with _line(job):
            _shared.caption(f"{job.summary} · {figures.times(job, time.time())}")
            unfinished = job.state in ("failed", "cancelled")
            if unfinished and st.button("Retry", key=f"retry {job.id}", icon=":material/replay:"):
                jobs.retry(store, job.id)
                st.rerun()
        if job.error:
            st.markdown(_shared.text(job.error))
        _details(store, job)


def _line(job: Job) -> DeltaGenerator:
    line = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with line:
        st.badge(job.state, color=BADGES[job.state])
        st.markdown(f"**{_shared.text(job.title)}**", width="content")
    return line


def _details(store: Store, job: Job) -> None:
    """The tasks of a job and the end of its log, if they are asked for."""
    if not st.toggle("Tasks and log", key=f"details {job.id}"):
        return
    tasks = {task.id: task for task in jobs.tasks(store.settings, job.id)}
    st.dataframe(figures.task_table(list(tasks.values())), hide_index=True)
    titles = {job.id: "the whole job"} | {name: task.title for name, task in tasks.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            "Log of", list(titles), format_func=titles.__getitem__, key=f"log {job.id}", width=360
        )
        log = jobs.log_file(store.settings, name)
        st.download_button(
            "Download",
            lambda: log.read_bytes() if log.exists() else b"",
            file_name=log.name,
            mime="text/plain",
            key=f"download {job.id}",
            on_click="ignore",
        )
    st.code(jobs.log_tail(store.settings, name, LOG_LINES) or "nothing yet", language=None)
