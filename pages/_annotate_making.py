"""Making a task, and looking at one as its maker: here systems and orders are named."""

from typing import Any

import streamlit as st
from pandas import DataFrame

from compute import advice, orders, queries
from compute.annotation import grades as grading
from compute.annotation import tasks
from compute.annotation.tasks import Plan, Task
from compute.errors import BeirscopeError
from compute.figures import annotate as figures
from pages import _address, _annotate_person, _shared, _signing
from pages._annotate_sections import go
from pages._shared import read


def making() -> None:
    """The form that makes a task."""
    st.button("All tasks", icon=":material/arrow_back:", type="tertiary", on_click=go)
    runs = read(queries.annotate.judgeable)
    if runs.empty:
        st.info("No ranked lists are stored yet: python -m compute demo computes some.")
        return
    if not _signing.may(_signing.OPERATOR):
        _shared.caption(_signing.told(_signing.OPERATOR))
        return
    person = _annotate_person.annotator()
    if person is None:
        _annotate_person.ask()
        return
    titles = dict(zip(runs["dataset"], runs["title"], strict=True))
    _address.known("dataset", titles, "dataset with ranked lists")
    dataset = _shared.pick("Dataset", list(titles), "dataset", width=340)
    mine = runs[runs["dataset"] == dataset]
    if not mine["with_texts"].all():
        without = advice.without_texts(advice.record(read(queries.dataset.facts, dataset=dataset)))
        st.warning(_shared.text(f"{without} Annotators would see ids alone."))
    _fields(dataset, titles[dataset], mine, person.name)


def _fields(dataset: str, title: str, runs: DataFrame, person: str) -> None:
    levels = read(queries.annotate.levels, dataset=dataset)["relevance"].tolist()
    systems = runs["system"].tolist()
    with st.form(f"new_{dataset}", width=760):
        given: dict[str, Any] = {
            "title": st.text_input("Name of the task", f"Holes of {title}", max_chars=120)
        }
        given["systems"] = st.multiselect("Systems", systems, default=systems)
        one, two, three = st.columns(3)
        given["depth"] = one.number_input("From their top", 1, tasks.DEEPEST, 10)
        given["n_pairs"] = two.number_input("Documents to judge", 1, tasks.MOST_PAIRS, 60)
        given["seed"] = three.number_input("Seed", 0, 2**31 - 1, 0)
        names = [orders.DEFAULT, *(name for name in orders.ORDERS if name != orders.DEFAULT)]
        given["order"] = st.selectbox("Order", names, format_func=figures.order)
        left, right = st.columns(2)
        grades = grading.of_levels(levels)
        given["grades"] = left.text_area("Grades, one per line", grading.lines(grades), height=122)
        given["annotators"] = right.text_area("Annotators, one per line; none: anybody", height=122)
        given["double"] = st.slider("Judged by two people", 0, 100, 0, 5, format="%d %%")
        given["guideline"] = st.text_area(
            "Guideline (Markdown)", figures.guideline(grades), height=240
        )
        made = st.form_submit_button("Make the task", type="primary")
    if made:
        _make(dataset, given, person)


def _make(dataset: str, given: dict[str, Any], person: str) -> None:
    try:
        _signing.require(_signing.OPERATOR)
        plan = Plan(
            title=given["title"],
            dataset=dataset,
            systems=tuple(given["systems"]),
            depth=given["depth"],
            n_pairs=given["n_pairs"],
            order=given["order"],
            seed=given["seed"],
            grades=grading.parsed(given["grades"]),
            annotators=_annotate_person.names(given["annotators"]),
            double_share=given["double"] / 100,
            guideline=given["guideline"],
        )
        tasks.check(plan)
        asked = {"dataset": dataset, "systems": list(plan.systems), "depth": plan.depth}
        judged = tasks.judged(
            _shared.store(), dataset, read(queries.annotate.judged, dataset=dataset)
        )
        task = tasks.make(
            _shared.store(), plan, read(queries.annotate.tops, **asked), judged, person
        )
    except BeirscopeError as error:
        _shared.show_error(error)
        return
    go(about=task.id)
    st.rerun()


def details(task: Task) -> None:
    """What a task is made of, and its guideline with its versions."""
    st.button("All tasks", icon=":material/arrow_back:", type="tertiary", on_click=go)
    st.subheader(_shared.text(task.title), anchor=False)
    st.button("Judge", type="primary", on_click=go, kwargs={"task": task.id})
    address = f"{st.context.url}?task={task.id}"
    st.caption("The address for annotators; nothing behind it names a system or an order:")
    st.code(address, language=None)
    wide = {"Value": st.column_config.TextColumn(width="large")}
    st.dataframe(figures.facts(task), hide_index=True, width=760, column_config=wide)
    operator = _signing.may(_signing.OPERATOR)
    with st.form("guideline", width=760):
        text = st.text_area("Guideline (Markdown)", task.guideline, height=260)
        changed = st.form_submit_button("Save as a new version", disabled=not operator)
    st.caption("Judgements keep the version that they were made with.")
    if not operator:
        _shared.caption(_signing.told(_signing.OPERATOR))
    person = _annotate_person.annotator()
    if changed:
        _signing.require(_signing.OPERATOR)
        tasks.change_guideline(_shared.store(), task.id, text, person.name if person else "")
        st.rerun()
