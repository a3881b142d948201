"""Simulated judging of TREC-COVID round 1: where it ends, and which order gets there first."""

import os
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from pandas import DataFrame

from compute.evaluate.measures import evaluate
from compute.judgements import orders
from tests.support.ranked_lists import judged, tops
from tests.support.simulating import Contest, K, from_files, in_order, needed, taus

REFERENCE = os.environ.get("BEIRSCOPE_REFERENCE", "")
reference = pytest.mark.skipif(
    not REFERENCE, reason="BEIRSCOPE_REFERENCE is not set: no judging simulated on real judgements"
)
RUNS = Path(REFERENCE) / "runs" / "trec-covid-round1"


@pytest.fixture(scope="module")
def contest() -> Contest:
    return from_files(RUNS)


def by_pytrec_eval(tops: DataFrame, judgements: DataFrame, n_queries: int) -> dict[str, float]:
    qrels = {
        str(query_id): dict(zip(part["doc_id"], part["relevance"].tolist(), strict=True))
        for query_id, part in judgements.groupby("query_id")
    }
    oracle = pytrec_eval.RelevanceEvaluator(qrels, {f"ndcg_cut.{K}"})
    found = {}
    for system, part in tops.groupby("system"):
        run = {
            str(query_id): dict(zip(hits["doc_id"], (-hits["rank"]).tolist(), strict=True))
            for query_id, hits in part.groupby("query_id")
        }
        values = [value[f"ndcg_cut_{K}"] for value in oracle.evaluate(run).values()]
        found[str(system)] = sum(values) / n_queries
    return found


def test_the_leaderboard_after_each_judgement_is_what_pytrec_eval_makes_of_it() -> None:
    random = np.random.default_rng(5)
    names = [f"d{number:02}" for number in range(25)]
    queries = ("q1", "q2", "q3")
    lists = {
        system: {query: " ".join([*random.permutation(names)[:12]]) for query in queries}
        for system in "abc"
    }
    grades = {query: {name: int(random.integers(0, 3)) for name in names[:20]} for query in queries}
    made = Contest(tops(**lists), judged(**grades))
    start = made.of("a")
    rows = random.permutation(np.flatnonzero(made.judged & ~start))
    found = made.trajectory(start, rows)
    for step in range(0, len(rows) + 1, 5):
        known = start.copy()
        known[rows[:step]] = True
        top = made.tops[made.tops["rank"] <= K]
        expected = by_pytrec_eval(top, made.known(known), len(queries))
        assert dict(zip(made.systems, found[step], strict=True)) == pytest.approx(expected)


def test_tau_and_the_judgements_needed_by_hand() -> None:
    final = np.array([3.0, 2.0, 1.0])
    # One of three pairs is turned; a tie; all right; turned again; all right.
    steps = np.array([[2, 3, 1], [2, 2, 1], [3, 2, 1], [1, 2, 3], [3, 2, 1]], np.float64)
    assert taus(steps, final) == pytest.approx([1 / 3, 2 / np.sqrt(6), 1, -1, 1])
    assert needed(steps, final) == 4
    assert needed(steps[2:3], final) == 0


@pytest.mark.long
@reference
def test_the_runs_score_what_the_organisers_say(contest: Contest) -> None:
    official = pd.read_csv(RUNS / "official_scores.csv").set_index("run")["ndcg@10"]
    assert len(contest.systems) == 14
    for system, part in contest.tops.groupby("system"):
        values = evaluate(part, contest.judgements, ("nDCG@10",), depth=K)["value"]
        assert round(float(values.mean()), 4) == official[system]


@reference
@pytest.mark.parametrize(("system", "tau"), [("BM25R2", 0.47), ("bm25t5", 0.52)])
def test_the_judgements_of_one_run_alone_make_another_order(
    contest: Contest, system: str, tau: float
) -> None:
    found = contest.means(contest.of(system))
    assert round(float(taus(found[None], contest.means(contest.judged))[0]), 2) == tau


@reference
def test_everything_given_back_is_the_full_score_and_the_pool_alone_nearly(
    contest: Contest,
) -> None:
    start = contest.of("BM25R2")
    final = contest.means(contest.judged)
    rows = np.random.default_rng(1).permutation(np.flatnonzero(contest.judged & ~start))
    assert contest.trajectory(start, rows)[-1] == pytest.approx(final, abs=1e-12)
    for place, system in enumerate(contest.systems):
        own = contest.tops[contest.tops["system"] == system]
        scores = evaluate(own, contest.judgements, ("nDCG@10",), depth=K)["value"]
        assert final[place] == pytest.approx(float(scores.mean()), abs=1e-12)
    pool = contest.means(contest.judged & contest.pooled)
    assert 0 < np.abs(pool - final).max() < 0.0085
    assert taus(pool[None], final)[0] == 1


@reference
@pytest.mark.parametrize("system", [pytest.param("BM25R2", marks=pytest.mark.long), "bm25t5"])
def test_the_default_order_needs_fewer_judgements_than_the_others(
    contest: Contest, system: str
) -> None:
    start, final = contest.of(system), contest.means(contest.judged)

    def cost(name: str, every: int = 0, seed: int = 0) -> int:
        rows = in_order(contest, start, name, every=every, seed=seed)
        return needed(contest.trajectory(start, rows), final)

    best = cost(orders.DEFAULT, every=50)
    assert best < min(cost("fusion"), cost("depth"), cost("move-to-front", every=50))
    assert best < 0.5 * median(cost("random", seed=seed) for seed in range(5))
