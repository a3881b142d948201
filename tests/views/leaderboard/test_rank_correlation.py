"""Agreement of leaderboards: worked by hand, against scipy, and against every order of equals."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame
from scipy import stats

from compute.views.leaderboard.rank_correlation import agreement, side_by_side, tau, tau_ap
from tests.support.worlds import CASES, FEWER

# The example of the R package ircor's documentation, which prints tau .7777778, tauAP .7491182.
TRUE = [0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94]
ESTIMATE = [0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94]
TIED = [0.4, 0.0, 0.2, 0.2, 0.6, 0.6, 0.6, 1.0, 1.0, 1.0]

_levels = st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.5])
tied = st.lists(st.tuples(_levels, _levels), min_size=3, max_size=6)
untied = st.integers(3, 12).flatmap(lambda n: st.permutations(range(n)))


def one_order(reference: list[float], order: list[int]) -> float:
    """AP correlation as the paper writes it, for systems in one order, best first."""
    total = 0.0
    for i in range(1, len(order)):
        above = order[:i]
        total += (
            sum(
                1.0
                if reference[j] > reference[order[i]]
                else 0.5 * (reference[j] == reference[order[i]])
                for j in above
            )
            / i
        )
    return 2 * total / (len(order) - 1) - 1


def test_by_hand() -> None:
    # Reference A B C D; the other board A C B D: C has one right of one above, B one of two,
    # D three of three: 2/3 x (1 + 1/2 + 1) - 1.
    assert tau_ap([4, 3, 2, 1], [4, 2, 3, 1]) == pytest.approx(2 / 3 * 2.5 - 1)
    # The first two swapped instead: B has none of one, C two of two, D three of three.
    assert tau_ap([4, 3, 2, 1], [3, 4, 2, 1]) == pytest.approx(2 / 3 * 2 - 1)
    # Kendall does not tell these apart: 5 of 6 pairs are in order.
    assert tau([4, 3, 2, 1], [4, 2, 3, 1]) == pytest.approx(2 / 3)
    assert tau([4, 3, 2, 1], [3, 4, 2, 1]) == pytest.approx(2 / 3)


def test_the_reference_is_the_first_board() -> None:
    # Going down the other board A C D B against A B C D: 1, 1, 1/3; the other way: 1, 1/2, 2/3.
    assert tau_ap([4, 3, 2, 1], [4, 1, 3, 2]) == pytest.approx(2 / 3 * (1 + 1 + 1 / 3) - 1)
    assert tau_ap([4, 1, 3, 2], [4, 3, 2, 1]) == pytest.approx(2 / 3 * (1 + 1 / 2 + 2 / 3) - 1)


def test_the_printed_example_of_ircor() -> None:
    assert tau(TRUE, ESTIMATE) == pytest.approx(0.7777778, abs=1e-7)
    assert tau_ap(TRUE, ESTIMATE) == pytest.approx(0.7491182, abs=1e-7)
    assert tau_ap(TRUE, TIED) == pytest.approx(0.6074515, abs=1e-7)


def test_the_same_order_is_1_and_the_other_way_round_minus_1() -> None:
    assert [tau_ap(TRUE, TRUE), tau(TRUE, TRUE)] == pytest.approx([1, 1])
    down = [-value for value in TRUE]
    assert tau_ap(TRUE, down) == pytest.approx(-1)
    assert tau(TRUE, down) == pytest.approx(-1)


@CASES
@given(untied)
def test_without_equals_it_is_the_papers_formula(order: list[int]) -> None:
    values = [float(place) for place in order]
    reference = [float(-place) for place in range(len(order))]
    down = sorted(range(len(order)), key=lambda place: -values[place])
    assert tau_ap(reference, values) == pytest.approx(one_order(reference, down))


@FEWER
@given(tied)
def test_equals_count_as_in_all_their_orders(pairs: list[tuple[float, float]]) -> None:
    reference, other = ([pair[side] for pair in pairs] for side in (0, 1))
    orders = [
        list(order)
        for order in itertools.permutations(range(len(other)))
        if all(other[a] >= other[b] for a, b in itertools.pairwise(order))
    ]
    expected = np.mean([one_order(reference, order) for order in orders])
    assert tau_ap(reference, other) == pytest.approx(float(expected))


@CASES
@given(tied)
def test_tau_is_scipys_and_counts_pairs(pairs: list[tuple[float, float]]) -> None:
    one, other = ([pair[side] for pair in pairs] for side in (0, 1))
    signs = [
        (np.sign(one[a] - one[b]), np.sign(other[a] - other[b]))
        for a, b in itertools.combinations(range(len(one)), 2)
    ]
    apart = [sum(pair[side] != 0 for pair in signs) for side in (0, 1)]
    found = tau(one, other)
    if not all(apart):
        assert math.isnan(found)
        return
    by_hand = sum(a * b for a, b in signs) / math.sqrt(apart[0] * apart[1])
    assert found == pytest.approx(by_hand)
    assert found == pytest.approx(float(np.asarray(stats.kendalltau(one, other))[0]))


def test_agreement_is_over_the_systems_of_both_boards() -> None:
    nan = math.nan
    found = agreement({"a": 4, "b": 3, "c": 2, "d": 1, "x": 9}, {"d": 2, "b": 3, "c": 1, "a": 4})
    assert found is not None
    assert (found.n, found.tau) == (4, pytest.approx(2 / 3))
    assert found.tau_ap_mean == pytest.approx((found.tau_ap + found.tau_ap_back) / 2)
    assert agreement({"a": 1, "b": 2, "c": nan}, {"a": 1, "b": 2, "c": 3}) is None


def test_boards_stand_side_by_side_on_the_datasets_that_both_have_whole() -> None:
    columns = ["dataset", "system", "value"]
    one = DataFrame(
        [("x", "a", 0.5), ("x", "b", 0.4), ("y", "a", 0.1), ("y", "b", 0.9), ("z", "a", 0.3)],
        columns=columns,
    ).assign(in_domain=False, suspect=False)
    other = DataFrame(
        [("x", "b", 0.2), ("x", "a", 0.1), ("y", "a", 0.6), ("z", "a", 0.3)], columns=columns
    ).assign(in_domain=False, suspect=False)
    found = side_by_side(one, other, (1, -1))
    assert found["system"].tolist() == ["a", "b"]
    assert found["n_datasets"].tolist() == [1, 1]
    assert found[["left", "right"]].to_numpy().tolist() == [[0.5, 0.1], [0.4, 0.2]]
    assert found[["left_rank", "right_rank"]].to_numpy().tolist() == [[1, 1], [2, 2]]
