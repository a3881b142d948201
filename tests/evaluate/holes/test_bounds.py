"""No way of judging the holes of a list leaves its range, and both ends are reached."""

import math
from collections.abc import Iterator
from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from compute.base.errors import WrongInput
from compute.evaluate import holes
from compute.evaluate.holes import bounds
from tests.support.worlds import SOME, intervals

GRADES = {"nDCG": "ndcg_cut", "P": "P", "R": "recall"}
TOP_GRADE = 2
NAMES = ("nDCG", "P", "R", "P(rel=2)", "R(rel=2)", "nDCG(dcg=exp-log2)", "nDCG(rel=1)")
DOCUMENTS = "abcdefgh"


def frames(lists: dict[str, dict[str, str]], grades: dict[str, dict[str, int]]) -> tuple:
    """`top` from lists such as {"A": {"q": "a b c"}}, and judgements."""
    top = [
        (system, query, doc, rank)
        for system, answers in lists.items()
        for query, documents in answers.items()
        for rank, doc in enumerate(documents.split(), start=1)
    ]
    judged = [(query, doc, grade) for query, of in grades.items() for doc, grade in of.items()]
    return (
        pd.DataFrame(top, columns=["system", "query_id", "doc_id", "rank"]),
        pd.DataFrame(judged, columns=["query_id", "doc_id", "relevance"]),
    )


def arranged(lists: dict, grades: dict, k: int) -> holes.Lists:
    top, judgements = frames(lists, grades)
    return holes.arrange(top, judgements, k)


def scored(documents: list[str], grades: dict[str, int], measure: str) -> float:
    """pytrec_eval's value of one list; without a relevant document 0."""
    if not documents:
        return 0.0
    name, _, k = measure.partition("@")
    if name == "nDCG(rel=1)":
        grades = {doc: min(grade, 1) for doc, grade in grades.items()}
    elif name.startswith("nDCG("):
        grades = {doc: 2 ** max(grade, 0) - 1 for doc, grade in grades.items()}
    name, _, rel = name.partition("(")
    places = {"q": {doc: -float(rank) for rank, doc in enumerate(documents)}}
    # It reads stray memory for a query judged below 0 alone; a 0 never retrieved mends it.
    level = 2 if rel == "rel=2)" else 1
    judged, wanted = {"q": {"never": 0} | grades}, {f"{GRADES[name]}.{k}"}
    asked = pytrec_eval.RelevanceEvaluator(judged, wanted, relevance_level=level)
    return asked.evaluate(places)["q"][f"{GRADES[name]}_{k}"]


def judgings(lists: list[list[str]], grades: dict[str, int]) -> Iterator[dict[str, int]]:
    """The judgements with every assignment of grades to the holes of these lists."""
    unjudged = sorted({doc for one in lists for doc in one} - set(grades))
    for given_grades in product(range(TOP_GRADE + 1), repeat=len(unjudged)):
        yield grades | dict(zip(unjudged, given_grades, strict=True))


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[list[str]], dict[str, int], int]:
    """Two lists with at most four holes together, judgements of one query, and k."""
    lists = [draw(st.permutations(DOCUMENTS))[: draw(st.integers(0, 5))] for _ in range(2)]
    retrieved = sorted({doc for one in lists for doc in one})
    allowed = set(draw(st.permutations(retrieved))[: draw(st.integers(0, 4))])
    elsewhere = set(DOCUMENTS) - set(retrieved)
    judged = {doc: draw(st.integers(-1, TOP_GRADE)) for doc in sorted(set(retrieved) - allowed)}
    judged |= {
        d: draw(st.integers(-1, TOP_GRADE)) for d in sorted(elsewhere) if draw(st.booleans())
    }
    return lists, judged or {"elsewhere": 0}, draw(st.sampled_from([2, 3, 5]))


def held(lists: list[list[str]], grades: dict[str, int], k: int) -> holes.Lists:
    """The world as arrays; another query brings the collection's highest grade."""
    answers = {name: {"q": " ".join(one)} for name, one in zip("AB", lists, strict=True)}
    top, judgements = frames(answers, {"q": grades, "other": {"x": TOP_GRADE}})
    return holes.arrange(top, judgements, k, systems=("A", "B"))


