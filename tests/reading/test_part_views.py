"""Views by dataset: what is asked of one dataset reads its files alone."""

from pathlib import Path

import pytest

from compute.reading.database import open_version
from tests.support.storage import hits, open_store, publish_run, scores

RUN, VALUES = hits(("q1", "d1", 1)), scores("nDCG@10", q1=1.0)
ONE = "select system, doc_id from hits where dataset = $name"
SEVERAL = "select system, doc_id from hits where list_contains([$name], dataset)"


@pytest.mark.parametrize("question", [ONE, SEVERAL])
def test_a_question_about_one_dataset_opens_no_run_of_another(
    tmp_path: Path, question: str
) -> None:
    store = open_store(tmp_path / "home")
    for dataset, system in (("one", "bm25"), ("other", "ance"), ("other", "bm25")):
        publish_run(store, dataset, system, RUN, VALUES)
    reading = open_version(store)
    # The first file of a dataset says what columns there are.
    *_, last = (part for part in reading.parts.values() if part.identity[:2] == ("hits", "other"))
    last.path.write_bytes(b"")
    assert reading.cursor().execute(question, {"name": "one"}).fetchall() == [("bm25", "d1")]


def test_a_view_of_many_datasets_has_all_of_them_in_order(tmp_path: Path) -> None:
    store = open_store(tmp_path / "home")
    names = [f"it's number {number}" for number in range(7)]
    for name in names:
        publish_run(store, name, "bm25", RUN, VALUES)
    rows = open_version(store).cursor().execute("select dataset, system, rank from hits").fetchall()
    assert rows == [(name, "bm25", 1) for name in names]
