"""Permissions of new files: for the owner, and for the group that has rights to the home.

Files created in a home are readable only by its owner: folders 0700, files 0600. If the home folder
or its folder of parts, which machines may share, already has rights for its group, new files and
folders give the group the same rights. Others never get any. Existing files keep their permissions,
which may be intended; Beirscope only warns at the start if others can read them.

The process's umask does this. It is set once, when a command or the dashboard starts, since SQLite,
DuckDB, Java and child processes also write files. It applies to the whole process, so threads never
change it; files outside the home get the usual permissions through `usual`."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from compute.base import settings
from compute.base.errors import BeirscopeError

_USUAL = os.umask(0o077)
"""The umask with which this process started. It cannot be read without being set."""
os.umask(_USUAL)


@contextlib.contextmanager
def private() -> Iterator[None]:
    """For the with-block, make new files of this process and its children private to the home's
    owner and group. Call it only in the main thread, at startup."""
    before = os.umask(_mask())
    try:
        yield
    finally:
        os.umask(before)


def usual(*paths: Path) -> None:
    """Give files and folders outside the home the user's default permissions. Missing files, and
    files of other accounts, stay unchanged."""
    for path in paths:
        if (path.is_file() or path.is_dir()) and path.stat().st_uid == os.geteuid():
            path.chmod((0o777 if path.is_dir() else 0o666) & ~_USUAL)


def open_to_others(home: Path, secrets: Iterable[Path]) -> list[str]:
    """Return a warning for the home, and for each secrets file, if every account can read it."""
    told = []
    if _is_open(home):
        told.append(f"{home} can be read by every account of this machine: chmod -R o= {home}")
    for file in filter(_is_open, secrets):
        told.append(f"{file} can be read by every account of this machine: chmod 600 {file}")
    return told


def _mask() -> int:
    """Return the umask that denies others everything, and the group what the home denies it."""
    try:
        home = settings.load().home
    except BeirscopeError:  # Code that needs the settings reports the error.
        return 0o077
    folders = [folder for folder in (home, home / "parts") if folder.is_dir()]
    group = 0
    for folder in folders:
        group |= folder.stat().st_mode & 0o070
    return 0o077 & ~group


def _is_open(path: Path) -> bool:
    return path.exists() and bool(path.stat().st_mode & 0o004)