@SOME
@given(worlds(), st.sampled_from(NAMES))
def test_no_judging_leaves_the_interval_and_both_ends_are_reached(world, name):
    lists, grades, k = world
    measure = f"{name}@{k}"
    found = intervals(held(lists, grades, k), measure)
    found = found[found["query_id"] == "q"].set_index("system").to_dict("index")
    for system, documents in zip("AB", lists, strict=True):
        every = [scored(documents, one, measure) for one in judgings([documents[:k]], grades)]
        row = found[system]
        assert math.isclose(row["value"], scored(documents, grades, measure), abs_tol=1e-9)
        assert math.isclose(row["low"], min(every), abs_tol=1e-9)
        assert math.isclose(row["high"], max(every), abs_tol=1e-9)
        assert row["n_holes"] == len(set(documents[:k]) - set(grades))


@SOME
@given(worlds(), st.sampled_from(NAMES))
def test_differences_over_every_judging_of_shared_holes(world, name):
    lists, grades, k = world
    measure = f"{name}@{k}"
    row = holes.pairs(held(lists, grades, k), measure).iloc[0]
    one, other = lists
    every = [
        scored(one, judging, measure) - scored(other, judging, measure)
        for judging in judgings([one[:k], other[:k]], grades)
    ]
    today = scored(one, grades, measure) - scored(other, grades, measure)
    assert math.isclose(row["difference"] * 2, today, abs_tol=1e-9)
    # The other query, which neither answers, halves the mean.
    assert math.isclose(row["low"] * 2, min(every), abs_tol=1e-9)
    assert math.isclose(row["high"] * 2, max(every), abs_tol=1e-9)
    ahead = {"first": min(every) > 1e-11, "second": max(every) < -1e-11}
    assert ahead.get(row["verdict"], min(every) <= 1e-11 and max(every) >= -1e-11)


@SOME
@given(worlds(), st.sampled_from(NAMES))
def test_an_expected_score_lies_in_the_interval(world, name):
    lists, grades, k = world
    top = held(lists, grades, k)
    expected = holes.expected(top, f"{name}@{k}").to_numpy().ravel()
    found = intervals(top, f"{name}@{k}").assign(value_expected=expected)
    assert (found["low"] <= found["value_expected"] + 1e-9).all()
    assert (found["value_expected"] <= found["high"] + 1e-9).all()


def test_a_relevant_hole_low_in_the_list_can_cost_more_than_it_brings():
    # The best order has one relevant document at rank 1, or two at 1 and 2.
    row = intervals(arranged({"A": {"q": "a b"}}, {"q": {"a": 1}}, 2), "nDCG@2").iloc[0]
    assert (row["value"], row["low"], row["high"]) == (1, 1, 1)
    lists = {"A": {"q": "a x b"}}
    row = intervals(arranged(lists, {"q": {"a": 1, "x": 0}}, 3), "nDCG@3").iloc[0]
    both = 1 + 1 / math.log2(3)
    assert row["low"] == pytest.approx((1 + 1 / math.log2(4)) / both)
    assert row["high"] == row["value"] == 1


def test_a_grade_in_between_can_be_the_best():
    # a, judged 1, at rank 1; c, judged 1, not retrieved. With hole b at 1 the order is perfect.
    grades = {"q": {"a": 1, "c": 1}, "other": {"z": 2}}
    found = intervals(arranged({"A": {"q": "a b"}}, grades, 2), "nDCG@2")
    row = found[found["query_id"] == "q"].iloc[0]
    second = 1 / math.log2(3)
    assert row["value"] == pytest.approx(1 / (1 + second))
    assert row["low"] == pytest.approx(1 / (1 + second))
    assert row["high"] == pytest.approx(1)
    assert (1 + 2 * second) / (2 + second) < 1


def test_a_query_without_a_relevant_document_becomes_scorable():
    found = intervals(arranged({"A": {"q": "x a"}}, {"q": {"x": 0}}, 2), "nDCG@2")
    assert found[["n_holes", "value", "low"]].iloc[0].tolist() == [1, 0, 0]
    assert found["high"].iloc[0] == pytest.approx(1 / math.log2(3))


