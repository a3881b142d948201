"""Student's t and the normal distribution, and the interval of a mean over queries and runs.

The functions call `scipy.special` directly: importing `scipy.stats`, which calls the same
functions, takes half a second in every process.

**Runs.** A system that is run several times, such as with a rebuilt index, has the value m + a(q) +
b(r) + e(q, r) on query q in run r, where all terms except m are random and independent. Its score
is the mean over n queries and R runs; the estimand is m. Two variances together cover the variance
of the score: s^2 / n of the queries' means over the runs, with n - 1 degrees of freedom, and s^2 /
R of the runs' means over the queries, with R - 1 degrees of freedom; their sum counts e twice. The
variance of a difference includes the runs of both systems. The squared half-width is the sum of
each variance times its own squared t (Banerjee 1960, Sankhya 22): the interval contains the
estimand in at least 95% of cases whatever the ratio of the variances, since the probability that
the square of a normal deviate is at most x is concave in x. With Satterthwaite's degrees of
freedom, coverage would be lower if two runs vary more than the queries."""

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
"""Runs whose mean scores differ by at most this are equal."""
_HALVINGS = 60


@dataclass(frozen=True)
class Runs:
    """The variances of systems' mean scores over runs: arrays of systems x sources of variance,
    such as the parts of a dataset."""

    variance: Values
    """Variance of the mean over this system's runs; 0 if it has a single run or equal ones."""
    freedom: Values
    """Number of runs minus 1; 0 if the variance is unknown."""

    @classmethod
    def over(cls, means: Sequence[Sequence[ArrayLike]]) -> "Runs":
        """Compute the variances from the weighted mean of each run, by system and source; a list is
        empty if its runs are unknown."""
        given = [[np.asarray(of, np.float64) for of in own] for own in means]
        n = np.array([[len(of) for of in own] for own in given])
        spread = np.array([[_variance(of) for of in own] for own in given])
        return cls(spread / np.maximum(n, 1), np.maximum(n - 1, 0))

    def pairs(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> "Runs":
        """Return the variances of the differences between systems `a` and `b`, pair by pair."""
        both = ((of[a], of[b]) for of in (self.variance, self.freedom))
        return Runs(*(np.concatenate(of, axis=-1) for of in both))

    @property
    def n(self) -> NDArray[np.int64]:
        """Return each system's number of runs, (S,)."""
        return self.freedom.min(axis=-1).astype(np.int64) + 1

    @property
    def spreads(self) -> Values:
        """Return the standard deviation between each system's runs, (S,); nan if unknown."""
        squares = np.where(self.freedom > 0, self.variance * (self.freedom + 1), np.nan)
        return np.sqrt(squares.sum(axis=-1))

    def taken(self) -> "Runs":
        """Return the variances of two systems; an unknown one is assumed to be that of a single run
        of the other system."""
        known = self.freedom > 0
        other = np.where(known & ~known[::-1], self.variance * (self.freedom + 1), 0)
        return Runs(self.variance + other, self.freedom)

    @property
    def some(self) -> NDArray[np.bool_]:
        """Return for each system whether its runs have different scores, (S,)."""
        return np.any(self.variance > 0, axis=-1)

    def squares(self, level: ArrayLike) -> Values:
        """Return what the runs add to each squared half-width of an interval at `level`, (S,)."""
        reach = t_reach(np.asarray(level)[..., None], np.where(self.freedom > 0, self.freedom, 1))
        some = self.variance > 0
        squares = np.multiply(reach**2, self.variance, out=np.zeros(some.shape), where=some)
        return squares.sum(axis=-1)

    def half(self, error: ArrayLike, freedom: ArrayLike, level: ArrayLike) -> Values:
        """Return half the width of the interval of a mean with this standard error over queries."""
        return np.sqrt((t_reach(level, freedom) * np.asarray(error)) ** 2 + self.squares(level))

    def chance(self, mean: ArrayLike, error: ArrayLike, freedom: ArrayLike) -> Values:
        """Return the two-sided p of a mean: the level at which one end of its interval is 0."""
        far = np.abs(mean)
        low, high = np.full(np.shape(far), -300.0), np.zeros(np.shape(far))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            inside = far < self.half(error, freedom, np.exp(middle))
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return np.where(np.isnan(self.half(error, freedom, 0.5)), np.nan, np.exp(high))


def _variance(means: Values) -> float:
    """Return the variance of the means; 0 for a single one or if only rounding differs."""
    return float(means.var(ddof=1)) if len(means) > 1 and np.ptp(means) > EQUAL else 0.0


def t_chance(t: ArrayLike, freedom: ArrayLike) -> Any:
    """Return the two-sided probability of a Student's t at least this far from 0."""
    return 2 * special.stdtr(freedom, -np.abs(t))


def t_reach(level: ArrayLike, freedom: ArrayLike) -> Any:
    """Return the two-sided critical value of Student's t; nan without degrees of freedom."""
    degrees = np.asarray(freedom, dtype=np.float64)
    return -special.stdtrit(np.where(degrees > 0, degrees, np.nan), np.asarray(level) / 2)


def student(
    mean: ArrayLike, error: ArrayLike, freedom: ArrayLike, level: ArrayLike = LEVEL
) -> tuple[Values, Values]:
    """Return the ends of Student's interval of a mean with this standard error. This is the
    interval of every single mean or mean difference that is shown; simultaneous intervals of many
    pairs are maxT's. The ends are absent without degrees of freedom."""
    centre = np.asarray(mean, dtype=np.float64)
    reach = t_reach(level, freedom) * np.asarray(error)
    return centre - reach, centre + reach


def normal_chance(z: ArrayLike) -> Any:
    """Return the two-sided probability of a standard normal value at least this far from 0."""
    return 2 * special.ndtr(-np.abs(z))


def normal_reach(level: float) -> float:
    """Return the two-sided critical value of the standard normal distribution at `level`."""
    return -float(special.ndtri(np.asarray(level) / 2))


def runs_said(by_run: DataFrame, measure: str) -> str:
    """Return a text such as `means of 3 runs, spread .0012` from rows of run, measure, value."""
    means = by_run[by_run["measure"] == measure].groupby("run")["value"].mean()
    spread = "" if len(means) < 2 else f", spread {spread_said(float(means.std()))}"
    return f"means of {int(by_run['run'].max())} runs{spread}"


def spread_said(spread: float) -> str:
    """Format the standard deviation of runs' mean scores: `.0012`, or `0` if they are equal."""
    return f"{spread:.4f}".removeprefix("0") if spread > EQUAL else "0"
