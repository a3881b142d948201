from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from scipy import stats

from compute.base.errors import WrongInput
from compute.evaluate.estimates import prediction
from compute.evaluate.estimates.completed import NODES, completed
from compute.evaluate.estimates.corrected import Batch, Corrected, by_guess, corrected
from compute.evaluate.estimates.intervals import Estimates, estimates, of_differences
from compute.evaluate.estimates.linearised import ends, kind, linear
from compute.evaluate.measures import evaluate
from compute.judgements import sampling
from tests.benchmarks.made.graded import graded
from tests.evaluate.estimates.made import TWO, drawn, listed
from tests.support.oracles import by_pytrec_eval, qrels

MEASURES = ("P@5", "RBP(p=0.8)@5", "RBP(p=0.8,rel=2)@5", "nDCG@5", "R@5", "AP@5")
FROM_2 = ("P(rel=2)@5", "R(rel=2)@5", "AP(rel=2)@5")


@pytest.fixture(scope="module")
def sample() -> Corrected:
    frame, grades = drawn(12, 5, seed=4)
    inside = np.random.default_rng(0).random(frame.n) < 0.5
    batch = Batch(np.flatnonzero(inside), np.full(frame.n, 0.5), 1)
    known = np.where(inside, grades, np.nan)
    return corrected(frame, prediction.features(frame), known, [batch], np.array([1.0, 2]))


@pytest.mark.long
@pytest.mark.parametrize("measure", (*MEASURES, *FROM_2))
def test_of_known_grades_the_values_are_those_of_the_measure(measure: str) -> None:
    frame, grades = drawn(12, 5, seed=4)
    of, levels = kind(measure), np.array([1.0, 2.0])
    found = linear(frame, of, (grades[:, None] >= levels).astype(float), np.ones(2), levels)
    judgements = frame.pairs.assign(relevance=grades.astype(int))
    for place, rank in enumerate(frame.rank.T):
        run = frame.pairs.assign(rank=rank)[(rank > 0) & (rank <= 5)]
        scores = evaluate(run, judgements, [measure], depth=5)
        assert found.values[place] == pytest.approx(scores["value"].to_numpy())


@pytest.mark.parametrize("measure", ("P@5", "nDCG@5"))
def test_a_full_census_gives_the_exact_scores(measure: str) -> None:
    frame, grades = drawn(12, 5, seed=4)
    levels = np.array([1.0, 2, 3])
    # Judged besides: what no system found, in some queries, of all grades; and a strange query.
    queries = [*frame.queries[:5], frame.queries[0], "strange"]
    away = pd.DataFrame({"query_id": queries, "doc_id": list("abcdefg")})
    away["relevance"] = [3, 1, 2, 0, -1, 2, 3]
    judgements = pd.concat([frame.pairs.assign(relevance=grades.astype(int)), away])
    census = [Batch(np.arange(frame.n), np.ones(frame.n), 1)]
    sample = corrected(frame, prediction.features(frame), grades, census, levels)
    found = estimates(frame, kind(measure), sample, frame.outside(judgements, levels))
    for place, rank in enumerate(frame.rank.T):
        run = qrels(frame.pairs.assign(relevance=-rank)[rank > 0])
        oracle = by_pytrec_eval(qrels(judgements), run)
        wanted = [oracle[measure, query] for query in frame.queries]
        assert found.by_query[place] == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("measure", (*MEASURES, "DCG@5"))
def test_of_known_grades_a_slope_is_what_one_pair_changes(measure: str) -> None:
    frame, _ = drawn(6, 5, seed=5)
    of, one = kind(measure.replace(",rel=2", "")), np.ones(1)
    shares = (np.random.default_rng(1).random((frame.n, 1)) < 0.4).astype(float)
    near = linear(frame, of, shares, one, one)
    slopes = near.moves[:, :, 0]
    for row in range(frame.n):
        ends = []
        for share in (0, 1):
            moved = shares.copy()
            moved[row] = share
            ends.append(linear(frame, of, moved, one, one).values[:, frame.query[row]])
        assert slopes[row] == pytest.approx(ends[1] - ends[0]), row
    # And `moved` adds them up.
    change = np.random.default_rng(2).normal(size=shares.shape)
    by_query = np.array([np.bincount(frame.query, column, 6) for column in (slopes * change).T])
    assert near.moved(frame, change) == pytest.approx(near.values + by_query)


