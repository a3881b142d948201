"""Decides when two values of a measure are equal, and ranks values accordingly."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

TOLERANCE = 1e-9
"""Values of a measure that differ by at most this are equal; rounding errors are far smaller."""

SHOWN = 1e-3
"""Order flips of smaller differences are not reported, since three digits hardly show them."""


def equal(a: ArrayLike, b: ArrayLike) -> NDArray[np.bool_]:
    """Return a mask of equal values, elementwise with broadcasting; false for NaN. Scores of hits
    are not compared with this: they are ranked by exact 32-bit scores."""
    return np.abs(np.subtract(a, b)) <= TOLERANCE


def above(a: ArrayLike, b: ArrayLike) -> NDArray[np.bool_]:
    """Return a mask of the values of `a` that exceed those of `b` and are not equal to them."""
    return np.subtract(a, b) > TOLERANCE


def levels(values: ArrayLike) -> NDArray[np.float64]:
    """Replace each value, in an array of any shape, by the lowest value of its level. From the
    lowest value up, a new level begins at a value that exceeds the first one of the previous level
    by more than TOLERANCE. So two levels are never equal and no level is wider than TOLERANCE,
    unlike a chain of neighbours."""
    given = np.asarray(values, dtype=np.float64)
    known = np.unique(given[~np.isnan(given)])
    firsts = known[np.diff(known, prepend=-np.inf) > TOLERANCE]
    place = np.searchsorted(firsts, known, side="right") - 1
    if above(known, firsts[place]).any():
        firsts = _firsts(known)
    place = np.searchsorted(firsts, given, side="right") - 1
    return np.where(np.isnan(given), np.nan, np.append(firsts, np.nan)[place])


def _firsts(ascending: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the first value of each level of ascending values."""
    found: list[float] = []
    for value in ascending.tolist():
        if not found or value - found[-1] > TOLERANCE:
            found.append(value)
    return np.array(found)


def ranks(values: ArrayLike, *, descending: bool = True) -> NDArray[np.float64]:
    """Return the rank of each value in one dimension: 1 for the best, which is the largest, or the
    lowest if not `descending`; NaN for NaN. Ties share the better rank. A new rank begins at a
    value that differs from the first value of the previous rank (see `levels`), so all values of
    rank 1 equal the best."""
    worth = np.asarray(values, dtype=np.float64)
    level = levels(-worth if descending else worth)
    ordered = np.sort(level[~np.isnan(level)])
    return np.where(np.isnan(level), np.nan, 1.0 + np.searchsorted(ordered, level))


def ranks_by_row(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the `ranks` of each row of a matrix without NaN, all rows at once."""
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
    """Return the position of the first value that equals the largest; 0 if there is a NaN."""
    given = np.asarray(values, dtype=np.float64)
    return equal(given, given.max(axis=axis, keepdims=True)).argmax(axis=axis)


def order(values: ArrayLike, names: ArrayLike, *, descending: bool = True) -> NDArray[np.intp]:
    """Return the positions of the values in order: best first, ties by name, NaN last."""
    return np.lexsort((np.asarray(names, dtype=str), ranks(values, descending=descending)))
