"""Scratch folders inside the home: each locked by whoever made it, swept once that is gone.

They may hold texts of documents and queries, so none lies where the system keeps temporary files.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from compute.base.files import make_folder
from compute.base.locks import is_held, locked

TMP, UPLOADS = "tmp", "uploads"
"""Where scratch lies under the home."""
UNLOCKED_STAYS = 24 * 3600
"""Seconds that a folder stays which nobody ever locked: an earlier version's may be in use."""


@contextmanager
def folder(home: Path, prefix: str, place: str = TMP) -> Iterator[Path]:
    """An empty folder of the caller's own, gone with the block, or swept after the caller died.

    A file beside it is locked meanwhile; the lock ends with the process, however that ends.
    """
    make_folder(home / place)
    with ExitStack() as held:
        # Nobody sweeps between the making of the folder and its lock.
        with locked(_gate(home), shared=True):
            made = Path(tempfile.mkdtemp(prefix=prefix, dir=home / place))
            held.enter_context(locked(_lock(made)))
        try:
            yield made
        finally:
            _remove(made)


def sweep(home: Path, at: float | None = None) -> list[Path]:
    """Remove the scratch folders whose makers are gone; returns them. `at` is the time it is."""
    old = (at or time.time()) - UNLOCKED_STAYS
    swept = []
    with locked(_gate(home)):
        for place in (TMP, UPLOADS):
            for made in filter(Path.is_dir, (home / place).glob("*")):
                if _is_left(made, old):
                    _remove(made)
                    swept.append(made)
    return swept


def _is_left(made: Path, old: float) -> bool:
    lock = _lock(made)
    return not is_held(lock) if lock.exists() else made.stat().st_mtime < old


def _remove(made: Path) -> None:
    shutil.rmtree(made, ignore_errors=True)
    _lock(made).unlink(missing_ok=True)


def _lock(made: Path) -> Path:
    return made.with_name(f"{made.name}.lock")


def _gate(home: Path) -> Path:
    return home / "locks" / "scratch.lock"
