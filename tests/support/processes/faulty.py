"""A process that does one thing again and again, for `test_faults` to disturb.

`python -m tests.support.processes.faulty HOME DEED PLACE CALLS HOURS`: PLACE and CALLS say where
it kills itself, as in `tests.support.processes.publisher`; HOURS by how much its clock is ahead.
A line for each round: what it says is acknowledged.
The status is that of the command line: 2 after one sentence, 1 after a bug.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

from compute.__main__ import main
from compute.base import disk_refusals
from compute.base.errors import BeirscopeError
from compute.base.settings import Settings
from compute.exports import shipping
from compute.store.store import Store
from tests.support.processes.publisher import arm

ROUNDS = 3


def deed_publish(home: Path, mark: str) -> None:
    """A run takes the place of the one before."""
    _command("import-run", _run(home, mark), "--dataset", "tiny", "--system", "old", "--replace")


def deed_import(home: Path, mark: str) -> None:
    """A new run."""
    _command("import-run", _run(home, mark), "--dataset", "tiny", "--system", mark)


def deed_judge(home: Path, mark: str) -> None:
    """An added judgement of a document that is named after the round."""
    file = home.parent / f"{mark}.qrels"
    file.write_text(f"q1 0 {mark} 1\n", "utf-8")
    _command("judgements", "import", str(file), "--dataset", "tiny", "--person", "ada")


def deed_ship(home: Path, mark: str) -> None:
    """What is stored, written for others."""
    deed_publish(home, mark)
    with _told(home):
        shipping.ship(Store(Settings(home=home)), ["tiny"], folder=home.parent / "shipped")


def deed_tidy(home: Path, mark: str) -> None:
    """What the last round replaced is put away."""
    deed_publish(home, mark)
    with _told(home):
        Store(Settings(home=home)).tidy(datetime.now(UTC) + timedelta(hours=25))


def deed_migrate(home: Path, mark: str) -> None:
    """An older home is opened; the test has made it older."""
    _command("scores", "--dataset", "tiny")


DEEDS: dict[str, Callable[[Path, str], None]] = {
    name.removeprefix("deed_"): value
    for name, value in list(globals().items())
    if name.startswith("deed_")
}


@contextmanager
def _told(home: Path) -> Iterator[None]:
    """What the command line does with errors, for what is no command."""
    try:
        with disk_refusals.explained(home):
            yield
    except BeirscopeError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)


def _run(home: Path, mark: str) -> str:
    file = home.parent / f"{mark}.run"
    file.write_text(f"q1 Q0 d1 1 2.0 {mark}\nq2 Q0 d{1 + os.getpid() % 6} 1 1.0 {mark}\n", "utf-8")
    return str(file)


def _command(*words: str) -> None:
    status = main(list(words))
    if status:
        sys.exit(status)


def _hasten(hours: int) -> None:
    """Let this process believe that it is later."""

    class Later(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Later":
            return super().now(tz) + timedelta(hours=hours)

    real = time.time
    time.time = lambda: real() + 3600 * hours
    for name, module in list(sys.modules.items()):
        if name.startswith("compute.") and getattr(module, "datetime", None) is datetime:
            vars(module)["datetime"] = Later


if __name__ == "__main__":
    home, deed, place, calls, hours = sys.argv[1:]
    os.environ["BEIRSCOPE_HOME"] = home
    _hasten(int(hours))
    arm(place, int(calls))
    for number in range(ROUNDS):
        mark = f"m{os.getpid()}-{number}"
        DEEDS[deed](Path(home), mark)
        sys.stdout.write(f"done {mark}\n")
        sys.stdout.flush()
