"""Whether the holes could turn the order of two systems.

Asked of the difference of their scores, with a hole that both retrieved judged once for both. Two
separate intervals tell nothing of it, whether they overlap or not: what lifts one system may lift
the other as much, and a relevant hole of one raises the best order for both.
"""

from itertools import combinations

import numpy as np
from pandas import DataFrame

from compute.holes.bounds import extremes, ideals, ratio
from compute.holes.lists import Codes, Flags, Lists, Values, measured

FIRST, SECOND, OPEN, EQUAL = "first", "second", "open", "equal"
"""The first, or second, system is ahead whatever the holes are; the holes could turn the order,
or level it; the systems are level whatever the holes are."""
_ROUNDING = 1e-12


def pairs(lists: Lists, measure: str) -> DataFrame:
    """Every pair of systems: first, second, difference (mean over the queries of first minus
    second), low and high over every way of judging the holes of both top k, verdict.

    Holes belong to one query, so the extremes of the queries add up. Raises WrongInput as
    `measured`.
    """
    seen, gain = measured(lists, measure)
    discount, m = gain.discount(seen.depth), 2 * seen.depth
    gains, holes = seen.gain.clip(0) @ discount, seen.holes
    ideal = ideals(seen.judged, gain.reach(seen.depth, int(seen.judged.max(initial=0)) + m), m)
    today = ratio(gains, np.broadcast_to(ideal[:, :, 0] @ seen.steps, gains.shape))
    # By rank and query, so that `_weights` runs over queries next to each other.
    documents, unknown = np.moveaxis(seen.document, 1, 2).copy(), np.moveaxis(holes, 1, 2).copy()
    rows = []
    for one, other in combinations(range(len(seen.systems)) if seen.queries else (), 2):
        both = [one, other]
        weights = _weights(documents[both], unknown[both], discount)
        low, high = extremes(gains[one] - gains[other], weights, ideal, seen.steps)
        ends = float(low.mean()), float(high.mean())
        difference = float((today[one] - today[other]).mean())
        rows.append((seen.systems[one], seen.systems[other], difference, *ends, _verdict(*ends)))
    columns = ["first", "second", "difference", "low", "high", "verdict"]
    return DataFrame(rows, columns=columns)


def _verdict(low: float, high: float) -> str:
    if max(abs(low), abs(high)) <= _ROUNDING:
        return EQUAL
    if low > _ROUNDING:
        return FIRST
    return SECOND if high < -_ROUNDING else OPEN


def _weights(document: Codes, holes: Flags, discount: Values) -> Values:
    """(Q, 2k) What each hole of either list adds to the difference; nan where there is none.

    document, holes: (2, k, Q), see `Lists`.
    """
    one, other = np.where(document[0] >= 0, document[0], -2), document[1]
    given, shared = np.zeros(one.shape), np.zeros(one.shape, bool)
    # Rank by rank: all pairs of ranks at once would not fit into the processor's cache.
    for rank, also in enumerate(other):
        same = one == also
        np.add(given, discount[rank], out=given, where=same)
        same.any(axis=0, out=shared[rank])
    own = np.where(holes[0], discount[:, None] - given, np.nan)
    alone = np.where(holes[1] & ~shared, -discount[:, None], np.nan)
    return np.concatenate([own, alone]).T.copy()
