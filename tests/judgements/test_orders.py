"""What to judge first: worked examples of each order, and what holds for all of them."""

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.judgements import orders
from compute.judgements.orders import ORDERS, Framed, expected_gain, impact, lists, openness, pool
from compute.reading.database import open_version
from compute.views.annotate.select import StoredTops
from tests.support.ranked_lists import FEWER, PAIR, TOP, grades, judged, ranked, tops
from tests.support.storage import hits, open_store, publish_run, scores
from tests.support.worlds import CASES

NO_SCORES = scores("nDCG@10", q1=1.0)


def asked(name: str, top: DataFrame, judgements: DataFrame, depth: int, seed: int) -> DataFrame:
    """All pairs of the pool in an order, of lists in memory."""
    systems = top["system"].unique().tolist()
    return orders.first(name, Framed(top).blocks(judgements, systems, depth), depth, seed)


def placed(name: str, top: DataFrame, judgements: DataFrame, depth: int = 10) -> list[str]:
    """The documents in the order in which they are to be judged."""
    return asked(name, top, judgements, depth, 0)["doc_id"].tolist()


def test_the_pool_is_what_the_tops_hold_and_nobody_judged() -> None:
    top = tops(a={"q1": "x y z"}, b={"q1": "y w", "q2": "x"})
    found = pool(top, judged(q1={"y": 0}, q3={"x": 1}), 2)
    assert found.to_numpy().tolist() == [["q1", "w"], ["q1", "x"], ["q2", "x"]]


def test_judged_for_another_query_is_still_in_the_pool() -> None:
    assert len(pool(tops(a={"q1": "x"}), judged(q2={"x": 1}), 10)) == 1


def test_depth_takes_the_best_rank_then_what_more_systems_have_there() -> None:
    top = tops(a={"q1": "x y"}, b={"q1": "z y"}, c={"q1": "z w"})
    assert placed("depth", top, judged()) == ["z", "x", "y", "w"]


def test_fusion_sums_reciprocal_ranks() -> None:
    # y: 1/62 + 1/62 is more than x: 1/61.
    top = tops(a={"q1": "x y"}, b={"q1": "z y"})
    assert placed("fusion", top, judged()) == ["y", "x", "z"]


def test_move_to_front_goes_on_where_relevant_documents_were_found() -> None:
    top = tops(a={"q1": "r x1 x2"}, b={"q1": "n y1 y2"})
    assert placed("move-to-front", top, judged()) == ["r", "n", "x1", "y1", "x2", "y2"]
    answers = judged(q1={"r": 1, "n": 0})
    # a has no miss yet; with x1 missing, both have one and a is deeper: b's y1 comes next.
    assert placed("move-to-front", top, answers) == ["x1", "y1", "x2", "y2"]
    answers = judged(q1={"r": 1, "n": 0, "x1": 2})
    assert placed("move-to-front", top, answers) == ["x2", "y1", "y2"]


def movement(found: orders.RankedPairs) -> np.ndarray:
    """The expected change by which the order sorts, for each unjudged pair."""
    return -impact(lambda: iter([found]), 10, 0)(found)[1]


def test_impact_of_a_pair_by_hand() -> None:
    top = tops(a={"q1": "r x"}, b={"q1": "y r"})
    found = lists(top, judged(q1={"r": 1}), 10)
    assert found.pairs["doc_id"].tolist() == ["r", "x", "y"]
    second = 1 / math.log2(3)
    # r alone is relevant: the ideal is 1, and 1 + second with one more.
    a, b, ideal = 1.0, second, 1 + second
    # x is second in a alone: a's gain grows by `second`; for both the ideal grows.
    of_x = abs(((a + second) / ideal - a) - (b / ideal - b))
    of_y = abs((a / ideal - a) - ((b + 1) / ideal - b))
    gains = expected_gain(found)
    spread = math.sqrt(gains[1] * of_x**2 + gains[2] * of_y**2)
    weight = math.exp(-(a - b) / (2 * spread)) / spread
    assert movement(found) == pytest.approx([of_x * weight * gains[1], of_y * weight * gains[2]])
    assert placed("impact", top, judged(q1={"r": 1})) == ["y", "x"]


def test_what_all_systems_have_at_one_rank_moves_nothing() -> None:
    top = tops(a={"q1": "x y"}, b={"q1": "x z"})
    assert placed("impact", top, judged())[-1] == "x"


def test_below_rank_10_nothing_moves_and_depth_decides() -> None:
    names = [f"d{place:02}" for place in range(1, 14)]
    top = tops(a={"q1": " ".join(names)}, b={"q1": "z"})
    assert placed("impact", top, judged(), 13)[-3:] == ["d11", "d12", "d13"]


def test_expected_gain_by_hand() -> None:
    top = tops(a={"q1": "r x", "q2": "n"}, b={"q1": "r y"})
    found = lists(top, judged(q1={"r": 2, "y": 0}, q2={"n": 0}, q3={"far": 2}), 10)
    gains = dict(zip(found.pairs["doc_id"], expected_gain(found), strict=True))
    mean = (2 + 1) / (3 + 2)
    of_one_system, of_rank_2 = 10 / (2 + 10), 10 / (1 + 10)
    q1, a = (2 / mean + 4) / (2 + 4), (2 / mean + 10) / (2 + 10)
    assert gains["x"] == pytest.approx(mean * of_one_system * of_rank_2 * q1 * a)


def test_an_order_is_open_while_the_gap_is_within_what_the_holes_can_do() -> None:
    gap, spread = np.array([0.0, 0.1, 0.1, 0.1]), np.array([0.1, 0.1, 0.2, 0.0])
    assert openness(gap, spread) == pytest.approx([10, 10 * math.exp(-0.5), 5 * math.exp(-0.25), 0])


