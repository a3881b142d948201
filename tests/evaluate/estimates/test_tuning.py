"""A parameter chosen on other queries: worked by hand, and held to a plain loop."""

import numpy as np
import pandas as pd
import pytest

from compute.evaluate.estimates import tuning


def test_a_setting_that_always_wins_is_chosen_every_time() -> None:
    bad = np.linspace(0, 0.4, 60)
    found = tuning.cross_validated([bad, bad + 0.2, bad + 0.1], [bad])
    assert found.chosen.tolist() == [0, tuning.FOLDS * tuning.REPEATS, 0]
    assert found.values == pytest.approx(bad + 0.2)
    assert found.errors == pytest.approx([0], abs=1e-12)
    lower = tuning.cross_validated([bad, bad + 0.2, bad + 0.1], [bad], sign=-1)
    assert lower.values == pytest.approx(bad)


def test_what_only_chance_made_best_is_worth_nothing_on_other_queries() -> None:
    """Forty settings without a difference: the best looks good, what is chosen elsewhere is not."""
    values = np.random.default_rng(3).normal(0, 1, (40, 200))
    best = values.mean(axis=1).max()
    found = tuning.cross_validated(values, [np.zeros(200)])
    assert best > 0.1
    assert found.values.mean() < best / 2
    assert found.errors[0] > values.std() / np.sqrt(200) / 2


def test_no_query_takes_part_in_its_own_choice() -> None:
    """Setting 1 is good on one query alone: without that query setting 0 is chosen for it."""
    values = np.zeros((2, 60))
    values[0] = 0.1
    values[1, 7] = 50
    found = tuning.cross_validated(values, [values[0]])
    assert found.values[7] == pytest.approx(0.1)
    # Any other query has setting 0 only where the seventh is in its own tenth.
    assert 0 < np.delete(found.values, 7).mean() < 0.02


def test_parts_weigh_the_same_whatever_they_hold() -> None:
    """Setting 1 wins on the many queries of one part and loses by more on the few of the other."""
    parts = np.array(["large"] * 90 + ["small"] * 30)
    values = np.zeros((2, 120))
    values[1] = np.where(parts == "large", 0.1, -0.2)
    whole = tuning.cross_validated(values, [values[0]])
    assert whole.chosen[1] == whole.chosen.sum()
    assert tuning.cross_validated(values, [values[0]], parts=parts).chosen[1] == 0


def test_of_settings_that_are_equal_but_for_rounding_the_first_is_chosen() -> None:
    values = np.random.default_rng(2).random(60)
    found = tuning.cross_validated([values, values + 1e-12], [values])
    assert found.chosen.tolist() == [tuning.FOLDS * tuning.REPEATS, 0]


def test_equal_seeds_give_equal_answers_and_few_queries_none() -> None:
    values = np.random.default_rng(1).random((3, 70))
    one, other = (tuning.cross_validated(values, values[:1], seed=5) for _ in range(2))
    assert one.values.tolist() == other.values.tolist()
    assert one.errors.tolist() == other.errors.tolist()
    with pytest.raises(ValueError, match="49 queries are too few"):
        tuning.cross_validated(values[:, :49], values[:1, :49])


def test_a_setting_carried_to_another_dataset_loses_what_its_own_would_have_given() -> None:
    means = pd.DataFrame({"w0": [0.3, 0.5], "w1": [0.4, 0.45]}, index=["x", "y"])
    losses = tuning.carried(means)
    assert losses.to_numpy().ravel().tolist() == pytest.approx([0, 0.05, 0.1, 0])
    assert losses.loc["x", "y"] == pytest.approx(0.05)
