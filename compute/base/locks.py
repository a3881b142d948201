"""Locks between processes that end with the process that holds them."""

import contextlib
import fcntl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TextIO

from compute.base.errors import Conflict

PROBES = 10
PAUSE = 0.02
"""Seconds between two probes."""


@contextlib.contextmanager
def sole(file: Path, wait: float = 0.0) -> Iterator[TextIO | None]:
    """Hold the lock file, emptied, while the body runs; None when another process holds it.

    It is waited for this many seconds. The lock goes with the process, however that ends; what it
    wrote there stays readable.
    """
    with _opened(file, "a+") as held:
        if not _locked(held, PROBES + int(wait / PAUSE)):
            yield None
            return
        held.seek(0)
        held.truncate()
        yield held


def is_held(file: Path) -> bool:
    """Whether some process holds the lock file now."""
    if not file.is_file():
        return False
    with file.open(encoding="utf-8") as probe:
        try:
            fcntl.flock(probe, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _opened(file: Path, mode: Literal["a", "a+"]) -> TextIO:
    """The lock file, made where there is none. Raises Conflict for a link, a pipe or a folder.

    What a link leads to would be emptied; a pipe would be waited at for ever.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_symlink() or (file.exists() and not file.is_file()):
        raise Conflict(f"{file} is no plain file, as the lock here must be: remove it")
    return file.open(mode, encoding="utf-8")


def _locked(held: TextIO, probes: int) -> bool:
    # `is_held` takes a shared lock for an instant: one refusal is not yet an answer.
    for _ in range(probes):
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(PAUSE)
    return False


@contextlib.contextmanager
def locked(file: Path, *, shared: bool = False, wait: bool = True) -> Iterator[None]:
    """Hold a lock file alone, or together with other sharers, while the body runs.

    Raises BlockingIOError when another holds it and `wait` is false.
    """
    how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
    with _opened(file, "a") as held:
        fcntl.flock(held, how)
        yield
