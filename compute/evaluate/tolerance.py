"""Equality of two values of a measure."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

TOLERANCE = 1e-9
"""Values of measures within this of each other are equal; rounding stays far below it."""

SHOWN = 1e-3
"""No order is said to turn by less than this, which three digits hardly show."""


def equal(a: ArrayLike, b: ArrayLike) -> NDArray[np.bool_]:
    """Mask of equal values. Elementwise, broadcast; false for NaN.

    Hits are not compared with this: they are ranked by exact 32-bit scores.
    """
    return np.abs(np.subtract(a, b)) <= TOLERANCE


def above(a: ArrayLike, b: ArrayLike) -> NDArray[np.bool_]:
    """Mask of the values of `a` that are larger than those of `b`, and not equal to them."""
    return np.subtract(a, b) > TOLERANCE


def levels(values: ArrayLike) -> NDArray[np.float64]:
    """Each value, or the lowest that it stands for: those within TOLERANCE above it. Any shape.

    From the lowest up, a level begins where a value is above the first of the level before. So two
    levels are never equal, and none reaches further than TOLERANCE, as a chain of neighbours would.
    """
    given = np.asarray(values, dtype=np.float64)
    known = np.unique(given[~np.isnan(given)])
    firsts = known[np.diff(known, prepend=-np.inf) > TOLERANCE]
    place = np.searchsorted(firsts, known, side="right") - 1
    if above(known, firsts[place]).any():
        firsts = _firsts(known)
    place = np.searchsorted(firsts, given, side="right") - 1
    return np.where(np.isnan(given), np.nan, np.append(firsts, np.nan)[place])


def _firsts(ascending: NDArray[np.float64]) -> NDArray[np.float64]:
    found: list[float] = []
    for value in ascending.tolist():
        if not found or value - found[-1] > TOLERANCE:
            found.append(value)
    return np.array(found)


def ranks(values: ArrayLike, *, descending: bool = True) -> NDArray[np.float64]:
    """Rank of each value, 1 for the best: the largest, or the lowest. One dimension; NaN for NaN.

    Equal ones share the better rank. A rank begins where a value differs from the first that has
    the rank before (see `levels`): all of rank 1 equal the best, whatever lies between.
    """
    worth = np.asarray(values, dtype=np.float64)
    level = levels(-worth if descending else worth)
    ordered = np.sort(level[~np.isnan(level)])
    return np.where(np.isnan(level), np.nan, 1.0 + np.searchsorted(ordered, level))


def ranks_by_row(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """`ranks` of each row of a matrix without absent values, at once."""
    places = np.argsort(-values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, places, axis=1)
    begins = np.diff(ordered, axis=1, prepend=np.inf) < -TOLERANCE
    first = np.maximum.accumulate(np.where(begins, np.arange(values.shape[1]), 0), axis=1)
    found = np.empty(values.shape)
    np.put_along_axis(found, places, first + 1.0, axis=1)
    chained = above(np.take_along_axis(ordered, first, axis=1), ordered).any(axis=1)
    for row in np.flatnonzero(chained):
        found[row] = ranks(values[row])
    return found


def best(values: ArrayLike, axis: int = -1) -> NDArray[np.intp]:
    """Along an axis, the place of the first value that equals the largest; 0 beside NaN."""
    given = np.asarray(values, dtype=np.float64)
    return equal(given, given.max(axis=axis, keepdims=True)).argmax(axis=axis)


def order(values: ArrayLike, names: ArrayLike, *, descending: bool = True) -> NDArray[np.intp]:
    """The places of values in order, the best first, equal ones by name, absent ones last."""
    return np.lexsort((np.asarray(names, dtype=str), ranks(values, descending=descending)))
