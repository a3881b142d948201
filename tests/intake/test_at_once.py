"""Two who take in one name, or one file, at once: nothing acknowledged goes in silence."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from compute.base.errors import Conflict
from compute.base.settings import PROJECT, Settings
from compute.intake import imports
from compute.store.loading import Bench
from compute.store.store import Store
from tests.support.processes import prepared
from tests.support.processes.jobbing import environment, until
from tests.support.tiny import write_tiny


def at_once(store: Store, lock: str, commands: Sequence[Sequence[str]]) -> list[str]:
    """What commands say that all have come to the lock before the first of them gets it."""
    with store.alone(lock):
        started = [
            prepared.Popen(
                [sys.executable, "-m", "compute", *words],
                cwd=PROJECT,
                env=environment(store.settings) | {"BEIRSCOPE_SHIPPED_RESULTS": "false"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for words in commands
        ]
        waiting = len(commands)
        held = str((store.home / "locks" / f"{lock}.lock").stat().st_ino)

        def all_wait() -> bool:
            lines = Path("/proc/locks").read_text().splitlines()
            wait = [line for line in lines if "->" in line and f":{held} " in line]
            return len(wait) == waiting or any(process.poll() is not None for process in started)

        until(all_wait, "the commands wait for the lock")
    return [process.communicate(timeout=60)[0] for process in started]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    settings = Settings(home=tmp_path / "home", threads=1, shipped_results=False)
    return Bench(Store(settings), settings)


def qrels(folder: Path, name: str, *grades: int) -> str:
    file = folder / name
    lines = (f"q{n} 0 d{n} {grade}\n" for n, grade in enumerate(grades, 1))
    file.write_text("".join(lines), "utf-8")
    return str(file)


@pytest.mark.parametrize("how", [pytest.param([], marks=pytest.mark.long), ["--replace"]])
def test_of_two_datasets_of_one_name_the_later_is_refused_or_says_what_it_replaced(
    bench: Bench, tmp_path: Path, how: list[str]
) -> None:
    files = [qrels(tmp_path, "one", 1, 0), qrels(tmp_path, "two", 1, 1, 1)]
    commands = [["import-dataset", "--qrels", file, "--name", "d2", *how] for file in files]
    told = at_once(bench.store, "dataset", commands)
    (part,) = bench.store.parts("judgements", "d2")
    came = 0 if part.rows == 2 else 1
    later, rows = (came, 5 - part.rows) if how else (1 - came, part.rows)
    said = "replaced the content of this name: {0} queries, {0} judgements"
    said = said if how else "d2 is already stored here ({0} queries, {0} judgements would go): "
    assert said.format(rows) in told[later]
    assert "replaced" not in told[1 - later] and "judgements\n" in told[1 - later]


def test_a_name_that_was_taken_while_a_file_was_read_is_refused_where_it_must_be_new(
    bench: Bench, tmp_path: Path
) -> None:
    """As the page asks for it; what came first stays."""
    first, second = qrels(tmp_path, "one", 1, 0), qrels(tmp_path, "two", 1, 1, 1)

    def other_came(*_: object) -> None:
        imports.import_dataset(bench, "mine", qrels=Path(first))

    folder = write_tiny(tmp_path / "tiny")
    with (folder / "corpus.jsonl").open("a", encoding="utf-8") as corpus:
        corpus.writelines(f'{{"_id": "x{n}", "title": "", "text": "t"}}\n' for n in range(5000))
    slow = Bench(bench.store, bench.settings, progress=other_came)
    with pytest.raises(Conflict, match="mine is already stored here"):
        imports.import_dataset(slow, "mine", path=folder, new=True)
    with pytest.raises(Conflict, match="mine is already stored here"):
        imports.import_dataset(bench, "mine", qrels=Path(second), new=True)
    assert [part.rows for part in bench.store.parts("judgements", "mine")] == [2]


@pytest.mark.long
def test_one_file_of_judgements_taken_in_twice_at_once_is_counted_once(
    bench: Bench, tmp_path: Path
) -> None:
    imports.import_dataset(bench, "mine", qrels=Path(qrels(tmp_path, "official", 1, 0)))
    file = tmp_path / "more"
    file.write_text("".join(f"q1 0 x{n} 1\n" for n in range(50)), "utf-8")
    words = ["judgements", "import", str(file), "--dataset", "mine", "--person", "ada"]
    told = sorted(at_once(bench.store, "judgements", [words, words]))
    assert told[0].startswith("0 judgements added to mine; 50 were already stored")
    assert told[1].startswith("50 judgements added to mine\n")
    words = ["judgements", "withdraw", str(file), "--dataset", "mine", "--person", "ada", "--yes"]
    told = sorted(at_once(bench.store, "judgements", [words, words]))
    assert told[0].startswith("withdrew 0 judgements of mine")
    assert told[1].startswith("withdrew 50 judgements of mine by ada")
