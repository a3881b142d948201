"""Three possible ranges of a score, over every way of judging the unjudged documents.

**Own list**: the holes in the system's own top k. **Pool**: also all other unjudged documents of
the query in the pool, which consists of the stored lists of all systems. **Collection**: also every
other document of the corpus that is not judged for the query. The queries are those that already
have judgements.

A hole may have any grade from 0 to the highest of the collection. For nDCG and recall the ideal
order depends on the holes too, so the ends of an interval are not simply "no hole is relevant" and
"all are": a relevant hole low in the list can cost more than it gains. Both ends are exact, at any
depth and with any number of grades, and no assignments of grades are tried out. Write a grade as a
sum over the levels that it reaches, and let c_j of the m holes reach level j. For given c_j, the
ideal order is fixed, and the sum of discounted gains is largest when the holes with the largest
weights have the highest grades. So the score is at most

    (F + sum_j s_j W(c_j)) / sum_j s_j D(J_j + c_j)        m >= c_1 >= c_2 >= ... >= 0

where F is the sum of the judged documents' gains, s_j the step from level j - 1 to j, W(c) the sum
of the c largest weights, J_j the number of judged documents that reach level j, and D the value of
the ideal order. By Dinkelbach (1967), a ratio N/D is at most t if N - t D is nowhere above 0, and
this separates into one choice of c_j per level. Since D is concave and J_j falls with j, the
choices satisfy c_1 >= c_2 >= ... for t >= 0. If the largest ratio is below 0, it is at c_1 = c_2 =
..., because N - t D is then convex; such choices are tried first. The minimum score is minus the
maximum of the negated sum. Only grades that occur in judgements need a c_j: between two of them the
ideal order does not change, and the ratio has no turning point. Relevant documents outside the list
only add to D, so they move an end only towards 0: if all ratios have the same sign, the one nearest
0 is at c_1 = c_2 = ..., with all outside documents at the highest grade. An end never needs them to
move across 0 or away from it.
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
"""For each wider range, by name, the number of each query's unjudged documents that may be
relevant, including those in the lists, (Q,)."""
NOTHING: Outside = MappingProxyType({})
GAINS = {name: row.gain for name, row in FORMULAS.items() if row.gain}
"""The `Gain` of each measure that has ranges and order flips, by the measure's name."""
POOL, COLLECTION = "pool", "collection"
EACH = slice(None)

_MOST_KINDS = 2**62
"""Kinds of lists have numbers, which are reassigned before they exceed this and overflow."""


def intervals(lists: Lists, measure: str, outside: Outside = NOTHING) -> DataFrame:
    """Return the score and its possible ranges for every query of every system: system, query_id,
    n_holes, value (with unjudged documents as not relevant, as everywhere), low, high; also
    pool_low, pool_high and so on for each wider range of `outside`. Raises WrongInput as `measured`
    does."""
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
    """Find the distinct lists of all systems and queries, since most are equal. Returns the
    position of one list of each kind, among the flattened lists (S, Q), and the kind of each list,
    (S * Q,)."""
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
    """Ideal values of Q queries with their judged documents and 0 to m more."""

    judged: Numbers
    """(Q, L) See `Lists`."""
    levels: Values
    """(Q, L, m + 1) Ideal value at each level separately."""
    steps: Numbers
    """(L,) See `Lists`."""
    whole: Values
    """(m + 1, Q) Ideal value if the additional documents reach all levels."""
    gain: Gain
    depth: int

    @cached_property
    def height(self) -> int:
        """Return the highest gain of a document."""
        return int(self.steps.sum())

    @property
    def enough(self) -> int | None:
        """Return `Gain.enough` for this depth."""
        return self.gain.enough(self.depth)

    def of(self, queries: Numbers) -> "Best":
        """Return the ideal values of some of the queries, which are given by position."""
        own = {"judged": self.judged[queries], "levels": self.levels[queries]}
        return replace(self, whole=self.whole[:, queries], **own)

    def repeated(self, n: int) -> "Best":
        """Return the ideal values of the same queries, repeated n times."""
        return self if n == 1 else self.of(np.tile(np.arange(len(self.judged)), n))


