"""Do estimates from sampled judgements hold what they promise, and what do they save?

    python -m tests.benchmarks.sampled [--runs FOLDER] [--repetitions 1000] [--dataset NAME …]
        [--measure P@10 nDCG@10 AP@100] [--binary] [--half]
        [--part coverage factors stop naive shares grades others on like wanted]

Pairs of which all grades are known are drawn again and again, and it is counted how often 95%
intervals hold the true score. `--runs` holds runs (`*.gz`) and `qrels.txt.gz`, as the TREC-COVID
round 1 archive has them; a dataset is one that ships with the project. What nobody judged counts
as judged not relevant. `--half`: half of the pool is given as official judgements. `shares` needs
no runs: it makes up small collections of which a share is relevant, wherever systems rank it.
`grades` makes up collections of 2 to 5 grades, whose queries differ in how many documents reach the
upper ones. `others` draws for the first measure and reads all the others from the same sample.
`on`: 100 pairs are drawn of the lists of all systems but four; then 300 pairs that most systems
have are judged elsewhere, and more are drawn of the lists of all. `like` needs no runs: each
repetition has other queries, and it is counted how often the interval for queries like these holds
the mean of all.
`wanted`: how many judgements more are predicted for a half-width, and the widest one with so many.

`rel`: relevant pairs in the sample, on average. Half-widths are means over systems, or pairs:
`true` is 1.96 standard deviations of the estimates. `bias` is the largest over systems, in parts
of the half-width. Coverage: mean, lowest and highest over systems, or pairs.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from compute.datasets.qrels import read_qrels
from compute.evaluate.estimates import prediction
from compute.evaluate.estimates.corrected import (
    Batch,
    Corrected,
    by_guess,
    corrected,
    levels_of,
    predicted,
)
from compute.evaluate.estimates.frames import Flags, Frame, Values, of_lists
from compute.evaluate.estimates.intervals import FEWEST, Estimates, estimates
from compute.evaluate.estimates.linearised import Kind, kind, linear
from compute.evaluate.runs import canonical
from compute.exports.shipping import FORMAT
from compute.judgements import orders, sampling
from compute.store.store import SHIPPED
from tests.benchmarks.made.graded import graded
from tests.evaluate.estimates.made import drawn
from tests.support.ranked_lists import read_trec

SIZES = (50, 100, 200, 400, 800)
NORMAL = stats.norm.isf(0.025)


@dataclass(frozen=True)
class World:
    """A frame of which every grade is known."""

    name: str
    frame: Frame
    grades: Values
    of: Kind
    official: Flags
    """The rows whose grade is known before anything is drawn."""

    @cached_property
    def given(self) -> Values:
        return prediction.features(self.frame)

    @cached_property
    def levels(self) -> Values:
        return levels_of(self.grades)

    @cached_property
    def truth(self) -> Values:
        """(S,)"""
        reached = (self.grades[:, None] >= self.levels).astype(np.float64)
        steps = np.diff(self.levels, prepend=0.0)
        return linear(self.frame, self.of, reached, steps, self.levels).values.mean(axis=1)

    @cached_property
    def gain(self) -> Values:
        """(N,)"""
        reached = (self.grades[:, None] >= self.levels).astype(np.float64)
        return reached @ self.of.gains(np.diff(self.levels, prepend=0.0), self.levels)

    @cached_property
    def size(self) -> Values:
        """What pairs are drawn by before the first judgement."""
        grades = np.where(self.official, self.grades, np.nan)
        shares = predicted(self.frame, self.given, grades, self.levels)[:, 0]
        return np.where(self.official, 0, sampling.sizes(self.frame, self.of, shares))

    @property
    def measure(self) -> str:
        return self.name.split(", ")[1]


Step = tuple[int, Estimates]


def sampled(world: World, seed: int, until: int, goal: str = sampling.SCORES) -> Iterator[Step]:
    """Judge batch after batch as a task does: the number judged and the estimates after each."""
    for done, found in drawn_on(world, seed, until, goal):
        yield done, estimates(world.frame, world.of, found)


def drawn_on(
    world: World, seed: int, until: int, goal: str = sampling.SCORES
) -> Iterator[tuple[int, Corrected]]:
    """The same, and what stands for the grades after each."""
    known, grades = world.official.copy(), np.where(world.official, world.grades, np.nan)
    size, done, batches = world.size, 0, []
    while done < min(until, int((~world.official).sum())):
        most = next((n for n in SIZES if n > done), until)
        n = min(done + max(sampling.SMALLEST_BATCH, done // 2), most, until)
        n = most if most - n < sampling.SMALLEST_BATCH / 2 else n
        order = sampling.order(size, known, seed * 100_003 + done)
        batches.append(order.first(n - done, sampling.weight(world.size, done, n)))
        grades[batches[-1].rows] = world.grades[batches[-1].rows]
        known[batches[-1].rows], done = True, n
        found = corrected(world.frame, world.given, grades, batches, world.levels)
        yield done, found
        size = sampling.sizes(world.frame, world.of, found.about[:, 0], goal, 0)


def without(world: World, seed: int, n: int, *, weighted: bool, helped: bool) -> Values:
    """(S,) Means by one sample of n: chances equal or by size, with prediction or without.

    Without prediction by Hájek's estimator: the weighted mean of the grades in each system's list.
    """
    size = world.size if weighted else (world.size > 0).astype(np.float64)
    batch = sampling.order(size, world.official, seed).first(n)
    if helped:
        grades = np.where(world.official, world.grades, np.nan)
        grades[batch.rows] = world.grades[batch.rows]
        found = corrected(world.frame, world.given, grades, [batch], world.levels)
        return estimates(world.frame, world.of, found).means
    return _hajek(world, batch)


def _hajek(world: World, batch: Batch) -> Values:
    """Of measures that are sums alone."""
    shares = np.zeros((world.frame.n, 1))
    moves = linear(world.frame, world.of, shares, np.ones(1), np.ones(1)).moves[:, :, 0]
    moves /= len(world.frame.queries)
    fixed = moves[world.official].T @ world.gain[world.official]
    left, drawn = moves[~world.official].sum(axis=0), moves[batch.rows]
    over = drawn / batch.chances[batch.rows, None]
    total = over.sum(axis=0)
    found = np.divide(
        over.T @ world.gain[batch.rows], total, out=np.zeros(len(total)), where=total > 0
    )
    return fixed + found * left


@dataclass(frozen=True)
class Told:
    """Estimates of many repetitions at one number of judgements, all minus the truth."""

    error: Values
    """(repetitions, S)"""
    ends: Values
    """(2, repetitions, S) Of the intervals."""
    pair_error: Values
    """(repetitions, pairs)"""
    pair_ends: Values
    relevant: Values

    @classmethod
    def of(cls, found: Sequence[Estimates], truth: Values) -> "Told":
        """`truth`: (S,), or (repetitions, S) where it is another in each."""
        a, b = np.triu_indices(truth.shape[-1], 1)
        scores = [one.scores() for one in found]
        pairs = [one.pairs(together=False) for one in found]
        ends = np.array([[one[end] for one in scores] for end in ("low", "high")]) - truth
        pair_ends = np.array([[one[end] for one in pairs] for end in ("low", "high")])
        pair_ends -= truth[..., a] - truth[..., b]
        error = np.array([one.means for one in found]) - truth
        relevant = np.array([one.n_relevant for one in found])
        return cls(error, ends, error[:, a] - error[:, b], pair_ends, relevant)

    @property
    def reach(self) -> Values:
        """(repetitions, S) Half-widths."""
        return (self.ends[1] - self.ends[0]) / 2

    def row(self) -> dict[str, str]:
        true, reach = NORMAL * self.error.std(axis=0), self.reach.mean(axis=0)
        bias = np.abs(self.error.mean(axis=0)) / np.maximum(reach, 1e-12)
        pair_reach = (self.pair_ends[1] - self.pair_ends[0]).mean() / 2
        return {
            "rel": f"{self.relevant.mean():.0f}",
            "true": f"{true.mean():.4f}",
            "half-width": f"{reach.mean():.4f}",
            "bias": f"{bias.max():.3f}",
            "coverage": _held(self.ends),
            "of pairs": _held(self.pair_ends),
            "half-width of pairs": f"{pair_reach:.4f}",
        }


def _held(ends: Values) -> str:
    """Mean (lowest to highest) share of intervals that hold the truth, of those with a width."""
    some = ends[1] - ends[0] > 2e-9
    held = (some & (ends[0] <= 0) & (ends[1] >= 0)).sum(axis=0) / np.maximum(some.sum(axis=0), 1)
    held = held[some.any(axis=0)]
    return f"{held.mean():.1%} ({held.min():.1%} to {held.max():.1%})"


def coverage(world: World, repetitions: int) -> None:
    found: dict[int, list[Estimates]] = {n: [] for n in SIZES}
    for seed in range(repetitions):
        for n, one in sampled(world, seed, max(SIZES)):
            if n in found:
                found[n].append(one)
    rows = {n: Told.of(some, world.truth).row() for n, some in found.items() if some}
    table(f"{world.name}: coverage, {repetitions} repetitions", rows)


def others(worlds: Sequence[World], repetitions: int) -> None:
    """Of samples drawn for the first: of all, and of those that are enough for an interval."""
    first, rows = worlds[0], {}
    found: dict[tuple[str, int], list[Estimates]] = {}
    for seed in range(repetitions):
        for n, sample in drawn_on(first, seed, max(SIZES)):
            if n in SIZES:
                for one in worlds:
                    here = estimates(one.frame, one.of, sample)
                    found.setdefault((one.measure, n), []).append(here)
    truths = {one.measure: one.truth for one in worlds}
    for (name, n), some in sorted(found.items(), key=lambda item: list(truths).index(item[0][0])):
        shown = [one for one in some if one.enough]
        row = Told.of(some, truths[name]).row() | {"shown": f"{len(shown) / len(some):.1%}"}
        if shown:
            told = Told.of(shown, truths[name]).row()
            row |= {f"{one}, shown": told[one] for one in ("coverage", "of pairs")}
        rows[f"{name}, {n}"] = row
    table(f"{first.name}: read as other measures, {repetitions} repetitions", rows)


LATER, ELSEWHERE, FIRST_N = 4, 300, 100


def on(world: World, repetitions: int) -> None:
    rows = {}
    for more in (0, 25, 50, 100, 200, 400):
        found = [went_on(world, seed, more) for seed in range(repetitions)]
        told = Told.of(found, world.truth)
        rows[more] = told.row()
        for name, which in (("older", slice(None, -LATER)), ("later", slice(-LATER, None))):
            rows[more][name] = _held(told.ends[..., which])
        rows[more]["shown"] = f"{np.mean([one.enough for one in found]):.1%}"
    table(f"{world.name}: sampled on after {FIRST_N}, {repetitions} repetitions", rows)


def went_on(world: World, seed: int, more: int) -> Estimates:
    """After a second batch of so many."""
    frame, some = world.frame, world.frame.systems[:-LATER]
    inside = np.zeros(frame.n, bool)
    inside[frame.rows(frame.part(some).pairs)] = True
    first = sampling.order(np.where(inside, world.size, 0), world.official, seed)
    first = replace(first, known=np.flatnonzero(world.official & inside))
    known = world.official.copy()
    known[first.rows[:FIRST_N]] = True
    known[np.argsort(-(frame.rank > 0).sum(axis=1), kind="stable")[:ELSEWHERE]] = True
    grades = np.where(known, world.grades, np.nan)
    shares = predicted(frame, world.given, grades, world.levels)[:, 0]
    second = sampling.order(sampling.sizes(frame, world.of, shares), known, seed + 1_000_003)
    grades[second.rows[:more]] = world.grades[second.rows[:more]]
    batches = sampling.together(frame, world.of, [(first, FIRST_N), (second, more)])
    return estimates(frame, world.of, corrected(frame, world.given, grades, batches, world.levels))


SHARES = (0.02, 0.1, 0.5, 0.7, 0.9, 0.95, 0.98)


def shares(measure: str, repetitions: int) -> None:
    """Of every sample, and of those that are enough for an interval: only these are shown."""
    rows = {}
    for share in SHARES:
        for n in (100, 200):
            found, truth = made_up(measure, share, n, repetitions)
            enough = np.array([one.enough for one in found])
            row = {"shown": f"{enough.mean():.1%}"}
            row["coverage of all"] = Told.of(found, truth).row()["coverage"]
            if enough.any():
                shown = [one for one in found if one.enough]
                row |= Told.of(shown, truth[enough]).row()
            rows[f"{share:.0%} relevant, {n} judged"] = row
    table(f"made up, {measure}: by share, {repetitions} repetitions", rows)


def made_up(measure: str, share: float, n: int, repetitions: int) -> tuple[list[Estimates], Values]:
    """Estimates from n pairs of 30 queries of 3 systems, drawn as a task draws them, and the truths
    (repetitions, S); in each repetition other pairs are relevant."""
    of, found, truth = kind(measure), [], []
    frame, _ = drawn(30, of.k, seed=1, n_systems=3)
    nothing = np.zeros(frame.n, bool)
    for seed in range(repetitions):
        real = (np.random.default_rng([seed, 1]).random(frame.n) < share).astype(float)
        world = World("made up", frame, real, of, nothing)
        batch = sampling.order(world.size, nothing, seed).first(n)
        grades = np.full(frame.n, np.nan)
        grades[batch.rows] = real[batch.rows]
        sample = corrected(frame, world.given, grades, [batch], world.levels)
        found.append(estimates(frame, of, sample))
        truth.append(world.truth)
    return found, np.array(truth)


def grades(measure: str, repetitions: int) -> None:
    """Of samples with FEWEST relevant and non-relevant pairs, before all is judged; drawn for
    nDCG@10. In each repetition another world."""
    rows, of = {}, kind(measure)
    for n_levels in (1, 2, 3, 4):
        for n in (100, 200, 400, 800):
            found, truth = [], []
            for seed in range(repetitions):
                frame, values = graded(n_levels, seed)
                world = World("made up", frame, values, kind("nDCG@10"), np.zeros(frame.n, bool))
                # Also those that nothing happens to reach.
                world.__dict__["levels"] = np.arange(1.0, n_levels + 1)
                drawing = [one for done, one in drawn_on(world, seed, n) if done == n]
                for sample in drawing:
                    one = estimates(world.frame, of, sample)
                    both = min(one.n_relevant, one.n_not_relevant) >= FEWEST
                    if both and not sample.is_census:
                        found.append(one)
                        truth.append(replace(world, of=of).truth)
            if found:
                told = Told.of(found, np.array(truth)).row()
                rows[f"{n_levels + 1} grades, {n} judged"] = told | {"samples": str(len(found))}
    table(f"made up, {measure}: by number of grades, {repetitions} repetitions", rows)


def wanted(world: World, repetitions: int) -> None:
    rows: dict[str, dict[str, str]] = {}
    told: dict[tuple[int, float], list[tuple[int, float]]] = {}
    for seed in range(repetitions):
        widest, growths = {}, {}
        for n, sample in drawn_on(world, seed, max(SIZES)):
            scores = estimates(world.frame, world.of, sample).scores()
            reach = ((scores["high"] - scores["low"]) / 2).to_numpy()
            widest[n] = reach.max()
            shares = np.where(world.official, world.gain > 0, sample.guesses[:, 0])
            size = np.where(world.official, 0, sampling.sizes(world.frame, world.of, shares))
            growths[n] = sampling.Growth(world.frame, world.of, shares, size, n), np.diag(reach)
        curve = np.log(list(widest)), np.log(list(widest.values()))
        for n in (100, 200, 400):
            growth, reach = growths[n]
            for share in (0.75, 0.5, 0.35):
                more = growth.needed(reach, share * reach.max())
                if n + more <= max(SIZES):
                    found = np.exp(np.interp(np.log(n + more), *curve)) / (share * reach.max())
                    told.setdefault((n, share), []).append((more, found))
    for (n, share), some in told.items():
        more, found = np.array(some).T
        rows[f"{n}, to {share:.0%}"] = {
            "more": f"{more.mean():.0f}",
            "found over wanted": f"{found.mean():.3f} ({found.min():.2f} to {found.max():.2f})",
            "repetitions": str(len(some)),
        }
    table(f"{world.name}: predicted judgements, {repetitions} repetitions", rows)


def like(measure: str, repetitions: int) -> None:
    """The truth is the mean over 4,500 made-up queries; each repetition has others like them."""
    of, rows = kind(measure), {}
    truth = np.mean([_made_up_world(of, 900, 10**6 + seed).truth for seed in range(5)], axis=0)
    for n_queries in (15, 30, 60):
        for n in (100, 200):
            found = []
            for seed in range(1, repetitions + 1):
                world = _made_up_world(of, n_queries, seed)
                ((_, one),) = list(sampled(world, seed, n))[-1:]
                found.append(one.queries_like_these())
            low, high = (np.array([one[end] for one in found]) for end in ("low", "high"))
            inside = ((low <= truth) & (truth <= high)).mean(axis=0)
            rows[f"{n_queries} queries, {n} judged"] = {
                "half-width": f"{(high - low).mean() / 2:.4f}",
                "coverage": f"{inside.mean():.1%} ({inside.min():.1%} to {inside.max():.1%})",
            }
    table(f"made up, {measure}: queries like these, {repetitions} repetitions", rows)


def _made_up_world(of: Kind, n_queries: int, seed: int) -> World:
    frame, grades = drawn(n_queries, of.k, seed=seed)
    return World("made up", frame, grades, of, np.zeros(frame.n, bool))


def factors(world: World, repetitions: int) -> None:
    """The true half-widths of what the estimate is made of, and what it saves."""
    spread = {}
    for weighted in (False, True):
        for helped in (False, True):
            name = f"{'weighted' if weighted else 'equal'}{', predicted' if helped else ''}"
            once = partial(without, world, weighted=weighted, helped=helped)
            spread[name] = [
                _true(np.array([once(seed, n) for seed in range(repetitions)])) for n in SIZES
            ]
    steps = [list(sampled(world, seed, max(SIZES))) for seed in range(repetitions)]
    curve = {
        column[0][0]: _true(np.array([one.means for _, one in column]))
        for column in zip(*steps, strict=True)
    }
    spread["batches that learn"] = [curve[n] for n in SIZES]
    rows = {
        name: {str(n): f"{value:.4f}" for n, value in zip(SIZES, values, strict=True)}
        for name, values in spread.items()
    }
    # Between two numbers that were simulated the logarithms are a straight line.
    falling, numbers = -np.log(list(curve.values())), np.log(list(curve))
    needed = np.exp(np.interp(-np.log(spread["equal"]), falling, numbers, left=np.nan))
    rows["judgements for the half-width of 'equal'"] = {
        str(n): "fewer than 50" if np.isnan(value) else f"{value:.0f} ({value / n:.0%})"
        for n, value in zip(SIZES, needed, strict=True)
    }
    table(f"{world.name}: true half-widths, {repetitions} repetitions", rows)


def _true(means: Values) -> float:
    return float(NORMAL * means.std(axis=0).mean())


def stop(world: World, repetitions: int, wanted: float = 0.15) -> None:
    """Coverage at moments that were chosen by looking: enough, and the first separable pair."""
    narrow: list[Estimates] = []
    apart: list[Estimates] = []
    moments: dict[str, list[int]] = {"narrow": [], "apart": []}
    wrong = 0
    for seed in range(repetitions):
        open_ones = {"narrow", "apart"}
        for n, one in sampled(world, seed, max(SIZES)):
            if not one.enough:
                continue
            scores = one.scores()
            if "narrow" in open_ones and (scores["high"] - scores["low"]).mean() / 2 <= wanted:
                open_ones.discard("narrow")
                narrow.append(one)
                moments["narrow"].append(n)
            if "apart" in open_ones and (better := one.better()).any():
                open_ones.discard("apart")
                apart.append(one)
                moments["apart"].append(n)
                wrong += bool((better & (world.truth[:, None] <= world.truth)).any())
            if not open_ones:
                break
    rows = {}
    for name, some in (("narrow", narrow), ("apart", apart)):
        if some:
            rows[name] = Told.of(some, world.truth).row() | {
                "stops": f"{len(some)}, at {np.median(moments[name]):.0f}"
            }
    if "apart" in rows:
        rows["apart"]["a pair told apart wrongly"] = f"{wrong / len(apart):.1%}"
    table(
        f"{world.name}: stopped at a half-width of {wanted}, or at the first separable pair", rows
    )


def naive(world: World) -> None:
    """What `impact` puts first, taken for a simple random sample: it must fail."""
    tops = _tops(world.frame)
    judged = world.frame.pairs.assign(relevance=world.grades.astype(np.int64))
    known, done, rows = world.official.copy(), 0, {}
    for n in SIZES:
        while done < n:
            blocks = orders.Framed(tops).blocks(
                judged[known], world.frame.systems, world.frame.depth
            )
            ahead = orders.first("impact", blocks, world.frame.depth, 0, min(25, n - done))
            known[world.frame.rows(ahead)] = True
            done += len(ahead)
        chosen = np.flatnonzero(known & ~world.official)
        chance = np.where(world.official, 1, n / (~world.official).sum())
        grades = np.where(known, world.grades, np.nan)
        batch = Batch(chosen, chance, 1)
        means = _hajek(world, batch)
        guess = np.full((world.frame.n, 1), float(np.mean(grades[chosen] > 0)))
        found = estimates(
            world.frame, world.of, by_guess(guess, grades, [batch], world.levels, world.frame.query)
        )
        reach = NORMAL * found.scores()["error"].to_numpy()
        inside = np.abs(means - world.truth) <= reach
        rows[n] = {
            "mean error": f"{(means - world.truth).mean():+.4f}",
            "half-width": f"{reach.mean():.4f}",
            "systems inside": f"{inside.sum()} of {len(inside)}",
        }
    table(f"{world.name}: `impact` taken for a random sample", rows)


def _tops(frame: Frame) -> pd.DataFrame:
    row, system = np.nonzero((frame.rank > 0) & (frame.rank <= frame.depth))
    found = frame.pairs.iloc[row].assign(rank=frame.rank[row, system])
    return found.assign(system=np.array(frame.systems)[system])


def table(title: str, rows: dict) -> None:
    say(f"\n{title}\n" + pd.DataFrame.from_dict(rows, orient="index").fillna("").to_string())


def of_files(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The runs of a folder, each named by its file, and its judgements."""
    tops = []
    for file in sorted(folder.glob("*.gz")):
        if not file.name.startswith("qrels"):
            _, hits = read_trec(file, any_tag=True)
            run = canonical(hits, depth=1000, drop_self=False).frame
            tops.append(run.assign(system=file.name.removesuffix(".gz")))
    return pd.concat(tops), read_qrels(folder / "qrels.txt.gz")


