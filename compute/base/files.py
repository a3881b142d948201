"""Reading and writing files and folders, whatever their content."""

import errno
import hashlib
import os
import shutil
import stat
import tarfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from compute.base.errors import WrongInput


def untar(archive: tarfile.TarFile, folder: Path) -> None:
    """Extract the plain files of an archive to a folder; skip links and devices. Raises WrongInput
    for a name that leads out of the folder."""
    # `TarFile.extractall(filter="data")` exists only from Python 3.11.4 on.
    root = folder.resolve()
    for member in archive:
        target = (root / member.name).resolve()
        if not target.is_relative_to(root):
            raise WrongInput(
                f"{member.name!r} leads out of the archive {archive.name}: it is not extracted"
            )
        content = archive.extractfile(member) if member.isfile() else None
        if content is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            with content, target.open("wb") as file:
                shutil.copyfileobj(content, file)


@contextmanager
def written_aside(target: Path, *, alone: bool = False) -> Iterator[BinaryIO]:
    """Yield a file to write, which gets its name only once it is complete and flushed to disk. It
    is written under a random name, so that two processes may write the same file at once. With
    `alone`, which requires a lock, the name is fixed; a killed attempt's file is overwritten."""
    own = target.name if alone else uuid.uuid4().hex
    aside = target.with_name(f".{own}.tmp")
    aside.unlink(missing_ok=True)  # remove a link with this name, not its target
    try:
        with aside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)
    sync_folder(target.parent)


def opened_plain(file: Path, flags: int = os.O_RDONLY) -> BinaryIO:
    """Open a plain file, for reading unless the flags say otherwise. Raises OSError for anything
    else, since a pipe or a device may block or never end."""
    handle = os.open(file, flags | os.O_NONBLOCK, 0o666)
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(handle, "rb" if flags & os.O_ACCMODE == os.O_RDONLY else "ab")
    os.close(handle)
    number = errno.EISDIR if stat.S_ISDIR(mode) else errno.ENXIO
    raise OSError(number, os.strerror(number), str(file))


def plain_text(file: Path) -> str:
    """Return the text of a plain file. Raises OSError for other files, and ValueError if not in
    UTF-8."""
    with opened_plain(file) as opened:
        return opened.read().decode("utf-8")


def digest(file: Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, and flush them to disk."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Flush a folder's list of names to disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
