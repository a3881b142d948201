"""Measures that have possible ranges: the gain of relevant unjudged documents, and the divisor.
Each such measure is a sum over the ranks of a list, divided by the value of the ideal order. The
`Gain` of a measure computes its sum without the holes, the least and largest gain of 0 to m
relevant holes (for one list, and for the difference of two lists), and the value of an ideal order.
`holes.bounds` computes ranges from these."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from compute.evaluate.top_lists import HOLE, Codes, Flags, Numbers, Values

Ends = tuple[Values, Values]
"""The least and the largest gain that 0 to m relevant unjudged documents can add to N sums, (m + 1,
N) each; nan where a list has fewer holes."""
Ranks = NDArray[np.signedinteger[Any]]
Discount = Callable[[int], Values]
"""A function from k to the value of a gain of 1 at each rank, (k,)."""


class Sides(NamedTuple):
    """Lists of two systems for N queries; ranks are the first axis."""

    one: Codes
    """(k, N) Gains of each system's list, as in `Lists`."""
    other: Codes
    place: Ranks
    """(k, N) Rank in `other`, from 1, of each document of `one`; 0 if it is absent there."""
    back: Ranks
    """(k, N) Rank in `one`, from 1, of each document of `other`; 0 if it is absent there."""

    @property
    def turned(self) -> "Sides":
        """Return the same lists with the two sides exchanged."""
        return Sides(self.other, self.one, self.back, self.place)

    @property
    def only_other(self) -> Flags:
        """Return which ranks of `other` hold a hole that `one` does not contain, (k, N)."""
        return (self.other == HOLE) & (self.back == 0)

    @property
    def n_holes(self) -> Numbers:
        """Return the number of distinct unjudged documents in the two lists together, (N,)."""
        return (self.one == HOLE).sum(axis=0) + self.only_other.sum(axis=0)

    def at(self, columns: Numbers) -> "Sides":
        """Return the lists of the queries at these positions."""
        return Sides(*(part.take(columns, 1) for part in self))


class Gain(ABC):
    """A measure as a sum of gains, divided by the value of the ideal order."""

    graded: bool = False
    exact_pairs = True
    """True if the ends that `lead` returns can be attained, False if they may be wider."""

    @abstractmethod
    def found(self, gains: Codes) -> Values:
        """Return the sum of each list (..., k) with no hole relevant, (...,)."""

    @abstractmethod
    def ends(self, gains: Codes) -> Ends:
        """Return the gain, (N, k), that holes can add to each list's sum if they are relevant."""

    @abstractmethod
    def lead(self, sides: Sides) -> Values:
        """Return the largest gain that 0 to m relevant holes can add to the difference of two
        lists' sums, (m + 1, N); nan if there are fewer. The least is that of `turned`, negated."""

    def ahead(self, sides: Sides) -> Values | None:
        """Return `lead` for differences that can reach 0, by a faster way; None without one."""
        return None

    @abstractmethod
    def reach(self, k: int, counts: Numbers) -> Values:
        """Return the value of the best order, in the top k, of this many documents at one level; it
        is concave in their number. A document counts once for each level that its grade reaches."""

    @abstractmethod
    def enough(self, k: int) -> int | None:
        """Return the number of relevant documents beyond which the ideal order gains nothing; None
        without a limit; 0 if the divisor is constant, so documents outside the lists do not
        count."""


