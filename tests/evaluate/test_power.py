"""The power of paired tests, against printed values, values worked by hand, and the tests."""

import numpy as np
import pytest
from numpy.typing import NDArray
from statsmodels.stats.power import TTestPower

from compute.evaluate import baseline, power, significance
from compute.evaluate.sign_flips import LEVEL


@pytest.mark.parametrize(("size", "n"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_queries_for_small_medium_and_large_effects_are_the_printed_ones(
    size: float, n: int
) -> None:
    """R's power.t.test(delta = size, sd = 1, power = .8, type = "one.sample") has 198.15, 33.37 and
    14.30 of them; G*Power 3.1 the same, rounded up."""
    assert power.queries_needed(size, 1.0, LEVEL) == n


def test_of_many_queries_it_is_the_normal_distribution_worked_by_hand() -> None:
    # 1.959964 of the level, 0.841621 of the power: 2.801585 standard errors.
    assert power.errors_off(10**7, LEVEL) == pytest.approx(2.801585, abs=1e-4)
    # A deviation of .3 over 10,000 queries has a standard error of .003.
    found = power.detectable(0.003, 10_000, LEVEL, 5_000)
    assert found == pytest.approx(2.8019 * 0.003, rel=1e-4)
    # (2.801585 x .3 / .01)^2 = 7,064.0, and 1.96^2 / 2 = 1.9 as the deviation is not known.
    assert power.queries_needed(0.01, 0.3, LEVEL) == 7_066


@pytest.mark.parametrize(("n", "level"), [(10, 0.05), (50, 0.05), (300, 0.05), (50, 0.05 / 91)])
def test_it_is_that_of_statsmodels(n: int, level: float) -> None:
    theirs = TTestPower().solve_power(nobs=n, alpha=level, power=0.8, alternative="two-sided")
    # Theirs counts the wrong sign too, a chance of a millionth.
    assert power.errors_off(n, level) == pytest.approx(theirs * np.sqrt(n), rel=1e-5)


def test_queries_needed_undo_what_is_detectable() -> None:
    levels = np.array([0.05, 0.01, 0.0006])
    least = power.detectable(0.3 / np.sqrt(200), 200, levels, 200)
    for level, difference in zip(levels, least, strict=True):
        assert power.queries_needed(difference + 1e-9, 0.3, level) == 200
        assert power.queries_needed(difference - 1e-5, 0.3, level) == 201
    assert power.queries_needed(10.0, 0.3, LEVEL) == power.FEWEST
    assert power.queries_needed(1e-9, 0.3, LEVEL) == power.MOST


def test_where_too_few_queries_differ_nothing_is_said() -> None:
    # Five that differ have 2^5 signs: p is at least 2 / 32. At a strict level six are too few, too.
    asked = np.array([5, 6, 12, 300]), 300
    assert power.can_reject(*asked, LEVEL).tolist() == [False, True, True, True]
    assert power.can_reject(*asked, 0.0006).tolist() == [False, False, True, True]
    assert not power.can_reject(300, 300, [0.0, np.nan]).any()
    assert np.isnan(power.detectable(0.01, 300, LEVEL, 5))


FIVE = np.random.default_rng(3).normal(0.5, 0.2, (5, 40))


def test_the_level_of_an_interval_is_that_of_its_t_test() -> None:
    of = significance.pairs(FIVE, test="t", correction="holm", resamples=0)
    level = power.level_of(of["high"] - of["low"], of["error"], 40)
    assert level == pytest.approx(np.full(10, LEVEL / 10))
    found = power.of_pairs(significance.pairs(FIVE, resamples=0), 40)
    # maxT tests all pairs at one level, less strict than Bonferroni's.
    assert found["level"].to_numpy() == pytest.approx(np.full(10, found["level"][0]))
    assert LEVEL / 10 < found["level"][0] < LEVEL
    assert (found["detectable"] > found["alone"]).all()
    equal = power.of_pairs(significance.pairs(FIVE[[0, 0, 1]], resamples=0), 40)
    assert np.isnan(equal["detectable"][0]) and equal["differing"].tolist() == [0, 40, 40]


def test_standard_errors_against_a_baseline_are_those_of_the_pairs() -> None:
    parts = [FIVE[:, :10], FIVE[:, 10:]]
    found = baseline.against(parts, 0)
    for row in range(1, 5):
        weights = np.repeat([1 / 20, 1 / 60], [10, 30])
        two = significance.two(FIVE[row], FIVE[0], weights=weights, permutations=19, resamples=0)
        assert found["error"][row] == pytest.approx(two.error)
    assert found["differing"].tolist() == [0, 40, 40, 40, 40]


def drawn(shape: tuple[int, int, int], seed: int) -> NDArray[np.float64]:
    """Worlds x systems x queries: each query is hard or easy for all, and a system is as good as
    the others on three in five."""
    random = np.random.default_rng(seed)
    own = np.where(random.random(shape) < 0.6, 0, random.normal(0, 0.25, shape))
    return random.random((shape[0], 1, shape[2])) + own


@pytest.mark.long
@pytest.mark.parametrize("n", [50, 200])
def test_the_tests_find_what_is_said_to_be_detectable_in_8_of_10_samples(n: int) -> None:
    """Of the pair alone and among ten pairs, by the tests themselves, at the true deviation."""
    deviation = 0.25 * np.sqrt(2 * 0.4)
    error = deviation / np.sqrt(n)
    null = power.of_pairs(significance.pairs(drawn((1, 5, n), 1)[0], resamples=0), n)
    alone = float(power.detectable(error, n, LEVEL, n))
    among = float(power.detectable(error, n, null["level"][0], n))
    times = 200
    found = np.zeros(2)
    for world in drawn((times, 5, n), n):
        for place, lead in enumerate((alone, among)):
            ahead = world + lead * np.eye(5)[:, :1]
            of = significance.pairs(ahead[: 2 + 3 * place], permutations=499, resamples=0)
            found[place] += of["p_adjusted"][0] <= LEVEL and of["difference"][0] > 0
    assert found / times == pytest.approx(0.8, abs=0.085)  # three standard errors
