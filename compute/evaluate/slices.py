"""Slices of queries: is one query group easier, and do two systems differ there in another way? A
slice's effect is its contrast with all other queries: the mean inside minus the mean outside, over
its standard error (Welch 1947, two samples of unequal variances). Its distribution under chance
comes from permuting labels over the queries: exact if labels are independent of the values, and
nearly so if only the means are equal (Janssen 1997, Statistics & Probability Letters 36, 9). The
maximum over all slices of a key in each permutation corrects for their number (maxT, Westfall and
Young 1993). It is no evidence of an effect that a slice's own interval excludes 0 when that of all
queries does not (Gelman and Stern 2006).

With families of queries nothing is permuted: the error is CR2's for two means, whose families may
have queries in both, with Satterthwaite's degrees of freedom (at most those of a mean over all
families), and Holm's method corrects for the number of slices.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from compute.evaluate import families as of_families
from compute.evaluate.baseline import holm
from compute.evaluate.distributions import t_chance
from compute.evaluate.families import Codes
from compute.evaluate.significance import NEAR, least, student

Values = NDArray[np.float64]
MOST_VALUES = 40
"""Most values of a key; more make no useful query groups."""
REASON = "reason"
"""Key of labels that people give queries after they saw the results."""
FEWEST = 5
"""Fewest queries inside and outside for a test of a contrast; with fewer, the spread is unknown."""
DEALS = 2_000
"""Number of permutations of the labels; p is at least 1 / this number."""
MANY, ENOUGH = 20_000, 500
"""With at least this many queries, the mean of a slice under permutation is drawn from the normal
distribution, if at least ENOUGH of its queries are expected to have a value other than the most
common one."""
_ROUNDING = 1e-12
"""Rounding tolerance, relative to the sum of all squares."""
_AT_ONCE = 2_000_000
"""Number of values permuted at a time, to limit memory."""


def means(values: ArrayLike, slices: Sequence[str], families: Codes | None = None) -> DataFrame:
    """value, n, mean, low, high: each slice of (n,) values, by first occurrence. The interval is
    Student's 95% interval, by family with `families`; absent for a single query."""
    frame = DataFrame({"value": slices, "of": np.asarray(values, np.float64)})
    found = frame.groupby("value", sort=False)["of"].agg(["size", "mean", "std"]).reset_index()
    found = found.rename(columns={"size": "n"})
    error, freedom = found["std"] / np.sqrt(found["n"]), found["n"] - 1
    if families is not None:
        own = [(frame["value"] == value).to_numpy() for value in found["value"]]
        by_family = [of_families.of_mean(frame.loc[one, "of"], families[one]) for one in own]
        error, freedom = np.transpose(by_family).reshape(2, -1)
    low, high = student(found["mean"], error, freedom)
    return found.assign(low=low, high=high).drop(columns="std")


def contrasts(
    values: ArrayLike, slices: Sequence[str], seed: int = 0, families: Codes | None = None
) -> DataFrame:
    """value, n, mean, low, high, contrast, p, p_adjusted: `means`, and each slice against the rest.

    `contrast` is the mean inside minus the mean outside. p is absent if there are fewer than FEWEST
    queries inside or outside, or no spread; p_adjusted corrects for the slices that are tested.
    """
    found = means(values, slices, families)
    places = {value: place for place, value in enumerate(found["value"])}
    order = np.argsort([places[one] for one in slices], kind="stable")
    of, sizes = np.asarray(values, np.float64)[order], found["n"].to_numpy()
    some = (np.minimum(sizes, len(of) - sizes) >= FEWEST) & bool(np.ptp(of) > 0)
    found["contrast"] = (found["mean"] - of.mean()) * len(of) / np.maximum(len(of) - sizes, 1)
    found.loc[sizes == len(of), "contrast"] = np.nan
    found["p"] = found["p_adjusted"] = np.nan
    if families is not None:
        inside = np.asarray(slices) == found["value"].to_numpy()[:, None]
        ps = [_by_family(np.asarray(values, np.float64), one, families) for one in inside]
        found["p"] = np.where(some, ps, np.nan)
        known = found["p"].notna()
        found.loc[known, "p_adjusted"] = holm(found.loc[known, "p"].to_numpy())
    elif some.any():
        seen = least(_seen(of, sizes)[some])
        drawn = _dealt(of, sizes, seed)[:, some]
        found.loc[some, "p"] = _share(drawn >= seen)
        found.loc[some, "p_adjusted"] = _share(drawn.max(axis=1)[:, None] >= seen)
    return found


def _by_family(values: Values, inside: NDArray[np.bool_], families: Codes) -> float:
    """p that the means inside and outside differ; absent for under FEWEST families on a side."""
    gap, off, squares, degrees = 0.0, np.zeros(families.max() + 1), [], []
    for sign, own in ((1, inside), (-1, ~inside)):
        share = np.bincount(families[own], minlength=len(off)) / max(own.sum(), 1)
        if np.count_nonzero(share) < FEWEST:
            return np.nan
        mean = values[own].mean()
        sums = np.bincount(families[own], values[own] - mean, len(off)) / own.sum()
        gap, part = gap + sign * mean, sums / np.sqrt(1 - share)
        off += sign * part
        squares.append(part @ part)
        degrees.append(float(of_families.freedom(share)))
    below = sum(square**2 / of for square, of in zip(squares, degrees, strict=True))
    error = np.sqrt(off @ off)
    if not (below > 0 and error > 0):
        return np.nan
    every = of_families.freedom(np.bincount(families) / len(values))
    return float(t_chance(gap / error, min(sum(squares) ** 2 / below, every)))