def test_random_depends_on_the_seed_alone() -> None:
    top = tops(a={"q1": " ".join(f"d{n}" for n in range(30))})
    first, again, other = (asked("random", top, judged(), 30, seed) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)
    fewer = asked("random", top, judged(q1={"d3": 1}), 30, 1)
    assert fewer["doc_id"].tolist() == [doc for doc in first["doc_id"] if doc != "d3"]


def test_an_unknown_order_is_answered_with_the_known() -> None:
    with pytest.raises(WrongInput, match="impact, fusion, move-to-front, depth, random"):
        orders.order("bandit")


def test_the_default_and_the_adaptive_are_orders() -> None:
    assert {orders.DEFAULT, *orders.ADAPTIVE} <= set(ORDERS)


@pytest.mark.long
@FEWER
@given(ranked(), grades(), st.integers(1, 12), st.integers(0, 3))
@pytest.mark.parametrize("name", ORDERS)
def test_an_order_has_each_pair_of_the_pool_once_whatever_the_rows_order(
    name: str, top: DataFrame, judgements: DataFrame, depth: int, seed: int
) -> None:
    found = asked(name, top, judgements, depth, seed)
    assert found["place"].tolist() == list(range(1, len(found) + 1))
    by_ids = found[PAIR].sort_values(PAIR, ignore_index=True)
    pd.testing.assert_frame_equal(by_ids, pool(top, judgements, depth), check_dtype=False)
    turned = asked(name, top.sample(frac=1, random_state=seed), judgements.iloc[::-1], depth, seed)
    pd.testing.assert_frame_equal(found, turned)


@pytest.mark.long
@pytest.mark.parametrize("name", ORDERS)
def test_lists_read_some_queries_at_a_time_give_the_same_order(name: str, tmp_path: Path) -> None:
    chance = np.random.default_rng(4)
    rows = [
        (system, f"q{query}", f"d{document}", rank)
        for system in "abc"
        for query in range(6)
        for rank, document in enumerate(chance.permutation(60)[:40], start=1)
    ]
    top = DataFrame(rows, columns=TOP).astype(dict.fromkeys(TOP[:3], "str"))
    pairs = {(f"q{chance.integers(8)}", f"d{chance.integers(60)}") for _ in range(40)}
    graded = [(*pair, int(chance.integers(-1, 3))) for pair in sorted(pairs)]
    # As official and added ones come: put together from several.
    judgements = pd.concat([DataFrame([row], columns=[*PAIR, "relevance"]) for row in graded])
    store = open_store(tmp_path)
    for system, run in top.groupby("system"):
        publish_run(
            store, "tiny", str(system), hits(*run[TOP[1:]].itertuples(index=False)), NO_SCORES
        )
    for depth in (10, 25):
        whole = asked(name, top, judgements, depth, 5)
        with open_version(store).cursor() as cursor:
            for block in (1, 300, 10_000):
                stored = StoredTops(cursor, "tiny", block)
                blocks = stored.blocks(judgements, ["c", "a", "b", "none"], depth)
                pd.testing.assert_frame_equal(orders.first(name, blocks, depth, 5), whole)
                front = orders.first(name, blocks, depth, 5, 7)
                pd.testing.assert_frame_equal(front, whole.head(7))


@settings(CASES, max_examples=CASES.max_examples // 20)
@given(ranked(), grades())
def test_movement_is_what_judging_the_pair_relevant_would_change(
    top: DataFrame, judgements: DataFrame
) -> None:
    found = lists(top, judgements, 10)
    gains, n_queries = expected_gain(found), max(judgements["query_id"].nunique(), 1)
    assert (gains >= 0).all()
    names, rows = sorted(set(top.loc[top["rank"] <= 10, "system"])), found.holes
    level = dict.fromkeys(names, 0.0)
    for name in names:
        for query_id in set(judgements["query_id"]):
            level[name] += ndcg(top, judgements, name, query_id) / n_queries
    total = np.zeros(len(rows))
    for one, other in combinations(names, 2):
        moved = [
            abs(change(top, judgements, one, *pair) - change(top, judgements, other, *pair))
            for pair in found.pairs.iloc[rows].itertuples(index=False, name=None)
        ]
        moves = np.array(moved) / n_queries
        spread = math.sqrt((np.minimum(gains[rows], 1) * moves**2).sum())
        if spread > 0:
            total += moves * math.exp(-abs(level[one] - level[other]) / (2 * spread)) / spread
    assert movement(found) == pytest.approx(total * gains[rows], abs=1e-9)


def change(top: DataFrame, judgements: DataFrame, system: str, query_id: str, doc: str) -> float:
    """What a score of one query gains when one more document is judged relevant."""
    pair = DataFrame([(query_id, doc, 1)], columns=[*PAIR, "relevance"])
    more = pd.concat([judgements, pair], ignore_index=True)
    return ndcg(top, more, system, query_id) - ndcg(top, judgements, system, query_id)


def ndcg(top: DataFrame, judgements: DataFrame, system: str, query_id: str) -> float:
    """nDCG@10 of one query, as its definition says."""
    chosen = judgements["query_id"] == query_id
    gains = dict(
        zip(judgements.loc[chosen, "doc_id"], judgements.loc[chosen, "relevance"], strict=True)
    )
    own = top[(top["system"] == system) & (top["query_id"] == query_id) & (top["rank"] <= 10)]
    best = sorted((max(gain, 0) for gain in gains.values()), reverse=True)[:10]
    ideal = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(best, start=1))
    found = sum(
        max(gains.get(doc_id, 0), 0) / math.log2(rank + 1)
        for doc_id, rank in zip(own["doc_id"], own["rank"], strict=True)
    )
    return found / ideal if ideal else 0.0
