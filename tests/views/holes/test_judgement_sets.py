"""Two judgement sets side by side, worked by hand."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import ArrayLike

from compute.base.errors import WrongInput
from compute.reading.overlay.rescoring import Scored
from compute.views.holes.judgement_sets import compared

N = 40
WOBBLE = np.tile([0.01, -0.01, 0.02, -0.02], N // 4)
"""With mean 0: differences that are all the same have no spread to test by."""


def scored(measure: str = "P@10", **values: ArrayLike) -> Scored:
    """Systems with their values by query."""
    array = np.array(list(values.values()), np.float64)[:, None, :]
    systems, _, n = array.shape
    return Scored(
        list(values),
        [measure],
        [f"q{i:02}" for i in range(n)],
        array,
        followed=np.ones((systems, 1), np.bool_),
        lists=np.zeros((systems, n, 1), np.int32),
        documents=pa.table({"doc_id": ["d"], "code": [0]}),
        known=np.ones(1, np.bool_),
        tops=np.ones(systems, np.bool_),
        hits=[],
        depth=10,
    )


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
    assert found.means.to_numpy().tolist() == [["a", 1.0, 0.5], ["b", 0.0, 1.0]]
    assert found.counts()["order_flips"] == 1


def test_equal_systems_flip_no_order() -> None:
    left = scored(a=[1, 0, 1], b=[0, 1, 1])
    right = scored(a=[1, 1, 1], b=[0, 0, 1])
    assert compared(left, right, "P@10").counts()["order_flips"] == 0


def test_of_a_measure_where_less_is_better_the_board_is_turned() -> None:
    values = {"a": [0.1, 0.2], "b": [0.3, 0.4], "c": [0.5, 0.7]}
    both = scored("Hole@10", **values)
    found = compared(both, both, "Hole@10")
    assert found.agreement is not None
    assert (found.agreement.tau, found.agreement.tau_ap) == (1, 1)


def test_too_little_to_compare() -> None:
    one = scored(a=[1, 0], b=[0, 1])
    with pytest.raises(WrongInput, match="score 1 systems by P@10 on 2 queries"):
        compared(one, scored(a=[1, 0], z=[0, 1]), "P@10")
    with pytest.raises(WrongInput, match="score 2 systems by P@10 on 1 queries"):
        compared(one, scored(a=[1, np.nan], b=[0, 1]), "P@10")
    with pytest.raises(WrongInput, match="no run is scored by AP"):
        compared(one, one, "AP")
