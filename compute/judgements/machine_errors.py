"""Estimates the errors of an LLM's grades from the sample that people judged. A sample with unequal
inclusion probabilities is not representative, so each pair has 1 over its probability as weight.
Means are Hájek's (1971), the weighted sum over the sum of the weights, with the variance of a ratio
(Särndal, Swensson and Wretman 1992, section 5.7). It is computed as if pairs were drawn with
replacement, which makes intervals slightly too wide."""

from collections.abc import Mapping

import numpy as np
from pandas import DataFrame

from compute.evaluate.distributions import t_reach
from compute.evaluate.estimates.frames import Flags, Values
from compute.evaluate.sign_flips import LEVEL
from compute.judgements.agreement import DRAWS, SEED, WEIGHTS, kappa_of

FEWEST = 10
"""Minimum number of pairs in a group for which results are shown."""


def by_group(
    people: Values, machine: Values, weights: Values, groups: Mapping[str, Flags]
) -> DataFrame:
    """Compare an LLM's grades with human ones by group of pairs. Returns a row for every group with
    at least FEWEST pairs: group, n_pairs, relevant and said_relevant (shares of grades above 0 by
    people and by the LLM), too_high and too_low (shares of pairs), off (mean of the LLM's grade
    minus the human one), off_low, off_high (95% CI). The arrays (n,) cover the pairs that both
    graded; `weights` are 1 over the inclusion probabilities, and `groups` has a mask by name."""
    off = machine - people
    rows = []
    for name, inside in groups.items():
        if inside.sum() < FEWEST:
            continue
        weight, own = weights[inside], off[inside]

        def share(which: Flags, weight: Values = weight, inside: Flags = inside) -> float:
            return float(np.average(which[inside], weights=weight))

        shares = (share(which) for which in (people > 0, machine > 0, off > 0, off < 0))
        rows.append((name, int(inside.sum()), *shares, *_mean(own, weight)))
    columns = ["group", "n_pairs", "relevant", "said_relevant", "too_high", "too_low"]
    return DataFrame(rows, columns=[*columns, "off", "off_low", "off_high"])


def _mean(values: Values, weights: Values) -> tuple[float, float, float]:
    """Return the weighted mean and the ends of its 95% interval."""
    mean = float(np.average(values, weights=weights))
    n, total = len(values), weights.sum()
    error = np.sqrt(((weights * (values - mean)) ** 2).sum() * n / (n - 1)) / total
    reach = float(t_reach(LEVEL, n - 1) * error)
    return mean, mean - reach, mean + reach


def kappas(people: Values, machine: Values, weights: Values) -> dict[str, float]:
    """Return Cohen's kappa and the weighted one (by squared distance), each with _low and _high
    (95% CI). They are computed as in `agreement.with_machine`, but with weighted pairs, by a
    percentile bootstrap over the pairs. They are NaN if all grades are the same."""
    grades, places = np.unique([people, machine], return_inverse=True)
    n, cell = len(grades), places.reshape(2, -1)
    cells = cell[0] * n + cell[1]
    size = len(people)
    drawn = np.random.default_rng(SEED).multinomial(size, np.full(size, 1 / size), DRAWS)
    one = np.zeros((size, n * n))
    one[np.arange(size), cells] = weights
    tables = np.vstack([one.sum(axis=0), drawn @ one])
    found = {}
    for name, weight in (("kappa", "none"), ("weighted", "quadratic")):
        values = kappa_of(tables, WEIGHTS[weight](np.abs(grades[:, None] - grades)))
        spread = values[1:][~np.isnan(values[1:])]
        ends = np.quantile(spread, [0.025, 0.975]) if len(spread) else (np.nan, np.nan)
        ends = (np.nan, np.nan) if np.isnan(values[0]) else ends
        found |= {name: values[0], f"{name}_low": ends[0], f"{name}_high": ends[1]}
    return {name: float(value) for name, value in found.items()}
