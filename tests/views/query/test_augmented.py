"""The words of an augmented query, and the paper's table beside ours, by hand."""

from typing import Any

import pytest
from pandas import DataFrame

from compute.datasets import published
from compute.views.query import augmented
from tests.views.records import under

QUERY = DataFrame(
    {
        "piece": ["statin", "and", "##s", "cholesterol", "<b>"],
        "in_query": [True, True, True, False, False],
        "weight": [0.2, 0.0, 0.05, 0.1, 0.01],
    }
)


def test_weights_are_relative_to_the_heaviest() -> None:
    found = augmented.relative(QUERY)
    assert found["share"].tolist() == pytest.approx([1, 0, 0.25, 0.5, 0.05])


def test_it_is_told_what_was_added_turned_down_and_left_out() -> None:
    told = augmented.told(augmented.relative(QUERY))
    assert told == (
        "Added: 2 word pieces; down-weighted to less than half of the heaviest: ##s; "
        "not searched at all: and."
    )


def test_bars_draw_the_words_of_the_query_first_and_none_as_markup() -> None:
    figure: Any = augmented.bars(augmented.relative(QUERY), "light")
    own, added = figure.data
    assert list(own.x) == [1, 0, 0.25] and list(own.y) == [0, 1, 2]
    assert list(added.x) == pytest.approx([0.5, 0.05]) and list(added.y) == [3, 4]
    assert figure.layout.yaxis.ticktext[-1] == "&lt;b&gt;"


def test_what_moved_is_told_from_both_lists() -> None:
    hits = DataFrame(
        {
            "system": ["new", "new", "old", "old"],
            "rank": [1, 2, 1, 2],
            "doc_id": ["b", "c", "a", "b"],
            "relevance": [1, None, 0, 1],
        }
    ).astype({"relevance": "Int64"})
    rows = under(augmented.MOVED, augmented.moved(hits, "new", "old")).to_numpy().tolist()
    assert rows == [
        ["b", "1", "2", "relevant"],
        ["c", "2", "below 10", "not judged"],
        ["a", "below 10", "1", "not relevant"],
    ]


def test_the_papers_table_has_its_ablations() -> None:
    rows = under(augmented.COLUMNS, augmented.printed(published.results(), ["nq-dpr"]))
    found = rows.set_index(["Source", "System"])["Words added"]
    assert found["Table 2", "w/o weight"] == "19.2"
    assert found["Table 2", "BM25 query augmentation"] == "12.3"
    assert augmented.printed(published.results(), ["scifact"]).empty


def test_ours_stand_beside_plain_bm25_of_the_same_dataset() -> None:
    names = ["bm25-augmented[a]", "bm25-wordpiece"]
    mean = DataFrame({"dataset": ["a", "a"], "system": names, "value": [0.5, 0.4]})
    costs = DataFrame({"dataset": ["a"], "system": names[:1], "latency_p50_ms": [12.0]})
    added = DataFrame({"dataset": ["a"], "system": names[:1], "added": [3.25]})
    found = augmented.measured({"nDCG@10": mean, "R@100": mean}, costs, added)
    rows = under(augmented.COLUMNS, found)
    assert rows["System"].tolist() == names
    assert rows["nDCG@10"].tolist() == [".500", ".400"]
    assert rows["Latency (s)"].tolist() == [".012", "–"]
