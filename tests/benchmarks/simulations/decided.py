"""Is the better of two systems named wrongly when one looks after every judgement?

    python -m tests.benchmarks.simulations.decided --runs FOLDER
        [--repetitions 20] [--seed 0] [--every 1]

FOLDER as `sampled` takes it. Each pair of its runs is sampled as Compare does, for P@10, from no
judgement on; at every number of `deciding.LOOKS` it may be decided. `pairs`: all of them. `mixed`:
of each pair two systems whose lists are exchanged on half of the queries, so that little but chance
is between them. `wrong`: the other system is better; `missed`: the interval of the look, at the
level spent there, does not hold the true difference at one of the looks.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from compute.evaluate.estimates.corrected import corrected, predicted
from compute.evaluate.estimates.frames import Frame
from compute.evaluate.estimates.intervals import Estimates, estimates
from compute.judgements import sampling
from compute.judgements.tasks import deciding
from tests.benchmarks.sampled import World, of_files, world


def exchanged(frame: Frame, seed: int) -> Frame:
    """The two systems with their lists exchanged on half of the queries."""
    half = np.random.default_rng(seed).random(len(frame.queries)) < 0.5
    rows = half[frame.query]
    return replace(frame, rank=np.where(rows[:, None], frame.rank[:, ::-1], frame.rank))


def looked(of: World, seed: int) -> Iterator[tuple[int, Estimates]]:
    """The estimates at every look of one sample."""
    frame, nothing = of.frame, np.zeros(of.frame.n, bool)
    shares = predicted(frame, of.given, np.full(frame.n, np.nan), of.levels)[:, 0]
    size = sampling.sizes(frame, of.of, shares, sampling.DIFFERENCES, 1)
    order = sampling.order(size, nothing, seed)
    for n in deciding.LOOKS:
        if n > len(order.rows):
            return
        grades, batch = np.full(frame.n, np.nan), order.first(n)
        grades[batch.rows] = of.grades[batch.rows]
        sample = corrected(frame, of.given, grades, [batch], of.levels)
        yield n, estimates(frame, of.of, sample)


def judged(of: World, seed: int) -> tuple[str, int, bool]:
    """What was decided (right, wrong or open), after how many, and whether an interval missed."""
    true = float(of.truth[0] - of.truth[1])
    outcome, after, missed = "open", 0, False
    for n, found in looked(of, seed):
        if found.enough:
            row = found.pairs(together=False, level=deciding.SPENT).iloc[0]
            missed |= not row["low"] - 1e-9 <= true <= row["high"] + 1e-9
        decision = deciding.decided(found, n)
        if decision and outcome == "open":
            right = true > 1e-9 if decision.ahead == 0 else true < -1e-9
            outcome, after = "right" if right else "wrong", n
    return outcome, after, missed


def told(name: str, worlds: Sequence[World], repetitions: int, first: int) -> None:
    counts, missed, n = Counter[str](), 0, 0
    within: dict[str, list[float]] = {}
    for one in worlds:
        gap = abs(float(one.truth[0] - one.truth[1]))
        band = next(f"{low:.2f} on" for low in (0.15, 0.10, 0.05, 0.0) if gap >= low)
        for seed in range(first, first + repetitions):
            outcome, after, miss = judged(one, seed)
            counts[outcome] += 1
            missed, n = missed + miss, n + 1
            within.setdefault(band, []).append(after if outcome == "right" else np.inf)
    say(
        f"{name}: {n:,} samples of {len(worlds)} pairs; wrong {counts['wrong'] / n:.2%} of all,"
        f" {counts['wrong'] / max(n - counts['open'], 1):.2%} of decided; missed {missed / n:.2%}"
    )
    for band, after in sorted(within.items(), reverse=True):
        shares = (f"{np.mean(np.array(after) <= k):.0%} within {k}" for k in (100, 200, 400))
        say(f"  difference {band}: {len(after):,} samples, decided rightly {', '.join(shares)}")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(words: Sequence[str]) -> None:
    asking = argparse.ArgumentParser(description=__doc__)
    asking.add_argument("--runs", type=Path, required=True)
    asking.add_argument("--repetitions", type=int, default=20)
    asking.add_argument("--seed", type=int, default=0)
    asking.add_argument("--every", type=int, default=1)
    asked = asking.parse_args(words)
    tops, judgements = of_files(asked.runs)
    worlds, mixed = [], []
    pairs = list(combinations(sorted(tops["system"].unique()), 2))
    for place, two in enumerate(pairs[:: asked.every]):
        lists = tops[tops["system"].isin(two)], judgements
        one = world(" and ".join(two), lists, "P@10", binary=True, half=False)
        worlds.append(one)
        mixed.append(replace(one, frame=exchanged(one.frame, place)))
    told("pairs", worlds, asked.repetitions, asked.seed)
    told("mixed", mixed, asked.repetitions, asked.seed)


if __name__ == "__main__":
    main(sys.argv[1:])
