"""Backups: what is kept comes back whole or not at all, in SQLite and in PostgreSQL.

`BEIRSCOPE_KILLS` says how many kills each of backup, restore and move takes (1; `make soak` 30).
"""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sqlalchemy import inspect, select, update

from compute import jobs
from compute.__main__ import main
from compute.base.errors import Conflict
from compute.base.files import digest
from compute.base.locks import sole
from compute.base.settings import PROJECT, Settings
from compute.jobs import backups, records, tables
from compute.reading.database import open_version
from compute.store import integrity, state
from compute.store.migrations import CHAINED
from compute.store.store import Store
from tests.support.filled import withdraw
from tests.support.processes import prepared
from tests.support.processes.jobbing import environment, tiny_home
from tests.support.processes.publisher import PLACES
from tests.support.storage import hits, judgement, publish_run, scores

KILLS = int(os.environ.get("BEIRSCOPE_KILLS", "1"))
RUN = hits(("q1", "d1", 1), ("q2", "d3", 1))
KEY = "sk-not-for-a-backup"


def filled(folder: Path, address: str = "") -> Store:
    """A home with a run, three judgements, one withdrawn, and a job that a worker has in hand."""
    store = tiny_home(folder, address)
    for value in (0.25, 0.5):
        run = scores("nDCG@10", q1=value, q2=1.0)
        publish_run(store, "tiny", "old", RUN, run, f"f{value}")
    for doc_id in ("d1", "d2"):
        store.add_judgements(judgement("q1", doc_id, 1))
    withdraw(store, 1, "page")
    jobs.start(store, "run", ["bm25"], ["tiny"])
    at_work = update(tables.status).values(status="PENDING", executor_id="w", started_at_epoch_ms=5)
    tables.change(store.settings, at_work)
    return store


def opened(home: Path, address: str = "") -> Store:
    settings = Settings(home=home, state=address, threads=1, latency_queries=0)
    return Store(settings, shipped=home.parent / "nothing")


def known(store: Store) -> dict[str, Any]:
    """What a home holds, apart from where it is and which state it has."""
    columns = [column for column in state.parts.c if column.name != "path"]
    live = state.parts.c.retired_version.is_(None)
    with open_version(store).connection as duck:
        means = duck.execute("select * from means order by all").fetchall()
        found = duck.execute("select * from scores order by all").fetchall()
    with state.reading(store.engine) as connection:
        manifest = connection.execute(select(*columns).where(live).order_by(state.parts.c.id)).all()
        rest = [name for name in inspect(connection).get_table_names() if "annotation" in name]
    return {
        "means": means,
        "scores": found,
        "judgements": store.added_judgements().to_csv(),
        "parts": manifest,
        "versions": (store.version(), store.judgement_version()),
        "damage": [part.damage for part in store.parts(picked=None) if part.damage],
        "tables": sorted(rest),
        "jobs": [replace(job, started=None) for job in jobs.listed(store.settings)],
    }


def queued(content: dict[str, Any]) -> dict[str, Any]:
    """The same with its jobs in the queue again."""
    return content | {"jobs": [replace(job, state=records.QUEUED) for job in content["jobs"]]}


@contextmanager
def judging(store: Store) -> Iterator[list[str]]:
    """Somebody judges, and runs are replaced; what was acknowledged by now."""
    saved, end = list[str](), Event()

    def work() -> None:
        while not end.is_set():
            number = len(saved)
            store.add_judgements(judgement("q2", f"x{number}", 1, "eve"))
            saved.append(f"x{number}")
            if number % 5 == 0:
                publish_run(store, "tiny", "new", RUN, scores("nDCG@10", q1=1.0), f"n{number}")

    with ThreadPoolExecutor(1) as pool:
        at_work = pool.submit(work)
        try:
            yield saved
        finally:
            end.set()
        at_work.result()


@pytest.mark.long
def test_a_backup_while_somebody_judges_has_all_that_was_acknowledged(tmp_path: Path) -> None:
    store = filled(tmp_path)
    with judging(store) as saved:
        for _ in range(3):
            before = list(saved)
            backups.back_up(store, tmp_path / "kept")
    backups.restore(Settings(home=tmp_path / "new"), tmp_path / "kept")
    back = opened(tmp_path / "new")
    judged = back.added_judgements()
    assert set(before) <= set(judged["doc_id"])
    assert list(judged["id"]) == list(range(1, back.judgement_version() + 1))
    assert known(back)["damage"] == []
    # Only what the last backup names is kept.
    files = {file.name for file in (tmp_path / "kept").glob("parts/*/*")}
    assert files == {part.path.name for part in back.parts(picked=None)}
    assert len(list((tmp_path / "kept").glob("state-*"))) == 1


