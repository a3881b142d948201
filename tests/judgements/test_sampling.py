import numpy as np
import pytest

from compute.base.errors import WrongInput
from compute.evaluate.estimates.corrected import by_guess
from compute.evaluate.estimates.frames import Frame
from compute.evaluate.estimates.linearised import kind, linear
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


def went_on(frame: Frame, grades: np.ndarray, seed: int) -> np.ndarray:
    """(S,) P@5 from 15 pairs of two systems' lists and 20 more of all: the second batch learns."""
    of, one = kind("P@5"), np.ones(1)
    inside = np.isin(np.arange(frame.n), frame.rows(frame.part(frame.systems[:2]).pairs))
    size = np.where(inside, sampling.sizes(frame, of), 0)
    first = sampling.order(size, np.zeros(frame.n, bool), seed)
    known = np.full(frame.n, np.nan)
    known[first.rows[:15]] = grades[first.rows[:15]]
    shares = np.full(frame.n, float(np.nanmean(known)) * 0.8 + 0.1)
    second = sampling.order(sampling.sizes(frame, of, shares), ~np.isnan(known), seed + 50_000)
    known[second.rows[:20]] = grades[second.rows[:20]]
    batches = sampling.together(frame, of, [(first, 15), (second, 20)])
    sample = by_guess(np.full((frame.n, 1), 0.4), known, batches, one, frame.query)
    return linear(frame, of, sample.values, one, one).values.mean(axis=1)


@pytest.mark.long
def test_batches_of_more_systems_have_no_bias_together() -> None:
    frame, grades = drawn(8, 5, seed=6)
    grades = np.minimum(grades, 1)
    truth = linear(frame, kind("P@5"), grades[:, None], np.ones(1), np.ones(1)).values.mean(axis=1)
    found = np.array([went_on(frame, grades, seed) for seed in range(800)])
    error = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - truth) < 4 * error).all()


def test_batches_of_none_and_those_before_a_census_do_not_count() -> None:
    frame, _ = drawn(8, 5, seed=6)
    of, nothing = kind("P@5"), np.zeros(frame.n, bool)
    first = sampling.order(sampling.sizes(frame, of), nothing, 1)
    nothing[first.rows[:10]] = True
    second = sampling.order(sampling.sizes(frame, of), nothing, 2)
    (one,) = sampling.together(frame, of, [(first, 10), (second, 0)])
    assert one.rows.tolist() == first.rows[:10].tolist()
    (one,) = sampling.together(frame, of, [(first, 10), (second, len(second.rows))])
    assert (one.chances == 1).all()
    both = sampling.together(frame, of, [(first, 10), (second, 20)])
    size = sampling.sizes(frame, of)
    wanted = [sampling.weight(size, 0, 10), sampling.weight(size, 10, 30)]
    assert [batch.weight for batch in both] == pytest.approx(wanted)


def test_worked_by_hand_judgements_for_a_half_width() -> None:
    # Nothing known, equal sizes: the variance goes with N / n - 1. From 2 of 7 (2.5) to half the
    # width takes 7 / n - 1 <= .625, n >= 4.31: 3 more; to all of it none; to 0 the 5 others.
    shares = np.full(7, 0.5)
    growth = sampling.Growth(TWO, kind("P@2"), shares, np.ones(7), 2)
    assert growth.falls(3)[0, 0] == pytest.approx(np.sqrt((7 / 5 - 1) / 2.5))
    assert [growth.needed(np.diag([0.2, 0.1]), wanted) for wanted in (0.1, 0.2, 0)] == [3, 0, 5]


def test_worked_by_hand_expected_errors() -> None:
    # 3 of 6 rows with equal sizes: chance 1/2. P@2 of one holds p b, q a and q b that are not
    # known: three times (1/4)^2 x .25 x (1 / .5 - 1) = .046875. Two holds p c, q c and q d.
    shares, size = np.array([1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]), np.array([0, 1.0, 1, 1, 1, 1, 1])
    # No open row stands in both lists, so the variance of the difference is the sum.
    found = sampling.expected_errors(TWO, kind("P@2"), shares, size, 3)
    wanted = np.array([[0.046875, 0.09375], [0.09375, 0.046875]])
    assert found**2 == pytest.approx(wanted)
    assert sampling.expected_errors(TWO, kind("P@2"), shares, size, 6) == pytest.approx(0)
