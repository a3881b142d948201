"""The section of the page Holes about scores estimated from sampled judgements."""

import streamlit as st

from compute.base.errors import BeirscopeError
from compute.judgements import orders
from compute.judgements.tasks import estimated, tasks
from compute.judgements.tasks.estimated import Estimated
from compute.judgements.tasks.tasks import Task
from compute.views.annotate import select as annotate_select
from compute.views.holes import sampled
from compute.views.holes import select as holes_select
from pages._holes.sections import titled
from pages._shared import colours, drawing, escaping, reading
from pages._shared.pickers import pick
from pages._shared.reading import read


def estimates(dataset: str) -> None:
    """What the scores are by the judgements of a sampled task, where the dataset has one."""
    found = [task for task in tasks.tasks(reading.store()) if task.dataset == dataset]
    known = {task.id: task for task in found if task.order == orders.SAMPLED}
    if not known:
        return
    st.header("What the scores are", anchor=False)
    chosen = next(iter(known))
    if len(known) > 1:
        titles = {name: task.title for name, task in known.items()}
        chosen = pick("Sampled task", list(known), "sample", width=340, titles=titles)
    try:
        _shown(known[chosen], _estimated(known[chosen]))
    except BeirscopeError as error:
        drawing.caption(str(error))


def _estimated(task: Task) -> Estimated:
    asked = {"dataset": task.dataset, "systems": list(task.systems), "depth": task.depth}
    frame = annotate_select.framed(read(annotate_select.lists, **asked), task.depth)
    judgements = read(annotate_select.judged, dataset=task.dataset, added=True)
    return estimated.estimated(reading.store(), task, frame, judgements)


def _shown(task: Task, found: Estimated) -> None:
    asked = {"dataset": task.dataset, "systems": list(task.systems), "measure": task.measure}
    bounds = read(holes_select.bounds, **asked, added=True)
    reading.add_sample(sampled.provenance(task, found))
    rows, told = titled(sampled.systems(bounds, found)), sampled.pairs(found)
    st.markdown(f"**{escaping.text(sampled.verdict(rows, told, found, task))}**")
    figure = sampled.estimates(rows, task.measure, theme=colours.theme())
    drawing.plot(figure, "estimates", f"{task.measure} of systems, estimated from a sample")
    drawing.caption(*sampled.notes(task, found))
