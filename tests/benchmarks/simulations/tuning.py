"""How often the interval of a fusion whose weight is chosen on other queries holds the truth.

    python -m tests.benchmarks.simulations.tuning [REPETITIONS]      (default: 500)

Queries are drawn with replacement from all of a stored dataset, two systems are fused on them at
every weight and k, and Compare's answer is asked for: what a fusion chosen on other queries is
above one of the systems. The truth is the mean over all queries of what is chosen from so many, as
often as it is. `naive` is Student's interval of the values alone, as if every tenth had chosen by
itself. `optimism` is what the best mean of a sample is above the mean that its setting truly has.
"""

import sys

import numpy as np

from compute.base.settings import load
from compute.evaluate.estimates import tuning
from compute.evaluate.significance import Values, student
from compute.reading.database import open_version
from compute.store.store import Store
from compute.views.compare import fusion_sweep
from tests.benchmarks.side_by_side import say

DATASETS, PAIR = ("nfcorpus", "scifact", "pydocs-pandas"), ("bm25", "minilm")
SIZES = (50, 100, 300)


def shares(values: Values, own: Values, n: int, repetitions: int) -> dict[str, float]:
    """Of samples of n queries: the shares of intervals that hold the truth, bias, optimism.

    `values`: settings x queries; `own`: what a fusion is held against, by query.
    """
    random, truths = np.random.default_rng(1), values.mean(axis=1)
    worth, ends, naive, gaps, best = [], [], [], [], []
    for place in range(repetitions):
        drawn = random.integers(0, values.shape[1], n)
        sample = values[:, drawn]
        tuned = tuning.cross_validated(sample, [own[drawn]], seed=place)
        gap = tuned.values - own[drawn]
        worth.append(tuned.chosen / tuned.chosen.sum() @ truths)
        gaps.append(gap.mean())
        ends.append(student(gap.mean(), tuned.errors[0], n - 1))
        naive.append(student(gap.mean(), gap.std(ddof=1) / np.sqrt(n), n - 1))
        place_of_best = sample.mean(axis=1).argmax()
        best.append(sample.mean(axis=1).max() - truths[place_of_best])
    truth = np.mean(worth) - own.mean()
    held = [
        ((low <= truth) & (truth <= high)).mean() for low, high in map(np.transpose, (ends, naive))
    ]
    bias = np.mean(gaps) - truth
    return {"held": held[0], "naive": held[1], "bias": bias, "optimism": float(np.mean(best))}


def main(repetitions: int) -> None:
    """Print a row for each dataset, base and number of queries."""
    cursor = open_version(Store(load())).cursor()
    for dataset in DATASETS:
        rows = fusion_sweep.swept(cursor, dataset, *PAIR, "nDCG@10")
        wide = rows.pivot(index="query_id", columns=["method", "setting"], values="value")
        fused = wide.drop(columns=fusion_sweep.ALONE, level=0).to_numpy().T
        for place, system in enumerate(PAIR):
            own = wide[fusion_sweep.ALONE, float(place)].to_numpy()
            for n in SIZES:
                found = shares(fused, own, n, repetitions)
                told = ", ".join(f"{name} {value:.3f}" for name, value in found.items())
                say(f"{dataset} against {system}, {n} queries: {told}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
