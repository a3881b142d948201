"""Do the intervals of an audit hold the share of labels that a second look would grade differently,
and do orders flip as often as is said?

    python -m tests.benchmarks.simulations.audits [--home HOME --dataset NAME --systems A B …]
        [--repetitions 1000] [--keys 150] [--part rates strata keys errors] [--rates 2 5 10]
        [--draws 200] [--from 0] [--seconds N]

Errors are planted in labels of which the truth is known, in 2, 5 and 10% of all: `anywhere`, all on
pairs in the top 10 of `one` system, or all in one query of five (`clustered`). Then an audit is
drawn and answered by the truth. Without a home the worlds are made up: 50 queries, five close
systems, about 900 pairs of which half are relevant, another world in each repetition. With one the
official judgements of a dataset in the top 10 of systems are the truth, and each repetition takes
half of the queries, so that orders differ. `--seconds` ends early, and `--from` goes on there.

`rates`: how often 95% intervals hold the share of all labels that the truth grades differently, by
official grade (1,000 repetitions are precise to 1.4 points); and said chances of a flip of two
systems, beside how often the order by the truth is the other one (without them: `--draws 0`).
`strata`: the same intervals, of errors planted in strata of such sizes, anywhere or in one of them.
`keys`: labels of one stratum, with as many keys as are told for 4 points; how often the interval is
so narrow. `errors`: the auditor errs on 5% of the keys; how many labels differ then, and how often
intervals hold that share, and after adjudication the share of wrong labels.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from pandas import DataFrame

from compute.base.settings import Settings
from compute.evaluate import tolerance
from compute.evaluate.estimates import label_errors
from compute.evaluate.estimates.frames import Flags, Frame, Values, of_lists
from compute.evaluate.estimates.label_order import survival
from compute.judgements.tasks import audited, auditing
from compute.judgements.tasks.audited import Audit
from compute.judgements.tasks.grades import of_levels
from compute.reading.database import open_version
from compute.store.store import Store
from compute.views.annotate.select import StoredTops, judged
from tests.benchmarks.side_by_side import say

MEASURE, DEPTH = "nDCG@10", 10
PLANTED = ("anywhere", "one", "clustered")
BINS = (0.0, 0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
ERRS = 0.05


@dataclass(frozen=True)
class World:
    """Pairs of which the true grade is known."""

    frame: Frame
    truth: Values
    """(N,) NaN where nothing is judged."""

    def planted(self, rate: float, where: str, random: np.random.Generator) -> Values:
        """(N,) Labels: the truth with errors in this share of them."""
        there = ~np.isnan(self.truth)
        some = there.copy()
        if where == "one":
            rank = self.frame.rank[:, int(random.integers(self.frame.rank.shape[1]))]
            some &= (rank > 0) & (rank <= DEPTH)
        if where == "clustered":
            few = random.permutation(len(self.frame.queries))[: len(self.frame.queries) // 5]
            some &= np.isin(self.frame.query, few)
        chance = min(1.0, rate * there.sum() / max(some.sum(), 1))
        return self.erred(some & (random.random(self.frame.n) < chance), random)

    def erred(self, which: Flags, random: np.random.Generator) -> Values:
        """(N,) The truth with another grade where `which` says."""
        levels = np.unique(self.truth[~np.isnan(self.truth)])
        levels = levels if len(levels) > 1 else np.array([0.0, levels[0]])
        place = np.searchsorted(levels, np.nan_to_num(self.truth))
        other = (place + random.integers(1, len(levels), self.frame.n)) % len(levels)
        return np.where(which, levels[other], self.truth)


def made_up(seed: int, n_queries: int = 50, n_systems: int = 5) -> World:
    """Systems that are nearly level, another world for each seed."""
    random = np.random.default_rng([seed, 5])
    worth = random.gamma(0.6, size=(n_queries, 3 * DEPTH))
    shared, rows = random.normal(0, 0.5, worth.shape), []
    for system in range(n_systems):
        own = random.normal(0, 0.5 + 0.04 * random.random() * system, worth.shape)
        for query, order in enumerate(np.argsort(-(worth + shared + own), axis=1)):
            rows += [
                (f"s{system}", f"q{query:03}", f"d{place:03}", rank)
                for rank, place in enumerate(order, start=1)
            ]
    tops = DataFrame(rows, columns=["system", "query_id", "doc_id", "rank"])
    frame = of_lists(tops, sorted(tops["query_id"].unique()), DEPTH)
    place = frame.pairs["doc_id"].str[1:].astype(int).to_numpy()
    return World(frame, (worth[frame.query, place] > 0.8).astype(float))


def stored(home: Path, dataset: str, systems: list[str]) -> tuple[Frame, DataFrame]:
    """The lists of systems, and the official judgements."""
    cursor = open_version(Store(Settings(home=home, threads=1))).cursor()
    return StoredTops(cursor, dataset).frame(systems, DEPTH), judged(cursor, dataset)


def half(frame: Frame, truth: Values, seed: int) -> World:
    """Half of the queries."""
    random = np.random.default_rng([seed, 6])
    n_queries = len(frame.queries)
    chosen = np.sort(random.permutation(n_queries)[: (n_queries + 1) // 2])
    rows = np.isin(frame.query, chosen)
    pairs, query = frame.pairs[rows].reset_index(drop=True), np.searchsorted(chosen, frame.query)
    queries = tuple(frame.queries[place] for place in chosen)
    own = Frame(frame.systems, queries, pairs, query[rows], frame.rank[rows], DEPTH)
    return World(own, truth[rows])


def audit(
    world: World, labels: Values, seen: Values, seed: int, keys: int, *, adjudicated: bool = False
) -> Audit:
    """An audit of labels by the grades that are seen; the truth settles disagreements."""
    frame, there = world.frame, ~np.isnan(labels)
    given = _judgements(frame, labels).assign(official=True)
    n_others = min(round(keys * auditing.UNJUDGED / (1 - auditing.UNJUDGED)), int((~there).sum()))
    sample = auditing.draw(frame, given, keys + n_others, seed)
    differ = there & (seen != labels)
    settled = _judgements(frame, np.where(differ & adjudicated, world.truth, np.nan))
    grades = of_levels([int(grade) for grade in np.unique(world.truth[there])])
    second = _judgements(frame, seen)
    return audited.of(sample, len(sample.pairs), given, second, settled, grades)


def _judgements(frame: Frame, grades: Values) -> DataFrame:
    there = ~np.isnan(grades)
    return frame.pairs[there].assign(relevance=grades[there].astype(int))


Worlds = Iterator[tuple[int, World]]


Held = dict[str, list[tuple[bool, bool, bool, float]]]


def rates(worlds: Worlds, rate: float, where: str, keys: int, draws: int) -> None:
    """How often the intervals of disagreement hold, by official grade; and, with draws, said
    chances of a flip, and how often the order by the truth is another."""
    held: Held = {}
    said: list[float] = []
    real: list[bool] = []
    for seed, world in worlds:
        random = np.random.default_rng([seed, 7])
        labels = world.planted(rate, where, random)
        found = audit(world, labels, world.truth, seed, keys)
        _hold(held, found, labels, labels != world.truth)
        looked = found.order(world.frame, _judgements(world.frame, labels))
        if draws and looked is not None:
            pairs = survival(looked, MEASURE, draws)[1].dropna(subset="flip")
            true = dict(zip(world.frame.systems, looked.scores(world.truth, MEASURE), strict=True))
            said += pairs["flip"].tolist()
            real += tolerance.above(pairs["b"].map(true), pairs["a"].map(true)).tolist()
    _say(f"rates, {rate:.0%} {where}", held)
    if said:
        _calibrated(f"order, {rate:.0%} {where}", np.array(said), np.array(real, float))


def _calibrated(name: str, chance: Values, flipped: Values) -> None:
    told = [f"all {chance.mean():.1%} said, {flipped.mean():.1%} flipped"]
    for low, high in pairwise(BINS):
        some = (chance >= low) & ((chance < high) | (high == 1))
        if some.any():
            told.append(f"{chance[some].mean():.0%} → {flipped[some].mean():.0%} ({some.sum():,})")
    say(f"{name}: " + "; ".join(told))


def _hold(
    held: Held,
    found: Audit,
    labels: Values,
    wrong: Flags,
    ends: tuple[str, str] = ("low", "high"),
) -> None:
    for row in found.rates().to_dict("records"):
        grade = str(row["labels"]).partition(" ")[0]
        if not grade.isdigit():
            continue
        real = wrong[labels == float(grade)].mean()
        low, high = (row[end] for end in ends)
        inside = low - 1e-9 <= real <= high + 1e-9
        told = (inside, real < low - 1e-9, real > high + 1e-9, (high - low) / 2)
        held.setdefault(grade, []).append(told)


def _say(name: str, held: Held) -> None:
    for grade, rows in sorted(held.items()):
        inside, below, above, reach = np.mean(rows, axis=0)
        say(
            f"{name}, label {grade}: held {inside:.1%} (below {below:.1%}, above {above:.1%}),"
            f" half-width {reach:.1%}, {len(rows)} repetitions"
        )


def keys_needed(rate: float, repetitions: int) -> None:
    """Labels of one stratum, with the number of keys that is told for 4 points."""
    for size in (500, 2_000, 20_000):
        n = label_errors.needed(size, rate)
        random, narrow, held = np.random.default_rng([size, 8]), 0, 0
        for _ in range(repetitions):
            wrong = random.binomial(size, rate)
            found = np.array([random.hypergeometric(wrong, size - wrong, n)])
            low, high = label_errors.interval(np.array([size]), np.array([n]), found, found)
            narrow += (high - low) / 2 <= label_errors.WITHIN
            held += low <= wrong / size <= high
        say(
            f"keys, {rate:.0%} of {size:,}: {n} keys; within 4 points in"
            f" {narrow / repetitions:.1%}, held {held / repetitions:.1%}"
        )


def strata(rate: float, where: str, keys: int, repetitions: int) -> None:
    """Strata as in made-up worlds, without their pairs: errors anywhere, or all in one stratum."""
    worlds = [made_up(seed) for seed in range(10)]
    plans = [auditing.strata(one.frame, _judgements(one.frame, one.truth), keys) for one in worlds]
    held: Held = {}
    for seed in range(repetitions):
        plan, random = plans[seed % len(plans)], np.random.default_rng([seed, 9])
        for grade in (0.0, 1.0):
            own = np.unique(plan.stratum[plan.labels == grade])
            sizes, n = plan.sizes[own], plan.n[own]
            wrong = random.binomial(sizes, rate)
            if where == "one":
                number = random.integers(len(own))
                wrong = np.where(np.arange(len(own)) == number, wrong.sum(), 0).clip(max=sizes)
            found = random.hypergeometric(wrong, sizes - wrong, n)
            low, high = label_errors.interval(sizes, n, found, found)
            real = wrong.sum() / sizes.sum()
            inside = low - 1e-9 <= real <= high + 1e-9
            told = (inside, real < low - 1e-9, real > high + 1e-9, (high - low) / 2)
            held.setdefault(f"{grade:g}", []).append(told)
    _say(f"strata, {rate:.0%} {where}", held)


def errors(worlds: Worlds, rate: float, where: str, keys: int) -> None:
    """The auditor errs on 5% of the keys."""
    differ: Held = {}
    wrong: Held = {}
    told, real = [], []
    for seed, world in worlds:
        random = np.random.default_rng([seed, 7])
        labels = world.planted(rate, where, random)
        seen = world.erred(random.random(world.frame.n) < ERRS, random)
        found = audit(world, labels, seen, seed, keys, adjudicated=True)
        _hold(differ, found, labels, labels != seen)
        _hold(wrong, found, labels, labels != world.truth, ("wrong_low", "wrong_high"))
        there = ~np.isnan(labels)
        told.append((labels != seen)[there].mean())
        real.append((labels != world.truth)[there].mean())
    say(f"errors, {rate:.0%} {where}: {np.mean(real):.1%} wrong, {np.mean(told):.1%} differ")
    _say(f"errors, {rate:.0%} {where}, disagreement", differ)
    _say(f"errors, {rate:.0%} {where}, wrong labels", wrong)


def worlds(asked: argparse.Namespace) -> Worlds:
    made = made_up
    if asked.home is not None:
        frame, official = stored(asked.home, asked.dataset, asked.systems)
        made = partial(half, frame, frame.grades(official))
    end = time.monotonic() + asked.seconds
    for seed in range(asked.first, asked.first + asked.repetitions):
        if time.monotonic() > end:
            return
        yield seed, made(seed)


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path)
    parser.add_argument("--dataset", default="")
    parser.add_argument("--systems", nargs="+", default=[])
    parser.add_argument("--repetitions", type=int, default=1_000)
    parser.add_argument("--keys", type=int, default=150)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=np.inf)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--part", nargs="+", default=["rates", "strata", "keys", "errors"])
    parser.add_argument("--rates", nargs="+", type=int, default=[2, 5, 10])
    parser.add_argument("--where", nargs="+", choices=PLANTED, default=list(PLANTED[:2]))
    asked = parser.parse_args(words)
    for rate in (percent / 100 for percent in asked.rates):
        if "keys" in asked.part:
            keys_needed(rate, asked.repetitions)
        for where in asked.where:
            if "strata" in asked.part:
                strata(rate, where, asked.keys, asked.repetitions)
            if "rates" in asked.part:
                rates(worlds(asked), rate, where, asked.keys, asked.draws)
            if "errors" in asked.part:
                errors(worlds(asked), rate, where, asked.keys)


if __name__ == "__main__":
    main(sys.argv[1:])
