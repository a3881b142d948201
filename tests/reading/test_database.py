"""A version of the store as tables and views, in memory and in a file."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from compute.base.errors import Conflict, WrongInput
from compute.base.scratch_database import scratch
from compute.base.settings import Settings
from compute.datasets.catalogue import DATASETS, own
from compute.exports.shipping import ship
from compute.reading.database import open_version, snapshot, write_database
from compute.store.parts import KINDS
from compute.store.store import Store
from compute.systems import SYSTEMS
from tests.support.filled import withdraw
from tests.support.storage import hits, judgement, open_store, publish_run, scores

RUN = hits(("q1", "d1", 1), ("q1", "d2", 2), ("q2", "d1", 1))
# q3 is judged, but the run does not answer it: it scores 0 and has no hole.
VALUES = pd.concat([scores("nDCG@10", q1=1.0, q2=0.5, q3=0.0), scores("Hole@10", q1=0.2, q2=0.4)])
MEANS = "select value, value_returned, n_queries, n_unanswered from means where measure = ?"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """One run on one dataset, one query of it unanswered."""
    store = open_store(tmp_path / "home")
    publish_run(store, "tiny", "bm25", RUN, VALUES)
    return store


def add_queries(store: Store, name: str, **provenance: object) -> None:
    queries = pd.DataFrame({"query_id": ["q1"], "text": ["words of it"], "n_words": [3]})
    judged = pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "relevance": [1]})
    with store.publishing("load") as publication:
        for kind, content in (("queries", queries), ("judgements", judged)):
            publication.add(kind, content, dataset=name, fingerprint=kind, provenance=provenance)


def test_means_say_both_how_unanswered_queries_count_and_how_many_they_are(store: Store) -> None:
    cursor = open_version(store).cursor()
    assert cursor.execute(MEANS, ["nDCG@10"]).fetchall() == [(0.5, 0.75, 3, 1)]
    assert cursor.execute(MEANS, ["Hole@10"]).fetchall() == [(pytest.approx(0.3),) * 2 + (3, 1)]


def test_without_hits_nobody_knows_which_queries_were_answered(tmp_path: Path) -> None:
    store = open_store(tmp_path / "home")
    with store.publishing("scores alone") as publication:
        publication.add("scores", VALUES, dataset="d", system="s", fingerprint="f", provenance={})
    assert open_version(store).cursor().execute(MEANS, ["nDCG@10"]).fetchall() == [
        (0.5, None, 3, None)
    ]


def test_a_run_that_answers_nothing_has_means_of_0(tmp_path: Path) -> None:
    store = open_store(tmp_path / "home")
    publish_run(store, "d", "s", RUN.head(0), scores("nDCG@10", q1=0.0, q2=0.0))
    assert open_version(store).cursor().execute(MEANS, ["nDCG@10"]).fetchall() == [
        (0.0, None, 2, 2)
    ]


@pytest.mark.long
def test_cqadupstack_is_the_mean_of_its_twelve_forums_means(tmp_path: Path) -> None:
    store = open_store(tmp_path / "home")
    forums = DATASETS["cqadupstack"].parts
    assert len(forums) == 12
    of_whole = "select * from means where dataset = 'cqadupstack'"
    for forum in forums[:-1]:
        publish_run(store, forum, "bm25", RUN, scores("nDCG@10", q1=0.6))
    assert open_version(store).cursor().execute(of_whole).fetchall() == []
    # Three queries, of which one is unanswered: a forum weighs the same however large it is.
    publish_run(store, forums[-1], "bm25", RUN, scores("nDCG@10", q1=0.1, q2=0.0, q3=0.0))
    whole = ("cqadupstack", "bm25", "nDCG@10")
    means = (pytest.approx((11 * 0.6 + 0.1 / 3) / 12), pytest.approx((11 * 0.6 + 0.05) / 12))
    assert open_version(store).cursor().execute(of_whole).fetchall() == [(*whole, *means, 14, 1)]


@pytest.mark.long
def test_what_does_not_fit_in_memory_goes_under_a_home_that_is_made(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    with scratch(Settings(home=home, threads=1), memory="40MB") as database:
        database.execute("create table numbers as select hash(i) as h from range(6_000_000) t(i)")
        assert list((home / "tmp").iterdir())
        assert database.execute("select count(distinct h) from numbers").fetchone() == (6_000_000,)


def test_every_kind_is_a_view_with_its_columns_even_if_empty(store: Store) -> None:
    cursor = open_version(store).cursor()
    for kind, schema in KINDS.items():
        assert list(cursor.table(kind).columns) == schema.names
    counted = cursor.execute("select (select count(*) from hits), (select count(*) from ngrams)")
    assert counted.fetchone() == (3, 0)


def test_strings_reach_pandas_as_strings(store: Store) -> None:
    frame = open_version(store).cursor().execute("select * from top").df()
    assert str(frame["query_id"].dtype) == "str"
    assert str(frame["rank"].dtype) == "int32"


def test_a_reading_stays_at_its_version(store: Store) -> None:
    old = open_version(store)
    publish_run(store, "tiny", "bm25", RUN, scores("nDCG@10", q1=1.0, q2=1.0))
    count = "select version, n from (select count(*) as n from scores), (select 1 as version)"
    assert old.cursor().execute(count).fetchone() == (1, 5)
    assert open_version(store, 1).cursor().execute(count).fetchone() == (1, 5)
    newest = open_version(store)
    assert (newest.version, newest.cursor().execute(count).fetchone()) == (2, (1, 2))
    newest.close()


def test_one_run_is_found_through_the_manifest(store: Store) -> None:
    reading = open_version(store)
    part = store.part("hits", "tiny", "bm25")
    assert part and reading.parts["hits", "tiny", "bm25"].path == part.path


def test_a_lost_file_is_left_out(store: Store) -> None:
    part = store.part("scores", "tiny", "bm25")
    assert part is not None
    part.path.unlink()
    reading = open_version(store)
    assert {kind for kind, _, _ in reading.parts} == {"hits", "top"}
    counts = "select (select count(*) from hits), (select count(*) from scores)"
    assert reading.cursor().execute(counts).fetchone() == (3, 0)


def test_threads_read_at_once_each_by_its_own_cursor(store: Store) -> None:
    for number in range(8):
        publish_run(store, f"d{number}", "bm25", RUN, scores("nDCG@10", q1=number / 8))
    reading = open_version(store)

    def read(number: int) -> list[tuple[float]]:
        query = "select value from scores where dataset = ?"
        return reading.cursor().execute(query, [f"d{number % 8}"]).fetchall()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(read, range(160)))
    assert found == [[(number % 8 / 8,)] for number in range(160)]


def test_own_datasets_and_systems_stand_beside_the_catalogue(store: Store) -> None:
    add_queries(store, "mine", dataset=own("mine", title="My collection").record())
    publish_run(store, "mine", "bm25(k1=1.2)", RUN, VALUES)
    publish_run(store, "mine", "Their Run v2", RUN, VALUES)
    cursor = open_version(store).cursor()
    names = [name for (name,) in cursor.execute("select name from datasets").fetchall()]
    assert names == [*DATASETS, "mine"]
    mine = cursor.execute('select title, "group", parts from datasets where name = ?', ["mine"])
    assert mine.fetchone() == ("My collection", "own", [])
    further = cursor.execute("select name, family, status from systems").fetchall()[len(SYSTEMS) :]
    assert further == [
        ("Their Run v2", "imported", "published figures only"),
        ("bm25(k1=1.2)", SYSTEMS["bm25"].family, ""),
    ]


def test_published_figures_and_provenance_are_tables(store: Store) -> None:
    add_queries(store, "scifact", seconds=1.5, note="ł")
    cursor = open_version(store).cursor()
    published = cursor.execute("select count(*) from published").fetchone()
    assert published and published[0] > 1000
    rows = cursor.execute("select provenance, shipped from parts where kind = 'queries'")
    (provenance, shipped) = rows.fetchall()[0]
    assert (json.loads(provenance), shipped) == ({"seconds": 1.5, "note": "ł"}, False)


def test_added_judgements_are_a_table_whose_withdrawals_have_no_relevance(store: Store) -> None:
    store.add_judgements(judgement("q1", "d9", 2))
    withdraw(store, 1, "page")
    cursor = open_version(store).cursor()
    rows = cursor.execute("select id, doc_id, relevance, person from added_judgements order by id")
    assert rows.fetchall() == [(1, "d9", 2, "ada"), (2, "d9", None, "ada")]


def test_names_from_outside_are_data(store: Store) -> None:
    name = "x'); drop table means; --\n*?[a]"
    publish_run(store, name, name, RUN, VALUES)
    cursor = open_version(store).cursor()
    counted = "select count(*) from means where dataset = ? and system = ?"
    assert cursor.execute(counted, [name, name]).fetchone() == (2,)


@pytest.mark.long
def test_what_ships_is_read_until_a_local_part_takes_its_place(
    store: Store, tmp_path: Path
) -> None:
    add_queries(store, "tiny", dataset=own("tiny").record())
    ship(store, ["tiny"], ["bm25"], tmp_path / "shipped")
    other = open_store(tmp_path / "other" / "home", shipped=tmp_path / "shipped")
    assert all(part.shipped for part in other.parts())
    cursor = open_version(other).cursor()
    assert cursor.execute(MEANS, ["nDCG@10"]).fetchall() == [(0.5, 0.75, 3, 1)]
    assert cursor.execute("select text, n_words from queries").fetchall() == [(None, 3)]
    publish_run(other, "tiny", "bm25", RUN, scores("nDCG@10", q1=1.0))
    cursor = open_version(other).cursor()
    assert cursor.execute(MEANS, ["nDCG@10"]).fetchall() == [(1.0, 1.0, 1, 0)]
    with other.publishing("remove") as publication:
        for kind in ("hits", "top", "scores"):
            publication.remove(kind, "tiny", "bm25")
    cursor = open_version(other).cursor()
    assert cursor.execute(MEANS, ["nDCG@10"]).fetchall() == [(0.5, 0.75, 3, 1)]


def test_a_home_may_move(store: Store, tmp_path: Path) -> None:
    store.close()
    moved = shutil.move(store.home, tmp_path / "moved ü")
    cursor = open_version(open_store(Path(moved))).cursor()
    assert cursor.execute(MEANS, ["nDCG@10"]).fetchall() == [(0.5, 0.75, 3, 1)]


@pytest.mark.long
@pytest.mark.parametrize("name", ["home", "it's ü"])
def test_the_database_file_reads_from_any_folder(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    store.close()
    store = open_store(Path(shutil.move(store.home, tmp_path / f"moved {name}")))
    file = write_database(store)
    assert file == store.home / "beirscope.duckdb"
    for folder in (store.home, tmp_path):
        monkeypatch.chdir(folder)
        with duckdb.connect(str(file), read_only=True) as shell:
            assert shell.execute(MEANS, ["nDCG@10"]).fetchall() == [(0.5, 0.75, 3, 1)]
            assert shell.execute("select count(*) from hits").fetchone() == (3,)
    assert [path.name for path in store.home.glob("*.tmp")] == []


def test_what_killed_writers_of_the_database_left_does_no_harm(store: Store) -> None:
    for name in (".beirscope.duckdb.tmp", ".beirscope.duckdb.tmp.wal", "beirscope.duckdb.wal"):
        (store.home / name).write_bytes(b"half")
    file = write_database(store)
    with duckdb.connect(str(file), read_only=True) as shell:
        assert shell.execute(MEANS, ["nDCG@10"]).fetchall() == [(0.5, 0.75, 3, 1)]


@pytest.mark.long
def test_jobs_that_end_together_leave_a_whole_database_of_the_newest(store: Store) -> None:
    def end(number: int) -> None:
        publish_run(store, f"d{number}", "bm25", RUN, VALUES)
        write_database(store)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(end, range(3)))
    file = store.home / "beirscope.duckdb"
    with duckdb.connect(str(file), read_only=True) as shell:
        counted = shell.execute("select count(distinct dataset), count(*) from hits").fetchone()
    assert counted == (4, 12)


def test_a_snapshot_needs_nothing_beside_it(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "all.duckdb"
    snapshot(store, file)
    store.close()
    shutil.rmtree(store.home)
    with duckdb.connect(str(file), read_only=True) as shell:
        assert shell.execute(MEANS, ["nDCG@10"]).fetchall() == [(0.5, 0.75, 3, 1)]
        assert shell.execute("select doc_id from hits where rank = 2").fetchall() == [("d2",)]


def test_a_snapshot_overwrites_nothing(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine", "utf-8")
    with pytest.raises(Conflict, match="exists: remove it"):
        snapshot(store, file)
    assert file.read_text("utf-8") == "mine"
    with pytest.raises(WrongInput, match="no folder"):
        snapshot(store, tmp_path / "nowhere" / "all.duckdb")


def test_scratch_databases_are_apart_from_each_other() -> None:
    one, two = scratch(), scratch()
    one.execute("create table t as select 1")
    assert two.execute("select count(*) from duckdb_tables()").fetchone() == (0,)
