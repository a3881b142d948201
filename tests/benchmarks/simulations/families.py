"""How often tests and intervals by family err where queries come in families, by simulation.

    python -m tests.benchmarks.simulations.families [REPETITIONS] [null|few|power|gate]

Differences of queries are q(z), z = sqrt(r) b + sqrt(1 - r) e, with b a standard normal number of
each family, e of each query, and r the intraclass correlation: q the identity, or the quantile
function of the differences of MiniLM and BM25 by nDCG@10 on NFCorpus's queries, less their mean.
Families have 1 to `most` queries, each number equally likely. `null`: the true mean is 0; `few`:
fewer than 20 families; `power`: the number of families for 80%, planned from the first sample;
`gate`: the margin's loss.
"""

import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas import DataFrame
from scipy import special

from compute.base.settings import load
from compute.evaluate import families, power, significance
from compute.evaluate.families import Values
from compute.evaluate.non_inferiority import COLUMNS
from compute.evaluate.sign_flips import LEVEL
from compute.store.store import Store
from tests.benchmarks.side_by_side import say
from tests.benchmarks.simulations.gate import MARGIN, differences

FLIPS = 1_999
AT_ONCE = 500_000
ICC = (0, 0.2, 0.5, 0.7)


class Drawn(NamedTuple):
    """Samples, some at a time."""

    sizes: Values
    """repetitions x families."""
    sums: Values
    squares: Values
    """Sum of the squared differences, by repetition."""


