"""Sections of the Jobs page."""

import contextlib
import shlex
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import streamlit as st
from pandas import DataFrame
from streamlit.delta_generator import DeltaGenerator

from compute import jobs
from compute.base.errors import BeirscopeError
from compute.base.settings import Settings
from compute.jobs import Job
from compute.jobs.matrix import CANNOT
from compute.jobs.queue import Names, called
from compute.store.store import Store
from compute.systems import from_outside
from compute.views.jobs import matrix as figures
from compute.views.page import Figure, Table
from pages._jobs import judging, training
from pages._shared import (
    colours,
    dataset_facts,
    drawing,
    escaping,
    failures,
    navigation,
    pickers,
    reading,
    renderer,
    sign_in,
    system_pickers,
)

BADGES: dict[str, Literal["gray", "blue", "green", "orange"]] = {
    "queued": "gray",
    "running": "blue",
    "done": "green",
    "failed": "orange",
    "cancelled": "gray",
}
SHOWN, MOST = 3, 50
"""Ended jobs that are shown (without retried ones), and jobs if older ones are included."""
LOG_LINES = 15

Beat = Sequence[tuple[str, str, Sequence[tuple[str, int]]]]
"""A stamp that changes whenever a job or a task starts or ends."""


def beat(found: Sequence[Job]) -> Beat:
    """Return a stamp of these jobs' states, by which the page detects changes."""
    return [(job.id, job.state, sorted((job.counts or {}).items())) for job in found]


def named_systems() -> list[str]:
    """Return the systems in the address, by canonical names, as far as a page may name them."""
    found = []
    for name in (*st.query_params.get_all("systems"), *st.session_state.get("systems", ())):
        with contextlib.suppress(BeirscopeError):
            found.append(from_outside(name).name)
    return found


def name_a_system(store: Store) -> None:
    """Draw controls that add a system without a row: parameters, a fusion, or a model by name."""
    if not sign_in.may(sign_in.OPERATOR):
        return
    with st.expander("Custom system (fusion, parameters, model)", icon=":material/add:"):
        runs = {part.system: part.system for part in reading.parts() if part.kind == "hits"}
        titled = (runs | system_pickers.titles()).__getitem__
        fused = st.multiselect("Fuse stored runs", sorted(runs), key="_fused", format_func=titled)
        how = st.selectbox("Fused by", ["rrf", "interpolate"], key="_fusion")
        add: dict[str, Any] = {"on_click": _add, "args": [store, f"{how}({','.join(fused)})"]}
        st.button("Add the fusion of the chosen runs", **add, disabled=len(fused) < 2)
        name: dict[str, Any] = {"key": "_new_system", "on_change": _add, "args": [store]}
        st.text_input("Or type a system's name", placeholder="rrf(bm25,minilm)", **name)
        drawing.caption(
            "Such as rrf(bm25,minilm) or bm25(k1=1.2,b=0.75).",
            "bm25(k1=1.2,b=0.75) is BM25 with different parameters, rrf(bm25,minilm) the fusion of"
            " two runs, dense(MODEL) any sentence-transformers model,"
            " rerank(bm25,MODEL,depth=100) a cross-encoder on the top hits of another system.",
        )
        if wrong := st.session_state.get("_wrong_system"):
            st.error(escaping.text(wrong))


def _add(store: Store, fusion: str = "") -> None:
    """Choose a fusion or the entered system, and a dataset on which it can run; keep an error."""
    now = st.session_state
    now["_wrong_system"] = ""
    try:
        if written := fusion or now["_new_system"]:
            name = from_outside(written).name
            able = figures.able_on(jobs.matrix(store, [name]), [name])
            datasets = list(now.get("datasets", ()))
            if (able and datasets and not set(able) & set(datasets)) or len(able) == 1:
                datasets = able[:1]
            systems = list(dict.fromkeys([*now.get("systems", ()), name]))
            pickers.put(systems=systems, datasets=datasets)
            now["_new_system"] = ""
    except BeirscopeError as error:
        now["_wrong_system"] = str(error)


def start(store: Store, cells: DataFrame, chosen: DataFrame, *, again: bool) -> None:
    """Draw the expected cost of the chosen cells of a matrix, and the start button."""
    if not sign_in.may(sign_in.OPERATOR):
        drawing.caption(sign_in.told(sign_in.OPERATOR))
        return
    targets = figures.to_do(chosen, again=again)
    asked = chosen["system"].tolist(), chosen["dataset"].tolist(), again
    with st.container(horizontal=True, vertical_alignment="center"):
        icon = ":material/play_arrow:"
        if st.button("Start", type="primary", icon=icon, disabled=not targets):
            names = (list(dict.fromkeys(column)) for column in zip(*targets, strict=True))
            sign_in.require(sign_in.OPERATOR)
            with st.spinner("Queueing"):
                who = sign_in.name()
                started = jobs.start(store, "run", *names, again=again, person=who)
            st.session_state["_started"] = asked, started
            st.rerun()
        words = _came_to(store.settings, asked)
        if targets and not words:
            words = figures.expected(jobs.estimate(store, targets), len(targets))
            words += figures.left_out(chosen, targets)
        some = [key for key in ("systems", "datasets") if st.session_state.get(key)]
        unable, titles = chosen.loc[chosen["state"] == CANNOT, "system"], dataset_facts.titles()
        able = [titles.get(one, one) for one in figures.able_on(cells, unable)]
        look: dict[str, Any] = {"clickable": not colours.narrow(), "able": able}
        idle = figures.nothing_to_do(chosen, some, **look)
        st.markdown(escaping.text(words or idle))


