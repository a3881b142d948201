"""How often `gate` errs over many nights, against the best version so far and against an anchor.

    python -m tests.benchmarks.simulations.nights [REPETITIONS] [best|lost|passed|anchor] [WORLD]

A system has a new version each night, which is compared with all versions before. A query's value
is its own, which cancels, plus the version's deviation. `normal`: of standard deviation .14, so
that differences have .2; `sparse`: drawn from the differences of BM25 and RM3 on SciFact, of which
two thirds are 0, tilted to a mean of 0 (`gate.tilted`), the first version without; `families`:
normal, in families of 1 to 10 with an intraclass correlation of .5; `runs`: normal, three runs of
each version, whose means have a standard deviation of .01.

`best`: 100 nights without any true loss, and 100 whose versions lose the margin against the first:
the share of sequences in which any night is called worse, by `--against best` and, for comparison,
by a test against the version with the best mean, as if that had not been selected. `lost`: after 10
and 100 nights a version loses the margin, against equal versions and against one that is better
than all others by .1: the share called no worse. `passed`: the share of equally good versions that
are, with deviations of .035, after 1, 10 and 100 nights. `anchor`: every version truly loses half
of the margin against the one before (deviations of .035, 1,000 queries), and three margins are
tolerated since the first: the nights beyond that are called no worse.
"""

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

from compute.base.settings import load
from compute.evaluate import families as of_families
from compute.evaluate.distributions import Runs
from compute.evaluate.families import Values
from compute.evaluate.non_inferiority import NOT_WORSE, WORSE, share, tested, verdicts
from compute.evaluate.sign_flips import LEVEL
from compute.store.store import Store
from tests.benchmarks.side_by_side import say
from tests.benchmarks.simulations.gate import MARGIN, World, differences, tilted

NIGHTS = 100
DEVIATION = 0.2 / np.sqrt(2)
SPREAD = 0.01
RUNS = 3
SIZES = (50, 300)
Nights = tuple[NDArray[np.object_], NDArray[np.object_]]
Draw = Callable[[int, int, np.random.Generator], tuple[Values, NDArray[np.int64] | None, Values]]


def normal(versions: int, n: int, random: np.random.Generator) -> tuple[Values, None, Values]:
    return random.normal(0, DEVIATION, (versions, n)), None, np.zeros(versions)


def sparse(world: World) -> Draw:
    def draw(
        versions: int, n: int, random: np.random.Generator
    ) -> tuple[Values, NDArray[np.int64] | None, Values]:
        found = random.choice(world.values, (versions, n), p=world.chances)
        found[0] = 0
        return found, None, np.zeros(versions)

    return draw


def families(
    versions: int, n: int, random: np.random.Generator
) -> tuple[Values, NDArray[np.int64] | None, Values]:
    codes = np.repeat(np.arange(n), random.integers(1, 11, n))[:n]
    of_family = random.normal(0, np.sqrt(0.5), (versions, n))[:, codes]
    return (
        DEVIATION * (of_family + random.normal(0, np.sqrt(0.5), (versions, n))),
        codes,
        np.zeros(versions),
    )


def runs(versions: int, n: int, random: np.random.Generator) -> tuple[Values, None, Values]:
    """With the variance of each version's mean over its runs."""
    values, moved = normal(versions, n, random)[0], random.normal(0, SPREAD, (versions, RUNS))
    return values + moved.mean(axis=1)[:, None], None, moved.var(axis=1, ddof=1) / RUNS


def pairs(
    values: Values,
    codes: NDArray[np.int64] | None,
    later: NDArray[np.int64],
    earlier: NDArray[np.int64],
) -> DataFrame:
    """`baseline.differences` of these pairs of versions, from products instead of the differences
    of all queries, which are five thousand times as many as these."""
    n = values.shape[1]
    codes = np.arange(n) if codes is None else codes
    shares, means = np.bincount(codes) / n, values.mean(axis=1)
    off = of_families.sums(values, codes) / n - shares * means[:, None]
    scaled = off / np.sqrt(1 - shares)
    products = scaled @ scaled.T
    own = np.diag(products)
    squares = own[later] + own[earlier] - 2 * products[later, earlier]
    found = {"difference": means[later] - means[earlier]}
    found["error"] = np.sqrt(np.maximum(squares, 0))
    return DataFrame(found | {"freedom": np.full(len(later), of_families.freedom(shares))})


def told(
    values: Values, codes: NDArray[np.int64] | None, variance: Values, first: int = 1
) -> Nights:
    """The verdict of each night from `first`: against the best true mean, and against the version
    with the best mean."""
    nights = np.arange(first, len(values))
    j = np.repeat(nights, nights)
    i = np.concatenate([np.arange(night) for night in nights])
    part, below = share(j, j), np.full(len(j), LEVEL)
    found = tested(pairs(values, codes, j, i), MARGIN, part)
    low, high, p, mean = (found[name].to_numpy() for name in ("low", "high", "p", "difference"))
    if variance.any():
        freedom = np.full((len(values), 1), RUNS - 1)
        of = Runs(variance[:, None], freedom).pairs(j, i)
        error, degrees = found["error"].to_numpy(), found["freedom"].to_numpy()
        low, high = (
            mean - of.half(error, degrees, below),
            mean + of.half(error, degrees, below * part),
        )
        p = np.where(high < -MARGIN, 0, 1)
    starts = np.cumsum(nights) - nights
    low_of, high_of, p_of = (np.minimum.reduceat(one, starts) for one in (low, high, p))
    selected = starts + [
        int(np.argmin(mean[at : at + n])) for at, n in zip(starts, nights, strict=True)
    ]
    by_mean = 2 * mean[selected] - low[selected]
    alone = verdicts(low[selected], by_mean, np.zeros(len(nights)), MARGIN)
    return verdicts(low_of, high_of, p_of, MARGIN), alone


