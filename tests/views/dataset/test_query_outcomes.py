"""The systems and queries of a dataset: values worked by hand."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas import DataFrame
from scipy import stats

from compute.views.dataset import query_outcomes
from compute.views.shared import standings


def rows() -> DataFrame:
    return DataFrame(
        {
            "dataset": ["one", "one", "two", "two", "one"],
            "system": ["a", "b", "a", "b", "part only"],
            "n": [4, 4, 9, 9, 4],
            "mean": [0.2, 0.6, 0.4, 0.6, 0.9],
            "spread": [0.2, 0.1, 0.3, 0.3, 0.1],
            "hole": [0.5, 0.1, 0.7, 0.3, 0.0],
        }
    )


def test_parts_weigh_the_same_and_a_system_that_lacks_one_is_left_out() -> None:
    ranked = standings.ranked(rows(), "nDCG@10")
    assert ranked["system"].tolist() == ["b", "a"]
    assert ranked["value"].tolist() == pytest.approx([0.6, 0.3])
    assert ranked["hole"].tolist() == pytest.approx([0.2, 0.6])
    error = np.sqrt(0.2**2 / 4 + 0.3**2 / 9) / 2
    assert ranked["high"].iloc[1] - 0.3 == pytest.approx(stats.t.ppf(0.975, 11) * error)


def test_parts_and_systems_that_are_not_there_are_said() -> None:
    assert query_outcomes.parts_note(rows(), 0) == []
    of_two = ["All parts have equal weight.", "Left out: 1 system without a run on every part."]
    assert query_outcomes.parts_note(rows(), 2) == of_two
    assert "Only 2 of 12 parts have runs." in query_outcomes.parts_note(rows(), 12)


def test_of_holes_the_fewest_stand_first() -> None:
    assert standings.ranked(rows(), "Hole@10")["system"].tolist() == ["a", "b"]


def queries() -> DataFrame:
    frame = DataFrame(
        [
            ("easy", 5, 1.0, 0.9, 0.9, 0.8, "a"),
            ("hard", 5, 0.0, 0.0, 0.0, 0.0, "a"),
            ("apart", 1, 1.0, 0.2, 0.1, 0.0, "b"),
            ("tied", 2, 0.5, 0.5, 0.4, 0.1, "a"),
        ],
        columns=["query_id", "n_relevant", "best", "second", "middle", "worst", "winner"],
    )
    return query_outcomes.kind(frame.assign(dataset="d", n_systems=3))


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (query_outcomes.ALL_FAIL, ["hard"]),
        (query_outcomes.ALL_SUCCEED, ["easy"]),
        (query_outcomes.ALONE, ["apart", "easy"]),
        (query_outcomes.APART, ["apart", "tied", "easy", "hard"]),
    ],
)
def test_kinds_of_queries(kind: str, found: list[str]) -> None:
    assert query_outcomes.of_kind(queries(), kind)["query_id"].tolist() == found


def test_who_shares_the_best_value_wins_nothing_alone() -> None:
    assert query_outcomes.alone(queries()).to_dict() == {"a": 1, "b": 1}


def test_one_system_alone_is_not_ahead_of_others() -> None:
    alone = query_outcomes.kind(queries().assign(n_systems=1, second=np.nan))
    assert not alone["alone"].any()


def test_a_document_has_a_row_per_query_with_its_best_rank() -> None:
    places = DataFrame(
        {
            "dataset": "d",
            "query_id": ["q1", "q1", "q2", "q3"],
            "text": ["one", "one", None, "three"],
            "system": ["a", "b", "b", None],
            "rank": [7, 3, 1, None],
            "relevance": [1, 1, None, 0],
        }
    )
    found = query_outcomes.found(places)
    assert found["query_id"].tolist() == ["q2", "q1", "q3"]
    assert found["systems"].tolist() == [1, 2, 0]
    assert found["best"].tolist()[:2] == [1, 3] and pd.isna(found["best"].iloc[2])
    assert found["middle"].iloc[1] == 5
    assert found["first"].tolist()[:2] == ["b", "b"]


def test_a_table_with_both_languages_counts_before_one_with_one() -> None:
    computed = DataFrame(
        {"dataset": ["x", "x-pl"], "system": ["bm25", "bm25"], "value": [0.5, 0.4]}
    )
    printed = DataFrame(
        [
            ("x", "Table 1", "es", "BM25 (ES)", 0.1),
            ("x", "Table 3", "es", "BM25 (ES)", 0.7),
            ("x-pl", "Table 3", "es", "BM25 (ES)", 0.6),
            ("x", "Table 1", "ance", "ANCE", 0.9),
        ],
        columns=["dataset", "source", "system", "printed", "value"],
    )
    rows: Any = query_outcomes.side_by_side(computed, printed, "x", "x-pl").set_index("system")
    assert set(rows.index[:2]) == {"es", "bm25"} and rows.index[2] == "ance"
    assert rows.loc["es", ["printed_en", "printed_pl"]].tolist() == [0.7, 0.6]
    assert rows.loc["bm25", ["here_en", "here_pl"]].tolist() == [0.5, 0.4]
    assert rows.loc["es", "title"] == "BM25 (ES)"
