"""Where a machine errs, by hand and against plain counting."""

import numpy as np
import pytest
from pandas import DataFrame

from compute.judgements import machine_errors
from compute.judgements.agreement import with_machine


def test_what_was_likelier_to_be_drawn_counts_less() -> None:
    """Ten pairs of weight 1, all right; ten of weight 3, half of them one grade too high."""
    people = np.array([0.0, 1] * 10)
    machine = people + np.array([0] * 10 + [1, 0] * 5)
    weights = np.array([1.0] * 10 + [3] * 10)
    (row,) = machine_errors.by_group(
        people, machine, weights, {"all": np.ones(20, bool), "few": np.arange(20) < 9}
    ).to_dict("records")
    # 15 of 40: five pairs that stand for three each.
    assert (row["group"], row["n_pairs"], row["too_high"], row["too_low"]) == (
        "all",
        20,
        15 / 40,
        0,
    )
    # The non-relevant ones of the second ten are those that it grades up.
    assert (row["relevant"], row["said_relevant"]) == (20 / 40, (5 + 5 * 3 + 5 * 3) / 40)
    assert row["off"] == 15 / 40 and row["off_low"] < 15 / 40 < row["off_high"]


def test_with_equal_weights_it_is_plain_kappa() -> None:
    random = np.random.default_rng(4)
    people = random.integers(0, 3, 200).astype(float)
    machine = np.where(random.random(200) < 0.6, people, random.integers(0, 3, 200))
    ids = {"query_id": "q", "doc_id": [f"d{n}" for n in range(200)]}
    frames = (DataFrame(ids).assign(relevance=grades) for grades in (people, machine))
    plain, found = with_machine(*frames), machine_errors.kappas(people, machine, np.full(200, 2.5))
    for name in ("kappa", "weighted"):
        assert found[name] == pytest.approx(plain[name], abs=1e-12)
        assert found[f"{name}_low"] == pytest.approx(plain[f"{name}_low"], abs=0.02)
        assert found[f"{name}_high"] == pytest.approx(plain[f"{name}_high"], abs=0.02)


def test_a_weight_of_two_is_a_pair_twice() -> None:
    people, machine = np.array([0.0, 0, 1, 1, 2, 0]), np.array([0.0, 1, 1, 1, 0, 0])
    weights = np.array([2.0, 1, 1, 2, 1, 1])
    twice = np.repeat(np.arange(6), weights.astype(int))
    assert machine_errors.kappas(people, machine, weights)["kappa"] == pytest.approx(
        machine_errors.kappas(people[twice], machine[twice], np.ones(8))["kappa"]
    )


def test_one_grade_explains_everything() -> None:
    found = machine_errors.kappas(np.ones(12), np.ones(12), np.ones(12))
    assert all(np.isnan(value) for value in found.values())
