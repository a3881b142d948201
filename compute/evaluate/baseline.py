"""Compares all systems with a baseline by the randomisation test of `significance`."""

from collections.abc import Sequence

import numpy as np
from pandas import DataFrame

from compute.evaluate import families as of_families
from compute.evaluate.distributions import Runs, normal_chance
from compute.evaluate.families import Codes
from compute.evaluate.sign_flips import Signs, on_one_thread
from compute.evaluate.significance import PERMUTATIONS, SEED, Values, least
from compute.evaluate.tolerance import equal

NORMAL = 100
"""With this effective number of differences or more, the normal distribution replaces the sums
under random signs. At p = .0006, which is .05 divided by 80 systems, its tail is 9% too large; the
p of 10,000 drawn patterns has a standard error of 40%."""


def against(
    parts: Sequence[Values], base: int, families: Codes | None = None, runs: Runs | None = None
) -> DataFrame:
    """Compare each system with the baseline, over the n queries that both have. Returns a row per
    system: n, difference (its mean minus the baseline's), error (the standard error of the
    difference), differing (queries with different values), units (queries), freedom (degrees of
    freedom), alone (the error over queries) and p. With `families`, which cover the queries of all
    parts, differing, units, freedom, error and p are by family.

    `parts` has the values of systems x queries on each part of a dataset, nan if a system has no
    value; `base` is the row of the baseline. Parts count equally. p is two-sided and not corrected;
    it is 1 for systems that are equal on every query. Where `runs` affect a difference, its p is
    over queries and runs.
    """
    found, shares = _weighed(parts, base, families)
    p = _p(shares)
    if runs is not None:
        rows = np.arange(len(found))
        of, how = runs.pairs(rows, rows * 0 + base), ("difference", "error", "freedom")
        p = np.where(of.some, of.chance(*(found[name].to_numpy() for name in how)), p)
        p[base] = 1
    return found.assign(p=p)


def differences(parts: Sequence[Values], base: int, families: Codes | None = None) -> DataFrame:
    """Return the columns of `against` except p."""
    return _weighed(parts, base, families)[0]


def _weighed(
    parts: Sequence[Values], base: int, families: Codes | None
) -> tuple[DataFrame, Values]:
    """Return `differences`, and each query's (or family's) share in each system's difference."""
    gaps = [_gaps(part, base) for part in parts]
    sizes = np.array([np.count_nonzero(~np.isnan(gap), axis=1) for gap in gaps])
    # By part and system: 1 / (parts with common queries x queries of this part).
    weights = 1 / np.maximum(sizes * np.count_nonzero(sizes, axis=0), 1)
    weighted = [np.nan_to_num(gap) * own[:, None] for gap, own in zip(gaps, weights, strict=True)]
    shares = np.concatenate(weighted, axis=1)
    there = [~np.isnan(gap) * own[:, None] for gap, own in zip(gaps, weights, strict=True)]
    n, means, held = sizes.sum(axis=0), shares.sum(axis=1), np.concatenate(there, axis=1)
    squares = ((shares - held * means[:, None]) ** 2).sum(axis=1)
    error = np.sqrt(squares * n / np.maximum(n - 1, 1))
    found = {"n": n, "difference": means, "error": error, "alone": error, "units": n}
    found["freedom"] = n - 1
    if families is not None:
        shares, held = (of_families.sums(of, families) for of in (shares, held))
        found["error"] = of_families.error(shares - held * means[:, None], held)
        found["units"] = np.count_nonzero(held, axis=1)
        found["freedom"] = of_families.freedom(held)
    return DataFrame(found | {"differing": np.count_nonzero(shares, axis=1)}), shares


def holm(p: Values) -> Values:
    """Correct p-values by Holm's method. The result equals that of statsmodels, which needs a tenth
    of a second more to free memory."""
    order = np.argsort(p, kind="stable")
    found = np.empty_like(p)
    found[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(found, 1)


def _gaps(part: Values, base: int) -> Values:
    """Return each system's values minus the baseline's; rounding differences become 0."""
    gap = part - part[base]
    return np.where(equal(gap, 0), 0.0, gap)


def _p(shares: Values) -> Values:
    """Return the two-sided p of each row's sum when each share gets a random sign."""
    squares = shares * shares
    square, fourth = squares.sum(axis=1), np.einsum("ij,ij->i", squares, squares)
    some = square > 0
    effective = np.divide(square**2, fourth, out=np.zeros_like(square), where=some)
    normal, drawn = some & (effective >= NORMAL), some & (effective < NORMAL)
    found = np.ones(len(shares))
    found[normal] = normal_chance(shares[normal].sum(axis=1) / np.sqrt(square[normal]))
    if drawn.any():
        found[drawn] = _drawn(shares[drawn])
    return found


@on_one_thread()
def _drawn(shares: Values) -> Values:
    """Return each row's p from drawn sign patterns."""
    differing = shares[:, shares.any(axis=0)]
    of_queries = differing.T.copy()
    spread = np.sqrt((differing**2).sum(axis=1))
    seen = least(np.abs(differing.sum(axis=1)) / spread) * spread
    signs, counts = Signs(len(of_queries), PERMUTATIONS, SEED), np.zeros(len(shares), np.int64)
    for block in signs.blocks():
        counts += np.count_nonzero(np.abs(block @ of_queries) >= seen, axis=0)
    return signs.p(counts)
