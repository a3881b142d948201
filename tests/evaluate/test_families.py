"""Means of queries in families: worked by hand, by the formulas of matrices, and simulated."""

from itertools import product

import numpy as np
import pytest

from compute.base.errors import WrongInput
from compute.evaluate import baseline, families, non_inferiority, power, significance, slices
from compute.evaluate.families import Values
from tests.benchmarks.simulations import families as simulated

OF = np.array([0, 0, 0, 1, 1, 2, 3, 3, 3, 3, 4, 5])
A = np.array([0.5, 0.7, 0.2, 0.9, 0.3, 0.4, 0.8, 0.1, 0.6, 0.5, 0.3, 0.9])
B = np.array([0.1, 0.6, 0.1, 0.5, 0.4, 0.4, 0.2, 0.3, 0.1, 0.5, 0.0, 0.4])


def by_matrices(values: Values, of: np.ndarray) -> tuple[float, float]:
    """CR2's standard error of a mean and its degrees of freedom, as Pustejovsky and Tipton (2018)
    have them for any design: A_g = (I - H_gg)^(-1/2)."""
    n = len(values)
    hat = np.full((n, n), 1 / n)
    rest, square, columns = values - values.mean(), 0.0, []
    for one in np.unique(of):
        own = np.flatnonzero(of == one)
        lengths, axes = np.linalg.eigh((np.eye(n) - hat)[np.ix_(own, own)])
        root = axes / np.sqrt(lengths) @ axes.T @ np.ones(len(own)) / n
        square += (root @ rest[own]) ** 2
        columns.append((np.eye(n) - hat)[:, own] @ root)
    inner = np.array(columns) @ np.transpose(columns)
    return np.sqrt(square), np.trace(inner) ** 2 / (inner**2).sum()


def test_a_mean_by_family_is_cr2_with_satterthwaites_degrees() -> None:
    assert families.of_mean(A - B, OF) == pytest.approx(by_matrices(A - B, OF))
    assert families.freedom(np.full(20, 1 / 20)) == pytest.approx(19)
    assert families.of_mean(A, np.arange(12)) == pytest.approx((A.std(ddof=1) / 12**0.5, 11))
    assert np.isnan(families.of_mean(A, np.minimum(OF, 2))[1])


def test_a_pair_is_tested_by_flipping_the_sums_of_families() -> None:
    found = significance.two(A, B, families=OF)
    sums = np.bincount(OF, A - B)
    flips = np.array([sums @ signs for signs in product((1, -1), repeat=6)])
    assert found.p_randomisation == (np.abs(flips) >= sums.sum() - 1e-12).mean()
    error, freedom = by_matrices(A - B, OF)
    assert (found.error, found.freedom) == pytest.approx((error, freedom))
    alone = significance.two(A, B)
    assert found.design_effect == pytest.approx((error / alone.error) ** 2)
    assert (found.families, found.differing, np.isnan(found.p_wilcoxon)) == (6, 5, True)
    assert (found.won, found.lost, found.equal) == (alone.won, alone.lost, alone.equal)
    assert found.effect == pytest.approx(alone.effect)
    assert (alone.families, np.isnan(alone.design_effect)) == (0, True)


def test_a_family_with_most_of_the_queries_leaves_no_test() -> None:
    # By Kish (20 + 10)^2 / (20^2 + 10 * 1) = 2.2 families: the signs of the ten small ones do not
    # say what the mean over queries is.
    of = np.array([0] * 20 + [*range(1, 11)])
    found = significance.two(*np.array([np.full(30, 0.6), np.linspace(0.1, 0.5, 30)]), families=of)
    assert np.isnan([found.p_randomisation, found.low, found.high, found.effect_high]).all()
    assert (found.families, found.difference) == (11, pytest.approx(0.3))
    assert families.effective(np.full(30, 1 / 30), of) == pytest.approx(900 / 410)
    assert np.isnan(families.freedom([20 / 30] + [1 / 30] * 10))
    assert families.freedom(np.full(4, 0.25)) == pytest.approx(3)


def test_families_of_one_query_are_queries() -> None:
    both = np.array([A, B, A[::-1]])
    one, other = (significance.pairs(both, families=of) for of in (None, np.arange(12)))
    named = ["difference", "low", "high", "p", "p_adjusted", "effect_low", "error"]
    np.testing.assert_allclose(one[named], other[named], rtol=1e-9)
    np.testing.assert_allclose(power.of_pairs(one, 12)["alone"], power.of_pairs(other, 12)["alone"])
    (against, by_family) = (baseline.against([both], 0, of) for of in (None, np.arange(12)))
    np.testing.assert_allclose(against, by_family, rtol=1e-9)


def test_parts_weigh_the_same_and_a_single_family_is_refused() -> None:
    weights = np.where(OF < 3, 1 / 6, 1 / 6) / 2
    found = significance.two(A, B, weights=weights, families=OF)
    assert found.error == pytest.approx(significance.two(A, B, families=OF).error)
    with pytest.raises(WrongInput, match="two families"):
        significance.two(A, B, families=np.zeros(12, int))


def test_a_group_is_tested_against_the_others_by_family() -> None:
    of = np.repeat(np.arange(12), 3)
    values = np.where(of < 6, 1.0, 0.0) + np.tile([0.1, 0.2, 0.4, 0.5], 9)
    labels = np.where(of < 6, "x", "y").tolist()
    found = slices.contrasts(values, labels, families=of)
    assert (found["p_adjusted"] < 0.001).all()
    (error, freedom) = families.of_mean(values[of < 6], of[of < 6])
    high = values[of < 6].mean() + significance.student(0, error, freedom)[1]
    assert found["high"][0] == pytest.approx(high)
    few = slices.contrasts(values, np.where(of < 4, "x", "y").tolist(), families=of)
    assert few["p"].isna().all()


def test_the_gate_is_by_family_and_says_so() -> None:
    of = np.repeat(np.arange(30), 4)
    random = np.random.default_rng(1)
    gap = 0.2 * random.standard_normal(30)[of] + 0.01 * random.standard_normal(120)
    rows = simulated.frame(gap)
    alone = non_inferiority.decide({"d": rows}, 0.05)
    found = non_inferiority.decide({"d": rows.assign(family=of.astype(str))}, 0.05)
    assert [*found.columns[: len(alone.columns)]] == [*alone.columns]
    assert found["families"].tolist() == [30]
    assert found["design_effect"][0] == pytest.approx(4, rel=0.05)
    assert found["high"][0] > alone["high"][0]
    assert found["queries_needed"][0] == pytest.approx(4 * alone["queries_needed"][0], rel=0.1)


@pytest.mark.long
@pytest.mark.parametrize("icc", [0, 0.5])
def test_tests_and_intervals_by_family_err_as_often_as_they_say(icc: float) -> None:
    found = simulated.rates(30, 20, icc, 2_000, np.random.default_rng(3))
    assert 0.04 < found["flips"] < 0.06
    assert 0.94 < found["covered"] < 0.96
    assert found["covered by queries"] < 0.6 or not icc
