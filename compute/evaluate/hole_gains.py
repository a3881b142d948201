"""Measures with possible ranges: the gain of relevant unjudged documents, and the divisor of the
sum.

A measure here is a sum over the ranks of a list, divided by the value of the ideal order. A `Gain`
gives for one measure its sum without the holes, the least and largest gain of 0 to m relevant
holes, for one list and for the difference of two, and the value of an ideal order. `bounds`
computes ranges from these.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from compute.evaluate.top_lists import HOLE, Codes, Flags, Numbers, Values

Ends = tuple[Values, Values]
"""(m + 1, N) each: least and largest gain of 0 to m relevant unjudged documents in N sums; nan if
there are fewer."""
Ranks = NDArray[np.signedinteger[Any]]
Discount = Callable[[int], Values]
"""(k,) Value of a gain of 1 at each rank."""


class Sides(NamedTuple):
    """Lists of two systems for N queries, by rank first."""

    one: Codes
    """(k, N) Gains as in `Lists`."""
    other: Codes
    place: Ranks
    """(k, N) Rank, from 1, of one list's document in the other list; 0 if absent."""
    shared: Flags
    """(k, N) Whether one list contains the other's document."""

    @property
    def n_holes(self) -> Numbers:
        """(N,) Number of distinct unjudged documents in both lists."""
        own = (self.other == HOLE) & ~self.shared
        return (self.one == HOLE).sum(axis=0) + own.sum(axis=0)


class Gain(ABC):
    """A measure as a sum of gains over the value of the ideal order."""

    graded: bool = False
    exact_pairs = True
    """True if `lead` can be attained, False if it only contains the attainable values."""

    @abstractmethod
    def found(self, gains: Codes) -> Values:
        """(...,) Sums of lists (..., k) in which holes are not relevant."""

    @abstractmethod
    def ends(self, gains: Codes) -> Ends:
        """Gain of relevant unjudged documents for the sums of lists (N, k)."""

    @abstractmethod
    def lead(self, sides: Sides) -> Ends:
        """Gain of relevant unjudged documents for the difference of two sums."""

    @abstractmethod
    def reach(self, k: int, counts: Numbers) -> Values:
        """Best possible gain of this many documents at a level in the top k; concave in their
        number.

        A grade counts once for each level that it reaches.
        """

    @abstractmethod
    def enough(self, k: int) -> int | None:
        """The number of relevant documents beyond which an ideal order gains nothing; None for no
        limit; 0 if the divisor is constant, since documents outside the lists then change
        nothing."""


@dataclass(frozen=True)
class Sum(Gain):
    """Discounted gains over those of the best order (`ideal`), or over the relevant documents."""

    discount: Discount
    graded: bool = False  # pyrefly: ignore
    ideal: bool = False

    def found(self, gains: Codes) -> Values:
        return gains.clip(0) @ self.discount(gains.shape[-1])

    def ends(self, gains: Codes) -> Ends:
        return self._by_number(np.where(gains == HOLE, self.discount(gains.shape[1]), np.nan).T)

    def lead(self, sides: Sides) -> Ends:
        discount = self.discount(len(sides.one))
        weights = _of_both(sides, discount)
        weights[: len(discount)] -= np.concatenate([[0.0], discount]).take(sides.place)
        return self._by_number(weights)

    def _by_number(self, weights: Values) -> Ends:
        return _running(np.sort(weights, axis=0)), _running(-np.sort(-weights, axis=0))

    def reach(self, k: int, counts: Numbers) -> Values:
        if not self.ideal:
            return counts.astype(np.float64)
        sums = np.concatenate([[0.0], np.cumsum(self.discount(k))])
        return sums.take(np.minimum(counts, k))

    def enough(self, k: int) -> int | None:
        return k if self.ideal else None


class Share(Sum):
    """Relevant documents over ranks."""

    def _by_number(self, weights: Values) -> Ends:
        # With a constant divisor, their number does not matter.
        nothing = np.zeros(weights.shape[1])
        most, least = np.fmax(weights, 0).sum(axis=0), np.fmin(weights, 0).sum(axis=0)
        return np.stack([nothing, least]), np.stack([nothing, most])

    def reach(self, k: int, counts: Numbers) -> Values:
        return np.full(counts.shape, float(k))

    def enough(self, k: int) -> int | None:
        return 0


