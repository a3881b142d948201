"""Decides which of two systems is better under repeated looks, by alpha spending."""

from typing import NamedTuple

import numpy as np
from pandas import DataFrame

from compute.evaluate import tolerance
from compute.evaluate.distributions import normal_reach
from compute.evaluate.estimates.frames import Frame
from compute.evaluate.estimates.intervals import Estimates
from compute.evaluate.estimates.linearised import kind
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
FEWEST = 10
"""A decision needs at least this many relevant and as many non-relevant pairs in the sample."""
FEW = 5
"""With at most this many unjudged pairs, the range that they allow is shown instead of a CI."""
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


class Possible(NamedTuple):
    """The differences (first minus second system) that the last unjudged pairs allow."""

    n: int
    """Number of unjudged pairs that can change the difference."""
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """Return whether all of these differences have the same sign, or are equal."""
        beyond = tolerance.above(self.low, 0) or tolerance.above(0, self.high)
        return bool(beyond or tolerance.equal(self.low, self.high))


def possible(measure: str, frame: Frame, judgements: DataFrame) -> Possible | None:
    """Return the differences of two systems that at most FEW unjudged pairs allow; None if more are
    unjudged, or for another measure than MEASURE."""
    if len(frame.systems) != 2 or measure != MEASURE:
        return None
    of = kind(MEASURE)
    shown = (frame.rank > 0) & (frame.rank <= of.k)
    moves = (shown[:, 0].astype(float) - shown[:, 1]) / (of.k * max(len(frame.queries), 1))
    grades = frame.grades(judgements)
    known = float(moves[grades >= of.least].sum())
    open_moves = moves[np.isnan(grades) & (moves != 0)]
    if len(open_moves) > FEW:
        return None
    low, high = (known + float(part.sum()) for part in (open_moves.clip(max=0), open_moves.clip(0)))
    return Possible(len(open_moves), low, high)


def tells_apart(task: Task) -> bool:
    """Return whether a task samples the pairs that separate two systems."""
    drawn_so = task.goal in (sampling.DIFFERENCES, sampling.ORDER)
    return task.order == orders.SAMPLED and drawn_so and len(task.systems) == 2


def around(n: int, n_pairs: int) -> tuple[int, list[int]]:
    """Return the last of LOOKS that `n` of a task's `n_pairs` judgements reach, or 0, and those
    still to come in the task."""
    passed = max((look for look in LOOKS if look <= n), default=0)
    return passed, [look for look in LOOKS if n < look <= n_pairs]


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
    """Return the decision of a task for two systems, made at the first of LOOKS so far at which
    they differ significantly; None if there is none. For `judgements` see `estimated`."""
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
    """Return how many documents a task for two systems needs until its next look, else None."""
    if len(task.systems) != 2 or task.measure != MEASURE:
        return None
    return next((n - task.n_pairs for n in LOOKS if n > task.n_pairs), None)
