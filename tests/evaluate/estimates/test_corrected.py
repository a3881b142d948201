from itertools import product

import numpy as np
import pytest

from compute.evaluate.estimates import prediction
from compute.evaluate.estimates.corrected import Batch, by_guess, corrected
from compute.evaluate.estimates.intervals import estimates
from compute.evaluate.estimates.linearised import kind, linear
from tests.evaluate.estimates.made import TWO, drawn

ONE = np.ones(1)


def test_worked_by_hand_difference_estimator_of_precision() -> None:
    # Of the seven pairs three are drawn with chance 1/2: p a relevant, p b not, q c relevant. All
    # are predicted .4: so the values are .4 + (1 - .4) / .5 = 1.6, .4 - .4 / .5 = -.4, 1.6; the
    # others keep .4.
    chances, grades = np.full(7, 0.5), np.full(7, np.nan)
    rows = np.array([0, 1, 5])
    grades[rows] = 1, 0, 1
    found = by_guess(np.full((7, 1), 0.4), grades, [Batch(rows, chances, 1)], ONE, TWO.query)
    assert found.values[:, 0] == pytest.approx([1.6, -0.4, 0.4, 0.4, 0.4, 1.6, 0.4])
    # P@2 of one: p (1.6 - .4) / 2 = .6, q (.4 + .4) / 2 = .4; of two: p (1.6 + .4) / 2 = 1,
    # q (1.6 + .4) / 2 = 1.
    got = estimates(TWO, kind("P@2"), found)
    assert got.by_query == pytest.approx(np.array([[0.6, 0.4], [1.0, 1.0]]))
    assert got.means == pytest.approx([0.5, 1.0])
    # The errors: sqrt(1 - .5) / .5 times .6, -.4 and .6. For one, each of its pairs weighs 1/4:
    # the variance of the sample alone is (2 x .36 + 2 x .16) / 16 = .065.
    assert found.errors[:, 0] ** 2 == pytest.approx([0.72, 0.32, 0.72])
    assert ((found.errors[:2, 0] / 4) ** 2).sum() == pytest.approx(0.065)


def test_worked_by_hand_two_batches() -> None:
    # First batch: chances 1/2, p a is drawn and relevant. Second: p a is known, chances 1/4, q d is
    # drawn and not relevant. Predicted .2 throughout; the batches weigh 1 and 3.
    # p a: 1/4 (.2 + .8 / .5) + 3/4 x 1 = .45 + .75 = 1.2.
    # q d: 1/4 x .2 + 3/4 (.2 - .2 / .25) = .05 - .45 = -.4. The others: .2.
    after = np.full(7, 0.25)
    after[0] = 1
    grades = np.full(7, np.nan)
    grades[[0, 6]] = 1, 0
    batches = [Batch(np.array([0]), np.full(7, 0.5), 1), Batch(np.array([6]), after, 3)]
    found = by_guess(np.full((7, 1), 0.2), grades, batches, ONE, TWO.query)
    assert found.values[:, 0] == pytest.approx([1.2, 0.2, 0.2, 0.2, 0.2, 0.2, -0.4])
    # Squared errors: (1/4)^2 (1 - .5) (.8 / .5)^2 = .08; (3/4)^2 (1 - .25) (.2 / .25)^2 = .27.
    assert found.errors[:, 0] ** 2 == pytest.approx([0.08, 0.27])
    # What a pair not known counts: (1/4)^2 x 1 + (3/4)^2 x 3 = 1.75.
    assert found.spread[1:] == pytest.approx(1.75)
    assert found.spread[0] == pytest.approx(1 / 16)


def test_worked_by_hand_skipped_and_outside() -> None:
    # p a was drawn with chance 1/2 and nobody judges it: it may add 1 / .5 = 2 to its value; q d
    # could not be drawn, and may be relevant or not.
    chances = np.array([0.5, 1, 1, 1, 1, 1, 0])
    grades = np.array([np.nan, 1, 0, 0, 0, 1, np.nan])
    batch = Batch(np.arange(6), chances, 1)
    found = by_guess(np.zeros((7, 1)), grades, [batch], ONE, TWO.query)
    assert found.unknown == pytest.approx([2, 0, 0, 0, 0, 0, 1])
    got = estimates(TWO, kind("P@2"), found)
    # One: p a weighs 1/4, so up to 2/4. Two: p a 2/4 and q d 1/4. The difference of one and two
    # loses p a, so it may fall by the 1/4 of q d alone.
    assert np.diag(got.high) == pytest.approx([0.5, 0.75])
    assert (got.low[0, 1], got.high[0, 1]) == pytest.approx((-0.25, 0))


def test_worked_by_hand_a_system_that_came_later() -> None:
    # The first batch, of chance 1/2, did not know q d; in the second it has 1/4, as all others but
    # p a, which is known. So p a has 1/4 x 1.6 + 3/4 x 1 = 1.15, and q d is of the second alone:
    # .4 + .6 / .25 = 2.8. The variance: q d's is not divided between batches.
    first, second, grades = np.full(7, 0.5), np.full(7, 0.25), np.full(7, np.nan)
    first[6], second[0], grades[[0, 6]] = 0, 1, 1
    batches = [Batch(np.array([0]), first, 1), Batch(np.array([6]), second, 3)]
    found = by_guess(np.full((7, 1), 0.4), grades, batches, ONE, TWO.query)
    assert found.values[[0, 6], 0] == pytest.approx([1.15, 2.8])
    assert found.spread[6] == pytest.approx(3)
    assert not found.unknown.any()
    # Before the second batch all of q d is unknown; judged elsewhere it is what it is.
    alone = by_guess(np.full((7, 1), 0.4), grades, batches[:1], ONE, TWO.query)
    assert (alone.values[6, 0], alone.unknown[6], alone.undrawn.sum()) == (1, 0, 0)
    grades[6] = np.nan
    before = by_guess(np.full((7, 1), 0.4), grades, batches[:1], ONE, TWO.query)
    assert (before.unknown[6], before.undrawn.sum()) == (1, 1)