@dataclass(frozen=True)
class First(Gain):
    """Value of the first relevant document at its rank. A single relevant unjudged document is
    decisive: one of two systems can gain by it, and further ones only help the other."""

    worth: Discount

    def found(self, gains: Codes) -> Values:
        return ((gains > 0) * self.worth(gains.shape[-1])).max(axis=-1, initial=0.0)

    def ends(self, gains: Codes) -> Ends:
        best = ((gains == HOLE) * self.worth(gains.shape[1])).max(axis=1, initial=0.0)
        nothing = np.zeros(len(gains))
        added = np.maximum(best - self.found(gains), 0)
        return np.stack([nothing, nothing]), np.stack([nothing, added])

    def lead(self, sides: Sides) -> Ends:
        """Row 0: no hole is relevant. Row 1: the worst and the best single relevant hole."""
        worth = self.worth(len(sides.one))
        one, other = self.found(sides.one.T), self.found(sides.other.T)
        worth_in_other = np.concatenate([[0.0], worth]).take(sides.place)
        by_hole_of_one = np.maximum(one, worth[:, None]) - np.maximum(other, worth_in_other)
        by_own_hole_of_other = one - np.maximum(other, worth[:, None])
        leads = np.concatenate([by_hole_of_one, by_own_hole_of_other])
        is_hole = np.concatenate([sides.one == HOLE, (sides.other == HOLE) & ~sides.shared])
        added = np.where(is_hole, leads - (one - other), 0.0)
        nothing = np.zeros(added.shape[1])
        least, most = added.min(axis=0, initial=0.0), added.max(axis=0, initial=0.0)
        return np.stack([nothing, least]), np.stack([nothing, most])

    def reach(self, k: int, counts: Numbers) -> Values:
        return np.ones(counts.shape)

    def enough(self, k: int) -> int | None:
        return 0


class Precisions(Gain):
    """Precision at each relevant document, over the relevant documents.

    A sum over pairs of relevant documents of 1 over the lower one's rank: a given number of
    relevant holes adds most at the top ranks, and least at the bottom ones.
    """

    exact_pairs = False

    def found(self, gains: Codes) -> Values:
        relevant = gains > 0
        ranks = np.arange(1, gains.shape[-1] + 1)
        return (relevant * np.cumsum(relevant, axis=-1) / ranks).sum(axis=-1)

    def ends(self, gains: Codes) -> Ends:
        hole, alone = gains.T == HOLE, self._alone(gains.T)
        each = hole / _down(hole)
        number = np.cumsum(hole, axis=0)
        below = np.cumsum(each[::-1], axis=0)[::-1] - each
        most = np.cumsum(hole * (alone + (number - 1) / _down(hole)), axis=0)
        least = np.cumsum((hole * (alone + below))[::-1], axis=0)[::-1]
        backward = hole.sum(axis=0) - number + 1
        return _placed(least, backward, hole), _placed(most, number, hole)

    def lead(self, sides: Sides) -> Ends:
        """Bounds that contain the attainable values: the tighter of two, for each number of
        relevant unjudged documents. `_by_sides`: one system's holes at their best and the other's
        at their worst, with as many shared holes as possible; exact without shared holes.
        `_by_pairs`: the joint gain of two holes, halved between them; exact if both lists are
        equal."""
        turned = Sides(sides.other, sides.one, *_turned(sides))
        found = [np.fmin(self._by_sides(of), self._by_pairs(of)) for of in (turned, sides)]
        return -found[0], found[1]

    def _by_sides(self, sides: Sides) -> Values:
        (_, most), (least, _) = self.ends(sides.one.T), self.ends(sides.other.T)
        k, n = sides.one.shape
        alone = ((sides.one == HOLE) & (sides.place == 0)).sum(axis=0)
        bound = np.full((2 * k + 1, n), np.nan)
        rows = np.arange(n)
        own = ((sides.other == HOLE) & ~sides.shared).sum(axis=0)
        for i in range(k + 1):
            both = np.maximum(i - alone, 0)
            for j in range(k + 1):
                # j of the other's own holes; with `both`, the other has j + both relevant holes.
                lead = most[i] - least[np.minimum(j + both, k), rows]
                np.fmax(bound[i + j], np.where(j <= own, lead, np.nan), out=bound[i + j])
        return bound

    def _by_pairs(self, sides: Sides) -> Values:
        k, n = sides.one.shape
        rank = np.arange(1.0, k + 1)[:, None]
        held = np.concatenate([sides.one == HOLE, (sides.other == HOLE) & ~sides.shared])
        one = np.concatenate([np.broadcast_to(rank, (k, n)), np.full((k, n), np.inf)])
        there = np.where(sides.place > 0, sides.place, np.inf)
        other = np.concatenate([there, np.broadcast_to(rank, (k, n))])
        single = np.concatenate([self._alone(sides.one), np.zeros((k, n))])
        lost = np.concatenate([np.zeros((1, n)), self._alone(sides.other)])
        places = np.where(np.isfinite(other), other, 0).astype(np.int64)
        weights = single - np.take_along_axis(lost, places, axis=0)
        for row, hole in enumerate(held):
            pair = 1 / np.maximum(one, one[row]) - 1 / np.maximum(other, other[row])
            pair = np.where(held & hole, np.maximum(pair, 0), 0.0)
            pair[row] = 0
            weights[row] += pair.sum(axis=0) / 2
        return _running(-np.sort(-np.where(held, weights, np.nan), axis=0))

    def _alone(self, gains: Codes) -> Values:
        """(k, N) Gain of a relevant document at each rank, from the judged documents of (k, N)."""
        relevant = gains > 0
        above = np.cumsum(relevant, axis=0) - relevant
        each = relevant / _down(relevant)
        below = np.cumsum(each[::-1], axis=0)[::-1] - each
        return (above + 1) / _down(relevant) + below

    def reach(self, k: int, counts: Numbers) -> Values:
        return counts.astype(np.float64)

    def enough(self, k: int) -> int | None:
        return None