@dataclass(frozen=True)
class Sum(Gain):
    """Discounted gains, divided by those of the best order (if `ideal`) or by the number of
    relevant documents."""

    discount: Discount
    graded: bool = False  # pyrefly: ignore
    ideal: bool = False

    def found(self, gains: Codes) -> Values:
        return gains.clip(0) @ self.discount(gains.shape[-1])

    def ends(self, gains: Codes) -> Ends:
        return self._by_number(np.where(gains == HOLE, self.discount(gains.shape[1]), np.nan).T)

    def lead(self, sides: Sides) -> Values:
        lost = np.where(sides.only_other, -self.discount(len(sides.one))[:, None], np.nan)
        own = np.where(sides.one == HOLE, self._weights(sides), np.nan)
        return _running(-np.sort(-np.concatenate([own, lost]), axis=0))

    def ahead(self, sides: Sides) -> Values:
        """Return `lead` without the holes that gain nothing: each would lower a ratio above 0."""
        weights = self._weights(sides) * (sides.one == HOLE)
        return _running(_descending(np.maximum(weights, 0, out=weights)))

    def _weights(self, sides: Sides) -> Values:
        """Return the discount of each rank, less that of its document in `other`, (k, N)."""
        discount = self.discount(len(sides.one))
        return discount[:, None] - np.concatenate([[0.0], discount]).take(sides.place)

    def _by_number(self, weights: Values) -> Ends:
        """Return the sums of the c smallest and of the c largest weights of holes, by c."""
        return _running(np.sort(weights, axis=0)), _running(-np.sort(-weights, axis=0))

    def reach(self, k: int, counts: Numbers) -> Values:
        if not self.ideal:
            return counts.astype(np.float64)
        sums = np.concatenate([[0.0], np.cumsum(self.discount(k))])
        return sums.take(np.minimum(counts, k))

    def enough(self, k: int) -> int | None:
        return k if self.ideal else None


class Share(Sum):
    """The number of relevant documents divided by k."""

    def _by_number(self, weights: Values) -> Ends:
        # The divisor is constant, so only the extremes over any number of holes matter.
        nothing = np.zeros(weights.shape[1])
        most, least = np.fmax(weights, 0).sum(axis=0), np.fmin(weights, 0).sum(axis=0)
        return np.stack([nothing, least]), np.stack([nothing, most])

    def reach(self, k: int, counts: Numbers) -> Values:
        return np.full(counts.shape, float(k))

    def enough(self, k: int) -> int | None:
        return 0


@dataclass(frozen=True)
class First(Gain):
    """The value of the rank of the first relevant document. The extremes need at most one relevant
    hole, the one that moves the difference; any more can only help the other system."""

    worth: Discount

    def found(self, gains: Codes) -> Values:
        return ((gains > 0) * self.worth(gains.shape[-1])).max(axis=-1, initial=0.0)

    def ends(self, gains: Codes) -> Ends:
        """Return two rows: no hole is relevant (0), and what the best relevant hole adds."""
        best = ((gains == HOLE) * self.worth(gains.shape[1])).max(axis=1, initial=0.0)
        nothing = np.zeros(len(gains))
        added = np.maximum(best - self.found(gains), 0)
        return np.stack([nothing, nothing]), np.stack([nothing, added])

    def lead(self, sides: Sides) -> Values:
        """Return two rows: no hole is relevant (0), and the best single relevant hole."""
        worth = self.worth(len(sides.one))
        one, other = self.found(sides.one.T), self.found(sides.other.T)
        worth_in_other = np.concatenate([[0.0], worth]).take(sides.place)
        by_hole_of_one = np.maximum(one, worth[:, None]) - np.maximum(other, worth_in_other)
        by_own_hole_of_other = one - np.maximum(other, worth[:, None])
        leads = np.concatenate([by_hole_of_one, by_own_hole_of_other])
        is_hole = np.concatenate([sides.one == HOLE, sides.only_other])
        added = np.where(is_hole, leads - (one - other), 0.0)
        return np.stack([np.zeros(added.shape[1]), added.max(axis=0, initial=0.0)])

    def reach(self, k: int, counts: Numbers) -> Values:
        return np.ones(counts.shape)

    def enough(self, k: int) -> int | None:
        return 0


