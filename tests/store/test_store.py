"""Parts become visible together, stay as they are, and go when nobody reads them."""

import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compute.base.errors import Conflict, Missing, WrongInput
from compute.base.settings import PROJECT
from compute.reading.database import open_version
from compute.store import state
from compute.store.parts import KINDS
from compute.store.store import Store, top
from tests.support.filled import withdraw
from tests.support.processes import prepared
from tests.support.storage import hits, judgement, open_store, publish_run, scores

RUN = hits(("q1", "d1", 1), ("q1", "d2", 2), ("q2", "d1", 1))
SCORES = scores("nDCG@10", q1=1.0, q2=0.5)


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """A store in each kind of state."""
    address = request.getfixturevalue("postgres") if request.param == "postgresql" else ""
    return open_store(tmp_path / "home", address)


@pytest.fixture
def local(tmp_path: Path) -> Store:
    """A store in SQLite."""
    return open_store(tmp_path / "home")


def files(store: Store) -> set[Path]:
    return {path for path in store.home.glob("parts/*/*") if path.is_file()}


def shift(path: Path, **ago: float) -> None:
    then = (datetime.now(UTC) - timedelta(**ago)).timestamp()
    os.utime(path, (then, then))


def test_parts_of_a_job_become_visible_together(store: Store) -> None:
    with store.publishing("job") as publication:
        publication.add("hits", RUN, dataset="d", system="s", fingerprint="f", provenance={"k": 1})
        assert (store.version(), store.parts()) == (0, [])
        publication.add(
            "scores", SCORES, dataset="d", system="s", fingerprint="g", provenance={"k": 2}
        )
        assert (store.version(), store.parts()) == (0, [])
    assert store.version() == 1
    found = [(part.kind, part.rows, part.provenance, part.job) for part in store.parts()]
    assert found == [("hits", 3, {"k": 1}, "job"), ("scores", 2, {"k": 2}, "job")]
    part = store.part("hits", "d", "s")
    assert part and part.bytes == part.path.stat().st_size
    assert files(store) == {part.path for part in store.parts()}


