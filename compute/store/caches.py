"""Caches: folders of indexes and embeddings, named by the fingerprint of their inputs. A folder is
built under another name and appears once complete. Since folders can be rebuilt, the least recently
used ones are deleted when all together exceed the setting `cache_bytes`."""

import contextlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from compute.base import disk_refusals
from compute.base.errors import Unavailable
from compute.base.files import make_folder, sync_folder
from compute.base.locks import locked
from compute.base.settings import Settings

UNFINISHED_STAYS = 24 * 3600
"""Seconds for which an interrupted build waits to be resumed."""
_FINGERPRINT = re.compile("[0-9a-f]{64}")


@contextlib.contextmanager
def folder(settings: Settings, fingerprint: str, build: Callable[[Path], object]) -> Iterator[Path]:
    """Yield the finished folder of a fingerprint; build it first if it is missing. `build` fills a
    folder that is empty, or that an interrupted build of the same fingerprint left, which it may
    continue. Processes that need the same folder build it once, and none removes it meanwhile."""
    if not _FINGERPRINT.fullmatch(fingerprint):
        raise ValueError(f"{fingerprint!r} is not a fingerprint")
    finished = _caches(settings) / fingerprint
    while True:
        with locked(_lock(finished), shared=True):
            if finished.is_dir():
                os.utime(_lock(finished))
                yield finished
                return
        with locked(_lock(finished)):
            if not finished.is_dir():
                _build(finished, build)
                os.utime(_lock(finished))
                trim(settings)


def holds(settings: Settings, fingerprint: str) -> bool:
    """Return whether a finished folder of this fingerprint exists."""
    return (_caches(settings) / fingerprint).is_dir()


def trim(settings: Settings) -> list[str]:
    """Remove what dead builders left and, above the limit, the least recently used folders. Returns
    the deleted fingerprints. Folders in use stay."""
    before = time.time() - UNFINISHED_STAYS
    every = [path for path in _caches(settings).glob("*") if _is_own(path)]
    asides = [path for path in every if path.suffix == ".aside"]
    old = [path for path in asides if path.stat().st_mtime < before]
    for left in (*old, *(path for path in every if path.suffix == ".gone")):
        with contextlib.suppress(BlockingIOError), locked(_lock(left), wait=False):
            shutil.rmtree(left, ignore_errors=True)
    found = [path for path in every if not path.suffix]
    sizes = {path: _size(path) for path in sorted(found, key=_last_use)}
    excess, gone = sum(sizes.values()) - settings.cache_bytes, []
    for path, size in sizes.items():
        if excess <= 0:
            break
        with contextlib.suppress(BlockingIOError), locked(_lock(path), wait=False):
            # It is renamed first, since a partly deleted folder must look neither complete nor like
            # a build to resume.
            path.rename(path.with_suffix(".gone"))
            shutil.rmtree(path.with_suffix(".gone"))
            excess -= size
            gone.append(path.name)
    return gone


def _build(finished: Path, build: Callable[[Path], object]) -> None:
    """Build a folder under another name, and rename it."""
    aside = finished.with_suffix(".aside")
    make_folder(aside)
    os.utime(aside)
    try:
        build(aside)
        _sync(aside)
    except Exception as error:
        # A failed build is discarded; one that was interrupted or ran out of space can be resumed.
        refused = isinstance(error, Unavailable) or disk_refusals.refusal(error, finished.parent)
        if not refused:
            shutil.rmtree(aside, ignore_errors=True)
        raise
    aside.rename(finished)
    sync_folder(finished.parent)


def _caches(settings: Settings) -> Path:
    return settings.home / "caches"


def _is_own(path: Path) -> bool:
    """Return whether Beirscope named a folder; others, and links, are never touched."""
    named = _FINGERPRINT.fullmatch(path.stem)
    return bool(named) and path.is_dir() and not path.is_symlink()


def _lock(path: Path) -> Path:
    return path.with_suffix(".lock")


def _last_use(path: Path) -> float:
    lock = _lock(path)
    return lock.stat().st_mtime if lock.exists() else 0.0


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def _sync(path: Path) -> None:
    for entry in path.rglob("*"):
        if entry.is_dir():
            sync_folder(entry)
        elif entry.is_file():
            with entry.open("rb") as file:
                os.fsync(file.fileno())
    sync_folder(path)
