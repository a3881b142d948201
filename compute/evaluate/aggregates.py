"""Ways to rank systems by their values on several datasets. In a mean, datasets with large
differences dominate; ranks and wins weight all datasets equally, however small their differences.
If all ways agree, the ranking does not depend on the choice. The values form a complete matrix of D
datasets x S systems. Ranks, wins and shares of the best depend on which other systems are included;
means and medians do not. A geometric mean is 0 if any value is 0."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compute.evaluate.tolerance import levels, ranks_by_row

Values = NDArray[np.float64]
Numbers = NDArray[np.int64]
DRAWS = 1_000
"""Number of resamples of datasets for an interval."""
_CLOSE = 1e-9
_SMALLEST = 1e-12


class Way(NamedTuple):
    """A way to aggregate."""

    of: Callable[[Values, Values], Values]
    """A function from (D, S) values and (B, D) dataset weights, which sum to 1 in each row, to (B,
    S) numbers: one row for each row of weights. Higher is better in both values and numbers."""
    of_size: bool = False
    """True if it needs non-negative values, of which higher ones are better."""


def _mean(values: Values, weights: Values) -> Values:
    return weights @ values


def _median(values: Values, weights: Values) -> Values:
    """Return each system's weighted median: the mean of the two middle values if there are two."""
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, 0)
    # (B, D, S): the total weight of the values up to each one, in ascending order.
    sums = np.cumsum(weights[:, order], axis=1)
    columns = np.arange(values.shape[1])
    lower = ordered[(sums >= 0.5 - _CLOSE).argmax(axis=1), columns]
    return (lower + ordered[(sums > 0.5 + _CLOSE).argmax(axis=1), columns]) / 2


def _geometric(values: Values, weights: Values) -> Values:
    """Return each system's weighted geometric mean, 0 if one of its values is 0 or less."""
    logs = np.log(np.maximum(values, _SMALLEST))
    nothing = weights @ (values <= 0) > 0
    return np.where(nothing, 0.0, np.exp(weights @ logs))


def _of_best(values: Values, weights: Values) -> Values:
    """Return the weighted mean of each value's share of the best value on its dataset. If the best
    value is 0, each share counts as 1."""
    best = values.max(axis=1, keepdims=True)
    return weights @ np.divide(values, best, out=np.ones_like(values), where=best > 0)


def _mean_rank(values: Values, weights: Values) -> Values:
    return -(weights @ mean_ranks(values))


MEAN, BY_TASK = "mean", "mean by task"
WAYS: dict[str, Way] = {
    MEAN: Way(_mean),
    "median": Way(_median),
    "geometric mean": Way(_geometric, of_size=True),
    "share of the best": Way(_of_best, of_size=True),
    "ranks and wins": Way(_mean_rank),
}
"""The last one orders systems by their mean rank. If each system has a value on each dataset,
Borda's count and Bradley and Terry's strengths give the same order: all three depend only on the
number of systems that a system beats, with a tie counted as half (for strengths see Davidson 1970,
section 3)."""


def mean_ranks(values: Values) -> Values:
    """Return each value's rank on its dataset, (D, S): 1 is the largest; ties get the mean."""
    of = np.array([levels(row) for row in values])
    above = (of[:, None, :] > of[:, :, None]).sum(axis=2)
    equal = (of[:, None, :] == of[:, :, None]).sum(axis=2)
    return above + (equal + 1) / 2


def counts(values: Values) -> tuple[Values, Values]:
    """Return on how many datasets system i beats j, (S, S), and on how many they tie, (S, S)."""
    of = np.array([levels(row) for row in values])
    wins = (of[:, :, None] > of[:, None, :]).sum(axis=0).astype(float)
    ties = (of[:, :, None] == of[:, None, :]).sum(axis=0).astype(float)
    np.fill_diagonal(ties, 0)
    return wins, ties


def unbounded(wins: Values, ties: Values) -> NDArray[np.bool_]:
    """Return an (S,) mask of the systems whose Bradley–Terry strength is unbounded: a proper subset
    that no outsider ever beat or tied (Ford 1957). `wins` and `ties` are those of `counts`."""
    # [i, j]: whether i beat or tied j, directly or through other systems.
    reached = (wins + ties) > 0
    np.fill_diagonal(reached, True)
    for middle in range(len(reached)):
        reached |= np.outer(reached[:, middle], reached[middle])
    reaches_all_above = np.all(reached | ~reached.T, axis=1)
    return reaches_all_above & ~np.all(reached.T, axis=1)


def aggregated(values: Values, tasks: Sequence[str], sign: int = 1) -> dict[str, Values]:
    """Return, for each way by name, an (S,) array with a number for each system; higher is better.
    `values` is the complete (D, S) matrix and `tasks` the task of each dataset. If lower values are
    better (`sign` is -1), ways that need non-negative values are left out. The mean of the tasks'
    means is left out if it equals the mean or if there is only one task."""
    weights = np.full((1, len(values)), 1 / len(values))
    return {name: of[0] for name, of in _by_way(values, tasks, sign, weights).items()}


def rank_intervals(
    values: Values, tasks: Sequence[str], sign: int = 1, draws: int = DRAWS, seed: int = 0
) -> dict[str, tuple[Numbers, Numbers]]:
    """Return, for each way by name, the 2.5th and 97.5th percentiles of each system's rank over
    resampled datasets, (S,) each. They show how much ranks depend on the choice of datasets and are
    not a test. A task that is not drawn has no weight in the mean by task."""
    n = len(values)
    random = np.random.default_rng(seed)
    weights = random.multinomial(n, np.full(n, 1 / n), size=draws) / n
    drawn = _by_way(values, tasks, sign, weights)
    return {name: _ends(ranks_by_row(of)) for name, of in drawn.items()}


def _by_way(values: Values, tasks: Sequence[str], sign: int, weights: Values) -> dict[str, Values]:
    """Return (B, S) numbers by each way that suits the sign, a row for each row of weights."""
    worth = sign * values
    ways = {name: way for name, way in WAYS.items() if sign > 0 or not way.of_size}
    found = {name: way.of(worth, weights) for name, way in ways.items()}
    if 1 < len(set(tasks)) < len(tasks):
        found[BY_TASK] = _mean(worth, _by_task(tasks, weights))
    return found


def _by_task(tasks: Sequence[str], weights: Values) -> Values:
    """Return (B, D) weights under which all drawn tasks count equally."""
    names = list(dict.fromkeys(tasks))
    of = np.array([[task == name for name in names] for task in tasks], dtype=float)
    sums = weights @ of
    there = (sums > 0).sum(axis=1, keepdims=True)
    own = np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0) / there
    return weights * (own @ of.T)


def _ends(drawn: Values) -> tuple[Numbers, Numbers]:
    """Return the 2.5th and 97.5th percentiles of drawn ranks."""
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0, method="nearest")
    return low.astype(np.int64), high.astype(np.int64)
