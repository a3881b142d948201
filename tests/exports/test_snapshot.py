"""A snapshot: one file of DuckDB that says what is in it, and opens in DuckDB's own shell."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from compute.base.settings import Settings
from compute.reading import database
from compute.reading.user_database import EXAMPLES
from compute.store.loading import Bench
from compute.store.parts import KINDS
from compute.store.schema import TABLES, USUAL
from compute.store.store import Store
from tests.support import filled
from tests.support.storage import hits, judgement, open_store, publish_run, scores
from tests.support.tiny import HOSTILE

LINES = "q1 Q0 d1 1 3.0 t\nq1 Q0 d4 2 2.0 t\nq2 Q0 d3 1 1.0 t\n"
SHELL = shutil.which("duckdb") or shutil.which("duckdb", path=str(Path(sys.executable).parent))


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The tiny collection with a run, an added judgement and a model's weights."""
    bench = filled.bench(tmp_path_factory.mktemp("snapshot"))
    filled.take(bench, {"mine": LINES})
    bench.store.add_judgements(judgement("q1", "d4", 1))
    weights = pd.DataFrame({"file": ["weights"], "number": [0], "content": [b"heavy"]})
    with bench.store.publishing("train") as publication:
        publication.add(
            "model", weights, dataset="tiny", system="m[tiny]", fingerprint="m", provenance={}
        )
    return bench


