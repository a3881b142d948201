"""Tests of paired differences, against scipy, statsmodels and every sign pattern written out."""

import itertools

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pandas import DataFrame
from scipy import stats
from statsmodels.stats.multitest import multipletests

from compute.base.errors import WrongInput
from compute.evaluate import sign_flips, significance
from compute.evaluate.sign_flips import EXACT, permutations_needed
from compute.evaluate.significance import pairs, student, two
from tests.support.oracles import aligned
from tests.support.worlds import CASES, FEWER

# Three systems on eight queries: few enough to write all 256 sign patterns out.
EIGHT = np.array(
    [
        [0.9, 0.8, 0.7, 0.6, 0.9, 0.5, 1.0, 0.4],
        [0.5, 0.6, 0.4, 0.6, 0.7, 0.1, 0.6, 0.5],
        [0.4, 0.7, 0.1, 0.2, 0.5, 0.0, 0.9, 0.1],
    ]
)
MADE = np.random.default_rng(7)
FORTY = np.clip(MADE.normal([[0.5], [0.42], [0.45], [0.5]], 0.2, (4, 40)), 0, 1)
GRADES = np.array([0.0, 0.25, 0.5, 1.0])


def all_signs(n: int) -> NDArray[np.float64]:
    return np.array(list(itertools.product((-1.0, 1.0), repeat=n)))


@st.composite
def few(draw: st.DrawFn) -> NDArray[np.float64]:
    """Values of 2 to 4 systems on 2 to 8 queries; ties and equal systems are frequent."""
    shape = draw(st.integers(2, 4)), draw(st.integers(2, 8))
    picked = draw(st.lists(st.sampled_from(range(4)), min_size=32, max_size=32))
    return GRADES[np.resize(picked, shape)]


def test_t_test_is_scipys() -> None:
    found = pairs(FORTY, test="t", correction="none")
    for row in found.to_dict("records"):
        theirs = stats.ttest_rel(FORTY[row["a"]], FORTY[row["b"]])
        interval = theirs.confidence_interval(0.95)
        assert row["p"] == pytest.approx(float(theirs.pvalue), rel=1e-9)
        assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))


def test_wilcoxon_is_scipys() -> None:
    found = pairs(FORTY, test="wilcoxon", correction="none")
    both = zip(found["a"], found["b"], strict=True)
    theirs = [float(np.asarray(stats.wilcoxon(FORTY[a], FORTY[b]))[1]) for a, b in both]
    assert found["p"].tolist() == pytest.approx(theirs)


def test_wilcoxon_is_exact_with_zeros_and_ties() -> None:
    gaps = np.array([0.25, 0.25, 0.25, 0, 0, 0])  # all three ranks on one side: 2 of 8 ways
    found = pairs(np.stack([gaps, gaps * 0]), test="wilcoxon", correction="none")
    assert found["p"].tolist() == [0.25]


@CASES
@given(few())
def test_wilcoxon_counts_every_sign_pattern(values: NDArray[np.float64]) -> None:
    found = pairs(values, test="wilcoxon", correction="none", resamples=0)
    for row in found.to_dict("records"):
        gaps = np.round(values[int(row["a"])] - values[int(row["b"])], 9)
        gaps = gaps[gaps != 0]
        ranks = stats.rankdata(np.abs(gaps))
        sums = all_signs(len(gaps)) @ ranks if len(gaps) else np.zeros(1)
        share = np.mean(np.abs(sums) >= abs(np.sign(gaps) @ ranks) - 1e-9)
        assert row["p"] == pytest.approx(share)


def test_wilcoxon_of_many_queries_is_by_the_normal_distribution() -> None:
    random = np.random.default_rng(3)
    both = random.integers(0, 4, size=(2, EXACT + 100)) / 4
    found = pairs(both, test="wilcoxon", correction="none", resamples=0)
    theirs = np.asarray(stats.wilcoxon(both[0], both[1], method="asymptotic"))[1]
    assert found["p"].tolist() == pytest.approx([float(theirs)])


