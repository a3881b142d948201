"""What the last unjudged documents allow, and at which numbers a decision is possible."""

import pandas as pd
import pytest

from compute.evaluate.estimates.frames import of_lists
from compute.judgements.tasks import deciding

TOPS = pd.DataFrame(
    [
        (name, f"q{q}", doc, rank)
        for q in range(2)
        for name, docs in (("a", ["x", "y"] + [f"a{n}" for n in range(8)]), ("b", ["y", "z"]))
        for rank, doc in enumerate(docs, start=1)
    ],
    columns=["system", "query_id", "doc_id", "rank"],
)
FRAME = of_lists(TOPS, ["q0", "q1"], 10)


def judged(n_open: int) -> pd.DataFrame:
    """Judgements of all pairs but the first `n_open` of system a only: x is relevant, a0 to a7 are
    not, z of the other system is relevant to one query."""
    rows = FRAME.pairs.assign(relevance=0)
    rows.loc[rows["doc_id"] == "x", "relevance"] = 1
    rows.loc[(rows["doc_id"] == "z") & (rows["query_id"] == "q0"), "relevance"] = 1
    only_a = rows.index[rows["doc_id"].str.startswith("a")]
    return rows.drop(only_a[:n_open])


@pytest.mark.parametrize(("n_open", "high"), [(0, 0.05), (1, 0.1), (5, 0.3)])
def test_few_unjudged_documents_leave_an_exact_range(n_open: int, high: float) -> None:
    # Of 20 places, the first system has two relevant documents more than both share, the other one.
    found = deciding.possible("P@10", FRAME, judged(n_open))
    assert found and found.n == n_open
    assert (found.low, found.high) == (pytest.approx(0.05), pytest.approx(high))
    assert found.is_clear


def test_many_unjudged_documents_and_other_measures_leave_no_exact_range() -> None:
    assert deciding.possible("P@10", FRAME, judged(6)) is None
    assert deciding.possible("nDCG@10", FRAME, judged(1)) is None


def test_documents_that_both_systems_show_change_no_difference() -> None:
    rows = judged(0)
    found = deciding.possible("P@10", FRAME, rows[rows["doc_id"] != "y"])
    assert found == deciding.possible("P@10", FRAME, rows)


@pytest.mark.parametrize(
    ("possible", "is_clear"),
    [((1, -0.01, 0.02), False), ((1, 0.0, 0.02), False), ((0, 0, 0), True)],
)
def test_only_a_range_of_one_sign_is_clear(
    possible: tuple[int, float, float], is_clear: bool
) -> None:
    assert deciding.Possible(*possible).is_clear is is_clear


def test_decisions_lie_at_the_looks_that_a_task_reaches() -> None:
    assert deciding.around(59, 100) == (0, [60, 100])
    assert deciding.around(60, 100) == (60, [100])
    assert deciding.around(399, 399) == (200, [])
