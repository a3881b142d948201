"""LLM judging on the Jobs page: starting it, and its outcome."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from compute import jobs
from compute.base.errors import BeirscopeError
from compute.intake import machine_judging
from compute.jobs import Job
from compute.judgements.asking import journal
from compute.judgements.tasks import tasks
from compute.store.store import Store
from pages._shared import dataset_facts, drawing, escaping, reading, sign_in, system_pickers

_POOL = ""
"""Option instead of a task: unjudged top documents of runs."""


def start(store: Store) -> None:
    """Draw a form that estimates the cost of judging, asks for consent and limits, and starts."""
    datasets = machine_judging.judgeable(reading.parts()) if sign_in.may(sign_in.OPERATOR) else []
    if not datasets:
        return
    with st.expander("LLM judging", icon=":material/smart_toy:"):
        try:
            empty = machine_judging.Plan(dataset="", machine="")
            plan = machine_judging.planned(store.settings, empty)
        except BeirscopeError as error:
            drawing.caption(f"{str(error)[:1].upper()}{str(error)[1:]}.")
            return
        drawing.caption(
            f"{plan.model} at {plan.address} grades one document per request.",
            "The grades form a separate judgement set, which counts only if you choose it.",
        )
        _form(store, replace(plan, **_fields(store, datasets)))
        if told := st.session_state.pop("_judging_started", None):
            st.markdown(escaping.text(told))


def _fields(store: Store, datasets: list[str]) -> dict[str, Any]:
    """Draw fields for the dataset, the documents, and the LLM's name; return their values."""
    titles = dataset_facts.titles() | system_pickers.titles()

    def called(name: str) -> str:
        return titles.get(name, name)

    with st.container(horizontal=True, vertical_alignment="bottom"):
        dataset = st.selectbox(
            "Dataset", datasets, key="_judge_dataset", width=220, format_func=called
        )
        own = {task.id: task.title for task in tasks.tasks(store) if task.dataset == dataset}
        task = st.selectbox(
            "Documents",
            [_POOL, *own],
            format_func=lambda name: own.get(name, "unjudged top documents of runs"),
            key="_judge_documents",
            width=260,
        )
        machine = st.text_input("Name of the LLM", key="_judge_machine", width=220)
    found: dict[str, Any] = {"dataset": dataset, "task": task, "machine": machine.strip()}
    return found | _pool(store, dataset, called) if task == _POOL else found


def _pool(store: Store, dataset: str, called: Callable[[str], str]) -> dict[str, Any]:
    """Draw fields for the runs whose unjudged documents to judge, the depth, and the guideline."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        runs = [part.system for part in store.parts("hits", dataset)]
        systems = st.multiselect("Runs", runs, key="_judge_systems", width=460, format_func=called)
        depth = st.number_input("Ranks", 1, tasks.DEEPEST, 10, key="_judge_depth", width=120)
    guideline = st.text_area("Guideline (plain text, optional)", key="_judge_guideline", height=80)
    return {"systems": tuple(systems), "depth": int(depth), "guideline": guideline}


def _form(store: Store, plan: machine_judging.Plan) -> None:
    """Draw the estimated cost, once everything is chosen; then consent, limits and the button."""
    if not plan.machine or not (plan.task or plan.systems):
        drawing.caption("Name an LLM and choose documents to see the estimated cost.")
        return
    again = st.toggle("Ask again about documents without a grade", key="_judge_again")
    try:
        found = _estimate(store, plan, again=again)
    except BeirscopeError as error:
        st.error(escaping.text(str(error)))
        return
    st.markdown(escaping.text(f"{found.sentence}."))
    _consent(store, plan)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        requests = _limit("Max. requests", "_judge_requests")
        tokens = _limit("Max. tokens", "_judge_tokens")
        if st.button("Start judging", icon=":material/smart_toy:", disabled=not found.to_ask):
            _start(store, replace(plan, requests=requests, tokens=tokens), again=again)


def _limit(label: str, key: str) -> int:
    return int(st.number_input(label, min_value=1, value=None, key=key, width=180) or 0)


def _estimate(store: Store, plan: machine_judging.Plan, *, again: bool) -> machine_judging.Estimate:
    """Return the expected cost, computed once per version and journal since it reads documents."""
    asked = plan, again, store.version(), journal.state_of(store, plan.dataset, plan.machine)
    kept = st.session_state.get("_judge_estimate")
    if kept is None or kept[0] != asked:
        kept = asked, machine_judging.estimate(machine_judging.prepared(store, plan), again=again)
        st.session_state["_judge_estimate"] = kept
    return kept[1]


def _consent(store: Store, plan: machine_judging.Plan) -> None:
    """Draw the checkbox that allows sending texts to the LLM's server."""
    key = f"_judge_consent {plan.dataset} {plan.address}"
    st.session_state[key] = journal.allowed(store, plan.dataset, plan.address)
    st.checkbox(
        escaping.text(f"Texts of {plan.dataset} may be sent to {plan.address}"),
        key=key,
        on_change=_consented,
        args=(store, plan, key),
    )


def _consented(store: Store, plan: machine_judging.Plan, key: str) -> None:
    sign_in.require(sign_in.OPERATOR)
    if st.session_state[key]:
        machine_judging.allow(store, plan.dataset, plan.address, sign_in.name())
    else:
        machine_judging.forbid(store, plan.dataset, plan.address)


def _start(store: Store, plan: machine_judging.Plan, *, again: bool) -> None:
    sign_in.require(sign_in.OPERATOR)
    try:
        started = jobs.start_judging(store, plan, again=again, person=sign_in.name())
    except BeirscopeError as error:
        st.error(escaping.text(str(error)))
        return
    st.session_state["_judging_started"] = f"{started.sentence[:1].upper()}{started.sentence[1:]}."
    st.rerun()


def told(store: Store, job: Job) -> None:
    """State the requests of a judging job, and its documents without a grade, by reason."""
    if job.kind == "judge" and job.options:
        plan = machine_judging.of_record(job.options["judging"])
        drawing.caption(machine_judging.said(store, plan, f"{job.id}.0000", active=job.active))
