"""A home and its parts belong to one state: another, a new or a lost one harms nothing."""

import json
import os
import shutil
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compute.__main__ import main
from compute.base.errors import Conflict, Unavailable
from compute.base.settings import PROJECT, Settings
from compute.store import state
from compute.store.migrations import STEPS
from compute.store.parts import KINDS
from compute.store.store import Store
from tests.support.processes import prepared
from tests.support.storage import hits, judgement, open_store, publish_run, scores

RUN = hits(("q1", "d1", 1), ("q2", "d1", 1))
SCORES = scores("nDCG@10", q1=1.0)
LAST_WITHOUT = 3
"""The last format in which a state had no identity."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of the command line."""
    monkeypatch.setenv("BEIRSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def files(home: Path) -> set[Path]:
    return {file for kind in KINDS for file in (home / "parts" / kind).glob("*")}


def age(home: Path) -> None:
    then = (datetime.now(UTC) - timedelta(hours=30)).timestamp()
    for file in files(home):
        os.utime(file, (then, then))


def everything(home: Path) -> dict[str, bytes]:
    """Every file of a home but its locks, with what is in it."""
    found = (file for file in home.rglob("*") if file.is_file() and file.suffix != ".lock")
    return {str(file.relative_to(home)): file.read_bytes() for file in found}


def import_tiny(folder: Path, name: str) -> int:
    qrels = folder / "q"
    qrels.write_text("q1 0 d1 1\nq2 0 d2 1\n", encoding="utf-8")
    return main(["import-dataset", "--qrels", str(qrels), "--name", name])


def named(home: Path) -> tuple[str, str]:
    """What home.json and the file beside the parts say."""
    texts = [(home / name).read_text("utf-8") for name in ("home.json", "parts/identity.json")]
    one, two = (json.loads(text)["state"] for text in texts)
    return one, two


@pytest.mark.long
def test_the_parts_of_a_postgresql_state_outlive_an_import_without_it(
    home: Path,
    tmp_path: Path,
    postgres: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("BEIRSCOPE_STATE", postgres)
    for name in ("one", "two", "three", "four"):
        assert import_tiny(tmp_path, name) == 0
    before = files(home)
    age(home)
    monkeypatch.delenv("BEIRSCOPE_STATE")
    capsys.readouterr()
    assert import_tiny(tmp_path, "other") == 2
    said = capsys.readouterr().err
    assert "BEIRSCOPE_STATE" in said
    assert len(said.splitlines()) == 1
    assert (files(home), (home / "state.sqlite").exists()) == (before, False)
    monkeypatch.setenv("BEIRSCOPE_STATE", postgres)
    assert import_tiny(tmp_path, "other") == 0
    listed = {part.path for part in Store(Settings(home=home, state=postgres)).parts()}
    assert before <= files(home)
    assert before <= listed


@pytest.mark.long
def test_the_parts_outlive_an_import_while_the_state_is_away(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert import_tiny(tmp_path, "mine") == 0
    age(home)
    away = tmp_path / "away"
    away.mkdir()
    for file in home.glob("state.sqlite*"):
        file.rename(away / file.name)
    before = everything(home)
    capsys.readouterr()
    for _ in range(2):
        assert import_tiny(tmp_path, "other") == 2
        assert "put state.sqlite back" in capsys.readouterr().err
        assert everything(home) == before
    for file in away.iterdir():
        file.rename(home / file.name)
    assert import_tiny(tmp_path, "other") == 0
    assert {part.dataset for part in Store(Settings(home=home)).parts()} >= {"mine", "other"}


def test_a_home_and_its_parts_name_their_state(tmp_path: Path) -> None:
    one, two = open_store(tmp_path / "one"), open_store(tmp_path / "two")
    identities = [state.identity_of(store.engine) for store in (one, two)]
    assert [named(store.home) for store in (one, two)] == [(i, i) for i in identities]
    assert len(set(identities)) == 2
    assert named(open_store(tmp_path / "one").home) == (identities[0], identities[0])


def filled(home: Path, address: str = "") -> Store:
    """A home with one run and one judgement."""
    store = open_store(home, address)
    publish_run(store, "d", "s", RUN, SCORES)
    store.add_judgements(judgement("q1", "d1", 1))
    return store


@pytest.mark.parametrize("marked", ["home.json", "parts/identity.json"])
def test_another_state_is_refused_by_either_mark(tmp_path: Path, marked: str) -> None:
    filled(tmp_path / "one").close()
    filled(tmp_path / "other").close()
    other = "parts/identity.json" if marked == "home.json" else "home.json"
    (tmp_path / "one" / other).unlink()
    for file in (tmp_path / "other").glob("state.sqlite*"):
        shutil.copy(file, tmp_path / "one")
    before = everything(tmp_path / "one")
    with pytest.raises(
        Conflict, match=rf"{marked} names another state than .*python -m compute ad"
    ):
        open_store(tmp_path / "one")
    assert everything(tmp_path / "one") == before


def test_a_foreign_postgresql_state_is_refused(tmp_path: Path, postgres: str) -> None:
    filled(tmp_path / "own").close()
    filled(tmp_path / "theirs", postgres).close()
    before = everything(tmp_path / "own")
    with pytest.raises(Conflict, match="names another state than postgresql"):
        open_store(tmp_path / "own", postgres)
    assert everything(tmp_path / "own") == before
    assert len(open_store(tmp_path / "own").parts()) == 3


def forgetful(home: Path) -> Path:
    """A filled home as the version before identities left it."""
    filled(home).close()
    (home / "parts" / "identity.json").unlink()
    (home / "home.json").write_text(json.dumps({"format": LAST_WITHOUT}), "utf-8")
    with sqlite3.connect(home / "state.sqlite") as connection:
        old = [tuple(row) for row in connection.execute("select * from parts")]
        columns = [row[1] for row in connection.execute("pragma table_info(parts)")]
        judged = connection.execute("select * from added_judgements limit 1")
        names = [column[0] for column in judged.description]
        (row,) = (dict(zip(names, row, strict=True)) for row in judged)
    for file in home.glob("state.sqlite*"):
        file.unlink()
    with sqlite3.connect(home / "state.sqlite") as connection:
        connection.execute("create table steps (format bigint primary key, time text not null)")
        for step, statements in enumerate(STEPS[:LAST_WITHOUT], 1):
            for statement in statements:
                connection.execute(statement)
            connection.execute("insert into steps values (?, '2026')", (step,))
        known = [row[1] for row in connection.execute("pragma table_info(parts)")]
        for part in old:
            values = dict(zip(columns, part, strict=True))
            connection.execute(
                f"insert into parts values ({', '.join('?' * len(known))})",
                [values[name] for name in known],
            )
        known = [row[1] for row in connection.execute("pragma table_info(added_judgements)")]
        marks = ", ".join("?" * len(known))
        judgement = [row[name] for name in known]
        connection.execute(f"insert into added_judgements values ({marks})", judgement)
        connection.execute("update counters set value = 1 where name in ('manifest', 'judgements')")
    connection.close()
    return home


def test_a_home_without_identities_is_given_one_and_loses_nothing(tmp_path: Path) -> None:
    before = files(forgetful(tmp_path / "home"))
    store = open_store(tmp_path / "home")
    assert {part.path for part in store.parts()} == before
    assert store.added_judgements()["query_id"].tolist() == ["q1"]
    identity = state.identity_of(store.engine)
    assert len(identity) == 32
    assert named(store.home) == (identity, identity)
    with sqlite3.connect(store.home / f"state-before-{len(STEPS)}.sqlite") as copy:
        assert copy.execute("select count(*) from parts").fetchone() == (3,)


def test_parts_without_a_mark_are_refused_by_a_state_that_lists_none_of_them(
    tmp_path: Path,
) -> None:
    """A home of an older version, whose own state lies elsewhere or is lost."""
    home = forgetful(tmp_path / "home")
    (home / "state.sqlite").rename(tmp_path / "away")
    before = everything(home)
    with pytest.raises(Conflict, match=r"state\.sqlite lists none of the 3 parts in "):
        open_store(home)
    (home / "state.sqlite").touch()
    with pytest.raises(Conflict, match="lists none of the 3 parts"):
        open_store(home)
    assert everything(home) == before | {"state.sqlite": b""}
    (tmp_path / "away").rename(home / "state.sqlite")
    assert {part.path for part in open_store(home).parts()} == files(home)


def shared(folder: Path, name: str) -> Path:
    """The home of a machine, its parts a folder that all share, made as the README says."""
    (folder / "shared").mkdir(exist_ok=True)
    (folder / name).mkdir()
    (folder / name / "parts").symlink_to(folder / "shared")
    return folder / name


def test_machines_of_one_postgresql_agree_on_their_shared_parts(
    tmp_path: Path, postgres: str
) -> None:
    homes = [shared(tmp_path, name) for name in ("one", "two", "three")]
    with ThreadPoolExecutor(3) as pool:
        stores = list(pool.map(lambda home: open_store(home, postgres), homes))
    publish_run(stores[0], "d", "s", RUN, SCORES)
    late = open_store(shared(tmp_path, "late"), postgres)
    assert len({named(store.home) for store in (*stores, late)}) == 1
    assert all(part.path.exists() for part in late.parts())
    # Nor does a machine without them, as a look at the judgements needs none.
    assert open_store(tmp_path / "alone", postgres).version() == 1
    with pytest.raises(Conflict, match=r"parts/identity\.json names another state"):
        open_store(shared(tmp_path, "lost"))


def test_a_shared_folder_that_is_not_mounted_is_named(tmp_path: Path, postgres: str) -> None:
    home = shared(tmp_path, "one")
    (tmp_path / "shared").rmdir()
    with pytest.raises(Unavailable, match="leads to a missing folder: mount"):
        open_store(home, postgres)


def test_processes_that_open_a_new_home_at_once_agree(tmp_path: Path) -> None:
    words = [sys.executable, "-c", OPENER, str(tmp_path / "home"), "never", "1"]
    running = [prepared.Popen(words, cwd=PROJECT) for _ in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    identity = state.identity_of(open_store(tmp_path / "home").engine)
    assert named(tmp_path / "home") == (identity, identity)


OPENER = """
import sys
from pathlib import Path
from tests.support.processes.publisher import arm
from tests.support.storage import open_store
arm(sys.argv[2], int(sys.argv[3]))
open_store(Path(sys.argv[1]))
"""


@pytest.mark.long
@pytest.mark.parametrize("older", [False, True], ids=["new", "older"])
@pytest.mark.parametrize(
    ("place", "calls"),
    [("before the commit", 1), ("after the commit", 1)]
    + [(place, calls) for place in ("after the file", "after the rename") for calls in (1, 2)],
)
def test_who_is_killed_while_a_home_is_marked_can_go_on(
    tmp_path: Path, place: str, calls: int, older: bool
) -> None:
    home = tmp_path / "home"
    before = files(forgetful(home)) if older else set[Path]()
    words = [sys.executable, "-c", OPENER, str(home), place, str(calls + older)]
    if "commit" in place:
        words[-1] = str(calls)
    assert prepared.run(words, cwd=PROJECT).returncode == -9
    store = open_store(home)
    assert {part.path for part in store.parts()} == files(home) == before
    identity = state.identity_of(store.engine)
    assert named(home) == (identity, identity)


def test_a_lost_state_is_given_up_by_a_command_and_its_parts_go_to_the_trash(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled(home).close()
    lying = {file.relative_to(home / "parts"): file.read_bytes() for file in files(home)}
    for file in home.glob("state.sqlite*"):
        file.unlink()
    before = everything(home)
    assert main(["admin", "adopt"]) == 0
    said = capsys.readouterr().out
    assert "0 parts that it lists stay, 3 others to the trash; add --yes to do it" in said
    assert everything(home) == before
    assert main(["admin", "adopt", "--yes"]) == 0
    assert (files(home), Store(Settings(home=home)).parts("hits", "d")) == (set(), [])
    (day,) = (home / "trash").iterdir()
    assert {file: (day / file).read_bytes() for file in lying} == lying
    assert import_tiny(tmp_path, "other") == 0
    capsys.readouterr()
    assert main(["admin", "adopt", "--yes"]) == 0
    assert "belongs to" in capsys.readouterr().out
    assert len(files(home)) == 2


def test_a_state_that_is_found_again_gets_its_parts_back_from_the_trash(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled(home).close()
    before = {file: file.read_bytes() for file in files(home)}
    shutil.copy(home / "state.sqlite", tmp_path / "found")
    for file in home.glob("state.sqlite*"):
        file.unlink()
    assert main(["admin", "adopt", "--yes"]) == 0
    assert "new and has no judgements" in capsys.readouterr().out
    for file in home.glob("state.sqlite*"):
        file.unlink()
    shutil.copy(tmp_path / "found", home / "state.sqlite")
    assert main(["admin", "adopt", "--yes"]) == 0
    assert "3 back from there" in capsys.readouterr().out
    assert {file: file.read_bytes() for file in files(home)} == before
    assert main(["check", "--store"]) == 0


def test_a_backup_of_the_state_keeps_the_parts_that_it_lists(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An older one without an identity is put back after parts were published since."""
    shutil.copytree(forgetful(home), tmp_path / "backup")
    store = open_store(home)
    publish_run(store, "d", "later", RUN, SCORES)
    store.close()
    for file in home.glob("state.sqlite*"):
        file.unlink()
    shutil.copy(tmp_path / "backup" / "state.sqlite", home)
    assert main(["scores"]) == 2
    assert "is missing, new or of an older version" in capsys.readouterr().err
    assert main(["admin", "adopt", "--yes"]) == 0
    assert "3 parts that it lists stay, 3 others to the trash" in capsys.readouterr().out
    assert {part.path for part in open_store(home).parts()} == files(home)