def drawn(
    n_families: int,
    most: int,
    icc: float,
    repetitions: int,
    random: np.random.Generator,
    quantiles: Values | None = None,
    mean: float = 0,
) -> Iterator[Drawn]:
    """Samples of families with 1 to `most` queries whose differences have this true mean."""
    step = max(1, AT_ONCE // (n_families * most))
    for start in range(0, repetitions, step):
        shape = min(step, repetitions - start), n_families
        sizes = random.integers(1, most + 1, shape)
        z = np.sqrt(icc) * random.standard_normal((*shape, 1))
        z = z + np.sqrt(1 - icc) * random.standard_normal((*shape, most))
        if quantiles is not None:
            last = len(quantiles) - 1
            z = quantiles[np.minimum((special.ndtr(z) * len(quantiles)).astype(int), last)]
        z = np.where(np.arange(most) < sizes[..., None], z + mean, 0)
        yield Drawn(sizes.astype(np.float64), z.sum(axis=2), (z**2).sum(axis=(1, 2)))


def intervals(of: Drawn) -> tuple[Values, Values, Values, Values]:
    """The means; the ends of their intervals by family; and half the length by queries."""
    n = of.sizes.sum(axis=1)
    mean, shares = of.sums.sum(axis=1) / n, of.sizes / n[:, None]
    error = families.error(of.sums / n[:, None] - shares * mean[:, None], shares)
    low, high = significance.student(mean, error, families.freedom(shares))
    alone = np.sqrt((of.squares / n - mean**2) / (n - 1))
    return mean, low, high, significance.student(0, alone, n - 1)[1]


def rates(
    n_families: int,
    most: int,
    icc: float,
    repetitions: int,
    random: np.random.Generator,
    quantiles: Values | None = None,
) -> dict[str, float]:
    """Shares: the sign flips reject, the interval holds 0, and the same as of lone queries."""
    found = {"flips": 0, "covered": 0, "covered by queries": 0}
    for of in drawn(n_families, most, icc, repetitions, random, quantiles):
        # Anew: their noise would be that of all repetitions.
        signs = random.choice([-1.0, 1.0], (n_families, FLIPS))
        seen = np.abs(of.sums.sum(axis=1))[:, None] * (1 - 1e-10)
        p = (1 + np.count_nonzero(np.abs(of.sums @ signs) >= seen, axis=1)) / (1 + FLIPS)
        mean, low, high, alone = intervals(of)
        held = (low <= 0) & (high >= 0)
        for name, some in zip(found, (p <= LEVEL, held, np.abs(mean) <= alone), strict=True):
            found[name] += int(some.sum())
    return {name: count / repetitions for name, count in found.items()}


def table(sizes: tuple[int, ...], repetitions: int, quantiles: Values) -> None:
    say("\n| families | queries each | ICC | differences | test | coverage | by queries |")
    say("|---:|---|---:|---|---:|---:|---:|")
    for n in sizes:
        for most in (1, 10, 50):
            for icc in ICC if most > 1 else (0,):
                for name, of in (("normal", None), ("real", quantiles)):
                    random = np.random.default_rng([n, most, int(10 * icc)])
                    got = rates(n, most, icc, repetitions, random, of)
                    told = " | ".join(f"{rate:.1%}" for rate in got.values())
                    say(f"| {n} | 1 to {most} | {icc} | {name} | {told} |")


def planned(repetitions: int) -> None:
    """Planned number of families for a difference of .2 standard deviations, and how often that
    many find it."""
    say("\n| queries each | ICC | planned families (median) | power |")
    say("|---|---:|---:|---:|")
    for most in (1, 5, 20):
        for icc in (0.2, 0.5):
            random = np.random.default_rng([most, int(10 * icc)])
            plans = []
            for of in drawn(200, most, icc, 400, random):
                mean = intervals(of)[0]
                n = of.sizes.sum(axis=1)
                shares = of.sizes / n[:, None]
                error = families.error(of.sums / n[:, None] - shares * mean[:, None], shares)
                plans.append(power.queries_needed(0.2, error * np.sqrt(200), LEVEL))
            n_families = int(np.median(np.concatenate(plans)))
            hits = 0
            for of in drawn(n_families, most, icc, repetitions, random, mean=0.2):
                hits += np.count_nonzero(intervals(of)[1] > 0)
            say(f"| 1 to {most} | {icc} | {n_families} | {hits / repetitions:.1%} |")


def gate(repetitions: int, quantiles: Values) -> None:
    """At the margin's loss: how often the ends are on either side of it."""
    say("\n| families | queries each | ICC | no worse | worse | by queries: no worse | worse |")
    say("|---:|---|---:|---:|---:|---:|---:|")
    for n in (20, 50, 200):
        for most in (10, 50):
            for icc in ICC:
                random = np.random.default_rng([n, most, int(10 * icc)])
                found = np.zeros(4)
                for of in drawn(n, most, icc, repetitions, random, quantiles, -MARGIN):
                    mean, low, high, alone = intervals(of)
                    ends = low, -high - 2 * MARGIN, mean - alone, -mean - alone - 2 * MARGIN
                    found += [np.count_nonzero(end > -MARGIN) for end in ends]
                told = " | ".join(f"{rate:.2%}" for rate in found / repetitions)
                say(f"| {n} | 1 to {most} | {icc} | {told} |")


def frame(gap: Values) -> DataFrame:
    """Rows of a group for `non_inferiority.decide` with these differences."""
    rows = pd.DataFrame({"baseline": 0.5, "candidate": 0.5 + gap, "part": "d"})
    return rows.reindex(columns=COLUMNS).assign(holes_baseline=0.0, holes_candidate=0.0)


def main(repetitions: int = 10_000, only: str = "") -> None:
    quantiles = np.sort(differences(Store(load()), "nfcorpus", "bm25", "minilm"))
    quantiles = quantiles - quantiles.mean()
    if only in ("", "null"):
        table((20, 50, 200), repetitions, quantiles)
    if only in ("", "few"):
        table((4, 6, 10), repetitions, quantiles)
    if only in ("", "power"):
        planned(repetitions)
    if only in ("", "gate"):
        gate(repetitions, quantiles)


if __name__ == "__main__":
    main(int((sys.argv[1:] or ["10000"])[0]), "".join(sys.argv[2:]))
