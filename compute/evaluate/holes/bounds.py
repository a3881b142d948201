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
0 is at c_1 = c_2 = ..., with all outside documents at the highest grade. Such documents never move
an end across 0 or away from it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.evaluate.hole_gains import Gain
from compute.evaluate.measures import FORMULAS, parse
from compute.evaluate.top_lists import HOLE, OF_RANKS, Lists, Numbers, Values

Outside = Mapping[str, Numbers]
"""For each wider range, by name, the number of each query's unjudged documents that may be
relevant, including those in the lists, (Q,)."""
NOTHING: Outside = MappingProxyType({})
GAINS = {name: row.gain for name, row in FORMULAS.items() if row.gain}
"""The `Gain` of each measure that has ranges and order flips, by the measure's name."""
POOL, COLLECTION = "pool", "collection"

_AT_ONCE = 20_000
"""Kinds of lists whose ranges are computed at once: arrays have an entry per kind and hole."""
_MOST_KINDS = 2**62
"""Kinds of lists have numbers, which are reassigned before they exceed this and overflow."""


def means(lists: Lists, measure: str, outside: Outside = NOTHING) -> DataFrame:
    """Return n_queries, the sum of n_holes, and the means of the other columns of `by_kind`, by
    system; no row if there is no query."""
    found, kinds = by_kind(lists, measure, outside)
    own, n = kinds.reshape(len(lists.systems), -1), len(lists.queries)
    counts = np.stack([np.bincount(of, minlength=len(found["value"])) for of in own])
    sums = {name: counts @ column for name, column in found.items()}
    frame = DataFrame(sums, index=pd.Index(lists.systems, name="system"))[: len(own) if n else 0]
    frame.iloc[:, 1:] /= n
    frame.insert(0, "n_queries", n)
    return frame


def by_kind(lists: Lists, measure: str, outside: Outside) -> tuple[dict[str, Any], Numbers]:
    """Return the score and its possible ranges for one list of each kind, since most are equal:
    n_holes, value (with unjudged documents as not relevant, as everywhere), low, high; also
    pool_low, pool_high and so on for each wider range of `outside`. Also returns the kind of each
    list, (S * Q,). Raises WrongInput as `measured` does."""
    seen, gain = measured(lists, measure)
    enough = gain.enough(seen.depth)
    # More could not matter: the ideal order is full.
    most = _MOST_KINDS if enough is None else enough + seen.depth
    within = {name: np.minimum(counts, most) for name, counts in outside.items()}
    some, query, kinds = distinct(seen, [*within.values()])
    parts = []
    for at in range(0, max(len(query), 1), _AT_ONCE):
        block = slice(at, at + _AT_ONCE)
        wider = {name: counts[query[block]] for name, counts in within.items()}
        parts.append(_ends(some.asked(block), gain, wider))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}, kinds


def _ends(some: Lists, gain: Gain, outside: Outside) -> dict[str, Any]:
    """Return the columns of `by_kind` for some kinds; `outside` counts by kind."""
    gains = some.gain[0]
    n_holes = (gains == HOLE).sum(axis=1)
    fixed, ends = gain.found(gains), gain.ends(gains)
    best = best_orders(some, gain, some.depth)
    prefixes = ("", *(f"{name}_" for name in outside))
    more = [counts - n_holes for counts in outside.values()]
    found: dict[str, Any] = {"n_holes": n_holes, "value": ratio(fixed, best.whole[0])}
    found |= {name + end: fixed for name in prefixes for end in ("low", "high")}
    for sign, end, gained in ((-1, "low", -ends[0]), (1, "high", ends[1])):
        own = largest(sign * fixed, gained, best)
        ranges = own, *raised(own, sign * fixed, gained, best, more)
        # Added to 0, since -0 would be shown with its sign.
        found |= {n + end: 0.0 + sign * one for n, one in zip(prefixes, ranges, strict=True)}
    return found


def distinct(lists: Lists, within: Sequence[Numbers] = ()) -> tuple[Lists, Numbers, Numbers]:
    """Return one list of each kind, as lists of a single system, the position of its query, and the
    kind of each list, (S * Q,). Lists of a kind have equal gains; their queries have equal counts
    of judged documents and equal `within` counts."""
    asked, n = np.zeros(len(lists.queries), np.int64), 1
    for column in (*lists.judged.T, *within):
        asked, n = _combined(asked, n, column)
    kinds = np.tile(asked, len(lists.systems))
    for column in lists.gain.reshape(-1, lists.depth).T:
        kinds, n = _combined(kinds, n, column - np.int64(HOLE))
    kinds, found = pd.factorize(kinds)
    some = np.zeros(len(found), np.int64)
    some[kinds] = np.arange(len(kinds))
    query, whole = some % max(len(lists.queries), 1), replace(lists, systems=("",))
    flat = {name: getattr(lists, name).reshape(1, -1, lists.depth)[:, some] for name in OF_RANKS}
    counts = {name: getattr(lists, name)[query] for name in ("judged", "n_judged")}
    return replace(whole, queries=("",) * len(some), **flat, **counts), query, kinds


def _combined(kinds: Numbers, bound: int, column: Numbers) -> tuple[Numbers, int]:
    """Split kinds by a column: equal pairs of kind and value get the same new kind. `bound` is
    above all kinds; return the new kinds and their bound. Values are at least 0."""
    width = int(column.max(initial=0)) + 1
    if bound > _MOST_KINDS // width:
        kinds, bound = pd.factorize(kinds)[0].astype(np.int64), len(kinds)
    if width > _MOST_KINDS // max(bound, 1):
        column, width = pd.factorize(column)[0].astype(np.int64), len(column)
    return kinds * width + column, bound * width


