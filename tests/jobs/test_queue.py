"""Jobs as a person asks for them; a real worker does them."""

import json
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from dbos import DBOS, _migration
from sqlalchemy import create_engine, func, inspect, select

from compute import jobs
from compute.base.errors import Conflict, Missing, Unavailable, WrongInput
from compute.base.settings import PROJECT, Settings
from compute.intake import imports
from compute.jobs import logs, records, tables
from compute.jobs.kinds import KINDS, kinds
from compute.jobs.matrix import known_datasets
from compute.recompute import pairs, run
from compute.store.loading import Bench
from compute.store.store import Store
from compute.systems import system
from tests.support.processes.jobbing import ended, log_lines, tiny_home, until, worker
from tests.support.tiny import DOCUMENTS, write_tiny


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return tiny_home(tmp_path)


def state(store: Store, name: str, dataset: str) -> str:
    cells = jobs.matrix(store).set_index(["system", "dataset"])["state"]
    return cells[name, dataset]


def test_who_asks_for_what_is_queued_joins_it(store: Store) -> None:
    both = jobs.start(store, "run", ["bm25", "bm25(k1=0.9,b=0.9)"], ["tiny"])
    assert (both.joined, both.up_to_date) == (False, ())
    assert both.targets == (("bm25", "tiny"), ("bm25(b=0.9)", "tiny"))
    assert jobs.start(store, "run", ["bm25(b=0.9)", "bm25"], ["tiny"]).job == both.job
    one = jobs.start(store, "run", ["bm25"], ["tiny"])
    assert (one.job, one.joined) == (both.job, True)
    assert "already running as" in one.sentence
    # It does something else: what is up to date too.
    assert not jobs.start(store, "run", ["bm25"], ["tiny"], again=True).joined
    (other, first) = jobs.listed(store.settings)
    assert (first.id, first.state, first.summary) == (both.job, "queued", "0 of 2 done")
    assert (other.title, other.kind) == ("bm25 on tiny", "run")


def test_a_lost_queue_is_told_once_where_jobs_had_been_asked_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(home=tmp_path / "home")
    assert tables.lost(settings) == ""
    logs.write(settings, f"run-{'a' * 12}", "queued: run bm25 on tiny")
    assert "jobs.sqlite is lost, and with it the queued and running jobs" in tables.lost(settings)
    tables.engine(settings)
    assert "start them again" in caplog.text
    assert tables.lost(settings) == ""


