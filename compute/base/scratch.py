"""Scratch folders inside the home. Each is locked by the process that created it, and deleted once
that process has ended. They may contain texts of documents and queries, so they are not in the
system's folder for temporary files."""

import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from compute.base.files import make_folder
from compute.base.locks import is_held, locked

TMP, UPLOADS = "tmp", "uploads"
"""The folders in the home that hold scratch folders."""
_LOCK = re.compile(r"[a-z]+-\w{8,32}\.lock")
"""Matches the names of locks created by `folder`, including earlier versions of it."""


@contextmanager
def folder(home: Path, prefix: str, place: str = TMP) -> Iterator[Path]:
    """Create an empty private folder for the with-block; if the process dies, the next one that
    creates a folder deletes it. A lock file next to it stays locked until the process ends."""
    make_folder(home / place)
    sweep(home)  # for these may need the room that left ones take
    with ExitStack() as held:
        # While this lock is held, no `sweep` runs between creating the lock file and the folder.
        with locked(_gate(home), shared=True):
            made = home / place / f"{prefix}{uuid.uuid4().hex}"
            held.enter_context(locked(_lock(made)))
            made.mkdir(0o700)
        try:
            yield made
        finally:
            _remove(made)


def sweep(home: Path) -> list[Path]:
    """Remove scratch folders whose processes have ended, and return their paths. Only folders with
    a lock file next to them were created here; others stay. Links are not followed."""
    swept = []
    with locked(_gate(home)):
        for place in (home / TMP, home / UPLOADS):
            for lock in [] if place.is_symlink() else sorted(place.glob("*.lock")):
                if _is_left(lock):
                    swept += [made for made in [lock.with_suffix("")] if made.exists()]
                    _remove(lock.with_suffix(""))
    return swept


def _is_left(lock: Path) -> bool:
    """Return whether a lock file was created here and no process holds it any more."""
    links = lock.is_symlink() or lock.with_suffix("").is_symlink()
    return bool(_LOCK.fullmatch(lock.name)) and not links and not is_held(lock)


def _remove(made: Path) -> None:
    shutil.rmtree(made, ignore_errors=True)
    _lock(made).unlink(missing_ok=True)


def _lock(made: Path) -> Path:
    return made.with_name(f"{made.name}.lock")


def _gate(home: Path) -> Path:
    """Return the lock that keeps `sweep` from running while a folder is created."""
    return home / "locks" / "scratch.lock"
