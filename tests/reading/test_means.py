"""Means: remembered ones equal those counted anew, whatever happened in between."""

import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from duckdb import DuckDBPyConnection

from compute.datasets.catalogue import DATASETS
from compute.reading import means
from compute.reading.database import open_version
from compute.store.store import Store
from tests.support.storage import hits, open_store, publish_run, scores

RUN = hits(("q1", "d1", 1), ("q1", "d2", 2), ("q2", "d1", 1))
ROWS = "select * from means"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One system on CQADupStack's forums and on tiny; q3 is not answered."""
    store = open_store(tmp_path_factory.mktemp("means") / "home")
    publish_run(store, "tiny", "bm25", RUN, scores("nDCG@10", q1=0.1, q2=0.7, q3=0.0))
    for place, forum in enumerate(DATASETS["cqadupstack"].parts):
        publish_run(store, forum, "bm25", RUN, scores("R@10", q1=place / 11, q2=1 / 3, q3=0.0))
    store.close()
    return store.home


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Store:
    return open_store(shutil.copytree(made, tmp_path / "home"))


def anew(cursor: DuckDBPyConnection) -> list[tuple[object, ...]]:
    cursor.execute("alter table means rename to remembered")
    means.create(cursor)
    return cursor.execute(ROWS).fetchall()


def check(store: Store) -> list[tuple[object, ...]]:
    """The means as a reading has them, which are those counted anew, in the same order."""
    reading = open_version(store)
    found = reading.cursor().execute(ROWS)
    types, rows = found.description, found.fetchall()
    assert rows == anew(reading.cursor())
    assert types == reading.cursor().execute(ROWS).description
    reading.close()
    return rows


def kept(store: Store) -> Path:
    return store.home / "caches" / "means.parquet"


def test_remembered_means_are_those_counted_anew(store: Store) -> None:
    first = check(store)
    assert len(first) == 1 + 13
    written = kept(store).read_bytes()
    assert check(store) == first
    assert kept(store).read_bytes() == written


def test_a_dataset_of_forums_has_the_mean_of_their_means(store: Store) -> None:
    (whole,) = [row for row in check(store) if row[0] == "cqadupstack"]
    # Forum i of 0 to 11 has (i/11 + 1/3 + 0)/3: on average (1/2 + 1/3)/3.
    assert whole[2:4] == ("R@10", pytest.approx(5 / 18))


def test_what_is_published_replaced_and_removed_shows(store: Store) -> None:
    check(store)
    publish_run(store, "other", "bm25", RUN, scores("nDCG@10", q1=0.3))
    publish_run(store, "tiny", "bm25", RUN, scores("nDCG@10", q1=0.2, q2=0.4))
    rows = check(store)
    assert ("other", "bm25", "nDCG@10", 0.3, 0.3, 1, 0) in rows
    assert [row[3] for row in rows if row[0] == "tiny"] == [pytest.approx(0.3)]
    # What was replaced is not kept for ever.
    assert len(pq.read_table(kept(store))) == 2 + 12
    with store.publishing("remove") as publication:
        publication.remove("scores", "tiny", "bm25")
    assert "tiny" not in {row[0] for row in check(store)}


@pytest.mark.long
def test_new_hits_of_the_same_scores_say_anew_which_queries_were_answered(store: Store) -> None:
    check(store)
    top = RUN.head(1)
    with store.publishing("top alone") as publication:
        publication.add(
            "top", top, dataset="tiny", system="bm25", fingerprint="other", provenance={}
        )
    assert [row[6] for row in check(store) if row[0] == "tiny"] == [2]
    with store.publishing("no top") as publication:
        publication.remove("top", "tiny", "bm25")
    assert [row[6] for row in check(store) if row[0] == "tiny"] == [None]


def test_an_older_version_has_its_own_means(store: Store) -> None:
    before, version = check(store), store.version()
    publish_run(store, "tiny", "bm25", RUN, scores("nDCG@10", q1=1.0))
    assert check(store) != before
    old = open_version(store, version)
    assert old.cursor().execute(ROWS).fetchall() == before


def test_only_scores_that_nobody_has_read_yet_are_read(store: Store) -> None:
    check(store)
    publish_run(store, "tiny", "rm3", RUN, scores("nDCG@10", q1=0.5))
    seen = store.part("scores", "tiny", "bm25")
    assert seen
    content, at = seen.path.read_bytes(), seen.path.stat().st_mtime_ns
    # Its values are gone, and nothing tells so: what opens it finds its footer as it was.
    seen.path.write_bytes(b"PAR1" + bytes(96) + content[100:])
    os.utime(seen.path, ns=(at, at))
    rows = open_version(store).cursor().execute(f"{ROWS} where dataset = 'tiny'").fetchall()
    assert [row[3] for row in rows] == [pytest.approx(0.8 / 3), 0.5]


@pytest.mark.long
@pytest.mark.parametrize("broken", ["empty", "half", "flipped", "another way"])
def test_a_broken_memory_is_forgotten(store: Store, broken: str) -> None:
    first = check(store)
    content = kept(store).read_bytes()
    if broken == "another way":
        table = pq.read_table(kept(store))
        values = table.set_column(4, "value", [[0.25] * len(table)])
        pq.write_table(values.replace_schema_metadata({"made_by": "x"}), kept(store))
    else:
        values = pq.read_metadata(kept(store)).row_group(0).column(4)
        place = values.data_page_offset + 30
        flipped = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        kinds = {"empty": b"", "half": content[: len(content) // 2], "flipped": flipped}
        kept(store).write_bytes(kinds[broken])
    assert check(store) == first
    assert check(store) == first


def test_a_home_without_room_for_a_memory_is_read_all_the_same(store: Store) -> None:
    (store.home / "caches").write_bytes(b"no folder")
    assert len(check(store)) == 1 + 13
