"""How often 95% intervals hold the true mean, by simulation: over queries, and over datasets.

    python -m tests.benchmarks.coverage [SIMULATIONS]      (default: 2000)

Values by query are made up in the manner of nDCG@10: some are 0, some 1, most between. Datasets
differ from each other about as those of BEIR do. Plain percentile intervals stand beside those
that are shown, which are widened where few units were drawn.
"""

import sys

import numpy as np
import pandas as pd

from compute.evaluate import rank_intervals
from compute.evaluate.significance import Aligned, drawn_again


def by_query(n: int, random: np.random.Generator, mean: float = 0.45) -> np.ndarray:
    """n values from 0 to 1 with this mean, a few of them at the ends."""
    return np.clip(random.beta(0.8 * mean / (1 - mean), 0.8, n) * 1.1 - 0.05, 0, 1)


def true_mean(mean: float = 0.45) -> float:
    return float(by_query(2_000_000, np.random.default_rng(0), mean).mean())


def one_dataset(values: np.ndarray) -> Aligned:
    """Systems x queries as `rank_intervals` takes them."""
    queries = pd.DataFrame({"dataset": "made", "query_id": np.arange(values.shape[1]).astype(str)})
    return Aligned(tuple(map(str, range(len(values)))), queries, values, None, 0)


def over_queries(n: int, simulations: int, seed: int = 1, resamples: int = 1_000) -> float:
    """Share of intervals over n queries that held the true mean."""
    random, true = np.random.default_rng(seed), true_mean()
    held = 0
    for number in range(simulations):
        dataset = one_dataset(by_query(n, random)[None])
        found = rank_intervals.of_scores([dataset], resamples=resamples, seed=number).systems.iloc[
            0
        ]
        held += bool(found["low"] <= true <= found["high"])
    return held / simulations


def over_datasets(n: int, simulations: int, seed: int = 1) -> tuple[float, float]:
    """The same over n datasets: plain percentiles, and widened ones."""
    random = np.random.default_rng(seed)
    plain = widened = 0
    for number in range(simulations):
        means = np.clip(random.normal(0.43, 0.2, n), 0, 1)
        drawn = drawn_again(n, 1_000, np.random.default_rng(number)) @ means / n
        low, high = np.quantile(drawn, [0.025, 0.975])
        plain += bool(low <= 0.43 <= high)
        if n >= rank_intervals.FEWEST_DATASETS:
            found = rank_intervals.of_means(means[None], seed=number).systems.iloc[0]
            widened += bool(found["low"] <= 0.43 <= found["high"])
    return plain / simulations, widened / simulations


def wrong_groups(n_systems: int, n_datasets: int, simulations: int, seed: int = 1) -> float:
    """Share of boards on which some pair of equally good systems is told apart."""
    random = np.random.default_rng(seed)
    wrong = 0
    for number in range(simulations):
        hardness = random.normal(0.43, 0.2, n_datasets)
        values = hardness + random.normal(0, 0.05, (n_systems, n_datasets))
        wrong += bool(rank_intervals.of_means(values, seed=number).better.any())
    return wrong / simulations


def wrong_groups_of_queries(n_queries: int, n_datasets: int, simulations: int) -> float:
    """The same of boards whose datasets are kept as they are, their queries drawn."""
    random = np.random.default_rng(2)
    wrong = 0
    for number in range(simulations):
        datasets = [
            one_dataset(by_query(n_queries, random) + random.normal(0, 0.15, (10, n_queries)))
            for _ in range(n_datasets)
        ]
        wrong += bool(rank_intervals.of_scores(datasets, resamples=1_000, seed=number).better.any())
    return wrong / simulations


def main(simulations: int = 2_000) -> None:
    for n in (10, 30, 50, 100, 300):
        say(f"{n} queries: {over_queries(n, simulations):.1%}")
    for n in (2, 3, 5, 10, 18):
        plain, widened = over_datasets(n, simulations)
        say(f"{n} datasets: plain {plain:.1%}, widened {widened:.1%}")
    for n in (10, 18):
        share = wrong_groups(10, n, simulations)
        say(f"10 equal systems on {n} datasets: told apart on {share:.1%} of boards")
    for n, datasets in ((50, 1), (50, 4), (300, 4)):
        share = wrong_groups_of_queries(n, datasets, simulations)
        say(f"the same by {n} queries on each of {datasets} datasets: {share:.1%} of boards")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
