"""Which of two systems is better, under looks after every judgement: alpha spending."""

from typing import NamedTuple

from pandas import DataFrame

from compute.evaluate import tolerance
from compute.evaluate.estimates.frames import Frame
from compute.evaluate.estimates.intervals import Estimates
from compute.evaluate.sign_flips import LEVEL
from compute.judgements.tasks import estimated
from compute.judgements.tasks.tasks import Task
from compute.store.store import Store

MEASURE = "P@10"
"""The measure that the rule was simulated for: see the benchmark `simulations.decided`."""
LOOKS = (60, 80, 100, 150, 200, 300, 400)
"""Numbers of judgements at which it may be decided; between them nothing is."""
SPENT = LEVEL / len(LOOKS)
"""Of the 5% at each look: whoever stops at one of them is wrong as seldom as who looks once."""


class Decision(NamedTuple):
    """The first of two systems against the second, at a look that tells them apart."""

    n: int
    """Judgements at that look."""
    ahead: int
    """0 or 1: which of them is better on these queries."""


def decided(estimates: Estimates, n: int) -> Decision | None:
    """What the estimates of two systems from the first n judgements of a sample, one of LOOKS,
    decide; None where both may be better."""
    if n not in LOOKS or not estimates.enough:
        return None
    row = estimates.pairs(together=False, level=SPENT).iloc[0]
    if tolerance.above(row["low"], 0):
        return Decision(n, 0)
    return Decision(n, 1) if tolerance.above(0, row["high"]) else None


def decision(store: Store, task: Task, frame: Frame, judgements: DataFrame) -> Decision | None:
    """What a task of two systems decides, by the first of LOOKS that it has come to and that tells
    them apart; `judgements` as of `estimated`. None for a task that was drawn on, too."""
    if len(frame.systems) != 2 or task.measure != MEASURE:
        return None
    for n in LOOKS:
        found = estimated.at(store, task, frame, judgements, n)
        if found is None:
            return None
        if made := decided(found, n):
            return made
    return None
