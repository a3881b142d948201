import math
import os
from pathlib import Path

import ir_measures
import pandas as pd
import pytest
from hypothesis import given

from compute.base.errors import WrongInput
from compute.datasets.qrels import read_qrels
from compute.evaluate.measures import MEASURES, better, evaluate, label, parse
from compute.evaluate.runs import canonical
from tests.support import worlds
from tests.support.oracles import (
    BIASED,
    CUTS,
    DEPTH,
    ORACLE,
    WHOLE,
    by_definition,
    by_exponential,
    by_ir_measures,
    by_pytrec_eval,
    means,
    qrels,
)
from tests.support.ranked_lists import read_trec

EXPONENTIAL = "nDCG(dcg=exp-log2)"


def run_of(**lists: str) -> pd.DataFrame:
    """A canonical run from lists such as `q1="a b c"`."""
    rows = [
        (query_id, doc_id, rank)
        for query_id, documents in lists.items()
        for rank, doc_id in enumerate(documents.split(), start=1)
    ]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "rank"])


def judged(**grades: dict[str, int]) -> pd.DataFrame:
    rows = [(query, doc, grade) for query, docs in grades.items() for doc, grade in docs.items()]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])


def values(run: pd.DataFrame, judgements: pd.DataFrame, measure: str) -> dict[str, float]:
    scores = evaluate(run, judgements, (measure,), depth=1000)
    return dict(zip(scores["query_id"], scores["value"], strict=True))


def rows(frame: pd.DataFrame) -> list[tuple]:
    return list(frame.itertuples(index=False, name=None))


@pytest.mark.long
@worlds.SOME
@given(worlds.hits(), worlds.judgements())
def test_every_measure_of_every_query_equals_its_oracle(hits, judgements):
    judged = qrels(judgements)
    lists = {query: dict([*of.items()][:DEPTH]) for query, of in worlds.lists(hits).items()}
    expected = by_definition(judged, lists)
    if judged:  # both oracles need a query
        expected |= by_pytrec_eval(judged, lists) | by_ir_measures(judged, lists)
        expected |= by_pytrec_eval(judged, lists, 2) | by_exponential(judged, lists)
    biased = [f"{name}({of})" for name in ("RBP", "RBP_residual") for of in BIASED]
    names = [*ORACLE, "RR", "Judged", "Hole", "R_cap", "R_full", "Hole_beir", *biased]
    cut = ("R", "AP", "P", "Success", "RR")
    names += [f"{name}(rel=2)" for name in cut] + [EXPONENTIAL]
    wanted = [*WHOLE, *biased, *(f"{name}@{k}" for name in names for k in CUTS)]
    wanted += [f"{name}(rel=2)" for name in ("Bpref", "AP", "RR", "Rprec")] + [EXPONENTIAL]
    run = canonical(hits, depth=DEPTH, drop_self=False).frame
    scores = evaluate(run, judgements, wanted, depth=12)
    assert len(scores) == len(expected)
    for query_id, measure, value in rows(scores):
        assert math.isclose(value, expected[measure, query_id], abs_tol=1e-9), (measure, query_id)


