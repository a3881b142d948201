"""Order flips: could the order of two systems change once the unjudged documents are judged? The
answer depends on the difference of their scores, in which a document that both retrieved has one
grade and both share an ideal order. The systems' separate ranges do not answer it: a judgement may
raise both systems equally, and a relevant hole of one system raises the ideal value for both. The
three ranges are those of `bounds`; for two systems, the own list is their combined top k."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame, Series

from compute.base.settings import load
from compute.evaluate.hole_gains import Gain, Sides
from compute.evaluate.holes.bounds import (
    NOTHING,
    Outside,
    best_orders,
    extremes,
    measured,
    ratio,
    widened,
)
from compute.evaluate.tolerance import above, equal
from compute.evaluate.top_lists import Codes, Lists, Numbers, Values

FIRST, SECOND, OPEN, EQUAL = "first", "second", "open", "equal"
"""Verdicts: the first system is ahead in the whole range; the second one is; the order can flip or
become a tie; the systems are always tied."""
_AT_ONCE = 4_000
"""Number of queries x pairs processed together: more exceed the processor's cache."""


def pairs(lists: Lists, measure: str, outside: Outside = NOTHING) -> DataFrame:
    """Return a row for every pair of systems: first, second, difference (mean over the queries of
    first minus second), low, high and verdict over every way of judging the holes of both top k;
    also pool_low, pool_high, pool_verdict and so on for each wider range of `outside`. Documents
    are judged for one query, so the extremes of the queries add up. All bounds are exact, except
    that those of measures without `exact_pairs` may be wider than the range. Raises WrongInput as
    `measured` does."""
    seen, gain = measured(lists, measure)
    one, other = np.triu_indices(len(seen.systems) if seen.queries else 0, 1)
    names = ["", *(f"{name}_" for name in outside)]
    ends = ["difference", *(name + end for name in names for end in ("low", "high"))]
    sums = np.zeros((len(one), len(ends)))
    for start in range(0, len(seen.queries), _AT_ONCE):
        sums += _sums(seen, gain, outside, slice(start, start + _AT_ONCE), (one, other))
    frame = DataFrame({"first": one, "second": other}).map(lambda place: seen.systems[place])
    frame[ends] = sums / max(len(seen.queries), 1)
    for name in names:
        low, high = frame[f"{name}low"], frame[f"{name}high"]
        place = list(frame).index(f"{name}high") + 1
        frame.insert(place, f"{name}verdict", _verdicts(low, high))
    return frame


def by_query(lists: Lists, measure: str) -> Values:
    """Return the difference of two systems on each query, first minus second, with its minimum and
    its maximum over all ways of judging the holes of both top k, (3, Q). `pairs` returns the means
    of these. Raises WrongInput as `measured` does."""
    seen, gain = measured(lists, measure)
    first, second = (np.array([place]) for place in (0, 1))
    return _Found(seen, gain, NOTHING).by_query(first, second)[:, 0]


def _sums(
    lists: Lists, gain: Gain, outside: Outside, block: slice, pairs: tuple[Numbers, Numbers]
) -> Values:
    """Return the sums of `_Found.by_query` over a block of queries, for P pairs, (P, 3 or more)."""
    places = np.arange(len(lists.queries))[block]
    within = {name: counts[block] for name, counts in outside.items()}
    sought = _Found(lists.asked(places), gain, within)
    size = max(_AT_ONCE // len(places), 1)
    starts = range(0, len(pairs[0]), size)

    def look_at(start: int) -> Values:
        """Sum over the queries for a block of pairs."""
        one, other = (side[start : start + size] for side in pairs)
        return sought.by_query(one, other).sum(axis=2).T

    with ThreadPoolExecutor(load().threads) as pool:
        found = list(pool.map(look_at, starts))
    return np.concatenate([np.zeros((0, 3 + 2 * len(outside))), *found])


class _Found:
    """Computes differences of pairs and their bounds, in blocks of pairs."""

    def __init__(self, lists: Lists, gain: Gain, outside: Outside) -> None:
        self._gain, self._outside = gain, outside
        self._best = best_orders(lists, gain, 2 * lists.depth)
        self._sums = gain.found(lists.gain)
        self._today = ratio(self._sums, np.broadcast_to(self._best.whole[0], self._sums.shape))
        self._retrieved = _Retrieved(_ranks_first(lists.document), _ranks_first(lists.gain))

    def by_query(self, one: Numbers, other: Numbers) -> Values:
        """Return the differences of P pairs and their bounds in each range, (3 or more, P, Q)."""
        sides = _sides(self._retrieved.of(one), self._retrieved.of(other))
        behind = (self._sums[one] - self._sums[other]).ravel()
        ends, best = self._gain.lead(sides), self._best.repeated(len(one))
        own = extremes(behind, ends, best)
        found = [self._today[one] - self._today[other], *own]
        n_holes = sides.n_holes
        more = [np.tile(within, len(one)) - n_holes for within in self._outside.values()]
        for wider in widened(own, behind, ends, best, more):
            found += wider
        return np.stack([part.reshape(len(one), -1) for part in found])


def _verdicts(low: Series, high: Series) -> NDArray[np.object_]:
    """Return the verdict for each pair of bounds."""
    choices = [equal(low, 0) & equal(high, 0), above(low, 0), above(0, high)]
    return np.select(choices, [EQUAL, FIRST, SECOND], OPEN).astype(object)


class _Retrieved(NamedTuple):
    """The documents that systems retrieved, and their gains: (k, S, Q), or (k, P * Q) for one side
    of P pairs. Ranks are the first axis, so that the queries of pairs are adjacent."""

    document: Codes
    gain: Codes

    def of(self, systems: Numbers) -> "_Retrieved":
        """Return the documents of one side of the pairs, whose `systems` are given by position."""
        k = len(self.document)
        return _Retrieved(*(part.take(systems, 1).reshape(k, -1) for part in self))


def _ranks_first(array: Codes) -> Codes:
    return np.moveaxis(array, 2, 0).copy()


def _sides(one: _Retrieved, other: _Retrieved) -> Sides:
    """Match the documents of the two sides of P pairs."""
    shape = one.document.shape
    place, shared = np.zeros(shape, np.dtype(np.int16)), np.zeros(shape, bool)
    # The loop is over ranks, since all pairs of ranks at once would exceed the processor's cache.
    for rank, also in enumerate(other.document):
        same = (one.document == also) & (also >= 0)
        np.maximum(place, same * np.int16(rank + 1), out=place)
        same.any(axis=0, out=shared[rank])
    return Sides(one.gain, other.gain, place, shared)
