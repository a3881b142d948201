"""Tests of paired differences: is the difference between two systems significant on these queries?
Values form a matrix of systems x queries without absent values. Weights make the parts of a dataset
count equally, or are specified for its queries. The null hypothesis for a pair of systems is that
each query's (or family's) difference is as likely to have the other sign."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.evaluate import families as of_families
from compute.evaluate.distributions import Runs, normal_reach, student, t_chance, t_reach
from compute.evaluate.families import Codes
from compute.evaluate.sign_flips import (
    FEW,
    LEVEL,
    MANY,
    Signs,
    flipped,
    on_one_thread,
    signed_ranks,
)
from compute.evaluate.tolerance import levels

Values = NDArray[np.float64]

TESTS = ("randomisation", "t", "wilcoxon")
CORRECTIONS = ("maxT", "holm", "bh", "none")
_STATSMODELS = {"holm": "holm", "bh": "fdr_bh"}
PERMUTATIONS = 10_000
RESAMPLES = 1_000
SEED = 20_211
"""The seed is fixed, so that a p-value does not change when a page is reopened."""
AT_ONCE = 500_000
"""Number of differences (pairs x queries) in memory together."""
DRAWN_AT_ONCE = 300_000
"""Number of resampled queries in memory together, which fit into a processor's cache."""
NEAR = 1e-10
"""Relative tolerance of test statistics (not of a measure's values): statistics closer than this
are equal and count as at least as extreme. Rounding in sums of 10,000 queries is 1e-13; without a
tolerance, it would decide ties of discrete values."""


@dataclass(frozen=True)
class Aligned:
    """Values of systems on the queries for which all of them have a value."""

    systems: tuple[str, ...]
    queries: DataFrame
    """dataset and query_id of each column of the matrix."""
    values: Values
    """systems x queries."""
    weights: Values | None
    """Share of each query in a mean; None if all count equally."""
    n_left_out: int
    """Number of queries on which some system has no value."""
    families: Codes | None = None
    """Family of each query, if the dataset declares any."""
    runs: Runs | None = None
    """Run-to-run variances of the systems' means, if a system has several runs."""
    key: str = ""
    """Name of the queries' weights; empty if the queries of a dataset count equally."""

    @property
    def n_units(self) -> int:
        """Return the number of families, or of queries if there are none."""
        return self.values.shape[1] if self.families is None else int(self.families.max()) + 1


@dataclass(frozen=True)
class Comparison:
    """Two systems on n queries; differences are the first minus the second."""

    n: int
    difference: float
    error: float
    """Standard error of the difference."""
    low: float
    high: float
    """Student's 95% interval of the difference, low to high; it excludes 0 if the t-test
    rejects."""
    effect: float
    """Mean difference over the standard deviation of the differences."""
    effect_low: float
    effect_high: float
    """The 95% bootstrap interval of the effect; a bound is infinite if too few differences vary."""
    p_randomisation: float
    p_t: float
    p_wilcoxon: float
    """p of Wilcoxon's test; nan for weighted queries or families, which ranks do not allow."""
    won: int
    lost: int
    equal: int
    families: int = 0
    """Number of query families; 0 if none are declared."""
    freedom: float = np.nan
    """Degrees of freedom of the interval, with families."""
    design_effect: float = np.nan
    """Variance of the difference by families over its variance by queries."""
    differing: int = 0
    """Number of families whose sums differ."""


BY_FAMILY = ("families", "freedom", "design_effect", "differing")
"""Fields of a Comparison that are absent for queries without families."""


def by_part(parts: pd.Series) -> Values | None:
    """Return weights that sum to 1 and give all parts equal weight; None for a single part."""
    if parts.nunique() < 2:
        return None
    sizes = parts.map(parts.value_counts()).to_numpy(dtype=np.float64)
    return 1 / (parts.nunique() * sizes)