def test_a_job_is_asked_for_while_a_worker_makes_the_tables(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL's are made one by one: the table that was looked for is not the last."""
    store, all_of_them = tiny_home(tmp_path, state=postgres), _migration.get_dbos_migrations
    with monkeypatch.context() as patch:
        patch.setattr(_migration, "get_dbos_migrations", lambda *given: all_of_them(*given)[:110])
        DBOS.migrate(postgres)
    assert tables.exist(store.settings)
    asked = jobs.start(store, "run", ["bm25"], ["tiny"])
    assert [job.id for job in jobs.listed(store.settings)] == [asked.job]


def test_a_title_names_few_systems_and_datasets_and_counts_many(tmp_path: Path) -> None:
    names = ("one", "two", "three", "four")
    store = tiny_home(tmp_path, names=names)
    jobs.start(store, "run", ["bm25", "bm25-rm3"], names)
    jobs.start(store, "overlap", (), ["one", "two"])
    words, runs = jobs.listed(store.settings)
    assert runs.title == "bm25, bm25-rm3 on 4 datasets"
    assert words.title == "word counts of one, two"


def test_some_pairs_of_systems_and_datasets_can_be_chosen(tmp_path: Path) -> None:
    store = tiny_home(tmp_path, names=("one", "two"))
    chosen = [("bm25", "one"), ("bm25-rm3", "two")]
    asked = jobs.start(store, "run", ["bm25", "bm25-rm3"], ["one", "two"], only=chosen)
    assert list(asked.targets) == chosen
    with pytest.raises(WrongInput, match="nothing is chosen"):
        jobs.start(store, "run", ["bm25"], ["one"], only=[])


@pytest.mark.long
def test_a_job_is_done_and_found_up_to_date_afterwards(store: Store) -> None:
    assert state(store, "bm25", "tiny") == "missing"
    asked = jobs.start(store, "run", ["bm25", "bm25(b=0.9)"], ["tiny"])
    assert state(store, "bm25", "tiny") in ("missing", "queued")
    with worker(store.settings):
        until(lambda: jobs.workers_alive(store.settings), "a worker")
        done = ended(store.settings, asked.job)
        assert (done.state, done.summary) == ("done", "2 of 2 done")
        nothing = jobs.start(store, "run", ["bm25"], ["tiny"])
        assert (nothing.job, nothing.up_to_date) == ("", (("bm25", "tiny"),))
        assert "recompute anyway" in nothing.sentence
        first = store.part("hits", "tiny", "bm25")
        again = jobs.start(store, "run", ["bm25"], ["tiny"], again=True)
        assert ended(store.settings, again.job).state == "done"
        score = jobs.start(store, "score", datasets=["tiny"])
        assert ended(store.settings, score.job).summary == "2 of 2 done"
    assert jobs.workers_alive(store.settings) == []
    assert state(store, "bm25", "tiny") == "up to date"
    second = store.part("hits", "tiny", "bm25")
    assert first is not None and second is not None
    assert (second.id != first.id, second.job) == (True, f"{again.job}.0000")
    assert run.read(first).equals(run.read(second))
    assert (store.home / "beirscope.duckdb").exists()
    lines = log_lines(store.settings)
    assert sum(line.startswith("index: done") for line in lines) == 1
    assert not any(document["text"] in line for line in lines for document in DOCUMENTS)
    assert "search: done" in jobs.log_tail(store.settings, f"{asked.job}.0000")
    time = jobs.estimate(store, [("bm25", "tiny"), ("bm25(b=0.1)", "tiny"), ("minilm", "tiny")])
    assert time.seconds > 0
    assert time.unknown == 1
    _nothing_is_pickled(store.settings)


def _nothing_is_pickled(settings: Settings) -> None:
    with tables.engine(settings).connect() as connection:
        found = inspect(connection)
        formats = {
            row[0]
            for table in found.get_table_names()
            for column in found.get_columns(table)
            if column["name"] == "serialization"
            for row in connection.exec_driver_sql(f"select serialization from {table}")
        }
        inputs = connection.exec_driver_sql("select inputs from workflow_input").scalars().all()
        answers = connection.execute(select(tables.outputs.c.output)).scalars().all()
    assert formats == {"portable_json", None}
    assert inputs
    for text in (*inputs, *answers):
        json.loads(text or "null")


@pytest.mark.long
def test_what_failed_is_told_in_a_sentence_and_alone_tried_again(tmp_path: Path) -> None:
    store = tiny_home(tmp_path)
    settings = replace(store.settings, datasets=tmp_path / "datasets")
    store = Store(settings, shipped=tmp_path / "nothing")
    (tmp_path / "datasets").mkdir()
    archive = tmp_path / "datasets" / "scifact.zip"
    archive.write_bytes(b"PK\x03\x04 this is no archive")
    asked = jobs.start(store, "run", ["bm25"], ["scifact", "tiny"])
    with worker(settings):
        failed = ended(settings, asked.job)
        assert (failed.state, failed.summary) == ("failed", "1 of 2 done, 1 failed")
        assert "scifact.zip" in failed.error
        assert "Traceback" not in failed.error
        archive.unlink()
        shutil.copytree(write_tiny(tmp_path / "good"), tmp_path / "datasets" / "scifact")
        assert state(store, "bm25", "scifact") == "failed"
        retried = jobs.retry(store, asked.job)
        assert retried.targets == (("bm25", "scifact"),)
        assert ended(settings, retried.job).state == "done"
    assert state(store, "bm25", "scifact") == "up to date"
    with pytest.raises(Conflict, match="nothing failed in"):
        jobs.retry(store, retried.job)


@pytest.mark.soak
def test_a_full_disk_ends_in_a_sentence_and_the_job_can_be_retried(store: Store) -> None:
    settings = store.settings
    tiny = known_datasets(store.parts())["tiny"]
    pair = pairs.pair(Bench(store, settings), system("bm25"), tiny)
    full = settings.home / "caches" / f"{pair.names.index}.aside" / "built.json"
    full.parent.mkdir(parents=True)
    full.symlink_to("/dev/full")
    asked = jobs.start(store, "run", ["bm25"], ["tiny"])
    with worker(settings):
        failed = ended(settings, asked.job)
        assert "no space is left" in failed.error
        # There is room again, and what was built by then is built upon.
        full.unlink()
        retried = jobs.retry(store, asked.job)
        assert ended(settings, retried.job).state == "done"
    # It failed once and was built once.
    assert sum(line.startswith("index: done") for line in log_lines(settings)) == 1


@pytest.mark.long
def test_a_queued_job_is_cancelled_and_does_not_run(store: Store) -> None:
    asked = jobs.start(store, "run", ["bm25"], ["tiny"])
    jobs.cancel(store.settings, asked.job)
    assert ended(store.settings, asked.job).state == "cancelled"
    with pytest.raises(Conflict, match="already ended"):
        jobs.cancel(store.settings, asked.job)
    other = jobs.start(store, "run", ["bm25(b=0.9)"], ["tiny"])
    with worker(store.settings):
        assert ended(store.settings, other.job).state == "done"
    assert store.part("hits", "tiny", "bm25") is None
    assert jobs.retry(store, asked.job).targets == (("bm25", "tiny"),)


def test_a_cell_says_why_a_pair_cannot_run(store: Store) -> None:
    cells = jobs.matrix(store).set_index(["system", "dataset"])
    assert set(cells["state"]) <= {"missing", "cannot run here"}
    assert cells.loc[("bm25", "scifact"), "state"] == "cannot run here"
    assert "put the archive scifact.zip" in str(cells.loc[("bm25", "scifact"), "remark"])
    assert cells.loc[("minilm", "pydocs-numpy"), "state"] == "missing"


def test_a_fusion_cannot_run_where_what_it_is_made_from_cannot(
    store: Store, tmp_path: Path
) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 d1 1\n", encoding="utf-8")
    imports.import_dataset(Bench(store, store.settings), "judged", qrels=qrels)
    fused = "rrf(bm25,bm25(b=0.9))"
    name = system(f"rrf({fused},bm25-rm3)").name
    cells = jobs.matrix(store, [name]).set_index(["system", "dataset"])
    assert cells.loc[(name, "tiny"), "state"] == "missing"
    assert cells.loc[(name, "judged"), "state"] == "cannot run here"
    assert cells.loc[(name, "judged"), "remark"] == (
        f"it is made from {system(fused).name}: it is made from bm25:"
        " judged has only judgements, no documents to search"
    )


def test_wrong_names_are_refused_before_anything_is_queued(store: Store) -> None:
    with pytest.raises(WrongInput, match="no kind of job"):
        jobs.start(store, "dance")
    with pytest.raises(WrongInput, match="no system"):
        jobs.start(store, "run", ["bm52"], ["tiny"])
    with pytest.raises(Unavailable, match="published figures only"):
        jobs.start(store, "run", ["seal"], ["tiny"])
    with pytest.raises(Missing, match="no dataset"):
        jobs.start(store, "run", ["bm25"], ["tinny"])
    with pytest.raises(Missing, match="no job"):
        jobs.cancel(store.settings, "../../etc/passwd")
    with pytest.raises(Missing, match="no job"):
        jobs.retry(store, "run-0123456789ab")
    assert jobs.listed(store.settings) == []
    with pytest.raises(Conflict, match="two kinds"):
        kinds(KINDS["run"], KINDS["run"])


def test_dbos_gets_milliseconds_from_an_older_sqlite_too(store: Store) -> None:
    # As DBOS opens the database, and what it asks on Python 3.12 or newer.
    with create_engine(tables.address(store.settings)).connect() as connection:
        told = connection.execute(select(func.unixepoch("subsec") * 1000)).scalar_one()
    assert told / 1000 == pytest.approx(time.time(), abs=5)


def test_who_come_to_a_new_home_in_the_same_moment_all_get_its_tables(tmp_path: Path) -> None:
    """The dashboard and its worker do; SQLite would refuse whoever is second."""
    together = threading.Barrier(4)

    def come(home: Path) -> None:
        together.wait(60)
        tables.engine.__wrapped__(Settings(home=home)).dispose()

    with ThreadPoolExecutor(4) as pool:
        for number in range(20):
            list(pool.map(come, [tmp_path / str(number)] * 4))


def test_a_dead_database_is_one_sentence(store: Store) -> None:
    dead = Settings(home=store.home, state="postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(Unavailable, match="cannot be used"):
        records.jobs(dead, 1)


@pytest.mark.long
def test_watching_jobs_loads_neither_dbos_nor_what_computes(store: Store) -> None:
    jobs.start(store, "run", ["bm25"], ["tiny"])
    script = """
import sys
from dataclasses import replace
from pathlib import Path
from compute import jobs
from compute.base.settings import Settings
now = Settings(home=Path(sys.argv[1]))
assert jobs.listed(now)[0].state == "queued"
assert jobs.workers_alive(now) == []
assert not {"dbos", "torch", "faiss", "transformers", "scipy.stats"} & set(sys.modules)
"""
    words = [sys.executable, "-c", script, str(store.home)]
    assert subprocess.run(words, cwd=PROJECT, check=False).returncode == 0
