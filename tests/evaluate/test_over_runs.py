"""Means over queries and runs: worked by hand, and simulated."""

from typing import Any

import numpy as np
import pytest
from pandas import DataFrame
from scipy import stats

from compute.evaluate import baseline, non_inferiority, rank_intervals, significance
from compute.evaluate.distributions import Runs, spread_said
from tests.benchmarks.simulations import repeats as simulated

MEANS = [[[0.50, 0.52, 0.57]], [[0.40]], [[0.3, 0.3, 0.3]]]
RUNS = Runs.over(MEANS)
VALUES = np.random.default_rng(1).random((3, 40)) * [[1], [0.8], [0.6]]


def test_the_variances_are_those_of_means_over_runs() -> None:
    assert RUNS.variance[:, 0] == pytest.approx([np.var(MEANS[0][0], ddof=1) / 3, 0, 0])
    assert RUNS.n.tolist() == [3, 1, 3]
    assert RUNS.spreads[[0, 2]] == pytest.approx([np.std(MEANS[0][0], ddof=1), 0])
    assert np.isnan(RUNS.spreads[1])
    assert [spread_said(of) for of in (0.00816, 0)] == [".0082", "0"]


def test_each_variance_has_its_own_t() -> None:
    two = RUNS.pairs(np.array([0]), np.array([1]))
    (half,) = two.half([0.01], 39, [0.05])
    square = (stats.t.ppf(0.975, 39) * 0.01) ** 2
    square += (stats.t.ppf(0.975, 2) * np.std(MEANS[0][0], ddof=1)) ** 2 / 3
    assert half == pytest.approx(square**0.5)
    assert two.chance([half], [0.01], [39]) == pytest.approx(0.05)
    assert two.chance([0.0], [0.01], [39]) == 1
    (taken,) = Runs.over(MEANS[:2]).taken().pairs(np.array([0]), np.array([1])).variance.sum(axis=1)
    assert taken == pytest.approx(np.var(MEANS[0][0], ddof=1) * (1 / 3 + 1))


@pytest.mark.long
def test_equal_runs_change_no_digit() -> None:
    equal = Runs.over([[[0.5, 0.5]], [[0.4]], [[0.3, 0.3, 0.3]]])
    ways: list[dict[str, Any]] = [{}, {"test": "t", "correction": "holm"}]
    for of in ways:
        one, other = (significance.pairs(VALUES, **of, runs=runs) for runs in (None, equal))
        assert one.equals(other[list(one)])
    assert significance.two(*VALUES[:2], runs=equal.pairs(np.array([0, 2]), np.array([0, 2])))
    assert baseline.against([VALUES], 0).equals(baseline.against([VALUES], 0, None, equal))


@pytest.mark.long
@pytest.mark.parametrize("correction", ["maxT", "holm", "none"])
def test_p_and_interval_agree(correction: str) -> None:
    random, seen = np.random.default_rng(2), 0
    for spread in np.linspace(0.001, 0.05, 12):
        means = random.normal(0.5, spread, (3, 1, 5)).tolist()
        found = significance.pairs(
            VALUES, runs=Runs.over(means), correction=correction, permutations=2_000
        )
        without = significance.pairs(VALUES, correction=correction, permutations=2_000)
        outside = (found["low"] > 0) | (found["high"] < 0)
        assert ((found["p_adjusted"] <= 0.05) == outside).all()
        assert (found["high"] - found["low"] > without["high"] - without["low"]).all()
        assert found["width"].to_numpy() == pytest.approx(without["high"] - without["low"])
        seen += int(outside.sum())
    assert 0 < seen < 36


def test_two_systems_are_tested_over_queries_and_runs() -> None:
    found = significance.two(VALUES[0], VALUES[1], runs=Runs.over(MEANS[:2]))
    alone = significance.two(VALUES[0], VALUES[1])
    assert found.high - found.low > alone.high - alone.low
    assert found.p_randomisation > alone.p_t
    assert np.isnan(found.p_t)
    assert np.isnan(found.p_wilcoxon)
    assert (found.effect, found.won) == (alone.effect, alone.won)


def test_a_ranking_widens_by_runs() -> None:
    queries = DataFrame({"dataset": "d", "query_id": range(40)})
    boards = [
        significance.Aligned(("a", "b", "c"), queries, VALUES, None, 0, runs=runs)
        for runs in (None, RUNS)
    ]
    one, other = (
        rank_intervals.of_scores([board]).systems.set_index("row").loc[0] for board in boards
    )
    assert other["high"] - other["low"] > 1.1 * (one["high"] - one["low"])


def test_the_gates_interval_is_over_runs() -> None:
    random = np.random.default_rng(3)
    frame = simulated.frame(random.normal(0, 0.1, 60), 3, 0.02, random)
    alone = frame.drop(columns=[name for name in frame if " run " in str(name)])
    one, other = (non_inferiority.decide({"d": of}, 0.02).iloc[0] for of in (alone, frame))
    assert other["high"] - other["low"] > one["high"] - one["low"]
    assert other.isna()["queries_needed"]


@pytest.mark.parametrize("runs", [2, 5])
def test_95_in_100_intervals_hold_the_mean(runs: int) -> None:
    got = simulated.rates(50, (runs, runs), 1.0, 0.3, 2_000, np.random.default_rng(runs))
    assert got["covered"] >= 0.94
    assert got["test"] <= 0.06
