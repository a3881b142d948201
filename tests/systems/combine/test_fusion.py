from collections import defaultdict

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute.base.errors import WrongInput
from compute.base.settings import Settings
from compute.systems.combine.fusion import Interpolation, Rrf
from compute.systems.searcher import Request
from tests.support.worlds import SOME

NOW = Settings(threads=1)


def run(**lists: list[tuple[str, float]]) -> pd.DataFrame:
    rows = [
        (query, doc, rank, score)
        for query, hits in lists.items()
        for rank, (doc, score) in enumerate(hits, 1)
    ]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "rank", "score"])


def fused(method: Rrf | Interpolation, *runs: pd.DataFrame) -> dict[tuple[str, str], float]:
    queries = pd.DataFrame({"query_id": ["q", "r"], "text": ["", ""]})
    found = method.combine(runs, None, Request(queries, 10, NOW, lambda *_: None))
    return {(str(q), str(d)): float(s) for q, d, s in found.to_numpy().tolist()}


A = run(q=[("x", 9.0), ("y", 5.0), ("z", 1.0)], r=[("x", 2.0)])
B = run(q=[("y", 0.9), ("w", 0.4)])


def test_reciprocal_ranks_are_added() -> None:
    found = fused(Rrf(k=60), A, B)
    assert found == pytest.approx(
        {
            ("q", "x"): 1 / 61,
            ("q", "y"): 1 / 62 + 1 / 61,
            ("q", "z"): 1 / 63,
            ("q", "w"): 1 / 62,
            ("r", "x"): 1 / 61,
        }
    )


def test_scores_are_brought_to_one_scale_and_weighed() -> None:
    # q in A: x 1, y .5, z 0; in B: y 1, w 0. What a list lacks has its lowest, 0. r is in A alone.
    assert fused(Interpolation(weight=0.7), A, B) == pytest.approx(
        {("q", "x"): 0.7, ("q", "y"): 0.65, ("q", "z"): 0, ("q", "w"): 0, ("r", "x"): 0.7}
    )


def test_a_list_of_one_lifts_its_document_alone() -> None:
    one = run(q=[("y", 3.0)])
    found = fused(Interpolation(weight=0.4), A, one)
    assert found["q", "y"] == pytest.approx(0.4 * 0.5 + 0.6)
    assert found["q", "x"] == pytest.approx(0.4)


def test_scores_may_stay_as_they_are() -> None:
    # x lacks B's score and has its lowest, 0.4; w lacks A's and has 1.
    assert fused(Interpolation(normal="none"), A, B) == pytest.approx(
        {("q", "x"): 4.7, ("q", "y"): 2.95, ("q", "z"): 0.7, ("q", "w"): 0.7, ("r", "x"): 1.0}
    )


def test_scores_may_be_standardised() -> None:
    # A's list has mean 5 and standard deviation sqrt(32/3); B's .65 and .25.
    found = fused(Interpolation(weight=0.5, normal="zscore"), A, B)
    assert found["q", "y"] == pytest.approx(0.5 * 0 + 0.5 * 1)
    assert found["q", "x"] == pytest.approx(0.5 * 4 / (32 / 3) ** 0.5 + 0.5 * -1)
    # A list of one has no spread.
    assert found["r", "x"] == 0


def test_three_runs_share_what_the_first_leaves() -> None:
    c = run(q=[("x", 3.0), ("y", 0.0)])
    assert fused(Interpolation(weight=0.5), A, B, c)["q", "x"] == pytest.approx(0.5 + 0 + 0.25)


lists = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6)


@SOME
@given(st.lists(lists, min_size=2, max_size=4), st.integers(0, 100))
def test_fusion_equals_a_loop(ranked: list[list[str]], k: int) -> None:
    runs = [run(q=[(doc, -float(i)) for i, doc in enumerate(docs)]) for docs in ranked]
    expected: dict[tuple[str, str], float] = defaultdict(float)
    for docs in ranked:
        for rank, doc in enumerate(docs, 1):
            expected["q", doc] += 1 / (k + rank)
    assert fused(Rrf(k=k), *runs) == pytest.approx(dict(expected))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Rrf(k=-1), "k is -1"),
        (lambda: Interpolation(weight=1.5), "weight is 1.5"),
        (lambda: Interpolation(normal="rank"), "one of: minmax, zscore, none"),
    ],
)
def test_wrong_parameters_are_refused(wrong: type, message: str) -> None:
    with pytest.raises(WrongInput, match=message):
        wrong()


def test_one_query_is_answered_as_all_are() -> None:
    with Rrf().session(None, NOW) as ask:
        found = ask("", [A[A["query_id"] == "q"], B])
    assert isinstance(found, pd.DataFrame)
    assert len(found) == 4
