"""Faults of many kinds while something is stored: nothing acknowledged is lost, nothing half shown.

`BEIRSCOPE_FAULTS` says how many trials (3; `make soak` 216): each deed meets each fault in turn.
What a trial leaves must be whole once the fault is over, and the same deed must work then.
"""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from compute.__main__ import main
from compute.base.settings import PROJECT, Settings
from compute.intake import imports
from compute.judgements.labels import resolve
from compute.reading.database import open_version
from compute.store import damage
from compute.store.loading import Bench
from compute.store.migrations import STEPS
from compute.store.state import open_state
from compute.store.store import Store
from tests.support import disks
from tests.support.filled import withdraw
from tests.support.processes import prepared
from tests.support.processes.faulty import DEEDS
from tests.support.processes.publisher import PLACES
from tests.support.tiny import write_tiny

TRIALS = int(os.environ.get("BEIRSCOPE_FAULTS", "3"))
FAULTS = ("kill", "full disk", "flipped bit", "missing file", "foreign state", "clock ahead")
RUN = "q1 Q0 d1 1 2.0 {0}\nq1 Q0 d2 2 1.0 {0}\nq2 Q0 d3 1 1.0 {0}\n"
FORMAT = 3
"""Of the older homes that are migrated."""
KINDS = ["hits", "length_counts", "scores", "top"]
"""What an imported run of this collection is stored as."""


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A home with two runs, `old` and `kept`, and another one, whose state is foreign to it."""
    folder = tmp_path_factory.mktemp("faults")
    for name in ("home", "foreign"):
        now = Settings(home=folder / name, threads=1)
        bench = Bench(Store(now), now)
        tiny = imports.import_dataset(bench, "tiny", path=write_tiny(folder / f"{name}-tiny"))
        for system in ("old", "kept"):
            file = folder / f"{system}.run"
            file.write_text(RUN.format(system), "utf-8")
            imports.import_run(bench, file, tiny.dataset)
        bench.store.close()
    return folder / "home", folder / "foreign"


class Trial:
    """A copy of the home under one fault."""

    def __init__(self, home: Path, chance: random.Random) -> None:
        self.home = home
        self.chance = chance
        self.place, self.calls, self.hours = "never", 1, 0

    def run(self, deed: str) -> tuple[int, list[str]]:
        """The status of the process, and the marks of the rounds that it acknowledged."""
        words = [self.home, deed, self.place, self.calls, self.hours]
        ended = prepared.run(
            [sys.executable, "-m", "tests.support.processes.faulty", *map(str, words)],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
        )
        assert ended.returncode in (0, 2, -9), ended.stderr
        assert "Traceback" not in ended.stderr and "report" not in ended.stderr, ended.stderr
        assert len(ended.stderr.splitlines()) <= 3, ended.stderr
        lines = [line for line in ended.stdout.splitlines(keepends=True) if line.endswith("\n")]
        return ended.returncode, [line.split()[1] for line in lines if line.startswith("done ")]

    def victim(self) -> Path:
        """A file of the run that no deed touches."""
        kind = self.chance.choice(["hits", "scores", "top"])
        store = Store(Settings(home=self.home))
        part = store.part(kind, "tiny", "kept")
        store.close()
        assert part
        return part.path


@contextmanager
def fault(name: str, trial: Trial, foreign: Path) -> Iterator[None]:
    """The fault, until the end of the with-block; damage to a file stays."""
    if name == "kill":
        trial.place, trial.calls = trial.chance.choice(PLACES), trial.chance.randint(1, 12)
    elif name == "clock ahead":
        trial.hours = 24
    elif name == "missing file":
        trial.victim().unlink()
    elif name == "flipped bit":
        _flip(trial.victim(), trial.chance)
    elif name == "full disk":
        disks.fill(trial.home.parent, leave=trial.chance.randrange(400_000))
    elif name == "foreign state":
        _exchange(trial.home, foreign)
    try:
        yield
    finally:
        if name == "full disk":
            disks.empty(trial.home.parent)
        elif name == "foreign state":
            _exchange(trial.home, foreign)
        trial.place, trial.hours = "never", 0


def _flip(file: Path, chance: random.Random) -> None:
    content = bytearray(file.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    file.write_bytes(content)


def _exchange(home: Path, foreign: Path) -> None:
    aside = home / "state.aside"
    (home / "state.sqlite").rename(aside)
    (foreign / "state.sqlite").rename(home / "state.sqlite")
    aside.rename(foreign / "state.sqlite")


def _older(home: Path) -> None:
    """Take the home back to the format before states had an identity."""
    old = home.with_name(f"{home.name}-older")
    (old / "parts").mkdir(parents=True)
    open_state(Settings(home=old), STEPS[:FORMAT]).dispose()
    now, then = (folder / "state.sqlite" for folder in (home, old))
    with closing(sqlite3.connect(then)) as connection, connection:
        connection.execute("attach ? as now", [str(now)])
        tables = "select name from main.sqlite_master where type = 'table' and name != 'steps'"
        for (table,) in connection.execute(tables).fetchall():
            names = [row[1] for row in connection.execute(f"pragma main.table_info({table})")]
            columns = ", ".join(f'"{name}"' for name in names)
            connection.execute(f"delete from main.{table}")
            connection.execute(
                f"insert into main.{table} ({columns}) select {columns} from now.{table}"
            )
    for file in home.glob("state.sqlite*"):
        file.unlink()
    # Closed by its last user, it has no file beside it.
    then.replace(now)
    shutil.rmtree(old)
    (home / "home.json").write_text(f'{{"format": {FORMAT}}}', "utf-8")
    (home / "parts" / "identity.json").unlink()


def _whole(home: Path, deed: str, marks: list[str], before: int, damaged: str) -> None:
    """Everything acknowledged is there, and every part but the damaged one is whole."""
    store = Store(Settings(home=home, threads=1))
    found = [part for part in damage.verify(store, anew=True) if not part.shipped]
    assert {part.system for part in found if part.damage} <= ({"kept"} if damaged else set())
    by_system: dict[str, list[str]] = {}
    for part in found:
        by_system.setdefault(part.system, []).append(part.kind)
    runs = {system: sorted(kinds) for system, kinds in by_system.items() if system}
    assert set(map(tuple, runs.values())) == {tuple(KINDS)}
    assert {"old", "kept"} <= set(runs)
    if deed == "import":
        assert set(marks) <= set(runs)
    if deed == "judge":
        assert set(marks) <= set(store.added_judgements()["doc_id"])
    if deed in ("publish", "ship", "tidy"):
        assert store.version() >= before + len(marks)
    with open_version(store).cursor() as cursor:
        rows = cursor.execute("select distinct system from scores").fetchall()
    assert {system for (system,) in rows} >= set(runs) - {"kept"}
    store.close()


@pytest.mark.long
@pytest.mark.parametrize("number", range(TRIALS))
def test_a_fault_loses_nothing_and_halves_nothing(
    homes: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    number: int,
) -> None:
    deed, name = list(DEEDS)[number % 6], FAULTS[(number + number // 6) % 6]
    with ExitStack() as stack:
        place = tmp_path / "place"
        if name == "full disk":
            stack.enter_context(disks.disk(place, 48))
        home = Path(shutil.copytree(homes[0], place / "home"))
        foreign = Path(shutil.copytree(homes[1], tmp_path / "foreign"))
        monkeypatch.setenv("BEIRSCOPE_HOME", str(home))
        trial = Trial(home, random.Random(number))
        before = _version(home)
        if deed == "migrate":
            _older(home)
            _older(foreign)
        if deed == "migrate" and name == "flipped bit":
            # An older home has no checksums: what was damaged before it is first read whole, beside
            # the first page or by `check --store`, is not verified.
            assert trial.run(deed)[0] == 0
            assert main(["check", "--store"]) == 0
        parts = set(home.glob("parts/*/*.parquet"))
        with fault(name, trial, foreign):
            status, marks = trial.run(deed)
        if name == "foreign state" and deed != "migrate":
            assert status == 2 and not marks
            assert set(home.glob("parts/*/*.parquet")) == parts
        damaged = name if name in ("flipped bit", "missing file") else ""
        _whole(home, deed, marks, before, damaged)
        _mended(home, damaged, capsys)
        assert trial.run(deed)[0] == 0
        if name == "clock ahead" and deed == "judge":
            _withdrawn(home)


def _version(home: Path) -> int:
    store = Store(Settings(home=home))
    try:
        return store.version()
    finally:
        store.close()


def _mended(home: Path, damaged: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The check names what is damaged, importing again mends it."""
    assert main(["check", "--store"]) == (2 if damaged else 0)
    assert ("of kept on tiny" in "".join(capsys.readouterr())) == bool(damaged)
    file = home.parent / "kept.run"
    file.write_text(RUN.format("kept"), "utf-8")
    assert main(["import-run", str(file), "--dataset", "tiny", "--replace"]) == 0
    assert main(["check", "--store"]) == 0


def _withdrawn(home: Path) -> None:
    """What was judged while the clock was ahead can be taken back now."""
    store = Store(Settings(home=home))
    for row in store.added_judgements()["id"]:
        withdraw(store, int(row), "withdrawn")
    assert resolve(store.added_judgements()).empty
    store.close()
