"""Equality of two values of a measure."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

TOLERANCE = 1e-9
"""Values of measures that differ by at most this are equal; rounding errors are far smaller."""

SHOWN = 1e-3
"""No order flip is reported for differences below this, which three digits hardly show."""


def equal(a: ArrayLike, b: ArrayLike) -> NDArray[np.bool_]:
    """Mask of equal values. Elementwise with broadcasting; false for NaN.

    Hits are not compared with this: they are ranked by exact 32-bit scores.
    """
    return np.abs(np.subtract(a, b)) <= TOLERANCE


def above(a: ArrayLike, b: ArrayLike) -> NDArray[np.bool_]:
    """Mask of the values of `a` that exceed those of `b` and are not equal to them."""
    return np.subtract(a, b) > TOLERANCE


def levels(values: ArrayLike) -> NDArray[np.float64]:
    """Each value, replaced by the lowest value of its level: a level contains the values within
    TOLERANCE above it. Any shape. From the lowest up, a level begins at a value that exceeds the
    first of the previous level. So two levels are never equal, and no level is wider than
    TOLERANCE, unlike a chain of neighbours."""
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
    Ties share the better rank. A rank begins at a value that differs from the first value of the
    previous rank (see `levels`): all values of rank 1 equal the best."""
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
    """Along an axis, the position of the first value that equals the largest; 0 next to NaN."""
    given = np.asarray(values, dtype=np.float64)
    return equal(given, given.max(axis=axis, keepdims=True)).argmax(axis=axis)


def order(values: ArrayLike, names: ArrayLike, *, descending: bool = True) -> NDArray[np.intp]:
    """The positions of values in order: best first, ties by name, absent values last."""
    return np.lexsort((np.asarray(names, dtype=str), ranks(values, descending=descending)))
