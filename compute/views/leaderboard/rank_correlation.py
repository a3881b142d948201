"""Two leaderboards of the same systems: how alike are their orders?"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from compute.base.bounded_cache import remembered
from compute.evaluate.tolerance import levels, ranks

FEWEST_SYSTEMS = 3
"""Of two systems an order is right or wrong; a correlation says nothing more."""


@dataclass(frozen=True)
class Agreement:
    """How far two boards order the same systems alike: 1 the same way, -1 the other way round."""

    tau: float
    """Kendall's tau-b; absent (nan) where all systems of a board are equal."""
    tau_ap: float
    """AP correlation of the other board with the reference."""
    tau_ap_back: float
    """The same with the boards' parts exchanged."""
    n: int

    @property
    def tau_ap_mean(self) -> float:
        """The symmetric AP correlation: the mean of both directions."""
        return (self.tau_ap + self.tau_ap_back) / 2


def tau(one: ArrayLike, other: ArrayLike) -> float:
    """Kendall's tau-b of two boards' values, by system; nan where all of a board are equal."""
    # Imported late: it takes half a second, and few figures need it.
    from scipy import stats

    return float(np.asarray(stats.kendalltau(levels(one), levels(other)))[0])


def tau_ap(reference: ArrayLike, other: ArrayLike) -> float:
    """AP correlation (Yilmaz, Aslam and Robertson 2008) of a board with a reference board.

    Going down the other board: of the systems above each one, the share that the reference has
    above it, too; the mean over all but the first, times 2, minus 1. So a swap near the top costs
    more than one further down. Values by system, more is better. Systems equal on the other board
    count as in all orders alike, and equal on the reference as half right (the expected value over
    orders drawn by lot; Urbano and Marrero 2017 call it tau_AP,a).
    """
    base, own = levels(reference), levels(other)
    # By rows: how far the reference puts the column's system above the row's.
    right = 0.5 + 0.5 * np.sign(np.subtract.outer(base, base)).T
    total = 0.0
    for place in range(len(own)):
        above = own > own[place]
        equal = own == own[place]
        equal[place] = False
        total += _share(right[place, above].sum(), right[place, equal].sum(), above, equal)
    return 2 * total / (len(own) - 1) - 1


def _share(above: float, beside: float, over: NDArray[np.bool_], equal: NDArray[np.bool_]) -> float:
    """The expected share of rightly placed systems above one that stands beside equal ones.

    `above` and `beside` count the rightly placed ones; with k of the equal ones above it, a share
    k / n of those beside is, and each k from 0 to n is as likely.
    """
    many, n = int(over.sum()), int(equal.sum())
    shares = [(above + (k / n * beside if n else 0)) / (many + k) for k in range(n + 1) if many + k]
    return sum(shares) / (n + 1)


def agreement(reference: Mapping[str, float], other: Mapping[str, float]) -> Agreement | None:
    """The agreement of two boards (value by system, more is better) on the systems of both.

    None for fewer than FEWEST_SYSTEMS. Absent values count as no system.
    """
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
    """The systems of two boards with their averages over the datasets that both boards share.

    `reference` and `other`: cells (dataset, system, value, in_domain, suspect); `sign` of each is
    -1 where less is better. system, left, right (averages), left_rank, right_rank, n_datasets: of
    the systems that both boards have, the datasets where all of these have a sound value on both.
    No rows where there is no such dataset.
    """
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
    kept = cells[~cells["in_domain"] & ~cells["suspect"] & cells["value"].notna()]
    return kept[["dataset", "system", "value"]]