@pytest.mark.parametrize("measure", ("nDCG@2", "R@2", "AP@2", "P@2", "DCG@2"))
def test_near_predictions_the_value_is_the_mean_over_grades(measure: str) -> None:
    shares, of, one = np.array([1, 0.1, 0.2, 0.1, 0.2, 1, 0.1]), kind(measure), np.ones(1)
    mean = np.zeros((2, 2))
    for relevant in product([0, 1], repeat=7):
        chance = np.where(relevant, shares, 1 - shares).prod()
        if chance:
            given = np.array(relevant, float)[:, None]
            mean += chance * linear(TWO, of, given, one, one).values
    # The number of relevant documents is only about that of Poisson.
    near = 0.01 if of.is_ratio else 1e-12
    assert linear(TWO, of, shares[:, None], one, one).values == pytest.approx(mean, abs=near)


def test_worked_by_hand_recall() -> None:
    # In query p, a is relevant, b and c are not: R@2 of one (a, b) is 1 / 1. With b it would be
    # 2 / 2, with c, which it does not have, 1 / 2, without a 0.
    shares = np.array([[1.0], [0], [0], [0], [0], [0], [1]])
    near = linear(TWO, kind("R@2"), shares, np.ones(1), np.ones(1))
    assert near.values[0] == pytest.approx([1, 0])
    assert near.moves[:3, 0, 0] == pytest.approx([1, 0, -0.5])


def test_intervals_of_all_pairs_are_wider_than_of_each(sample: Corrected) -> None:
    frame, _ = drawn(12, 5, seed=4)
    found = estimates(frame, kind("nDCG@5"), sample)
    together, each = found.pairs(), found.pairs(together=False)
    assert (together["high"] > each["high"]).all()
    assert together["difference"].to_list() == each["difference"].to_list()
    scores = found.scores()
    # They reach farther to where the errors are skewed.
    up, down = scores["high"] - scores["mean"], scores["mean"] - scores["low"]
    assert (down > 0).all() and ((up > down) == (np.diag(found.skew) > 0)).all()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
def test_intervals_hold_what_they_are_about_whatever_is_judged(seed: int) -> None:
    random = np.random.default_rng(seed)
    frame, grades = drawn(5, 4, seed=seed, n_systems=int(random.integers(1, 4)))
    if seed % 3 == 0:
        # Nothing, nearly nothing or everything is relevant.
        grades = (random.random(frame.n) < seed / 9).astype(float)
    inside = random.random(frame.n) < random.random()
    batch = Batch(np.flatnonzero(inside), np.full(frame.n, max(inside.mean(), 0.01)), 1)
    known = np.where(inside & (random.random(frame.n) < 0.9), grades, np.nan)
    sample = corrected(frame, prediction.features(frame), known, [batch])
    for measure in (*MEASURES, "DCG@4"):
        found = estimates(frame, kind(measure.replace("@5", "@4")), sample)
        scores, pairs, each = found.scores(), found.pairs(), found.pairs(together=False)
        assert (scores["low"] <= scores["mean"]).all() and (scores["mean"] <= scores["high"]).all()
        assert (pairs["low"] <= pairs["difference"]).all()
        assert (pairs["difference"] <= pairs["high"]).all()
        assert (pairs["high"] >= each["high"]).all() and (pairs["low"] <= each["low"]).all()
        skew = found.skew - np.diag(np.diag(found.skew))
        assert skew == pytest.approx(-skew.T), "a - b is skewed as b - a, the other way round"