def best_orders(lists: Lists, gain: Gain, m: int) -> Best:
    """Return the ideal values of the queries of the lists, with up to `m` additional documents."""
    levels = gain.reach(lists.depth, lists.judged[:, :, None] + np.arange(m + 1))
    whole = np.einsum("qlc,l->cq", levels, lists.steps).copy()
    return Best(lists.judged, levels, lists.steps, whole, gain, lists.depth)


def extremes(fixed: Values, ends: Ends, best: Best) -> tuple[Values, Values]:
    """Return the least and the largest ratio of each query over all grades of its holes. `fixed`
    (Q,) has the sums of the judged documents, and `ends` (m + 1, Q) the least and largest gain of 0
    to m holes of gain 1. If nothing is relevant, the ratio is 0."""
    # The value is subtracted from 0 rather than negated, since -0 would be shown with its sign.
    return 0.0 - _largest(-fixed, -ends[0], best), _largest(fixed, ends[1], best)


def widened(
    own: tuple[Values, Values],
    fixed: Values,
    ends: Ends,
    best: Best,
    outside: Sequence[Numbers],
    kinds: Numbers | slice = EACH,
) -> list[tuple[Values, Values]]:
    """Widen the ends `own` of `extremes`, once for each of `outside`: the number of each query's
    documents outside the lists that may be relevant, too. `kinds` maps each query of `outside` to
    its position in the other arrays (default: the same position). Outside documents add nothing to
    a sum and only raise the ideal value, so they can move an end towards 0, but never away from it
    or across it."""
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
    """Return the ratios of `_largest`; those below 0 are recomputed with all outside documents
    relevant, where the largest ratio is at c_1 = c_2 = ..."""
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
    # If the ideal order is full of outside documents, only the sum is left to maximise.
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
    """Return the largest ratios if `more` documents are relevant in addition to the holes."""
    found = np.full(len(fixed), -np.inf)
    for c, added in enumerate(gained):
        whole = np.zeros(len(fixed))
        for level, step in enumerate(best.steps):
            whole += step * best.gain.reach(best.depth, judged[:, level] + (more + c))
        np.fmax(found, ratio(fixed + best.height * added, whole), out=found)
    return found


def _largest(fixed: Values, gained: Values, best: Best) -> Values:
    """Return the largest ratio of each query over the numbers of its holes at each level."""
    if best.enough == 0:
        return ratio(fixed + best.height * np.fmax.reduce(gained, axis=0), best.whole[0])
    found = ratio(fixed, best.whole[0])
    for c in range(1, len(gained)):
        # A list with fewer holes has nan, which fmax ignores.
        np.fmax(found, (fixed + best.height * gained[c]) / best.whole[c], out=found)
    # With a single level, every choice has now been tried.
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
    """Return the ratio at the c_j with the largest N - best D; it is above `best` if any ratio
    is."""
    chosen = np.argmax(gained[:, None, :] - best[:, None, None] * ideal, axis=2)
    brought = fixed + np.take_along_axis(gained, chosen, axis=1) @ steps
    over = np.take_along_axis(ideal, chosen[:, :, None], axis=2)[:, :, 0] @ steps
    return ratio(brought, over)


def ratio(part: Values, whole: Values) -> Values:
    """Return part / whole, or 0 if the whole is 0, as for a query without relevant documents."""
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)


def measured(lists: Lists, measure: str) -> tuple[Lists, Gain]:
    """Return the lists cut to the depth of a measure such as nDCG@10, with its gains, and its
    `Gain`. Raises WrongInput for a measure without a `Gain`, or with a cut-off deeper than the
    lists."""
    (gain, k), of = formula(measure), parse(measure)
    top = lists.cut(k)
    if not gain.graded:
        return top.binary(of.rel or 1), gain
    gains = {"gain": of.worth(top.gain).astype(np.int32, copy=False)}
    return replace(top, **gains, levels=of.worth(top.levels).astype(np.int64, copy=False)), gain


def formula(measure: str) -> tuple[Gain, int]:
    """Return a measure's `Gain` and cut-off. Raises WrongInput for a measure that lacks either."""
    parsed = parse(measure)
    gain = parsed.formula.gain
    if gain is None or parsed.k is None:
        known = ", ".join(f"{name}@k" for name in GAINS)
        raise WrongInput(f"there is no interval for {measure}; known: {known}")
    return gain, parsed.k
