"""Two judgement sets side by side: does the order of the systems depend on who judged?"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.evaluate import measures, significance
from compute.evaluate.tolerance import levels
from compute.reading.overlay.rescoring import Scored
from compute.views.leaderboard.rank_correlation import Agreement, agreement

LEVEL = 0.05
"""Of significance, for all pairs of systems together."""


@dataclass(frozen=True)
class Comparison:
    """The boards of the same systems on the same queries by two sets, left and right."""

    measure: str
    n_queries: int
    """That both sets evaluate, for every system."""
    means: DataFrame
    """system, left, right: the mean over these queries by either set."""
    agreement: Agreement | None
    """Of both orders, the left one as the reference; None for two systems."""
    pairs: DataFrame
    """A row for every two systems: system, other, left, right (mean difference), left_p, right_p
    (adjusted over all pairs), flips (the order turns round), left_significant, right_significant.
    Of systems that are equal by one set the order does not flip."""

    def counts(self) -> Mapping[str, int]:
        """Of pairs: order_flips; only_left and only_right, significant by one set alone; turned,
        significant by both and the other way round."""
        rows = self.pairs
        left, right = rows["left_significant"], rows["right_significant"]
        return {
            "order_flips": int(rows["flips"].sum()),
            "only_left": int((left & ~right).sum()),
            "only_right": int((right & ~left).sum()),
            "turned": int((left & right & rows["flips"]).sum()),
        }


def compared(left: Scored, right: Scored, measure: str) -> Comparison:
    """The systems of one dataset by two sets, on the queries that both evaluate.

    Pairs are tested by randomisation, corrected for all of them by maxT
    (`significance.pairs`). Raises WrongInput where fewer than two systems or queries are left.
    """
    one, two = (_values(found, measure) for found in (left, right))
    names = sorted(set(one) & set(two))
    a, b = (np.array([values[name] for name in names]) for values in (one, two))
    whole = ~(np.isnan(a) | np.isnan(b)).any(axis=0) if names else np.zeros(0, np.bool_)
    if len(names) < 2 or whole.sum() < 2:
        raise WrongInput(
            f"both sets score {len(names)} systems by {measure} on {int(whole.sum())} queries:"
            " to compare them takes two of each"
        )
    a, b, sign = a[:, whole], b[:, whole], measures.better(measure)
    means = DataFrame({"system": names, "left": a.mean(axis=1), "right": b.mean(axis=1)})
    boards = (dict(zip(names, sign * means[side], strict=True)) for side in ("left", "right"))
    found = agreement(*boards)
    return Comparison(measure, a.shape[1], means, found, _pairs(names, means, a, b))


def _values(found: Scored, measure: str) -> dict[str, NDArray[np.float64]]:
    """By system its value of each query, NaN where there is none."""
    if measure not in found.measures:
        raise WrongInput(f"no run is scored by {measure}: python -m compute score --measure does")
    place = found.measures.index(measure)
    values = found.values[:, place]
    scored = found.followed[:, place] & ~np.isnan(values).all(axis=1)
    return {name: values[row] for row, name in enumerate(found.systems) if scored[row]}


def _pairs(
    names: list[str], means: DataFrame, a: NDArray[np.float64], b: NDArray[np.float64]
) -> DataFrame:
    left, right = significance.pairs(a), significance.pairs(b)
    first, second = (left[side].to_numpy() for side in ("a", "b"))
    # Equal means are one level, so that rounding turns no order round.
    order = [levels(means[side]) for side in ("left", "right")]
    signs = [np.sign(worth[first] - worth[second]) for worth in order]
    return DataFrame(
        {
            "system": np.array(names, object)[first],
            "other": np.array(names, object)[second],
            "left": left["difference"],
            "right": right["difference"],
            "left_p": left["p_adjusted"],
            "right_p": right["p_adjusted"],
            "flips": signs[0] * signs[1] < 0,
            "left_significant": left["p_adjusted"] <= LEVEL,
            "right_significant": right["p_adjusted"] <= LEVEL,
        }
    )
