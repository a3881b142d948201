"""Is the better of two systems named wrongly when one looks after every judgement?

    python -m tests.benchmarks.simulations.decided --runs FOLDER | --dataset NAME
        [--repetitions 20] [--seed 0] [--every 1]

FOLDER and NAME as `sampled` takes them. Each pair of its runs is sampled as Compare does, for P@10,
from no judgement on, in a batch up to each of 100, 200, 400 … judgements; at every number of
`deciding.LOOKS` it may be decided. `pairs`: all of them. `mixed`: of each pair two systems whose
lists are exchanged on half of the queries, so that little but chance is between them. `sparse`:
seven in ten relevant documents made not relevant. `wrong`: the other system is better; `missed`:
the interval of the look, at the level spent there, does not hold the true difference at one of the
looks. `coverage`: of the interval that is shown when a pair is decided, over what was decided; and
over all samples, at the decision or, where none came, at the last look: mean, and the pair with the
lowest upper end of a 99.9% Monte Carlo interval.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
from pandas import DataFrame
from scipy import stats

from compute.evaluate.estimates.corrected import corrected, predicted
from compute.evaluate.estimates.frames import Frame
from compute.evaluate.estimates.intervals import Estimates, estimates
from compute.judgements import sampling
from compute.judgements.tasks import deciding
from tests.benchmarks.sampled import World, of_files, of_shipped, world

BATCHES = (100, 200, 400, 800, 1600)
BANDS = (0.15, 0.10, 0.05, 0.0)
DEEP = 1e-9


def exchanged(frame: Frame, seed: int) -> Frame:
    """The two systems with their lists exchanged on half of the queries."""
    half = np.random.default_rng(seed).random(len(frame.queries)) < 0.5
    rows = half[frame.query]
    return replace(frame, rank=np.where(rows[:, None], frame.rank[:, ::-1], frame.rank))


def looked(of: World, seed: int) -> Iterator[tuple[int, Estimates]]:
    """The estimates at every look of one sample; none once all that differ is judged."""
    frame, goal = of.frame, (sampling.DIFFERENCES, 1)
    grades, drawn, done = np.full(frame.n, np.nan), [], 0
    for until in BATCHES:
        shares = predicted(frame, of.given, grades, of.levels)[:, 0]
        size = sampling.sizes(frame, of.of, shares, *goal)
        known = ~np.isnan(grades)
        order = sampling.order(np.where(known, 0, size), known, seed * len(BATCHES) + len(drawn))
        for n in (n for n in deciding.LOOKS if done < n <= until):
            if n - done >= len(order.rows):
                return
            now = grades.copy()
            now[order.rows[: n - done]] = of.grades[order.rows[: n - done]]
            batches = sampling.together(frame, of.of, [*drawn, (order, n - done)], *goal)
            sample = corrected(frame, of.given, now, batches, of.levels)
            yield n, estimates(frame, of.of, sample)
        drawn.append((order, until - done))
        rows, done = order.rows[: until - done], until
        grades[rows] = of.grades[rows]


@dataclass
class Walk:
    """One sample, from the first look to the last."""

    gap: float
    outcome: str = "open"
    """right, wrong or open."""
    after: float = np.inf
    """Judgements at the decision."""
    missed: bool = False
    held: bool = True
    """Whether the interval at the decision, or at the last look, holds the true difference."""


def judged(of: World, seed: int) -> Walk:
    true = float(of.truth[0] - of.truth[1])
    walk = Walk(abs(true))
    for n, found in looked(of, seed):
        row = found.pairs(together=False, level=deciding.LOOKS[n]).iloc[0]
        held = bool(row["low"] - DEEP <= true <= row["high"] + DEEP)
        known = min(found.n_relevant, found.n_not_relevant) >= deciding.FEWEST
        walk.missed |= known and not held
        if walk.outcome == "open" and known:
            walk.held = held
            if decision := deciding.decided(found, n):
                right = true > DEEP if decision.ahead == 0 else true < -DEEP
                walk.outcome, walk.after = "right" if right else "wrong", n
    return walk


def told(name: str, worlds: Sequence[World], repetitions: int, first: int) -> None:
    rows = [
        {"pair": place, **vars(judged(one, seed))}
        for place, one in enumerate(worlds)
        for seed in range(first, first + repetitions)
    ]
    walks = DataFrame(rows)
    decided = walks[walks["outcome"] != "open"]
    wrong = walks["outcome"].eq("wrong")
    say(
        f"{name}: {len(walks):,} samples of {len(worlds)} pairs; decided"
        f" {len(decided) / len(walks):.1%}; wrong {wrong.mean():.2%} of all,"
        f" {wrong.sum() / max(len(decided), 1):.2%} of decided; missed {walks['missed'].mean():.2%}"
    )
    say(f"  coverage of decided {_held(decided)}; of all {_held(walks)}")
    for low, high in zip(BANDS, (np.inf, *BANDS), strict=False):
        some = walks[(walks["gap"] >= low - DEEP) & (walks["gap"] < high - DEEP)]
        if len(some):
            after = some["after"].where(some["outcome"].eq("right"), np.inf)
            shares = (f"{after.le(k).mean():.0%} within {k}" for k in BATCHES)
            say(f"  difference {low:.2f} on: {len(some):,} samples, right {', '.join(shares)}")


def _held(walks: DataFrame) -> str:
    """Mean coverage, and the lowest upper limit of pairs."""
    by_pair = walks.groupby("pair")["held"].agg(["sum", "count"])
    upper = stats.beta.ppf(0.9995, by_pair["sum"] + 1, by_pair["count"] - by_pair["sum"])
    return f"{walks['held'].mean():.1%} (lowest upper limit {np.nanmin([1.0, *upper]):.1%})"


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(words: Sequence[str]) -> None:
    asking = argparse.ArgumentParser(description=__doc__)
    source = asking.add_mutually_exclusive_group(required=True)
    source.add_argument("--runs", type=Path)
    source.add_argument("--dataset")
    asking.add_argument("--repetitions", type=int, default=20)
    asking.add_argument("--seed", type=int, default=0)
    asking.add_argument("--every", type=int, default=1)
    asked = asking.parse_args(words)
    tops, judgements = of_files(asked.runs) if asked.runs else of_shipped(asked.dataset)
    found: dict[str, list[World]] = {"pairs": [], "mixed": [], "sparse": []}
    pairs = list(combinations(sorted(tops["system"].unique()), 2))
    for place, two in enumerate(pairs[:: asked.every]):
        lists = tops[tops["system"].isin(two)], judgements
        one = world(" and ".join(two), lists, "P@10", binary=True, half=False)
        if len(one.frame.systems) < 2:
            continue  # A system without lists of these queries.
        found["pairs"].append(one)
        found["mixed"].append(replace(one, frame=exchanged(one.frame, place)))
        kept = np.random.default_rng([place, 1]).random(one.frame.n) < 0.3
        found["sparse"].append(replace(one, grades=np.where(kept, one.grades, 0.0)))
    for name, worlds in found.items():
        told(name, worlds, asked.repetitions, asked.seed)


if __name__ == "__main__":
    main(sys.argv[1:])