def test_a_job_that_fails_leaves_nothing(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.publishing("job") as publication:
        publication.add("hits", RUN, dataset="d", system="s", fingerprint="f", provenance={})
        raise ZeroDivisionError
    assert (store.version(), store.parts(), files(store)) == (0, [], set())


def test_a_job_without_parts_makes_no_version(local: Store) -> None:
    with local.publishing("nothing to do"):
        pass
    assert local.version() == 0


def test_a_newer_part_takes_the_place_of_its_identity_alone(store: Store) -> None:
    publish_run(store, "d", "s", RUN, SCORES, "old")
    publish_run(store, "d", "t", RUN, SCORES, "other")
    publish_run(store, "d", "s", RUN, SCORES, "new")
    assert {(part.system, part.fingerprint) for part in store.parts()} == {
        ("s", "new"),
        ("t", "other"),
    }


def test_a_reader_at_a_version_reads_that_version_throughout(store: Store) -> None:
    publish_run(store, "d", "s", RUN, SCORES, "old")
    before = store.parts(version=1)
    publish_run(store, "d", "s", RUN, SCORES, "new")
    with store.publishing("remove") as publication:
        publication.remove("hits", "d", "s")
    assert store.parts(version=1) == before
    assert [part.fingerprint for part in store.parts("hits", version=2)] == ["new"]
    assert store.parts("hits", version=3) == []
    assert store.parts(version=0) == []


def test_names_from_outside_are_columns_and_never_paths(store: Store) -> None:
    dataset, system = "../../etc/d'); drop table parts;--", "a/b\\c ü\n*?"
    publish_run(store, dataset, system, RUN, SCORES)
    part = store.part("hits", dataset, system)
    assert part is not None
    relative = part.path.relative_to(store.home).as_posix()
    assert re.fullmatch(r"parts/hits/[0-9a-f]{32}\.parquet", relative)
    table = pq.read_table(part.path)
    assert table.column_names == KINDS["hits"].names
    assert set(table["dataset"].to_pylist()) == {dataset}
    assert set(table["system"].to_pylist()) == {system}


def test_a_stream_of_batches_becomes_one_part_in_its_order(local: Store) -> None:
    schema = pa.schema([field for field in KINDS["documents"] if field.name != "dataset"])
    batches = [
        pa.RecordBatch.from_pylist(
            [{"doc_id": f"{n}{i}", "title": "", "text": "x", "n_words": 1} for i in range(3)],
            schema,
        )
        for n in "ba"
    ]
    with local.publishing("load") as publication:
        part = publication.add(
            "documents", iter(batches), dataset="d", fingerprint="f", provenance={}
        )
        empty = publication.add("lengths", iter([]), dataset="d", fingerprint="f", provenance={})
    assert pq.read_table(part.path)["doc_id"].to_pylist() == ["b0", "b1", "b2", "a0", "a1", "a2"]
    assert (part.rows, empty.rows, part.system) == (6, 0, "")


def test_a_missing_column_or_value_is_refused(local: Store) -> None:
    holes = SCORES.assign(value=pd.Series([1.0, float("nan")]))
    numbers = RUN.assign(query_id=[1, 2, 3])
    for kind, content, error in (
        ("hits", RUN.drop(columns="rank"), "no column rank"),
        ("scores", holes, "value"),
        ("hits", numbers, "query_id"),
    ):
        with (
            pytest.raises((ValueError, TypeError), match=error),
            local.publishing("j") as publication,
        ):
            publication.add(kind, content, dataset="d", system="s", fingerprint="f", provenance={})
    assert (local.parts(), files(local)) == ([], set())


def test_queries_may_lack_texts(local: Store) -> None:
    queries = pd.DataFrame({"query_id": ["q1"], "text": pd.array([None], "str"), "n_words": [2]})
    with local.publishing("load") as publication:
        part = publication.add("queries", queries, dataset="d", fingerprint="f", provenance={})
    assert pq.read_table(part.path)["text"].to_pylist() == [None]


def test_one_job_writes_an_identity_once(local: Store) -> None:
    with pytest.raises(Conflict, match="twice"), local.publishing("job") as publication:
        for _ in range(2):
            publication.add("hits", RUN, dataset="d", system="s", fingerprint="f", provenance={})
    assert files(local) == set()


def test_an_unknown_kind_is_answered_with_the_known_ones(local: Store) -> None:
    with pytest.raises(KeyError, match="known: hits, top"), local.publishing("j") as publication:
        publication.add("runs", RUN, dataset="d", fingerprint="f", provenance={})


def test_top_holds_rank_10_and_above_by_query() -> None:
    run = hits(*((query, f"d{rank}", rank) for query in ("b", "a") for rank in range(12, 0, -1)))
    kept = top(run)
    assert list(zip(kept["query_id"], kept["rank"], strict=True)) == [
        (query, rank) for query in ("a", "b") for rank in range(1, 11)
    ]


def test_a_step_is_done_only_by_a_whole_local_part_of_its_fingerprint(local: Store) -> None:
    publish_run(local, "d", "s", RUN, SCORES, "f")
    part = local.done("hits", "d", "s", "f")
    assert part is not None
    assert local.done("hits", "d", "s", "g") is None
    assert local.done("hits", "d", "t", "f") is None
    part.path.unlink()
    assert local.done("hits", "d", "s", "f") is None
    assert local.part("hits", "d", "s") is None


def test_superseded_parts_go_an_hour_later_and_their_version_with_them(store: Store) -> None:
    publish_run(store, "d", "s", RUN, SCORES, "old")
    old = {part.path for part in store.parts()}
    publish_run(store, "d", "s", RUN, SCORES, "new")
    now = datetime.now(UTC)
    assert store.tidy(now + timedelta(minutes=59)) == []
    assert len(store.parts(version=1)) == 3
    assert set(store.tidy(now + timedelta(minutes=61))) == old
    assert files(store) == {part.path for part in store.parts()}
    with pytest.raises(Missing, match="version 1 of the results is gone"):
        store.parts(version=1)
    assert len(store.parts(version=2)) == 3


def test_files_outside_the_manifest_go_after_a_day(local: Store) -> None:
    publish_run(local, "d", "s", RUN, SCORES)
    listed = files(local)
    names = (f".{'a' * 32}.tmp", f"{'b' * 32}.parquet")
    left = [local.home / "parts/hits" / name for name in names]
    fresh = local.home / "parts/hits" / f"{'c' * 32}.parquet"
    for path in (*left, fresh):
        path.write_bytes(b"half")
    for path in (*left, *listed):
        shift(path, hours=25)
    shift(fresh, hours=23)
    assert set(local.tidy()) == set(left)
    assert files(local) == listed | {fresh}


def test_a_job_of_days_keeps_its_first_parts(local: Store) -> None:
    with local.publishing("long") as publication:
        part = publication.add("hits", RUN, dataset="d", system="s", fingerprint="f", provenance={})
        shift(part.path, hours=23.9)
    assert local.tidy(datetime.now(UTC) + timedelta(hours=1)) == []
    assert part.path.exists()


def test_a_job_whose_file_was_lost_publishes_nothing(local: Store) -> None:
    with pytest.raises(FileNotFoundError), local.publishing("job") as publication:
        part = publication.add("hits", RUN, dataset="d", system="s", fingerprint="f", provenance={})
        publication.add("top", RUN, dataset="d", system="s", fingerprint="f", provenance={})
        part.path.unlink()
    assert (local.version(), local.parts()) == (0, [])


PUBLISHER = """
import sys
from pathlib import Path
from tests.support.storage import hits, open_store, publish_run, scores
home, state, name = sys.argv[1:]
store = open_store(Path(home), state)
for number in range(5):
    publish_run(store, f"d{number}", name, hits(("q1", "d1", 1)), scores("nDCG@10", q1=1.0), name)
    publish_run(store, "shared", "s", hits(("q1", "d1", 1)), scores("nDCG@10", q1=1.0), name)
"""


@pytest.mark.long
def test_processes_publish_at_the_same_time(store: Store) -> None:
    """Three processes, ten publications each: every one counts, one part of an identity lives."""
    words = [sys.executable, "-c", PUBLISHER, str(store.home), store.settings.state]
    running = [prepared.Popen([*words, f"p{number}"], cwd=PROJECT) for number in range(3)]
    seen = 0
    while any(process.poll() is None for process in running):
        version = store.version()
        assert version >= seen
        kinds = [part.kind for part in store.parts(version=version)]
        assert kinds.count("hits") == kinds.count("top") == kinds.count("scores")
        seen = version
    assert [process.returncode for process in running] == [0, 0, 0]
    assert store.version() == 30
    assert len(store.parts("hits")) == 3 * 5 + 1
    assert len({part.fingerprint for part in store.parts(dataset="shared")}) == 1


def test_first_openers_of_a_home_do_not_hinder_each_other(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(lambda _: open_store(tmp_path / "home").version(), range(8)))
    assert opened == [0] * 8


def test_a_home_that_duckdb_would_read_as_a_pattern_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongInput, match="choose a home folder"):
        open_store(tmp_path / "a,b")


