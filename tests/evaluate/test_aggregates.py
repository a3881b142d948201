"""Ways to average, each by a worked example; strengths against the likelihood's own maximum."""

import numpy as np
import pytest
from scipy import optimize, stats

from compute.evaluate import aggregates
from compute.evaluate.aggregates import BY_TASK, Values, aggregated

RANDOM = np.random.default_rng(20261125)
VALUES = np.array([[0.8, 0.4, 0.4], [0.2, 0.4, 0.1], [0.6, 0.3, 0.0], [0.5, 0.5, 0.5]])
TASKS = ["a", "a", "a", "b"]


def davidson(wins: Values, ties: Values) -> tuple[Values, float]:
    """(S,) strengths that sum to 1, and the parameter of ties: Bradley and Terry's model (1952)
    with ties by Davidson (1970, Journal of the American Statistical Association 65, 317-328).

    `wins[i, j]`: how often i beats j; `ties`, symmetric: how often both are equal. One beats the
    other with a chance in proportion to its strength, both are equal in proportion to the
    parameter times the root of the strengths' product. The likelihood is climbed by Hunter's
    minorisation (2004, Annals of Statistics 32, 384-406), a root of a product being at most
    half of both in proportion. Strengths of systems that are never beaten go to infinity beside
    the others': they stop at 1e12 times the least.
    """
    own, n = (wins + ties / 2).sum(axis=1), wins + wins.T + ties
    strength, tied = np.full(len(wins), 1 / len(wins)), float(ties.sum() > 0)
    for _ in range(500):
        root = np.sqrt(np.outer(strength, strength))
        whole = strength[:, None] + strength[None, :] + tied * root
        beside = 1 + tied / 2 * np.sqrt(strength[None, :] / strength[:, None])
        np.fill_diagonal(beside, 0)
        new = own / np.maximum((n * beside / whole).sum(axis=1), 1e-12)
        new = np.maximum(new / new.sum(), 1e-12)
        tied = float(ties.sum() / (n * root / whole).sum()) if tied else 0.0
        close = np.abs(np.log(new / strength)).max() < 1e-9
        strength = new / new.sum()
        if close:
            break
    return strength, tied


def test_each_way_of_a_worked_example() -> None:
    found = aggregated(VALUES, TASKS)
    assert found["mean"] == pytest.approx([2.1 / 4, 1.6 / 4, 1.0 / 4])
    assert found["median"] == pytest.approx([0.55, 0.4, 0.25])
    assert found["geometric mean"] == pytest.approx(
        [(0.8 * 0.2 * 0.6 * 0.5) ** 0.25, (0.4 * 0.4 * 0.3 * 0.5) ** 0.25, 0]
    )
    assert found["share of the best"] == pytest.approx(
        [(1 + 0.5 + 1 + 1) / 4, (0.5 + 1 + 0.5 + 1) / 4, (0.5 + 0.25 + 0 + 1) / 4]
    )
    # Ranks 1, 2.5, 2.5; 2, 1, 3; 1, 2, 3; 2, 2, 2.
    assert found["ranks and wins"] == pytest.approx([-6 / 4, -7.5 / 4, -10.5 / 4])
    assert found[BY_TASK] == pytest.approx([(1.6 / 3 + 0.5) / 2, (1.1 / 3 + 0.5) / 2, 2 / 6])


def test_what_says_no_more_is_left_out() -> None:
    assert BY_TASK not in aggregated(VALUES, ["a"] * 4)
    assert BY_TASK not in aggregated(VALUES, ["a", "b", "c", "d"])
    assert [*aggregated(VALUES, TASKS, -1)] == ["mean", "median", "ranks and wins", BY_TASK]


def test_where_less_is_better_the_least_is_first() -> None:
    found = aggregated(VALUES, TASKS, -1)
    assert found["mean"] == pytest.approx(-aggregated(VALUES, TASKS)["mean"])
    assert found["ranks and wins"].argmax() == 2


def test_they_are_those_of_plain_functions_on_random_values() -> None:
    values = RANDOM.random((11, 6))
    found = aggregated(values, ["a"] * 11)
    assert found["median"] == pytest.approx(np.median(values, axis=0))
    assert found["geometric mean"] == pytest.approx(stats.gmean(values, axis=0))
    ranked = stats.rankdata(-values, axis=1).mean(axis=0)
    assert found["ranks and wins"] == pytest.approx(-ranked)


def likelihood(of: np.ndarray, wins: np.ndarray, ties: np.ndarray) -> float:
    """Less the logarithm of Davidson's likelihood; the last of `of` is that of the ties."""
    strength, tied = np.exp(of[:-1]), np.exp(of[-1])
    root = np.sqrt(np.outer(strength, strength))
    whole = strength[:, None] + strength[None, :] + tied * root
    own = (wins * np.log(strength[:, None] / whole)).sum()
    return -float(own + (ties * np.log(tied * root / whole)).sum() / 2)


def test_strengths_are_where_the_likelihood_is_highest() -> None:
    values = RANDOM.integers(0, 4, (40, 5)) + np.arange(5) / 2
    values = np.floor(values)
    wins, ties = aggregates.counts(values)
    assert ties.sum() > 0 and not aggregates.unbounded(wins, ties).any()
    strength, tied = davidson(wins, ties)
    best = optimize.minimize(likelihood, np.zeros(6), args=(wins, ties), tol=1e-12).x
    assert np.log(strength / strength[0]) == pytest.approx(best[:5] - best[0], abs=1e-4)
    assert np.log(tied) == pytest.approx(best[5], abs=1e-4)


def test_strengths_put_systems_in_the_order_of_mean_ranks() -> None:
    for _ in range(50):
        values = RANDOM.integers(0, 5, (12, 6)).astype(float)
        wins, ties = aggregates.counts(values)
        strength = np.log(davidson(wins, ties)[0])
        ranked = aggregated(values, ["a"] * 12)["ranks and wins"]
        one, other = np.triu_indices(6, 1)
        apart = np.abs(ranked[one] - ranked[other]) > 1e-9
        signs = np.sign(strength[one] - strength[other])[apart]
        assert (signs == np.sign(ranked[one] - ranked[other])[apart]).all()


def test_who_is_never_beaten_has_no_bound() -> None:
    always = np.array([[3.0, 2, 1], [3, 1, 2]])
    assert aggregates.unbounded(*aggregates.counts(always)).tolist() == [True, False, False]
    two = np.array([[4.0, 3, 1], [3, 4, 1]])
    assert aggregates.unbounded(*aggregates.counts(two)).tolist() == [True, True, False]
    tied = np.array([[3.0, 3, 1], [3, 2, 3]])
    assert not aggregates.unbounded(*aggregates.counts(tied)).any()


def test_ranks_of_datasets_that_agree_do_not_move() -> None:
    values = np.array([[0.9, 0.5, 0.1]] * 6) + RANDOM.random((6, 1)) / 10
    for low, high in aggregates.rank_intervals(values, ["a", "b"] * 3, draws=50).values():
        assert low.tolist() == high.tolist() == [1, 2, 3]


def test_drawn_ranks_are_those_of_datasets_drawn_by_hand() -> None:
    values, tasks = RANDOM.random((7, 4)), ["a", "b", "b", "c", "c", "c", "a"]
    weights = np.array([[2, 0, 1, 0, 0, 3, 1]]) / 7
    drawn = [0, 0, 2, 5, 5, 5, 6]
    by_hand = aggregated(values[drawn], [tasks[place] for place in drawn])
    for name, of in aggregates._by_way(values, tasks, 1, weights).items():
        assert of[0] == pytest.approx(by_hand[name]), name
