"""Workers for tests: real processes on a home of their own, and waiting for what they do."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from compute import jobs
from compute.base.settings import PROJECT, Settings
from compute.intake import imports
from compute.jobs.steps import end_with_worker
from compute.store.loading import Bench
from compute.store.store import Store
from tests.support import filled
from tests.support.processes import prepared
from tests.support.tiny import write_tiny

LONGEST = 60.0
"""Seconds a test waits for an event."""

HASTY = ("-m", "tests.support.processes.hasty_worker", "1")
"""How a worker is started that beats every second; what follows is its silence."""

T = TypeVar("T")


def until(happened: Callable[[], T | None], what: str) -> T:
    """What `happened` returns once it is true; the test fails after a minute."""
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        found = happened()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"not within {LONGEST:.0f} seconds: {what}")


def say(line: str) -> None:
    """Report a figure; `pytest -s` shows it."""
    sys.stderr.write(f"{line}\n")


def environment(settings: Settings) -> dict[str, str]:
    """What a process of these settings is started with."""
    return os.environ | {
        "BEIRSCOPE_HOME": str(settings.home),
        "BEIRSCOPE_STATE": settings.state,
        "BEIRSCOPE_DATASETS": str(settings.datasets or ""),
        "BEIRSCOPE_SHARD_DOCUMENTS": str(settings.shard_documents),
        "BEIRSCOPE_THREADS": "1",
    }


def stop(process: subprocess.Popen[bytes], settings: Settings) -> None:
    """Stop a worker (SIGSTOP) where it holds no lock of a database of the home.

    One that is stopped within a transaction would keep all others from writing to SQLite.
    """

    def stopped() -> bool:
        process.send_signal(signal.SIGSTOP)
        if all(_writable(file) for file in settings.home.glob("*.sqlite")):
            return True
        process.send_signal(signal.SIGCONT)
        return False

    until(stopped, "a worker that holds no lock")


def _writable(file: Path) -> bool:
    with closing(sqlite3.connect(file, timeout=0.5)) as connection:
        try:
            connection.execute("begin immediate")
        except sqlite3.OperationalError:
            return False
        connection.rollback()
        return True


def session(leader: int) -> set[int]:
    """The processes of a session: a worker, its hands, and what those started."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.add(int(folder.name))
    return found


@contextmanager
def worker(
    settings: Settings, *words: str, under: Sequence[str] = ()
) -> Iterator["subprocess.Popen[bytes]"]:
    """A worker that is at work; it is stopped at the end if it still is.

    `under` is a command that becomes the worker, such as `taskset -c 0`.
    """
    command = [*under, sys.executable, *(words or ("-m", "compute", "worker"))]
    begun = subprocess.Popen if under else prepared.Popen
    process = begun(
        command,
        cwd=PROJECT,
        env=environment(settings),
        start_new_session=True,
        # Tests that are killed leave no worker behind.
        preexec_fn=end_with_worker,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(LONGEST)
        finally:
            process.kill()
            process.wait()


def ended(settings: Settings, job: str) -> jobs.Job:
    """The job once it has ended."""

    def now() -> jobs.Job | None:
        found = jobs.job(settings, job)
        return found if found and not found.active else None

    return until(now, f"the end of {job}")


def tiny_home(folder: Path, state: str = "", names: Sequence[str] = ("tiny",)) -> Store:
    """A store with the tiny collection, under each of the names."""
    settings = Settings(home=folder / "home", state=state, threads=1, latency_queries=0)
    source, names = write_tiny(folder / "tiny"), list(names)
    if not state and "tiny" in names:
        filled.tiny(settings.home)
        names.remove("tiny")
    store = Store(settings, shipped=folder / "nothing")
    for name in names:
        imports.import_dataset(Bench(store, settings), name, path=source)
    return store


def log_lines(settings: Settings) -> list[str]:
    """The lines of all logs of jobs, without the time."""
    files = sorted((settings.home / "logs" / "jobs").glob("*.log"))
    return [line[24:] for file in files for line in file.read_text("utf-8").splitlines()]
