"""Samples of the pairs to judge: probabilities depend on a pair's effect, and judging may stop
anywhere in the order.

Priority sampling (Duffield, Lund and Thorup 2007, Journal of the ACM 54): each pair gets a size
and a uniform number, and the pairs come by size over number, the largest first. The first n are
then a sample in which a pair had the chance size over the priority of the pair that comes next,
at most 1; sums weighted by 1 over these chances have no bias, and pairs do not correlate.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compute.base.errors import WrongInput
from compute.evaluate.estimates.corrected import Batch
from compute.evaluate.estimates.frames import Counts, Flags, Frame, Values
from compute.evaluate.estimates.intervals import of_differences
from compute.evaluate.estimates.linearised import Kind, linear

SCORES, DIFFERENCES, ORDER, AUDIT = "scores", "differences", "order", "audit"
GOALS = (SCORES, DIFFERENCES, ORDER, AUDIT)
"""Goal of an audit, which samples official judgements: see `tasks.auditing`."""
SMALLEST_BATCH = 40
_LEAST = 0.02
"""Lower bound of a prediction, as a share of the highest grade; otherwise a pair predicted as 0
could not be drawn."""

_FLAT = 1e-12
_LEAST_WEIGHT = 1e-300
"""Least weight of a batch, which may be the only one for newer pairs."""


def sizes(
    frame: Frame,
    of: Kind,
    shares: Values | None = None,
    goal: str = SCORES,
    baseline: int | None = None,
) -> Values:
    """(N,) Size by which each pair is drawn: its effect on the goal, times the uncertainty of its
    grade.

    `shares` (N,): how likely each pair is relevant (default: nothing is known). `baseline`: a
    system's place, for differences. Chances in proportion to these give the smallest sum of
    variances over the systems, or over the differences (Schnabel et al. 2016, arXiv 1604.07209).
    """
    shares = np.full(frame.n, 0.5) if shares is None else shares
    one = np.ones(1)
    rows = np.arange(frame.n)
    moves = linear(frame, of, shares[:, None], one, one).at(frame, rows)[:, :, 0]
    if goal == DIFFERENCES:
        if baseline is None:
            raise WrongInput("differences need a baseline: name one of the systems")
        moves = moves - moves[:, [baseline]]
    square = (moves**2).sum(axis=1)
    if goal == ORDER:
        whole = len(frame.systems) * square
        apart = whole - moves.sum(axis=1) ** 2
        # A pair that moves all systems equally changes no difference; rounding must not let it be
        # drawn.
        square = np.where(apart > _FLAT * whole, apart, 0)
    share = np.clip(shares, _LEAST, 1 - _LEAST)
    return np.sqrt(square * share * (1 - share))


@dataclass(frozen=True)
class Order:
    """Rows of a frame in the order of judging."""

    rows: Counts
    size: Values
    """Size of each pair, by place in the order."""
    priority: Values
    """Priority of each pair, descending, by place in the order."""

    known: Counts
    """Rows that were judged before."""
    n_rows: int
    """Number of pairs in the frame."""

    def first(self, n: int, weight: float = 1.0) -> Batch:
        """The first n as a sample, with each row's inclusion probability."""
        after = self.priority[n] if n < len(self.rows) else 0.0
        chances = np.zeros(self.n_rows)
        chances[self.rows] = np.minimum(1, self.size / after) if after > 0 else 1.0
        chances[self.known] = 1
        return Batch(self.rows[:n], chances, weight)


def order(size: Values, known: Flags, seed: int) -> Order:
    """Draw an order of the unknown rows by their sizes (N,); rows of size 0 are left out."""
    rows = np.flatnonzero(~known & (size > 0))
    number = 1 - np.random.default_rng(seed).random(len(size))
    priority = size[rows] / number[rows]
    places = np.argsort(-priority, kind="stable")
    rows = rows[places]
    return Order(rows, size[rows], priority[places], np.flatnonzero(known), len(size))


def weight(size: Values, before: int, after: int) -> float:
    """Weight of a batch that increases the number of judgements from one value to another.

    By so much does 1 over the variance grow that one sample by these sizes would have: then batches
    together are worth about as much as one sample. The sizes must be those from before the first
    batch, since weights that learn would make the estimate biased.
    """
    return _precision(size, after) - _precision(size, before)


