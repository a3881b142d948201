"""Every system against a baseline at once: the p-values of the pairs, one by one."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from statsmodels.stats.multitest import multipletests

from compute.evaluate import baseline, significance

MADE = np.random.default_rng(5)
FORTY = np.clip(MADE.normal([[0.5], [0.42], [0.45], [0.5], [0.5]], 0.2, (5, 40)), 0, 1)


def exact(shares: NDArray[np.float64]) -> float:
    """The share of sign patterns whose sum is as far from 0, every pattern written out."""
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(shares))))
    return float((np.abs(signs @ shares) >= abs(shares.sum()) - 1e-12).mean())


def test_p_and_difference_are_those_of_each_pair_alone() -> None:
    found = baseline.against([FORTY], 0)
    for row in range(1, 5):
        (pair,) = significance.pairs(FORTY[[row, 0]], resamples=0).to_dict("records")
        # Drawn at once they are the same patterns.
        assert found["p"][row] == pair["p"]
        assert found["difference"][row] == pytest.approx(pair["difference"])
    assert found["n"].tolist() == [40] * 5 and found["p"][0] == 1


def test_a_system_is_compared_on_the_queries_that_it_has() -> None:
    gappy = FORTY[:3, :12].copy()
    gappy[1, 7:] = np.nan
    found = baseline.against([gappy], 0)
    assert found["n"].tolist() == [12, 7, 12]
    gaps = gappy[1, :7] - gappy[0, :7]
    assert found["difference"][1] == pytest.approx(gaps.mean())
    assert found["p"][1] == pytest.approx(exact(gaps), abs=0.015)


def test_parts_count_equally_and_those_without_common_queries_do_not_count() -> None:
    parts = [FORTY[:2, :3], FORTY[:2, 3:9], np.array([[0.5, np.nan], [np.nan, 0.5]])]
    found = baseline.against(parts, 0)
    gaps = [part[1] - part[0] for part in parts[:2]]
    assert found["difference"][1] == pytest.approx(np.mean([gap.mean() for gap in gaps]))
    assert found["n"][1] == 9
    shares = np.concatenate([gap / (2 * len(gap)) for gap in gaps])
    assert found["p"][1] == pytest.approx(exact(shares))


def test_of_many_queries_the_normal_distribution_stands_for_drawn_signs() -> None:
    many = np.clip(MADE.normal([[0.5], [0.49], [0.48], [0.5]], 0.2, (4, 3000)), 0, 1)
    found = baseline.against([many], 0)
    for row in range(1, 4):
        (pair,) = significance.pairs(many[[row, 0]], resamples=0).to_dict("records")
        noise = np.sqrt(pair["p"] * (1 - pair["p"]) / significance.PERMUTATIONS)
        assert found["p"][row] == pytest.approx(pair["p"], abs=4 * noise + 2e-4)


def test_of_many_queries_few_that_differ_are_drawn() -> None:
    """Four differences of 10,000, all on one side: 2 of 16 patterns are as extreme."""
    alike = np.full((2, 10_000), 0.5)
    alike[1, :4] = 0.7
    assert baseline.against([alike], 0)["p"][1] == 2 / 16


@pytest.mark.parametrize("p", [[0.04, 0.001, 0.03, 0.03, 1.0], [0.6], [0.9, 0.8]])
def test_correction_is_statsmodels(p: list[float]) -> None:
    theirs = multipletests(p, method="holm")[1]
    assert baseline.holm(np.array(p)) == pytest.approx(np.asarray(theirs))


def test_what_rounding_adds_is_no_difference() -> None:
    noise = np.array([[0.3] * 12, [0.3 + 1e-11] * 12])
    assert baseline.against([noise], 0)["p"][1] == 1


def test_differences_are_those_that_are_tested() -> None:
    parts = [FORTY[:, :7], FORTY[:, 7:]]
    tested = baseline.against(parts, 2)
    assert baseline.differences(parts, 2).equals(tested.drop(columns="p"))


def test_a_difference_of_zero_is_one_where_rounding_made_it_larger() -> None:
    """Sevenths of differences that sum to zero sum to zero but for rounding."""
    gaps = np.array([[0, -1, -2, -2, 2, 1, 2]]) / 4
    assert baseline._p(gaps / 7).tolist() == [1]
