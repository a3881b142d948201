"""Estimated scores from sampled judgements, for the Holes page."""

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
from pandas import DataFrame

from compute.base.errors import BeirscopeError
from compute.judgements import orders, sampling
from compute.judgements.tasks import deciding, estimated, samples, tasks
from compute.judgements.tasks.estimated import Estimated
from compute.judgements.tasks.tasks import Task
from compute.views.annotate import sample
from compute.views.compare import judging
from compute.views.compare.before_labels import Two
from compute.views.holes import sampled, select, three_ways
from compute.views.holes.view import OF_SAMPLE, titled
from compute.views.page import (
    Ask,
    Choice,
    Figure,
    Live,
    Note,
    Number,
    Row,
    Section,
    Step,
    Steps,
    Table,
    Text,
    folded,
)

_NONE = "none"


def tasks_of(ask: Ask, dataset: str) -> dict[str, Task]:
    """Return the sampled tasks of a dataset by id, without audits."""
    found = [task for task in tasks.tasks(ask.store) if task.dataset == dataset]
    of_scores = (task for task in found if task.goal != sampling.AUDIT)
    return {task.id: task for task in of_scores if task.order == orders.SAMPLED}


def section(ask: Ask, known: Mapping[str, Task]) -> Section:
    """Return the section on scores estimated from the judgements of a sampled task."""
    holds = ("estimates", "estimated-numbers", "three-ways", "machine-errors")
    asks = ("sample", "estimated", "half", "machine")
    return Section(partial(_estimates, ask, known), holds, "Estimated scores (sample)", asks)


def _estimates(ask: Ask, known: Mapping[str, Task]) -> Steps:
    chosen = next(iter(known))
    if len(known) > 1:
        titles = {name: task.title for name, task in known.items()}
        chosen = yield Choice("sample", "Sampled task", list(known), titles=titles, width=340)
    task = known[chosen]
    readable = samples.readable(task.measure)
    measure = yield Choice("estimated", "Estimated measure", readable, width=190)
    sample = Sample.of(ask, task, measure)
    if shown := (yield Live(partial(_picture, sample))):
        yield from _more(sample, *shown)


class Sample(sample.Sample):
    """The inputs of the estimates, with the possible ranges of scores."""

    def bounds(self) -> DataFrame:
        """Return current scores with their possible ranges, as `select.bounds` does."""
        if estimated.is_sum(self.measure):
            return estimated.ends(self.task, self.frame, self.judged(), self.measure)
        choice = self.ask.counting
        return self.ask(
            select.ranges,
            dataset=self.task.dataset,
            systems=list(self.task.systems),
            measure=self.measure,
            rule=choice.rule,
            sources=list(choice.sources),
            added=False,
        )


def _picture(sample: Sample) -> Steps:
    """Yield the figure of the estimates; return the estimates and ranges for `_more`, or None."""
    task, measure = sample.task, sample.measure
    try:
        found, bounds = sample.estimated(), sample.bounds()
    except BeirscopeError as error:
        yield Note([str(error)])
        return None
    rows = titled(sample.ask, sampled.systems(bounds, found))
    certain, two = sampled.certain(rows) * estimated.is_sum(measure), _of_two(sample, rows)
    of_two = two.verdict if two else ""
    said = sampled.verdict(rows, sampled.pairs(found), found, task, certain, of_two)
    title = f"{measure} of systems, estimated from a sample"
    figure = partial(sampled.estimates, rows, measure)
    drawn_from = sampled.provenance(task, found), measure
    yield Figure("estimates", title, figure, sample=drawn_from, of=OF_SAMPLE, finding=said)
    yield sampled.note(task, found, measure)
    decided = bool(certain) or found.estimates.is_census or (two and two.state != judging.OPEN)
    yield from judging.further(task, found.n_waiting, judging.left(found), decided=bool(decided))
    if rows["estimate"].notna().any():
        both = [sampled.numbers(rows, measure), sampled.NUMBERS]
        yield folded(both, ("estimated-numbers",), "Estimates as a table")
    return found, bounds


def _of_two(sample: Sample, rows: DataFrame) -> judging.Verdict | None:
    """Return the verdict of Compare on the two systems of a task, if the measure is the task's."""
    task = sample.task
    if not deciding.tells_apart(task) or sample.measure != task.measure:
        return None
    titles = dict(zip(rows["system"], rows["title"], strict=True))
    a, b = task.systems
    two = Two(sample.ask, task.dataset, (a, b), (titles.get(a, a), titles.get(b, b)))
    return judging.verdict(two, task)


def _more(sample: Sample, found: Estimated, bounds: DataFrame) -> Steps:
    """Yield results that no judgement changes: margins of error, and a comparison with an LLM."""
    if found.estimates.enough:
        yield Row(partial(_half_width, sample.task, found))
    graded = sample.ask(select.graded, dataset=sample.task.dataset, added=False)
    if graded.empty:
        return
    names = [_NONE, *sorted(set(graded["system"]))]
    name = yield Choice("machine", "Compare with an LLM", names, width=240)
    if name != _NONE:
        yield from _three_ways(sample, name, graded[graded["system"] == name], found, bounds)


def _half_width(task: Task, found: Estimated) -> Steps:
    label = "Judgements needed for a margin of error of"
    half = yield Number("half", label, example=".02", width=320)
    if half is not None:
        yield sampled.wanted(found, task, half)


def _three_ways(
    sample: Sample, name: str, own: DataFrame, found: Estimated, bounds: DataFrame
) -> Iterator[Step]:
    """Yield the estimates by assessors, by an LLM and by both."""
    frame, measure = sample.frame, sample.measure
    alone = estimated.by_machine(sample.task, frame, sample.judged(), measure, own)
    both = sample.estimated(own)
    ways = (sampled.systems(bounds, one) for one in (found, both))
    rows = titled(sample.ask, three_ways.systems(next(ways), alone, next(ways)))
    titles = dict(zip(rows["system"], rows["title"], strict=True))
    pairs, enough = three_ways.by_machine_alone(alone, both.estimates), both.estimates.enough
    said = three_ways.said(pairs, name, titles, corrected=enough)
    n_graded = int((frame.rows(own) >= 0).sum())
    yield Text(f"{said} It graded {n_graded:,} of {frame.n:,} documents.")
    yield three_ways.table(rows, measure)
    yield three_ways.NOTE
    yield from _errors(sample, own, found, titles)


def _errors(
    sample: Sample, own: DataFrame, found: Estimated, titles: Mapping[str, str]
) -> Iterator[Step]:
    """Yield a table of the documents that the LLM graded wrongly."""
    frame, dataset = sample.frame, sample.task.dataset
    grades = frame.grades(sample.judged()), frame.grades(own)
    asked = sorted(set(frame.pairs["doc_id"]))
    lengths = sample.ask(select.lengths, dataset=dataset, doc_ids=asked)
    words = frame.pairs["doc_id"].map(lengths.set_index("doc_id")["n_words"]).to_numpy(np.float64)
    rows, kappas = three_ways.errors(frame, grades, found.weights, titles, words)
    if rows.empty:
        return
    yield Text("Errors of the LLM", bold=True)
    title, of = f"Errors of an LLM on {dataset}", ("dataset", "sample", "machine")
    yield Table("machine-errors", title, rows, three_ways.ERRORS, height="auto", of=of)
    yield three_ways.error_note(kappas)
