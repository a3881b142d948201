"""Families of queries: means whose queries are not independent.

Queries of one conversation, template or author are alike, so their values carry less information
than as many independent ones. The estimand is still the mean over queries, each counted once; but
only families are independent, so their sums are flipped, resampled and squared instead of the
queries' values.

**Intervals.** The standard error is the cluster-robust CR2 of least squares on a constant (Bell and
McCaffrey 2002, Survey Methodology 28, 169-181): the squared sums of a family's deviations, each
divided by 1 minus the family's share of all weights. The interval is Student's with Satterthwaite's
degrees of freedom, found as if queries were independent (Bell and McCaffrey 2002; Pustejovsky and
Tipton 2018, Journal of Business & Economic Statistics 36, 672-683). With families of one query both
are those of independent queries. `tests.benchmarks.simulations.families` measures their coverage.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pandas import Series

from compute.base.words import counted

Values = NDArray[np.float64]
Codes = NDArray[np.int64]
"""The family of each query, numbered from 0 without gaps."""

FEWEST = 4
"""Fewest families for an interval or a test, and as how many of equal weight they must count."""
FEWEST_EFFECTIVE = 10
"""Queries that weighted ones must count as for a test; `tests.benchmarks.simulations.weights` has
what it holds."""


def sums(values: Values, families: Codes) -> Values:
    """(..., G) from (..., n): the sum over each family."""
    order = np.argsort(families, kind="stable")
    starts = np.searchsorted(families[order], np.arange(families.max() + 1))
    return np.add.reduceat(values[..., order], starts, axis=-1)


def collapsed(values: Values, weights: Values, families: Codes) -> tuple[Values, Values]:
    """Values by family, their weighted means, and the weights of the families."""
    shares = sums(weights, families)
    return sums(values * weights, families) / shares, shares


def effective(shares: Values, families: Codes | None = None) -> float:
    """Number of equally weighted queries, or families, that those with these shares count as (Kish
    1965)."""
    of = shares if families is None else np.bincount(families, shares)
    return float(1 / (of @ of))


def freedom(shares: ArrayLike) -> Values:
    """Satterthwaite's degrees of freedom of CR2, by the families' shares of all weights (..., G): G
    - 1 for equal families; absent if they count as fewer than FEWEST of equal weight.
    """
    of = np.asarray(shares, np.float64)
    square = of**2
    few = square.sum(axis=-1) * FEWEST > 1 + 1e-9
    far = np.divide(square, 1 - of, out=np.zeros_like(of), where=of < 1)
    traces = square.sum(axis=-1) + far.sum(axis=-1) ** 2 - (far**2).sum(axis=-1)
    return np.where(few, np.nan, 1 / np.where(traces > 0, traces, 1))


def error(deviations: Values, shares: Values) -> Values:
    """CR2's standard error of a mean: `deviations` (..., G) are the families' sums of weighted
    deviations from it, `shares` their sums of weights."""
    kept = np.where(shares < 1, 1 - shares, np.nan)
    return np.sqrt((deviations**2 / kept).sum(axis=-1))


def of_mean(
    values: ArrayLike, families: Codes, weights: Values | None = None
) -> tuple[float, float]:
    """Standard error and degrees of freedom of the mean of (n,) values; with weights, which sum to
    1, of the weighted mean."""
    of, own = np.asarray(values, np.float64), np.unique(families, return_inverse=True)[1]
    if weights is None:
        off, shares = (of - of.mean()) / len(of), np.bincount(own) / len(of)
    else:
        off, shares = weights * (of - weights @ of), np.bincount(own, weights).astype(np.float64)
    return float(error(sums(off, own), shares)), float(freedom(shares))


def design_effect(by_family: Series, alone: Series) -> Series:
    """Variance of a mean by family over that of as many independent queries, from standard errors;
    absent without a spread."""
    return (by_family / alone.where(alone > 0)) ** 2


def said(queries: int, families: int, effect: float) -> str:
    """`45 families of 150 queries (design effect 2.3: they count as 65)`."""
    told = f"{counted(families, 'family')} of {counted(queries, 'query')}"
    if not effect > 0 or families < FEWEST:
        return told
    return f"{told} (design effect {effect:.2g}: they count as {queries / effect:,.0f})"