RUN = run_of(q1="a b c d e")
GRADES = judged(q1={"a": 0, "b": 2, "d": 1, "x": 3}, q2={"c": 1})
# Relevant of q1: b at rank 2, d at rank 4, x not retrieved. q2 is not answered.
WORKED = {
    "nDCG@5": (2 / math.log2(3) + 1 / math.log2(5)) / (3 + 2 / math.log2(3) + 1 / math.log2(4)),
    "nDCG@2": (2 / math.log2(3)) / (3 + 2 / math.log2(3)),
    "R@2": 1 / 3,
    "R@5": 2 / 3,
    "R_cap@2": 1 / 2,
    "R_cap@5": 2 / 3,
    "AP@5": (1 / 2 + 2 / 4) / 3,
    "AP@3": (1 / 2) / 3,
    "RR@5": 1 / 2,
    "RR@1": 0.0,
    "P@5": 2 / 5,
    "P@10": 2 / 10,
    "Success@1": 0.0,
    "Success@2": 1.0,
    "Bpref": (1 - 1 / 1 + 1 - 1 / 1) / 3,
    # From 2 on: b at rank 2, x not retrieved; a and d are judged not relevant.
    "AP(rel=2)@5": (1 / 2) / 2,
    "R(rel=2)@5": 1 / 2,
    "R_cap(rel=2)@1": 0.0,
    "R_cap(rel=3)@5": 0.0,
    "R_full(rel=2)@5": 0.0,
    "RR(rel=2)@5": 1 / 2,
    "RR(rel=3)@5": 0.0,
    "P(rel=2)@5": 1 / 5,
    "Success(rel=2)@1": 0.0,
    "Bpref(rel=2)": (1 - 1 / 2) / 2,
    "Rprec": 1 / 3,
    "Rprec(rel=2)": 1 / 2,
    "ERR@5": 3 / 16 / 2 + 13 / 16 * 1 / 16 / 4,
    "ERR@1": 0.0,
    "nDCG(rel=1)@5": (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3) + 1 / 2),
    "nDCG(rel=2)@5": (1 / math.log2(3)) / (1 + 1 / math.log2(3)),
    "nDCG(dcg=exp-log2)@2": (3 / math.log2(3)) / (7 + 3 / math.log2(3)),
    "Judged@5": 3 / 5,
    "Judged@10": 3 / 5,
    "Hole@5": 2 / 5,
    "Hole@10": 2 / 5,
    "Hole_beir@5": 1 / 5,
    "Hole_beir@10": 1 / 10,
    "R_full@5": 0.0,
    "AP": (1 / 2 + 2 / 4) / 3,
    "RR": 1 / 2,
    "nDCG": (2 / math.log2(3) + 1 / math.log2(5)) / (3 + 2 / math.log2(3) + 1 / math.log2(4)),
    "RBP(p=0.5)@4": 0.5 * (2 * 0.5 + 0.125),
    "RBP(p=0.5,rel=1)@4": 0.5 * (0.5 + 0.125),
    "RBP(p=0.5,rel=2)@4": 0.5 * 0.5,
    "RBP_residual(p=0.5)@4": 0.5 * 0.25 + 0.5**4,  # c is not judged; all ranks below 4
    "RBP_residual(p=0.5)": 0.5 * (0.25 + 0.0625) + 0.5**5,  # e too
}


@pytest.mark.parametrize("measure", WORKED)
def test_worked_by_hand(measure):
    assert values(RUN, GRADES, measure)["q1"] == pytest.approx(WORKED[measure], abs=1e-12)


def test_unanswered_query_scores_0_but_has_no_holes():
    for measure in ("nDCG@10", "R@100", "R_cap@100", "AP@100", "RR@10", "P@10", "Success@5"):
        assert values(RUN, GRADES, measure)["q2"] == 0
    for measure in ("Judged@10", "Hole@10", "Hole_beir@10"):
        assert "q2" not in values(RUN, GRADES, measure)


def test_judged_for_another_query_is_still_a_hole():
    run, grades = run_of(q1="a", q2="b"), judged(q1={"a": 1}, q2={"a": 1})
    assert values(run, grades, "Hole@1") == {"q1": 0, "q2": 1}
    run = run_of(q1="b", q2="a")
    grades = judged(q1={"a": 1}, q2={"b": 1})
    assert values(run, grades, "Hole@1") == {"q1": 1, "q2": 1}
    assert values(run, grades, "Hole_beir@1") == {"q1": 0, "q2": 0}


def test_short_list_divides_hole_by_its_length_and_beirs_by_k():
    run, grades = run_of(q1="a x"), judged(q1={"a": 1})
    assert values(run, grades, "Hole@10") == {"q1": 0.5}
    assert values(run, grades, "Hole_beir@10") == {"q1": 0.1}


def test_query_without_a_relevant_document_scores_0_on_every_measure():
    run, grades = run_of(q1="a b"), judged(q1={"a": 0, "b": -1})
    for measure in ("nDCG@10", "R@10", "R_cap@10", "AP@10", "RR@10", "P@10", "Success@1", "Bpref"):
        assert values(run, grades, measure) == {"q1": 0}
    assert values(run, grades, "Judged@10") == {"q1": 1}


def test_query_without_a_judgement_is_not_evaluated():
    assert values(run_of(q1="a", q3="a"), judged(q1={"a": 1}), "nDCG@10") == {"q1": 1}


def test_relevance_below_0_is_judged_with_gain_0():
    run, grades = run_of(q1="a b"), judged(q1={"a": -2, "b": 1})
    assert values(run, grades, "nDCG@2") == {"q1": pytest.approx(1 / math.log2(3))}
    assert values(run, grades, "Hole@2") == {"q1": 0}


def test_a_run_without_hits_scores_0_for_every_judged_query():
    scores = evaluate(run_of(), GRADES, depth=1000)
    assert set(scores["value"]) == {0}
    assert set(scores["query_id"]) == {"q1", "q2"}
    assert not {"Judged@10", "Hole@10", "Hole_beir@10"} & set(scores["measure"])


def test_without_judgements_there_are_no_scores():
    scores = evaluate(RUN, judged(), depth=1000)
    assert list(scores.columns) == ["query_id", "measure", "value"]
    assert scores.empty


