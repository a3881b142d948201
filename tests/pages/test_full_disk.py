"""Commands on a full disk and in a read-only home: one sentence, and the same works later."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from compute.__main__ import main
from compute.base.errors import Unavailable
from compute.base.settings import PROJECT, Settings
from compute.reading.database import open_version
from compute.store.loading import quiet
from compute.store.store import Store
from compute.systems.lexical import lucene
from tests.support import disks
from tests.support.tiny import write_tiny

ROOM = 64
"""Megabytes of the disk."""
Words = list[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that has the tiny collection and a run on it."""
    folder = tmp_path_factory.mktemp("made")
    run = folder / "some.run"
    run.write_text("q1 Q0 d1 1 3.0 one\nq2 Q0 d4 1 2.0 one\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEIRSCOPE_HOME", str(folder / "home"))
        assert main(["import-dataset", str(write_tiny(folder / "tiny")), "--name", "tiny"]) == 0
        assert main(["import-run", str(run), "--dataset", "tiny"]) == 0
    return folder / "home"


@pytest.fixture
def small(tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small disk with that home on it."""
    write_tiny(tmp_path / "tiny")
    with disks.disk(tmp_path / "disk", ROOM) as folder:
        shutil.copytree(made, folder / "home")
        monkeypatch.setenv("BEIRSCOPE_HOME", str(folder / "home"))
        yield folder


def _import_dataset(outside: Path, inside: Path) -> Words:
    return ["import-dataset", str(outside / "tiny"), "--name", "another"]


def _import_run(outside: Path, inside: Path) -> Words:
    file = outside / "other.run"
    file.write_text("q1 Q0 d2 1 3.0 two\n", encoding="utf-8")
    return ["import-run", str(file), "--dataset", "tiny"]


def _run(outside: Path, inside: Path) -> Words:
    return ["run", "bm25", "tiny"]


def _judgements(outside: Path, inside: Path) -> Words:
    file = outside / "more.qrels"
    file.write_text("q1 0 d4 1\n", encoding="utf-8")
    return ["judgements", "import", str(file), "--dataset", "tiny", "--person", "ada"]


def _snapshot(outside: Path, inside: Path) -> Words:
    return ["admin", "snapshot", str(inside / "all.duckdb")]


def _export_run(outside: Path, inside: Path) -> Words:
    out = str(inside / "one.run")
    return ["export", "run", "--dataset", "tiny", "--system", "one", "--out", out]


def _export_table(outside: Path, inside: Path) -> Words:
    return ["export", "table", "leaderboard", "--out", str(inside / "board.csv")]


def _check_scores(outside: Path, inside: Path) -> Words:
    return ["check", "--scores"]


def _export_view(outside: Path, inside: Path) -> Words:
    return ["export", "view", "dataset", "--dataset", "tiny", "--out", str(inside / "page.zip")]


COMMANDS = [_import_dataset, _import_run, _run, _judgements, _snapshot, _export_run, _export_table]
COMMANDS += [_check_scores, _export_view]
SHORT = (_import_run, _export_run, _check_scores)
OFTEN = [pytest.param(one, marks=[pytest.mark.long] * (one not in SHORT)) for one in COMMANDS]
ROOMS = [
    pytest.param(
        one,
        kilobytes,
        marks=pytest.mark.soak if kilobytes != 120 else [pytest.mark.long] * (one not in SHORT),
    )
    for one in COMMANDS
    for kilobytes in (0, 120, 500)
]


@pytest.mark.long
@pytest.mark.parametrize(("command", "kilobytes"), ROOMS)
def test_a_full_disk_is_a_sentence_and_the_command_works_once_there_is_room(
    small: Path,
    tmp_path: Path,
    command: Callable[[Path, Path], Words],
    kilobytes: int,
    capfd: pytest.CaptureFixture[str],
) -> None:
    words, before = command(tmp_path, small), _files(small)
    disks.fill(small, kilobytes * 1024)
    capfd.readouterr()
    status = main(words)
    said = capfd.readouterr().err
    disks.empty(small)
    _is_whole(small)
    if status:
        _is_a_sentence(status, said, "no space is left on the disk of ")
        assert _files(small) == before
        assert main(words) == 0
        _is_whole(small)


@pytest.mark.parametrize("command", OFTEN)
def test_a_read_only_home_is_a_sentence_and_the_command_works_once_it_can_be_written(
    small: Path,
    tmp_path: Path,
    command: Callable[[Path, Path], Words],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with disks.again(small, tmp_path / "again") as folder:
        monkeypatch.setenv("BEIRSCOPE_HOME", str(folder / "home"))
        words = command(tmp_path, folder)
        disks.read_only(folder)
        capfd.readouterr()
        status = main(words)
        said = capfd.readouterr().err
        disks.writable(folder)
        _is_a_sentence(status, said, " is on a read-only disk: make it writable, or ")
        assert main(words) == 0
        _is_whole(folder)


def test_a_page_says_that_its_home_is_read_only(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with disks.again(small, tmp_path / "again") as folder:
        monkeypatch.setenv("BEIRSCOPE_HOME", str(folder / "home"))
        disks.read_only(folder)
        app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=60).run()
        assert not app.exception
        (shown,) = app.error
        assert " is on a read" in shown.value and "in Beirscope" not in shown.value


def test_an_index_that_did_not_fit_is_not_taken_for_one(tmp_path: Path) -> None:
    collection = tmp_path / "collection"
    collection.mkdir()
    (collection / "0.jsonl").write_text('{"id": "0", "contents": "ships"}\n', encoding="utf-8")
    now, options = Settings(home=tmp_path, threads=1), ["-collection", "JsonCollection"]
    with disks.disk(tmp_path / "disk", 1) as folder:
        disks.fill(folder)
        with pytest.raises(Unavailable, match="no space is left on the disk of "):
            lucene.index(collection, folder, 1, options, now, quiet)


def _is_a_sentence(status: int, said: str, words: str) -> None:
    assert status == 2, said
    assert len(said.splitlines()) == 1, said
    assert words in said
    assert "Traceback" not in said


def _files(folder: Path) -> set[str]:
    """The names of what was written beside the home, and of what was being written in it."""
    beside = {file.name for file in folder.iterdir()} - {disks.FILLING}
    aside = {str(file) for file in (folder / "home").rglob("*.tmp")}
    return beside | aside


def _is_whole(folder: Path) -> None:
    """What is published can be read, every file of it."""
    store = Store(Settings(home=folder / "home"))
    reading = open_version(store)
    with reading.cursor() as cursor:
        for kind in {part.kind for part in store.parts()}:
            cursor.execute(f"select count(*) from {kind}")
    reading.close()
    store.close()
