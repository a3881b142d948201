"""Slices of queries: is one query group easier, or is the difference between two systems larger
there? A slice's effect is its contrast with all other queries: the mean inside minus the mean
outside, divided by its standard error (Welch 1947, two samples of unequal variances). Permuting the
labels over the queries gives the null distribution: exactly if labels are independent of the
values, and nearly so if only the means are equal (Janssen 1997, Statistics & Probability Letters
36, 9). The maximum over all slices of a key in each permutation corrects for their number (maxT,
Westfall and Young 1993). If a slice's own interval excludes 0 and that of all queries does not,
this is no evidence of an effect (Gelman and Stern 2006).

With families of queries, nothing is permuted. The standard error of the contrast is CR2's for two
means, where a family may have queries on both sides, with Satterthwaite's degrees of freedom (at
most those of a mean over all families). Holm's method corrects for the number of slices.
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
"""Maximum number of values of a key; more of them do not make useful query groups."""
REASON = "reason"
"""Key of labels that people give to queries after seeing the results."""
FEWEST = 5
"""A contrast is tested only with at least this many queries inside and outside; with fewer, the
spread is unknown."""
DEALS = 2_000
"""Number of permutations of the labels, B; p is at least 1 / (1 + B)."""
MANY, ENOUGH = 20_000, 500
"""With MANY queries or more, the mean of a slice under permutation is drawn from the normal
distribution, provided that at least ENOUGH of its queries can be expected to have a value other
than the most common one."""
_ROUNDING = 1e-12
"""Rounding tolerance, relative to the sum of all squares."""
_AT_ONCE = 2_000_000
"""Number of values permuted at a time, to limit memory."""


def means(values: ArrayLike, slices: Sequence[str], families: Codes | None = None) -> DataFrame:
    """Return value, n, mean, low and high for each slice of the (n,) values, in the order of first
    occurrence. low and high are Student's 95% interval (by family, if `families` are given); absent
    for a single query."""
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
    """Return value, n, mean, low, high, contrast, p and p_adjusted: `means`, with a test of each
    slice against the rest. `contrast` is the mean inside minus the mean outside. p is absent for
    fewer than FEWEST queries inside or outside, or without spread; p_adjusted corrects for the
    number of tested slices."""
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
    """Return the p of a difference between the means inside and outside; nan for fewer than FEWEST
    families on a side."""
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
    """Compare means with and without some queries. For each row of the (K, n) values, some of which
    are nan: value (the mean over all queries), value_without (over only the `kept` ones), change
    (the second minus the first), and its 95% interval, low and high, for queries like these, some
    of which would also be left out. It comes from linearisation (Särndal, Swensson and Wretman
    1992, section 5.5), with Student's t for the smaller of the two groups, kept and left out. It is
    nan if that group has fewer than FEWEST queries, and [0, 0] if all are kept. It covered the true
    change in 95 to 99% of samples of real scores with ten or more queries in that group, and in
    more with fewer."""
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
    """Return p, the share of permutations at least as extreme; the observed one counts."""
    return (1 + as_far.sum(axis=0)) / (1 + len(as_far))


def _dealt(values: Values, sizes: NDArray[np.int64], seed: int) -> Values:
    """Return studentised contrasts when the values are permuted over the slices, (DEALS, K). The
    largest slice gets the remaining values. With MANY values, slices with ENOUGH differing values
    are drawn from normal distributions: given the remaining values, their sums and sums of squares
    have the covariance of sampling without replacement (Cochran 1977, Sampling Techniques, section
    2.9)."""
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
    """Return a mask (K,) of the slices that are permuted explicitly: all but the largest, unless
    there are MANY values."""
    few = np.ones(len(sizes), bool)
    if len(values) >= MANY:
        commonest = np.unique(values, return_counts=True)[1].max()
        few = sizes * (1 - commonest / len(values)) < ENOUGH
    few[sizes.argmax()] = False
    return few


def _seen(values: Values, sizes: NDArray[np.int64]) -> Values:
    """Return the studentised contrasts of slices that are adjacent in the (n,) values, (K,)."""
    starts, centred = np.cumsum(sizes) - sizes, values - values.mean()
    sums, squares = (np.add.reduceat(of, starts)[None] for of in (centred, centred**2))
    return _studentised(sums, squares, sizes, np.abs(values).max())[0]


def _studentised(sums: Values, squares: Values, sizes: NDArray[np.int64], largest: float) -> Values:
    """Return Welch's |t| of each slice against the rest, (B, K), from the sums and sums of squares
    of the slices. Without any spread, it is 0 if both sides have the same mean, else infinite."""
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
    """Return means and their squared standard errors; `of_all` has the sums of all squares."""
    mean = sums / np.maximum(n, 1)
    spread = np.maximum(squares - sums * mean, 0)
    # Equal values have no spread, only a rounding residue.
    spread = np.where(spread > _ROUNDING * of_all, spread, 0)
    return mean, spread / np.maximum(n * (n - 1), 1)
