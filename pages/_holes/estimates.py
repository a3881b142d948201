"""The section of the page Holes about scores estimated from sampled judgements."""

from typing import NamedTuple

import numpy as np
import streamlit as st
from pandas import DataFrame

from compute.base.errors import BeirscopeError
from compute.evaluate.estimates.frames import Frame
from compute.judgements import Choice, orders, sets
from compute.judgements.tasks import estimated, samples, tasks
from compute.judgements.tasks.estimated import Estimated
from compute.judgements.tasks.tasks import Task
from compute.views.annotate import select as annotate_select
from compute.views.annotate import select_added
from compute.views.holes import sampled, three_ways
from compute.views.holes import select as holes_select
from pages._holes.sections import table, titled
from pages._shared import colours, drawing, escaping, failures, pickers, reading
from pages._shared.pickers import pick
from pages._shared.reading import read

_NONE = "none"


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
    task = known[chosen]
    measure = pick("Estimated measure", samples.readable(task.measure), "estimated", width=190)
    of = _Sampled.of(task, measure)
    _picture(of)
    if found := st.session_state["_estimated"]:
        _more(of, *found)


class _Sampled(NamedTuple):
    """What is estimated, and from what."""

    task: Task
    frame: Frame
    official: DataFrame
    measure: str

    @classmethod
    def of(cls, task: Task, measure: str) -> "_Sampled":
        """As the runs of the task are now."""
        asked = {"dataset": task.dataset, "added": False}
        named = {"systems": list(task.systems), "depth": task.depth}
        lists = read(annotate_select.lists, **asked, **named)
        official = read(annotate_select.judged, **asked)
        return cls(task, annotate_select.framed(lists, task.depth), official, measure)

    def judged(self) -> DataFrame:
        """query_id, doc_id, relevance: official and, by what counts, added."""
        rows = read(select_added.rows, dataset=self.task.dataset, added=False)
        return sets.with_added(self.official, rows, st.session_state.get("_added") or Choice())


@st.fragment
@failures.guarded
def _picture(of: _Sampled) -> None:
    """The estimates with their figure; a fragment, drawn anew as soon as somebody judges."""
    st.session_state["_estimated"] = None
    with reading.newest_judgements():
        try:
            found, bounds = _found(of)
        except BeirscopeError as error:
            drawing.caption(str(error))
            return
        reading.add_sample(sampled.provenance(of.task, found), of.measure)
        rows = titled(sampled.systems(bounds, found))
    st.session_state["_estimated"] = found, bounds
    told = sampled.pairs(found)
    st.markdown(f"**{escaping.text(sampled.verdict(rows, told, found, of.task))}**")
    figure = sampled.estimates(rows, of.measure, theme=colours.theme())
    title = f"{of.measure} of systems, estimated from a sample"
    drawing.plot(figure, "estimates", title)
    drawing.caption(*sampled.notes(of.task, found, of.measure))
    if rows["estimate"].notna().any():
        with st.expander("The numbers"):
            table(sampled.numbers(rows, of.measure), "estimated-numbers", title)
            drawing.caption(sampled.NUMBERS)


def _found(of: _Sampled) -> tuple[Estimated, DataFrame]:
    """The estimates, and the ranges beside them. Raises Missing as `estimated.estimated`."""
    task, frame, judgements, measure = of.task, of.frame, of.judged(), of.measure
    found = estimated.estimated(reading.store(), task, frame, judgements, measure)
    if estimated.is_sum(measure):
        return found, estimated.ends(task, frame, judgements, measure)
    asked = {"dataset": task.dataset, "systems": list(task.systems), "measure": measure}
    choice = st.session_state.get("_added") or Choice()
    asked |= {"rule": choice.rule, "sources": list(choice.sources)}
    return found, read(holes_select.ranges, **asked, added=False)


def _more(of: _Sampled, found: Estimated, bounds: DataFrame) -> None:
    """What does not move while somebody judges: widths, and the same beside a machine."""
    if found.estimates.enough:
        with pickers.pickers():
            half = pickers.number(
                "Judgements needed for a half-width of", "half", example=".02", width=280
            )
            if half is not None:
                drawing.caption(sampled.wanted(found, of.task, half))
    _three_ways(of, found, bounds)


def _three_ways(of: _Sampled, found: Estimated, bounds: DataFrame) -> None:
    """The same beside a machine's grades, where one graded here and somebody picks it."""
    graded = read(holes_select.graded, dataset=of.task.dataset, added=False)
    if graded.empty:
        return
    names = {_NONE: _NONE} | {name: name for name in sorted(set(graded["system"]))}
    name = pick("Beside a machine", list(names), "machine", width=240)
    if name == _NONE:
        return
    own = graded[graded["system"] == name]
    asked = of.task, of.frame, of.judged(), of.measure
    alone = estimated.by_machine(*asked, own)
    both = estimated.estimated(reading.store(), *asked, own)
    ways = (sampled.systems(bounds, one) for one in (found, both))
    rows = titled(three_ways.systems(next(ways), alone, next(ways)))
    titles = dict(zip(rows["system"], rows["title"], strict=True))
    pairs, enough = three_ways.by_machine_alone(alone, both.estimates), both.estimates.enough
    said = three_ways.said(pairs, name, titles, corrected=enough)
    n_graded = int((of.frame.rows(own) >= 0).sum())
    st.markdown(escaping.text(f"{said} It graded {n_graded:,} of the {of.frame.n:,} documents."))
    title = f"{of.measure} by people, machine and both"
    table(three_ways.table(rows, of.measure), "three-ways", title)
    drawing.caption(*three_ways.NOTES)
    _errors(of, own, found, titles)


def _errors(of: _Sampled, own: DataFrame, found: Estimated, titles: dict[str, str]) -> None:
    """On which documents the machine errs."""
    frame, grades = of.frame, (of.frame.grades(of.judged()), of.frame.grades(own))
    asked = sorted(set(frame.pairs["doc_id"]))
    lengths = read(holes_select.lengths, dataset=of.task.dataset, doc_ids=asked)
    words = frame.pairs["doc_id"].map(lengths.set_index("doc_id")["n_words"]).to_numpy(np.float64)
    rows, kappas = three_ways.errors(frame, grades, found.weights, titles, words)
    if rows.empty:
        return
    st.markdown("**Where it errs**")
    shown = three_ways.error_table(rows)
    drawing.table(shown, "machine-errors", f"Errors of a machine on {of.task.dataset}")
    drawing.caption(*three_ways.error_lines(kappas))
