"""When two values of a measure are the same."""

import numpy as np

from compute.evaluate.tolerance import (
    TOLERANCE,
    above,
    best,
    equal,
    levels,
    order,
    ranks,
    ranks_by_row,
)


def test_values_that_differ_by_rounding_alone_are_equal() -> None:
    assert equal(0.1 + 0.2, 0.3) and not above(0.1 + 0.2, 0.3)


def test_the_bound_itself_is_equal_and_twice_the_bound_is_not() -> None:
    values = np.array([TOLERANCE, 2 * TOLERANCE, -2 * TOLERANCE])
    assert equal(values, 0).tolist() == [True, False, False]
    assert above(values, 0).tolist() == [False, True, False]


def test_an_absent_value_is_neither_equal_nor_above() -> None:
    assert not equal(np.nan, np.nan) and not above(np.nan, 0) and not above(0, np.nan)


def test_equal_values_share_the_better_rank_and_absent_ones_have_none() -> None:
    values = [0.3, 0.1 + 0.2, 0.5, np.nan, 0.1]
    assert ranks(values)[[0, 1, 2, 4]].tolist() == [2, 2, 1, 4] and np.isnan(ranks(values)[3])
    assert ranks(values, descending=False)[[0, 1, 2, 4]].tolist() == [2, 2, 4, 1]
    assert ranks([]).tolist() == []


def test_a_chain_of_neighbours_is_not_one_rank() -> None:
    """.8 apart each: the second equals the first, the third is too far from it and begins anew."""
    values = 0.5 - TOLERANCE * np.array([0, 0.8, 1.6, 2.4])
    assert ranks(values).tolist() == [1, 1, 3, 3]
    assert (ranks(values) == 1).tolist() == equal(values, values.max()).tolist()


def test_two_levels_are_never_equal() -> None:
    chain = 0.5 + TOLERANCE * np.arange(40).reshape(8, 5) * 0.4
    found = levels(chain)
    known = np.unique(found)
    assert found.shape == chain.shape and len(known) > 2
    assert above(known[1:], known[:-1]).all() and equal(found, chain).all()


def test_the_best_come_first_and_equal_ones_by_name() -> None:
    values, names = [0.1 + 0.2, 0.3, np.nan, 0.9], ["b", "a", "c", "d"]
    assert order(values, names).tolist() == [3, 1, 0, 2]
    assert order(values, names, descending=False).tolist() == [1, 0, 3, 2]


def test_of_values_that_equal_the_largest_the_first_is_the_best() -> None:
    assert best([0.1, 0.3, 0.1 + 0.2]) == 1  # .1 + .2 is a little more than .3
    assert best([[0.3, 0.5], [0.1 + 0.2, 0.4]], axis=0).tolist() == [0, 0]


def test_rows_are_ranked_at_once_as_one_by_one() -> None:
    """Ties, values that differ by rounding, and chains of neighbours."""
    random = np.random.default_rng(1)
    rows = random.integers(0, 4, (300, 6)) / 4 + random.integers(0, 5, (300, 6)) * TOLERANCE * 0.6
    assert np.array_equal(ranks_by_row(rows), np.array([ranks(row) for row in rows]))
