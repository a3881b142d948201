"""Views by dataset: what is asked of one dataset reads its files alone."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compute.reading.database import open_version
from compute.reading.overlay import Overlays
from compute.store import parts
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


def test_a_question_about_few_datasets_is_planned_over_their_files_only(tmp_path: Path) -> None:
    store = open_store(tmp_path / "home")
    for dataset in ("one", "it's another", "third"):
        publish_run(store, dataset, "bm25", RUN, VALUES)
    overlays = Overlays(store, open_version(store))
    every = "select dataset, system, doc_id from hits order by dataset"
    with overlays.cursor(0, datasets=["one", "it's another"]) as cursor:
        assert [row[0] for row in cursor.execute(every).fetchall()] == ["it's another", "one"]
        # What is no part, such as the catalogue, is as always; a kind that is absent is empty.
        assert cursor.execute("select count(*) from datasets").fetchall()[0][0] > 18
        assert cursor.execute("select * from documents where dataset = 'one'").fetchall() == []
    with overlays.cursor(0) as cursor:
        assert len(cursor.execute(every).fetchall()) == 3
    with overlays.cursor(0, datasets=["it's another", "one"]), overlays.cursor(0, datasets=["one"]):
        schemas = overlays.reading.cursor().execute("select schema_name from duckdb_schemas()")
        names = {name for (name,) in schemas.fetchall() if name.startswith("only_")}
    assert names == {"only_0", "only_1"}


def test_texts_are_written_in_small_row_groups_and_other_rows_in_large_ones(
    tmp_path: Path,
) -> None:
    long = "word " * 400
    rows = pa.table({"doc_id": [f"d{n}" for n in range(3000)], "title": [""] * 3000})
    texts = rows.append_column("text", pa.array([long] * 3000)).append_column(
        "n_words", pa.array([400] * 3000, pa.int32())
    )
    file = tmp_path / "texts.parquet"
    parts.write_part(file, parts.KINDS["documents"], texts, {"dataset": "one"})
    about = pq.ParquetFile(file).metadata
    assert about.num_rows == 3000 and about.num_row_groups >= 6
    few = texts.set_column(2, "text", pa.array(["word"] * 3000))
    parts.write_part(file, parts.KINDS["documents"], few, {"dataset": "one"})
    assert pq.ParquetFile(file).metadata.num_row_groups == 1


def test_a_damaged_file_concerns_only_the_questions_that_read_it(tmp_path: Path) -> None:
    store = open_store(tmp_path / "home")
    publish_run(store, "one", "bm25", RUN, VALUES)
    overlays = Overlays(store, open_version(store))
    (damaged,) = (p for p in overlays.reading.parts.values() if p.kind == "scores")
    damaged.path.write_bytes(b"")
    for _ in range(2):
        with overlays.cursor(0, datasets=["one"]) as cursor:
            assert cursor.execute(ONE, {"name": "one"}).fetchall() == [("bm25", "d1")]
            with pytest.raises(duckdb.Error):
                cursor.execute("select * from scores where dataset = 'one'")