def test_lists_that_look_alike_are_bounded_as_each_is_alone():
    huge = 2**31 - 1
    lists = {"A": {"p": "a x", "q": "a x", "r": "x a"}, "B": {"p": "x y", "q": "a x", "r": "b"}}
    grades = {"p": {"a": huge, "b": 1}, "q": {"a": huge, "c": 0}, "r": {"a": 1, "b": huge}}
    found = intervals(arranged(lists, grades, 2), "nDCG@2").set_index(["system", "query_id"])
    for query, judged in grades.items():
        only = {system: {query: of[query]} for system, of in lists.items()}
        alone = intervals(arranged(only, {query: judged}, 2), "nDCG@2")
        for row in alone.to_dict("records"):
            together = found.loc[[(row.pop("system"), row.pop("query_id"))]].to_dict("records")
            assert together == [pytest.approx(row)]


def test_precision_and_recall_by_hand():
    top = arranged({"A": {"q": "a b c d"}}, {"q": {"a": 1, "b": 0, "x": 2, "y": 1}}, 4)
    precision = intervals(top, "P@4").iloc[0]
    assert precision[["value", "low", "high"]].tolist() == [0.25, 0.25, 0.75]
    recall = intervals(top, "R@4").iloc[0]
    # With one hole relevant 2 of 4 are found, with both 3 of 5.
    assert recall[["value", "low", "high"]].tolist() == pytest.approx([1 / 3, 1 / 3, 3 / 5])
    capped = intervals(top, "R_cap@2").iloc[0]
    assert capped[["value", "low", "high"]].tolist() == [0.5, 0.5, 0.5]


def test_shared_holes_cannot_turn_what_overlapping_intervals_would():
    # Both retrieved hole x at rank 2: the intervals overlap, the difference does not move below 0.
    lists = {"A": {"q": "a x"}, "B": {"q": "b x"}}
    top = arranged(lists, {"q": {"a": 1, "b": 0}}, 2)
    high, low = (intervals(top, "P@2")[end].tolist() for end in ("high", "low"))
    assert high[1] >= low[0]
    row = holes.pairs(top, "P@2").iloc[0]
    assert (row["difference"], row["low"], row["high"], row["verdict"]) == (0.5, 0.5, 0.5, "first")


def test_verdicts_by_hand():
    grades = {"q": {"a": 1, "b": 0}}
    lists = {"A": {"q": "a b"}, "B": {"q": "b x"}, "C": {"q": "a b"}, "D": {"q": "x b"}}
    found = holes.pairs(arranged(lists, grades, 2), "nDCG@2").set_index(["first", "second"])
    assert found["verdict"].to_dict() == {
        ("A", "B"): "first",
        ("A", "C"): "equal",
        ("A", "D"): "open",
        ("B", "C"): "second",
        ("B", "D"): "open",
        ("C", "D"): "open",
    }


@pytest.mark.parametrize("measure", ["nDCG@2", "P@2", "R@2"])
def test_a_pair_among_many_is_as_it_is_alone(measure):
    grades = {"p": {"a": 2, "b": 0, "c": 1}, "q": {"a": 1}}
    lists = {"A": {"p": "a x", "q": "y a"}, "B": {"p": "x b"}, "C": {"p": "z c", "q": "a y"}}
    top = arranged(lists, grades, 2)
    for row in holes.pairs(top, measure).to_dict("records"):
        (alone,) = holes.pairs(top.of([row["first"], row["second"]]), measure).to_dict("records")
        assert row == alone