def _down(rows: Flags) -> Values:
    """The ranks, as a column."""
    return np.arange(1.0, len(rows) + 1)[:, None]


def _running(weights: Values) -> Values:
    """Sums of the first 0 to m weights (m, N)."""
    found = np.zeros((len(weights) + 1, weights.shape[1]))
    # Row by row, since np.cumsum along the columns takes five times as long.
    for row, weight in enumerate(weights):
        np.add(found[row], weight, out=found[row + 1])
    return found


def _placed(sums: Values, number: Numbers, hole: Flags) -> Values:
    """(k + 1, N) Sums at the holes, each at its number; 0 at 0."""
    found = np.full((len(sums) + 1, sums.shape[1]), np.nan)
    found[0] = 0
    _, column = np.nonzero(hole)
    found[number[hole], column] = sums[hole]
    return found


def _of_both(sides: Sides, discount: Values) -> Values:
    """(2k, N) Gain of each hole for one system, or its loss if only the other retrieved it."""
    one = np.where(sides.one == HOLE, discount[:, None], np.nan)
    held = (sides.other == HOLE) & ~sides.shared
    return np.concatenate([one, np.where(held, -discount[:, None], np.nan)])


def _turned(sides: Sides) -> tuple[Ranks, Flags]:
    """`place` and `shared` from the other side."""
    place = np.zeros_like(sides.place)
    rank, column = np.nonzero(sides.place)
    place[sides.place[rank, column] - 1, column] = rank + 1
    return place, sides.place > 0


def _logarithmic(k: int) -> Values:
    return 1 / np.log2(np.arange(2, k + 2))


def _flat(k: int) -> Values:
    return np.ones(k)


NDCG = Sum(_logarithmic, graded=True, ideal=True)
RECALL = Sum(_flat)
CAPPED_RECALL = Sum(_flat, ideal=True)
AVERAGE_PRECISION = Precisions()
RECIPROCAL_RANK = First(lambda k: 1 / np.arange(1.0, k + 1))
PRECISION = Share(_flat)
SUCCESS = First(_flat)
