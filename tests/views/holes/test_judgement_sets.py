"""Two judgement sets side by side, worked by hand."""

import numpy as np
import pandas as pd
import pytest
from numpy.typing import ArrayLike
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.views.holes import judgement_sets
from compute.views.holes.judgement_sets import compared

N = 40
WOBBLE = np.tile([0.01, -0.01, 0.02, -0.02], N // 4)
"""With mean 0: differences that are all the same have no spread to test by."""


def scored(**values: ArrayLike) -> DataFrame:
    """Systems with their values by query; absent ones are left out."""
    wide = DataFrame({name: np.asarray(own, np.float64) for name, own in values.items()})
    wide.index = pd.Index([f"q{number:02}" for number in range(len(wide))], name="query_id")
    return wide.melt(ignore_index=False, var_name="system").reset_index().dropna()


def test_orders_and_significance_that_turn_are_counted() -> None:
    flat = np.full(N, 0.5)
    left = scored(a=flat + 0.2 + WOBBLE, b=flat, c=flat - 0.2 - WOBBLE)
    # b and a change places; c's distance to both is lost in noise.
    noise = 10 * WOBBLE
    right = scored(a=flat - 0.1, b=flat + WOBBLE, c=flat - 0.11 + noise)
    found = compared(left, right, "P@10")
    # Of three pairs one is turned round: (2 - 1) / 3. Down the right board b, a, c: above a the
    # left board has none of one, above c both: (0 + 1) / 2 times 2 less 1.
    assert found.agreement is not None
    assert found.agreement.tau == pytest.approx(1 / 3)
    assert found.agreement.tau_ap == pytest.approx(0)
    assert found.n_queries == N
    assert found.means["left"].tolist() == pytest.approx([0.7, 0.5, 0.3])
    assert found.counts() == {"order_flips": 1, "only_left": 1, "only_right": 0, "turned": 1}
    turned = found.pairs[found.pairs["flips"]]
    assert turned[["system", "other"]].to_numpy().tolist() == [["a", "b"]]
    assert turned[["left", "right"]].to_numpy()[0] == pytest.approx([0.2, -0.1])


def test_only_queries_and_systems_of_both_count() -> None:
    left = scored(a=[1, 1, 0, 0], b=[0, 0, 1, np.nan], c=[1, 0, 1, 0])
    right = scored(a=[0, 1, 1, 1], b=[1, 1, np.nan, 1])
    found = compared(left, right, "P@10")
    assert (found.n_queries, found.agreement) == (2, None)
    # The first two queries: a 2 of 2 against b 0 of 2, then 1 of 2 against 2 of 2.
    assert found.means.drop(columns="n_queries").to_numpy().tolist() == [
        ["a", 1.0, 0.5],
        ["b", 0.0, 1.0],
    ]
    assert found.counts()["order_flips"] == 1


def test_equal_systems_flip_no_order() -> None:
    left = scored(a=[1, 0, 1], b=[0, 1, 1])
    right = scored(a=[1, 1, 1], b=[0, 0, 1])
    assert compared(left, right, "P@10").counts()["order_flips"] == 0


def test_a_lead_that_three_digits_hardly_show_flips_no_order() -> None:
    left, right = scored(a=[0.5, 0.5], b=[0.4999, 0.5]), scored(a=[0, 0], b=[1, 1])
    assert compared(left, right, "P@10").counts()["order_flips"] == 0
    left = scored(a=[0.504, 0.5], b=[0.5, 0.5])
    assert compared(left, right, "P@10").counts()["order_flips"] == 1


def test_of_a_measure_where_less_is_better_the_board_is_turned() -> None:
    values = {"a": [0.1, 0.2], "b": [0.3, 0.4], "c": [0.5, 0.7]}
    both = scored(**values)
    found = compared(both, both, "Hole@10")
    assert found.agreement is not None
    assert (found.agreement.tau, found.agreement.tau_ap) == (1, 1)


def test_too_little_to_compare() -> None:
    one = scored(a=[1, 0], b=[0, 1])
    with pytest.raises(WrongInput, match="score only 1 system on 2 queries"):
        compared(one, scored(a=[1, 0], z=[0, 1]), "P@10")
    with pytest.raises(WrongInput, match="score only 2 systems on 1 query"):
        compared(one, scored(a=[1, np.nan], b=[0, 1]), "P@10")


NAMES = ("Official", "Machine gpt")


def test_what_turns_is_said_in_words_and_in_a_table() -> None:
    flat = np.full(N, 0.5)
    left = scored(a=flat + 0.2 + WOBBLE, b=flat, c=flat - 0.2 - WOBBLE)
    right = scored(a=flat - 0.1, b=flat + WOBBLE, c=flat - 0.11 + 10 * WOBBLE)
    found = compared(left, right, "P@10")
    assert judgement_sets.verdict(found, NAMES) == (
        "The order of 1 of 3 pairs of systems flips; Kendall's τ = .33, τ-AP with Official as"
        " the reference .00, with Machine gpt .00. Significant only under Official: 1; only under"
        " Machine gpt: 0; under both, in opposite directions: 1."
    )
    table = judgement_sets.turned_table(found.turned(), NAMES, {"a": "A", "b": "B", "c": "C"})
    assert table.shown[["System", "Other", "Change"]].to_numpy().tolist() == [
        ["A", "B", "order, significant under both"],
        ["A", "C", "significant only under Official"],
    ]
    rows = judgement_sets.ranked(found)
    assert rows[["system", "left_rank", "right_rank"]].to_numpy().tolist() == [
        ["a", 1, 2],
        ["b", 2, 1],
        ["c", 3, 3],
    ]


def test_grades_that_differ_come_furthest_apart_first() -> None:
    rows = [("q1", "d1", 2, 1), ("q1", "d2", 0, 2), ("q2", "d1", 1, 1), ("q2", "d2", None, 1)]
    grades = DataFrame(rows, columns=["query_id", "doc_id", "left", "right"])
    grades = grades.astype({"left": "Int64", "right": "Int64"})
    assert judgement_sets.grade_line(grades, NAMES) == (
        "Official judged 3 pairs, Machine gpt 4; of 3 that both judged, 33% have the same grade."
    )
    assert judgement_sets.differing(grades).to_numpy().tolist() == [
        ["q1", "d2", 0, 2],
        ["q1", "d1", 2, 1],
    ]
    apart = grades.assign(right=grades["right"].mask(grades["left"].notna()))
    assert "judged by both Official and Machine gpt" in judgement_sets.grade_line(apart, NAMES)


def test_sets_are_called_as_people_read_them() -> None:
    titles = [judgement_sets.title(name) for name in ("official", "added", "file:a: b")]
    assert titles == ["Official", "Official + added", "File a: b"]
