"""Locks between processes. A lock ends when the process that holds it ends."""

import contextlib
import fcntl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TextIO

from compute.base.errors import Conflict

PROBES = 10
PAUSE = 0.02
"""Seconds between two attempts."""


@contextlib.contextmanager
def sole(file: Path, wait: float = 0.0) -> Iterator[TextIO | None]:
    """Lock and empty the lock file for the with-block. Yields None instead if another process still
    holds it after `wait` seconds. The lock ends with the process; the file's content stays."""
    with _opened(file, "a+") as held:
        if not _locked(held, PROBES + int(wait / PAUSE)):
            yield None
            return
        held.seek(0)
        held.truncate()
        yield held


def is_held(file: Path) -> bool:
    """Return whether any process holds the lock file at the moment."""
    if not file.is_file():
        return False
    with file.open(encoding="utf-8") as probe:
        try:
            fcntl.flock(probe, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _opened(file: Path, mode: Literal["a", "a+"]) -> TextIO:
    """Open the lock file, and create it if missing. Raises Conflict for a link, a pipe or a folder,
    since the target of a link would be emptied, and opening a pipe would block."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_symlink() or (file.exists() and not file.is_file()):
        raise Conflict(f"{file} is not a plain file, as a lock must be: remove it")
    return file.open(mode, encoding="utf-8")


def _locked(held: TextIO, probes: int) -> bool:
    """Return whether an exclusive lock was obtained within this many attempts."""
    # `is_held` takes a shared lock for an instant, so a single refusal proves nothing.
    for _ in range(probes):
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(PAUSE)
    return False


@contextlib.contextmanager
def locked(file: Path, *, shared: bool = False, wait: bool = True) -> Iterator[None]:
    """Hold a lock file for the with-block, exclusively or, if `shared`, together with others. If
    another process holds it and `wait` is false, raises BlockingIOError."""
    how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
    with _opened(file, "a") as held:
        fcntl.flock(held, how)
        yield