@pytest.mark.parametrize(("ours", "theirs"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_corrections_are_those_of_statsmodels(ours: str, theirs: str) -> None:
    found = pairs(FORTY, test="t", correction=ours)
    adjusted = np.asarray(multipletests(found["p"], method=theirs)[1])
    assert found["p_adjusted"].tolist() == pytest.approx(adjusted.tolist())


def test_randomisation_counts_every_sign_pattern_of_eight_queries() -> None:
    found = pairs(EIGHT, correction="none")
    signs = all_signs(8)
    for row in found.to_dict("records"):
        gaps = EIGHT[row["a"]] - EIGHT[row["b"]]
        sums = np.abs(signs @ gaps)
        assert row["p"] == (sums >= abs(gaps.sum()) - 1e-9).sum() / 256
        theirs = stats.permutation_test(
            (EIGHT[row["a"]], EIGHT[row["b"]]),
            lambda x, y: np.mean(x - y),
            permutation_type="samples",
            n_resamples=10_000,
        )
        assert row["p"] == pytest.approx(float(theirs.pvalue))


@FEWER
@given(few())
# The differences sum to zero, which sevenths of them do but for rounding.
@example(np.array([[0, 1, 2, 2, 0, 1, 2], [0, 0, 0, 0, 2, 2, 4]]) / 4)
def test_max_t_is_the_highest_t_of_all_pairs_under_the_same_signs(values: np.ndarray) -> None:
    n = values.shape[1]
    found = pairs(values, resamples=0)
    gaps = np.array([values[a] - values[b] for a, b in zip(found.a, found.b, strict=True)])
    flipped = all_signs(n)[:, None, :] * gaps
    means, spreads = flipped.mean(axis=2), flipped.std(axis=2, ddof=1)
    flat = spreads < 1e-12
    t = np.where(flat, np.where(np.abs(means) > 1e-12, np.inf, 0), np.abs(means))
    t = t / np.where(flat, 1, spreads / np.sqrt(n))
    own = t[-1]  # the last pattern flips nothing
    counts = (t.max(axis=1)[:, None] >= own * (1 - 1e-9)).sum(axis=0)
    assert found["p_adjusted"].tolist() == pytest.approx((counts / 2**n).tolist())
    assert (found["p_adjusted"] >= found["p"] - 1e-12).all()


@FEWER
@given(few())
def test_intervals_of_max_t_leave_0_out_where_the_test_rejects(values: np.ndarray) -> None:
    weights = 1.0 + np.arange(values.shape[1]) % 3
    for found in (pairs(values, resamples=0), pairs(values, weights=weights, resamples=0)):
        _check_intervals(found)


def _check_intervals(found: DataFrame) -> None:
    outside = (found["low"] > 0) | (found["high"] < 0)
    assert (outside == (found["p_adjusted"] <= 0.05)).all()
    assert (found["low"] <= found["difference"] + 1e-9).all()
    assert (found["difference"] <= found["high"] + 1e-9).all()


def test_drawn_signs_come_near_to_all_signs() -> None:
    values = FORTY[:, :14]
    exact = pairs(values, permutations=2**14, resamples=0)
    drawn = pairs(values, permutations=8_000, resamples=0)
    for column in ("p", "p_adjusted"):
        error = np.sqrt(exact[column] * (1 - exact[column]) / 8_000)
        assert (np.abs(drawn[column] - exact[column]) <= 4 * error + 1 / 8_000).all()


def test_p_of_drawn_signs_is_never_0() -> None:
    better = np.array([np.linspace(0.6, 1, 50), np.linspace(0.1, 0.4, 50)])
    assert pairs(better, permutations=999)["p"].iloc[0] == 1 / 1000


@pytest.mark.long
def test_of_many_queries_the_normal_distribution_agrees_with_drawn_signs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Graded values, right or wrong answers, and a copy that differs on 30 queries."""
    random, n = np.random.default_rng(1), 21_000
    base = random.beta(0.4, 0.6, n)
    graded = np.clip(base + random.normal([[0], [0.002], [0.004]], 0.3, (3, n)), 0, 1)
    found = (random.random((2, n)) < [[0.3], [0.306]]).astype(float)
    copy = graded[0].copy()
    copy[:30] += random.normal(0.1, 0.2, 30)
    for values in (graded, np.array([*graded, *found, copy])):
        quick = pairs(values)
        with monkeypatch.context() as whole:
            whole.setattr(sign_flips, "MANY", 10**9)
            whole.setattr(significance, "MANY", 10**9)
            drawn = pairs(values)
        # Of 10,000 patterns a p of .5 has a standard error of .005, one of .05 .002.
        near = 0.02 * np.sqrt(drawn["p"] * (1 - drawn["p"])) + 0.0003
        assert (abs(quick["p"] - drawn["p"]) < near + 0.004).all()
        assert (abs(quick["p_adjusted"] - drawn["p_adjusted"]) < 0.025).all()
        for end in ("low", "high"):
            assert (abs(quick[end] - drawn[end]) < 0.1 * quick["error"]).all()
            # Of 1,000 resamples the ends of effects have one of .08 of their spread.
            off = abs(quick[f"effect_{end}"] - drawn[f"effect_{end}"])
            assert (off < 0.3 / np.sqrt(n)).all()


@pytest.mark.long
def test_of_many_queries_those_that_carry_a_difference_have_signs_of_their_own() -> None:
    random, n = np.random.default_rng(2), 20_000
    base = random.random(n)
    copy = base.copy()
    copy[:5] += 0.5
    # Five that agree: 2 of 32 patterns, whatever other systems there are.
    for values in (np.array([base, copy]), np.array([base, copy, random.random(n)])):
        assert pairs(values)["p"].iloc[0] == pytest.approx(2 / 32, abs=0.008)
    weights = np.concatenate([np.full(5, 1 / 10), np.full(n, 1 / (2 * n))])
    few = np.concatenate([np.full(5, 0.5), random.normal(0, 0.01, n)])
    found = two(few, np.zeros(n + 5), weights=weights)
    assert found.p_randomisation == pytest.approx(2 / 32, abs=0.02)
    assert np.isfinite([found.effect_low, found.effect_high]).all()
    rare = np.zeros(n)
    rare[:1500], rare[:10] = 0.01, 1
    assert two(rare, np.zeros(n)).effect_high > 0.062
    same = np.full(n, 0.5)
    same[0] = 0.4
    assert two(same, np.zeros(n)).effect_high == np.inf


def test_ties_with_the_observed_difference_count_as_extreme() -> None:
    # Every pattern of 60 differences of 0.1 or 0 that has the observed sum is a tie.
    gaps = np.repeat([0.1, -0.1, 0.0], [15, 9, 36])
    found = two(gaps + 0.3, np.full(60, 0.3), permutations=20_000)
    exact = stats.binomtest(15, 24).pvalue
    assert found.p_randomisation == pytest.approx(exact, abs=0.015)
    assert (found.won, found.lost, found.equal) == (15, 9, 36)


@pytest.mark.long
def test_max_t_keeps_the_error_of_a_family_without_differences() -> None:
    random = np.random.default_rng(1)
    families = [random.normal(0.5, 0.2, (5, 30)) for _ in range(200)]
    wrong = sum(
        bool((pairs(f, permutations=400, resamples=0)["p_adjusted"] <= 0.05).any())
        for f in families
    )
    assert wrong <= 20  # expected 10; more than 20 happens once in a thousand


def test_without_weights_the_effect_is_mean_over_deviation() -> None:
    row = pairs(EIGHT).iloc[0]
    gaps = EIGHT[0] - EIGHT[1]
    assert row["difference"] == pytest.approx(gaps.mean())
    assert row["effect"] == pytest.approx(gaps.mean() / gaps.std(ddof=1))
    assert row["effect_low"] < row["effect"] < row["effect_high"]


@pytest.mark.long
def test_the_interval_of_the_effect_holds_it_in_95_percent() -> None:
    random = np.random.default_rng(3)
    held = 0
    for _ in range(150):
        gaps = random.normal(0.06, 0.2, 100)
        found = two(gaps, np.zeros(100), permutations=19, resamples=300)
        held += found.effect_low <= 0.3 <= found.effect_high
    assert 0.89 <= held / 150 <= 0.99


@pytest.mark.parametrize(("n", "stated"), [(30, 0.90), (100, 0.92), (300, 0.94), (500, 0.95)])
def test_students_interval_holds_the_difference_as_often_as_the_numbers_say(
    n: int, stated: float
) -> None:
    """docs/numbers.md: 60% of the queries equal, the differences of the others skewed."""
    random = np.random.default_rng(3)
    true = 0.4 * (1.2 * 0.6 / 3 - 0.1)
    skewed = random.beta(0.6, 2.4, (4000, n)) * 1.2 - 0.1
    gaps = np.where(random.random((4000, n)) < 0.6, 0, skewed)
    low, high = student(gaps.mean(axis=1), gaps.std(axis=1, ddof=1) / np.sqrt(n), n - 1)
    assert ((low <= true) & (true <= high)).mean() == pytest.approx(stated, abs=0.015)


def test_weights_are_those_of_weighted_least_squares() -> None:
    forum = pd.Series(["a"] * 10 + ["b"] * 30)
    weights = significance.by_part(forum)
    assert weights is not None and weights.sum() == pytest.approx(1)
    found = two(FORTY[0], FORTY[1], weights=weights)
    gaps = FORTY[0] - FORTY[1]
    model = sm.WLS(gaps, np.ones(40), weights=weights)  # pyrefly: ignore
    fit = model.fit(cov_type="HC1", use_t=True)
    assert found.difference == pytest.approx(np.mean([gaps[:10].mean(), gaps[10:].mean()]))
    assert found.p_t == pytest.approx(fit.pvalues[0])
    assert np.isnan(found.p_wilcoxon)


def test_equal_weights_change_nothing() -> None:
    plain, weighted = pairs(FORTY), pairs(FORTY, weights=np.full(40, 3.0))
    pd.testing.assert_frame_equal(plain, weighted)


def test_equal_systems_are_not_told_apart() -> None:
    found = pairs(np.array([FORTY[0], FORTY[0], FORTY[1]]))
    row = found.iloc[0]
    assert (row["p"], row["p_adjusted"], row["low"], row["high"], row["effect"]) == (1, 1, 0, 0, 0)
    assert pairs(FORTY[[0, 0]], test="t", correction="none")["p"].tolist() == [1]
    assert pairs(FORTY[[0, 0]], test="wilcoxon", correction="none")["p"].tolist() == [1]


def test_the_same_difference_on_every_query_has_no_effect_size() -> None:
    found = two(FORTY[0] + 0.25, FORTY[0])
    assert np.isnan(found.effect) and found.p_t < 1e-9


def test_a_resample_without_spread_has_a_boundless_effect() -> None:
    found = two(np.array([1.0] * 7 + [0.0]), np.zeros(8))
    assert 0 < found.effect_low < found.effect
    assert found.effect_high == np.inf


def test_rounding_alone_makes_no_system_differ() -> None:
    again = FORTY[0].copy()
    again[3] = np.nextafter(again[3], 2)
    expected = pairs(np.array([FORTY[0], FORTY[0], FORTY[1]]), resamples=0)
    found = pairs(np.array([FORTY[0], again, FORTY[1]]), resamples=0)
    pd.testing.assert_frame_equal(found, expected)


def test_aligned_leaves_out_and_counts_what_a_system_lacks() -> None:
    rows = [
        ("x", "a", "q1", 0.1),
        ("x", "b", "q1", 0.2),
        ("x", "a", "q2", 0.3),
        ("y", "a", "q1", 0.5),
        ("y", "b", "q1", 0.6),
        ("x", "other", "q9", 1.0),
    ]
    frame = DataFrame(rows, columns=["dataset", "system", "query_id", "value"])
    found = aligned(frame, ["b", "a"])
    assert found.queries.to_numpy().tolist() == [["x", "q1"], ["y", "q1"]]
    assert found.values.tolist() == [[0.2, 0.6], [0.1, 0.5]]
    assert found.n_left_out == 1
    assert found.weights is not None and found.weights.tolist() == [0.5, 0.5]


def test_a_family_that_cannot_be_resolved_is_refused_with_what_it_needs() -> None:
    assert permutations_needed(45, "holm") == 899
    assert permutations_needed(45, "maxT") == 19
    with pytest.raises(WrongInput, match="119 are needed"):
        pairs(FORTY, correction="holm", permutations=118)
    assert len(pairs(FORTY, correction="holm", permutations=119)) == 6
    with pytest.raises(WrongInput, match="19 are needed"):
        pairs(FORTY, permutations=18)
    with pytest.raises(WrongInput, match="4 queries have 16 sign patterns"):
        pairs(FORTY[:, :4], correction="bh")


def test_the_interval_of_a_median_draws_queries_with_all_their_values() -> None:
    units, random = np.repeat(np.arange(400), 10), np.random.default_rng(5)
    numbers = random.integers(0, 60, 4000) + random.integers(0, 60, 400)[units]
    values = numbers.astype(np.float64)
    drawn = significance.drawn_again(400, 1000, np.random.default_rng(significance.SEED))
    medians = [np.median(np.repeat(values, counts[units].astype(int))) for counts in drawn]
    low, high = significance.median_interval(units, values)
    assert (low, high) == tuple(np.percentile(medians, [2.5, 97.5]))
    assert low < np.median(values) < high
    assert significance.median_interval(np.array([4, 7, 7]), np.array([1.0, 9, 9])) == (1, 9)
    assert np.isnan(significance.median_interval(np.array([4, 4]), np.array([1.0, 9]))).all()


def test_wrong_input_is_one_sentence() -> None:
    with pytest.raises(WrongInput, match="two queries"):
        two([0.1], [0.2])
    with pytest.raises(WrongInput, match="'z' is none of: randomisation, t, wilcoxon"):
        pairs(FORTY, test="z")
    with pytest.raises(WrongInput, match="maxT corrects the randomisation test"):
        pairs(FORTY, test="t")
    with pytest.raises(WrongInput, match="takes no weights"):
        pairs(FORTY, test="wilcoxon", correction="holm", weights=np.arange(1, 41))
