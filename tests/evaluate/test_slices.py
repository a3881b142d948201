from typing import Any

import numpy as np
import pytest
from scipy import stats

from compute.evaluate.slices import contrasts, means

RANDOM = np.random.default_rng(20261123)


def test_means_of_a_worked_example() -> None:
    found = means([1, 2, 3, 10], ["a", "a", "a", "b"])
    # 2 -+ 4.3027 / sqrt(3): the spread of 1, 2, 3 is 1, and t with two degrees of freedom 4.3027.
    assert found.to_numpy().tolist()[0] == ["a", 3, 2, *map(nearly, (-0.4841, 4.4841))]
    assert found.iloc[1].isna().to_list() == [False, False, False, True, True]


def nearly(value: float) -> Any:
    return pytest.approx(value, abs=1e-4)


def test_a_slice_is_tested_against_all_other_queries() -> None:
    values = RANDOM.normal(size=60)
    names = np.array(["a"] * 10 + ["b"] * 20 + ["c"] * 30)
    found = contrasts(values, names.tolist()).set_index("value")
    for name in "abc":
        inside, rest = values[names == name], values[names != name]
        welch = stats.ttest_ind(inside, rest, equal_var=False)
        assert found.loc[name, "p"] == pytest.approx(welch.pvalue, rel=1e-9)
        assert found.loc[name, "contrast"] == pytest.approx(inside.mean() - rest.mean())
    ordered = found.sort_values("p")
    # Holm's: the smallest p times 3, the next times 2, the last once; none below the one before.
    expected = np.minimum(np.maximum.accumulate(ordered["p"].to_numpy() * [3, 2, 1]), 1)
    assert ordered["p_adjusted"].to_numpy() == pytest.approx(expected)


def test_what_cannot_be_tested_has_no_p_and_does_not_count() -> None:
    values = np.concatenate([RANDOM.normal(size=40), [3, 4]])
    found = contrasts(values, ["a"] * 20 + ["b"] * 20 + ["few"] * 2).set_index("value")
    assert np.isnan(found["p"]["few"])
    tested = found.drop("few")
    assert tested["p_adjusted"].min() == pytest.approx(min(1, 2 * tested["p"].min()))
    assert contrasts(np.ones(20), ["a"] * 10 + ["b"] * 10)["p"].isna().all()
    assert contrasts(values, ["all"] * 42)["p"].isna().all()


def test_chance_finds_a_slice_in_one_of_twenty_at_most() -> None:
    """Of four slices of queries that do not differ, by Holm's p any is found in 5%."""
    names, found = ["a"] * 15 + ["b"] * 30 + ["c"] * 60 + ["d"] * 95, 0
    for _ in range(1000):
        p = contrasts(RANDOM.normal(size=200), names)["p_adjusted"]
        found += p.min() < 0.05
    # Five in a hundred, and 3.5 standard errors.
    assert found <= 75
