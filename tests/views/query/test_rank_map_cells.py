"""The query x rank map: what its cells hold, and the order of its rows, worked by hand."""

from pathlib import Path

import numpy as np
import pytest
from pandas import DataFrame

from compute.reading.database import open_version
from compute.store.store import Store
from compute.views.query import rank_map_cells, select_map
from compute.views.query.rank_map_cells import EMPTY, HOLE
from compute.views.shared import catalogue
from tests.support.storage import hits, open_store, publish_run, scores

JUDGED = [("9", "d1", 2), ("9", "d2", 0), ("10", "d1", -1), ("a", "d9", 300)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Queries 9, 10, a and b; a run of which goes twelve ranks deep, one that ends early."""
    store = open_store(tmp_path)
    asked = DataFrame({"query_id": ["a", "10", "9", "b"], "text": ["A", None, "nine", ""]})
    judged = DataFrame(JUDGED, columns=["query_id", "doc_id", "relevance"])
    with store.publishing("made up") as publication:
        for kind, content in (("queries", asked.assign(n_words=1)), ("judgements", judged)):
            publication.add(kind, content, dataset="scifact", fingerprint="f", provenance={})
    deep = hits(*[("9", f"x{rank}", rank) for rank in range(1, 12)], ("9", "d1", 12))
    values = scores("nDCG@10", **{"9": 0.25, "10": 0.5})
    publish_run(store, "scifact", "bm25", deep, values)
    short = hits(("9", "d2", 1), ("10", "d1", 1), ("10", "d9", 2), ("a", "d9", 1))
    publish_run(store, "scifact", "minilm", short, scores("nDCG@10", **{"9": 1.0, "a": 0.1}))
    return store


def test_a_cell_holds_the_relevance_a_hole_or_nothing(store: Store) -> None:
    found = select_map.cells(open_version(store).cursor(), "scifact", "minilm", 3)
    assert found.index.tolist() == ["9", "10", "a", "b"]
    assert found.to_numpy().tolist() == [
        [0, EMPTY, EMPTY],
        [-1, HOLE, EMPTY],
        [127, EMPTY, EMPTY],
        [EMPTY, EMPTY, EMPTY],
    ]
    assert set(found.dtypes) == {np.dtype(np.int8)}


def test_ranks_below_ten_come_from_the_hits(store: Store) -> None:
    cursor = open_version(store).cursor()
    ten = select_map.cells(cursor, "scifact", "bm25", 10)
    more = select_map.cells(cursor, "scifact", "bm25", 20)
    assert ten.iloc[0].tolist() == [HOLE] * 10
    assert more.iloc[0].tolist() == [HOLE] * 11 + [2] + [EMPTY] * 8
    assert (select_map.cells(cursor, "scifact", "nosuch", 5).to_numpy() == EMPTY).all()


def test_values_have_the_rows_of_the_cells(store: Store) -> None:
    cursor = open_version(store).cursor()
    found = select_map.values(cursor, "scifact", "nDCG@10", "bm25", "minilm")
    assert found["query_id"].tolist() == ["9", "10", "a", "b"]
    assert found["value"].fillna(-1).tolist() == [0.25, 0.5, -1, -1]
    assert found["other"].fillna(-1).tolist() == [1, -1, 0.1, -1]
    alone = select_map.values(cursor, "scifact", "nDCG@10", "bm25")
    assert alone["other"].isna().all()


def test_texts_are_those_of_the_queries_asked_for(store: Store) -> None:
    found = catalogue.asked(open_version(store).cursor(), "scifact", ["9", "10"])
    known = dict(found.itertuples(index=False, name=None))
    assert (known["9"], set(known)) == ("nine", {"9", "10"})


CELLS = DataFrame([[1, HOLE], [HOLE, HOLE], [0, EMPTY], [EMPTY, EMPTY]], dtype=np.int8)
VALUES = DataFrame(
    {"query_id": list("abcd"), "value": [0.5, 0, 0.5, None], "other": [0.1, 1, 1, 0]}
)


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        ("highest", [0, 2, 1, 3]),
        ("lowest", [1, 0, 2, 3]),
        ("holes", [1, 0, 2, 3]),
        ("difference", [0, 2, 1, 3]),
        ("id", [0, 1, 2, 3]),
    ],
)
def test_rows_come_in_the_order_asked_for_and_those_without_a_value_last(
    by: str, rows: list[int]
) -> None:
    assert rank_map_cells.order(CELLS, VALUES, by).tolist() == rows


def test_holes_are_a_share_of_the_ranks_that_are_filled() -> None:
    assert np.nan_to_num(rank_map_cells.holes(CELLS), nan=-1).tolist() == [0.5, 1, 0, -1]


@pytest.mark.parametrize(
    ("start", "rows"), [(0, (0, 30)), (-5, (0, 30)), (40, (40, 70)), (95, (70, 100))]
)
def test_a_window_lies_within(start: int, rows: tuple[int, int]) -> None:
    assert rank_map_cells.window(100, start, 30) == slice(*rows)
    assert rank_map_cells.window(7, start, 30) == slice(0, 7)


def test_bands_part_the_queries_evenly() -> None:
    assert rank_map_cells.bands(10_000, 320).tolist()[:3] == [0, 31, 62]
    assert len(rank_map_cells.bands(10_000, 320)) == 320
    assert rank_map_cells.bands(3, 320).tolist() == [0, 1, 2]
