"""Estimates the score reached by a parameter that is tuned on the given queries. Each query has a
value at each setting of the parameter, such as the weight of a fusion. The best mean over these
queries is too optimistic, since it was selected. Instead, the setting is chosen on nine tenths of
the queries and evaluated on the last tenth, for each tenth in turn; the division into tenths is
drawn REPEATS times: cross-validation (Stone 1974, Journal of the Royal Statistical Society B 36,
111-147). Settings may combine several parameters or methods: every choice is made within the nine
tenths, without the queries of the last tenth. The choices share most of their queries, so intervals
from the spread of the values are too narrow: of those with a nominal 95%, only 88 to 96% covered
the true value. The standard error is therefore computed by resampling queries for the whole
procedure (Efron 1979), with all copies of a query in one tenth; 94 to 98% of these intervals
covered the true value, from 50 queries on (`tests.benchmarks.simulations.tuning`)."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from compute.evaluate import tolerance

Values = NDArray[np.float64]

FOLDS = 10
REPEATS = 10
DRAWS = 200
"""Number of resamples of queries for the standard error."""
FEWEST = 50
"""Minimum number of queries: from there on, simulations confirmed the coverage of the interval."""


class Tuned(NamedTuple):
    """Result of choosing the setting on other queries."""

    values: Values
    """Each query's value at the setting chosen without it, averaged over the repetitions."""
    chosen: NDArray[np.int64]
    """Number of times that each setting was chosen, of FOLDS x REPEATS."""
    errors: Values
    """Standard error of the mean of `values` minus the mean of each base."""


def cross_validated(
    values: ArrayLike,
    bases: ArrayLike,
    *,
    sign: int = 1,
    parts: ArrayLike | None = None,
    seed: int = 0,
) -> Tuned:
    """Choose the setting with the best mean on other queries. `values` are settings x queries;
    `bases`, the values to compare with, are bases x queries; `sign` is -1 if a lower value is
    better; `parts` has the part of each query, and parts have equal weight in a mean. Among equally
    good settings the first is chosen. Raises ValueError for fewer than FEWEST queries."""
    table, against = np.asarray(values, np.float64), np.asarray(bases, np.float64)
    n = table.shape[1]
    if n < FEWEST:
        raise ValueError(f"{n} queries are too few for cross-validation: {FEWEST} are needed")
    _, part = np.unique(np.zeros(n) if parts is None else np.asarray(parts), return_inverse=True)
    share = 1 / (part.max() + 1) / np.bincount(part)[part]
    random = np.random.default_rng(seed)
    taken, chosen = np.zeros(n), np.zeros(len(table), dtype=np.int64)
    for _ in range(REPEATS):
        best, fold = _chosen(sign * table * share, share, random)
        chosen += np.bincount(best, minlength=len(table))
        taken += table[best[fold], np.arange(n)] / REPEATS
    drawn = np.empty((DRAWS, len(against)))
    for place in range(DRAWS):
        weight = share * _again(part, random)
        best, fold = _chosen(sign * table * weight, weight, random)
        drawn[place] = (table[best[fold], np.arange(n)] - against) @ weight
    return Tuned(taken, chosen, drawn.std(axis=0, ddof=1))


def _chosen(
    weighted: Values, share: Values, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the setting chosen for each fold on the other folds, and the fold of each query."""
    fold = random.permutation(len(share)) % FOLDS
    member = fold[:, None] == np.arange(FOLDS)
    elsewhere = (weighted.sum(1, keepdims=True) - weighted @ member) / (1 - share @ member)
    return tolerance.best(elsewhere, axis=0), fold


def _again(part: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """Resample the queries within each part; returns how many times each query is drawn."""
    counts = np.empty(len(part), dtype=np.int64)
    for one in range(part.max() + 1):
        own = np.flatnonzero(part == one)
        counts[own] = random.multinomial(len(own), np.full(len(own), 1 / len(own)))
    return counts


def carried(means: DataFrame, sign: int = 1) -> DataFrame:
    """Return the loss when the best setting on one dataset is used on another. `means` has a row
    for each dataset and a column for each setting. The result has a row for each dataset on which
    the setting is chosen and a column for each on which it is used: the column's best mean minus
    its mean at that setting, at least 0 (`sign` is -1 if a lower value is better)."""
    good = sign * means.to_numpy(dtype=np.float64)
    best, own = tolerance.best(good), good.max(axis=1)
    return pd.DataFrame(own - good[:, best].T, index=means.index, columns=means.index)
