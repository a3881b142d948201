"""Which of two systems is better, when results are viewed after every judgement: alpha spending."""

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
"""Measure for which the rule was simulated: see the benchmark `simulations.decided`."""
LOOKS = {60: 0.001, 100: 0.016, 200: 0.026, 400: 0.004, 800: 0.002, 1600: 0.001}
"""Numbers of judgements at which a decision is possible, and the share of the 5% that each spends
(Lan and DeMets 1983, Biometrika 70): most where differences of .15 and .10 are decided. The shares
add up to 5% for any dependence between looks, which changes as more is judged."""
FEWEST = 20
"""Relevant and non-relevant pairs that a decision needs in the sample."""
_MISSES = 0.2


class Decision(NamedTuple):
    """Decision between two systems, at a look at which they differ significantly."""

    n: int
    """Number of judgements at that look."""
    ahead: int
    """Index (0 or 1) of the system that is better on these queries."""
    low: float
    """Bounds of the difference, first minus second, at the level of that look."""
    high: float


def tells_apart(task: Task) -> bool:
    """True if a task samples the pairs that separate two systems."""
    drawn_so = task.goal in (sampling.DIFFERENCES, sampling.ORDER)
    return task.order == orders.SAMPLED and drawn_so and len(task.systems) == 2


def wider(n: int) -> float:
    """Factor by which the interval that may decide at a look is wider than a 95% interval."""
    return normal_reach(LOOKS[n]) / normal_reach(LEVEL)


def found_mostly(n: int) -> float:
    """A difference that four of five samples decide at a look, over half a 95% interval there."""
    return wider(n) + normal_reach(2 * _MISSES) / normal_reach(LEVEL)


def decided(estimates: Estimates, n: int) -> Decision | None:
    """Decision by the estimates of two systems from the first n judgements of a sample, one of
    LOOKS; None if either may be better."""
    fewest = min(estimates.n_relevant, estimates.n_not_relevant)
    if n not in LOOKS or estimates.range_only or fewest < FEWEST:
        return None
    row = estimates.pairs(together=False, level=LOOKS[n]).iloc[0]
    ends = float(row["low"]), float(row["high"])
    if tolerance.above(ends[0], 0):
        return Decision(n, 0, *ends)
    return Decision(n, 1, *ends) if tolerance.above(0, ends[1]) else None


def decision(store: Store, task: Task, frame: Frame, judgements: DataFrame) -> Decision | None:
    """Decision of a task for two systems, at the first of its LOOKS so far at which they differ
    significantly; `judgements` as in `estimated`."""
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
    """Number of documents until a task for two systems has its next look; None for others."""
    if len(task.systems) != 2 or task.measure != MEASURE:
        return None
    return next((n - task.n_pairs for n in LOOKS if n > task.n_pairs), None)