def best(worlds: dict[str, Draw], repetitions: int) -> None:
    say(f"\nAny of {NIGHTS} nights called worse, {repetitions:,} sequences\n")
    say("| values | queries | true loss | against the best | against the best mean, uncorrected |")
    say("|---|---:|---|---:|---:|")
    for name, draw in worlds.items():
        for n in SIZES:
            for title, loss in (("none", 0.0), ("the margin, against the first", MARGIN)):
                random, wrong = np.random.default_rng([n, int(1000 * loss)]), np.zeros(2)
                for _ in range(repetitions):
                    values, codes, variance = draw(NIGHTS + 1, n, random)
                    values[1:] -= loss
                    wrong += [np.any(np.equal(one, WORSE)) for one in told(values, codes, variance)]
                rates = " | ".join(f"{rate:.1%}" for rate in wrong / repetitions)
                say(f"| {name} | {n} | {title} | {rates} |")


def lost(worlds: dict[str, Draw], repetitions: int) -> None:
    say(f"\nA loss of the margin called no worse, {repetitions:,} sequences\n")
    say("| values | queries | nights before | versions before | no worse | worse |")
    say("|---|---:|---:|---|---:|---:|")
    for name, draw in worlds.items():
        for n in SIZES:
            for before in (10, NIGHTS):
                for title, gap in (("equal", 0.0), ("one better by .1", 0.1)):
                    random, found = np.random.default_rng([n, before, int(10 * gap)]), []
                    for _ in range(repetitions):
                        values, codes, variance = draw(before + 1, n, random)
                        values[1:-1] -= gap
                        values[-1] -= MARGIN
                        found += list(told(values, codes, variance, before)[0])
                    rates = (found.count(one) / repetitions for one in (NOT_WORSE, WORSE))
                    shown = " | ".join(f"{rate:.1%}" for rate in rates)
                    say(f"| {name} | {n} | {before} | {title} | {shown} |")


def passed(repetitions: int) -> None:
    say(f"\nEqually good versions called no worse, {repetitions:,} sequences\n")
    say("| queries | after 1 night | after 10 | after 100 |")
    say("|---:|---:|---:|---:|")
    for n in (300, 1_000):
        random, rates = np.random.default_rng(n), []
        for before in (1, 10, NIGHTS):
            found = []
            for _ in range(repetitions):
                values = random.normal(0, 0.035, (before + 1, n))
                found += list(told(values, None, np.zeros(before + 1), before)[0])
            rates.append(f"{found.count(NOT_WORSE) / repetitions:.0%}")
        say(f"| {n} | {' | '.join(rates)} |")


def anchor(repetitions: int, n: int = 1_000, nights: int = 20, total: float = 3 * MARGIN) -> None:
    say(
        f"\nNights beyond the total called no worse, {repetitions:,} sequences of {nights} nights\n"
    )
    say("| compared with | nights | sequences with any |")
    say("|---|---:|---:|")
    random, beyond = np.random.default_rng(n), int(2 * total / MARGIN)
    kept = np.zeros((2, repetitions, nights), bool)
    for place in range(repetitions):
        values = random.normal(0, 0.035, (nights + 1, n))
        values -= MARGIN / 2 * np.arange(nights + 1)[:, None]
        later = np.arange(1, nights + 1)
        for at, (earlier, margin) in enumerate(((later - 1, MARGIN), (later * 0, total))):
            found = tested(pairs(values, None, later, earlier), margin)
            verdict = verdicts(found["low"], found["high"], found["p"], margin)
            kept[at, place] = np.equal(verdict, NOT_WORSE)
    before, both = kept[0][:, beyond:], np.logical_and(*kept)[:, beyond:]
    for title, one in (("the night before", before), ("and with the anchor", both)):
        say(f"| {title} | {one.mean():.1%} | {one.any(axis=1).mean():.1%} |")


def main(repetitions: int = 1_000, only: str = "", world: str = "") -> None:
    real = tilted("sparse", differences(Store(load()), "scifact", "bm25", "bm25-rm3"), 0)
    worlds = {"normal": normal, "sparse": sparse(real), "families": families, "runs": runs}
    worlds = {name: draw for name, draw in worlds.items() if world in ("", name)}
    if only in ("", "best"):
        best(worlds, repetitions)
    if only in ("", "lost"):
        lost(worlds, repetitions)
    if only in ("", "passed"):
        passed(repetitions)
    if only in ("", "anchor"):
        anchor(repetitions)


if __name__ == "__main__":
    given = [*sys.argv[1:], *["", "", ""][len(sys.argv[1:]) :]]
    main(int(given[0] or 1_000), given[1], given[2])
