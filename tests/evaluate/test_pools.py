"""Pool analysis: the definitions by hand, and held against scoring everything again."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame

from compute.evaluate import holes, pools
from compute.evaluate.measures import evaluate
from tests.support.ranked_lists import FEWER, PAIR, grades, judged, ranked, tops

TOP = tops(a={"q1": "r x"}, b={"q1": "s x"}, c={"q1": "x n"})
JUDGED = judged(q1={"r": 2, "s": 1, "x": 1, "n": 0, "far": 1})


def row(frame: DataFrame, system: str) -> dict:
    (found,) = frame[frame["system"] == system].to_dict("records")
    return found


def test_alone_is_what_no_other_system_has_for_the_query() -> None:
    lists = holes.arrange(TOP, JUDGED, 2)
    assert pools.alone(lists)[:, 0].tolist() == [[True, False], [True, False], [False, True]]


def test_an_empty_rank_is_no_document_of_its_own() -> None:
    top = tops(a={"q1": "x"}, b={"q2": "x y"})
    lists = holes.arrange(top, judged(q1={"x": 1}, q2={"x": 1}), 2)
    assert pools.alone(lists).sum(axis=2).tolist() == [[1, 0], [0, 2]]


def test_an_empty_rank_is_no_judged_document() -> None:
    top = tops(a={"q1": "x y"}, b={"q1": "x"}, c={"q2": "z"})
    lists = holes.arrange(top, judged(q1={"x": 1, "y": 0}, q2={"y": 1}), 3)
    found = pools.leave_one_out(lists, "nDCG@3").set_index("system")["n_judged"]
    assert found.to_dict() == {"a": 2, "b": 1, "c": 0}


def test_a_system_left_out_loses_what_it_alone_brought() -> None:
    second = 1 / math.log2(3)
    best, without_r = 2 + second, 1 + second
    found = pools.leave_one_out(holes.arrange(TOP, JUDGED, 2), "nDCG@2")
    assert found["system"].tolist() == ["a", "b", "c"]
    a = row(found, "a")
    assert (a["n_judged"], a["n_relevant"]) == (2, 2)
    assert (a["n_alone"], a["n_relevant_alone"]) == (1, 1)
    assert a["value"] == pytest.approx(1.0)
    assert a["value_without"] == pytest.approx(second / without_r)
    # Without r the others are measured by less: b has the best list there is, c 1 of it.
    assert (a["place"], a["place_without"]) == (1, 3)
    assert row(found, "b")["value"] == pytest.approx((1 + second) / best)


def test_a_document_that_is_not_relevant_costs_nothing_when_it_goes() -> None:
    c = row(pools.leave_one_out(holes.arrange(TOP, JUDGED, 2), "nDCG@2"), "c")
    assert (c["n_alone"], c["n_relevant_alone"]) == (1, 0)
    assert c["value"] == c["value_without"]


def test_a_query_that_loses_its_last_relevant_document_scores_0() -> None:
    top = tops(a={"q1": "r", "q2": "s"}, b={"q2": "s"})
    found = pools.leave_one_out(holes.arrange(top, judged(q1={"r": 1}, q2={"s": 1}), 10), "nDCG@10")
    assert row(found, "a")["value_without"] == pytest.approx(0.5)
    assert row(found, "a")["place_without"] == 1


def test_who_gains_from_added_judgements() -> None:
    before, after = judged(q1={"x": 1}), judged(q1={"x": 1, "r": 1, "n": 0}, q2={"z": 1})
    official, added = (holes.arrange(TOP, given, 2, ["a", "b", "c"]) for given in (before, after))
    found = pools.gains(official, added, "P@2")
    assert found["system"].tolist() == ["a", "b", "c"]
    a, c = row(found, "a"), row(found, "c")
    assert (a["n_added"], a["n_added_relevant"], a["n_added_alone"]) == (1, 1, 1)
    assert (c["n_added"], c["n_added_relevant"], c["n_added_alone"]) == (1, 0, 0)
    # q2 is evaluated from now on, and answered by none.
    assert (a["value"], a["value_added"]) == (0.5, 0.5)
    assert (c["value"], c["value_added"]) == (0.5, 0.25)


def test_without_systems_or_judgements_there_is_nothing_to_leave_out() -> None:
    empty = holes.arrange(TOP[:0], JUDGED, 2)
    assert pools.leave_one_out(empty, "nDCG@2").empty
    unjudged = pools.leave_one_out(holes.arrange(TOP, JUDGED[:0], 2), "nDCG@2")
    assert unjudged["value_without"].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.long
@FEWER
@given(ranked(), grades(), st.sampled_from(["nDCG@3", "nDCG@10", "P@3", "R@10", "R_cap@3"]))
def test_leaving_out_is_scoring_by_the_judgements_that_are_left(
    top: DataFrame, judgements: DataFrame, measure: str
) -> None:
    depth = int(measure.partition("@")[2])
    found = pools.leave_one_out(holes.arrange(top, judgements, depth), measure)
    top = top[top["rank"] <= depth]
    queries = judgements["query_id"].unique()
    for system, value, without in found[["system", "value", "value_without"]].itertuples(
        index=False
    ):
        others = set(top.loc[top["system"] != system, PAIR].itertuples(index=False, name=None))
        own = set(top.loc[top["system"] == system, PAIR].itertuples(index=False, name=None))
        pairs = judgements[PAIR].itertuples(index=False, name=None)
        left = judgements[[pair not in own - others for pair in pairs]]
        assert value == pytest.approx(mean(top, judgements, system, measure, queries))
        assert without == pytest.approx(mean(top, left, system, measure, queries))


def mean(
    top: DataFrame, judgements: DataFrame, system: str, measure: str, queries: np.ndarray
) -> float:
    """Over the queries that had a judgement, whichever are left."""
    if not len(judgements):
        return 0.0
    own = top.loc[top["system"] == system, [*PAIR, "rank"]]
    scores = evaluate(own, judgements, (measure,), depth=10).set_index("query_id")["value"]
    return float(scores.reindex(queries).fillna(0).mean())
