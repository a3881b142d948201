"""How often intervals and tests over queries and runs err where a system is run several times.

    python -m tests.benchmarks.simulations.repeats [REPETITIONS] [pairs|maxT|gate] [RUNS]

The value of system s on query q in run r is q's value of s, plus b(s, r), plus e(s, q, r): all
normal, the standard deviation of a difference of two systems on a query 1, so that of its mean over
n queries is 1 / sqrt(n); that of b is `spread` times this, that of e `noise`. The true means are
equal. `pairs`: the interval and the test of two systems; its width over that of Student's with the
known variance; the share by queries only. `maxT`: the share of boards of 6 systems, 3 of them with
several runs, on which any pair is called different. `gate`: a candidate that loses the margin. RUNS
takes one number of runs, so that a long simulation can be done in pieces.
"""

import sys
from itertools import product

import numpy as np
import pandas as pd
from pandas import DataFrame
from scipy import stats

from compute.evaluate import significance
from compute.evaluate.distributions import Runs, student
from compute.evaluate.families import Values
from compute.evaluate.non_inferiority import COLUMNS, decide
from compute.evaluate.sign_flips import LEVEL
from tests.benchmarks.side_by_side import say

SPREADS = (0, 0.5, 1, 2, 5)
NOISES = (0, 0.3)
AT_ONCE = 2_000_000


def drawn(
    n: int,
    runs: int,
    spread: float,
    noise: float,
    repetitions: int,
    random: np.random.Generator,
) -> Values:
    """repetitions x runs x n values of a system."""
    of_query = random.standard_normal((repetitions, 1, n)) * np.sqrt(0.5)
    moved = random.standard_normal((repetitions, runs, 1)) * spread / np.sqrt(n)
    return of_query + moved + random.standard_normal((repetitions, runs, n)) * noise


def rates(
    n: int,
    runs: tuple[int, int],
    spread: float,
    noise: float,
    repetitions: int,
    random: np.random.Generator,
) -> dict[str, float]:
    """covered: the interval of a difference holds 0; test: p is below .05; by queries: coverage of
    the interval that ignores runs; width: median, over that with the known variance."""
    found, widths = {"covered": 0, "test": 0, "by queries": 0}, []
    known = (1 + sum(noise**2 / of for of in runs)) / n
    known += sum(spread**2 / n / of for of in runs)
    step = max(1, AT_ONCE // (n * sum(runs)))
    for start in range(0, repetitions, step):
        size = min(step, repetitions - start)
        sides = [drawn(n, of, spread, noise, size, random) for of in runs]
        gaps = sides[0].mean(axis=1) - sides[1].mean(axis=1)
        mean, error = gaps.mean(axis=1), gaps.std(axis=1, ddof=1) / np.sqrt(n)
        variance = np.stack(
            [side.mean(axis=2).var(axis=1, ddof=1) / side.shape[1] for side in sides]
        )
        over = Runs(variance.T, np.broadcast_to(np.array(runs) - 1, (size, 2)))
        half = over.half(error, n - 1, np.full(size, LEVEL))
        p = over.chance(mean, error, np.full(size, n - 1))
        widths.append(half)
        low, high = student(mean, error, n - 1)
        found["covered"] += int((np.abs(mean) <= half).sum())
        found["test"] += int((p <= LEVEL).sum())
        found["by queries"] += int(((low <= 0) & (high >= 0)).sum())
    shares = {name: count / repetitions for name, count in found.items()}
    reach = float(stats.norm.ppf(1 - LEVEL / 2)) * np.sqrt(known)
    return shares | {"width": float(np.median(np.concatenate(widths))) / reach}


def pairs(repetitions: int, numbers: tuple[int, ...]) -> None:
    say("\n| queries | runs | spread | noise | coverage | test | by queries | width |")
    say("|---:|---|---:|---:|---:|---:|---:|---:|")
    for n, runs in product((50, 300), [(of, of) for of in numbers]):
        for spread, noise in product(SPREADS, NOISES):
            random = np.random.default_rng([n, *runs, int(10 * spread), int(10 * noise)])
            got = rates(n, runs, spread, noise, repetitions, random)
            told = " | ".join(f"{got[name]:.1%}" for name in ("covered", "test", "by queries"))
            say(f"| {n} | {runs[0]} each | {spread} | {noise} | {told} | {got['width']:.2f} |")


def boards(repetitions: int, numbers: tuple[int, ...]) -> None:
    """Any pair of six equal systems called different, with three systems of several runs."""
    say("\n| runs | spread | noise | any pair by maxT | ignoring runs |")
    say("|---:|---:|---:|---:|---:|")
    for runs, spread, noise in product(numbers, (0.5, 2), (0.3,)):
        random, wrong = np.random.default_rng([runs, int(10 * spread)]), np.zeros(2)
        for _ in range(repetitions):
            sides = [drawn(50, runs, spread, noise, 1, random)[0] for _ in range(3)]
            others = [drawn(50, 1, 0, 0, 1, random)[0] for _ in range(3)]
            values = np.array([side.mean(axis=0) for side in [*sides, *others]])
            over = Runs.over([[side.mean(axis=1)] for side in [*sides, *others]])
            for place, of in enumerate((over, None)):
                how = {"permutations": 399, "resamples": 0, "runs": of}
                wrong[place] += significance.pairs(values, **how)["p_adjusted"].min() <= LEVEL
        say(
            f"| {runs} | {spread} | {noise} | "
            + " | ".join(f"{of:.1%}" for of in wrong / repetitions)
            + " |"
        )


def frame(gaps: Values, runs: int, spread: float, random: np.random.Generator) -> DataFrame:
    """Rows of a group for `non_inferiority.decide`: a baseline of one run, a candidate of several
    with these mean differences."""
    moved = random.normal(0, spread, (runs, 1)) + gaps
    rows = DataFrame({"baseline": 0.5, "candidate": 0.5 + moved.mean(axis=0), "part": "d"})
    rows = rows.reindex(columns=list(COLUMNS)).assign(holes_baseline=0.0, holes_candidate=0.0)
    by_run = {f"candidate run {number}": 0.5 + of for number, of in enumerate(moved, 1)}
    return pd.concat([rows, DataFrame(by_run)], axis=1)


def gate(repetitions: int, numbers: tuple[int, ...], margin: float = 0.02) -> None:
    say("\n| runs | spread | called no worse | called worse |")
    say("|---:|---:|---:|---:|")
    for runs, spread in product(numbers, (0.005, 0.02)):
        random, found = np.random.default_rng([runs, int(1000 * spread)]), []
        for _ in range(repetitions):
            gaps = random.normal(-margin, 0.1, 100)
            found.append(
                decide({"d": frame(gaps, runs, spread, random)}, margin)["verdict"].iloc[0]
            )
        counts = pd.Series(found).value_counts() / repetitions
        told = " | ".join(f"{counts.get(name, 0):.2%}" for name in ("not worse", "worse"))
        say(f"| {runs} | {spread} | {told} |")


def main(repetitions: int = 10_000, only: str = "", runs: int = 0) -> None:
    numbers = (runs,) if runs else (2, 3, 5)
    if only in ("", "pairs"):
        pairs(repetitions, numbers)
    if only in ("", "maxT"):
        boards(repetitions // 5, numbers)
    if only in ("", "gate"):
        gate(repetitions // 5, numbers)


if __name__ == "__main__":
    given = [*sys.argv[1:], *["", "", ""][len(sys.argv[1:]) :]]
    main(int(given[0] or 10_000), given[1], int(given[2] or 0))
