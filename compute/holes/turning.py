"""Whether the holes could turn the order of two systems.

Asked of the difference of their scores, with a hole that both retrieved judged once for both. Two
separate intervals tell nothing of it, whether they overlap or not: what lifts one system may lift
the other as much, and a relevant hole of one raises the best order for both.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from pandas import DataFrame

from compute.holes.bounds import best_orders, extremes, ratio
from compute.holes.lists import Codes, Lists, Numbers, Values, measured

FIRST, SECOND, OPEN, EQUAL = "first", "second", "open", "equal"
"""The first, or second, system is ahead whatever the holes are; the holes could turn the order,
or level it; the systems are level whatever the holes are."""
_ROUNDING = 1e-12
_AT_ONCE = 4_000
"""Queries of pairs looked at together: more leave the processor's cache, fewer take more steps."""


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
    retrieved = _retrieved(seen, discount)
    rows = []
    for one, other in _batches(len(seen.systems), len(seen.queries)):
        weights = _weights(retrieved.of(one), retrieved.of(other), discount)
        behind = (fixed[one] - fixed[other]).ravel()
        ends = extremes(behind, weights, best.repeated(len(one)))
        low, high = (end.reshape(len(one), -1).mean(axis=1) for end in ends)
        rows += zip(one, other, (today[one] - today[other]).mean(axis=1), low, high, strict=True)
    return DataFrame(
        [
            (seen.systems[one], seen.systems[other], *found, _verdict(*found[1:]))
            for one, other, *found in rows
        ],
        columns=["first", "second", "difference", "low", "high", "verdict"],
    )


def _batches(n_systems: int, n_queries: int) -> Iterator[tuple[Numbers, Numbers]]:
    """All pairs of systems, by their places, some at a time."""
    every = np.array(list(combinations(range(n_systems if n_queries else 0), 2))).reshape(-1, 2)
    size = max(_AT_ONCE // max(n_queries, 1), 1)
    for start in range(0, len(every), size):
        some = every[start : start + size]
        yield some[:, 0], some[:, 1]


def _verdict(low: float, high: float) -> str:
    if max(abs(low), abs(high)) <= _ROUNDING:
        return EQUAL
    if low > _ROUNDING:
        return FIRST
    return SECOND if high < -_ROUNDING else OPEN


class _Retrieved(NamedTuple):
    """What systems retrieved, by rank first, so that the queries of pairs lie next to each other.

    (k, S, Q), or (k, P * Q) for one side of P pairs.
    """

    document: Codes
    brings: Values
    """What a gain of 1 of the hole there brings; nan where there is no hole."""

    def of(self, systems: Numbers) -> "_Retrieved":
        """One side of pairs."""
        document, brings = self.document.take(systems, 1), self.brings.take(systems, 1)
        k = len(document)
        return _Retrieved(document.reshape(k, -1), brings.reshape(k, -1))


def _retrieved(lists: Lists, discount: Values) -> _Retrieved:
    brings = np.where(lists.holes, discount, np.nan)
    return _Retrieved(np.moveaxis(lists.document, 2, 0).copy(), np.moveaxis(brings, 2, 0).copy())


def _weights(one: _Retrieved, other: _Retrieved, discount: Values) -> Values:
    """(2k, P * Q) What each hole of either adds to the difference; nan where there is none."""
    given, shared = np.zeros(one.document.shape, np.int16), np.zeros(one.document.shape, bool)
    # Rank by rank: all pairs of ranks at once would not fit into the processor's cache.
    for rank, also in enumerate(other.document):
        same = one.document == also
        np.maximum(given, same * np.int16(rank + 1), out=given)
        same.any(axis=0, out=shared[rank])
    weights = np.concatenate([one.brings, -other.brings])
    weights[: len(given)] -= np.concatenate([[0.0], discount]).take(given)
    weights[len(given) :][shared] = np.nan
    return weights