@on_one_thread()
def pairs(
    values: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    families: Codes | None = None,
    runs: Runs | None = None,
    test: str = "randomisation",
    correction: str = "maxT",
    permutations: int = PERMUTATIONS,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> DataFrame:
    """Test every pair of systems; returns a, b, difference, low, high, p, p_adjusted, effect,
    effect_low, effect_high, error, differing. a < b are row numbers, the difference is a minus b,
    `error` its standard error and `differing` the number of queries with different values. If
    `families` are given, they are tested, resampled and counted instead of queries, and `freedom`
    has the error's degrees of freedom; p is absent for fewer than `families.FEWEST`.

    `runs` are the run-to-run variances of the systems. If they affect a pair, its p and interval
    are over queries and runs (`distributions`); `width` is that of the interval over queries only.

    `correction` is over all pairs: maxT (only for the randomisation test) is the single-step method
    of Westfall and Young (1993) with studentised differences; its intervals are simultaneous and
    agree with p_adjusted. Other corrections have the t-test's intervals, at Bonferroni's level for
    holm and uncorrected for bh and none. Raises WrongInput for an unknown test or correction, fewer
    than two systems or queries, or too few permutations for any pair of the family to be
    significant.
    """
    given, own = _checked(values, weights)
    _check_names(test, correction)
    family = _Family.of(given, own, families).over(runs)
    unit = (given, own) if families is None else of_families.collapsed(given, own, families)
    drawn = Signs(unit[0].shape[1], permutations, seed)
    p, adjusted, (low, high), width = _tested(*unit, family, test, correction, drawn)
    frame = DataFrame({"a": family.a, "b": family.b, "difference": family.mean})
    frame = frame.assign(low=low, high=high, p=p, p_adjusted=adjusted, effect=family.effect)
    frame = frame.assign(error=family.error, differing=family.differing)
    frame = frame if families is None else frame.assign(freedom=family.freedom)
    frame = frame if runs is None else frame.assign(width=width)
    effects = _effect_intervals(given, own, family, resamples, seed)
    frame = frame.assign(effect_low=effects[0], effect_high=effects[1])
    few = ("p", "p_adjusted", "effect_low", "effect_high") if np.isnan(family.freedom) else ()
    return frame.assign(**dict.fromkeys(few, np.nan))


def two(
    a: ArrayLike,
    b: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    families: Codes | None = None,
    runs: Runs | None = None,
    permutations: int = PERMUTATIONS,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Comparison:
    """Compare two systems by all tests. Raises WrongInput for fewer than two queries."""
    both, own = _checked(np.array([a, b], dtype=np.float64), weights)
    about: dict[str, Any] = {"permutations": permutations, "resamples": resamples, "seed": seed}
    row = pairs(both, weights=own, families=families, runs=runs, **about).iloc[0]
    family = _Family.of(both, own, families).over(runs)
    signs = np.sign(both[0] - both[1])
    ((low,), (high,)) = family.widened(family.interval(LEVEL), LEVEL)
    moved = family.runs is not None and bool(family.runs.some.any())
    ranks = weights is None and families is None and not moved
    found = Comparison(
        n=both.shape[1],
        difference=float(row["difference"]),
        error=float(row["error"]),
        low=float(low),
        high=float(high),
        effect=float(row["effect"]),
        effect_low=float(row["effect_low"]),
        effect_high=float(row["effect_high"]),
        p_randomisation=float(row["p"]),
        p_t=np.nan if moved else float(family.t_test()[0]),
        p_wilcoxon=float(_wilcoxon(both, own, family)[0]) if ranks else np.nan,
        won=int((signs > 0).sum()),
        lost=int((signs < 0).sum()),
        equal=int((signs == 0).sum()),
    )
    if families is None:
        return found
    alone = float(_Family.of(both, own).error[0])
    effect = (found.error / alone) ** 2 if alone > 0 else np.nan
    of: dict[str, Any] = {"families": int(families.max()) + 1, "design_effect": effect}
    return replace(found, **of, freedom=family.freedom, differing=int(row["differing"]))


@dataclass(frozen=True)
class _Family:
    """All pairs of some systems, with sums over queries by pair. w are the queries' weights and d
    their differences; with families, w are the families' shares and d their weighted means."""

    n: int
    """Number of queries."""
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    mean: Values
    """Sum of w d."""
    square: Values
    """Sum of w^2 d^2: the variance of the mean over all sign patterns."""
    cross: Values
    """Sum of w^2 d."""
    spread: Values
    """Sum of w d^2."""
    differing: NDArray[np.int64]
    """Number of queries on which the two systems differ."""
    weight: float
    """Sum of w^2, which is 1 / n without weights."""
    freedom: float
    families: Codes | None = None
    robust: tuple[Values, Values, float] | None = None
    """With families, `square`, `cross` and `weight` with every w^2 divided by 1 - w, as in CR2."""
    runs: Runs | None = None

    def over(self, runs: Runs | None) -> "_Family":
        """Add the run-to-run variances of the systems."""
        return self if runs is None else replace(self, runs=runs.pairs(self.a, self.b))

    def moved(self, alone: ArrayLike, of_runs: Callable[[Runs], Values]) -> Values:
        """Return `alone` for each pair, or `of_runs` where runs affect the pair's difference."""
        given = np.asarray(alone)
        return given if self.runs is None else np.where(self.runs.some, of_runs(self.runs), given)

    @classmethod
    def of(cls, values: Values, weights: Values, families: Codes | None = None) -> "_Family":
        """Compute the sums for all pairs of systems."""
        if families is not None:
            return cls._by_family(values, weights, families)
        a, b = (side.astype(np.int64) for side in np.triu_indices(len(values), 1))

        def total(of: Values, power: int) -> Values:
            # A row at a time: all differences of 143 systems at once would not fit.
            rows = [(values[i] - values[i + 1 :]) ** power @ of for i in range(len(values) - 1)]
            return np.concatenate(rows)

        unlike = [
            np.count_nonzero(values[i] != values[i + 1 :], axis=1) for i in range(len(values))
        ]
        squared = weights**2
        return cls(
            values.shape[1],
            a,
            b,
            mean=total(weights, 1),
            square=total(squared, 2),
            cross=total(squared, 1),
            spread=total(weights, 2),
            differing=np.concatenate(unlike),
            weight=float(squared.sum()),
            freedom=values.shape[1] - 1,
        )

    @classmethod
    def _by_family(cls, values: Values, weights: Values, families: Codes) -> "_Family":
        """Compute the sums with families as units. Raises WrongInput for a single family."""
        alone = cls.of(values, weights)
        means, shares = of_families.collapsed(values, weights, families)
        if len(shares) < 2:
            raise WrongInput("a test needs two families of queries: all are in one")
        of, factor = cls.of(means, shares), shares / np.sqrt(1 - shares)
        robust = cls.of(means, factor)
        return replace(
            of,
            n=alone.n,
            spread=alone.spread,
            freedom=float(of_families.freedom(shares)),
            families=families,
            robust=(robust.square, robust.cross, robust.weight),
        )

    @property
    def scale(self) -> Values:
        """Return 1 / the mean's standard deviation over all sign patterns; 0 for equal systems."""
        return np.divide(1, np.sqrt(self.square), out=np.zeros_like(self.mean), where=self.some)

    @property
    def some(self) -> NDArray[np.bool_]:
        return self.square > 0

    @property
    def error(self) -> Values:
        """Return the standard error of the mean: s / sqrt(n) without weights, CR2 for families,
        else White's with n / (n-1), as for weighted least squares on a constant."""
        square, cross, weight = self.robust or (self.square, self.cross, self.weight)
        squares = square - 2 * self.mean * cross + self.mean**2 * weight
        squares = np.where(squares > NEAR**2 * square, squares, 0)
        return np.sqrt(squares if self.robust else squares * self.n / (self.n - 1))

    @property
    def effect(self) -> Values:
        """Return the mean over the standard deviation (Cohen's d of paired differences): 0 for
        equal systems, nan if all queries have the same difference."""
        return _effect(self.mean, self.spread, self.n)

    def t_test(self) -> Values:
        """Return the two-sided p-values of the paired t-test."""
        t = np.divide(
            np.abs(self.mean), self.error, out=np.full_like(self.mean, np.inf), where=self.error > 0
        )
        return self.chance(np.where(self.some, t_chance(t, self.freedom), 1.0))

    def chance(self, p: Values) -> Values:
        """Return p, or p over queries and runs where runs affect a pair's difference."""
        return self.moved(p, lambda of: of.chance(self.mean, self.error, self.freedom))

    def interval(self, level: float) -> tuple[Values, Values]:
        """Return the t-test's interval of each mean."""
        return student(self.mean, self.error, self.freedom, level)

    def widened(self, ends: tuple[Values, Values], level: float) -> tuple[Values, Values]:
        """Return `ends`, or intervals over queries and runs where runs affect a pair."""
        how = self.error, self.freedom, level
        low = self.moved(ends[0], lambda of: self.mean - of.half(*how))
        return low, self.moved(ends[1], lambda of: self.mean + of.half(*how))

    def farness(self, p: Values) -> Values:
        """Return each pair's studentised difference or, if runs affect it, the value with this
        p."""
        n, square = 1 / self.weight, t_reach(np.maximum(p, 1e-300), self.freedom) ** 2
        like = np.sqrt(n * square / (n - 1 + square))
        return self.moved(np.abs(self.mean) * self.scale, lambda _: like)

    def level(self, highest: float) -> float:
        """Return the level of the t-test that rejects studentised differences above `highest`."""
        n, square = 1 / self.weight, highest**2
        if square >= n:
            return 0.0
        return float(t_chance(np.sqrt((n - 1) * square / (n - square)), self.freedom))

    def not_rejected(self, highest: float) -> tuple[Values, Values]:
        """Return the ends of the differences x for which |u(x)| is at most `highest`. u(x) = (mean
        - x) / sqrt(sum of w^2 (d - x)^2), so the ends solve a quadratic equation. Without weights
        they are mean ± t x error with t^2 = (n - 1) u^2 / (n - u^2). They are infinite if no
        difference could be rejected."""
        # As for p, rounding does not count, so 0 is inside if the statistic equals the limit.
        square = (highest * (1 + NEAR)) ** 2
        lead = 1 - square * self.weight
        if not lead > NEAR:
            return np.full_like(self.mean, -np.inf), np.full_like(self.mean, np.inf)
        half = self.mean - square * self.cross
        rest = self.mean**2 - square * self.square
        root = np.sqrt(np.maximum(half**2 - lead * rest, 0))
        return (half - root) / lead, (half + root) / lead


def _effect(mean: Values, spread: Values, n: int) -> Values:
    """Return the mean over the standard deviation: 0 for equal systems, nan without spread."""
    variance = (spread - mean**2) * n / (n - 1)
    flat = variance <= NEAR * spread
    unlike = np.where(np.abs(mean) > 0, np.nan, 0.0)
    return np.where(flat, unlike, mean / np.sqrt(np.where(flat, 1, variance)))


def _checked(values: ArrayLike, weights: ArrayLike | None) -> tuple[Values, Values]:
    """Return the matrix with equal values made identical, and weights that sum to 1. Otherwise, a
    difference that is only rounding could be larger than any other once it is studentised."""
    given = levels(values)
    if np.isnan(given).any():
        raise ValueError("a value is absent: leave its query out")
    if given.shape[0] < 2 or given.shape[1] < 2:
        raise WrongInput("a test needs two systems and two queries that both have: choose others")
    own = np.ones(given.shape[1]) if weights is None else np.asarray(weights, dtype=np.float64)
    if own.shape != given.shape[1:] or not (own > 0).all():
        raise ValueError(f"{own.shape} weights for {given.shape[1]} queries, all above 0")
    return given, own / own.sum()


def _check_names(test: str, correction: str) -> None:
    """Raise WrongInput for an unknown test or correction, or a combination that does not exist."""
    for name, known in ((test, TESTS), (correction, CORRECTIONS)):
        if name not in known:
            raise WrongInput(f"{name!r} is none of: {', '.join(known)}")
    if correction == "maxT" and test != "randomisation":
        raise WrongInput(f"maxT corrects the randomisation test, not {test}: choose holm or bh")


def _tested(
    values: Values,
    weights: Values,
    family: _Family,
    test: str,
    correction: str,
    drawn: Signs,
) -> tuple[Values, Values, tuple[Values, Values], Values]:
    """Return p and p_adjusted by pair, the intervals, and their widths over queries only."""
    if test == "randomisation":
        drawn.check(len(family.mean), correction)
        p, highest = _randomised(values, weights, family, drawn)
        p = family.chance(p)
        if correction == "maxT":
            below = np.searchsorted(np.sort(highest), least(family.farness(p)), side="left")
            adjusted = drawn.p(len(highest) - below)
            critical = drawn.critical(highest)
            ends = family.not_rejected(critical)
            return p, adjusted, family.widened(ends, family.level(critical)), ends[1] - ends[0]
    else:
        p = family.t_test() if test == "t" else _wilcoxon(values, weights, family)
    adjusted, level = p, LEVEL
    if correction != "none":
        from statsmodels.stats.multitest import multipletests

        adjusted = np.asarray(multipletests(p, LEVEL, _STATSMODELS[correction])[1], dtype=float)
        level = LEVEL / len(p) if correction == "holm" else LEVEL
    ends = family.interval(level)
    return p, adjusted, family.widened(ends, level), ends[1] - ends[0]


def _randomised(
    values: Values, weights: Values, family: _Family, drawn: Signs
) -> tuple[Values, Values]:
    """Return p by pair, and the highest studentised difference of all pairs under each pattern. The
    sign-flipped sum of a difference is the difference of the systems' sign-flipped sums, so one
    product of patterns x queries with queries x systems serves all pairs. A difference is divided
    by the root of the sum of w^2 d^2, which no flip changes; without weights, this orders patterns
    as t does."""
    centred = weights * (values - values.mean(axis=0))
    scale = family.scale[:, None]
    observed = least(np.abs(family.mean)[:, None] * scale)
    counts = np.zeros(len(observed), np.int64)
    highest = []
    starts = np.searchsorted(family.a, np.arange(len(values)))
    for patterns in flipped(centred, _of_few(values, weights, family), drawn):
        sums = patterns.T.copy()
        most = np.zeros(len(patterns))
        for row, start in enumerate(starts[:-1]):
            of = slice(start, start + len(values) - 1 - row)
            others = np.abs(sums[row] - sums[row + 1 :]) * scale[of]
            counts[of] += np.count_nonzero(others >= observed[of], axis=1)
            np.maximum(most, others.max(axis=0), out=most)
        highest.append(most)
    return drawn.p(counts), np.concatenate(highest)


def _of_few(values: Values, weights: Values, family: _Family) -> NDArray[np.bool_]:
    """Return a mask of queries on which pairs differ whose sum of squares few queries carry."""
    found = np.zeros(values.shape[1], bool)
    if values.shape[1] < MANY:
        return found
    for pair in np.flatnonzero(family.some):
        gaps = weights * (values[family.a[pair]] - values[family.b[pair]])
        if _carrying(gaps) < FEW:
            found |= gaps != 0
    return found


def _carrying(parts: Values) -> float:
    """Return the effective number of values behind their sum of squares: (sum x^2)^2 / sum x^4."""
    squares = parts**2
    fourth = float(squares @ squares)
    return float(squares.sum()) ** 2 / fourth if fourth > 0 else 0.0


def least(observed: Values) -> Values:
    """Return the threshold from which a studentised statistic counts as at least as large as the
    observed one; a zero that rounding enlarged is still zero."""
    return np.where(observed > NEAR, observed * (1 - NEAR), 0.0)


def _wilcoxon(values: Values, weights: Values, family: _Family) -> Values:
    """Return the two-sided p-values of Wilcoxon's signed-rank test."""
    if np.ptp(weights) > NEAR:
        raise WrongInput("Wilcoxon's test takes no weights: choose randomisation or the t-test")
    found = np.ones_like(family.mean)
    for pair in np.flatnonzero(family.some):
        found[pair] = signed_ranks(values[family.a[pair]] - values[family.b[pair]])
    return found


def _effect_intervals(
    values: Values, weights: Values, family: _Family, resamples: int, seed: int
) -> tuple[Values, Values]:
    """Return the 2.5th and 97.5th percentiles of the effect over resampled queries. They may be
    infinite, as the effect is in a resample whose differences are all the same."""
    if not resamples:
        nothing = np.full_like(family.mean, np.nan)
        return nothing, nothing
    n = values.shape[1] if family.families is None else int(family.families.max()) + 1
    if n >= MANY:
        return _effects_of_many(values, weights, family, resamples, seed)
    return _drawn_intervals(values, weights, family, resamples, seed)


def _drawn_intervals(
    values: Values, weights: Values, family: _Family, resamples: int, seed: int
) -> tuple[Values, Values]:
    """Do as `_effect_intervals`, by drawing resamples."""
    n, of, random = values.shape[1], family.families, np.random.default_rng(seed)
    units = n if of is None else int(of.max()) + 1
    effects = np.empty((len(family.a), resamples))
    for start in range(0, resamples, size := max(1, DRAWN_AT_ONCE // n)):
        again = drawn_again(units, min(size, resamples - start), random)
        counts = (again if of is None else again[:, of]) * weights
        counts /= counts.sum(axis=1, keepdims=True)
        effects[:, start : start + len(counts)] = _drawn_effects(values, family, counts)
    # The percentiles are not interpolated, since some effects may be infinite.
    low, high = np.quantile(effects, [LEVEL / 2, 1 - LEVEL / 2], axis=1, method="nearest")
    return low, high


def _effects_of_many(
    values: Values, weights: Values, family: _Family, resamples: int, seed: int
) -> tuple[Values, Values]:
    """Do as `_effect_intervals` for MANY queries: by linearisation (Efron and Tibshirani 1993,
    section 22.6), except for pairs whose variance comes from few queries, which are resampled."""
    ends = np.zeros((2, len(family.a)))
    drawn = np.zeros(len(family.a), bool)
    for pair in np.flatnonzero(family.some):
        mean, gaps = family.mean[pair], values[family.a[pair]] - values[family.b[pair]]
        deviation = np.sqrt(max(family.spread[pair] - mean**2, 0))
        if np.isnan(family.effect[pair]) or not deviation:
            drawn[pair] = True
            continue
        off = gaps - mean
        change = weights * (off - mean * ((off / deviation) ** 2 - 1) / 2)
        if family.families is not None:
            change = of_families.sums(change, family.families)
        drawn[pair] = _carrying(change) < FEW
        reach = normal_reach(LEVEL) * np.sqrt(change @ change) / deviation
        ends[:, pair] = family.effect[pair] - reach, family.effect[pair] + reach
    if drawn.any():
        some = replace(family, a=family.a[drawn], b=family.b[drawn])
        ends[:, drawn] = _drawn_intervals(values, weights, some, resamples, seed)
    return ends[0], ends[1]


def _drawn_effects(values: Values, family: _Family, counts: Values) -> Values:
    """Return effects, pairs x resamples; `counts` has the queries' weights in each resample."""
    n, ends = values.shape[1], []
    for start in range(0, len(family.a), size := max(1, AT_ONCE // n)):
        of = slice(start, start + size)
        gaps = values[family.a[of]] - values[family.b[of]]
        means = gaps @ counts.T
        effects = _effect(means, gaps**2 @ counts.T, n)
        ends.append(np.where(np.isnan(effects), np.copysign(np.inf, means), effects))
    return np.concatenate(ends)


def drawn_again(n: int, resamples: int, random: np.random.Generator) -> Values:
    """Return how often each of n items is in each resample with replacement: resamples x n."""
    picked = random.integers(n, size=(resamples, n))
    counts = np.empty((resamples, n))
    # The loop is over rows, since one row's counts stay in the processor's cache.
    for row, drawn in zip(counts, picked, strict=True):
        row[:] = np.bincount(drawn, minlength=n)
    return counts


def median_interval(units: NDArray[np.int64], values: Values) -> tuple[float, float]:
    """Return the 2.5th and 97.5th percentiles of the median of `values` when units, such as
    queries, are resampled with all of their values. `units` numbers the unit of each value. The
    percentiles are nan for fewer than two units."""
    different, place = np.unique(values, return_inverse=True)
    names, units = np.unique(units, return_inverse=True)
    if (n := len(names)) < 2:
        return np.nan, np.nan
    held = np.bincount(units * len(different) + place, minlength=n * len(different))
    held = held.reshape(n, -1).astype(float)
    random, medians = np.random.default_rng(SEED), []
    for start in range(0, RESAMPLES, size := max(1, DRAWN_AT_ONCE // n)):
        upto = np.cumsum(drawn_again(n, min(size, RESAMPLES - start), random) @ held, axis=1)
        half = upto[:, -1:] / 2
        # Positions of the two middle values, which are the same for an odd number of values.
        low, high = (upto < half).sum(axis=1), (upto <= half).sum(axis=1)
        medians.append((different[low] + different[high]) / 2)
    low, high = np.percentile(np.concatenate(medians), [2.5, 97.5])
    return float(low), float(high)