def of_shipped(dataset: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The runs and judgements that ship with the project."""
    records = pd.read_json(SHIPPED / "manifest.json", typ="series")
    assert records["format"] == FORMAT
    found: dict[str, list[pd.DataFrame]] = {"hits": [], "judgements": []}
    for part in records["parts"]:
        what = Path(part["path"]).parent.name
        if part["dataset"] == dataset and what in found:
            frame = pd.read_parquet(SHIPPED / part["path"])
            found[what].append(frame.assign(system=part["system"]))
    return pd.concat(found["hits"]), found["judgements"][0]


def world(
    name: str, lists: tuple[pd.DataFrame, pd.DataFrame], measure: str, *, binary: bool, half: bool
) -> World:
    tops, judgements = lists
    of = kind(measure)
    frame = of_lists(tops, sorted(judgements["query_id"].unique()), of.k)
    grades = np.nan_to_num(frame.grades(judgements))
    official = np.random.default_rng(1).random(frame.n) < (0.5 if half else 0)
    words = f"{name}, {measure}{', binary' if binary else ''}{', half official' if half else ''}"
    return World(words, frame, np.minimum(grades, 1) if binary else grades, of, official)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(words: Sequence[str]) -> None:
    asking = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asking.add_argument("--runs", type=Path)
    asking.add_argument("--dataset", nargs="*", default=[])
    asking.add_argument("--measure", nargs="+", default=["P@10", "nDCG@10", "AP@100"])
    asking.add_argument("--repetitions", type=int, default=1000)
    asking.add_argument("--binary", action="store_true")
    asking.add_argument("--half", action="store_true")
    asking.add_argument("--part", nargs="+", default=["coverage"])
    asked = asking.parse_args(words)
    for name, part in {"shares": shares, "grades": grades, "like": like}.items():
        for measure in asked.measure if name in asked.part else ():
            part(measure, asked.repetitions)
    asked.part = [name for name in asked.part if name not in ("shares", "grades", "like")]
    sources = {asked.runs.name: lambda: of_files(asked.runs)} if asked.runs else {}
    sources |= {name: lambda name=name: of_shipped(name) for name in asked.dataset}
    for name, lists in sources.items():
        read = lists()
        if "others" in asked.part:
            of = {"binary": asked.binary, "half": asked.half}
            others([world(name, read, one, **of) for one in asked.measure], asked.repetitions)
        for measure in asked.measure:
            made = world(name, read, measure, binary=asked.binary, half=asked.half)
            for part in asked.part:
                if part == "naive":
                    naive(made)
                elif part != "others":
                    {
                        "coverage": coverage,
                        "factors": factors,
                        "stop": stop,
                        "on": on,
                        "wanted": wanted,
                    }[part](made, asked.repetitions)


if __name__ == "__main__":
    main(sys.argv[1:])