@pytest.mark.long
def test_a_home_goes_to_postgresql_and_back(tmp_path: Path, postgres: str) -> None:
    store = filled(tmp_path)
    before = queued(known(store))
    assert before["jobs"]
    assert backups.back_up(store, tmp_path / "one").copied == len(before["parts"])
    backups.restore(Settings(home=tmp_path / "two", state=postgres), tmp_path / "one")
    two = opened(tmp_path / "two", postgres)
    assert known(two) == before
    backups.back_up(two, tmp_path / "three")
    backups.restore(Settings(home=tmp_path / "four"), tmp_path / "three")
    four = opened(tmp_path / "four")
    assert known(four) == before
    # What a restored home adds goes on counting where the backup ended.
    assert four.add_judgements(judgement("q2", "d2", 1)) == before["versions"][1] + 1
    names = {state.identity_of(one.engine) for one in (store, two, four)}
    assert len(names) == 3


@pytest.mark.long
def test_a_second_backup_copies_what_is_new_and_mends_what_is_damaged(tmp_path: Path) -> None:
    store = filled(tmp_path)
    backups.back_up(store, tmp_path / "kept")
    assert backups.back_up(store, tmp_path / "kept").copied == 0
    publish_run(store, "tiny", "new", RUN, scores("nDCG@10", q1=1.0))
    flip(next((tmp_path / "kept" / "parts" / "queries").iterdir()))
    assert backups.back_up(store, tmp_path / "kept").copied == 3 + 1
    backups.restore(Settings(home=tmp_path / "new"), tmp_path / "kept")
    assert known(opened(tmp_path / "new")) == queued(known(store))


@pytest.mark.long
def test_parts_that_are_replaced_and_tidied_away_meanwhile_are_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = filled(tmp_path)
    seen = list[int]()

    def progress(done: int, total: int, unit: str) -> None:
        if not seen:
            old = store.parts("scores", "tiny", "old")[0]
            publish_run(store, "tiny", "old", RUN, scores("nDCG@10", q1=1.0, q2=1.0), "later")
            for kind in ("hits", "top", "scores"):
                for file in (store.home / "parts" / kind).iterdir():
                    if file.stem not in {part.id for part in store.parts(kind)}:
                        file.unlink()
            assert not old.path.exists()
        seen.append(done)

    done = backups.back_up(store, tmp_path / "kept", progress)
    assert (done.left_out, seen.count(1)) == ([], 2)
    backups.restore(Settings(home=tmp_path / "new"), tmp_path / "kept")
    assert known(opened(tmp_path / "new")) == queued(known(store))


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The command line works on `home` there, whose secrets stand in settings and environment."""
    store = filled(tmp_path)
    (store.home / "settings.toml").write_text(f'judge_key = "{KEY}"\n', "utf-8")
    (store.home / "secrets.toml").write_text(f'[auth]\nclient_secret = "{KEY}"\n', "utf-8")
    monkeypatch.setenv("BEIRSCOPE_HOME", str(store.home))
    monkeypatch.setenv("BEIRSCOPE_JUDGE_KEY", KEY)
    return tmp_path


def flip(file: Path) -> None:
    """Change one bit in the middle of a file."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def test_no_secret_is_kept_and_nobody_else_can_read(at: Path) -> None:
    assert main(["admin", "backup", str(at / "kept")]) == 0
    files = [file for file in (at / "kept").rglob("*") if file.is_file()]
    assert not [file for file in files if KEY.encode() in file.read_bytes()]
    assert not [file for file in (at / "kept").rglob("*") if file.stat().st_mode & 0o007]


