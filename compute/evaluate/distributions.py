"""Student's t and the normal distribution; and the interval of a mean over queries and runs.

They use SciPy's special functions, because importing `scipy.stats`, which calls the same functions,
takes half a second in every process.

**Runs.** A system that is run several times, such as with a rebuilt index, has the value m + a(q) +
b(r) + e(q, r) on query q in run r, all but m random and independent. Its score is the mean over n
queries and R runs; the estimand is m. Two variances cover that of the score: s^2 / n of the
queries' means over the runs, with n - 1 degrees of freedom, and s^2 / R of the runs' means over
the queries, with R - 1; their sum counts e twice. A difference has the runs of both systems. The
squared half-width is the sum of each variance times its own squared t (Banerjee 1960, Sankhya 22):
the interval holds the estimand in at least 95% of cases whatever the ratio of the variances, since
the chance that a normal value lies within a squared distance is concave in that distance.
Satterthwaite's degrees of freedom hold less where two runs vary more than the queries.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame
from scipy import special

from compute.evaluate.sign_flips import LEVEL

Values = NDArray[np.float64]
EQUAL = 1e-9
"""Runs whose mean scores spread less are equal."""
_HALVINGS = 60


@dataclass(frozen=True)
class Runs:
    """The variances of systems' mean scores over runs: systems x sources, such as the parts of a
    dataset."""

    variance: Values
    """Of a mean over this system's runs; 0 where it has one, or equal ones."""
    freedom: Values
    """Number of runs less 1; 0 where the variance is unknown."""

    @classmethod
    def over(cls, means: Sequence[Sequence[ArrayLike]]) -> "Runs":
        """From the means of each run, weighted, by system and source; none where unknown."""
        given = [[np.asarray(of, np.float64) for of in own] for own in means]
        n = np.array([[len(of) for of in own] for own in given])
        spread = np.array([[_variance(of) for of in own] for own in given])
        return cls(spread / np.maximum(n, 1), np.maximum(n - 1, 0))

    def pairs(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> "Runs":
        """Variances of the differences of these systems."""
        both = ((of[a], of[b]) for of in (self.variance, self.freedom))
        return Runs(*(np.concatenate(of, axis=-1) for of in both))

    @property
    def n(self) -> NDArray[np.int64]:
        """(S,) Numbers of runs."""
        return self.freedom.min(axis=-1).astype(np.int64) + 1

    @property
    def spreads(self) -> Values:
        """(S,) The standard deviations between runs; absent where one is unknown."""
        squares = np.where(self.freedom > 0, self.variance * (self.freedom + 1), np.nan)
        return np.sqrt(squares.sum(axis=-1))

    def taken(self) -> "Runs":
        """Variances of two systems: where that of one is unknown, twice that of the other."""
        known = self.freedom > 0
        other = np.where(known & ~known[::-1], self.variance * (self.freedom + 1), 0)
        return Runs(self.variance + other, self.freedom)

    @property
    def some(self) -> NDArray[np.bool_]:
        """(S,) Whether runs move the score."""
        return np.any(self.variance > 0, axis=-1)

    def squares(self, level: ArrayLike) -> Values:
        """(S,) What they add to the squared half-width of an interval."""
        reach = t_reach(np.asarray(level)[..., None], np.where(self.freedom > 0, self.freedom, 1))
        some = self.variance > 0
        squares = np.multiply(reach**2, self.variance, out=np.zeros(some.shape), where=some)
        return squares.sum(axis=-1)

    def half(self, error: ArrayLike, freedom: ArrayLike, level: ArrayLike) -> Values:
        """Half the width of the interval of a mean with this standard error over queries."""
        return np.sqrt((t_reach(level, freedom) * np.asarray(error)) ** 2 + self.squares(level))

    def chance(self, mean: ArrayLike, error: ArrayLike, freedom: ArrayLike) -> Values:
        """Two-sided p of a mean: the level at which an end of its interval is 0."""
        far = np.abs(mean)
        low, high = np.full(np.shape(far), -300.0), np.zeros(np.shape(far))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            inside = far < self.half(error, freedom, np.exp(middle))
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return np.where(np.isnan(self.half(error, freedom, 0.5)), np.nan, np.exp(high))


def _variance(means: Values) -> float:
    """0 of one, and of means that are equal but for rounding."""
    return float(means.var(ddof=1)) if len(means) > 1 and np.ptp(means) > EQUAL else 0.0


def t_chance(t: ArrayLike, freedom: ArrayLike) -> Any:
    """Two-sided probability that t with these degrees of freedom is at least this far from 0."""
    return 2 * special.stdtr(freedom, -np.abs(t))


def t_reach(level: ArrayLike, freedom: ArrayLike) -> Any:
    """Two-sided critical value of t with these degrees of freedom at `level`.

    Absent if there are no degrees of freedom.
    """
    degrees = np.asarray(freedom, dtype=np.float64)
    return -special.stdtrit(np.where(degrees > 0, degrees, np.nan), np.asarray(level) / 2)


def student(
    mean: ArrayLike, error: ArrayLike, freedom: ArrayLike, level: ArrayLike = LEVEL
) -> tuple[Values, Values]:
    """The ends of Student's interval of a mean with this standard error.

    The interval of one mean, or of one mean difference, wherever one is shown; those of many pairs
    together are maxT's. Absent if there is no degree of freedom.
    """
    centre = np.asarray(mean, dtype=np.float64)
    reach = t_reach(level, freedom) * np.asarray(error)
    return centre - reach, centre + reach


def normal_chance(z: ArrayLike) -> Any:
    """Two-sided probability that a standard normal value has at least this absolute value."""
    return 2 * special.ndtr(-np.abs(z))


def normal_reach(level: float) -> float:
    """Two-sided critical value of the standard normal distribution at `level`."""
    return -float(special.ndtri(np.asarray(level) / 2))


def runs_said(by_run: DataFrame, measure: str) -> str:
    """`means of 3 runs, spread .0012`, from scores of each run (run, measure, value)."""
    means = by_run[by_run["measure"] == measure].groupby("run")["value"].mean()
    spread = "" if len(means) < 2 else f", spread {spread_said(float(means.std()))}"
    return f"means of {int(by_run['run'].max())} runs{spread}"


def spread_said(spread: float) -> str:
    """The standard deviation between the runs' mean scores: `.0012`, or `0` where they are
    equal."""
    return f"{spread:.4f}".removeprefix("0") if spread > EQUAL else "0"
