"""Samples of the pairs to judge. The probability of a pair depends on its effect, and judging may
stop anywhere in the order.

Priority sampling (Duffield, Lund and Thorup 2007, Journal of the ACM 54): each pair gets a size and
a uniform random number, and its priority is size / number; the largest priorities come first. The
first n pairs are then a sample in which a pair's inclusion probability is its size over the
priority of the next pair after the sample, at most 1. Sums weighted by 1 over these probabilities
have no bias, and pairs are uncorrelated.
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
"""Goals of a sample. AUDIT samples official judgements: see `tasks.auditing`."""
SMALLEST_BATCH = 40
_LEAST = 0.02
"""Lower bound of a predicted probability; otherwise a pair predicted as 0 could not be drawn."""

_FLAT = 1e-12
_LEAST_WEIGHT = 1e-300
"""Minimum weight of a batch, since it may be the only one for newer pairs."""


def sizes(
    frame: Frame,
    of: Kind,
    shares: Values | None = None,
    goal: str = SCORES,
    baseline: int | None = None,
) -> Values:
    """Return the size by which each pair is drawn, (N,): its effect on the goal, times the
    uncertainty of its grade. `shares` (N,) are the probabilities that pairs are relevant (default:
    1/2). `baseline` is the position of a system, for differences. Inclusion probabilities in
    proportion to these sizes minimise the sum of the variances of the systems, or of the
    differences (Schnabel et al. 2016, arXiv 1604.07209)."""
    shares = np.full(frame.n, 0.5) if shares is None else shares
    one = np.ones(1)
    moves = linear(frame, of, shares[:, None], one, one).moves[:, :, 0]
    if goal == DIFFERENCES:
        if baseline is None:
            raise WrongInput("differences need a baseline: name one of the systems")
        moves = moves - moves[:, [baseline]]
    square = (moves**2).sum(axis=1)
    if goal == ORDER:
        whole = len(frame.systems) * square
        apart = whole - moves.sum(axis=1) ** 2
        # A pair that moves all systems equally changes no difference, whatever rounding says.
        square = np.where(apart > _FLAT * whole, apart, 0)
    share = np.clip(shares, _LEAST, 1 - _LEAST)
    return np.sqrt(square * share * (1 - share))


@dataclass(frozen=True)
class Order:
    """Rows of a frame in the order of judging."""

    rows: Counts
    size: Values
    """Size of each pair, in this order."""
    priority: Values
    """Priority of each pair, in this order, descending."""

    known: Counts
    """Rows that were judged before."""
    n_rows: int
    """Number of pairs in the frame."""

    def first(self, n: int, weight: float = 1.0) -> Batch:
        """Return the first n pairs as a batch, with each row's inclusion probability."""
        after = self.priority[n] if n < len(self.rows) else 0.0
        chances = np.zeros(self.n_rows)
        chances[self.rows] = np.minimum(1, self.size / after) if after > 0 else 1.0
        chances[self.known] = 1
        return Batch(self.rows[:n], chances, weight)


def order(size: Values, known: Flags, seed: int) -> Order:
    """Draw an order, by sizes (N,), of the rows that are not `known`, without those of size 0."""
    rows = np.flatnonzero(~known & (size > 0))
    number = 1 - np.random.default_rng(seed).random(len(size))
    priority = size[rows] / number[rows]
    places = np.argsort(-priority, kind="stable")
    rows = rows[places]
    return Order(rows, size[rows], priority[places], np.flatnonzero(known), len(size))


def weight(size: Values, before: int, after: int) -> float:
    """Return the weight of a batch that raises the number of judgements from `before` to `after`:
    the growth of the precision (1 / variance) of a single sample by these sizes. With these
    weights, batches together are worth about as much as one sample. The sizes must be those from
    before the first batch, since weights that learn from grades would bias the estimate."""
    return _precision(size, after) - _precision(size, before)


def together(
    frame: Frame,
    of: Kind,
    drawn: Sequence[tuple[Order, int]],
    goal: str = SCORES,
    baseline: int | None = None,
) -> list[Batch]:
    """Return the first n pairs of each order, drawn one after the other, as batches with the
    weights of `weight`. The sizes are those of `sizes` before any judgement, over the pairs that a
    batch and earlier ones could draw, so neither grades nor chance affect a weight. If the last
    order is judged completely, nothing is left to estimate, and only it counts. Empty batches are
    left out, unless all are empty."""
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
    """Return 1 over the variance that the sizes imply for a sample of n."""
    size = size[size > 0]
    n = min(n, len(size) - 1)
    return 1 / float((size**2 * (1 / _chances(size, n) - 1)).sum()) if n >= 1 else 0.0


def _chances(size: Values, n: int) -> Values:
    """Return inclusion probabilities proportional to the positive sizes, at most 1, with sum n."""
    falling = np.sort(size)[::-1]
    after = np.cumsum(falling[::-1])[::-1][:n] / np.arange(n, 0, -1)
    # The largest sizes are certain to be drawn: as many as it takes to keep the others at most 1.
    sure = int(np.argmax(falling[:n] <= after))
    return np.minimum(1, size / after[sure])


def expected_errors(frame: Frame, of: Kind, shares: Values, size: Values, n: int) -> Values:
    """Return the standard errors expected for a sample of n with these sizes, (S, S): of
    differences, and of means on the diagonal (only valid if the sizes are for scores). `shares`
    (N,) are the probabilities that pairs are relevant; 0 or 1 for known pairs. With 1/2 for all
    others, actual errors will hardly be larger. After an earlier sample, the inverse squared errors
    of both add up."""
    one, open_rows = np.ones(1), np.flatnonzero(size > 0)
    moves = linear(frame, of, shares[:, None], one, one).moves[open_rows, :, 0]
    if n >= len(open_rows):
        return np.zeros((len(frame.systems), len(frame.systems)))
    share = shares[open_rows]
    square = share * (1 - share) * (1 / _chances(size[open_rows], n) - 1)
    covariance = (moves * square[:, None]).T @ moves
    return np.sqrt(of_differences(covariance).clip(0)) / max(len(frame.queries), 1)


@dataclass(frozen=True)
class Growth:
    """How the errors of a sample shrink as it grows, according to the predicted grades."""

    frame: Frame
    of: Kind
    shares: Values
    """(N,) Predicted probability that each pair is relevant; 0 or 1 if known before."""
    size: Values
    """(N,) Sizes by which pairs are drawn, also those of the sample; 0 for pairs known before."""
    n: int
    """Number of pairs in the sample."""

    def falls(self, more: int) -> Values:
        """Return the ratio of the errors with `more` additional pairs to the current ones, arranged
        as in `expected_errors`; 0 if nothing is uncertain."""
        now, then = (self._errors(n) for n in (self.n, self.n + more))
        return np.divide(then, now, out=np.zeros_like(now), where=now > 0)

    def _errors(self, n: int) -> Values:
        return expected_errors(self.frame, self.of, self.shares, self.size, max(n, 1))

    def needed(self, reach: Values, wanted: float, stays: Values | float = 0.0) -> int | None:
        """Return the smallest number of additional pairs that reduces all half-widths `reach` (S,
        S; 0 if not requested) to `wanted`; None if all pairs that can be drawn are too few. `stays`
        is the part of each half-width that no judgement reduces."""

        def are_enough(more: int) -> bool:
            return bool((reach * self.falls(more) + stays).max() <= wanted)

        low, high = -1, max(int((self.size > 0).sum()) - self.n, 0)
        if np.max(stays) > wanted or not are_enough(high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if are_enough(middle) else (middle, high)
        return high
