"""Times the randomisation test of all pairs beside scipy's and, where it is installed, ranx's.

    python -m tests.benchmarks.significance [SYSTEMS QUERIES PERMUTATIONS]

The default is 10 10000 10000.

Ours corrects by single-step maxT and is timed with and without the effects' bootstrap intervals.
The others test one pair at a time, without a correction: one pair is timed and multiplied by the
number of pairs, which the rows say. The bar: 45 pairs in less than 1 s on 2 cores.
"""

import importlib
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import stats

from compute.evaluate.significance import pairs
from tests.benchmarks.side_by_side import Row, quicker, say, show
from tests.benchmarks.side_by_side import seconds as words

TRIES = 5


def best(work: Callable[[], object], tries: int = TRIES) -> tuple[float, float]:
    """Seconds, and seconds of the processors, of the fastest of some tries."""
    seconds = []
    for _ in range(tries):
        start, busy = time.perf_counter(), time.process_time()
        work()
        seconds.append((time.perf_counter() - start, time.process_time() - busy))
    return min(seconds)


def by_scipy(a: np.ndarray, b: np.ndarray, permutations: int) -> None:
    """One pair; in batches, since all permutations at once would take 800 MB."""
    stats.permutation_test(
        (a - b,),
        np.mean,
        permutation_type="samples",
        n_resamples=permutations,
        vectorized=True,
        batch=500,
    )


def by_ranx(a: np.ndarray, b: np.ndarray, permutations: int) -> None:
    tests = importlib.import_module("ranx.statistical_tests")
    tests.fisher_randomization_test(a, b, permutations, 0.05)


def main(systems: int = 10, queries: int = 10_000, permutations: int = 10_000) -> None:
    values = np.random.default_rng(1).random((systems, queries))
    n_pairs = systems * (systems - 1) // 2
    ours = best(lambda: pairs(values, permutations=permutations, resamples=0))
    whole = best(lambda: pairs(values, permutations=permutations))
    say(f"ours, maxT: {told(ours)}; with 1,000 resamples for the effects: {told(whole)}")
    others = {"scipy": by_scipy} | ({"ranx": by_ranx} if importlib.util.find_spec("ranx") else {})
    for name, test in others.items():
        test(values[0], values[1], 10)  # ranx compiles
        one = best(partial(test, values[0], values[1], permutations), 2)
        say(f"{name}, one pair: {told(one)}")
        sizes = f"{n_pairs} pairs x {queries:,} queries x {permutations:,} permutations"
        show(
            Row(
                work=f"randomisation test, {sizes}",
                bar="under 1 s",
                ours=words(ours[0]),
                peer=f"{name} {words(n_pairs * one[0])} (extrapolated: one pair x {n_pairs})",
                ratio=quicker(n_pairs * one[0], ours[0]),
                met=ours[0] < 1,
            )
        )
    say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def told(seconds: tuple[float, float]) -> str:
    return f"{seconds[0]:.2f} s ({seconds[1]:.2f} s of processors)"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
