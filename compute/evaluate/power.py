"""Power of the paired tests in `significance`: the minimum detectable difference, and the number of
queries needed to detect a given difference.

The power at the observed difference is never computed: it depends only on the p-value and adds no
information (Hoenig and Heisey 2001, The American Statistician 55(1), 19-24). What the data say
about the difference is its interval.

If the true mean is D, the mean of n paired differences with standard deviation s, divided by its
standard error, has a noncentral t distribution with n - 1 degrees of freedom and noncentrality D
sqrt(n) / s (Cohen 1988, Statistical Power Analysis, chapter 2; for retrieval Webber, Moffat and
Zobel 2008, CIKM, 571-580). In large samples the randomisation test rejects as the t-test does
(Hoeffding 1952). A difference is detected if the test rejects and the sign is right. s is estimated
from the given differences, so the result refers to queries like these.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame
from scipy import special

from compute.evaluate.distributions import t_chance
from compute.evaluate.sign_flips import LEVEL
from compute.evaluate.significance import Values

LARGEST = 1
"""Largest possible difference between two means of a measure."""
POWER = 0.8
"""The probability of detecting a difference (Cohen 1988)."""
FEWEST = 6
"""Smallest number of differing queries with which a randomisation test can reject: with five, p is
at least 2 / 2^5."""
MOST = 10**12
"""Upper limit of the number of queries needed."""


def level_of(width: ArrayLike, error: ArrayLike, n: ArrayLike) -> Values:
    """Return the two-sided level of a t-test from the width of its interval of a mean over n
    queries. For maxT's simultaneous intervals, this is the level at which each pair is tested. It
    is 0 if the interval is unbounded and absent if the standard error is 0."""
    given = np.asarray(error, dtype=np.float64)
    t = np.asarray(width) / 2 / np.where(given > 0, given, np.nan)
    return t_chance(t, np.asarray(n) - 1)


def errors_off(n: ArrayLike, level: ArrayLike, power: float = POWER) -> Values:
    """Return how far from 0, in standard errors, a true mean difference over n queries must be for
    a two-sided test to detect it with probability `power`."""
    freedom = np.asarray(n, dtype=np.float64) - 1
    return special.nctdtrinc(freedom, 1 - power, -special.stdtrit(freedom, np.asarray(level) / 2))


def can_reject(differing: ArrayLike, n: ArrayLike, level: ArrayLike) -> NDArray[np.bool_]:
    """Return whether a test could reject at all if only `differing` of n queries differ. The sum of
    m differences over the root of the sum of their squares is at most sqrt(m), when all are equal;
    then t^2 = (n - 1) m / (n - m). The spread of fewer than FEWEST differing queries says nothing
    about other queries."""
    m, n = np.asarray(differing, dtype=np.float64), np.asarray(n, dtype=np.float64)
    level = np.asarray(level, dtype=np.float64)
    square = special.stdtrit(n - 1, np.where(level > 0, level, np.nan) / 2) ** 2
    return (m >= FEWEST) & (square * (n - m) <= (n - 1) * m)


def detectable(
    error: ArrayLike, n: ArrayLike, level: ArrayLike, differing: ArrayLike, power: float = POWER
) -> Values:
    """Return the smallest true mean difference that a test detects with probability `power`.
    `error` is the standard error of the mean difference over n queries. `level` is the level of a
    two-sided test, corrected if pairs are tested together. The result is absent if too few queries
    differ."""
    usable = can_reject(differing, n, level)
    off = errors_off(n, np.where(usable, level, LEVEL), power)
    return np.where(usable, np.asarray(error) * off, np.nan)


def queries_needed(
    difference: ArrayLike, deviation: ArrayLike, level: ArrayLike, power: float = POWER
) -> NDArray[np.int64]:
    """Return the smallest number of queries with which a test detects a given true difference above
    0, between FEWEST and MOST. `deviation` is the standard deviation of the queries' differences:
    sqrt(n) times the standard error. With families' deviation, it is a number of families."""
    given = (np.asarray(of, np.float64) for of in (deviation, level, difference))
    spread, level, difference = np.broadcast_arrays(*given)
    low, high = (np.full(spread.shape, end, np.int64) for end in (FEWEST, MOST))
    while (low < high).any():
        middle = (low + high) // 2
        enough = difference * np.sqrt(middle) >= spread * errors_off(middle, level, power)
        low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
    return low


def of_pairs(found: DataFrame, n: int) -> DataFrame:
    """Add columns to `significance.pairs` over n queries: level (at which each pair is tested among
    all), deviation (of the differences), and the detectable difference at that level (detectable)
    and at LEVEL (alone). For families, n is their number, and the test is a t-test over one more
    query than there are degrees of freedom."""
    over = found["freedom"] + 1 if "freedom" in found else n
    width = found["width"] if "width" in found else found["high"] - found["low"]
    level = level_of(width, found["error"], over)
    together, alone = (
        detectable(found["error"], over, one, found["differing"]) for one in (level, LEVEL)
    )
    named = {"n": n, "level": level, "deviation": found["error"] * np.sqrt(n)}
    return found.assign(**named, detectable=together, alone=alone)