def test_who_is_better_follows_from_the_pairs() -> None:
    still = np.zeros((3, 3))
    covariance = np.diag([0.01, 0.01, 0.01]) ** 2
    by_query = np.array([[0.5, 0.7], [0.2, 0.3], [0.59, 0.6]])
    found = Estimates(
        ("a", "b", "c"),
        by_query,
        covariance,
        of_differences(covariance),
        40 + still,
        still,
        still,
        still,
        30,
        30,
    )
    # The error of a difference is .0141; a and b differ by .35, c and b by .345, a and c by .005.
    assert found.better().tolist() == [[False, True, False], [False] * 3, [False, True, False]]
    ranks = found.ranks()
    assert ranks["system"].to_list() == ["a", "c", "b"]
    assert ranks[["rank", "rank_low", "rank_high"]].to_numpy().tolist() == [
        [1, 1, 2],
        [2, 1, 2],
        [3, 3, 3],
    ]
    assert ranks["group"].to_list() == ["a", "a", "b"]
    few: dict[str, Any]
    for few in ({"n_relevant": 29}, {"n_not_relevant": 29}):
        assert not replace(found, **few).better().any()
        assert replace(found, **few, is_census=True).better().any()


def test_worked_by_hand_queries_like_these() -> None:
    # Estimates by query .5 and .7: mean .6, deviation .1414, over root 2 .1; t(.975, 1) = 12.706.
    still = np.zeros((2, 2))
    by_query = np.array([[0.5, 0.7], [0.6, 0.6]])
    found = Estimates(
        ("a", "b"), by_query, still, still, 40 + still, still, still, np.diag([0, 0.05]), 30, 30
    )
    told = found.queries_like_these()
    assert told["low"].tolist() == pytest.approx([0.6 - 1.2706, 0.6], abs=1e-4)
    assert told["high"].tolist() == pytest.approx([0.6 + 1.2706, 0.65], abs=1e-4)


def test_worked_by_hand_a_skewed_interval() -> None:
    # Every pair is predicted .1 relevant and drawn with chance .5; p a was drawn, and is relevant.
    # Each of the four pairs of one moves its mean by 1/4. Of the mean the predictions expect a
    # variance of 4 (1/4)^2 .09 = .0225 and a third moment of 4 (1/4)^3 .09 (1 - .2) = .0045; p a's
    # squared error, .81 for .09, makes both nine times as large.
    grades = np.array([1.0, *[np.nan] * 6])
    batch = Batch(np.zeros(1, np.int64), np.full(7, 0.5), 1)
    sample = by_guess(np.full((7, 1), 0.1), grades, [batch], np.ones(1), TWO.query)
    found = estimates(TWO, kind("P@2"), sample)
    assert found.skew[0, 0] == pytest.approx(0.5 * 9 * 0.0045 / (9 * 0.0225) ** 1.5)
    # What one alone has, two alone has, too.
    assert found.skew[0, 1] == pytest.approx(0)
    # A symmetric interval reaches 1.96 errors. Where the skewness is .3, Hall's formula gives down
    # 10 ((1 + .3 (1.96 - .05))^(1/3) - 1) = 1.629, up 10 (1 - (1 - .3 (1.96 + .05))^(1/3)) = 2.650.
    still, one = np.zeros((1, 1)), np.full((1, 1), 0.1**2)
    sure = np.full((1, 1), 1e12)
    half = np.full((1, 1), 0.5)
    told = Estimates(("a",), half, one, one, sure, still + 0.3, still, still, 30, 30).scores()
    assert told["low"].item() == pytest.approx(0.5 - 0.1630, abs=1e-4)
    assert told["high"].item() == pytest.approx(0.5 + 0.2650, abs=1e-4)


def test_worked_by_hand_what_a_sum_can_be() -> None:
    # P@2 of one: p has a (relevant) and b (unknown), q has a (not) and b (unknown): (1 + 0) / 4
    # today, (2 + 1) / 4 at most. Of two: p a and c (not), q c and d (both unknown).
    grades = np.array([1.0, np.nan, 0, 0, np.nan, np.nan, np.nan])
    low, high = ends(TWO, kind("P@2"), grades, np.array([1.0, 2.0]))
    assert (low.tolist(), high.tolist()) == ([0.25, 0.25], [0.75, 0.75])
    # DCG counts grades: what is unknown has 2 at most. One: (1 + 2 / log2(3) + 2 / log2(3)) / 2.
    low, high = ends(TWO, kind("DCG@2"), grades, np.array([1.0, 2.0]))
    second = 1 / np.log2(3)
    assert low.tolist() == [0.5, 0.5]
    assert high == pytest.approx([(1 + 4 * second) / 2, (1 + 2 + 2 * second) / 2])
    with pytest.raises(WrongInput, match="AP is not a sum"):
        ends(TWO, kind("AP@2"), grades, np.ones(1))


