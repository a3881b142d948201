"""How often `gate` errs, by simulation on differences of stored systems' queries.

    python -m tests.benchmarks.simulations.gate [REPETITIONS]      (default: 10000)

Queries are drawn with replacement from all of a dataset, and the candidate's differences there are
given a true mean: 0, the margin's loss, or three times it. `shifted`: the same is added to every
difference, so that none is 0 any more. `tilted`: all stay as they are, and those that bring the
mean down are drawn more often (exponential tilting), so that about as many as before are 0. `rare`:
made up, the candidate loses everything on one query in a hundred. Of `several`, the three first
pairs are three datasets. At the margin's loss both verdicts are errors, each nominally in 2.5% of
cases.

`bootstrap_t` and `percentile` (expanded, as the means of an order have it) stand beside Student's
interval for 50 queries, with a tenth of the repetitions.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from compute.base.settings import load
from compute.evaluate import baseline
from compute.evaluate.non_inferiority import NOT_WORSE, WORSE, overall, tested, verdicts
from compute.evaluate.sign_flips import LEVEL
from compute.evaluate.significance import Values, drawn_again
from compute.recompute.run import read
from compute.store.store import Store
from tests.benchmarks.side_by_side import say

MARGIN = 0.01
SIZES = (50, 300, 1000)
PAIRS = (
    ("nfcorpus", "bm25", "minilm"),
    ("scifact", "bm25", "bm25-rm3"),
    ("pydocs-pandas", "bm25", "bm25-rm3"),
    ("scifact", "bm25", "bm25-multifield"),
    ("pydocs-numpy", "bm25", "bm25-multifield"),
)
TRUTHS = {"none": 0.0, "the margin": -MARGIN, "3 margins": -3 * MARGIN}
AT_ONCE = 2_000_000


@dataclass(frozen=True)
class World:
    """What the difference of a query can be, and how likely."""

    name: str
    values: Values
    chances: Values

    def draw(self, repetitions: int, n: int, random: np.random.Generator) -> Iterator[Values]:
        """Differences, repetitions x n, some repetitions at a time."""
        for start in range(0, repetitions, size := max(1, AT_ONCE // n)):
            shape = min(size, repetitions - start), n
            yield random.choice(self.values, shape, p=self.chances)


def differences(store: Store, dataset: str, one: str, other: str) -> Values:
    """The second system's nDCG@10 minus the first's, by query."""
    frames = [read(part) for name in (one, other) for part in store.parts("scores", dataset, name)]
    a, b = (rows[rows["measure"] == "nDCG@10"].set_index("query_id")["value"] for rows in frames)
    return (b - a).to_numpy(np.float64)


def shifted(name: str, found: Values, truth: float) -> World:
    return World(
        f"{name}, shifted", found - found.mean() + truth, np.full(len(found), 1 / len(found))
    )


def tilted(name: str, found: Values, truth: float) -> World:
    """Chances in proportion to exp(t x), with the t that gives the mean."""

    def chances(t: float) -> Values:
        weights = np.exp(t * found - np.max(t * found))
        return weights / weights.sum()

    low, high = -500.0, 500.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if chances(middle) @ found < truth else (low, middle)
    return World(f"{name}, tilted", found, chances(low))


def student(drawn: Values) -> pd.DataFrame:
    """`gate`'s own test of each row."""
    beside = np.vstack([np.zeros(drawn.shape[1]), drawn])
    return tested(baseline.differences([beside], 0).iloc[1:], MARGIN)


def rates(world: World, n: int, repetitions: int, random: np.random.Generator) -> tuple[float, ...]:
    """The shares of verdicts on one dataset: not worse, worse."""
    found = pd.concat([student(drawn) for drawn in world.draw(repetitions, n, random)])
    told = verdicts(found["low"], found["high"], found["p"], MARGIN)
    return float((told == NOT_WORSE).mean()), float((told == WORSE).mean())


def several(
    worlds: list[World], n: int, repetitions: int, random: np.random.Generator
) -> tuple[float, ...]:
    """The same of all datasets together."""
    found = [
        pd.concat([student(drawn) for drawn in world.draw(repetitions, n, random)])
        for world in worlds
    ]
    low, high, p = (np.array([one[name] for one in found]).T for name in ("low", "high", "p"))
    told = [
        overall(verdicts(a, b, baseline.holm(c), MARGIN).tolist())
        for a, b, c in zip(low, high, p, strict=True)
    ]
    return told.count(NOT_WORSE) / len(told), told.count(WORSE) / len(told)


