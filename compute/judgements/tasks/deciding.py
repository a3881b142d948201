"""Which of two systems is better, under looks after every judgement: alpha spending."""

from typing import NamedTuple

from pandas import DataFrame

from compute.evaluate import tolerance
from compute.evaluate.distributions import normal_reach
from compute.evaluate.estimates.frames import Frame
from compute.evaluate.estimates.intervals import Estimates
from compute.evaluate.sign_flips import LEVEL
from compute.judgements import orders, sampling
from compute.judgements.tasks import estimated
from compute.judgements.tasks.tasks import Task
from compute.store.store import Store

MEASURE = "P@10"
"""The measure that the rule was simulated for: see the benchmark `simulations.decided`."""
LOOKS = {60: 0.001, 100: 0.016, 200: 0.026, 400: 0.004, 800: 0.002, 1600: 0.001}
"""Numbers of judgements at which it may be decided, and what each spends of the 5% (Lan and DeMets
1983, Biometrika 70): most where differences of .15 and of .10 are decided. The shares add up to 5%
without counting on how the looks depend on each other, which changes as all comes to be judged."""
FEWEST = 20
"""Relevant and non-relevant pairs in the sample that a decision needs."""
_MISSES = 0.2


class Decision(NamedTuple):
    """The first of two systems against the second, at a look that tells them apart."""

    n: int
    """Judgements at that look."""
    ahead: int
    """0 or 1: which of them is better on these queries."""
    low: float
    """Of the difference, first minus second, at the level of that look."""
    high: float


def tells_apart(task: Task) -> bool:
    """True if a task samples the pairs that separate two systems."""
    drawn_so = task.goal in (sampling.DIFFERENCES, sampling.ORDER)
    return task.order == orders.SAMPLED and drawn_so and len(task.systems) == 2


def wider(n: int) -> float:
    """How much wider the interval that may decide at a look is than one of 95%."""
    return normal_reach(LOOKS[n]) / normal_reach(LEVEL)


def found_mostly(n: int) -> float:
    """A difference that four of five samples decide at a look, over half a 95% interval there."""
    return wider(n) + normal_reach(2 * _MISSES) / normal_reach(LEVEL)


def decided(estimates: Estimates, n: int) -> Decision | None:
    """What the estimates of two systems from the first n judgements of a sample, one of LOOKS,
    decide; None where both may be better."""
    fewest = min(estimates.n_relevant, estimates.n_not_relevant)
    if n not in LOOKS or estimates.range_only or fewest < FEWEST:
        return None
    row = estimates.pairs(together=False, level=LOOKS[n]).iloc[0]
    ends = float(row["low"]), float(row["high"])
    if tolerance.above(ends[0], 0):
        return Decision(n, 0, *ends)
    return Decision(n, 1, *ends) if tolerance.above(0, ends[1]) else None


def decision(store: Store, task: Task, frame: Frame, judgements: DataFrame) -> Decision | None:
    """What a task of two systems decides, by the first of LOOKS that it has come to and that tells
    them apart; `judgements` as of `estimated`."""
    if len(frame.systems) != 2 or task.measure != MEASURE:
        return None
    for n in LOOKS:
        found = estimated.at(store, task, frame, judgements, n)
        if found is None:
            return None
        if made := decided(found, n):
            return made
    return None


def besides(task: Task) -> int | None:
    """Documents that bring a task of two systems to the next look; None of another task."""
    if len(task.systems) != 2 or task.measure != MEASURE:
        return None
    return next((n - task.n_pairs for n in LOOKS if n > task.n_pairs), None)