def without_others(values: ArrayLike, kept: ArrayLike) -> DataFrame:
    """value, value_without, change, low, high: for each row of the (K, n) values, some of which are
    absent, the mean over all queries, the mean over only the `kept` ones, and the second minus the
    first. The 95% interval is over queries like these, some of which would also be left out: by
    linearisation (Särndal, Swensson and Wretman 1992, section 5.5), with Student's t for the
    smaller of both groups, kept and left out. Absent if that group has fewer than FEWEST queries,
    and [0, 0] if all are kept. It covered the true change in 95 to 99% of samples of real scores
    with ten or more queries in that group, and in more with fewer."""
    rows, some = np.asarray(values, np.float64), np.asarray(kept, np.bool_)
    known, filled = ~np.isnan(rows), np.nan_to_num(rows)
    inside = known & some
    n, n_kept = known.sum(axis=1), inside.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = filled.sum(axis=1) / n
        without = (filled * inside).sum(axis=1) / n_kept
        off_kept = inside * (filled - without[:, None]) / n_kept[:, None]
        off = np.where(known, off_kept - (filled - value[:, None]) / n[:, None], 0)
        fewer = np.minimum(n_kept, n - n_kept)
        error = np.sqrt((off**2).sum(axis=1) * fewer / (fewer - 1))
        ends = student(without - value, error, np.where(fewer < FEWEST, np.nan, fewer - 1))
    found = DataFrame({"value": value, "value_without": without, "change": without - value})
    low, high = (np.where((n_kept == n) & (n > 0), 0.0, end) for end in ends)
    return found.assign(low=low, high=high)


def _share(as_far: NDArray[np.bool_]) -> Values:
    """The observed permutation counts as one."""
    return (1 + as_far.sum(axis=0)) / (1 + len(as_far))


def _dealt(values: Values, sizes: NDArray[np.int64], seed: int) -> Values:
    """(DEALS, K) Studentised contrasts when the values are permuted over the slices.

    The largest slice gets the remaining values. With MANY values, so do the slices with ENOUGH
    differing values: given the remaining values, their sums and sums of squares are normal with the
    covariance of sampling without replacement (Cochran 1977, Sampling Techniques, section 2.9).
    """
    random, centred = np.random.default_rng(seed), values - values.mean()
    few, powers = _few(values, sizes), np.stack([centred, centred**2])
    found = np.empty((2, DEALS, len(sizes)))
    n_few, starts = sizes[few].sum(), np.cumsum(sizes[few]) - sizes[few]
    batch = max(1, _AT_ONCE // max(n_few, 1))
    for deal in range(0, DEALS if n_few else 0, batch):
        of = slice(deal, deal + batch)
        places = [random.choice(len(values), n_few, replace=False) for _ in found[0, of]]
        found[:, of, few] = np.add.reduceat(powers[:, np.array(places)], starts, axis=2)
    part = sizes[~few] / sizes[~few].sum()
    lengths, axes = np.linalg.eigh(np.cov(powers))
    free = random.standard_normal((DEALS, len(part), 2)) @ (axes * np.sqrt(lengths.clip(0))).T
    free = np.moveaxis(free, 2, 0) * np.sqrt(sizes[~few])
    free -= free.sum(axis=2, keepdims=True) * part
    rest = powers.sum(axis=1)[:, None] - found[:, :, few].sum(axis=2)
    found[:, :, ~few] = free + rest[:, :, None] * part
    return _studentised(found[0], found[1], sizes, np.abs(values).max())


def _few(values: Values, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(K,) The slices permuted explicitly: all but the largest, unless there are MANY values."""
    few = np.ones(len(sizes), bool)
    if len(values) >= MANY:
        commonest = np.unique(values, return_counts=True)[1].max()
        few = sizes * (1 - commonest / len(values)) < ENOUGH
    few[sizes.argmax()] = False
    return few


def _seen(values: Values, sizes: NDArray[np.int64]) -> Values:
    """(K,) The Studentised contrasts of slices that follow one another in (n,) values."""
    starts, centred = np.cumsum(sizes) - sizes, values - values.mean()
    sums, squares = (np.add.reduceat(of, starts)[None] for of in (centred, centred**2))
    return _studentised(sums, squares, sizes, np.abs(values).max())[0]


def _studentised(sums: Values, squares: Values, sizes: NDArray[np.int64], largest: float) -> Values:
    """(B, K) Welch's |t| of each slice against the rest, from the sums and sums of squares of each.
    0 if both sides have the same mean, infinite if neither has a spread."""
    n = sizes.sum()
    whole, both = sums.sum(axis=1, keepdims=True), squares.sum(axis=1, keepdims=True)
    inside = _mean_and_error(sums, squares, sizes, both)
    outside = _mean_and_error(whole - sums, both - squares, n - sizes, both)
    gap, error = np.abs(inside[0] - outside[0]), np.sqrt(inside[1] + outside[1])
    far = np.where(gap > NEAR * largest, np.inf, 0.0)
    return np.divide(gap, error, out=far, where=error > 0)


def _mean_and_error(
    sums: Values, squares: Values, n: NDArray[np.int64], of_all: Values
) -> tuple[Values, Values]:
    """Means, and the squares of their standard errors; `of_all`: the sums of all squares."""
    mean = sums / np.maximum(n, 1)
    spread = np.maximum(squares - sums * mean, 0)
    # A rounding residue of equal values is not a spread.
    spread = np.where(spread > _ROUNDING * of_all, spread, 0)
    return mean, spread / np.maximum(n * (n - 1), 1)
