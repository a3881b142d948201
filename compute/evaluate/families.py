"""Families of queries: standard errors of means whose queries are not independent.

Queries of one conversation, template or author are similar, so their values carry less information
than those of as many independent queries. The estimand is still the mean over queries, each counted
once. But only families are independent, so tests, resampling and variances use the sum over each
family instead of the values of its queries.

**Intervals.** The standard error is the cluster-robust CR2 of least squares on a constant (Bell and
McCaffrey 2002, Survey Methodology 28, 169-181): each family's sum of deviations is squared and
divided by 1 minus the family's share of all weights. The interval is Student's with Satterthwaite's
degrees of freedom, found as if queries were independent (Bell and McCaffrey 2002; Pustejovsky and
Tipton 2018, Journal of Business & Economic Statistics 36, 672-683). If every family has one query,
both equal those of independent queries. `tests.benchmarks.simulations.families` measures their
coverage.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pandas import Series

from compute.base.words import counted

Values = NDArray[np.float64]
Codes = NDArray[np.int64]
"""Number of each query's family, from 0 without gaps."""

FEWEST = 4
"""An interval or a test needs at least this many families, and weighted ones must count as this
many of equal weight."""
FEWEST_EFFECTIVE = 10
"""For a test, weighted queries must count as at least this many of equal weight; the benchmark
`tests.benchmarks.simulations.weights` has the error rates."""


def sums(values: Values, families: Codes) -> Values:
    """Sum values (..., n) over each of G families: (..., G)."""
    order = np.argsort(families, kind="stable")
    starts = np.searchsorted(families[order], np.arange(families.max() + 1))
    return np.add.reduceat(values[..., order], starts, axis=-1)


def collapsed(values: Values, weights: Values, families: Codes) -> tuple[Values, Values]:
    """Return the weighted mean of each family's values, and the sum of its weights."""
    shares = sums(weights, families)
    return sums(values * weights, families) / shares, shares


def effective(shares: Values, families: Codes | None = None) -> float:
    """Return the effective number of queries, or families, with these shares (Kish 1965)."""
    of = shares if families is None else np.bincount(families, shares)
    return float(1 / (of @ of))


def freedom(shares: ArrayLike) -> Values:
    """Return Satterthwaite's degrees of freedom for CR2 from the families' shares of all weights
    (..., G): G - 1 for equal families, absent if they count as fewer than FEWEST of equal
    weight."""
    of = np.asarray(shares, np.float64)
    square = of**2
    few = square.sum(axis=-1) * FEWEST > 1 + 1e-9
    far = np.divide(square, 1 - of, out=np.zeros_like(of), where=of < 1)
    traces = square.sum(axis=-1) + far.sum(axis=-1) ** 2 - (far**2).sum(axis=-1)
    return np.where(few, np.nan, 1 / np.where(traces > 0, traces, 1))


def error(deviations: Values, shares: Values) -> Values:
    """Return the CR2 standard error of a mean. `deviations` (..., G) are the sums of each family's
    weighted deviations from the mean, and `shares` the sums of its weights."""
    kept = np.where(shares < 1, 1 - shares, np.nan)
    return np.sqrt((deviations**2 / kept).sum(axis=-1))


def of_mean(
    values: ArrayLike, families: Codes, weights: Values | None = None
) -> tuple[float, float]:
    """Return the standard error and the degrees of freedom of the mean of (n,) values, or of their
    weighted mean if there are weights, which sum to 1."""
    of, own = np.asarray(values, np.float64), np.unique(families, return_inverse=True)[1]
    if weights is None:
        off, shares = (of - of.mean()) / len(of), np.bincount(own) / len(of)
    else:
        off, shares = weights * (of - weights @ of), np.bincount(own, weights).astype(np.float64)
    return float(error(sums(off, own), shares)), float(freedom(shares))


def design_effect(by_family: Series, alone: Series) -> Series:
    """Return the design effect: the variance of a mean by family over that of as many independent
    queries, from their standard errors; absent if the latter is 0."""
    return (by_family / alone.where(alone > 0)) ** 2


def said(queries: int, families: int, effect: float) -> str:
    """Return a text such as `45 families of 150 queries (design effect 2.3: they count as 65)`."""
    told = f"{counted(families, 'family')} of {counted(queries, 'query')}"
    if not effect > 0 or families < FEWEST:
        return told
    return f"{told} (design effect {effect:.2g}: they count as {queries / effect:,.0f})"