def test_measures_deeper_than_the_run_was_kept_are_absent():
    shallow = evaluate(RUN, GRADES, depth=100)
    assert set(shallow["measure"]) == set(MEASURES) - {"R@1000"}
    assert "R@1000" in set(evaluate(RUN, GRADES, depth=1000)["measure"])
    assert evaluate(RUN, GRADES, ("nDCG@10",), depth=5).empty


def test_evaluating_leaves_the_callers_frames_alone():
    run, grades = RUN.copy(), GRADES.copy()
    evaluate(run, grades, depth=1000)
    pd.testing.assert_frame_equal(run, RUN)
    pd.testing.assert_frame_equal(grades, GRADES)


def test_means_over_all_queries_and_over_those_returned():
    scores = evaluate(RUN, GRADES, ("P@5", "Hole@5"), depth=1000)
    assert rows(means(scores, {"q1"})) == [("P@5", 0.2, 0.4, 2, 1), ("Hole@5", 0.4, 0.4, 1, 1)]


def test_any_cut_is_a_measure_and_prints_as_it_was_written():
    for measure in (
        *MEASURES,
        "nDCG@20",
        "R@7",
        "Bpref",
        "AP",
        "RBP(p=0.8)@10",
        "RBP(p=0.95,rel=2)",
        "AP(rel=2)@100",
        "Bpref(rel=3)",
        "nDCG(dcg=exp-log2)@20",
    ):
        assert str(parse(measure)) == measure
    assert label("Hole_beir@10") == "Hole@10 as BEIR's code"


def test_full_recall_is_1_where_every_relevant_document_is_in_the_top():
    grades = judged(q1={"b": 1, "d": 2, "x": 0}, q2={"a": 0}, q3={"a": 1})
    run = run_of(q1="a b c d", q2="a")
    assert values(run, grades, "R_full@4") == {"q1": 1, "q2": 0, "q3": 0}
    assert values(run, grades, "R_full@3") == {"q1": 0, "q2": 0, "q3": 0}


def test_an_unanswered_query_has_no_rank_biased_precision_and_all_of_the_residual():
    assert values(RUN, GRADES, "RBP(p=0.8)@10")["q2"] == 0
    assert values(RUN, GRADES, "RBP_residual(p=0.8)@10")["q2"] == 1


def test_a_measure_without_a_cut_goes_to_the_depth_that_is_kept():
    for measure, value in (("AP", 1 / 2 / 3), ("RR", 1 / 2), ("RBP(p=0.5,rel=1)", 0.25)):
        scores = evaluate(RUN, GRADES, (measure,), depth=3)
        assert dict(zip(scores["query_id"], scores["value"], strict=True))["q1"] == value


def test_what_pages_call_a_measure_tells_its_cut_and_its_parameters():
    assert label("AP@1000") == "Average precision@1000"
    assert label("AP") == "Average precision"
    assert label("RBP(p=0.8,rel=2)@10") == "Rank-biased precision@10 (p=0.8,rel=2)"


MISTAKEN = ["P", "R", "nDCG@0", "nDCG@010", "Bpref@5", "RBP@10", "RBP(p=1.2)", "P(p=0.8)@5", "x\ny"]
MISTAKEN += [
    "nDCG(rel=1,dcg=exp-log2)@10",
    "P(rel=1)@10",
    "AP(dcg=exp-log2)@10",
    "AP()@10",
    "AP(,rel=2)@10",
    "AP(rel=0)@10",
]
MISTAKEN += ["RBP(rel=2)@10", "Judged(rel=2)@10", "alpha_nDCG(rel=2)@10", "ERR(rel=2)@10", "ERR"]


@pytest.mark.parametrize("measure", MISTAKEN)
def test_unknown_measure_is_answered_with_the_known(measure):
    with pytest.raises(WrongInput, match=r"no measure .*; known: nDCG@k, R@k, .*Bpref") as told:
        parse(measure)
    assert "RBP(p=0.8)@k" in str(told.value)
    assert "nDCG, AP, RR, RBP, RBP_residual use the depth" in str(told.value)
    assert "R, R_cap, R_full, AP, RR, P, Success, Bpref, Rprec may count from" in str(told.value)


