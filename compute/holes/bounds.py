"""The interval of a score over every way of judging the holes in a system's own top k.

A hole may have any grade from 0 to the highest of the collection. For nDCG and recall the best
order moves with the holes too, so the ends of an interval are not simply "no hole is relevant"
and "all are": a relevant hole low in the list can cost more than it brings.

Both ends are exact, at any depth and with any number of grades, without trying assignments.
Write a grade as a sum over levels that it reaches, and let c_j of the m holes reach level j.
Whatever the c_j, the best order is fixed and the sum of discounted gains is largest when the
holes with the largest weights have the highest grades. So the score is at most

    (F + sum_j s_j W(c_j)) / sum_j s_j D(J_j + c_j)        m >= c_1 >= c_2 >= ... >= 0

with F the gains of the judged documents, s_j the step from level j - 1 to j, W(c) the sum of the
c largest weights, J_j the judged documents that reach level j and D what a best order makes of
them. Dinkelbach (1967): a ratio N/D is at most t where N - t D is nowhere above 0, and that falls
into one choice of c_j per level. As D is concave and J_j falls with j, the choices are in order
for t >= 0. A largest ratio below 0 lies at c_1 = c_2 = ..., for N - t D is convex then: those are
tried first. The least score is minus the largest of the negated sum. Only levels that judgements
give need a c_j: between two of them the best order does not change, and the ratio has no turn.
"""

import numpy as np
import pandas as pd
from pandas import DataFrame

from compute.holes.lists import Lists, Numbers, Values, measured

_AT_ONCE = 200_000
"""Rows times levels that are worked on together: as much as stays near the processor."""


def intervals(lists: Lists, measure: str) -> DataFrame:
    """What every query of every system scores, and can score: system, query_id, n_holes, value
    (holes not relevant, as everywhere else), low, high. Raises WrongInput as `measured`."""
    seen, gain = measured(lists, measure)
    n_systems, _, k = seen.gain.shape
    discount = gain.discount(k)
    fixed = (seen.gain.clip(0) @ discount).ravel()
    weights = np.where(seen.holes, discount, np.nan).reshape(-1, k)
    judged = np.tile(seen.judged, (n_systems, 1))
    reach = gain.reach(k, int(judged.max(initial=0)) + k)
    rows = pd.MultiIndex.from_product([seen.systems, seen.queries], names=["system", "query_id"])
    return DataFrame(
        {
            "n_holes": seen.holes.sum(axis=2).ravel(),
            "value": ratio(fixed, reach[judged] @ seen.steps),
            "low": least(fixed, weights, judged, seen.steps, reach),
            "high": largest(fixed, weights, judged, seen.steps, reach),
        },
        index=rows,
    ).reset_index()


def least(fixed: Values, weights: Values, judged: Numbers, steps: Numbers, reach: Values) -> Values:
    """The smallest ratio of every row; see `largest`."""
    return -largest(-fixed, -weights, judged, steps, reach)


def largest(
    fixed: Values, weights: Values, judged: Numbers, steps: Numbers, reach: Values
) -> Values:
    """The largest ratio of every row over all grades of its holes; 0 where nothing is relevant.

    fixed (n,): discounted gains of the judged documents. weights (n, m): what a gain of 1 of each
    hole adds to them, nan where a row has fewer holes. judged (n, L), steps (L,): see `Lists`.
    reach: see `Gain`, long enough for all judged documents and holes of a row together.
    """
    size = max(1, _AT_ONCE // (len(steps) * (weights.shape[1] + 1)))
    parts = [
        _largest(
            fixed[at : at + size], weights[at : at + size], judged[at : at + size], steps, reach
        )
        for at in range(0, len(fixed), size)
    ]
    return np.concatenate(parts) if parts else np.zeros(0)


def _largest(
    fixed: Values, weights: Values, judged: Numbers, steps: Numbers, reach: Values
) -> Values:
    n, m = weights.shape
    # W(c): nan, which sorts last, becomes "not to be had".
    sums = np.cumsum(-np.sort(-weights, axis=1), axis=1)
    gained = np.zeros((n, m + 1))
    gained[:, 1:] = np.where(np.isnan(sums), -np.inf, sums)
    # (n, L, m + 1): D(J_j + c).
    ideal = reach[judged[:, :, None] + np.arange(m + 1)]
    every = ratio(fixed[:, None] + steps.sum() * gained, np.einsum("nlc,l->nc", ideal, steps))
    best = every.max(axis=1)
    left = np.flatnonzero(best >= 0)
    while len(left):
        found = _better(fixed[left], gained[left], ideal[left], steps, best[left])
        left, found = left[found > best[left] + 1e-15], found[found > best[left] + 1e-15]
        best[left] = found
    return best


def _better(fixed: Values, gained: Values, ideal: Values, steps: Numbers, best: Values) -> Values:
    """The ratio at the choice of c_j that is largest for N - best D: above `best` if any is."""
    chosen = np.argmax(gained[:, None, :] - best[:, None, None] * ideal, axis=2)
    brought = fixed + np.take_along_axis(gained, chosen, axis=1) @ steps
    over = np.take_along_axis(ideal, chosen[:, :, None], axis=2)[:, :, 0] @ steps
    return ratio(brought, over)


def ratio(part: Values, whole: Values) -> Values:
    """part / whole, 0 where whole is 0: a query without a relevant document."""
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)
