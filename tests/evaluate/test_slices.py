from typing import Any

import numpy as np
import pytest
from scipy import stats

from compute.evaluate import slices
from compute.evaluate.slices import contrasts, means, without_others

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
    mixed = RANDOM.permutation(60)
    found = contrasts(values[mixed], names[mixed].tolist()).set_index("value")
    for name in "abc":
        inside, rest = values[names == name], values[names != name]
        assert found["contrast"][name] == pytest.approx(inside.mean() - rest.mean())
        one = studentised(values, names, name)
        assert one == pytest.approx(abs(stats.ttest_ind(inside, rest, equal_var=False).statistic))
        # Of Welch's t by its own distribution; and 2,000 deals, whose standard error is .011.
        assert found["p"][name] == pytest.approx(
            stats.ttest_ind(inside, rest, equal_var=False).pvalue, abs=0.05
        )
    assert (found["p_adjusted"] >= found["p"]).all()


def studentised(values: np.ndarray, names: np.ndarray, name: str) -> float:
    order = np.argsort(names != name, kind="stable")
    sizes = np.array([(names == name).sum(), (names != name).sum()])
    return float(slices._seen(values[order], sizes)[0])


def test_of_few_queries_p_counts_all_ways_to_deal() -> None:
    """Five of ten values inside, the highest ones: 2 of 252 ways to deal them are as far."""
    found = contrasts(range(10), ["low"] * 5 + ["high"] * 5)
    assert found["p"].to_list() == pytest.approx([2 / 252] * 2, abs=0.006)
    # Two slices are one contrast: nothing is left to correct.
    assert found["p_adjusted"].to_list() == found["p"].to_list()


def test_what_cannot_be_tested_has_no_p_and_does_not_count() -> None:
    values = np.concatenate([RANDOM.normal(size=40), [3, 4]])
    found = contrasts(values, ["a"] * 20 + ["b"] * 20 + ["few"] * 2).set_index("value")
    assert np.isnan(found["p"]["few"])
    assert found.drop("few")["p_adjusted"].notna().all()
    assert contrasts(np.ones(20), ["a"] * 10 + ["b"] * 10)["p"].isna().all()
    alone = contrasts(values, ["all"] * 42)
    assert alone[["contrast", "p"]].isna().all(axis=None)


def test_slices_without_any_spread_inside_are_as_far_as_can_be() -> None:
    found = contrasts([0.0] * 12 + [1.0] * 12, ["a"] * 12 + ["b"] * 12)
    assert (found["p"] < 0.001).all()


@pytest.mark.long
def test_chance_finds_a_slice_in_one_of_twenty_at_most() -> None:
    """Four slices of skewed differences, most of them 0; labels say nothing of them."""
    names, found = ["a"] * 15 + ["b"] * 15 + ["c"] * 70 + ["d"] * 100, 0
    for seed in range(150):
        values = RANDOM.exponential(size=200) * (RANDOM.random(200) < 0.2)
        found += contrasts(values, names, seed)["p_adjusted"].min() < 0.05
    # Five in a hundred, and three standard errors.
    assert found <= 15


@pytest.mark.long
def test_of_large_slices_the_sums_are_drawn_as_dealing_every_value_has_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Skewed differences, most of them 0; the noise of 2,000 deals is .07 at the 95th percentile,
    .04 in the middle."""
    sizes = np.array([9000, 600, 4000, 8000, 2400])
    values = RANDOM.exponential(size=24_000) * (RANDOM.random(24_000) < 0.25)
    assert slices._few(values, sizes).tolist() == [False, True, False, False, False]
    quick = slices._dealt(values, sizes, 1)
    monkeypatch.setattr(slices, "MANY", 10**9)
    whole = slices._dealt(values, sizes, 2)
    for of in (*zip(quick.T, whole.T, strict=True), (quick.max(axis=1), whole.max(axis=1))):
        drawn, dealt = (np.quantile(each, [0.5, 0.95]) for each in of)
        assert drawn == pytest.approx(dealt, abs=0.25)


def test_rounding_makes_no_slice_differ() -> None:
    found = contrasts([0.1 + 0.2] * 10 + [0.3] * 10, ["a"] * 10 + ["b"] * 10)
    assert not (found["p"] < 1).any()


def test_a_slice_without_any_of_few_that_differ_is_no_surprise() -> None:
    """1 of 100 differs, none of 500 in the slice: by the hypergeometric distribution .006, and so
    is the other side."""
    for n in (10_000, 21_000):
        values = np.zeros(n)
        values[500 : 500 + n // 100] = 1
        of = n, n // 100, 500
        expected = stats.hypergeom.pmf(0, *of) + stats.hypergeom.sf(9, *of)
        found = contrasts(values, ["a"] * 500 + ["b"] * (n - 500))["p"]
        assert found.iloc[0] < 3 * expected and found.iloc[0] > 0.001


def test_means_without_some_queries_of_a_worked_example() -> None:
    nan = np.nan
    found = without_others([[1, 0, 1, 0], [1, 1, nan, 0]], [True, True, False, True])
    assert found["value"].to_list() == pytest.approx([1 / 2, 2 / 3])
    assert found["value_without"].to_list() == pytest.approx([1 / 3, 2 / 3])
    assert found["change"].to_list() == pytest.approx([-1 / 6, 0])
    # The query that is left out has no value of the second: nothing changes. One says nothing more.
    assert found[["low", "high"]].to_numpy()[1].tolist() == [0, 0]
    assert found.loc[0, ["low", "high"]].isna().all()


def test_the_interval_of_a_change_by_hand() -> None:
    """Kept 0 and 1 three times each, left out five times 1: means 8/11 and 1/2."""
    found = without_others([[0, 1] * 3 + [1] * 5], [True] * 6 + [False] * 5).iloc[0]
    change = 1 / 2 - 8 / 11
    below = 3 * (-1 / 2 / 6 + 8 / 11 / 11) ** 2 + 3 * (1 / 2 / 6 - 3 / 11 / 11) ** 2
    error = np.sqrt((below + 5 * (3 / 11 / 11) ** 2) * 5 / 4)
    reach = 2.7764451 * error
    assert found["low"] == pytest.approx(change - reach)
    assert found["high"] == pytest.approx(change + reach)


def test_nothing_changes_where_all_stay_and_nothing_is_said_where_none_does() -> None:
    values = RANDOM.random((2, 30))
    stays = without_others(values, np.ones(30, bool))
    assert not stays[["change", "low", "high"]].to_numpy().any()
    gone = without_others(values, np.zeros(30, bool))
    assert gone[["value_without", "change", "low", "high"]].isna().all(axis=None)
    assert gone["value"].to_list() == pytest.approx(values.mean(axis=1))


def test_the_interval_of_a_change_holds_the_true_one_in_most_samples() -> None:
    """Kept queries are worth .5, a fifth that is left out .8: without them .06 less."""
    held = 0
    for _ in range(200):
        kept = RANDOM.random(150) >= 0.2
        values = np.where(kept, 0.5, 0.8) + RANDOM.normal(scale=0.2, size=150)
        found = without_others(values[None], kept).iloc[0]
        held += found["low"] <= -0.06 <= found["high"]
    # 95 in a hundred, less three standard errors.
    assert held >= 181
