"""Rank correlation of the same systems on two leaderboards."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from compute.base.bounded_cache import remembered
from compute.evaluate.tolerance import levels, ranks

FEWEST_SYSTEMS = 3
"""Fewest systems; with two, a correlation says no more than their order."""


@dataclass(frozen=True)
class Agreement:
    """Rank agreement of two leaderboards: 1 for the same order, -1 for the reverse."""

    tau: float
    """Kendall's tau-b; nan if all systems of a leaderboard are tied."""
    tau_ap: float
    """AP correlation of the other leaderboard with the reference."""
    tau_ap_back: float
    """AP correlation with the roles of the two leaderboards exchanged."""
    n: int

    @property
    def tau_ap_mean(self) -> float:
        """The symmetric AP correlation: the mean of both directions."""
        return (self.tau_ap + self.tau_ap_back) / 2


def tau(one: ArrayLike, other: ArrayLike) -> float:
    """Return Kendall's tau-b of two leaderboards' values; nan if all values of one are tied."""
    # Importing it takes half a second, and few figures need it.
    from scipy import stats

    return float(np.asarray(stats.kendalltau(levels(one), levels(other)))[0])


def tau_ap(reference: ArrayLike, other: ArrayLike) -> float:
    """Return the AP correlation (Yilmaz, Aslam and Robertson 2008) of a leaderboard with a
    reference. For each system but the first on the other leaderboard, take the systems above it and
    the share of these that the reference also has above it; the result is the mean, times 2, minus
    1. A swap near the top therefore costs more than one further down. Values are by system; higher
    is better. Ties on the other leaderboard count as the average over all their orders, ties on the
    reference as half right (the expected value over random orders; Urbano and Marrero 2017 call it
    tau_AP,a)."""
    base, own = levels(reference), levels(other)
    # 1 where the reference has the column's system above the row's, 0.5 where they tie.
    right = 0.5 + 0.5 * np.sign(np.subtract.outer(base, base)).T
    total = 0.0
    for place in range(len(own)):
        above = own > own[place]
        equal = own == own[place]
        equal[place] = False
        total += _share(right[place, above].sum(), right[place, equal].sum(), above, equal)
    return 2 * total / (len(own) - 1) - 1


def _share(above: float, beside: float, over: NDArray[np.bool_], equal: NDArray[np.bool_]) -> float:
    """Return the expected share of correctly placed systems above one that has ties. `above` and
    `beside` count the correctly placed systems above it and among its ties; if k of n ties are
    above it, so is a share k / n of `beside`, and each k from 0 to n is equally likely."""
    many, n = int(over.sum()), int(equal.sum())
    shares = [(above + (k / n * beside if n else 0)) / (many + k) for k in range(n + 1) if many + k]
    return sum(shares) / (n + 1)


def agreement(reference: Mapping[str, float], other: Mapping[str, float]) -> Agreement | None:
    """Return the agreement of two leaderboards (value by system, higher is better) on the systems
    with values on both; None for fewer than FEWEST_SYSTEMS."""
    names = [
        name
        for name, value in reference.items()
        if not math.isnan(value) and not math.isnan(other.get(name, math.nan))
    ]
    if len(names) < FEWEST_SYSTEMS:
        return None
    one, two = ([board[name] for name in names] for board in (reference, other))
    return Agreement(tau(one, two), tau_ap(one, two), tau_ap(two, one), len(names))


@remembered
def side_by_side(reference: DataFrame, other: DataFrame, sign: tuple[int, int]) -> DataFrame:
    """Average the systems of two leaderboards over the datasets on which all shared systems have
    sound values on both: system, left, right (averages), left_rank, right_rank, n_datasets. No rows
    if there is no such dataset. `reference` and `other`: cells (dataset, system, value, in_domain,
    suspect); each `sign` is -1 if lower is better."""
    both = _sound(reference).merge(_sound(other), on=["dataset", "system"], suffixes=("", "_other"))
    counts = both.groupby("dataset")["system"].nunique()
    whole = counts[counts == both["system"].nunique()].index
    shared = both[both["dataset"].isin(whole)]
    means = shared.groupby("system", sort=False)[["value", "value_other"]].mean().reset_index()
    found = means.rename(columns={"value": "left", "value_other": "right"})
    for side, way in zip(("left", "right"), sign, strict=True):
        found[f"{side}_rank"] = ranks(way * found[side]).astype(int)
    return found.assign(n_datasets=len(whole))


def _sound(cells: DataFrame) -> DataFrame:
    """Return dataset, system, value of the cells that are neither in-domain, suspect nor absent."""
    kept = cells[~cells["in_domain"] & ~cells["suspect"] & cells["value"].notna()]
    return kept[["dataset", "system", "value"]]