def test_a_ratio_that_divides_by_what_could_not_be_drawn_has_no_interval() -> None:
    """P@1 is drawn for; what stands lower moves nDCG@1's best order alone."""
    frame, grades = drawn(20, 3, seed=2)
    first = (frame.rank == 1).any(axis=1)
    known = np.where(first, grades, np.nan)
    chances = np.where(first, 0.5, 0.0)
    found = by_guess(
        np.full((frame.n, 1), 0.3),
        known,
        [Batch(np.flatnonzero(first), chances, 1)],
        ONE,
        frame.query,
    )
    ratio, share = estimates(frame, kind("nDCG@1"), found), estimates(frame, kind("P@1"), found)
    assert ratio.range_only and not ratio.enough and not share.range_only
    # All judged, some by others: the best order is known, and the estimate is the score.
    whole = np.where(first, 1.0, 0.0)
    batch = Batch(np.flatnonzero(first), whole, 1)
    found = by_guess(np.full((frame.n, 1), 0.3), grades, [batch], ONE, frame.query)
    exact = estimates(frame, kind("nDCG@1"), found)
    reached = (grades[:, None] >= ONE).astype(float)
    truth = linear(frame, kind("nDCG@1"), reached, ONE, ONE).values.mean(axis=1)
    assert exact.means == pytest.approx(truth) and exact.enough
    assert exact.scores()["high"].to_numpy() == pytest.approx(truth)


def test_a_measure_of_high_grades_needs_pairs_of_high_grades() -> None:
    frame, grades = drawn(60, 10, seed=5)
    everything = Batch(np.arange(300), np.full(frame.n, 0.5), 1)
    known = np.full(frame.n, np.nan)
    known[:300] = np.minimum(grades[:300], 1)
    found = by_guess(
        np.full((frame.n, 2), 0.3), known, [everything], np.array([1.0, 2]), frame.query
    )
    assert estimates(frame, kind("P@10"), found).enough
    assert not estimates(frame, kind("RBP(p=0.8,rel=2)@10"), found).enough


def test_no_bias_over_all_samples() -> None:
    random = np.random.default_rng(3)
    chances, truth = random.uniform(0.2, 1, 7), random.integers(0, 3, 7).astype(float)
    chances[2] = 1
    guess = random.random((7, 2))
    levels, weights = np.array([1.0, 2.0]), random.normal(size=(7, 2))
    real = (truth[:, None] >= levels) * weights
    mean = square = variance = 0.0
    for inside in product([False, True], repeat=7):
        flags = np.array(inside)
        chance = np.where(flags, chances, 1 - chances).prod()
        if chance == 0:
            continue
        grades = np.where(flags, truth, np.nan)
        found = by_guess(
            guess, grades, [Batch(np.flatnonzero(flags), chances, 1)], levels, TWO.query
        )
        error = (found.values * weights).sum() - real.sum()
        mean += chance * error
        square += chance * error**2
        variance += chance * ((found.errors * weights[found.drawn]).sum(axis=1) ** 2).sum()
    assert mean == pytest.approx(0, abs=1e-12)
    assert variance == pytest.approx(square)


def test_batches_that_learn_have_no_bias_given_the_past() -> None:
    # The second batch's chances depend on what the first one found: over all pairs of samples the
    # mean is still the truth.
    truth, guess = np.array([1.0, 0, 1, 0]), np.array([[0.3], [0.6], [0.1], [0.2]])
    first = np.full(4, 0.4)
    mean = 0.0
    for inside in product([False, True], repeat=4):
        one = np.array(inside)
        then = np.where(one, 1, 0.3 + 0.4 * (truth[one].sum() > 1))
        for more in product([False, True], repeat=4):
            two = np.array(more) & ~one
            if (np.array(more) & one).any():
                continue
            chance = np.where(one, first, 1 - first).prod()
            chance *= np.where(one, 1, np.where(two, then, 1 - then)).prod()
            grades = np.where(one | two, truth, np.nan)
            batches = [
                Batch(np.flatnonzero(one), first, 2),
                Batch(np.flatnonzero(two), then, 3),
            ]
            mean += chance * by_guess(guess, grades, batches, ONE, TWO.query[:4]).values.sum()
    assert mean == pytest.approx(truth.sum())


def test_all_judged_is_the_score_itself() -> None:
    frame, grades = drawn(6, 5, seed=1)
    batch = Batch(np.arange(frame.n), np.ones(frame.n), 1)
    found = corrected(frame, prediction.features(frame), grades, [batch])
    assert found.values == pytest.approx((grades[:, None] >= [1, 2]).astype(float))
    assert estimates(frame, kind("nDCG@5"), found).covariance == pytest.approx(0)


def test_a_pair_is_predicted_without_its_own_grade() -> None:
    frame, grades = drawn(5, 5, seed=2)
    given, wanted = prediction.features(frame), (grades[:, None] >= 1).astype(float)
    whole = prediction.fit(given, frame.query, wanted, 5)
    # Pairs without which the likelihood chooses the same shrinkage.
    for row in (8, 16, 24, 44):
        rest = np.arange(frame.n) != row
        other = prediction.fit(given[rest], frame.query[rest], wanted[rest], 5)
        # The curve from linear predictions to shares is fitted to all pairs: it differs a little.
        shares = other.predicted(given[[row]], frame.query[[row]])[0]
        assert shares == pytest.approx(whole.others[row], abs=0.03)