def bootstrap_t(drawn: Values, random: np.random.Generator) -> tuple[float, float]:
    """Efron and Tibshirani 1993, section 12.5; of one row."""
    n, mean, spread = len(drawn), drawn.mean(), drawn.std(ddof=1)
    counts = drawn_again(n, 1_000, random)
    means = counts @ drawn / n
    errors = np.sqrt(np.maximum(counts @ drawn**2 / n - means**2, 0) * n / (n - 1))
    t = np.divide(means - mean, errors, out=np.zeros_like(means), where=errors > 0)
    low, high = np.quantile(t, [LEVEL / 2, 1 - LEVEL / 2])
    return mean - high * spread, mean - low * spread


def percentile(drawn: Values, random: np.random.Generator) -> tuple[float, float]:
    """Hesterberg 2015, as `rank_intervals`; of one row."""
    n = len(drawn)
    wider = stats.t.isf(LEVEL / 2, n - 1) / stats.norm.isf(LEVEL / 2) * np.sqrt(n / (n - 1))
    tail = stats.norm.sf(stats.norm.isf(LEVEL / 2) * wider)
    low, high = np.quantile(drawn_again(n, 1_000, random) @ drawn / n, [tail, 1 - tail])
    return float(low), float(high)


Interval = Callable[[Values, np.random.Generator], tuple[float, float]]


def otherwise(
    way: Interval, world: World, n: int, repetitions: int, random: np.random.Generator
) -> tuple[float, ...]:
    """The shares of verdicts by another interval."""
    ends = [way(row, random) for drawn in world.draw(repetitions, n, random) for row in drawn]
    low, high = np.transpose(ends)
    return float((low > -MARGIN).mean()), float((high < -MARGIN).mean())


def row(name: str, n: int, truth: str, found: tuple[float, ...]) -> None:
    say(f"| {name} | {n:,} | {truth} | {found[0]:.2%} | {found[1]:.2%} |")


def head(title: str) -> None:
    say(f"\n{title}\n\n| differences | queries | true loss | no worse | worse |")
    say("|---|---:|---|---:|---:|")


def alone(found: dict[str, Values], repetitions: int) -> None:
    head(f"One dataset, {repetitions:,} repetitions")
    for name, values in found.items():
        for way in (shifted, tilted):
            for n in SIZES:
                for truth, mean in TRUTHS.items():
                    random = np.random.default_rng(n)
                    row(
                        f"{name}, {way.__name__}",
                        n,
                        truth,
                        rates(way(name, values, mean), n, repetitions, random),
                    )
    rare = World("rare", np.array([-1.0, 0.0]), np.array([MARGIN, 1 - MARGIN]))
    for n in SIZES:
        row("rare", n, "the margin", rates(rare, n, repetitions, np.random.default_rng(n)))


def together(found: dict[str, Values], repetitions: int) -> None:
    """Of the first three: all alike, or the first at the margin and the others far better."""
    head(f"Several: three datasets, {repetitions:,} repetitions")
    three = list(found.items())[:3]
    cases = {truth: [mean] * 3 for truth, mean in TRUTHS.items()}
    cases["the margin on one, a gain of .1 on two"] = [-MARGIN, 0.1, 0.1]
    for way in (shifted, tilted):
        for n in SIZES:
            for truth, means in cases.items():
                worlds = [way(*one, mean) for one, mean in zip(three, means, strict=True)]
                row(
                    way.__name__,
                    n,
                    truth,
                    several(worlds, n, repetitions, np.random.default_rng(n)),
                )


def beside(found: dict[str, Values], repetitions: int) -> None:
    head(f"Other intervals at the margin's loss, 50 queries, {repetitions:,} repetitions")
    for name, values in found.items():
        for way in (shifted, tilted):
            world = way(name, values, -MARGIN)
            for interval in (bootstrap_t, percentile):
                told = otherwise(interval, world, 50, repetitions, np.random.default_rng(50))
                row(f"{world.name}: {interval.__name__}", 50, "the margin", told)


def main(repetitions: int = 10_000) -> None:
    store = Store(load())
    found = {f"{a} to {b}, {on}": differences(store, on, a, b) for on, a, b in PAIRS}
    for name, values in found.items():
        equal = np.isclose(values, 0).mean()
        say(
            f"{name}: skewness {stats.skew(values):.2f}, {equal:.0%} of {len(values)} queries equal"
        )
    alone(found, repetitions)
    together(found, repetitions)
    beside(found, max(repetitions // 10, 1))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
