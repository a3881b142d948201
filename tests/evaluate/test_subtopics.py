"""α-nDCG and subtopic recall: worked by hand, and equal to ir_measures (ndeval) on made-up data."""

import math

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame

from compute.evaluate.measures import evaluate
from compute.evaluate.runs import canonical
from tests.support import worlds

MEASURES = ("alpha_nDCG@5", "alpha_nDCG@10", "alpha_nDCG@20", "StRecall@5", "StRecall@10")
# a covers 1 and 2, b covers 1, c covers 3; d is judged and covers none.
JUDGED = [
    ("q", "1", "a", 1),
    ("q", "2", "a", 2),
    ("q", "1", "b", 1),
    ("q", "3", "c", 1),
    ("q", "2", "b", 0),
    ("q", "4", "d", 0),
]
TABLE = ("query_id", "subtopic", "doc_id", "relevance")
judged = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "3"]),
        st.sampled_from("1234"),
        st.sampled_from("abcdefgh"),
        st.integers(-1, 2),
    ),
    min_size=1,
    max_size=40,
    unique_by=lambda row: row[:3],
)
lists = st.dictionaries(st.sampled_from(["1", "2", "3"]), st.permutations("abcdefghxyz"))


def values(rows: list[tuple], ranked: dict[str, list[str]], *measures: str) -> dict:
    subtopics = DataFrame(rows, columns=[*TABLE])
    best = subtopics.groupby(["query_id", "doc_id"])["relevance"].max().reset_index()
    hits = [(of, doc, n) for of, docs in ranked.items() for n, doc in enumerate(docs, 1)]
    run = DataFrame(hits, columns=["query_id", "doc_id", "rank"]).astype({"rank": "int64"})
    run = run.astype({"query_id": "str", "doc_id": "str"})
    found = evaluate(run, best, measures, depth=100, subtopics=subtopics)
    return {(row.query_id, row.measure): row.value for row in found.itertuples()}


def test_worked_by_hand() -> None:
    found = values(JUDGED, {"q": ["b", "x", "a"]}, "alpha_nDCG@3", "StRecall@3", "StRecall@1")
    # b covers 1; a covers 1 again and 2. The best list is a, c, b.
    gained = 1 + (1 / 2 + 1) / math.log2(4)
    best = 2 + 1 / math.log2(3) + 1 / 2 / math.log2(4)
    assert found["q", "alpha_nDCG@3"] == pytest.approx(gained / best, abs=1e-12)
    assert found["q", "StRecall@3"] == pytest.approx(2 / 3)
    assert found["q", "StRecall@1"] == pytest.approx(1 / 3)


def test_a_query_unanswered_or_without_a_cover_scores_0_and_without_subtopics_nothing() -> None:
    rows = [*JUDGED, ("none", "1", "a", 0)]
    assert set(values(rows, {"none": ["a"]}, "alpha_nDCG@10", "StRecall@10").values()) == {0}
    run = DataFrame({"query_id": ["q"], "doc_id": ["a"], "rank": [1]})
    judgements = DataFrame({"query_id": ["q"], "doc_id": ["a"], "relevance": [1]})
    assert evaluate(run, judgements, ["alpha_nDCG@10", "StRecall@10"], depth=10).empty


def test_ties_are_ranked_as_for_all_measures_and_not_as_ndeval_ranks_them() -> None:
    rows = [("v1", "1", "a", 1), ("v1", "2", "a", 1), ("v1", "1", "b", 1), ("v1", "2", "c", 2)]
    rows += [("v1", "3", "e", 1), ("v1", "2", "b", 0), ("v1", "1", "c", 0), ("v1", "1", "e", 0)]
    tied = DataFrame({"query_id": "v1", "doc_id": [*"abec"], "score": [5.0, 5, 5, 1]})
    order = canonical(tied, depth=10, drop_self=False).frame.sort_values("rank")["doc_id"].tolist()
    assert order == ["e", "b", "a", "c"], "the last id first, as in trec_eval"
    qrels = [ir_measures.Qrel(query, doc, grade, subtopic) for query, subtopic, doc, grade in rows]
    name = "alpha_nDCG@10"

    def theirs(scores: dict[str, float]) -> float:
        asked = [ir_measures.parse_measure(name)]
        return ir_measures.calc_aggregate(asked, qrels, {"v1": scores})[asked[0]]

    ours = values(rows, {"v1": order}, name)["v1", name]
    assert ours == pytest.approx(theirs({doc: -place for place, doc in enumerate(order)}), abs=1e-9)
    assert ours == pytest.approx(0.8385, abs=5e-5)
    # Given the tied scores, ndeval has the first id first.
    assert theirs(dict(zip("abec", (5, 5, 5, 1), strict=True))) == pytest.approx(0.9789, abs=5e-5)
    assert values(rows, {"v1": [*"abec"]}, name)["v1", name] == pytest.approx(0.9789, abs=5e-5)


@pytest.mark.long
@worlds.SOME
@given(judged, lists)
def test_every_value_equals_ir_measures(rows: list[tuple], ranked: dict[str, list[str]]) -> None:
    qrels = [ir_measures.Qrel(query, doc, grade, subtopic) for query, subtopic, doc, grade in rows]
    run = [
        ir_measures.ScoredDoc(query, doc, -float(place))
        for query, docs in ranked.items()
        for place, doc in enumerate(docs)
    ]
    found = values(rows, ranked, *MEASURES)
    assert {query for query, _ in found} == {row[0] for row in rows}
    asked = [ir_measures.parse_measure(name) for name in MEASURES]
    expected = {
        (one.query_id, str(one.measure)): one.value
        for one in ir_measures.iter_calc(asked, qrels, run)
    }
    for key, value in found.items():
        assert value == pytest.approx(expected[key], abs=1e-9), key
