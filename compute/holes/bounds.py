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

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from pandas import DataFrame

from compute.holes.lists import HOLE, Gain, Lists, Numbers, Values, measured

_MOST_KINDS = 2**62
"""Kinds are told apart by numbers, which are counted anew before they overflow."""


def intervals(lists: Lists, measure: str) -> DataFrame:
    """What every query of every system scores, and can score: system, query_id, n_holes, value
    (holes not relevant, as everywhere else), low, high. Raises WrongInput as `measured`."""
    seen, gain = measured(lists, measure)
    discount = gain.discount(seen.depth)
    some, kinds = _kinds(seen)
    places = some % max(len(seen.queries), 1)
    gains, judged = seen.gain.reshape(-1, seen.depth)[some], seen.judged[places]
    fixed = gains.clip(0) @ discount
    best = best_orders(judged, seen, gain, seen.depth)
    low, high = extremes(fixed, np.where(gains == HOLE, discount, np.nan).T, best)
    found = {
        "n_holes": (gains == HOLE).sum(axis=1),
        "value": ratio(fixed, best.whole[0]),
        "low": low,
        "high": high,
    }
    rows = pd.MultiIndex.from_product([seen.systems, seen.queries], names=["system", "query_id"])
    columns = {name: column[kinds] for name, column in found.items()}
    return DataFrame(columns, index=rows).reset_index()


def _kinds(lists: Lists) -> tuple[Numbers, Numbers]:
    """What differs among the lists of all systems and queries, for most are alike: the place of
    one list of each kind, as places of (S, Q) laid flat; and the kind of each, (S * Q,)."""
    n_lists = len(lists.systems) * len(lists.queries)
    gains = lists.gain.reshape(n_lists, lists.depth)
    judged = np.tile(lists.judged, (len(lists.systems), 1))
    kinds, n_kinds = np.zeros(n_lists, np.int64), 1
    for column in (*gains.T, *judged.T):
        column = column.astype(np.int64) - HOLE
        width = int(column.max(initial=0)) + 1
        if n_kinds > _MOST_KINDS // width:
            kinds, n_kinds = pd.factorize(kinds)[0].astype(np.int64), n_lists
        kinds, n_kinds = kinds * width + column, n_kinds * width
    kinds, found = pd.factorize(kinds)
    some = np.zeros(len(found), np.int64)
    some[kinds] = np.arange(n_lists)
    return some, kinds


@dataclass(frozen=True)
class Best:
    """What the best orders of Q queries reach with the documents judged, and with 0 to m more."""

    levels: Values
    """(Q, L, m + 1) At each level alone."""
    steps: Numbers
    """(L,) See `Lists`."""
    whole: Values
    """(m + 1, Q) With the more at all levels; above 0 with any."""

    @cached_property
    def constant(self) -> bool:
        """Whether it is the same with however many more, as for P@k."""
        return len(self.steps) == 1 and bool((self.whole == self.whole[0]).all())

    def repeated(self, n: int) -> "Best":
        """Of the same queries n times over."""
        if n == 1:
            return self
        return replace(
            self, levels=np.tile(self.levels, (n, 1, 1)), whole=np.tile(self.whole, (1, n))
        )


def best_orders(judged: Numbers, lists: Lists, gain: Gain, m: int) -> Best:
    """For judged (Q, L), as `Lists` has them, in lists of this depth and with these levels."""
    reach = gain.reach(lists.depth, int(judged.max(initial=0)) + m)
    levels = reach[judged[:, :, None] + np.arange(m + 1)]
    return Best(levels, lists.steps, np.einsum("qlc,l->cq", levels, lists.steps).copy())


def extremes(fixed: Values, weights: Values, best: Best) -> tuple[Values, Values]:
    """The least and the largest ratio of every query over all grades of its holes.

    fixed (Q,): discounted gains of the judged documents. weights (m, Q): what a gain of 1 of each
    hole adds to them, nan where a query has fewer holes. Where nothing is relevant the ratio is 0.
    """
    return -_largest(-fixed, -weights, best), _largest(fixed, weights, best)


def _largest(fixed: Values, weights: Values, best: Best) -> Values:
    height = best.steps.sum()
    if best.constant:
        return ratio(fixed + height * np.fmax(weights, 0).sum(axis=0), best.whole[0])
    # Choice by choice: all of them at once would not fit into the processor's cache.
    found = ratio(fixed, best.whole[0])
    gained = np.zeros((len(weights) + 1, len(fixed)))
    for c, weight in enumerate(np.sort(-weights, axis=0)):
        np.subtract(gained[c], weight, out=gained[c + 1])
        # nan, which sorts last, is not to be had.
        np.fmax(found, (fixed + height * gained[c + 1]) / best.whole[c + 1], out=found)
    # With one level alone that was every choice.
    if len(best.steps) == 1:
        return found
    left = np.flatnonzero(found >= 0)
    gained = np.where(np.isnan(gained), -np.inf, gained).T
    while len(left):
        better = _better(fixed[left], gained[left], best.levels[left], best.steps, found[left])
        left, better = left[better > found[left] + 1e-15], better[better > found[left] + 1e-15]
        found[left] = better
    return found


def _better(fixed: Values, gained: Values, ideal: Values, steps: Numbers, best: Values) -> Values:
    """The ratio at the choice of c_j that is largest for N - best D: above `best` if any is."""
    chosen = np.argmax(gained[:, None, :] - best[:, None, None] * ideal, axis=2)
    brought = fixed + np.take_along_axis(gained, chosen, axis=1) @ steps
    over = np.take_along_axis(ideal, chosen[:, :, None], axis=2)[:, :, 0] @ steps
    return ratio(brought, over)


def ratio(part: Values, whole: Values) -> Values:
    """part / whole, 0 where whole is 0: a query without a relevant document."""
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)