@dataclass(frozen=True)
class Best:
    """Ideal values of Q queries with their judged documents and 0 to m more."""

    judged: Numbers
    """(Q, L) See `Lists`."""
    levels: Values
    """(L, m + 1, Q) Ideal value at each level separately."""
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
        """Return the ideal values of the queries at these positions."""
        own = {"judged": self.judged[queries], "levels": self.levels[..., queries]}
        return replace(self, whole=self.whole[:, queries], **own)


def best_orders(lists: Lists, gain: Gain, m: int) -> Best:
    """Return the ideal values of the queries of the lists, with up to `m` additional documents."""
    levels = gain.reach(lists.depth, lists.judged.T[:, None] + np.arange(m + 1)[:, None])
    whole = np.einsum("lcq,l->cq", levels, lists.steps)
    return Best(lists.judged, levels, lists.steps, whole, gain, lists.depth)


def raised(
    found: Values, fixed: Values, gained: Values, best: Best, outside: Sequence[Numbers]
) -> list[Values]:
    """Return the ratios of `largest`; those below 0 are recomputed with all outside documents
    relevant, where the largest ratio is at c_1 = c_2 = ... Outside documents add nothing to a sum
    and only raise the ideal value, so they can move an end towards 0, but never across it."""
    negative = found < 0
    if best.enough == 0 or not negative.any():
        return [found] * len(outside)
    outside = [more.clip(0) for more in outside]
    if best.enough is None:
        return [np.where(negative, _with(more, fixed, gained, best), found) for more in outside]
    # If the ideal order is full of outside documents, only the sum is left to maximise.
    most = best.height * np.fmax.reduce(gained, axis=0) + fixed
    filled = most / (best.height * best.gain.reach(best.depth, np.array(best.enough)))
    ends = []
    for more in outside:
        full = best.judged[:, -1] + more >= best.enough
        end = np.where(negative & full, filled, found)
        left = np.flatnonzero(negative & ~full)
        end[left] = _with(more[left], fixed[left], gained[:, left], best.of(left))
        ends.append(end)
    return ends


def _with(more: Numbers, fixed: Values, gained: Values, best: Best) -> Values:
    """Return the largest ratios if `more` documents are relevant in addition to the holes."""
    found = np.full(len(fixed), -np.inf)
    for c, added in enumerate(gained):
        whole = np.zeros(len(fixed))
        for level, step in enumerate(best.steps):
            whole += step * best.gain.reach(best.depth, best.judged[:, level] + (more + c))
        np.fmax(found, ratio(fixed + best.height * added, whole), out=found)
    return found


def largest(fixed: Values, gained: Values, best: Best) -> Values:
    """Return the largest ratio of each query over the numbers of its holes at each level; `gained`
    (m + 1, Q) is the largest gain of 0 to m holes of gain 1."""
    if best.enough == 0:
        return ratio(fixed + best.height * np.fmax.reduce(gained, axis=0), best.whole[0])
    found = ratio(fixed, best.whole[0])
    for c in range(1, len(gained)):
        # A list with fewer holes has nan, which fmax ignores.
        np.fmax(found, (fixed + best.height * gained[c]) / best.whole[c], out=found)
    # With a single level, every choice has now been tried.
    if len(best.steps) == 1:
        return found
    ideal = best.levels[:, : len(gained)]
    surplus = _surplus(fixed, gained, ideal, best.steps, found)
    left = np.flatnonzero((found >= 0) & (surplus > 1e-15))
    gained = np.where(np.isnan(gained[:, left]), -np.inf, gained[:, left])
    fixed, ideal, own = fixed[left], ideal[..., left], found[left]
    while len(left):
        better = _better(fixed, gained, ideal, best.steps, own)
        more = np.flatnonzero(better > own + 1e-15)
        left, own = left[more], better[more]
        found[left] = own
        fixed, gained, ideal = fixed[more], gained[:, more], ideal[..., more]
    return found


def _surplus(fixed: Values, gained: Values, ideal: Values, steps: Numbers, best: Values) -> Values:
    """Return the largest N - best D; it is above 0 if a choice of c_j has a larger ratio."""
    found = fixed.copy()
    for step, own in zip(steps, ideal, strict=True):
        most = gained[0] - best * own[0]
        for added, whole in zip(gained[1:], own[1:], strict=True):
            np.fmax(most, added - best * whole, out=most)
        found += step * most
    return found


def _better(fixed: Values, gained: Values, ideal: Values, steps: Numbers, best: Values) -> Values:
    """Return the ratio at the c_j with the largest N - best D; above `best` if any ratio is."""
    brought, over = fixed.copy(), np.zeros(len(fixed))
    for step, own in zip(steps, ideal, strict=True):
        chosen = np.argmax(gained - best * own, axis=0)[None]
        brought += step * np.take_along_axis(gained, chosen, axis=0)[0]
        over += step * np.take_along_axis(own, chosen, axis=0)[0]
    return ratio(brought, over)


def ratio(part: Values, whole: Values) -> Values:
    """Return part / whole, or 0 if the whole is 0, as for a query without relevant documents."""
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)


def scored(lists: Lists, gain: Gain) -> Values:
    """Return the measure of each query, (S, Q), with holes as not relevant."""
    return ratio(gain.found(lists.gain), gain.reach(lists.depth, lists.judged) @ lists.steps)


def measured(lists: Lists, measure: str) -> tuple[Lists, Gain]:
    """Return the lists cut to a measure's k, and the measure's `Gain`. The grades in `gain` and
    `levels` become the measure's gains: 0 or 1 by its `rel` if it does not grade. Raises WrongInput
    for a measure without a `Gain` or with a deeper cut-off than the lists."""
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
