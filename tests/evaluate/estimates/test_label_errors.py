"""Rates of errors in labels: worked by hand where one stratum makes them simple."""

import numpy as np
import pytest
from scipy import stats

from compute.evaluate.estimates import label_errors


def test_keys_go_by_size_but_one_to_each() -> None:
    allocated = label_errors.allocated
    assert allocated(np.array([100, 200, 300]), 60).tolist() == [10, 20, 30]
    assert allocated(np.array([1, 10_000, 0]), 5).tolist() == [1, 4, 0]
    assert allocated(np.array([3, 500, 900]), 23, equally=True).tolist() == [3, 10, 10]
    assert allocated(np.array([3, 4]), 50).tolist() == [3, 4]


def test_of_one_stratum_it_is_jeffreys_interval() -> None:
    size, n, found = (np.array([number]) for number in (1_000_000, 150, 8))
    low, high = label_errors.interval(size, n, found, found)
    assert (low, high) == pytest.approx(stats.beta(8.5, 142.5).ppf([0.025, 0.975]), abs=0.004)
    none = np.array([0])
    assert label_errors.interval(size, n, none, none)[0] == 0
    assert label_errors.interval(size, n, n, n)[1] == 1


def test_where_all_was_looked_at_nothing_is_uncertain() -> None:
    sizes, found = np.array([50, 30]), np.array([7, 1])
    assert label_errors.interval(sizes, sizes, found, found) == (0.1, 0.1)
    # Two that nobody can judge may both be wrong.
    assert label_errors.interval(sizes, sizes, found, found + 1) == (0.1, 0.125)


def test_strata_count_by_their_size_and_not_by_their_keys() -> None:
    sizes, n, found = np.array([900, 100]), np.array([50, 50]), np.array([0, 25])
    assert label_errors.estimate(sizes, n, found) == pytest.approx(0.05)
    low, high = label_errors.interval(sizes, n, found, found)
    assert 0.03 < low < 0.05 < high < 0.13
    assert np.isnan(label_errors.estimate(sizes, np.zeros(2, int), np.zeros(2, int)))


def test_strata_without_an_error_are_less_certain_where_others_have_many() -> None:
    random, n = np.random.default_rng(1), np.array([20, 20, 20, 20])
    even, uneven = (
        label_errors.rates(n, np.array(found), 2_000, random)[:, 0]
        for found in ([2] * 4, [0, 8, 0, 0])
    )
    assert even.mean() == pytest.approx(0.1, abs=0.02)
    assert uneven.mean() < 0.07, "its own keys count, but the others' too"


@pytest.mark.long
def test_about_150_keys_bring_5_percent_to_4_points() -> None:
    assert label_errors.needed(100_000) == 151
    assert label_errors.needed(500) == 118
    assert label_errors.needed(20) == 19
    assert label_errors.reach(0.05, np.array([151.0]), 100_000) <= label_errors.WITHIN