@pytest.mark.parametrize("measure", ("R@5", "AP@5"))
def test_measures_that_simulations_rule_out_have_no_interval(
    measure: str, sample: Corrected
) -> None:
    frame, _ = drawn(12, 5, seed=4)
    many = replace(sample, n_reached=np.full(2, 99), n_judged=198)
    found = estimates(frame, kind(measure), many)
    assert found.range_only and not found.enough
    assert replace(found, is_census=True).enough


def test_ndcg_has_an_interval_whatever_the_number_of_grades(sample: Corrected) -> None:
    frame, _ = drawn(12, 5, seed=4)
    many = replace(sample, n_reached=np.full(2, 99), n_judged=198)
    for measure in ("nDCG@5", "P@5", "DCG@5", "RBP(p=0.8)@5", "P(rel=2)@5"):
        assert estimates(frame, kind(measure), many).enough, measure
    assert not estimates(frame, kind("nDCG@5"), replace(many, n_judged=99 + 29)).enough


def test_completions_follow_the_model() -> None:
    """Without judgements, by all grades of the three documents of a query: nDCG, and what the first
    adds to it. Each query has an effect, whose share of the variance is any in the list."""
    queries = {f"q{number:03}": "abc" for number in range(300)}
    frame, levels = listed({"one": queries}, depth=3), np.array([1.0, 2.0])
    alone = np.array([[0.7, 0.3], [0.4, 0.2], [0.5, 0.1]])
    shares = np.tile(alone, (300, 1))
    nothing, none = np.full(frame.n, np.nan), Batch(np.zeros(0, np.int64), np.full(frame.n, 0.5), 1)
    sample = by_guess(shares, nothing, [none], levels, frame.query)
    near = completed(frame, kind("nDCG@3"), sample, None)
    discount, mean, added = 1 / np.log2([2, 3, 4]), 0.0, np.zeros(2)
    for effect, spread in NODES:
        reached = stats.norm.cdf((stats.norm.ppf(alone) + effect) / spread)
        chances = np.column_stack([1 - reached[:, 0], -np.diff(reached), reached[:, 1]])
        for second, third in product(range(3), repeat=2):
            chance = chances[1, second] * chances[2, third]
            value = [
                np.dot(given, discount) / max(np.dot(sorted(given, reverse=True), discount), 1e-9)
                for given in ((first, second, third) for first in range(3))
            ]
            mean += chance * np.dot(chances[0], value) / len(NODES)
            added += chance * np.diff(value) / len(NODES)
    assert near.values.mean() == pytest.approx(mean, abs=0.01)
    assert near.moves[0::3, 0].mean(axis=0) == pytest.approx(added, abs=0.01)
    assert near.shares.reshape(300, 3, 2).mean(axis=0) == pytest.approx(alone, abs=0.01)


@pytest.mark.long
@pytest.mark.parametrize("n_levels", (1, 2, 4))
def test_ndcg_of_graded_worlds_is_close_to_unbiased(n_levels: int) -> None:
    """It was too high by a third to all of its half-width while the ideal order was that of the
    expected numbers of documents."""
    of, levels, errors = kind("nDCG@10"), np.arange(1.0, n_levels + 1), []
    for seed in range(16):
        frame, grades = graded(n_levels, seed)
        order = sampling.order(sampling.sizes(frame, of), np.zeros(frame.n, bool), seed)
        batch = order.first(200)
        known = np.full(frame.n, np.nan)
        known[batch.rows] = grades[batch.rows]
        sample = corrected(frame, prediction.features(frame), known, [batch], levels)
        reached = (grades[:, None] >= levels).astype(float)
        truth = linear(frame, of, reached, np.ones(n_levels), levels).values.mean(axis=1)
        scores = estimates(frame, of, sample).scores()
        half = (scores["high"] - scores["low"]) / 2
        errors.append(((scores["mean"] - truth) / half).mean())
    assert abs(np.mean(errors)) < 0.25


