"""The section of the page Holes about scores estimated from sampled judgements."""

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
from pandas import DataFrame

from compute.base.errors import BeirscopeError
from compute.judgements import orders
from compute.judgements.tasks import estimated, samples, tasks
from compute.judgements.tasks.estimated import Estimated
from compute.judgements.tasks.tasks import Task
from compute.views.annotate import sample
from compute.views.holes import sampled, select, three_ways
from compute.views.holes.view import OF_SAMPLE, titled
from compute.views.page import (
    Ask,
    Choice,
    Expander,
    Figure,
    Heading,
    Live,
    Note,
    Number,
    Row,
    Section,
    Step,
    Steps,
    Table,
    Text,
)

_NONE = "none"


def section(ask: Ask, dataset: str) -> Section:
    """Scores by the judgements of a sampled task, where the dataset has one."""
    holds = ("estimates", "estimated-numbers", "three-ways", "machine-errors")
    asks = ("sample", "estimated", "half", "machine")
    return Section(partial(_estimates, ask, dataset), holds, asks=asks)


def _estimates(ask: Ask, dataset: str) -> Steps:
    found = [task for task in tasks.tasks(ask.store) if task.dataset == dataset]
    known = {task.id: task for task in found if task.order == orders.SAMPLED}
    if not known:
        return
    yield Heading("What the scores are")
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
    """The same, with what scores can be."""

    def bounds(self) -> DataFrame:
        """Today's scores, and what they can be."""
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
    """The estimates with their figure; drawn anew as soon as somebody judges."""
    task, measure = sample.task, sample.measure
    try:
        found, bounds = sample.estimated(), sample.bounds()
    except BeirscopeError as error:
        yield Note([str(error)])
        return None
    rows = titled(sample.ask, sampled.systems(bounds, found))
    yield Text(sampled.verdict(rows, sampled.pairs(found), found, task), bold=True)
    title = f"{measure} of systems, estimated from a sample"
    figure = partial(sampled.estimates, rows, measure)
    drawn_from = sampled.provenance(task, found), measure
    yield Figure("estimates", title, figure, sample=drawn_from, of=OF_SAMPLE)
    yield sampled.note(task, found, measure)
    if rows["estimate"].notna().any():
        yield Expander("The numbers", [sampled.numbers(rows, measure), sampled.NUMBERS])
    return found, bounds


def _more(sample: Sample, found: Estimated, bounds: DataFrame) -> Steps:
    """What does not move while somebody judges: widths, and the same beside a machine."""
    if found.estimates.enough:
        yield Row(partial(_half_width, sample.task, found))
    graded = sample.ask(select.graded, dataset=sample.task.dataset, added=False)
    if graded.empty:
        return
    names = [_NONE, *sorted(set(graded["system"]))]
    name = yield Choice("machine", "Beside a machine", names, width=240)
    if name != _NONE:
        yield from _three_ways(sample, name, graded[graded["system"] == name], found, bounds)


def _half_width(task: Task, found: Estimated) -> Steps:
    label = "Judgements needed for a half-width of"
    half = yield Number("half", label, example=".02", width=280)
    if half is not None:
        yield sampled.wanted(found, task, half)


def _three_ways(
    sample: Sample, name: str, own: DataFrame, found: Estimated, bounds: DataFrame
) -> Iterator[Step]:
    """The same beside the grades of a machine."""
    frame, measure = sample.frame, sample.measure
    alone = estimated.by_machine(sample.task, frame, sample.judged(), measure, own)
    both = sample.estimated(own)
    ways = (sampled.systems(bounds, one) for one in (found, both))
    rows = titled(sample.ask, three_ways.systems(next(ways), alone, next(ways)))
    titles = dict(zip(rows["system"], rows["title"], strict=True))
    pairs, enough = three_ways.by_machine_alone(alone, both.estimates), both.estimates.enough
    said = three_ways.said(pairs, name, titles, corrected=enough)
    n_graded = int((frame.rows(own) >= 0).sum())
    yield Text(f"{said} It graded {n_graded:,} of the {frame.n:,} documents.")
    yield three_ways.table(rows, measure)
    yield three_ways.NOTE
    yield from _errors(sample, own, found, titles)


def _errors(
    sample: Sample, own: DataFrame, found: Estimated, titles: Mapping[str, str]
) -> Iterator[Step]:
    """On which documents the machine errs."""
    frame, dataset = sample.frame, sample.task.dataset
    grades = frame.grades(sample.judged()), frame.grades(own)
    asked = sorted(set(frame.pairs["doc_id"]))
    lengths = sample.ask(select.lengths, dataset=dataset, doc_ids=asked)
    words = frame.pairs["doc_id"].map(lengths.set_index("doc_id")["n_words"]).to_numpy(np.float64)
    rows, kappas = three_ways.errors(frame, grades, found.weights, titles, words)
    if rows.empty:
        return
    yield Text("Where it errs", bold=True)
    title, of = f"Errors of a machine on {dataset}", ("dataset", "sample", "machine")
    yield Table("machine-errors", title, rows, three_ways.ERRORS, height="auto", of=of)
    yield three_ways.error_note(kappas)
