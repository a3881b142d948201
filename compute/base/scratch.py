"""Scratch folders inside the home: each is locked by the process that created it, and deleted when
that process is gone. They may contain texts of documents and queries, so they are not in the
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
"""Folders of scratch files in the home."""
_LOCK = re.compile(r"[a-z]+-\w{8,32}\.lock")
"""Names of locks created by `folder`, also in earlier versions."""


@contextmanager
def folder(home: Path, prefix: str, place: str = TMP) -> Iterator[Path]:
    """An empty private folder for the with-block, deleted later if the caller dies. A lock file
    next to it is held for as long; the lock ends with the process, however that happens."""
    make_folder(home / place)
    with ExitStack() as held:
        # No cleanup runs between the creation of the folder and its lock.
        with locked(_gate(home), shared=True):
            made = home / place / f"{prefix}{uuid.uuid4().hex}"
            held.enter_context(locked(_lock(made)))
            made.mkdir(0o700)
        try:
            yield made
        finally:
            _remove(made)


def sweep(home: Path) -> list[Path]:
    """Remove scratch folders whose creators are gone; returns these folders. A lock file next to a
    folder shows that it was created here; other folders stay. Links are not followed."""
    swept = []
    with locked(_gate(home)):
        for place in (home / TMP, home / UPLOADS):
            for lock in [] if place.is_symlink() else sorted(place.glob("*.lock")):
                if _is_left(lock):
                    swept += [made for made in [lock.with_suffix("")] if made.exists()]
                    _remove(lock.with_suffix(""))
    return swept


def _is_left(lock: Path) -> bool:
    links = lock.is_symlink() or lock.with_suffix("").is_symlink()
    return bool(_LOCK.fullmatch(lock.name)) and not links and not is_held(lock)


def _remove(made: Path) -> None:
    shutil.rmtree(made, ignore_errors=True)
    _lock(made).unlink(missing_ok=True)


def _lock(made: Path) -> Path:
    return made.with_name(f"{made.name}.lock")


def _gate(home: Path) -> Path:
    return home / "locks" / "scratch.lock"
