import numpy as np
import pytest

from compute.base.errors import WrongInput
from compute.evaluate.estimates.linearised import kind
from compute.judgements import sampling
from tests.evaluate.estimates.made import TWO, drawn, listed

NOTHING = np.zeros(7, bool)


def test_worked_by_hand_sizes() -> None:
    # P@2 of two queries: each place of a system weighs 1/2. p a stands in both lists, the others in
    # one: sizes in proportion to sqrt(2) and 1. For the difference to `one`, p a moves nothing; a
    # pair that only `two` has moves it.
    size = sampling.sizes(TWO, kind("P@2"))
    assert size / size[1] == pytest.approx([np.sqrt(2), 1, 1, 1, 1, 1, 1])
    apart = sampling.sizes(TWO, kind("P@2"), goal=sampling.DIFFERENCES, baseline=0)
    assert apart / apart[1] == pytest.approx([0, 1, 1, 1, 1, 1, 1])
    # What three systems have alike moves no order, for all that rounding does.
    alike = listed({name: {"p": "abc"} for name in ("one", "two", "three")}, 3)
    assert not sampling.sizes(alike, kind("P@3"), goal=sampling.ORDER).any()
    # All pairs of two systems are the one difference.
    assert sampling.sizes(TWO, kind("P@2"), goal=sampling.ORDER) == pytest.approx(apart)
    # What is surely relevant or surely not is drawn least.
    known = sampling.sizes(TWO, kind("P@2"), np.array([0.5, 0.1, 0, 1, 0.5, 0.5, 0.5]))
    assert known[1:5] / known[4] == pytest.approx([0.6, 0.28, 0.28, 1])


def test_every_prefix_is_a_sample_with_its_chances() -> None:
    order = sampling.order(np.array([4.0, 1, 2, 0, 1, 1, 3]), NOTHING, seed=5)
    assert len(order.rows) == 6
    for n in range(7):
        batch = order.first(n)
        assert batch.rows.tolist() == order.rows[:n].tolist()
        after = order.priority[n] if n < 6 else 0
        for row, size in zip(order.rows, order.size, strict=True):
            assert batch.chances[row] == (min(1, size / after) if after else 1)
    # Size 0 is never drawn, also when all others are.
    assert order.first(6).chances.tolist() == [1, 1, 1, 0, 1, 1, 1]


def test_differences_without_a_baseline_are_refused() -> None:
    with pytest.raises(WrongInput, match="need a baseline"):
        sampling.sizes(TWO, kind("P@2"), goal=sampling.DIFFERENCES)


def test_what_is_known_is_not_drawn_again() -> None:
    known = np.array([True, False, False, False, False, False, True])
    order = sampling.order(np.ones(7), known, seed=1)
    assert sorted(order.rows) == [1, 2, 3, 4, 5]
    assert order.first(2).chances[[0, 6]].tolist() == [1, 1]


def test_a_prefix_ends_before_the_first_open_pair() -> None:
    order = sampling.order(np.ones(7), NOTHING, seed=1)
    answered = np.zeros(7, bool)
    answered[order.rows[[0, 1, 3]]] = True
    assert order.complete(answered) == 2
    assert order.complete(np.ones(7, bool)) == 7


@pytest.mark.parametrize("n", [2, 5])
def test_sums_over_chances_have_no_bias(n: int) -> None:
    size, draws = np.array([5.0, 1, 2, 1, 1, 0.5, 3]), 4_000
    total = np.zeros((draws, 7))
    for seed in range(draws):
        batch = sampling.order(size, NOTHING, seed).first(n)
        total[seed, batch.rows] = 1 / batch.chances[batch.rows]
    error = total.std(axis=0) / np.sqrt(draws)
    assert (np.abs(total.mean(axis=0) - 1) < 4.5 * error).all()
    # Pairs do not correlate (Duffield, Lund and Thorup 2007, theorem 2), as those of a sample of
    # fixed size with equal chances do by -1/6. One correlation of such long tails is noisy.
    assert abs(np.asarray(np.corrcoef(total.T))[np.triu_indices(7, 1)].mean()) < 0.04


def test_weights_of_batches_add_up_to_that_of_one_sample() -> None:
    frame, _ = drawn(10, 5, seed=6)
    size = sampling.sizes(frame, kind("DCG@5"))
    parts = [sampling.weight(size, *ends) for ends in ((0, 20), (20, 50), (50, 70))]
    assert sum(parts) == pytest.approx(sampling.weight(size, 0, 70))
    # Equal sizes: 1 over N (N - n) / n times size squared.
    assert sampling.weight(np.full(10, 2.0), 0, 4) == pytest.approx(4 / (10 * 6) / 4)
    # The largest are sure: with sizes 8, 1, 1, 1, 1 and n = 3 the others have chance 1/2.
    assert sampling.weight(np.array([8.0, 1, 1, 1, 1]), 0, 3) == pytest.approx(1 / 4)


def test_worked_by_hand_expected_errors() -> None:
    # 3 of 6 rows with equal sizes: chance 1/2. P@2 of one holds p b, q a and q b that are not
    # known: three times (1/4)^2 x .25 x (1 / .5 - 1) = .046875. Two holds p c, q c and q d.
    shares, size = np.array([1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]), np.array([0, 1.0, 1, 1, 1, 1, 1])
    # No open row stands in both lists, so the variance of the difference is the sum.
    found = sampling.expected_errors(TWO, kind("P@2"), shares, size, 3)
    wanted = np.array([[0.046875, 0.09375], [0.09375, 0.046875]])
    assert found**2 == pytest.approx(wanted)
    assert sampling.expected_errors(TWO, kind("P@2"), shares, size, 6) == pytest.approx(0)