def _came_to(now: Settings, asked: object) -> str:
    """State the outcome of starting these cells, until the job has ended."""
    before, started = st.session_state.get("_started", (None, None))
    if started is None or before != asked:
        return ""
    job = jobs.job(now, started.job) if started.job else None
    if started.job and (job is None or not job.active):
        return ""
    return f"{started.sentence[:1].upper()}{started.sentence[1:]}."


def left_out(cells: DataFrame) -> str:
    """Name the datasets with runs that the matrix hides by default."""
    stored = {part.dataset for part in reading.parts() if part.kind == "hits"}
    return figures.not_at_hand(cells, stored, dataset_facts.titles())


def matrix(cells: DataFrame, chosen: DataFrame, without: str = "") -> None:
    """Draw the matrix of systems and datasets; clicks select cells. `without`: hidden datasets."""
    targets = set(zip(chosen["system"], chosen["dataset"], strict=True))
    titles = dataset_facts.titles() | system_pickers.titles()
    drawn = partial(figures.matrix, cells, chosen=targets, titles=titles)
    navigation.plot(Figure("matrix", "Runs of systems on datasets", drawn), _select)
    drawing.caption(
        drawing.of_matrix(figures.signs(cells)),
        figures.outdated(cells),
        figures.shipped(cells),
        drawing.of_matrix("Click a cell to select or deselect it."),
    )
    drawing.caption(without)


def _select(*cell: str) -> None:
    now = st.session_state
    systems, datasets = figures.clicked(now["systems"], now["datasets"], cell)
    pickers.put(systems=systems, datasets=datasets)


def watch(store: Store, before: Beat) -> None:
    """Draw the list of jobs, which reruns by itself, more often while a job is running."""
    st.header("Queue", anchor=False)
    active = {"queued", "running"} & {state for _, state, _ in before}
    names = Names(system_pickers.titles(), dataset_facts.titles())
    st.fragment(_list, run_every="2s" if active else "10s")(store, before, names)


@failures.guarded
def _list(store: Store, before: Beat, names: Names) -> None:
    """Draw the jobs; rerun the page if one started or ended since `before`."""
    # The fragment reruns long after app.py checked the sign-in.
    sign_in.require(sign_in.VIEWER)
    navigation.leave_fragment()
    found = jobs.listed(store.settings, MOST)
    if beat(found) != before or reading.is_outdated():
        st.rerun()
    if refused := st.session_state.get("_refused"):
        st.error(escaping.text(refused))
    _workers(store.settings)
    ended = [job for job in found if not job.active]
    for job in found:
        if job.active:
            _active(store, job, figures.before(job, found), names)
    older, drawn = st.session_state.get("older", False), 0
    for job in ended:
        if drawn == SHOWN and not older:
            break
        tasks = jobs.tasks(store.settings, job.id) if job.state != "done" else []
        retried = job.state != "done" and figures.tried_again(job, tasks, found)
        if older or not retried:
            _ended(store, job, tasks, names, retried=retried)
            drawn += 1
    if older or len(ended) > drawn:
        st.toggle("Include older and retried jobs", key="older")
    if not found:
        drawing.caption("No job has been started here yet.")


def _button(label: str, job: Job, icon: str, act: Callable[..., object], *args: Any) -> None:
    """Draw a button of a job's card, for operators. The action is a callback, so that it runs
    before the queue is redrawn: a redraw may rerun the page, and the click would be lost."""

    def pressed() -> None:
        st.session_state["_refused"] = ""
        try:
            sign_in.require(sign_in.OPERATOR)
            act(*args)
        except BeirscopeError as error:
            st.session_state["_refused"] = str(error)

    if sign_in.may(sign_in.OPERATOR):
        look: dict[str, Any] = {"icon": f":material/{icon}:"}
        st.button(label, key=f"{label.lower()} {job.id}", on_click=pressed, **look)


