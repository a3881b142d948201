"""Whether the holes could turn the order of two systems.

Asked of the difference of their scores, with a hole that both retrieved judged once for both. Two
separate intervals tell nothing of it, whether they overlap or not: what lifts one system may lift
the other as much, and a relevant hole of one raises the best order for both.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from pandas import DataFrame

from compute.holes.bounds import best_orders, extremes, ratio
from compute.holes.lists import Codes, Lists, Values, measured

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
    discount = gain.discount(seen.depth)
    best = best_orders(seen.judged, seen, gain, 2 * seen.depth)
    fixed = seen.gain.clip(0) @ discount
    today = ratio(fixed, np.broadcast_to(best.whole[0], fixed.shape))
    retrieved = _by_rank(seen, discount)
    rows = []
    for one, other in combinations(range(len(seen.systems)) if seen.queries else (), 2):
        weights = _weights(retrieved[one], retrieved[other], discount)
        low, high = extremes(fixed[one] - fixed[other], weights, best)
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


class _Retrieved(NamedTuple):
    """What a system retrieved, by rank and query, so that queries lie next to each other."""

    document: Codes
    """(k, Q)"""
    brings: Values
    """(k, Q) What a gain of 1 of the hole at each rank brings; nan where there is no hole."""


def _by_rank(lists: Lists, discount: Values) -> list[_Retrieved]:
    """By system."""
    return [
        _Retrieved(document.T.copy(), np.where(holes, discount, np.nan).T.copy())
        for document, holes in zip(lists.document, lists.holes, strict=True)
    ]


def _weights(one: _Retrieved, other: _Retrieved, discount: Values) -> Values:
    """(2k, Q) What each hole of either list adds to the difference; nan where there is none."""
    given, shared = np.zeros(one.document.shape, np.int16), np.zeros(one.document.shape, bool)
    # Rank by rank: all pairs of ranks at once would not fit into the processor's cache.
    for rank, also in enumerate(other.document):
        same = one.document == also
        np.maximum(given, same * np.int16(rank + 1), out=given)
        same.any(axis=0, out=shared[rank])
    own = one.brings - np.concatenate([[0.0], discount])[given]
    return np.concatenate([own, np.where(shared, np.nan, -other.brings)])
