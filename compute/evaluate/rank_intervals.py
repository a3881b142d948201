"""Rank intervals: the uncertainty of the ranking of systems on a leaderboard. Queries are resampled
within each dataset, and datasets are resampled if there are enough. Groups and rank intervals both
follow from the same simultaneous intervals of all pairs' differences, so they always agree."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from string import ascii_lowercase
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.evaluate import significance, tolerance
from compute.evaluate.distributions import normal_chance, normal_reach, t_reach
from compute.evaluate.families import FEWEST, FEWEST_EFFECTIVE, Codes, effective, freedom, sums
from compute.evaluate.sign_flips import LEVEL, on_one_thread
from compute.evaluate.significance import (
    DRAWN_AT_ONCE,
    SEED,
    Aligned,
    Values,
    drawn_again,
)
from compute.evaluate.tolerance import TOLERANCE, above, equal

FEWEST_DATASETS = 10
"""Datasets are resampled only if there are at least this many: see COVERAGE."""
COVERAGE = {2: 0.50, 5: 0.85, 18: 0.93}
"""Simulated coverage of a plain 95% interval, by number of datasets (benchmark `coverage`)."""
RESAMPLES = 2_000
FEWEST_QUERIES, CLOSE, CLOSE_PAIRS = 100, 0.05, 0.25
"""The normal distribution replaces drawn means if there are at least FEWEST_QUERIES queries and its
percentiles are off by at most CLOSE standard errors for means and CLOSE_PAIRS for differences. The
noise of 2,000 resamples is 0.06."""
_BY_SKEW, _BY_TAILS = 0.474, 0.069
"""(z^2 - 1) / 6 and (z^3 - 3z) / 24 at z = 1.96."""
_FLAT = 1e-12
"""A variance below this share of the largest one is only rounding."""

QUERIES, DATASETS, BOTH, NOTHING = "queries", "datasets", "queries and datasets", ""
"""What was resampled."""


@dataclass(frozen=True)
class Ranking:
    """Systems by mean, best first."""

    systems: DataFrame
    """row (of the given systems), mean, low, high (95% interval), rank, rank_low, rank_high, first
    (share of resamples in which the system is first), group (letters separated by spaces; two
    systems share a letter if and only if they are not significantly different). Intervals are
    absent (nan, or 0 for ranks) if nothing was resampled."""
    better: NDArray[np.bool_]
    """[i, j]: whether system i is significantly better than system j, at 5% over all pairs."""
    groups: tuple[tuple[int, ...], ...]
    """Positions in `systems` of the members of each group, in the order of the letters. The systems
    of a group are not significantly different."""
    drawn: str
    """What was resampled: QUERIES, DATASETS, BOTH or NOTHING."""
    n_datasets: int
    n_queries: int
    """Number of queries; 0 without per-query scores."""
    n_left_out: int
    n_families: int = 0
    """Number of query families on all datasets; 0 if no dataset has any."""


@on_one_thread()
def of_scores(
    datasets: Sequence[Aligned],
    *,
    sign: int = 1,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Ranking:
    """Rank systems by the mean over datasets of their mean over queries.

    Every dataset has the same systems. `sign` is -1 if lower is better. With FEWEST_DATASETS or
    more, datasets are resampled too, and the intervals refer to datasets like these; otherwise they
    refer to new queries on these datasets. The pairs' intervals are maxT's over queries on a single
    dataset, maxT's over datasets if those are resampled, and otherwise those of the bootstrap.
    Raises WrongInput for fewer than two queries.
    """
    _check(datasets)
    random = np.random.default_rng(seed)
    means = np.mean([_mean(dataset) for dataset in datasets], axis=0)
    both = len(datasets) >= FEWEST_DATASETS
    drawn = (_both if both else _within)(datasets, resamples, random)
    units = len(datasets) if both else min(map(_units, datasets))
    if both:
        apart = _by_max_t(np.transpose([_mean(dataset) for dataset in datasets]), sign)
    elif len(datasets) == 1:
        (one,) = datasets
        how = {"weights": one.weights, "families": one.families, "runs": one.runs}
        apart = _by_max_t(one.values, sign, **how)
    else:
        apart = _by_bootstrap(sign * means, sign * drawn, units)
    return _ranking(
        means,
        drawn,
        apart,
        sign,
        units,
        drawn_from=BOTH if both else QUERIES,
        n_datasets=len(datasets),
        n_queries=sum(dataset.values.shape[1] for dataset in datasets),
        n_left_out=sum(dataset.n_left_out for dataset in datasets),
        n_families=sum(of.n_units for of in datasets if of.families is not None),
    )


def of_means(
    values: ArrayLike, *, sign: int = 1, resamples: int = RESAMPLES, seed: int = SEED
) -> Ranking:
    """Rank systems by a table of systems x datasets, without per-query scores. With fewer than
    FEWEST_DATASETS datasets, nothing is resampled."""
    given = np.asarray(values, dtype=np.float64)
    n, means = given.shape[1], given.mean(axis=1)
    sizes = {"n_datasets": n, "n_queries": 0, "n_left_out": 0}
    if n < FEWEST_DATASETS:
        nobody = np.zeros((len(given), len(given)), bool)
        return _ranking(means, None, nobody, sign, n, drawn_from=NOTHING, **sizes)
    drawn = drawn_again(n, resamples, np.random.default_rng(seed)) @ given.T / n
    apart = _by_max_t(given, sign)
    return _ranking(means, drawn, apart, sign, n, drawn_from=DATASETS, **sizes)


def _check(datasets: Sequence[Aligned]) -> None:
    """Raise WrongInput if a dataset has too few queries or families for rank intervals."""
    if not datasets or min(dataset.values.shape[1] for dataset in datasets) < 2:
        raise WrongInput("no ranks: choose systems that answer two queries and more in common")
    for of in datasets:
        name, n = of.queries["dataset"].iloc[0], of.values.shape[1]
        if of.families is not None and np.isnan(freedom(np.bincount(of.families) / n)):
            raise WrongInput(f"no ranks: the queries count as fewer than {FEWEST} families")
        by = of.weights if of.key else None
        if by is not None and effective(by, of.families) < FEWEST_EFFECTIVE:
            told = f"the weighted queries of {name} count as fewer than {FEWEST_EFFECTIVE}"
            raise WrongInput(f"no ranks: {told}: count each once")


def _units(dataset: Aligned) -> float:
    """Return the number of queries or families, or their effective number if that is less."""
    by = dataset.weights if dataset.key else None
    return dataset.n_units if by is None else min(dataset.n_units, effective(by, dataset.families))


def _parts(dataset: Aligned) -> Iterable[tuple[Values, Codes | None, Values | None]]:
    """Yield for each part of a dataset the values, the families of its queries, and the queries'
    shares if they have weights."""
    names, families = dataset.queries["dataset"].to_numpy(), dataset.families
    for name in dict.fromkeys(names):
        own = names == name
        codes = None if families is None else np.unique(families[own], return_inverse=True)[1]
        if not dataset.key or dataset.weights is None:
            yield dataset.values[:, own], codes, None
            continue
        shares = dataset.weights[own] / dataset.weights[own].sum()
        yield dataset.values[:, own], np.arange(own.sum()) if codes is None else codes, shares


def _mean(dataset: Aligned) -> Values:
    """Return each system's mean over the parts of a dataset of its mean over queries."""
    parts = _parts(dataset)
    return np.mean([of.mean(axis=1) if by is None else of @ by for of, _, by in parts], axis=0)