class Precisions(Gain):
    """The precision at each relevant document, summed, divided by the number of relevant documents.
    The sum equals a sum over pairs of relevant documents of 1 over the lower one's rank. So a given
    number of relevant holes adds most at the top ranks and least at the bottom ones."""

    exact_pairs = False

    def found(self, gains: Codes) -> Values:
        """Sum the precision at each relevant document of each list."""
        relevant = gains > 0
        ranks = np.arange(1, gains.shape[-1] + 1)
        return (relevant * np.cumsum(relevant, axis=-1) / ranks).sum(axis=-1)

    def ends(self, gains: Codes) -> Ends:
        """Return the gain of 0 to m relevant holes, at the bottom ranks and at the top ranks."""
        hole, alone = gains.T == HOLE, self._alone(gains.T)
        each = hole / _down(hole)
        number = np.cumsum(hole, axis=0)
        below = np.cumsum(each[::-1], axis=0)[::-1] - each
        most = np.cumsum(hole * (alone + (number - 1) / _down(hole)), axis=0)
        least = np.cumsum((hole * (alone + below))[::-1], axis=0)[::-1]
        backward = hole.sum(axis=0) - number + 1
        return _placed(least, backward, hole), _placed(most, number, hole)

    def lead(self, sides: Sides) -> Values:
        """Return an upper bound of the attainable values: for each number of relevant holes, the
        tighter of two. `_by_sides` places one system's holes at their best and the other's at their
        worst, with as many shared holes as possible; it is exact without shared holes. `_by_pairs`
        halves the joint gain of two holes between them; it is exact if both lists are equal."""
        return np.fmin(self._by_sides(sides), self._by_pairs(sides))

    def _by_sides(self, sides: Sides) -> Values:
        """Return an upper bound of the lead of `one`, by number of relevant holes, list by list."""
        (_, most), (least, _) = self.ends(sides.one.T), self.ends(sides.other.T)
        k, n = sides.one.shape
        alone = ((sides.one == HOLE) & (sides.place == 0)).sum(axis=0)
        bound = np.full((2 * k + 1, n), np.nan)
        rows = np.arange(n)
        own = sides.only_other.sum(axis=0)
        for i in range(k + 1):
            both = np.maximum(i - alone, 0)
            for j in range(k + 1):
                # j holes are only in the other list, which therefore has j + both relevant holes.
                lead = most[i] - least[np.minimum(j + both, k), rows]
                np.fmax(bound[i + j], np.where(j <= own, lead, np.nan), out=bound[i + j])
        return bound

    def _by_pairs(self, sides: Sides) -> Values:
        """Return an upper bound of the lead of `one`, by number of relevant holes."""
        k, n = sides.one.shape
        rank = np.arange(1.0, k + 1)[:, None]
        held = np.concatenate([sides.one == HOLE, sides.only_other])
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
        """Return what a relevant document at each rank adds to the judged ones, (k, N)."""
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
    """Return the ranks from 1 as a column, one for each row."""
    return np.arange(1.0, len(rows) + 1)[:, None]


def _running(weights: Values) -> Values:
    """Return the sums of the first 0 to m weights (m, N), which are (m + 1, N)."""
    found = np.zeros((len(weights) + 1, weights.shape[1]))
    # Row by row, since np.cumsum along the columns takes five times as long.
    for row, weight in enumerate(weights):
        np.add(found[row], weight, out=found[row + 1])
    return found


def _placed(sums: Values, number: Numbers, hole: Flags) -> Values:
    """Move each hole's sum to the row of its number, from 1: (k + 1, N), with 0 in row 0."""
    found = np.full((len(sums) + 1, sums.shape[1]), np.nan)
    found[0] = 0
    _, column = np.nonzero(hole)
    found[number[hole], column] = sums[hole]
    return found


def _descending(rows: Values) -> Values:
    """Sort each column, by Batcher's network, which compares two rows at a time."""
    found = list(rows)
    for i, j in _network(len(rows)):
        found[i], found[j] = np.maximum(found[i], found[j]), np.minimum(found[i], found[j])
    return np.stack(found)


@cache
def _network(n: int) -> list[tuple[int, int]]:
    """Return the rows to compare (Knuth, The Art of Computer Programming 3, 5.2.2, algorithm M)."""
    pairs, top = [], 1 << max(n - 1, 1).bit_length() - 1
    step = top
    while step:
        q, r, d = top, 0, step
        while d:
            pairs += [(i, i + d) for i in range(n - d) if i & step == r]
            q, r, d = q // 2, step, q - step
        step //= 2
    return pairs


def _logarithmic(k: int) -> Values:
    """Return the discount of nDCG at each rank."""
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
