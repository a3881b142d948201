"""Decides which of two systems is better under repeated looks, by alpha spending."""

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
"""The measure for which the rule was simulated (benchmark `simulations.decided`)."""
LOOKS = {60: 0.001, 100: 0.016, 200: 0.026, 400: 0.004, 800: 0.002, 1600: 0.001}
"""Numbers of judgements at which a decision is possible, and the part of the 5% that each look
spends (Lan and DeMets 1983, Biometrika 70). Most is spent where differences of .15 and .10 are
decided. The parts add up to 5%, which holds for any dependence between looks."""
FEWEST = 20
"""A decision needs at least this many relevant and as many non-relevant pairs in the sample."""
_MISSES = 0.2


class Decision(NamedTuple):
    """A decision between two systems, at the look at which they differed significantly."""

    n: int
    """Number of judgements at that look."""
    ahead: int
    """Index (0 or 1) of the system that is better on these queries."""
    low: float
    """Interval of the difference (first minus second), low to high, at the level of that look."""
    high: float


def tells_apart(task: Task) -> bool:
    """Return whether a task samples the pairs that separate two systems."""
    drawn_so = task.goal in (sampling.DIFFERENCES, sampling.ORDER)
    return task.order == orders.SAMPLED and drawn_so and len(task.systems) == 2


def wider(n: int) -> float:
    """Return how many times as wide as a 95% interval the deciding interval is at a look."""
    return normal_reach(LOOKS[n]) / normal_reach(LEVEL)


def found_mostly(n: int) -> float:
    """Return the difference that four of five samples decide, in half-widths of a 95% interval."""
    return wider(n) + normal_reach(2 * _MISSES) / normal_reach(LEVEL)


def decided(estimates: Estimates, n: int) -> Decision | None:
    """Decide by estimates of two systems from the first n judgements of a sample, where n is one of
    LOOKS; None if either system may be better."""
    fewest = min(estimates.n_relevant, estimates.n_not_relevant)
    if n not in LOOKS or estimates.range_only or fewest < FEWEST:
        return None
    row = estimates.pairs(together=False, level=LOOKS[n]).iloc[0]
    ends = float(row["low"]), float(row["high"])
    if tolerance.above(ends[0], 0):
        return Decision(n, 0, *ends)
    return Decision(n, 1, *ends) if tolerance.above(0, ends[1]) else None


def decision(store: Store, task: Task, frame: Frame, judgements: DataFrame) -> Decision | None:
    """Return the decision of a task for two systems: at the first of LOOKS, so far, at which they
    differ significantly; None if there is none. For `judgements` see `estimated`."""
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
    """Return how many documents a task for two systems lacks until its next look, else None."""
    if len(task.systems) != 2 or task.measure != MEASURE:
        return None
    return next((n - task.n_pairs for n in LOOKS if n > task.n_pairs), None)