def test_a_damaged_part_of_the_home_is_left_out_and_named(
    at: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flip(next((at / "home" / "parts" / "hits").iterdir()))
    lost = opened(at / "home").parts("queries")[0]
    lost.path.unlink()
    assert main(["admin", "backup", str(at / "kept")]) == 2
    said = capsys.readouterr().err
    assert "queries of tiny left out (lost)" in said
    assert f"{len(said.splitlines())}" in "12"
    assert backups.restore(Settings(home=at / "new"), at / "kept").left_out == []
    assert opened(at / "new").parts("queries") == []


@pytest.mark.long
def test_a_judgement_that_is_not_what_was_saved_never_takes_the_place_of_a_whole_backup(
    at: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = opened(at / "home")
    given = judgement("q2", "d1", 1).assign(source="person", entry="a")
    store.add_judgements(given)
    assert main(["admin", "backup", str(at / "kept")]) == 0
    before = (at / "kept" / "backup.json").read_bytes()
    with state.writing(store.engine) as connection:
        table = state.added_judgements
        connection.execute(update(table).where(table.c.id == 4).values(doc_id="d9"))
    assert main(["admin", "backup", str(at / "kept")]) == 2
    told = "lost or changed (by id): 4; restore an earlier backup into a new home"
    assert told in capsys.readouterr().err
    assert (at / "kept" / "backup.json").read_bytes() == before
    assert main(["admin", "backup", str(at / "other")]) == 2
    assert told in capsys.readouterr().err
    monkeypatch.setenv("BEIRSCOPE_HOME", str(at / "new"))
    assert main(["admin", "restore", str(at / "other")]) == 2
    assert told in capsys.readouterr().err
    # The way on: a whole backup, then all that was judged since.
    store.add_judgements(given.assign(entry="later", doc_id="d2"))
    monkeypatch.setenv("BEIRSCOPE_HOME", str(at / "home"))
    words = [str(at / "since.csv"), "--dataset", "tiny"]
    assert main(["judgements", "export", *words]) == 0
    monkeypatch.setenv("BEIRSCOPE_HOME", str(at / "whole"))
    assert main(["admin", "restore", str(at / "kept")]) == 0
    assert main(["judgements", "import", *words]) == 0
    found = opened(at / "whole").added_judgements()
    assert found["doc_id"].tolist()[3:] == ["d1", "d2"]
    assert integrity.found(opened(at / "whole").engine) == []


def test_a_backup_of_before_the_chain_is_restored_and_this_is_said(
    at: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["admin", "backup", str(at / "kept")]) == 0
    (file,) = (at / "kept").glob("state-*")
    with sqlite3.connect(file) as connection:
        connection.execute("drop table judgement_chain")
        connection.execute("delete from steps where format >= ?", [CHAINED])
    record = json.loads((at / "kept" / "backup.json").read_text())
    record |= {"sha256": digest(file), "state_format": CHAINED - 1}
    file.rename(file.with_name(f"state-{record['sha256']}.sqlite"))
    (at / "kept" / "backup.json").write_text(json.dumps(record))
    monkeypatch.setenv("BEIRSCOPE_HOME", str(at / "new"))
    capsys.readouterr()
    assert main(["admin", "restore", str(at / "kept")]) == 0
    assert (
        "the judgements have no hash chain yet: they are copied unchecked"
        in capsys.readouterr().err
    )
    new = opened(at / "new")
    assert len(new.added_judgements()) == 3 and integrity.found(new.engine) == []


@pytest.mark.long
@pytest.mark.parametrize("damage", ["flipped", "lost", "state", "cut", "record", "none"])
def test_a_damaged_backup_is_named(
    at: Path, damage: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = at / "kept"
    assert main(["admin", "backup", str(kept)]) == 0
    part, record = next((kept / "parts" / "hits").iterdir()), kept / "backup.json"
    file = next(kept.glob("state-*")) if damage in ("state", "cut") else part
    if damage in ("record", "none"):
        file = record
    if damage in ("flipped", "state"):
        flip(file)
    elif damage in ("lost", "none"):
        file.unlink()
    else:
        os.truncate(file, file.stat().st_size // 2)
    monkeypatch.setenv("BEIRSCOPE_HOME", str(at / "new"))
    capsys.readouterr()
    assert main(["admin", "restore", str(kept)]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert str(kept if damage == "none" else file) in said
    assert "another" in said
    assert not (at / "new" / "state.sqlite").exists()
    if damage in ("flipped", "lost"):
        # Nobody makes a new state there by mistake.
        assert main(["scores"]) == 2
        assert f"`python -m compute admin restore {kept}` has not" in capsys.readouterr().err
        assert main(["admin", "restore", str(kept), "--leave-out-damaged"]) == 2
        assert "hits of old on tiny left out" in capsys.readouterr().err
        assert len(opened(at / "new").added_judgements()) == 3


def test_only_an_empty_home_is_restored_into(
    at: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = str(at / "kept")
    assert main(["admin", "backup", kept]) == 0
    assert main(["admin", "restore", kept]) == 2
    assert "already has a state" in capsys.readouterr().err
    for file in (at / "home").glob("state.sqlite*"):
        file.unlink()
    assert main(["admin", "restore", kept]) == 2
    assert "holds 11 parts already: set BEIRSCOPE_HOME to" in capsys.readouterr().err
    monkeypatch.setenv("BEIRSCOPE_HOME", str(at / "new"))
    assert main(["admin", "restore", kept]) == 0
    assert main(["admin", "backup", kept]) == 2
    assert "a backup of another home" in capsys.readouterr().err
    assert (
        main(["admin", "backup", str(at)]) == main(["admin", "backup", str(at / "new" / "b")]) == 2
    )
    (at / "other").mkdir()
    (at / "other" / "thesis.txt").touch()
    assert main(["admin", "backup", str(at / "other")]) == 2
    assert "contains other files (thesis.txt)" in capsys.readouterr().err


@pytest.mark.long
def test_one_command_moves_a_state_to_postgresql(
    at: Path, postgres: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = queued(known(opened(at / "home")))
    assert main(["admin", "move-state"]) == 2
    monkeypatch.setenv("BEIRSCOPE_STATE", postgres)
    with sole(at / "home" / "serve.lock"):
        assert main(["admin", "move-state"]) == 2
    assert "stop all of them first" in capsys.readouterr().err
    assert main(["admin", "move-state"]) == 0
    assert known(opened(at / "home", postgres)) == before
    assert main(["admin", "move-state"]) == 2
    assert "already has a state" in capsys.readouterr().err
    # The file that it came from is never taken for the state again.
    monkeypatch.setenv("BEIRSCOPE_STATE", "")
    assert main(["scores"]) == 2
    assert "names another state" in capsys.readouterr().err


def killed(settings: Settings, place: str, calls: int, *command: str) -> bool:
    """Run a command that kills itself at a place; whether it came there."""
    words = [sys.executable, "-m", "tests.support.processes.killed_command", place, str(calls)]
    found = prepared.run(
        [*words, *command],
        cwd=PROJECT,
        env=environment(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert found.returncode in (0, -9), found.stderr
    return found.returncode == -9


@pytest.mark.long
@pytest.mark.parametrize("kill", range(KILLS))
def test_a_killed_backup_leaves_the_one_before_and_the_next_goes_on(
    tmp_path: Path, kill: int
) -> None:
    store, kept = filled(tmp_path), tmp_path / "kept"
    first = kill % 4 in (1, 2)
    if first:
        backups.back_up(store, kept)
    before = queued(known(store))
    publish_run(store, "tiny", "new", RUN, scores("nDCG@10", q1=1.0))
    after = queued(known(store))
    chance = random.Random(kill)
    # The marks of the scratch home, the parts, the state, `backup.json`.
    place, calls = PLACES[kill % 2], chance.randint(1, 2 + (3 if first else 11) + 2)
    if killed(store.settings, place, calls, "backup", str(kept)):
        shutil.copytree(kept, tmp_path / "copy", dirs_exist_ok=True)
        if (kept / "backup.json").exists():
            backups.restore(Settings(home=tmp_path / "new"), kept)
            assert known(opened(tmp_path / "new")) in ([before, after] if first else [after])
    backups.back_up(store, kept)
    backups.restore(Settings(home=tmp_path / "last"), kept)
    assert known(opened(tmp_path / "last")) == after
    assert not list(kept.rglob("*.tmp"))


@pytest.mark.long
@pytest.mark.parametrize("kill", range(KILLS))
def test_a_killed_restore_is_nothing_or_all_and_a_second_one_works(
    tmp_path: Path, kill: int, request: pytest.FixtureRequest
) -> None:
    address = request.getfixturevalue("postgres") if kill % 2 else ""
    store = filled(tmp_path)
    backups.back_up(store, tmp_path / "kept")
    settings = Settings(home=tmp_path / "new", state=address)
    chance = random.Random(kill)
    place, command = PLACES[(kill + 2) % 4], ("restore", str(tmp_path / "kept"))
    calls = chance.randint(1, 14 if place.endswith(("file", "rename")) else 6)
    if killed(settings, place, calls, *command):
        engine = state.engine_of(settings)
        listed = state.listed(engine)
        engine.dispose()
        assert listed in (set(), {part.id for part in store.parts(picked=None)})
        # One that was killed at its very end has nothing left to do.
        with suppress(Conflict):
            backups.restore(settings, tmp_path / "kept")
    assert known(opened(settings.home, address)) == queued(known(store))


def test_a_restore_that_is_killed_early_keeps_the_home_for_itself(
    at: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = str(at / "kept")
    assert main(["admin", "backup", kept]) == 0
    assert killed(Settings(home=at / "new"), "after the rename", 1, "restore", kept)
    monkeypatch.setenv("BEIRSCOPE_HOME", str(at / "new"))
    capsys.readouterr()
    assert main(["scores"]) == 2
    way_on = "wait for it or run it again, or set BEIRSCOPE_HOME to another folder"
    assert f"restore {kept}` has not finished: {way_on}" in capsys.readouterr().err
    assert main(["admin", "restore", kept]) == 0


@pytest.mark.long
@pytest.mark.parametrize("kill", range(KILLS))
def test_a_killed_move_can_be_done_again(tmp_path: Path, kill: int, postgres: str) -> None:
    store = filled(tmp_path)
    before, settings = queued(known(store)), replace(store.settings, state=postgres)
    store.close()
    place, calls = PLACES[(kill + 3) % 4], random.Random(kill).randint(1, 6)
    if killed(settings, place, calls, "move-state"):
        with suppress(Conflict):
            backups.move(settings)
    assert known(opened(store.home, postgres)) == before
