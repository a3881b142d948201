"""Order flips: could the order of two systems change once the unjudged documents are judged? The
answer depends on the difference of their scores: a document that both retrieved has the same grade
in both lists, and both systems have the same ideal order. The systems' separate ranges do not
answer it: a judgement may raise both systems equally, and a relevant hole of one system raises the
ideal value for both. The three ranges are those of `bounds`; for two systems, the own list is their
combined top k."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame, Series

from compute.base.settings import load
from compute.evaluate.hole_gains import Gain, Sides
from compute.evaluate.holes.bounds import (
    NOTHING,
    Best,
    Outside,
    best_orders,
    largest,
    measured,
    raised,
    ratio,
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
    # Threads share the queries, so that each prepares what the pairs of its block have in common.
    size = min(-(-len(seen.queries) // load().threads), _AT_ONCE)
    starts = range(0, len(seen.queries), max(size, 1))
    with ThreadPoolExecutor(load().threads) as pool:
        blocks = (slice(start, start + size) for start in starts)
        found = pool.map(partial(_sums, seen, gain, outside, (one, other)), blocks)
        sums = sum(found, np.zeros((len(one), len(ends))))
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
    lists: Lists, gain: Gain, outside: Outside, pairs: tuple[Numbers, Numbers], block: slice
) -> Values:
    """Return the sums of `_Found.by_query` over a block of queries, for P pairs, (P, 3 or more)."""
    within = {name: counts[block] for name, counts in outside.items()}
    sought = _Found(lists.asked(block), gain, within)
    size = max(_AT_ONCE // len(sought.today[0]), 1)
    starts = range(0, len(pairs[0]), size)
    chosen = ((side[start : start + size] for side in pairs) for start in starts)
    found = [sought.by_query(*some).sum(axis=2).T for some in chosen]
    return np.concatenate([np.zeros((0, 3 + 2 * len(outside))), *found])


class _Found:
    """Computes differences of pairs and their bounds, in blocks of pairs."""

    def __init__(self, lists: Lists, gain: Gain, outside: Outside) -> None:
        self._gain, self._outside = gain, outside
        self._best = best_orders(lists, gain, 2 * lists.depth)
        self._sums = gain.found(lists.gain)
        self.today = ratio(self._sums, np.broadcast_to(self._best.whole[0], self._sums.shape))
        self._retrieved = _Retrieved(_ranks_first(lists.document), _ranks_first(lists.gain))

    def by_query(self, one: Numbers, other: Numbers) -> Values:
        """Return the differences of P pairs and their bounds in each range, (3 or more, P, Q)."""
        sides = _sides(self._retrieved.of(one), self._retrieved.of(other))
        lead = (self._sums[one] - self._sums[other]).ravel()
        several = np.tile(np.arange(len(self.today[0])), len(one))
        best = self._best if len(one) == 1 else self._best.of(several)
        lows, highs = self._largest(sides.turned, -lead, best), self._largest(sides, lead, best)
        found = [(self.today[one] - self.today[other]).ravel()]
        for low, high in zip(lows, highs, strict=True):
            # Subtracted from 0, not negated: -0 would be shown with its sign.
            found += [0.0 - low, high]
        return np.stack(found).reshape(len(found), len(one), -1)

    def _largest(self, sides: Sides, lead: Values, best: Best) -> list[Values]:
        """Return the largest differences by the own lists, and in each wider range."""
        ahead = self._gain.ahead(sides)
        found = np.full(len(lead), -np.inf) if ahead is None else largest(lead, ahead, best)
        ranges = [found, *(found.copy() for _ in self._outside)]
        left = np.flatnonzero(found < 0)
        if len(left) and (ahead is None or best.enough != 0):
            sides, lead, best = sides.at(left), lead[left], best.of(left)
            gained = self._gain.lead(sides)
            own = ranges[0][left] = largest(lead, gained, best)
            query = left % len(self.today[0])
            more = [within[query] - sides.n_holes for within in self._outside.values()]
            wider = raised(own, lead, gained, best, more)
            for values, ends in zip(ranges[1:], wider, strict=True):
                values[left] = ends
        return ranges


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
        """Return the documents of one side of the pairs; `systems` are positions of systems."""
        k = len(self.document)
        return _Retrieved(*(part.take(systems, 1).reshape(k, -1) for part in self))


def _ranks_first(array: Codes) -> Codes:
    return np.moveaxis(array, 2, 0).copy()


def _sides(one: _Retrieved, other: _Retrieved) -> Sides:
    """Match the documents of the two sides of P pairs."""
    ranks = np.arange(1, len(one.document) + 1, dtype=np.min_scalar_type(len(one.document)))
    place, back = np.zeros((2, *one.document.shape), ranks.dtype)
    # The loop is over ranks, since all pairs of ranks at once would exceed the processor's cache.
    for rank, also in zip(ranks, other.document, strict=True):
        same = (one.document == also) & (also >= 0)
        np.maximum(place, same * rank, out=place)
        np.max(same * ranks[:, None], axis=0, out=back[rank - 1])
    return Sides(one.gain, other.gain, place, back)
