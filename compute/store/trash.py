"""The trash: removed files stay in it for 30 days, or until their space is needed. A file keeps its
place: `trash/2026-01-31/hits/NAME.parquet` was `parts/hits/NAME.parquet`."""

import contextlib
import logging
import shutil
from collections.abc import Collection, Iterable
from datetime import date, datetime, timedelta
from pathlib import Path

from compute.base.files import make_folder
from compute.base.words import counted, sized
from compute.store.kinds import is_own

STAYS = timedelta(days=30)
LEAST_FREE = 2 * 1024**3
"""Bytes that the trash leaves free on the disk; on a smaller disk, a twentieth of it."""

log = logging.getLogger(__name__)


def folder(home: Path) -> Path:
    """Return the trash of a home, which is always on the disk of its parts, so that files are only
    renamed. Homes that share a folder of parts also share the trash in it."""
    parts = home / "parts"
    own = not parts.is_symlink() and (
        not parts.exists() or parts.stat().st_dev == home.stat().st_dev
    )
    return (home if own else parts) / "trash"


def put(home: Path, going: Iterable[Path], at: datetime) -> None:
    """Move parts to the trash, under today's date; files that cannot be moved stay."""
    today = folder(home) / at.date().isoformat()
    for file in going:
        target = today / file.parent.name / file.name
        try:
            if file.exists():
                make_folder(target.parent)
                file.replace(target)
        except FileNotFoundError:
            continue  # another process is also tidying
        except OSError as error:
            log.warning("%s stays: it cannot be moved to the trash (%s)", file, error.strerror)


def lying(home: Path, ids: Collection[str]) -> list[Path]:
    """Return the files in the trash that are parts with one of these ids."""
    return [file for _, file in _lying(home) if file.stem in ids]


def put_back(home: Path, files: Iterable[Path]) -> None:
    """Move parts from the trash to their old places, unless a part exists there."""
    for file in files:
        target = home / "parts" / file.parent.name / file.name
        if not target.exists():
            make_folder(target.parent)
            file.replace(target)


def sweep(home: Path, at: datetime, wanted: int | None = None) -> None:
    """Delete files older than 30 days, and then the oldest until `wanted` bytes are freed (default:
    what the disk lacks)."""
    lying = _lying(home)
    old = [file for came, file in lying if came < (at - STAYS).date()]
    if not lying:
        return
    wanted = _lacking(folder(home)) if wanted is None else wanted
    freed, chosen = _delete(old), list[Path]()
    for _, file in lying[len(old) :]:
        if freed >= wanted:
            break
        freed += _size(file)
        chosen.append(file)
    if chosen:
        _delete(chosen)
        told = counted(len(chosen), "file")
        log.warning("the disk is nearly full: deleted the oldest %s of %s", told, folder(home))


def empty(home: Path) -> None:
    """Delete everything in the trash permanently."""
    _delete(file for _, file in _lying(home))


def said(home: Path) -> str:
    """Return the content of the trash as text: `3 files (1.2 MB) in …/trash`."""
    lying = [file for _, file in _lying(home)]
    return f"{counted(len(lying), 'file')} ({sized(sum(map(_size, lying)))}) in {folder(home)}"


def _lying(home: Path) -> list[tuple[date, Path]]:
    """Return the files in the trash with the day of their removal, oldest first."""
    places = [place for place in folder(home).glob("*") if not place.is_symlink()]
    days = {came: place for place in places if (came := day(place.name))}
    found = [(came, file) for came in sorted(days) for file in days[came].glob("*/*")]
    return [(came, file) for came, file in found if is_own(file)]


def day(name: str) -> date | None:
    """Return the day that a folder of the trash is named after; None for another name."""
    try:
        return date.fromisoformat(name)
    except ValueError:
        return None


def _lacking(place: Path) -> int:
    """Return the bytes that the disk lacks."""
    disk = shutil.disk_usage(place)
    return min(LEAST_FREE, disk.total // 20) - disk.free


def _delete(gone: Iterable[Path]) -> int:
    """Delete files, and folders that are then empty; return the bytes freed."""
    size, folders = 0, set[Path]()
    for file in gone:
        size += _size(file)
        file.unlink(missing_ok=True)
        folders |= {file.parent, file.parent.parent}
    for left in sorted(folders, reverse=True):
        with contextlib.suppress(OSError):  # not empty, or gone
            left.rmdir()
    return size


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:  # another process is also emptying it
        return 0
