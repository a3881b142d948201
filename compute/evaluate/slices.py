"""Slices of queries: is one kind of queries easier, and do two systems differ there in another way?

A slice's effect is its contrast to all other queries: the mean in it minus the mean outside
(Welch 1947, two samples of unequal variances), corrected by Holm's method over the slices of one
key. That a slice's own interval leaves out 0 where that of all queries does not is no evidence of
one (Gelman & Stern 2006).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from compute.evaluate.baseline import holm
from compute.evaluate.quantiles import t_chance
from compute.evaluate.significance import student
from compute.evaluate.tolerance import TOLERANCE

Values = NDArray[np.float64]
FEWEST = 5
"""Queries inside and outside from which on a contrast is tested: few say little of their spread."""


class _Group(NamedTuple):
    n: int
    mean: float
    square: float
    """Of the standard error."""


def means(values: ArrayLike, slices: Sequence[str]) -> DataFrame:
    """value, n, mean, low, high: each slice of (n,) values, by first occurrence.

    The interval is Student's, of 95%; absent for a single query.
    """
    frame = DataFrame({"value": slices, "of": np.asarray(values, np.float64)})
    found = frame.groupby("value", sort=False)["of"].agg(["size", "mean", "std"]).reset_index()
    found = found.rename(columns={"size": "n"})
    low, high = student(found["mean"], found["std"] / np.sqrt(found["n"]), found["n"] - 1)
    return found.assign(low=low, high=high).drop(columns="std")


def contrasts(values: ArrayLike, slices: Sequence[str]) -> DataFrame:
    """value, n, mean, low, high, contrast, p, p_adjusted: `means`, and each slice against the rest.

    `contrast` is the mean inside minus the mean outside. p is absent where there are under FEWEST
    queries inside or outside, or no spread; p_adjusted holds for the slices that are tested.
    """
    of, names = np.asarray(values, np.float64), np.asarray(slices, dtype=object)
    found = means(of, slices)
    both = [(_group(of[names == one]), _group(of[names != one])) for one in found["value"]]
    found["contrast"] = [inside.mean - rest.mean for inside, rest in both]
    found["p"] = [_welch(inside, rest) for inside, rest in both]
    tested = found["p"].notna()
    found.loc[tested, "p_adjusted"] = holm(found.loc[tested, "p"].to_numpy())
    return found


def _group(values: Values) -> _Group:
    n = len(values)
    square = values.var(ddof=1) / n if n > 1 else np.nan
    return _Group(n, values.mean() if n else np.nan, square)


def _welch(one: _Group, other: _Group) -> float:
    if min(one.n, other.n) < FEWEST or not one.square + other.square > TOLERANCE**2:
        return np.nan
    both = one.square + other.square
    freedom = both**2 / (one.square**2 / (one.n - 1) + other.square**2 / (other.n - 1))
    return float(t_chance((one.mean - other.mean) / np.sqrt(both), freedom))