@pytest.fixture(scope="module")
def snapshot(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("out") / "all.duckdb"
    database.snapshot(bench.store, file)
    return file


@pytest.fixture
def opened(snapshot: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(snapshot), read_only=True) as connection:
        yield connection


def test_every_kind_of_part_and_all_its_columns_have_a_meaning() -> None:
    for kind, schema in KINDS.items():
        assert all(TABLES[kind].meaning(column) for column in schema.names)
        assert set(TABLES[kind].columns) <= {*schema.names, *USUAL}


def test_every_table_and_every_column_says_what_it_is(
    opened: duckdb.DuckDBPyConnection,
) -> None:
    told = dict(
        opened.execute(
            "select table_name, comment from duckdb_tables() where not internal"
        ).fetchall()
    )
    assert told == {name: table.text for name, table in TABLES.items()}
    columns = opened.execute(
        "select table_name, column_name, comment from duckdb_columns() where not internal"
    ).fetchall()
    assert {table for table, _, _ in columns} == set(TABLES)
    for table, column, text in columns:
        assert text == TABLES[table].meaning(column)


def test_views_of_the_home_folder_say_it_too(bench: Bench) -> None:
    file = database.write_database(bench.store)
    with duckdb.connect(str(file), read_only=True) as connection:
        views = connection.execute(
            "select view_name, comment from duckdb_views() where not internal"
        ).fetchall()
        assert ("hits", TABLES["hits"].text) in views
        undocumented = (
            "select count(*) from duckdb_columns() where not internal and comment is null"
        )
        assert connection.execute(undocumented).fetchall() == [(0,)]


def test_the_examples_of_the_readme_run(opened: duckdb.DuckDBPyConnection) -> None:
    rows = dict(opened.execute("select topic, example from readme where example <> ''").fetchall())
    assert list(rows) == list(EXAMPLES)
    found = {topic: opened.execute(sql).fetchall() for topic, sql in rows.items()}
    assert found["the best system of each dataset"][0][:2] == ("tiny", "mine")
    assert found["unjudged documents in rankings"] == [("tiny", "mine", 1)]
    first = found["a ranked list with its texts"][0]
    assert first[:6] == ("mine", "q1", 1, "d1", 2, "Harbour")
    assert "import-run some.run" in found["provenance of a run"][0][2]


def test_a_snapshot_has_texts_as_they_are_but_no_weights_and_no_path(
    bench: Bench, snapshot: Path, opened: duckdb.DuckDBPyConnection
) -> None:
    assert opened.execute("select title from documents where doc_id = 'd4'").fetchall() == [
        (HOSTILE,)
    ]
    assert opened.execute("select file, content from model").fetchall() == [("weights", b"")]
    assert opened.execute("select distinct path from parts").fetchall() == [("",)]
    assert str(bench.store.home.parent).encode() not in snapshot.read_bytes()
    assert opened.execute("select person, relevance from added_judgements").fetchall() == [
        ("ada", 1)
    ]


def test_texts_stay_at_home_where_that_is_asked(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "bare.duckdb"
    database.snapshot(bench.store, file, texts=False)
    assert b"harbour" not in file.read_bytes()
    with duckdb.connect(str(file), read_only=True) as connection:
        rows = connection.execute(
            "select count(*), count(text), count(title), sum(n_words) > 6 from documents"
        )
        assert rows.fetchall() == [(6, 0, 0, True)]
        assert connection.execute("select count(text) from queries").fetchall() == [(0,)]


def test_what_is_lost_is_left_out(bench: Bench, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", threads=1)
    store = Store(settings, shipped=tmp_path / "nothing")
    queries = pd.DataFrame({"query_id": ["q1"], "text": ["x"], "n_words": [1]})
    with store.publishing("load") as publication:
        lost = publication.add("queries", queries, dataset="d", fingerprint="q", provenance={})
    lost.path.unlink()
    out = tmp_path / "out"
    out.mkdir()
    database.snapshot(store, out / "all.duckdb")
    assert [file.name for file in out.iterdir()] == ["all.duckdb"]
    with duckdb.connect(str(out / "all.duckdb"), read_only=True) as opened:
        assert opened.execute("select count(*) from queries").fetchone() == (0,)


def test_it_is_written_while_others_read_and_publish(bench: Bench, tmp_path: Path) -> None:
    version = database.open_version(bench.store)
    with ThreadPoolExecutor(3) as pool:
        files = [tmp_path / f"{number}.duckdb" for number in range(2)]
        written = [pool.submit(database.snapshot, bench.store, file) for file in files]
        read = pool.submit(lambda: version.cursor().execute("select count(*) from hits").fetchall())
        assert read.result() == [(3,)]
        assert [one.result() for one in written] == [None, None]
    version.close()


def test_a_fresh_process_opens_it_with_duckdb_alone(snapshot: Path) -> None:
    script = (
        "import duckdb, json, sys; c = duckdb.connect(sys.argv[1], read_only=True);"
        "print(json.dumps([c.execute('select count(*) from hits').fetchall(),"
        " c.execute('describe scores').fetchall()]))"
    )
    words = [sys.executable, "-c", script, str(snapshot)]
    answer = subprocess.run(words, capture_output=True, text=True, check=True, cwd="/")
    counted, described = json.loads(answer.stdout)
    assert counted == [[3]]
    assert [row[0] for row in described] == KINDS["scores"].names


@pytest.mark.skipif(SHELL is None, reason="no duckdb shell here: pip install duckdb-cli")
def test_the_shell_of_duckdb_opens_it(snapshot: Path) -> None:
    assert SHELL
    sql = "select comment from duckdb_columns() where table_name = 'hits' and column_name = 'rank'"
    for command in ("select count(*) as n, '' as comment from hits", sql):
        answer = subprocess.run(
            [SHELL, "-readonly", "-json", str(snapshot), command],
            capture_output=True,
            text=True,
            check=True,
        )
        (row,) = json.loads(answer.stdout)
        assert row["comment"] == TABLES["hits"].columns["rank"] or row["n"] == 3


def test_a_system_named_by_a_folder_bears_another_name_outside(tmp_path: Path) -> None:
    store = open_store(tmp_path / "home")
    for name in ("dense(/srv/ada/one)", "dense(/srv/ada/two)", "bm25"):
        publish_run(store, "tiny", name, hits(("q1", "d1", 1)), scores("nDCG@10", q1=1.0))
    file = tmp_path / "all.duckdb"
    database.snapshot(store, file)
    assert b"/srv/ada" not in file.read_bytes()
    with duckdb.connect(str(file), read_only=True) as connection:
        for table in ("hits", "means", "scores", "parts", "top"):
            rows = connection.execute(f"select distinct system from {table} order by all")
            assert rows.fetchall() == [("bm25",), ("dense(…)",), ("dense(…) 2",)]