def test_a_broken_shipped_manifest_is_named(tmp_path: Path) -> None:
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    part = {"path": "../../etc/passwd", "dataset": "d", "system": ""}
    for text in ("{", '{"format": 1}', json.dumps({"format": 1, "parts": [part]})):
        (shipped / "manifest.json").write_text(text, "utf-8")
        with pytest.raises(WrongInput, match=r"manifest\.json"):
            open_store(tmp_path / "home", shipped=shipped)


def test_what_ships_is_left_out_where_the_settings_say_so(tmp_path: Path) -> None:
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    part = {
        **{"path": f"parts/hits/{'a' * 32}.parquet", "dataset": "d", "system": "s"},
        **{"fingerprint": "f", "rows": 1, "bytes": 1, "created": "", "job": "", "provenance": {}},
    }
    (shipped / "manifest.json").write_text(json.dumps({"format": 1, "parts": [part]}), "utf-8")
    now = open_store(tmp_path / "home").settings
    assert len(Store(now, shipped).parts()) == 1
    assert Store(replace(now, shipped_results=False), shipped).parts() == []


def test_added_judgements_are_appended_and_a_withdrawal_is_a_row(store: Store) -> None:
    assert (store.judgement_version(), len(store.added_judgements())) == (0, 0)
    both = pd.concat([judgement("q1", "d1", 2), judgement("q1", "d2", 0)], ignore_index=True)
    assert store.add_judgements(both) == 2
    assert withdraw(store, 1, "mistake") == 3
    found = store.added_judgements()
    assert list(found["id"]) == [1, 2, 3]
    assert found["relevance"].astype(object).where(found["relevance"].notna(), None).tolist() == [
        2,
        0,
        None,
    ]
    assert list(found["doc_id"]) == ["d1", "d2", "d1"]
    assert list(found["source"]) == ["page", "page", "mistake"]
    assert list(store.added_judgements(since=2)["id"]) == [3]
    assert (store.judgement_version(), store.version()) == (3, 0)


