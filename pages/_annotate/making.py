"""Creating a task, and the view of its creator, which names systems and orders."""

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from pandas import DataFrame

from compute.base.errors import BeirscopeError
from compute.judgements import orders, sampling
from compute.judgements.tasks import deciding, queue, samples, tasks
from compute.judgements.tasks import grades as grading
from compute.judgements.tasks.tasks import Plan, Task
from compute.views.annotate import select as annotate_select
from compute.views.annotate import tables as figures
from pages._annotate.sections import go, outcomes
from pages._frame import added_switch
from pages._shared import address as _address
from pages._shared import (
    annotators,
    dataset_facts,
    drawing,
    escaping,
    extending,
    failures,
    navigation,
    pickers,
    reading,
    sign_in,
    system_pickers,
    texts,
)
from pages._shared.reading import read


def making() -> None:
    """Draw the form that creates a task."""
    st.button("All tasks", icon=":material/arrow_back:", type="tertiary", on_click=go)
    runs = read(annotate_select.judgeable)
    if runs.empty:
        st.info("No ranked lists are stored yet. Compute some with python -m compute admin demo")
        return
    if not sign_in.may(sign_in.OPERATOR):
        drawing.caption(sign_in.told(sign_in.OPERATOR))
        return
    st.header("New task", anchor=False)
    drawing.caption("Blind: assessors never see systems, ranks or scores.")
    person = annotators.annotator()
    if person is None:
        annotators.ask()
        return
    titles = dict(zip(runs["dataset"], runs["title"], strict=True))
    _address.known("dataset", titles, "dataset with ranked lists")
    _address.recall("dataset", titles)
    shown = titles | {name: f"{titles[name]} (ids only)" for name in figures.without_texts(runs)}
    dataset = pickers.pick("Dataset", list(titles), "dataset", width=340, titles=shown)
    if shown[dataset] != titles[dataset]:
        st.warning(escaping.text(f"{titles[dataset]} has no texts: assessors would see ids."))
        texts.bring(dataset_facts.record(dataset))
    _new_task(dataset, titles[dataset], runs[runs["dataset"] == dataset], person.name)


def _new_task(dataset: str, title: str, runs: DataFrame, person: str) -> None:
    """Draw the fields of a new task; its buttons create it or preview the sample's precision."""
    levels = read(annotate_select.levels, dataset=dataset)["relevance"].tolist()
    systems, titles = runs["system"].tolist(), system_pickers.titles()
    named = [one for one in st.query_params.get_all("systems") if one in systems]
    # The systems are outside the form, so that the baselines follow the choice.
    chosen = st.multiselect(
        "Systems", systems, named or systems, lambda name: titles.get(name) or name, width=760
    )
    with st.form(f"new_{dataset}", width=760):
        named_so = _unused(title)
        given: dict[str, Any] = {"title": st.text_input("Task name", named_so, max_chars=120)}
        given["unnamed"] = given["title"] == named_so
        given["systems"] = chosen
        given |= _numbers()
        first = sorted(orders.NAMES, key=lambda name: name != orders.DEFAULT)
        given["order"] = st.selectbox("Priority", first, format_func=figures.order)
        drawing.caption(f"Random sample: {figures.SAMPLE_NEEDS}")
        given |= _estimated(sorted(chosen, key=lambda one: one not in named), titles, named)
        given |= _judges(grading.of_levels(levels))
        # Messages are above the button, since below it they may be out of sight.
        above = st.container()
        with st.container(horizontal=True):
            made = st.form_submit_button("Create task", type="primary")
            asked = st.form_submit_button("Preview precision")
    if asked:
        with above:
            _expect(dataset, given)
    if made:
        with above, st.spinner("Choosing documents"):
            _make(dataset, given, person)


def _unused(title: str) -> str:
    """Return a name for a task on a dataset that no other task has."""
    name, others = f"Unjudged documents of {title}", tasks.tasks(reading.store())
    names = (name if n == 1 else f"{name} ({n})" for n in count(1))
    return next(one for one in names if one not in {other.title for other in others})


