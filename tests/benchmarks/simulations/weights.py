"""How often the test and the intervals of a weighted mean err, by simulation.

    python -m tests.benchmarks.simulations.weights [REPETITIONS] [QUERIES]

Weights are equal, log-normal or Zipf's, drawn each time. Differences of queries are normal, skewed
(an exponential less its mean), or normal with a spread that grows with the weight. The true
weighted mean is 0. The intervals are that of the weighted sign flips, as `compare` has it; of CR2,
as Dataset has it; and of the bootstrap, as the ranking has it.
"""

import sys
from itertools import product

import numpy as np
from pandas import DataFrame

from compute.evaluate import rank_intervals, significance
from compute.evaluate.distributions import student
from compute.evaluate.families import FEWEST_EFFECTIVE, Values, of_mean
from compute.evaluate.sign_flips import LEVEL
from compute.evaluate.significance import Aligned
from tests.benchmarks.side_by_side import say

WEIGHTS = ("equal", "log-normal, 1", "log-normal, 2", "Zipf")
GAPS = ("normal", "skewed", "spread with weight")


def weighted(name: str, n: int, random: np.random.Generator) -> Values:
    """n weights above 0."""
    if name == "Zipf":
        return random.permutation(1 / np.arange(1, n + 1))
    spread = {"equal": 0.0, "log-normal, 1": 1.0, "log-normal, 2": 2.0}[name]
    return np.exp(random.normal(0, spread, n))


def gaps(name: str, weights: Values, random: np.random.Generator) -> Values:
    """Differences of the queries with these weights."""
    n = len(weights)
    if name == "skewed":
        return random.exponential(1, n) - 1
    of = random.standard_normal(n)
    return of * np.sqrt(weights / weights.mean()) if name == "spread with weight" else of


def of_means(gap: Values, weights: Values) -> tuple[bool, bool]:
    """Whether the intervals of CR2 and of the bootstrap hold 0."""
    n, shares = len(gap), weights / weights.sum()
    low, high = student(0, *of_mean(gap, np.arange(n), shares))
    mean = shares @ gap
    queries = DataFrame({"dataset": "d", "query_id": np.arange(n)})
    board = Aligned(("a",), queries, gap[None], shares, 0, key="traffic")
    row = rank_intervals.of_scores([board]).systems.iloc[0]
    return bool(low <= mean <= high), bool(row["low"] <= 0 <= row["high"])


def rates(
    n: int, weights: str, of: str, repetitions: int, random: np.random.Generator
) -> tuple[float, float, float, float, float, float]:
    """Shares: the test rejects, the interval holds 0, it has no end, that of CR2 and that of the
    bootstrap hold 0 where queries count as enough; and the median number of queries that the
    weighted ones count as."""
    rejected = held = endless = 0
    effective, means = [], []
    for _ in range(repetitions):
        given = weighted(weights, n, random)
        gap = gaps(of, given, random)
        row = significance.pairs(
            [gap, np.zeros(n)],
            weights=given,
            permutations=999,
            resamples=0,
            seed=int(random.integers(10**9)),
        ).iloc[0]
        rejected += row["p"] <= LEVEL
        held += row["low"] <= 0 <= row["high"]
        endless += not np.isfinite(row["low"])
        effective.append(given.sum() ** 2 / (given**2).sum())
        if effective[-1] >= FEWEST_EFFECTIVE:
            means.append(of_means(gap, given))
    test, covered, none = (float(count) / repetitions for count in (rejected, held, endless))
    of_mean, drawn = map(float, np.mean(means, axis=0)) if means else (np.nan, np.nan)
    return test, covered, none, of_mean, drawn, float(np.median(effective))


def main(repetitions: int = 10_000, queries: int = 0) -> None:
    head = "test | coverage | no interval | CR2 | bootstrap"
    say(f"| queries | weights | count as | differences | {head} |")
    say("|---:|---|---:|---|---:|---:|---:|---:|---:|")
    for n, weights, of in product((queries,) if queries else (30, 100, 300), WEIGHTS, GAPS):
        random = np.random.default_rng([n, WEIGHTS.index(weights), GAPS.index(of)])
        *shares, effective = rates(n, weights, of, repetitions, random)
        told = " | ".join(f"{share:.1%}" for share in shares)
        say(f"| {n} | {weights} | {effective:.0f} | {of} | {told} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
