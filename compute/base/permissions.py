"""Permissions of new files: their owner, and the group that a home admits.

Files made in a home are only for its owner: folders 0700, files 0600. Where the home folder, or
its folder of parts, which machines may share, was there with rights for its group, new files and
folders give the group the same rights; others never get any. What stands in a home already keeps
its permissions: they may be meant, so a start only says that others can read it.

The process' mask for new files does this, set once where a command or the dashboard starts, since
SQLite, DuckDB, Java and the children write files as well. The mask is of the whole process, so
threads never change it, and files for elsewhere get their usual permissions by name.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from compute.base import settings
from compute.base.errors import BeirscopeError

_USUAL = os.umask(0o077)
"""The mask that this process was started with; it cannot be read without being set."""
os.umask(_USUAL)


@contextlib.contextmanager
def private() -> Iterator[None]:
    """Make files of this process and its children private to the home's owner and group, in the
    with-block.

    Only for the main thread, at the start.
    """
    before = os.umask(_mask())
    try:
        yield
    finally:
        os.umask(before)


def usual(*paths: Path) -> None:
    """Give files and folders outside the home the permissions that this person's others get.

    Missing files, and those of other accounts, are left alone.
    """
    for path in paths:
        if (path.is_file() or path.is_dir()) and path.stat().st_uid == os.geteuid():
            path.chmod((0o777 if path.is_dir() else 0o666) & ~_USUAL)


def open_to_others(home: Path, secrets: Iterable[Path]) -> list[str]:
    """A sentence for the home and each file of secrets that every account here can read."""
    told = []
    if _is_open(home):
        told.append(f"{home} can be read by every account of this machine: chmod -R o= {home}")
    for file in filter(_is_open, secrets):
        told.append(f"{file} can be read by every account of this machine: chmod 600 {file}")
    return told


def _mask() -> int:
    try:
        home = settings.load().home
    except BeirscopeError:  # Code that needs them reports it.
        return 0o077
    folders = [folder for folder in (home, home / "parts") if folder.is_dir()]
    group = 0
    for folder in folders:
        group |= folder.stat().st_mode & 0o070
    return 0o077 & ~group


def _is_open(path: Path) -> bool:
    return path.exists() and bool(path.stat().st_mode & 0o004)