@pytest.mark.parametrize(
    ("elsewhere", "here"),
    [
        *[("MRR@10", "RR@10"), ("MAP", "AP"), ("ndcg@20", "nDCG@20"), ("Recall@5", "R@5")],
        *[("ndcg_cut_10", "nDCG@10"), ("ndcg_cut.10", "nDCG@10"), ("map_cut_10", "AP@10")],
        *[("ndcg", "nDCG"), ("map", "AP"), ("recip_rank", "RR"), ("recall_1000", "R@1000")],
        *[("P_10", "P@10"), ("success_5", "Success@5"), ("bpref", "Bpref"), ("rprec", "Rprec")],
        *[("recall_cap@10", "R_cap@10"), ("top_k_accuracy@1", "Success@1"), ("NDCG@5", "nDCG@5")],
        *[("hit_rate@3", "Success@3"), ("mrr@10", "RR@10"), ("alpha_ndcg_20", "alpha_nDCG@20")],
        *[("AP(rel=1)@100", "AP@100"), ("map(rel=2)@10", "AP(rel=2)@10"), ("err_20", "ERR@20")],
        ("nDCG(dcg='exp-log2')@20", "nDCG(dcg=exp-log2)@20"),
    ],
)
def test_a_measure_by_another_name_is_answered_with_its_own(elsewhere, here):
    with pytest.raises(WrongInput) as told:
        parse(elsewhere)
    assert f" (here it is {here}); known: " in str(told.value)


def test_from_grade_2_on_as_trec_deep_learning_counts() -> None:
    """The values are those of ir_measures."""
    lists = {"dl1": "p1 p4 p3 p2 zz1 p5", "dl2": "p6 p8 p7", "dl3": "p9 zz2 p10"}
    grades = judged(
        dl1={"p1": 1, "p2": 1, "p3": 2, "p4": 0, "p5": 3},
        dl2={"p6": 1, "p7": 2, "p8": 0},
        dl3={"p9": 1, "p10": 1},
    )
    wanted = {"AP(rel=2)@100": 2 / 9, "RR(rel=2)@10": 2 / 9, "R(rel=2)@100": 2 / 3}
    wanted |= {"P(rel=2)@10": 0.1, "Success(rel=2)@5": 2 / 3, "AP@100": 0.8125}
    scores = evaluate(run_of(**lists), grades, list(wanted), depth=100)
    found = scores.groupby("measure")["value"].mean().to_dict()
    assert found == pytest.approx(wanted, abs=1e-9)


def test_exponential_gain_and_expected_reciprocal_rank_are_those_of_gdeval() -> None:
    grades = {f"{query}": {f"d{n}": (query * n) % 5 for n in range(9)} for query in range(1, 6)}
    lists = {query: {f"d{(7 * n) % 11}": 9.0 - n for n in range(9)} for query in grades}
    names = {"ERR@5": "ERR@5", "nDCG(dcg='exp-log2')@5": "nDCG(dcg=exp-log2)@5"}
    asked = [ir_measures.parse_measure(name) for name in names]
    theirs = {
        (one.query_id, names[str(one.measure)]): one.value
        for one in ir_measures.iter_calc(asked, grades, lists)
    }
    run = run_of(**{query: " ".join(of) for query, of in lists.items()})
    scores = evaluate(run, judged(**grades), list(names.values()), depth=9)
    assert len(scores) == len(theirs) == 10
    for query_id, measure, value in rows(scores):  # gdeval prints five digits
        assert value == pytest.approx(theirs[query_id, measure], abs=5.001e-6)


def test_exponential_gain_of_what_is_no_grade_is_refused() -> None:
    with pytest.raises(WrongInput, match="is 2 to the power of a relevance of at most 30"):
        evaluate(RUN, judged(q1={"a": 100}), ["nDCG(dcg=exp-log2)@5"], depth=5)


def test_of_holes_less_is_better_and_of_all_else_more():
    less = {measure for measure in (*MEASURES, "Bpref", "Hole_beir@3") if better(measure) < 0}
    assert less == {"Hole@10", "Hole_beir@10", "Hole_beir@3"}


REFERENCE = os.environ.get("BEIRSCOPE_REFERENCE", "")


@pytest.mark.skipif(not REFERENCE, reason="BEIRSCOPE_REFERENCE is not set")
def test_official_scores_of_trec_covid_round_1():
    folder = Path(REFERENCE) / "runs" / "trec-covid-round1"
    judgements = read_qrels(folder / "qrels.txt.gz")
    official = pd.read_csv(folder / "official_scores.csv").set_index("run")
    files = sorted(set(folder.glob("*.gz")) - {folder / "qrels.txt.gz"})
    assert len(files) == 14
    names = {"nDCG@10": "ndcg@10", "P@5": "p@5", "Bpref": "bpref", "AP@1000": "MAP"}
    for file in files:
        tag, hits = read_trec(file)
        run = canonical(hits, depth=1000, drop_self=False).frame
        scores = means(evaluate(run, judgements, list(names), depth=1000), set(run["query_id"]))
        for measure, value in zip(scores["measure"], scores["value"], strict=True):
            assert value == pytest.approx(official.loc[tag, names[measure]], abs=5.001e-5)