def test_means_of_differences_add_up_over_queries():
    # In q2 a relevant hole puts B ahead by as much as A leads in q1: level, so open.
    grades = {"q1": {"a": 1}, "q2": {"a": 1}}
    lists = {"A": {"q1": "a", "q2": "a"}, "B": {"q2": "a", "q1": "x"}}
    row = holes.pairs(arranged(lists, grades, 1), "P@1").iloc[0]
    assert row[["difference", "low", "high"]].tolist() == [0.5, 0.0, 0.5]
    assert row["verdict"] == "open"
    each = holes.by_query(arranged(lists, grades, 1), "P@1")
    assert each.tolist() == [[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]


def test_many_holes_and_grades_as_if_every_multiset_were_tried():
    # Sorted along and against the ranks: whatever the grades are, no other order is more extreme.
    documents = [f"d{n}" for n in range(12)]
    grades = {"d0": 3, "d5": 1, "d9": 0, "u1": 1, "u2": 4, "u3": 1}
    unjudged = [doc for doc in documents if doc not in grades]
    every = [
        scored(documents, grades | dict(zip(unjudged, order, strict=True)), "nDCG@12")
        for given_grades in combinations_with_replacement(range(5), len(unjudged))
        for order in (given_grades, given_grades[::-1])
    ]
    top = arranged({"A": {"q": " ".join(documents)}}, {"q": grades}, 12)
    row = intervals(top, "nDCG@12").iloc[0]
    assert row["low"] == pytest.approx(min(every), abs=1e-9)
    assert row["high"] == pytest.approx(max(every), abs=1e-9)


@pytest.mark.parametrize("measure", ["Judged@10", "Bpref", "Hole@5"])
def test_a_measure_without_intervals_is_answered_with_those_that_have(measure):
    with pytest.raises(WrongInput, match=r"no interval for .*; known: nDCG@k, R@k, R_cap@k, AP@k"):
        intervals(arranged({"A": {"q": "a"}}, {"q": {"a": 1}}, 10), measure)


def test_a_cut_below_what_is_held_is_refused():
    with pytest.raises(WrongInput, match="hold 2 ranks, not 10"):
        intervals(arranged({"A": {"q": "a"}}, {"q": {"a": 1}}, 2), "nDCG@10")


@pytest.mark.parametrize("lists", [{}, {"A": {}}, {"A": {"q": "a"}}])
def test_without_judgements_there_are_no_intervals(lists):
    top, judgements = frames(lists, {})
    held = holes.arrange(top, judgements, 10)
    assert intervals(held, "nDCG@10").empty
    assert holes.pairs(held, "nDCG@10").empty


def test_a_query_that_a_system_does_not_answer_stays_at_0():
    top = arranged({"A": {"q": "x"}, "B": {"p": "x"}}, {"q": {"a": 1}, "p": {"a": 1}}, 1)
    found = intervals(top, "nDCG@1")[["system", "query_id", "low", "high"]]
    assert found.values.tolist() == [
        ["A", "p", 0, 0],
        ["A", "q", 0, 1],
        ["B", "p", 0, 1],
        ["B", "q", 0, 0],
    ]


@pytest.mark.parametrize("measure", ["nDCG@2", "P@2", "RR@2", "AP@2"])
def test_a_range_that_ends_at_0_has_no_sign(measure: str) -> None:
    # Nothing is relevant, and A has no hole that could be.
    top = arranged({"A": {"q": "x y"}, "B": {"q": "y z"}}, {"q": {"x": 0, "y": 0}}, 2)
    outside = {"pool": np.array([0]), "collection": np.array([0])}
    for found in (intervals(top, measure, outside), holes.pairs(top, measure, outside)):
        for name, column in found.select_dtypes("float").items():
            values = column.to_numpy()
            assert not np.signbit(values[values == 0]).any(), name


@pytest.mark.parametrize("measure", ["nDCG@4", "AP@4", "R@4", "P@4"])
def test_ranges_in_blocks_equal_those_at_once(
    measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(5)
    queries = [f"q{n}" for n in range(30)]
    lists = {s: {q: " ".join(random.permutation([*DOCUMENTS])[:5]) for q in queries} for s in "AB"}
    grades = {q: {doc: int(random.integers(3)) for doc in "abc"} for q in queries}
    held = arranged(lists, grades, 4)
    outside = {"pool": random.integers(4, 9, 30), "collection": np.full(30, 500)}
    at_once = intervals(held, measure, outside)
    assert at_once.drop_duplicates(["value", "low", "high"]).shape[0] > 3
    for size in (1, 2, 7):
        monkeypatch.setattr(bounds, "_AT_ONCE", size)
        assert_frame_equal(intervals(held, measure, outside), at_once, rtol=1e-14)