def _estimated(
    systems: Sequence[str], titles: Mapping[str, str], named: Sequence[str]
) -> dict[str, Any]:
    """Draw the fields for the target of a random sample. The default is a difference if the address
    names two systems (`named`)."""
    of_two = len(named) == 2
    with st.expander("Target of a random sample", expanded=of_two):
        one, two, three = st.columns(3)
    return {
        "measure": one.selectbox(
            "Measure", ["", *samples.MEASURES], format_func=lambda name: name or _USUAL
        ),
        "goal": two.selectbox(
            "Estimate",
            list(figures.GOALS),
            index=[*figures.GOALS].index(sampling.DIFFERENCES) if of_two else 0,
            format_func=figures.GOALS.__getitem__,
        ),
        "baseline": three.selectbox(
            "Baseline", systems, format_func=lambda name: titles.get(name) or name
        ),
    }


_USUAL = f"{samples.MEASURES[0]} (in an audit {samples.USUAL[sampling.AUDIT]})"


def _of_sample(given: dict[str, Any]) -> dict[str, str]:
    """Return the fields of a planned sample's target; none for other orders."""
    if given["order"] != orders.SAMPLED:
        return {}
    baseline = (given["baseline"] or "") if given["goal"] == sampling.DIFFERENCES else ""
    measure = given["measure"] or samples.USUAL.get(given["goal"], samples.MEASURES[0])
    found = {"measure": measure, "goal": given["goal"], "baseline": baseline}
    if given["unnamed"] and given["goal"] == sampling.AUDIT:
        found["title"] = given["title"].replace("Unjudged documents", "Audit", 1)
    return found


def _numbers() -> dict[str, Any]:
    """Draw the fields for depth, number and seed. Bounds are checked when the task is created,
    since a field with bounds disables the button and may show the reason out of sight."""
    fields = {
        "depth": ("Pool depth (k)", 10, "Unjudged documents in the top k of a system"),
        "n_pairs": ("Documents to judge", 60, "In total, over all queries"),
        "seed": ("Seed", 0, "The same seed draws the same sample and order"),
    }
    return {
        key: column.number_input(label, value=value, help=told)
        for column, (key, (label, value, told)) in zip(st.columns(3), fields.items(), strict=True)
    }


def _judges(grades: grading.Grades) -> dict[str, Any]:
    """Draw the fields for grades, assessors and guideline; an unchanged guideline is None."""
    left, right = st.columns(2)
    lines = left.text_area("Grades, one per line", grading.lines(grades), height=122)
    annotators = right.text_area("Assessors (one per line; empty = anyone)", height=122)
    double = st.slider(
        "Double-judged share",
        0,
        100,
        0,
        5,
        format="%d %%",
        help="This share is judged by two assessors, to measure agreement",
    )
    first = figures.guideline(grades)
    told = "Unless edited, it follows the grades above"
    text = st.text_area("Guideline (Markdown)", first, height=240, help=told)
    guideline = None if text.strip() == first.strip() else text
    return {"grades": lines, "annotators": annotators, "double": double, "guideline": guideline}


def _plan(dataset: str, given: dict[str, Any]) -> Plan:
    """Return the plan of a task from the values of its fields."""
    grades, guideline = grading.parsed(given["grades"]), given["guideline"]
    about = {"title": given["title"]} | _of_sample(given)
    return Plan(
        dataset=dataset,
        systems=tuple(given["systems"]),
        depth=given["depth"],
        n_pairs=given["n_pairs"],
        order=given["order"],
        seed=given["seed"],
        grades=grades,
        annotators=annotators.names(given["annotators"]),
        double_share=given["double"] / 100,
        guideline=figures.guideline(grades) if guideline is None else guideline,
        **about,
    )


def _judged(dataset: str) -> DataFrame:
    """Return the judgements of a dataset, including added ones, for choosing documents."""
    return tasks.judged(reading.store(), dataset, read(annotate_select.judged, dataset=dataset))


def _make(dataset: str, given: dict[str, Any], person: str) -> None:
    """Create the task and open its details, or show why this is not possible."""
    try:
        sign_in.require(sign_in.OPERATOR)
        plan = _plan(dataset, given)
        tasks.check(plan)
        with reading.cursor() as cursor:
            tops = annotate_select.StoredTops(cursor, dataset)
            task = tasks.make(reading.store(), plan, tops, _judged(dataset), person)
    except BeirscopeError as error:
        failures.show_error(error)
        return
    go(about=task.id)
    made = f"Task created: {task.title}. Judge it, or share its link."
    st.toast(escaping.text(made), icon=":material/check:")
    st.rerun()