def together(
    frame: Frame,
    of: Kind,
    drawn: Sequence[tuple[Order, int]],
    goal: str = SCORES,
    baseline: int | None = None,
) -> list[Batch]:
    """The first n of each order, drawn one after the other, with the weights of `weight`.

    The sizes are those of `sizes` before any judgement, over what a batch and those before it could
    draw: neither a grade nor chance moves a weight. Once all of the last order is judged nothing is
    left to estimate, and only it counts. Batches of none are left out, unless there is no other.
    """
    last, n = drawn[-1]
    if n == len(last.rows) or len(drawn) == 1:
        return [last.first(n)]
    size = sizes(frame, of, goal=goal, baseline=baseline)
    before, batches = np.zeros(0, np.int64), []
    for order, n in drawn:
        done = np.intersect1d(before, order.known)
        could = size[np.append(order.rows, done)]
        if n:
            gained = weight(could, len(done), len(done) + n)
            batches.append(order.first(n, max(gained, _LEAST_WEIGHT)))
        before = np.append(before, order.rows[:n])
    return batches or [last.first(0)]


def _precision(size: Values, n: int) -> float:
    """Inverse of the variance that sizes imply for a sample of n."""
    size = size[size > 0]
    n = min(n, len(size) - 1)
    return 1 / float((size**2 * (1 / _chances(size, n) - 1)).sum()) if n >= 1 else 0.0


def _chances(size: Values, n: int) -> Values:
    """Inclusion probabilities proportional to the positive sizes, at most 1, with sum n."""
    falling = np.sort(size)[::-1]
    after = np.cumsum(falling[::-1])[::-1][:n] / np.arange(n, 0, -1)
    # The largest sizes are certain to be drawn: as many as needed for no other probability above 1.
    sure = int(np.argmax(falling[:n] <= after))
    return np.minimum(1, size / after[sure])


def expected_errors(frame: Frame, of: Kind, shares: Values, size: Values, n: int) -> Values:
    """(S, S) Expected standard errors of differences (on the diagonal, of means) for a sample of n
    with these sizes; of means only if the sizes were drawn for the scores.

    `shares` (N,): how likely each pair is relevant; 0 or 1 if it is known. With 1/2 for all
    that is not known the errors will hardly be larger. After an earlier sample, the inverse
    squared errors of both add up.
    """
    one, open_rows = np.ones(1), np.flatnonzero(size > 0)
    moves = linear(frame, of, shares[:, None], one, one).at(frame, open_rows)[:, :, 0]
    if n >= len(open_rows):
        return np.zeros((len(frame.systems), len(frame.systems)))
    share = shares[open_rows]
    square = share * (1 - share) * (1 / _chances(size[open_rows], n) - 1)
    covariance = (moves * square[:, None]).T @ moves
    return np.sqrt(of_differences(covariance).clip(0)) / max(len(frame.queries), 1)


@dataclass(frozen=True)
class Growth:
    """Decrease of the errors of a growing sample, as far as grades are predicted."""

    frame: Frame
    of: Kind
    shares: Values
    """(N,) Predicted probability that each pair is relevant; 0 or 1 if known before."""
    size: Values
    """(N,) Sizes by which pairs are drawn, including the sample's; 0 for pairs known before."""
    n: int
    """Number of pairs in the sample."""

    def falls(self, more: int) -> Values:
        """(S, S) Ratio of the errors with this many more pairs to the present ones, of means and
        differences as in `expected_errors`; 0 if nothing is uncertain."""
        now, then = (self._errors(n) for n in (self.n, self.n + more))
        return np.divide(then, now, out=np.zeros_like(now), where=now > 0)

    def _errors(self, n: int) -> Values:
        return expected_errors(self.frame, self.of, self.shares, self.size, max(n, 1))

    def needed(self, reach: Values, wanted: float, stays: Values | float = 0.0) -> int | None:
        """Fewest further pairs that reduce half-widths (S, S; 0: not requested) to this one.

        `stays`: what of each no judgement moves. None if all that can be drawn is too few.
        """

        def are_enough(more: int) -> bool:
            return bool((reach * self.falls(more) + stays).max() <= wanted)

        low, high = -1, max(int((self.size > 0).sum()) - self.n, 0)
        if np.max(stays) > wanted or not are_enough(high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if are_enough(middle) else (middle, high)
        return high
