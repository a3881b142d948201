"""Rank-biased overlap: values worked by hand, and equal to a plain reading of the paper."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame

from compute.evaluate import rbo
from compute.evaluate.runs import canonical
from tests.support.ranked_lists import overlap
from tests.support.worlds import FEWER, QUERIES, hits


def run(**lists: str) -> DataFrame:
    """A canonical run: each query's documents in order, a letter each."""
    rows = [(query, doc, rank) for query, docs in lists.items() for rank, doc in enumerate(docs, 1)]
    return DataFrame(rows, columns=["query_id", "doc_id", "rank"])


def ranked(hits: DataFrame) -> DataFrame:
    return canonical(hits, depth=100, drop_self=False).frame


def naive(one: list[str], other: list[str], p: float) -> float:
    """Equation 32 of the paper, term by term, with sets."""
    short, long = sorted((one, other), key=len)
    s, n = len(short), len(long)
    if not n:
        return float("nan")
    if not s:
        return 0.0

    def overlap(d: int) -> int:
        return len(set(short[:d]) & set(long[:d]))

    first = sum(overlap(d) / d * p**d for d in range(1, n + 1))
    second = sum(overlap(s) * (d - s) / (s * d) * p**d for d in range(s + 1, n + 1))
    rest = (overlap(n) - overlap(s)) / n + overlap(s) / s
    return (1 - p) / p * (first + second) + rest * p**n


@pytest.mark.parametrize(
    ("one", "other", "p", "value"),
    [
        ("abc", "abc", 0.9, 1.0),
        ("abc", "xyz", 0.9, 0.0),
        # Agreement 0, 1: 0.5 * (0 + 1 * 0.5) / 0.5 ... = (1-p)/p * p^2 + p^2.
        ("ab", "ba", 0.5, 0.5 / 0.5 * 0.25 + 0.25),
        # Agreement 1, 1/2 at p = 0.9: (0.1/0.9) * (0.9 + 0.5 * 0.81) + 0.5 * 0.81.
        ("ab", "ac", 0.9, 0.1 / 0.9 * (0.9 + 0.405) + 0.405),
        # Lists of 1 and 2: overlap 1, 1; the short one is taken to agree as before: all of it.
        ("a", "ab", 0.9, 1.0),
        # Lists of 1 and 2 that meet at rank 2 only: X = 0, 1; (0.1/0.9) * 0.405 + 0.5 * 0.81.
        ("b", "ab", 0.9, 0.1 / 0.9 * 0.405 + 0.405),
    ],
)
def test_values_worked_by_hand(one: str, other: str, p: float, value: float) -> None:
    found = overlap(run(q=one), run(q=other), p=p)
    assert found["q"] == pytest.approx(value, abs=1e-12)
    assert naive(list(one), list(other), p) == pytest.approx(value, abs=1e-12)


def test_a_query_of_one_run_alone_has_no_overlap() -> None:
    found = overlap(run(q1="ab", q2="cd"), run(q2="cd", q3="e"))
    assert found.to_dict() == {"q1": 0.0, "q2": pytest.approx(1.0), "q3": 0.0}


def test_a_query_that_neither_run_answers_is_absent() -> None:
    none = np.array([], dtype=np.int64)
    assert np.isnan(rbo.of_shared(none, none, np.array([0]), np.array([0]))).all()
    assert len(rbo.of_shared(none, none, none, none)) == 0


def test_ties_have_the_order_of_the_contract() -> None:
    """Equal scores stand by document id, descending, whatever order the file has them in."""
    one = DataFrame({"query_id": "q", "doc_id": ["a", "b", "c"], "score": [1.0, 1.0, 1.0]})
    other = one.iloc[::-1]
    found = overlap(ranked(one), ranked(other))
    assert found["q"] == pytest.approx(1.0)


@FEWER
@given(hits(), hits(), st.sampled_from([0.5, 0.9, 0.98]))
def test_it_equals_the_paper_read_plainly(one: DataFrame, other: DataFrame, p: float) -> None:
    a, b = ranked(one), ranked(other)
    found = overlap(a, b, p=p)
    assert set(found.index) == set(a["query_id"]) | set(b["query_id"]) <= set(QUERIES)
    for query_id, value in found.items():
        one_list, other_list = (_list(run, str(query_id)) for run in (a, b))
        assert value == pytest.approx(naive(one_list, other_list, p), abs=1e-12)
    assert found.between(0, 1 + 1e-12).all()
    pd.testing.assert_series_equal(found, overlap(b, a, p=p).reindex(found.index))


def _list(run: DataFrame, query_id: str) -> list[str]:
    return run[run["query_id"] == query_id].sort_values("rank")["doc_id"].tolist()