def _expect(dataset: str, given: dict[str, Any]) -> None:
    """State the expected precision of this many judgements, and of two and four times as many."""
    try:
        plan = _plan(dataset, given | {"order": orders.SAMPLED})
        with reading.cursor() as cursor:
            tops = annotate_select.StoredTops(cursor, dataset)
            expected = figures.forecast(plan, tops, _judged(dataset))
    except BeirscopeError as error:
        failures.show_error(error)
        return
    st.info(expected)


def details(task: Task) -> None:
    """Draw the progress and settings of a task, and its guideline."""
    _address.remember("dataset", task.dataset)
    st.button("All tasks", icon=":material/arrow_back:", type="tertiary", on_click=go)
    st.header(escaping.text(task.title), anchor=False)
    counts = queue.overview(reading.store()).set_index("task").to_dict("index")[task.id]
    more: Any = {} if counts["given"] >= counts["wanted"] else {"type": "primary"}
    st.button("Judge", on_click=go, kwargs={"task": task.id}, **more)
    st.caption("Link for assessors (blind: shows no systems or ranks):")
    link = f"{st.context.url}?task={task.id}"
    st.code(link, language=None, wrap_lines=True)
    if urlsplit(link).hostname in ("127.0.0.1", "localhost", "::1"):
        st.warning(
            "Only this machine can open this link; see docs/deployment.md to give others access."
        )
    _progress(task, counts)
    if task.order == orders.SAMPLED and task.goal != sampling.AUDIT:
        _more(task)
    wide = {"Value": st.column_config.TextColumn(width="large")}
    st.markdown("**Task settings**")
    titles = system_pickers.titles() | dataset_facts.titles()
    st.dataframe(figures.facts(task, titles), hide_index=True, width=760, column_config=wide)
    _guideline(task)


def _more(task: Task) -> None:
    """Draw the form that extends a sample."""
    st.markdown("**Extend the sample**")
    operator = sign_in.may(sign_in.OPERATOR)
    runs, titles = read(annotate_select.judgeable), system_pickers.titles()
    here = runs.loc[runs["dataset"] == task.dataset, "system"].tolist()
    later = [name for name in here if name not in task.systems]
    with st.form("sample_on", width=760):
        n_pairs = st.number_input("Additional documents", value=deciding.besides(task) or 60)
        added = st.multiselect(
            "Additional systems",
            later,
            format_func=lambda name: titles.get(name) or name,
            disabled=not later,
        )
        above = st.container()
        drawn = st.form_submit_button("Draw", disabled=not operator)
    drawing.caption(*figures.more(task), *(() if operator else (sign_in.told(sign_in.OPERATOR),)))
    if drawn:
        with above:
            extending.extend(task, (*task.systems, *added), int(n_pairs))


def _progress(task: Task, counts: Mapping[Hashable, int]) -> None:
    """Draw the judgements by assessor, with a link to their effect."""
    st.markdown("**Progress**")
    people = queue.people(reading.store(), task)
    if people.empty and not counts["given"]:
        st.caption("There are no judgements yet.")
        return
    drawing.caption(f"{counts['given']:,} of {counts['wanted']:,} judgements made.")
    st.dataframe(figures.people(people), hide_index=True, width=760)
    with st.container(horizontal=True):
        for label, page, names in outcomes(task):
            go_there = partial(navigation.to, page, dataset=task.dataset, **names)
            st.button(label, icon=":material/arrow_forward:", on_click=go_there)
    drawing.caption(f"Files with all added judgements of {task.dataset}:")
    added_switch.download(task.dataset)


def _guideline(task: Task) -> None:
    """Draw the form of the guideline; only operators may save a new version."""
    operator = sign_in.may(sign_in.OPERATOR)
    with st.form("guideline", width=760):
        text = st.text_area("Guideline (Markdown)", task.guideline, height=260)
        changed = st.form_submit_button("Save as a new version", disabled=not operator)
    st.caption("Each judgement records the guideline version that it was made with.")
    if not operator:
        drawing.caption(sign_in.told(sign_in.OPERATOR))
    person = annotators.annotator()
    if changed:
        sign_in.require(sign_in.OPERATOR)
        tasks.change_guideline(reading.store(), task.id, text, person.name if person else "")
        st.rerun()
