"""Student's t and the normal distribution.

They use SciPy's special functions, because importing `scipy.stats`, which calls the same functions,
takes half a second in every process.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Values = NDArray[np.float64]


def t_chance(t: ArrayLike, freedom: ArrayLike) -> Any:
    """Two-sided probability that t with these degrees of freedom is at least this far from 0."""
    return 2 * special.stdtr(freedom, -np.abs(t))


def t_reach(level: float, freedom: ArrayLike) -> Any:
    """Two-sided critical value of t with these degrees of freedom at `level`.

    Absent if there are no degrees of freedom.
    """
    degrees = np.asarray(freedom, dtype=np.float64)
    return -special.stdtrit(np.where(degrees > 0, degrees, np.nan), level / 2)


def normal_chance(z: ArrayLike) -> Any:
    """Two-sided probability that a standard normal value has at least this absolute value."""
    return 2 * special.ndtr(-np.abs(z))


def normal_reach(level: float) -> float:
    """Two-sided critical value of the standard normal distribution at `level`."""
    return -float(special.ndtri(level / 2))
