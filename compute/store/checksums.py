"""Checksums: the SHA-256 of parts, computed once per content and machine. A file in the home
records each with the part and the size, time and inode of its file, so that unchanged files are not
read again. Lines are appended, each with a checksum of its own."""

import contextlib
import hashlib
import os
import stat
import zlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from compute.base.files import opened_plain, written_aside
from compute.base.locks import locked

UNREADABLE = "unreadable"
"""Stands for the SHA-256 of a file that cannot be read as Parquet."""
_ADD = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
"""These flags do not follow a link, so that no other file is written."""
_SPARE = 1_000
"""Lines of removed parts that are tolerated, besides one for each existing part."""


class Stamp(NamedTuple):
    """Properties of a file that change whenever it is written."""

    size: int
    mtime_ns: int
    inode: int


def stamp(path: Path) -> Stamp | None:
    """Return the stamp of a file; None if it is missing or is a pipe or a device."""
    try:
        found = path.stat()
    except OSError:
        return None
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        return None
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ino)


class Checksums:
    """The known checksums of a home's files, shared by the processes of this machine."""

    def __init__(self, home: Path) -> None:
        self._file = home / "checksums.txt"
        self._lock = home / "locks" / "checksums.lock"
        self._known: dict[str, tuple[Stamp, str]] = {}
        self._read: tuple[int, int] = 0, 0
        """The file's inode, and the position up to which it was read."""
        self._lines = 0

    def refresh(self) -> None:
        """Read the lines that other processes have added."""
        found = stamp(self._file)
        inode, place = self._read
        if found is None or (found.inode, found.size) == (inode, place):
            return
        place = place if found.inode == inode and found.size > place else 0
        with contextlib.suppress(OSError), opened_plain(self._file, os.O_NOFOLLOW) as file:
            file.seek(place)
            lines = file.read().splitlines()
            self._lines = len(lines) + (self._lines if place else 0)
            self._known |= dict(filter(None, map(_parsed, lines)))
            self._read = found.inode, file.tell()

    def known(self, part: str, at: Stamp) -> str:
        """Return the SHA-256 of a part whose file has this stamp; empty if it is unknown here."""
        before, sha256 = self._known.get(part, (None, ""))
        return sha256 if before == at else ""

    def remember(self, found: Iterable[tuple[str, Stamp, str]]) -> None:
        """Record computed checksums: part, stamp of its file, and SHA-256 of each."""
        found = list(found)
        self._known |= {part: (at, sha256) for part, at, sha256 in found}
        # A home that is read-only or full can still be checked.
        with (
            contextlib.suppress(OSError),
            locked(self._lock),
            opened_plain(self._file, _ADD) as file,
        ):
            file.write(b"".join(_line(*one) for one in found))

    def forget(self, kept: Collection[str]) -> None:
        """Drop the lines of all parts that are not `kept`, if there are many."""
        if self._lines <= 2 * len(kept) + _SPARE:
            return
        with contextlib.suppress(OSError), locked(self._lock):
            self.refresh()
            known = self._known.items()
            lines = [_line(part, *found) for part, found in known if part in kept]
            with written_aside(self._file, alone=True) as file:
                file.write(b"".join(lines))


def computed(path: Path, *, is_new: bool) -> tuple[Stamp, str] | None:
    """Return stamp and SHA-256 of a file; None if it is lost. With `is_new` no SHA-256 is known to
    compare with, so the file is also read as Parquet; if that fails, UNREADABLE replaces the
    SHA-256. Raises OSError if the disk fails."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None
    at = Stamp(found.st_size, found.st_mtime_ns, found.st_ino)
    return at, (UNREADABLE if is_new and not _is_readable(path) else sha256)


def _is_readable(path: Path) -> bool:
    """Return whether a file can be read as Parquet, row by row."""
    # Imported here because only a file of an old home without a SHA-256 needs PyArrow.
    import pyarrow as pa

    from compute.base import parquet_files

    try:
        with parquet_files.opened(path) as file:
            return sum(batch.num_rows for batch in file.iter_batches()) == file.metadata.num_rows
    except (pa.ArrowException, OSError):
        return False


def _line(part: str, at: Stamp, sha256: str) -> bytes:
    text = f"{part} {at.size} {at.mtime_ns} {at.inode} {sha256}".encode()
    return text + b" %08x\n" % zlib.crc32(text)


def _parsed(line: bytes) -> tuple[str, tuple[Stamp, str]] | None:
    """Return the part in a line, and its stamp and checksum; None for an incomplete line."""
    text, _, check = line.rpartition(b" ")
    if check != b"%08x" % zlib.crc32(text):
        return None
    with contextlib.suppress(ValueError):  # a right checksum, but not a line of this format
        part, size, mtime_ns, inode, sha256 = text.decode().split(" ")
        return part, (Stamp(int(size), int(mtime_ns), int(inode)), sha256)
    return None
