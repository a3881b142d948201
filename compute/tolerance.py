"""When two values of a measure are the same."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

TOLERANCE = 1e-9
"""Values of measures within this of each other are equal; rounding stays far below it."""


def equal(a: ArrayLike, b: ArrayLike) -> NDArray[np.bool_]:
    """Where values are equal. Elementwise, broadcast; false beside NaN.

    Hits are not compared with this: they are ranked by exact 32-bit scores.
    """
    return np.abs(np.subtract(a, b)) <= TOLERANCE


def above(a: ArrayLike, b: ArrayLike) -> NDArray[np.bool_]:
    """Where a value of `a` is larger than that of `b`, and not equal to it."""
    return np.subtract(a, b) > TOLERANCE
