"""Matrices of whole boards are those that `oracles.aligned` makes of their rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from compute.datasets import DATASETS
from compute.judgements import PERSON, Choice
from compute.reading.database import Reading, open_version
from compute.reading.overlay import Overlays
from compute.views.shared.matrices import of_boards
from tests.support.oracles import aligned
from tests.support.scored import publish
from tests.support.storage import hits, judgement, open_store, publish_run, scores

FORUMS = DATASETS["cqadupstack"].parts
SYSTEMS = ["dpr", "ance", "bm25"]
IDS = ["10", "9", "é", "z", "😀", "A"]


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Reading:
    """Three systems on a dataset and the forums of another; here and there a value is absent."""
    store = open_store(tmp_path_factory.mktemp("matrices") / "home")
    random = np.random.default_rng(3)
    for dataset in ("scifact", *FORUMS[::-1]):
        for system in SYSTEMS:
            given = zip(
                random.permutation(IDS).tolist()[1:], random.random(5).tolist(), strict=True
            )
            found = pd.concat([scores("nDCG@10", **dict(given)), scores("RR@10", z=1.0)])
            publish_run(store, dataset, system, hits(("10", "d1", 1)), found)
    return open_version(store)


def test_of_boards_is_what_aligned_makes_of_the_rows(reading: Reading) -> None:
    cursor = reading.cursor()
    rows = cursor.execute("select * from scores where measure = 'nDCG@10'").df()
    asked = {FORUMS[2]: FORUMS[2:3], "cqadupstack": FORUMS, "scifact": ["scifact"]}
    found = of_boards(cursor, "nDCG@10", list(asked), SYSTEMS)
    for board, parts in zip(found, asked.values(), strict=True):
        wanted = aligned(rows[rows["dataset"].isin(parts)], SYSTEMS)
        pd.testing.assert_frame_equal(board.queries, wanted.queries)
        np.testing.assert_array_equal(board.values, wanted.values, strict=True)
        assert board.values.flags.c_contiguous
        assert (board.systems, board.n_left_out) == (wanted.systems, wanted.n_left_out)
        np.testing.assert_array_equal(np.array(board.weights), np.array(wanted.weights))


@pytest.mark.parametrize("asked", [("AP@10", "scifact"), ("nDCG@10", "unheard-of")])
def test_what_has_no_values_has_no_queries(reading: Reading, asked: tuple[str, str]) -> None:
    measure, dataset = asked
    (board,) = of_boards(reading.cursor(), measure, [dataset], SYSTEMS)
    assert board.values.shape == (3, 0)
    assert board.queries.empty and board.n_left_out == 0


def test_added_judgements_count(tmp_path: Path) -> None:
    store = open_store(tmp_path / "home")
    lists = {name: hits(("q1", doc, 1)) for name, doc in (("a", "d1"), ("b", "d2"))}
    judged = pd.DataFrame({"query_id": ["q1"], "doc_id": ["d0"], "relevance": [1]})
    publish(store, "scifact", judged, lists)
    store.add_judgements(judgement("q1", "d2", 1).assign(dataset="scifact", source=PERSON))
    overlays = Overlays(store, open_version(store))
    with overlays.cursor(store.judgement_version(), Choice()) as cursor:
        (board,) = of_boards(cursor, "P@1", ["scifact"], ["a", "b"])
    assert board.values.tolist() == [[0.0], [1.0]]
