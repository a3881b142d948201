"""Why a query scores what it does: sums worked by hand, and equal to the stored scores."""

import math

import pandas as pd
import pytest
from hypothesis import given
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.evaluate import runs
from compute.evaluate.measures import MEASURES, evaluate
from compute.evaluate.score_breakdown import explain, explains
from tests.support.worlds import FEWER, hits, judgements

JUDGED = DataFrame(
    [("d1", 2), ("d2", 1), ("d3", 1), ("d4", 0), ("d5", -1)], columns=["doc_id", "relevance"]
)
LISTED = ("d9", "d2", "d4", "d1", "d5")
MORE = ("AP(rel=2)@10", "R_cap(rel=2)@2", "nDCG(dcg=exp-log2)@10")
SUMS = [measure for measure in (*MEASURES, *MORE) if explains(measure)]


def ranked(*documents: str) -> DataFrame:
    return DataFrame({"rank": range(1, len(documents) + 1), "doc_id": list(documents)})


def test_ndcg_is_gain_over_discount_summed_over_that_of_the_best_order() -> None:
    found = explain(ranked(*LISTED), JUDGED, "nDCG@10")
    assert found.listed["gain"].tolist() == [0, 1, 0, 2, 0]
    assert found.listed["discount"].tolist() == [math.log2(rank + 1) for rank in range(1, 6)]
    assert found.total == pytest.approx(1 / math.log2(3) + 2 / math.log2(5))
    assert found.best["relevance"].tolist() == [2, 1, 1]
    assert found.divisor == found.best_total == pytest.approx(2 + 1 / math.log2(3) + 0.5)
    assert found.value == found.total / found.divisor


def test_the_other_measures_count_what_their_names_say() -> None:
    def worked(measure: str) -> tuple[list[float], float]:
        found = explain(ranked(*LISTED), JUDGED, measure)
        return found.listed["term"].tolist(), found.divisor

    assert worked("R@100") == ([0, 1, 0, 1, 0], 3)
    assert worked("R_cap@2") == ([0, 1], 2)
    assert worked("AP@100") == ([0, 1 / 2, 0, 2 / 4, 0], 3)
    assert worked("RR@10") == ([0, 1 / 2, 0, 0, 0], 1)
    assert worked("P@10") == ([0, 1, 0, 1, 0], 10)
    assert worked("Success@5") == ([0, 1, 0, 0, 0], 1)
    # From 2 on d1 is the only relevant one; its exponential gain is 3.
    assert worked("AP(rel=2)@100") == ([0, 0, 0, 1 / 4, 0], 1)
    assert worked("nDCG(dcg=exp-log2)@1") == ([0], 3)
    assert worked("Judged@10") == ([0, 1, 1, 1, 1], 5)
    assert worked("Hole@10") == ([1, 0, 0, 0, 0], 5)


def test_the_best_order_of_recall_fills_as_many_ranks_as_there_are_relevant() -> None:
    assert explain(ranked("d9"), JUDGED, "R@100").best["term"].tolist() == [1, 1, 1]
    assert explain(ranked("d9"), JUDGED, "R@2").best_total == 2


def test_a_query_without_a_relevant_document_scores_nothing() -> None:
    found = explain(ranked("d4", "d9"), JUDGED[JUDGED["relevance"] < 1], "nDCG@10")
    assert (found.total, found.divisor, found.value) == (0, 0, 0)


def test_an_empty_list_has_no_terms() -> None:
    found = explain(ranked(), JUDGED, "AP@100")
    assert (len(found.listed), found.value, found.best_total) == (0, 0, 3)


@pytest.mark.parametrize("measure", ["Bpref", "Hole_beir@10"])
def test_what_is_no_sum_over_ranks_is_refused(measure: str) -> None:
    assert not explains(measure)
    with pytest.raises(WrongInput, match="not a sum over the ranks"):
        explain(ranked("d1"), JUDGED, measure)


@pytest.mark.long
@FEWER
@given(hits(), judgements())
def test_the_total_equals_the_score_to_the_last_bit(found: DataFrame, judged: DataFrame) -> None:
    run = runs.canonical(found, depth=100, drop_self=False).frame
    scores = evaluate(run, judged, SUMS, depth=100)
    for query_id, measure, value in scores.itertuples(index=False):
        of_query = judged[judged["query_id"] == query_id]
        listed = run[run["query_id"] == query_id]
        assert explain(listed, of_query, measure).value == value, (query_id, measure)
    assert set(pd.unique(scores["measure"])) <= set(SUMS)
