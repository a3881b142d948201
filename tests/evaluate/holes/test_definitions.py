"""Every definition of a hole by hand; lists with their holes left out or expected."""

import math
import os
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compute.datasets.qrels import read_qrels
from compute.evaluate import holes
from compute.evaluate.measures import evaluate
from compute.evaluate.runs import canonical
from tests.support import worlds
from tests.support.ranked_lists import read_trec
from tests.support.worlds import intervals

TOP = pd.DataFrame(
    [
        ("A", "q1", "a", 1),
        ("A", "q1", "x", 2),
        ("A", "q1", "b", 3),
        ("A", "q2", "b", 1),
        ("B", "q1", "x", 1),
        ("B", "q1", "y", 2),
        ("B", "q3", "a", 1),
    ],
    columns=["system", "query_id", "doc_id", "rank"],
)
JUDGED = pd.DataFrame(
    [("q1", "a", 2), ("q1", "b", 0), ("q2", "a", 1), ("q2", "x", -1)],
    columns=["query_id", "doc_id", "relevance"],
)


def held(k: int = 3) -> holes.Lists:
    return holes.arrange(TOP, JUDGED, k)


def test_only_judged_queries_are_held():
    assert held().queries == ("q1", "q2")
    assert held().levels.tolist() == [1, 2]
    assert held().judged.tolist() == [[1, 1], [1, 0]]


def test_hole_is_the_unjudged_share_of_the_filled_ranks():
    # A: one of three, one of one (judged for q1 alone). B: two of two; q2 is not answered.
    assert holes.hole(held(), 3).to_dict() == {"A": (1 / 3 + 1) / 2, "B": 1.0}
    assert holes.hole(held(), 1).to_dict() == {"A": 0.5, "B": 1.0}
    by_query = holes.hole_by_query(held(), 3)
    assert by_query[0].tolist() == [1 / 3, 1]
    assert by_query[1, 0] == 1 and math.isnan(by_query[1, 1])


def test_hole_as_beirs_code_counts_documents_judged_for_no_query_over_k():
    # Only y is judged nowhere; B leaves q2 unanswered, which stays out of its mean.
    assert holes.hole_beir(held(), 3).to_dict() == {"A": 0.0, "B": pytest.approx(1 / 3)}
    run = TOP[TOP["system"] == "B"]
    scores = evaluate(run, JUDGED, ["Hole_beir@3"], depth=3)
    assert scores[["query_id", "value"]].to_numpy().tolist() == [["q1", pytest.approx(1 / 3)]]


def test_holes_by_rank():
    found = holes.by_rank(held()).set_index(["system", "rank"])
    assert found["n_filled"].tolist() == [2, 1, 1, 1, 1, 0]
    assert found["n_holes"].tolist() == [1, 1, 0, 1, 1, 0]
    assert found["n_relevant"].tolist() == [1, 0, 0, 0, 0, 0]


