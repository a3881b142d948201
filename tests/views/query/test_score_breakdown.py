"""Why a query scores what it does, drawn and as a table."""

from typing import Any

import pandas as pd
import pytest
from pandas import DataFrame

from compute.evaluate.score_breakdown import Explained, explain
from compute.views.query.score_breakdown import conclusion, gains, table
from tests.support.tiny import HOSTILE

JUDGED = DataFrame([("d1", 2), ("d2", 1), ("d3", 0)], columns=["doc_id", "relevance"])


def explained(measure: str, *documents: str) -> Explained:
    ranks = DataFrame({"rank": range(1, len(documents) + 1), "doc_id": list(documents)})
    return explain(ranks, JUDGED, measure)


def drawn(*found: Explained) -> Any:
    return gains([(f"<b>{n}", one) for n, one in enumerate(found)], theme="light")


def test_the_bars_of_a_row_add_up_to_the_score() -> None:
    found = [explained("nDCG@10", "d3", "d2", "d9", "d1"), explained("nDCG@10", "d1", "d2")]
    figure = drawn(*found)
    for one, bars in zip(found, figure.data[1::2], strict=True):
        assert sum(bars.y) == pytest.approx(one.value)
    assert figure.data[1].x.tolist() == [2, 4]
    assert [sum(best.y) for best in figure.data[::2]] == [pytest.approx(1)] * 2


def test_titles_and_ids_stay_words() -> None:
    judged = JUDGED.assign(doc_id=[HOSTILE, "d2", "d3"])
    figure = drawn(explain(DataFrame({"rank": [1], "doc_id": [HOSTILE]}), judged, "nDCG@10"))
    words = [*figure.data[1].hovertext, figure.layout.annotations[0].text]
    assert all("<script" not in text and "<b>0" not in text for text in words)


def test_a_query_without_a_hit_still_shows_the_best_order() -> None:
    figure = drawn(explained("R@100"))
    assert [len(trace.x) for trace in figure.data] == [2, 0]


def test_the_table_ends_with_the_sums_that_are_divided() -> None:
    found = explained("nDCG@10", "d3", "d2", "d9", "d1")
    shown = table(found)
    assert shown["Grade"].tolist() == ["0", "1", "unjudged", "2", ""]
    assert shown["Ideal grade"].tolist() == ["2", "1", "", "", ""]
    assert shown["Document"].tolist() == ["d3", "d2", "d9", "d1", ""]
    assert shown.iloc[-1]["Contribution"] == f"{found.total:.4f}"
    assert shown.iloc[-1]["Ideal contribution"] == f"{found.best_total:.4f}"
    assert conclusion(found, found.value, "BM25").endswith(" = .5672, as stored.")


def test_the_best_order_goes_on_below_a_short_list() -> None:
    shown = table(explained("nDCG@10", "d9"))
    assert shown["Rank"].tolist() == ["1", "2", "Sum"]
    assert shown["Grade"].tolist() == ["unjudged", "–", ""]


def test_a_long_list_shows_the_ranks_that_count() -> None:
    documents = [f"x{rank}" for rank in range(1, 60)]
    shown = table(explained("R@100", *documents, "d1"))
    assert shown["Rank"].tolist() == ["1", "2", "60", "Sum"]


def test_measures_without_a_best_order_have_no_column_of_it() -> None:
    assert "Ideal contribution" not in table(explained("Hole@10", "d1", "d9"))


def test_an_empty_list_has_no_share_of_holes_and_holes_have_no_best_order() -> None:
    assert conclusion(explained("Hole@10"), None, "BM25").startswith("BM25: no Hole@10: the list")
    assert "no document is judged relevant" in conclusion(
        explain(DataFrame({"rank": [1], "doc_id": ["d3"]}), JUDGED.tail(1), "nDCG@10"), 0, "BM25"
    )


def test_a_stored_score_of_a_longer_list_is_said() -> None:
    found = explained("R@100", "d1")
    assert "is from a longer list" in conclusion(found, 1.0, "BM25")
    assert "No value is stored" in conclusion(found, None, "BM25")
    assert pd.isna(found.listed["relevance"]).sum() == 0
