"""Audits of labels: which are graded differently, and whether the ranking survives."""

import math
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from pandas import DataFrame

from compute.base.words import counted
from compute.evaluate.estimates import label_order
from compute.judgements import sampling
from compute.judgements.tasks import audited, tasks
from compute.judgements.tasks.tasks import Task
from compute.views.annotate import select_added
from compute.views.annotate.sample import Sample
from compute.views.holes import select
from compute.views.holes.view import titled
from compute.views.page import Ask, Choice, Column, Note, Section, Steps, Table, Text, folded
from compute.views.shared import theme as looks

CHANGED = (
    "The audited runs or labels have changed since then. Create a new audit to see whether the"
    " ranking survives."
)


def _share(*ends: float) -> str:
    """Format a share, or both bounds of its interval."""
    return "–" if any(map(math.isnan, ends)) else " to ".join(f"{end:.1%}" for end in ends)


LABELS = (
    Column("Label", "labels"),
    Column("In the top k", "n_labels", "{:,}".format),
    Column("Audited", "n_audited"),
    Column("Graded differently", "n_differ"),
    Column("Share", "rate", _share),
    Column("95% CI", ("low", "high"), _share),
    Column("Settled", "n_settled"),
    Column("Wrong", "n_wrong"),
    Column("Wrong: 95% CI", ("wrong_low", "wrong_high"), _share),
)
RANKS = (
    Column("System", "title"),
    Column("Official", "score", looks.plain),
    Column("95% of simulations", ("low", "high"), looks.between),
    Column("Rank", "rank"),
    Column("Best rank", "rank_low"),
    Column("Worst rank", "rank_high"),
)
FLIPS = (
    Column("Ahead", "a"),
    Column("Behind", "b"),
    Column("Difference", "difference", looks.plain),
    Column("Probability of a flip", "flip", _share),
)
NOTE = Note(
    [
        "Assessors also err: a label counts as wrong once its disagreement is settled.",
        "Official judgements and scores never change.",
    ]
)
_LIKELY = 0.05
"""Lowest probability of a flip at which a pair may not survive."""


class Outcome(NamedTuple):
    """The outcome of an audit."""

    measure: str
    rates: DataFrame
    """From `audited.Audit.rates`."""
    systems: DataFrame
    """From `label_order.survival`; empty if runs or labels have changed, or nothing is judged."""
    pairs: DataFrame
    n_keys: int
    n_waiting: int
    """Documents of the task that are still to be judged."""
    verdict: str


def outcome(ask: Ask, task: Task, measure: str) -> Outcome:
    """Return the outcome of the judgements so far, with the ranking by a measure. Raises WrongInput
    for a measure without ranges."""
    sample, rows = Sample.of(ask, task, measure), ask(select_added.rows, dataset=task.dataset)
    found = audited.audit(ask.store, task, sample.official, rows, ask.counting)
    rates, systems, pairs = found.rates(), DataFrame(), DataFrame()
    machine = None
    if task.baseline:
        graded = ask(select.graded, dataset=task.dataset, added=False)
        machine = graded[graded["system"] == task.baseline]
    changed = (labels := found.order(sample.frame, sample.official, machine)) is None
    if labels and len(found.looked):
        systems, pairs = label_order.survival(labels, measure)
    said = [_progress(found), CHANGED if changed else _order(pairs, measure)]
    told = " ".join(filter(None, said))
    return Outcome(measure, rates, systems, pairs, found.n_keys, found.n_waiting, told)


def tasks_of(ask: Ask, dataset: str) -> dict[str, Task]:
    """Return the audits of a dataset by id."""
    found = [task for task in tasks.tasks(ask.store) if task.dataset == dataset]
    return {task.id: task for task in found if task.goal == sampling.AUDIT}


def section(ask: Ask, known: Mapping[str, Task]) -> Section:
    """Return the section on the results of an audit."""
    holds = ("audit-labels", "audit-ranks", "audit-flips")
    return folded(partial(_found, ask, known), holds, "Audit of official judgements", ("audit",))


def _found(ask: Ask, known: Mapping[str, Task]) -> Steps:
    titles = {name: task.title for name, task in known.items()}
    chosen = yield Choice("audit", "Audit", list(known), titles=titles, width=340)
    task, of = known[chosen], ("dataset", "audit")
    found = outcome(ask, task, task.measure)
    yield Text(found.verdict)
    yield Table("audit-labels", f"Audited labels of {task.dataset}", found.rates, LABELS, of=of)
    yield NOTE
    if found.pairs.empty:
        return
    rows = titled(ask, found.systems)
    yield Table("audit-ranks", f"{task.measure} under labels with errors", rows, RANKS, of=of)
    names = dict(zip(rows["system"], rows["title"], strict=True))
    pairs = found.pairs.assign(a=found.pairs["a"].map(names), b=found.pairs["b"].map(names))
    title = f"Probability that the order by {task.measure} flips"
    yield Table("audit-flips", title, pairs, FLIPS, of=of, height="auto")


def _progress(found: audited.Audit) -> str:
    keys = f"({found.n_keys:,} keys; {found.n_waiting:,} to come)"
    if not len(found.looked):
        return f"None of the audited labels is judged yet {keys}."
    return f"{counted(len(found.looked), 'official judgement')} audited {keys}."


def _order(pairs: DataFrame, measure: str) -> str:
    """Say whether the ranking survives."""
    if pairs.empty:
        return ""
    likely = pairs[pairs["flip"] >= _LIKELY]
    if likely.empty:
        return f"The ranking by {measure} survives: no pair flips with a probability of 5% or more."
    first = likely.iloc[0]
    return (
        f"By {measure}, {counted(len(likely), 'pair')} of {len(pairs):,} may flip if labels"
        f" have such errors; most likely {first['a']} and {first['b']},"
        f" {looks.plain(first['difference'])} apart ({first['flip']:.0%})."
    )