@pytest.mark.long
@settings(worlds.CASES, max_examples=worlds.CASES.max_examples // 5)
@given(worlds.hits(), worlds.judgements(), st.sampled_from([1, 3, 5]))
def test_holes_and_scores_are_those_of_the_measures(hits, judgements, k):
    hits = hits.drop_duplicates(["query_id", "doc_id"]).sort_values(["query_id", "doc_id"])
    run = hits.assign(rank=hits.groupby("query_id").cumcount() + 1, system="A")
    lists = holes.arrange(run, judgements, k, systems=("A",))
    names = {f"{name}@{k}" for name in holes.GAINS}
    scores = evaluate(run, judgements, [*names, f"Hole@{k}", f"Hole_beir@{k}"], depth=100)
    by_measure = {
        name: part.set_index("query_id")["value"] for name, part in scores.groupby("measure")
    }
    for name in names & set(by_measure):
        found = intervals(lists, name).set_index("query_id")["value"]
        assert found.to_dict() == pytest.approx(by_measure[name].to_dict())
    if f"Hole@{k}" in by_measure:
        assert holes.hole(lists, k)["A"] == pytest.approx(by_measure[f"Hole@{k}"].mean())
        assert holes.hole_beir(lists, k)["A"] == pytest.approx(by_measure[f"Hole_beir@{k}"].mean())


def test_condensed_lists_close_up():
    # A without x: a, b. B has nothing judged.
    found = holes.condensed(held(), "nDCG@2").stack()
    assert found.to_dict() == {("A", "q1"): 1, ("A", "q2"): 0, ("B", "q1"): 0, ("B", "q2"): 0}
    top = TOP.assign(rank=TOP["rank"].where(TOP["doc_id"] != "a", 9))
    moved = holes.condensed(holes.arrange(top, JUDGED, 10), "nDCG@2")
    # x, b, …, a at rank 9: a moves up to rank 2.
    assert moved.iloc[0, 0] == pytest.approx(1 / math.log2(3))


def test_rates_are_mean_gains_of_what_is_judged_at_a_rank():
    # Rank 1: a (2) of A; rank 2 nothing, so the mean of all; rank 3: b (0).
    assert holes.rates(held()).tolist() == [2, 1, 0]


def test_expected_scores_give_holes_the_rate_of_their_rank():
    found = holes.expected(held(), "nDCG@3").stack()
    discounts = [1, 1 / math.log2(3), 1 / math.log2(4)]
    assert found["A", "q1"] == pytest.approx(1)
    # q2 of A: its hole at rank 1 counts 2, the best order 2 and the judged 1.
    assert found["A", "q2"] == pytest.approx(2 / (2 + discounts[1]))
    # q1 of B: holes count 2 and 1, the best order 2, the judged 2, and 1.
    assert found["B", "q1"] == pytest.approx((2 + discounts[1]) / (2 + 2 * discounts[1] + 0.5))
    assert found["B", "q2"] == 0


def test_expected_precision_and_recall_count_shares():
    # Relevant or not: the rate of rank 1 is 1, of rank 2 1 / 2, of rank 3 0.
    assert holes.rates(held().binary()).tolist() == [1, 0.5, 0]
    assert holes.expected(held(), "P@3").mean(axis=1)["B"] == pytest.approx((1.5 / 3 + 0) / 2)
    # q1: 1.5 found of 1 + 1.5 relevant.
    assert holes.expected(held(), "R@3").mean(axis=1)["B"] == pytest.approx((1.5 / 2.5 + 0) / 2)


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ((1, 0, 0), True),
        ((0, 0, 0), False),
        ((0, 49, 9), False),
        ((0, 50, 0), False),
        ((0, 50, 1), True),
    ],
)
def test_collections_of_relevant_documents_alone_tell_no_rates(counts, told):
    assert holes.tells_more(*counts) is told


def test_the_callers_frames_are_left_alone():
    top, judgements = TOP.copy(), JUDGED.copy()
    intervals(holes.arrange(top, judgements, 3), "nDCG@3")
    pd.testing.assert_frame_equal(top, TOP)
    pd.testing.assert_frame_equal(judgements, JUDGED)


REFERENCE = os.environ.get("BEIRSCOPE_REFERENCE", "")


@pytest.mark.long
@pytest.mark.skipif(not REFERENCE, reason="BEIRSCOPE_REFERENCE is not set")
def test_holes_of_trec_covid_round_1():
    folder = Path(REFERENCE) / "runs" / "trec-covid-round1"
    judgements = read_qrels(folder / "qrels.txt.gz")
    official = pd.read_csv(folder / "official_scores.csv").set_index("run")["ndcg@10"]
    runs = [
        read_trec(file) for file in sorted(set(folder.glob("*.gz")) - {folder / "qrels.txt.gz"})
    ]
    tops = [
        canonical(hits, depth=10, drop_self=False).frame.assign(system=name) for name, hits in runs
    ]
    lists = holes.arrange(pd.concat(tops), judgements, 10)
    found = intervals(lists, "nDCG@10").groupby("system")[["value", "low", "high"]].mean()
    assert len(found) == 14
    assert found["value"].to_dict() == pytest.approx(official[found.index].to_dict(), abs=5.001e-5)
    shares = holes.hole(lists, 10).round(4)
    assert (shares["BM25R2"], shares["bm25t5"], shares["run1"]) == (0.4667, 0.0633, 0.0833)
    orders = holes.pairs(lists, "nDCG@10")
    assert orders["verdict"].value_counts().to_dict() == {"open": 51, "second": 26, "first": 14}
    # Two separate intervals would call one of them safe: they do not see that a hole of one system
    # raises the best order for both.
    low, high = found["low"], found["high"]
    overlap = sum(
        low[one] <= high[other] and low[other] <= high[one]
        for one, other in zip(orders["first"], orders["second"], strict=True)
    )
    assert overlap == 50
