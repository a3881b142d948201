"""Failures of the machine, each explained in one sentence: no space, no permission, no memory …

Only this module recognises such errors of the operating system, SQLite, DuckDB, PyArrow, NumPy,
torch and Java. It is called where errors leave the project: in commands, pages and steps of jobs,
and when judgements are saved."""

import errno
import os
import re
import signal
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from compute.base.errors import BeirscopeError, Unavailable

SHORT = 8 * 1024**2
"""A disk with fewer free bytes counts as full: the failed write may have been larger than this, and
its remains are removed before the check."""

_BROKEN = "{place} cannot be read or written: check its disk, or {other}"
_CLOSED = "this account has no access to {place}: change its permissions, or {other}"
_REFUSED: Mapping[int, str] = {
    errno.ENOSPC: "no space is left on the disk of {place}: free some space, then try again",
    errno.EDQUOT: "the disk quota is used up at {place}: free some space, then try again",
    errno.EROFS: "{place} is on a read-only disk: make it writable, or {other}",
    errno.EACCES: _CLOSED,
    errno.EPERM: _CLOSED,
    **dict.fromkeys((errno.EIO, errno.EREMOTEIO, errno.ESTALE, errno.EUCLEAN), _BROKEN),
    errno.ENOTDIR: "{place} must be a folder: move the file away, or {other}",
    errno.EISDIR: "{place} must be a file: move the folder away, or {other}",
    errno.ENXIO: "{place} is not a file: move it away, or {other}",
    errno.ELOOP: "{place} is a link that leads back to itself: fix it, or {other}",
    errno.ENAMETOOLONG: "{place:.80}… is too long for a file name: shorten it",
    errno.EFBIG: "{place} would become larger than the disk allows: choose another place",
    **dict.fromkeys(
        (errno.EMFILE, errno.ENFILE),
        "too many files are open at once: raise the limit (ulimit -n), then try again",
    ),
    errno.ENOMEM: (
        "there is not enough memory: end other programs, lower BEIRSCOPE_THREADS or import less at"
        " a time, then try again"
    ),
}
_UNKNOWN = 0
"""Stands for errors of SQLite that give no reason; for these the disk is checked."""
_SQLITE: Mapping[int, int] = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: _UNKNOWN,
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_CANTOPEN: _UNKNOWN,
    sqlite3.SQLITE_IOERR: _UNKNOWN,
    sqlite3.SQLITE_NOMEM: errno.ENOMEM,
}
_WORDS: Mapping[str, int] = {
    **{os.strerror(number).lower(): number for number in _REFUSED},
    # DuckDB refuses to spill more than the free space of the disk.
    "max_temp_directory_size": errno.ENOSPC,
    # DuckDB and PostgreSQL, Java, torch, C++, Python's threads.
    **dict.fromkeys(
        (
            *("out of memory", "outofmemoryerror", "insufficient memory", "reserve enough space"),
            *("allocate memory", "bad_alloc", "can't start new thread"),
        ),
        errno.ENOMEM,
    ),
}
_LIBRARIES = ("duckdb", "_duckdb", "pyarrow")
_QUOTED = re.compile(r"[\"'](/[^\"']+)[\"']")


def refusal(error: BaseException, home: Path) -> Unavailable | None:
    """Return a sentence for an error caused by the machine; None for any other error. The sentence
    names the file or folder of the error, otherwise the full disk, otherwise the home folder."""
    for behind in _chain(error):
        number = _number(behind)
        if number is not None:
            return Unavailable(_sentence(number, _named(behind), home))
    return None


@contextmanager
def explained(home: Path) -> Iterator[None]:
    """Raise Unavailable with the sentence of `refusal` instead of an error that it explains."""
    try:
        yield
    except BeirscopeError:
        raise
    except Exception as error:
        if refused := refusal(error, home):
            raise refused from error
        raise


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes."""
    current: BaseException | None = error
    while current is not None:
        yield current
        current = getattr(current, "orig", None) or current.__cause__


def _number(error: BaseException) -> int | None:
    """Return the errno of an error caused by the machine; None for other errors, such as ours."""
    if isinstance(error, BeirscopeError):
        return None
    if isinstance(error, sqlite3.Error):
        # The low byte is the kind of error; the other bytes are details that are not needed here.
        return _SQLITE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    if isinstance(error, MemoryError) or getattr(error, "returncode", 0) == -signal.SIGKILL:
        return errno.ENOMEM  # the kernel kills processes that need more memory than there is
    if isinstance(error, OSError) and error.errno is not None:
        if error.errno == errno.EEXIST and not (named := _named(error) or Path.cwd()).is_dir():
            return errno.ENOTDIR if os.path.lexists(named) else None
        return error.errno if error.errno in _REFUSED else None
    text = str(error).lower()
    number = next((number for words, number in _WORDS.items() if words in text), None)
    # A server may deny permission, too; that is not a failure of this machine.
    ours = isinstance(error, OSError) or type(error).__module__.startswith(_LIBRARIES)
    return number if ours or number not in (errno.EACCES, errno.EPERM) else None


def _named(error: BaseException) -> Path | None:
    """Return the path that the error names, if any."""
    if isinstance(error, OSError) and isinstance(error.filename, str | bytes | os.PathLike):
        # When a file is renamed to a folder, the second name is the obstacle.
        other = error.filename2 if error.errno == errno.EISDIR else None
        return Path(os.fsdecode(other or error.filename))
    found = _QUOTED.search(str(error))
    return Path(found[1]) if found else None


def _sentence(number: int, named: Path | None, home: Path) -> str:
    """Return the sentence for an errno, with the path concerned and what to do."""
    place = named or next(filter(_is_short, (home, Path(tempfile.gettempdir()))), home)
    if number == errno.ENOTDIR:  # The obstacle may be a parent of the path.
        above = (one for one in (*reversed(place.parents), place) if os.path.lexists(one))
        place = next((one for one in above if not one.is_dir()), place)
    if number == _UNKNOWN:  # SQLite does not name the file.
        place = next((file for file in home.glob("*.sqlite") if file.is_dir()), place)
    ours = place.is_relative_to(home) or home.is_relative_to(place)
    other = "set BEIRSCOPE_HOME to another folder" if ours else "choose another place"
    words = _REFUSED.get(number or _reason(place), _BROKEN)
    return words.format(place=str(place), other=other)


def _reason(place: Path) -> int:
    """Return the errno that fits the present state of the disk; _UNKNOWN if nothing is wrong."""
    place = next(folder for folder in (place, *place.parents) if folder.exists())
    if place.suffix == ".sqlite" and place.is_dir():
        return errno.EISDIR
    if os.statvfs(place).f_flag & os.ST_RDONLY:
        return errno.EROFS
    if _is_short(place):
        return errno.ENOSPC
    return _UNKNOWN if os.access(place, os.W_OK) else errno.EACCES


def _is_short(place: Path) -> bool:
    try:
        found = os.statvfs(place)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < SHORT
