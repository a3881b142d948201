"""When two values of a measure are the same."""

import numpy as np

from compute.tolerance import TOLERANCE, above, equal


def test_values_that_differ_by_rounding_alone_are_equal() -> None:
    assert equal(0.1 + 0.2, 0.3) and not above(0.1 + 0.2, 0.3)


def test_the_bound_itself_is_equal_and_twice_the_bound_is_not() -> None:
    values = np.array([TOLERANCE, 2 * TOLERANCE, -2 * TOLERANCE])
    assert equal(values, 0).tolist() == [True, False, False]
    assert above(values, 0).tolist() == [False, True, False]


def test_an_absent_value_is_neither_equal_nor_above() -> None:
    assert not equal(np.nan, np.nan) and not above(np.nan, 0) and not above(0, np.nan)
