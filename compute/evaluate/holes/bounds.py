"""Possible ranges of a score: three, over every way of judging the unjudged documents.

**Own list**: the holes in the system's own top k. **Pool**: those, and all other unjudged documents
of the query in the pool, the stored lists of all systems. **Collection**: those, and every other
document of the corpus that is not judged for the query. The queries are those evaluated today.

A hole may have any grade from 0 to the highest of the collection. For nDCG and recall the ideal
order depends on the holes too, so the ends of an interval are not simply "no hole is relevant" and
"all are": a relevant hole low in the list can cost more than it gains. Both ends are exact, at any
depth and with any number of grades, without trying assignments. Write a grade as a sum over levels
that it reaches, and let c_j of the m holes reach level j. For given c_j, the ideal order is fixed
and the sum of discounted gains is largest when the holes with the largest weights have the highest
grades. So the score is at most

    (F + sum_j s_j W(c_j)) / sum_j s_j D(J_j + c_j)        m >= c_1 >= c_2 >= ... >= 0

with F the gains of the judged documents, s_j the step from level j - 1 to j, W(c) the sum of the c
largest weights, J_j the judged documents that reach level j and D the value of the ideal order.
Dinkelbach (1967): a ratio N/D is at most t if N - t D is nowhere above 0, and this separates into
one choice of c_j per level. As D is concave and J_j falls with j, the choices are in order for t >=
0. A largest ratio below 0 is at c_1 = c_2 = ..., because N - t D is convex then: those are tried
first. The minimum score is minus the maximum of the negated sum. Only grades that occur in
judgements need a c_j: between two of them the ideal order does not change, and the ratio has no
turning point. Relevant documents outside the list only add to D, so they move an end only towards
0: if all ratios have one sign, the one nearest 0 is at c_1 = c_2 = ..., with all outside documents
at the highest grade; no choice across 0 or away from it needs them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
import pandas as pd
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.evaluate.hole_gains import Ends, Gain
from compute.evaluate.measures import FORMULAS, parse
from compute.evaluate.top_lists import HOLE, Lists, Numbers, Values

Outside = Mapping[str, Numbers]
"""For each wider range: (Q,) number of unjudged documents of each query that may be relevant,
including those of the lists."""
NOTHING: Outside = MappingProxyType({})
GAINS = {name: row.gain for name, row in FORMULAS.items() if row.gain}
"""Gain functions of the measures that have ranges and order flips."""
POOL, COLLECTION = "pool", "collection"
EACH = slice(None)

_MOST_KINDS = 2**62
"""Kinds are identified by numbers, which are renumbered before they overflow."""


def intervals(lists: Lists, measure: str, outside: Outside = NOTHING) -> DataFrame:
    """Score and possible ranges of every query of every system: system, query_id, n_holes, value
    (unjudged documents count as not relevant, as everywhere), low, high; also pool_low, pool_high
    and so on for each wider range of `outside`. Raises WrongInput like `measured`."""
    seen, gain = measured(lists, measure)
    some, kinds = _kinds(seen)
    gains, judged = seen.gain.reshape(-1, seen.depth)[some], some % max(len(seen.queries), 1)
    n_holes = (gains == HOLE).sum(axis=1)
    fixed, ends = gain.found(gains), gain.ends(gains)
    best = best_orders(seen, gain, seen.depth).of(judged)
    own = extremes(fixed, ends, best)
    found = {"n_holes": n_holes[kinds], "value": ratio(fixed, best.whole[0])[kinds]}
    found |= {"low": own[0][kinds], "high": own[1][kinds]}
    inside = np.asarray(found["n_holes"], np.int64)
    more = [np.tile(within, len(seen.systems)) - inside for within in outside.values()]
    wider = widened(own, fixed, ends, best, more, kinds)
    for name, (low, high) in zip(outside, wider, strict=True):
        found |= {f"{name}_low": low, f"{name}_high": high}
    rows = pd.MultiIndex.from_product([seen.systems, seen.queries], names=["system", "query_id"])
    return DataFrame(found, index=rows).reset_index()


def _kinds(lists: Lists) -> tuple[Numbers, Numbers]:
    """Distinct lists of all systems and queries, since most are equal: the place of one list of
    each kind, as flattened places of (S, Q); and the kind of each list, (S * Q,)."""
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
    """Ideal values of Q queries with the judged documents, and with 0 to m more."""

    judged: Numbers
    """(Q, L) See `Lists`."""
    levels: Values
    """(Q, L, m + 1) Values at each level separately."""
    steps: Numbers
    """(L,) See `Lists`."""
    whole: Values
    """(m + 1, Q) Values with additional documents at all levels; above 0 with any."""
    gain: Gain
    depth: int

    @cached_property
    def height(self) -> int:
        """The highest gain."""
        return int(self.steps.sum())

    @property
    def enough(self) -> int | None:
        """See `Gain`."""
        return self.gain.enough(self.depth)

    def of(self, queries: Numbers) -> "Best":
        """Ideal values of some of the queries, by place."""
        own = {"judged": self.judged[queries], "levels": self.levels[queries]}
        return replace(self, whole=self.whole[:, queries], **own)

    def repeated(self, n: int) -> "Best":
        """Ideal values of the same queries, repeated n times."""
        return self if n == 1 else self.of(np.tile(np.arange(len(self.judged)), n))


def best_orders(lists: Lists, gain: Gain, m: int) -> Best:
    """Ideal values of the queries of the lists."""
    levels = gain.reach(lists.depth, lists.judged[:, :, None] + np.arange(m + 1))
    whole = np.einsum("qlc,l->cq", levels, lists.steps).copy()
    return Best(lists.judged, levels, lists.steps, whole, gain, lists.depth)


def extremes(fixed: Values, ends: Ends, best: Best) -> tuple[Values, Values]:
    """Least and largest ratio of each query over all grades of its holes.

    fixed (Q,): the sums of the judged documents. ends (m + 1, Q): the least and largest gain of 0
    to m holes of gain 1. If nothing is relevant, the ratio is 0.
    """
    # Subtracted from 0, not negated: -0 would be shown with its sign.
    return 0.0 - _largest(-fixed, -ends[0], best), _largest(fixed, ends[1], best)


def widened(
    own: tuple[Values, Values],
    fixed: Values,
    ends: Ends,
    best: Best,
    outside: Sequence[Numbers],
    kinds: Numbers | slice = EACH,
) -> list[tuple[Values, Values]]:
    """The ends `own` of `extremes` if the given numbers of documents outside the lists may be
    relevant, too: for each of `outside`. `kinds`: for each number of `outside` the place of its
    query in the others (default: one by one). Outside documents add nothing to a sum and only raise
    the ideal value. So they can move an end towards 0 but never away from it or across it: an end
    on the other side stays."""
    outside = [more.clip(0) for more in outside]
    lows = _raised(-own[0], -fixed, -ends[0], best, outside, kinds)
    highs = _raised(own[1], fixed, ends[1], best, outside, kinds)
    return [(0.0 - low, high) for low, high in zip(lows, highs, strict=True)]


def _raised(
    found: Values,
    fixed: Values,
    gained: Values,
    best: Best,
    outside: Sequence[Numbers],
    kinds: Numbers | slice,
) -> list[Values]:
    """Largest ratios of `_largest` with all outside documents, for ratios below 0, which is at c_1
    = c_2 = ..."""
    found = found[kinds]
    negative = found < 0
    if best.enough == 0 or not negative.any():
        return [found] * len(outside)
    judged, fixed = best.judged[kinds], fixed[kinds]
    if best.enough is None:
        gained = gained[:, kinds]
        return [
            np.where(negative, _with(more, fixed, gained, judged, best), found) for more in outside
        ]
    # With as many as the ideal order can contain, only the sum is left to choose.
    most = (best.height * np.fmax.reduce(gained, axis=0))[kinds] + fixed
    filled = most / (best.height * best.gain.reach(best.depth, np.array(best.enough)))
    ends = []
    for more in outside:
        full = judged[:, -1] + more >= best.enough
        end = np.where(negative & full, filled, found)
        left = np.flatnonzero(negative & ~full)
        rows = left if isinstance(kinds, slice) else kinds[left]
        end[left] = _with(more[left], fixed[left], gained[:, rows], judged[left], best)
        ends.append(end)
    return ends


def _with(more: Numbers, fixed: Values, gained: Values, judged: Numbers, best: Best) -> Values:
    """Largest ratios with this many relevant documents in addition to the relevant holes."""
    found = np.full(len(fixed), -np.inf)
    for c, added in enumerate(gained):
        whole = np.zeros(len(fixed))
        for level, step in enumerate(best.steps):
            whole += step * best.gain.reach(best.depth, judged[:, level] + (more + c))
        np.fmax(found, ratio(fixed + best.height * added, whole), out=found)
    return found


def _largest(fixed: Values, gained: Values, best: Best) -> Values:
    if best.enough == 0:
        return ratio(fixed + best.height * np.fmax.reduce(gained, axis=0), best.whole[0])
    found = ratio(fixed, best.whole[0])
    for c in range(1, len(gained)):
        # nan, where there are fewer holes, cannot be attained.
        np.fmax(found, (fixed + best.height * gained[c]) / best.whole[c], out=found)
    # With only one level, every choice has been tried.
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
    """The ratio at the choice of c_j with the largest N - best D; above `best` if any is."""
    chosen = np.argmax(gained[:, None, :] - best[:, None, None] * ideal, axis=2)
    brought = fixed + np.take_along_axis(gained, chosen, axis=1) @ steps
    over = np.take_along_axis(ideal, chosen[:, :, None], axis=2)[:, :, 0] @ steps
    return ratio(brought, over)


def ratio(part: Values, whole: Values) -> Values:
    """part / whole, 0 if whole is 0, as for a query without a relevant document."""
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)


def measured(lists: Lists, measure: str) -> tuple[Lists, Gain]:
    """Lists cut to the depth of a measure such as nDCG@10, and the measure's formula.

    Raises WrongInput for a measure without a gain, or one that cuts deeper than the lists.
    """
    (gain, k), of = formula(measure), parse(measure)
    top = lists.cut(k)
    if not gain.graded:
        return top.binary(of.rel or 1), gain
    gains = {"gain": of.worth(top.gain).astype(np.int32, copy=False)}
    return replace(top, **gains, levels=of.worth(top.levels).astype(np.int64, copy=False)), gain


def formula(measure: str) -> tuple[Gain, int]:
    """A measure's gain and cut-off. Raises WrongInput for a measure without either."""
    parsed = parse(measure)
    gain = parsed.formula.gain
    if gain is None or parsed.k is None:
        known = ", ".join(f"{name}@k" for name in GAINS)
        raise WrongInput(f"there is no interval for {measure}; known: {known}")
    return gain, parsed.k
