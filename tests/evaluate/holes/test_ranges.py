"""The three ranges of a score, against every way of grading at most 8 documents; worked examples.

Own list: holes of the lists alone are graded. Pool: those of all stored lists. Collection: every
document that nobody judged.
"""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from compute.evaluate import holes
from compute.evaluate.holes.bounds import GAINS
from compute.evaluate.tolerance import TOLERANCE
from tests.support.worlds import SOME, intervals

DOCUMENTS = "abcdefgh"
ALL = tuple(GAINS)
Grades = NDArray[np.int64]


class World(NamedTuple):
    """One query: two lists, what else is in the pool, the collection, and what is judged."""

    lists: list[str]
    pool: str
    collection: str
    judged: dict[str, int]
    highest: int
    k: int

    def unjudged(self, documents: str) -> list[str]:
        return sorted(set(documents) - set(self.judged))

    @property
    def outside(self) -> dict[str, Grades]:
        """As `holes.by_kind` takes it; the other query, which nobody answers, has nothing."""
        whole = {"pool": "".join(self.lists) + self.pool, "collection": self.collection}
        return {name: np.array([0, len(self.unjudged(of))]) for name, of in whole.items()}

    def held(self) -> holes.Lists:
        top = [
            (system, "q", doc, rank)
            for system, of in zip("AB", self.lists, strict=True)
            for rank, doc in enumerate(of, 1)
        ]
        judged = [("q", doc, grade) for doc, grade in self.judged.items()]
        # Another query brings the highest grade of the collection.
        judged += [("other", "x", self.highest)]
        return holes.arrange(
            pd.DataFrame(top, columns=["system", "query_id", "doc_id", "rank"]),
            pd.DataFrame(judged, columns=["query_id", "doc_id", "relevance"]),
            self.k,
            systems=("A", "B"),
        )

    def every(self, measure: str, graded: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """What both lists score by every way of grading these documents."""
        free = self.unjudged(graded)
        columns = {doc: np.array([grade]) for doc, grade in self.judged.items()}
        grades = np.array(list(product(range(self.highest + 1), repeat=len(free))), np.int64)
        columns |= {doc: grades[:, place] for place, doc in enumerate(free)}
        one, other = (_scores(measure, self.k, of, columns, len(grades)) for of in self.lists)
        return one, other


def _scores(
    measure: str, k: int, documents: str, grades: dict[str, Grades], n: int
) -> NDArray[np.float64]:
    """A measure of one list by n ways of grading: grades by document, none is 0."""
    every = np.stack([np.broadcast_to(of.clip(0), n) for of in grades.values()], axis=1)
    absent = np.zeros(n, np.int64)
    listed = [np.broadcast_to(grades.get(doc, absent), n).clip(0) for doc in documents[:k]]
    relevant = [(of > 0).astype(float) for of in listed]
    n_relevant = (every > 0).sum(axis=1)
    found = sum(relevant, np.zeros(n))
    first = np.zeros(n)
    for rank, of in reversed(list(enumerate(relevant, 1))):
        first = np.where(of > 0, 1 / rank, first)
    running = np.cumsum([np.zeros(n), *relevant], axis=0)[1:]
    each = enumerate(zip(relevant, running, strict=True), 1)
    precise = sum((of * up / rank for rank, (of, up) in each), np.zeros(n))
    best = -np.sort(-every, axis=1)[:, :k]
    part, whole = {
        "nDCG": (_discounted(listed, n), _discounted(list(best.T), n)),
        "P": (found, np.full(n, k)),
        "R": (found, n_relevant),
        "R_cap": (found, np.minimum(n_relevant, k)),
        "AP": (precise, n_relevant),
        "RR": (first, np.ones(n)),
        "Success": (np.minimum(found, 1), np.ones(n)),
    }[measure]
    return np.divide(part, whole, out=np.zeros(n), where=whole > 0)


def _discounted(gains: Sequence[Grades], n: int) -> NDArray[np.float64]:
    return sum((of / math.log2(rank + 1) for rank, of in enumerate(gains, 1)), np.zeros(n))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """At most 8 documents, few enough unjudged for every grading to be tried."""
    documents = DOCUMENTS[: draw(st.integers(2, 8))]
    highest = draw(st.sampled_from([1, 2, 3]))
    free = min(draw(st.integers(0, 8)), {1: 8, 2: 7, 3: 5}[highest], len(documents))
    unjudged = set(draw(st.permutations(documents))[:free])
    grades = st.integers(-1, highest)
    judged = {doc: draw(grades) for doc in documents if doc not in unjudged}
    lists = ["".join(draw(st.permutations(documents)))[: draw(st.integers(0, 6))] for _ in "AB"]
    pool = "".join(doc for doc in documents if draw(st.booleans()))
    k = draw(st.sampled_from([1, 2, 3, 5]))
    return World(lists, pool, documents, judged or {"elsewhere": 0}, highest, k)


def _near(found: float, wanted: float) -> bool:
    return math.isclose(found, wanted, abs_tol=TOLERANCE)


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
@SOME
@given(worlds())
def test_every_range_of_a_score_is_what_every_grading_gives(name: str, world: World) -> None:
    found = intervals(world.held(), f"{name}@{world.k}", world.outside)
    rows = found[found["query_id"] == "q"].set_index("system").to_dict("index")
    for place, system in enumerate("AB"):
        row = rows[system]
        assert _near(row["value"], world.every(name, "")[place][0])
        own = world.lists[place][: world.k]
        graded = {"": own, "pool_": "".join(world.lists) + world.pool}
        for range_, documents in (graded | {"collection_": world.collection}).items():
            every = world.every(name, documents)[place]
            assert _near(row[f"{range_}low"], every.min()), range_
            assert _near(row[f"{range_}high"], every.max()), range_


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
@SOME
@given(worlds())
def test_every_range_of_a_difference_is_what_every_grading_gives(name: str, world: World) -> None:
    (row,) = holes.pairs(world.held(), f"{name}@{world.k}", world.outside).to_dict("records")
    top = "".join(of[: world.k] for of in world.lists)
    graded = {"": top, "pool_": "".join(world.lists) + world.pool, "collection_": world.collection}
    for range_, documents in graded.items():
        one, other = world.every(name, documents)
        low, high = float((one - other).min()), float((one - other).max())
        # The other query, which neither answers, halves the mean.
        ends = 2 * row[f"{range_}low"], 2 * row[f"{range_}high"]
        if GAINS[name].exact_pairs:
            assert _near(ends[0], low) and _near(ends[1], high), range_
            ahead = {"first": low > 2 * TOLERANCE, "second": high < -2 * TOLERANCE}
            level = max(abs(low), abs(high)) <= 2 * TOLERANCE
            assert row[f"{range_}verdict"] == next(
                (verdict for verdict, is_so in ahead.items() if is_so), "equal" if level else "open"
            )
        else:
            assert ends[0] <= low + TOLERANCE and high <= ends[1] + TOLERANCE, range_
            assert max(map(abs, ends)) <= 1 + TOLERANCE


def test_documents_below_the_lists_can_turn_an_order_that_the_lists_decide() -> None:
    # Two documents are judged, each for its query: A has the one at rank 1, B the other at rank 2.
    # B has nothing for q1, and A nothing for q2; three more of A's, at ranks 11 to 13, are holes.
    lists = {
        "A": {"q1": ["a", *(f"n{n}" for n in range(9)), "x", "y", "z"]},
        "B": {"q2": ["m", "b"]},
    }
    top = pd.DataFrame(
        [
            (system, query, doc, rank)
            for system, answers in lists.items()
            for query, documents in answers.items()
            for rank, doc in enumerate(documents, 1)
        ],
        columns=["system", "query_id", "doc_id", "rank"],
    )
    known = [
        ("q1", "a", 1),
        *(("q1", f"n{n}", 0) for n in range(9)),
        ("q2", "b", 1),
        ("q2", "m", 0),
    ]
    judged = pd.DataFrame(known, columns=["query_id", "doc_id", "relevance"])
    outside = {"pool": np.array([3, 0]), "collection": np.array([90, 99])}
    found = intervals(holes.arrange(top, judged, 10), "nDCG@10", outside)
    means = found.groupby("system")[
        [column for column in map(str, found) if "low" in column or "high" in column]
    ]
    a, b = means.mean().round(4).to_dict("records")
    assert (a["low"], a["high"], b["low"], b["high"]) == (0.5, 0.5, 0.3155, 0.3155)
    assert (a["pool_low"], a["pool_high"], b["pool_low"]) == (0.1952, 0.5, 0.3155)
    assert (a["collection_low"], b["collection_low"]) == (0.11, 0.0694)
    (pair,) = holes.pairs(holes.arrange(top, judged, 10), "nDCG@10", outside).to_dict("records")
    assert (pair["verdict"], pair["pool_verdict"], pair["collection_verdict"]) == (
        "first",
        "open",
        "open",
    )
    assert pair["low"] == pytest.approx(0.5 - 0.3155, abs=5e-5)
    assert pair["pool_low"] == pytest.approx(0.1952 - 0.3155, abs=5e-5)
    more = pd.DataFrame([("q1", doc, 1) for doc in "xyz"], columns=judged.columns)
    judged = pd.concat([judged, more], ignore_index=True)
    after = intervals(holes.arrange(top, judged, 10), "nDCG@10").groupby("system")["value"]
    assert after.mean().round(4).to_dict() == {"A": 0.1952, "B": 0.3155}


def test_a_best_list_has_room_for_no_more_than_the_collection_has() -> None:
    # One of two documents is judged, and the list has it at rank 1.
    world = World(["a", ""], "", "ab", {"a": 1}, 2, 2)
    row = intervals(world.held(), "nDCG@2", world.outside).iloc[1]
    assert row["collection_low"] == pytest.approx(1 / (2 + 1 / math.log2(3)))
    assert row["collection_high"] == row["pool_low"] == row["low"] == 1


def test_recall_and_average_precision_fall_with_every_unjudged_document() -> None:
    world = World(["ab", ""], "cd", "abcdefgh", {"a": 1}, 1, 2)
    for name, own in {"R": 1.0, "AP": 1.0}.items():
        row = intervals(world.held(), f"{name}@2", world.outside).iloc[1]
        # The hole b at rank 2 can only help; c and d, and then e to h, raise the number.
        assert (row["low"], row["pool_low"], row["collection_low"]) == (own, 1 / 3, 1 / 7)


def test_relevant_holes_add_to_average_precision_by_their_places() -> None:
    # x at 1 and y at 3, holes; a at 2 and one that is not retrieved judged relevant.
    world = World(["xay", ""], "", "xayu", {"a": 1, "u": 1}, 1, 3)
    row = intervals(world.held(), "AP@3").iloc[1]
    assert row["value"] == row["low"] == pytest.approx(1 / 2 / 2)
    # x alone gives 2 of 3, y alone (1 / 2 + 2 / 3) of 3, both 3 of 4.
    assert row["high"] == pytest.approx(3 / 4)
    alike = World(["xay", "xay"], "", "xayu", {"a": 1, "u": 1}, 1, 3)
    (pair,) = holes.pairs(alike.held(), "AP@3", alike.outside).to_dict("records")
    assert (pair["low"], pair["high"], pair["verdict"]) == (0, 0, "equal")


def test_the_search_for_an_end_goes_on_until_nothing_is_better() -> None:
    # Two levels, 3 and 4: the first better choice of grades gives .9163, the best one more.
    world = World(["abcdef", ""], "", "abcdef", {"a": 4, "b": 0, "d": 3}, 4, 6)
    row = intervals(world.held(), "nDCG@6").iloc[1]
    every, _ = world.every("nDCG", "abcdef")
    assert row["high"] == pytest.approx(every.max(), abs=1e-9)
    assert every.max() == pytest.approx(0.918737, abs=1e-6)