def test_a_judgement_sent_twice_is_saved_once(store: Store) -> None:
    sent = judgement("q1", "d1", 2).assign(entry="ada-1", note="sure of it", unsure=1)
    assert (store.add_judgements(sent), store.add_judgements(sent)) == (1, 1)
    again = pd.concat(
        [sent, sent.assign(doc_id="d2", entry="ada-2", note="", unsure=0)], ignore_index=True
    )
    assert store.add_judgements(again) == 2
    assert store.add_judgements(judgement("q1", "d1", 2)) == 3
    found = store.added_judgements()
    assert found["entry"].fillna("").tolist() == ["ada-1", "ada-2", ""]
    assert found["note"].tolist() == ["sure of it", "", ""]
    assert found["unsure"].tolist() == [1, 0, 0]


def test_judgements_are_added_all_or_none(store: Store) -> None:
    rows = pd.concat([judgement("q1", "d1", 2), judgement("q1", "d2", 0)], ignore_index=True)
    for broken in (
        rows.assign(person=pd.Series(["ada", None])),
        rows.assign(relevance=pd.Series([1, 2.5])),
    ):
        with pytest.raises((ValueError, TypeError)):
            store.add_judgements(broken)
    assert (store.judgement_version(), len(store.added_judgements())) == (0, 0)
    assert store.add_judgements(rows.head(0)) == 0


def test_people_judging_at_once_get_numbers_in_the_order_they_become_visible(local: Store) -> None:
    def judge(person: str) -> list[int]:
        return [local.add_judgements(judgement("q", "d", n, person)) for n in range(10)]

    with ThreadPoolExecutor(4) as pool:
        given = list(pool.map(judge, ["ada", "bo", "cy", "di"]))
    assert sorted(number for numbers in given for number in numbers) == list(range(1, 41))
    assert all(numbers == sorted(numbers) for numbers in given)


@pytest.mark.parametrize("name", ["a b", "ü%20#'\"", "x=1"])
def test_a_home_may_have_nearly_any_name(tmp_path: Path, name: str) -> None:
    store = open_store(tmp_path / name)
    publish_run(store, "d", "s", RUN, SCORES)
    assert open_version(store).cursor().execute("select count(*) from hits").fetchone() == (3,)


def test_one_machine_at_a_time_is_where_a_name_is_taken(store: Store, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "parts").symlink_to(store.home / "parts")
    address = store.settings.state
    # SQLite's state lies in the home, which is then the same.
    beside = open_store(other if address else store.home, address)
    with ThreadPoolExecutor(1) as thread:
        with store.alone("import"), beside.alone("texts"):
            waits = thread.submit(_in_and_out, beside)
            with state.alone(beside.engine, "import", 0) as had:
                assert had == (not address)
            assert not waits.done()
        waits.result(60)


def _in_and_out(store: Store) -> None:
    with store.alone("import"):
        pass