def _drawn_means(dataset: Aligned, resamples: int, random: np.random.Generator) -> Values:
    """Draw means over queries resampled within each part: resamples x systems."""
    parts = list(_parts(dataset))
    total = np.zeros((resamples, len(dataset.values)))
    for part, families, by in parts:
        if families is not None:
            total += _drawn_families(part, families, by, resamples, random)
            continue
        spread = _Spread.of(part)
        drawn = spread.drawn if spread.is_normal(CLOSE_PAIRS) else partial(_drawn_queries, part)
        total += drawn(resamples, random)
    total /= len(parts)
    if dataset.runs is not None:
        # The mean of so few runs deviates like Student's t.
        of = np.sqrt(dataset.runs.variance), np.maximum(dataset.runs.freedom, 1)
        total += (of[0] * random.standard_t(of[1], (resamples, *of[0].shape))).sum(axis=2)
    return total


def _drawn_queries(part: Values, resamples: int, random: np.random.Generator) -> Values:
    """Draw means over individually resampled queries: resamples x systems."""
    n = part.shape[1]
    means = np.empty((resamples, len(part)))
    size = max(1, DRAWN_AT_ONCE // n)
    for start in range(0, resamples, size):
        number = min(size, resamples - start)
        means[start : start + number] = drawn_again(n, number, random) @ part.T / n
    return means


def _drawn_families(
    part: Values, families: Codes, by: Values | None, resamples: int, random: np.random.Generator
) -> Values:
    """Draw means over the queries of individually resampled families: resamples x systems."""
    sizes = np.bincount(families, by).astype(np.float64)
    totals = sums(part if by is None else part * by, families).T
    means, step = np.empty((resamples, len(part))), max(1, DRAWN_AT_ONCE // len(sizes))
    for start in range(0, resamples, step):
        counts = drawn_again(len(sizes), min(step, resamples - start), random)
        means[start : start + step] = counts @ totals / (counts @ sizes)[:, None]
    return means


@dataclass(frozen=True)
class _Spread:
    """The distribution of systems' means over resampled queries, approximated by its moments. With
    many queries, the means are closer to normal than the noise of the draws. Drawing costs in
    proportion to the number of queries: 108 million draws for 54,000 queries, 2,000 resamples."""

    n: int
    mean: Values
    covariance: Values
    """Covariance of the means, systems x systems."""
    off: float
    """How far, at most, the 2.5th and 97.5th percentiles of a resampled mean are from the normal
    ones, in standard errors: the first terms of Cornish and Fisher's expansion (1938, Revue de
    l'Institut International de Statistique 5)."""
    off_pairs: float
    """The same for the differences of two systems."""

    @classmethod
    def of(cls, part: Values) -> "_Spread":
        """Compute the moments from the values of systems x queries."""
        n, mean = part.shape[1], part.mean(axis=1)
        centred = part - mean[:, None]
        square, cube = centred**2, centred**3
        second, third = centred @ centred.T / n, square @ centred.T / n
        fourth, even = cube @ centred.T / n, square @ square.T / n
        # The moments of i minus j, by the binomial theorem; those of i on the diagonal.
        alone = np.diag(np.diag(second)), np.diag(np.diag(third)), np.diag(np.diag(fourth))
        variance = np.add.outer(np.diag(second), np.diag(second)) - 2 * second + alone[0]
        skew = np.subtract.outer(np.diag(third), np.diag(third)) - 3 * (third - third.T) + alone[1]
        tails = np.add.outer(np.diag(fourth), np.diag(fourth)) + 6 * even - 4 * (fourth + fourth.T)
        tails += alone[2]
        some = variance > _FLAT * np.diag(second).max(initial=0)
        scale = np.where(some, variance, 1)
        far = _BY_SKEW * np.abs(skew) / scale**1.5 / np.sqrt(n)
        far += _BY_TAILS * np.abs(tails / scale**2 - 3) / n
        far[~some] = 0
        off = float(np.diag(far).max())
        return cls(n, mean, second / n, off, float((far - np.diag(np.diag(far))).max()))

    def is_normal(self, close_pairs: float) -> bool:
        """Return whether the normal distribution can replace resampling of queries."""
        return self.n >= FEWEST_QUERIES and self.off <= CLOSE and self.off_pairs <= close_pairs

    def drawn(self, resamples: int, random: np.random.Generator) -> Values:
        """Draw means from the normal distribution with these moments: resamples x systems."""
        lengths, axes = np.linalg.eigh(self.covariance)
        root = axes * np.sqrt(lengths.clip(0))
        return self.mean + random.standard_normal((resamples, len(self.mean))) @ root.T


def _within(datasets: Sequence[Aligned], resamples: int, random: np.random.Generator) -> Values:
    """Draw means over fixed datasets with resampled queries: resamples x systems."""
    return np.mean([_drawn_means(dataset, resamples, random) for dataset in datasets], axis=0)


def _both(datasets: Sequence[Aligned], resamples: int, random: np.random.Generator) -> Values:
    """Draw means over resampled datasets, with queries resampled at each draw of a dataset:
    resamples x systems."""
    chosen = random.integers(len(datasets), size=(resamples, len(datasets)))
    total = np.zeros((resamples, len(datasets[0].values)))
    for place, dataset in enumerate(datasets):
        rows = np.nonzero(chosen == place)[0]
        np.add.at(total, rows, _drawn_means(dataset, len(rows), random))
    return total / len(datasets)


def _widening(units: float) -> float:
    """Return the factor by which percentiles over few resampled units are too narrow: t over z,
    times sqrt(n / (n - 1)). This is the expanded percentile interval (Hesterberg 2015, The American
    Statistician 69)."""
    t = t_reach(LEVEL, units - 1)
    return float(t * np.sqrt(units / (units - 1)) / normal_reach(LEVEL))


def _by_max_t(values: Values, sign: int, **of: Any) -> NDArray[np.bool_]:
    """Return a matrix: [i, j] is whether i is significantly better than j by maxT's intervals. Over
    few datasets the bootstrap would reject too often: with 10 equal systems, it called some pair
    different on 13% of simulated boards of 18 datasets, and on 18% of those of 10 datasets."""
    n = len(values)
    better = np.zeros((n, n), bool)
    if n > 1:
        found = significance.pairs(values, **of, resamples=0)
        a, b = found["a"].to_numpy(), found["b"].to_numpy()
        ahead, behind = above(found["low"], 0), above(0, found["high"])
        better[a[ahead], b[ahead]] = True
        better[b[behind], a[behind]] = True
    return better if sign > 0 else better.T


def _by_bootstrap(means: Values, drawn: Values, units: float) -> NDArray[np.bool_]:
    """Return a matrix: [i, j] is whether the simultaneous interval of i minus j lies above 0. The
    intervals are difference ± c x standard error, both from the resamples; c is the 95th percentile
    of the largest studentised deviation over all pairs."""
    n, columns = len(means), drawn.T.copy()
    highest, errors = np.zeros(len(drawn)), np.zeros((n, n))
    for row in range(n - 1):
        gaps = columns[row] - columns[row + 1 :]
        gaps -= (means[row] - means[row + 1 :])[:, None]
        error = np.sqrt((gaps**2).mean(axis=1))
        errors[row, row + 1 :] = error
        scale = np.divide(1, error, out=np.zeros_like(error), where=above(error, 0))
        np.maximum(highest, np.abs(gaps * scale[:, None]).max(axis=0), out=highest)
    reach = np.quantile(highest, 1 - LEVEL) * _widening(units) * (errors + errors.T)
    return np.subtract.outer(means, means) > np.maximum(reach, TOLERANCE)


def _ranking(
    means: Values,
    drawn: Values | None,
    apart: NDArray[np.bool_],
    sign: int,
    units: float,
    *,
    drawn_from: str,
    n_datasets: int,
    n_queries: int,
    n_left_out: int,
    n_families: int = 0,
) -> Ranking:
    """Assemble the ranking; `apart` is from `_by_max_t`, `units` counts the resampled units."""
    rank = tolerance.ranks(sign * means).astype(int)
    order = np.argsort(rank, kind="stable")
    better = apart[np.ix_(order, order)]
    frame = DataFrame({"row": order, "mean": means[order], "rank": rank[order]})
    groups: tuple[tuple[int, ...], ...] = ()
    if drawn is None:
        frame = frame.assign(low=np.nan, high=np.nan, rank_low=0, rank_high=0, first=np.nan)
    else:
        # These are the bounds of the expanded percentile intervals.
        tail = float(normal_chance(normal_reach(LEVEL) * _widening(units))) / 2
        low, high = np.quantile(drawn[:, order], [tail, 1 - tail], axis=0)
        frame = frame.assign(low=low, high=high)
        frame["rank_low"] = 1 + better.sum(axis=0)
        frame["rank_high"] = len(means) - better.sum(axis=1)
        frame["first"] = _first(sign * drawn[:, order])
        groups = told_together(better | better.T)
    frame["group"] = letters(groups, len(means))
    counts = n_datasets, n_queries, n_left_out, n_families
    return Ranking(frame, better, groups, drawn_from, *counts)


def _first(worth: Values) -> Values:
    """Return the share of resamples in which each system is first; tied systems divide it."""
    firsts = equal(worth, worth.max(axis=1, keepdims=True))
    return (firsts / firsts.sum(axis=1, keepdims=True)).mean(axis=0)


def told_together(apart: NDArray[np.bool_]) -> tuple[tuple[int, ...], ...]:
    """Return groups such that two systems share a group if and only if `apart` does not separate
    them. Each group is as large as possible, grown from the first pair that is in no group yet."""
    alike = ~apart
    covered = np.zeros_like(alike)
    groups = []
    for one in range(len(alike)):
        for other in range(one, len(alike)):
            alone = other == one and alike[one].sum() > 1
            if not alike[one, other] or covered[one, other] or alone:
                continue
            members = [one] if one == other else [one, other]
            # A system may join if it is separated from no member so far; better ones join first.
            fitting = np.logical_and.reduce(alike[members], axis=0)
            for place in range(len(alike)):
                if fitting[place] and place not in members:
                    members.append(place)
                    fitting &= alike[place]
            groups.append(tuple(sorted(members)))
            covered[np.ix_(members, members)] = True
    return tuple(sorted(groups))


def letters(groups: Sequence[Sequence[int]], n: int) -> list[str]:
    """Return the letters of the groups of n systems, with spaces: compact letters (Piepho 2004)."""
    found: list[list[str]] = [[] for _ in range(n)]
    for number, members in enumerate(groups):
        for place in members:
            found[place].append(letter(number))
    return [" ".join(names) for names in found]


def letter(number: int) -> str:
    """Return the letter of a group by its number: a to z, then aa, ab …"""
    before, last = divmod(number, len(ascii_lowercase))
    return (letter(before - 1) if before else "") + ascii_lowercase[last]


def after(name: str) -> str:
    """Return the next letter: b after a, aa after z."""
    number = 0
    for character in name:
        number = number * len(ascii_lowercase) + ascii_lowercase.index(character) + 1
    return letter(number)
