import numpy as np
import pytest
from scipy import stats

from compute.evaluate import distributions

FREEDOM = np.array([1, 2, 9.5, 29, 299, np.inf])


@pytest.mark.parametrize("level", [0.05, 0.01, 1e-6])
def test_they_are_those_of_scipys_distributions(level: float) -> None:
    reach = distributions.t_reach(level, FREEDOM)
    assert reach == pytest.approx(stats.t.isf(level / 2, FREEDOM), rel=1e-12)
    assert distributions.t_chance(-reach, FREEDOM) == pytest.approx(np.full(6, level), rel=1e-9)
    assert distributions.normal_reach(level) == pytest.approx(stats.norm.isf(level / 2), rel=1e-12)
    assert distributions.normal_chance(-distributions.normal_reach(level)) == pytest.approx(level)


def test_of_a_printed_table() -> None:
    assert distributions.t_reach(0.05, 10) == pytest.approx(2.228, abs=5e-4)
    assert distributions.normal_reach(0.05) == pytest.approx(1.95996, abs=5e-6)


def test_without_a_degree_of_freedom_there_is_none() -> None:
    assert np.isnan(distributions.t_reach(0.05, [0, -1])).all()