@pytest.mark.long
def test_of_equal_chances_average_precision_agrees_with_inferred() -> None:
    """infAP (Yilmaz and Aslam 2006), as trec_eval has it, from the same samples of the pool."""
    frame, grades = drawn(12, 30, seed=4)
    of, one, half = kind("AP@30"), np.ones(1), np.full(frame.n, 0.5)
    relevant = (grades > 0).astype(float)
    rank = frame.rank[:, 0]
    lists = qrels(frame.pairs.assign(relevance=-rank)[(rank > 0) & (rank <= 30)])
    ours, inferred = [], []
    for seed in range(40):
        inside = np.random.default_rng(seed).random(frame.n) < 0.5
        known = np.where(inside, relevant, np.nan)
        batch = Batch(np.flatnonzero(inside), half, 1)
        sample = corrected(frame, prediction.features(frame), known, [batch], one)
        ours.append(estimates(frame, of, sample).means[0])
        # A relevance of -1 says that a pair is in the pool and was not drawn.
        judged = frame.pairs.assign(relevance=np.where(inside, relevant, -1).astype(int))
        told = pytrec_eval.RelevanceEvaluator(qrels(judged), {"infAP"}).evaluate(lists)
        inferred.append(sum(query["infAP"] for query in told.values()) / 12)
    truth = linear(frame, of, relevant[:, None], one, one).values.mean(axis=1)[0]
    error = [np.array(found) - truth for found in (ours, inferred)]
    assert abs(error[0].mean() - error[1].mean()) < 0.03 and abs(error[0].mean()) < 0.02
    assert error[0].std() < error[1].std(), "a prediction helps"


def test_equal_lists_differ_by_nothing() -> None:
    still, flat = np.zeros((2, 2)), np.full((2, 2), 0.01)
    found = Estimates(
        ("a", "b"),
        np.ones((2, 2)),
        flat,
        of_differences(flat),
        40 + still,
        still,
        still,
        still,
        30,
        30,
    )
    assert found.pairs()[["error", "low", "high"]].to_numpy() == pytest.approx(0)
    assert not found.better().any()


def test_what_is_known_exactly_can_be_told_apart() -> None:
    # All of TWO is judged: P@2 of one is 1/2 and 0, of two 1 and 1/2; few pairs are enough.
    grades = np.array([1.0, 0, 1, 0, 0, 1, 0])
    census = [Batch(np.arange(7), np.ones(7), 1)]
    sample = by_guess(np.full((7, 1), 0.5), grades, census, np.ones(1), TWO.query)
    found = estimates(TWO, kind("P@2"), sample)
    assert found.means.tolist() == [0.25, 0.75] and found.enough
    assert found.scores()["error"].tolist() == [0, 0]
    assert found.better().tolist() == [[False, False], [True, False]]
    # Before anything is judged the error is 0, too, but nothing is known.
    nothing = [Batch(np.zeros(0, np.int64), np.full(7, 0.5), 1)]
    unknown = np.full(7, np.nan)
    sample = by_guess(np.full((7, 1), 0.5), unknown, nothing, np.ones(1), TWO.query)
    assert not estimates(TWO, kind("P@2"), sample).enough


def test_a_measure_that_is_no_such_sum_is_refused() -> None:
    for name in ("RR@10", "AP", "Bpref"):
        with pytest.raises(WrongInput, match="cannot be estimated"):
            kind(name)


def test_frames_are_named_by_what_they_hold() -> None:
    frame, grades = drawn(12, 5, seed=4)
    assert frame.identity == drawn(12, 5, seed=4)[0].identity
    assert frame.identity != drawn(12, 4, seed=4)[0].identity
    judged = pd.DataFrame({"query_id": ["p", "p", "x"], "doc_id": ["c", "z", "a"]})
    assert TWO.grades(judged.assign(relevance=[-1, 1, 1])).tolist()[:3] == pytest.approx(
        [np.nan, np.nan, 0], nan_ok=True
    )
    assert len(grades) == frame.n