def _workers(now: Settings) -> None:
    """Say how many workers run, or how to start one."""
    alive = jobs.workers_alive(now)
    if alive:
        lacking = [f"{line[0].upper()}{line[1:]}." for line in jobs.workers_lacking(now)]
        drawing.caption(f"{len(alive)} worker{'s' * (len(alive) > 1)} running.", *lacking)
        return
    if jobs.being_installed():
        st.info(
            "The packages that run systems are still being installed. Jobs wait; a worker starts by"
            " itself once installation ends."
        )
        return
    if lacking := jobs.not_installed():
        st.info(
            f"This installation cannot run systems because {', '.join(lacking)} are not"
            " installed. To install them and start a worker, enter in a terminal:"
        )
        st.code("make run", language=None, wrap_lines=True)
        return
    st.warning("No worker is running. Jobs wait until you start one in a terminal:")
    home = f"BEIRSCOPE_HOME={shlex.quote(str(now.home))} " * (now.home != Settings().home)
    st.code(f"{home}python -m compute worker", language=None, wrap_lines=True)


def _active(store: Store, job: Job, before: int, names: Names) -> None:
    with st.container(border=True, gap="xsmall"):
        with _line(job, names):
            _button("Cancel", job, "stop_circle", jobs.cancel, store.settings, job.id)
            details = _asked_for_details(job)
        tasks = jobs.tasks(store.settings, job.id)
        st.progress(jobs.share(job, tasks), text=escaping.text(job.summary))
        drawing.caption(figures.now(tasks, before, names, time.time()))
        # A line that appears only at times would move the page under the pointer.
        st.caption(_silence(store.settings, job, tasks) or "&nbsp;")
        training.going_on(store, job)
        judging.told(store, job)
        if details:
            _details(store, job, names)


def _silence(now: Settings, job: Job, tasks: Sequence[Job]) -> str:
    """State for how long this page has seen no progress of a running job."""
    told = [(task.id, task.progress) for task in tasks if task.progress]
    heard: dict[str, tuple[object, float]] = st.session_state.setdefault("_heard", {})
    if job.id not in heard or heard[job.id][0] != told:
        heard[job.id] = told, time.monotonic()
    working = told and jobs.workers_alive(now)
    return figures.silence(time.monotonic() - heard[job.id][1]) if working else ""


def _ended(store: Store, job: Job, tasks: Sequence[Job], names: Names, *, retried: bool) -> None:
    with st.container(border=True, gap="xsmall"):
        with _line(job, names):
            st.caption(
                escaping.text(f"{job.summary}; {figures.times(job, time.time())}"), width="content"
            )
            if retried:
                st.caption("retried", width="content")
            elif job.state != "done":
                _button("Retry", job, "replay", jobs.retry, store, job.id, sign_in.name())
            _open(job)
            details = _asked_for_details(job)
        if job.error:
            st.markdown(escaping.text(figures.error(job, tasks, names)))
        judging.told(store, job)
        if details:
            _details(store, job, names)


def _open(job: Job) -> None:
    """Draw a link to the run that a job made, or to the Leaderboard for several runs."""
    if job.kind == "run" and job.state == "done":
        (system, dataset), *others = job.targets
        names = {"dataset": dataset, "system": system}
        to = ("leaderboard", {"numbers": "Computed"}) if others else ("dataset", names)
        look: dict[str, Any] = {"icon": ":material/arrow_forward:", "type": "tertiary"}
        go = partial(navigation.to, to[0], **to[1])
        st.button("Open the result", key=f"open {job.id}", on_click=go, **look)


def _line(job: Job, names: Names) -> DeltaGenerator:
    line = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with line:
        state = figures.state(job)
        st.badge(state, color=BADGES[state])
        st.markdown(f"**{escaping.text(figures.title(job, names))}**", width="content")
    return line


def _asked_for_details(job: Job) -> bool:
    return st.toggle("Tasks and log", key=f"details {job.id}")


def _task_table(job: Job, tasks: list[Job], names: Names) -> None:
    """Draw the tasks of a job; a click on a task opens its run."""
    title, rows = f"Tasks of {figures.title(job, names)}", figures.task_table(tasks, names)
    carried = [(task.dataset, task.system) for task in tasks]
    look = {"opens": navigation.RUN, "carried": carried}
    renderer.section([Table(f"tasks-{job.id}", title, rows, **look)])
    drawing.caption("Click a row for the run's details.")


def _details(store: Store, job: Job, names: Names) -> None:
    """Draw the tasks of a job, and the end of its log or of a task's log."""
    if not job.active:
        training.ended(job)
    tasks = {task.id: task for task in jobs.tasks(store.settings, job.id)}
    _task_table(job, list(tasks.values()), names)
    titles = {job.id: "the whole job"} | {name: called(task, names) for name, task in tasks.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            "Log of",
            list(titles),
            index=list(titles).index(figures.telling(list(tasks.values())) or job.id),
            format_func=titles.__getitem__,
            key=f"log {job.id}",
            width=360,
        )
        log = jobs.log_file(store.settings, name)
        sign_in.download_button(
            "Download",
            lambda: log.read_bytes() if log.exists() else b"",
            file_name=log.name,
            mime="text/plain",
            key=f"download {job.id}",
        )
    lines = jobs.log_tail(store.settings, name, LOG_LINES)
    elsewhere = ", or on the machine that runs it" * bool(store.settings.state)
    st.code(lines or f"nothing yet{elsewhere}", language=None, wrap_lines=True)
