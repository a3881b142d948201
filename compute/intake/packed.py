"""Zip and tar archives of runs or judgements, unpacked for as long as an import needs them."""

import re
import shutil
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

from compute.base import scratch
from compute.base.errors import BeirscopeError, Unavailable, WrongInput
from compute.base.files import untar
from compute.base.words import sized
from compute.datasets import layout, unpacked_size
from compute.intake import doctor


@contextmanager
def opened(paths: Iterable[Path], home: Path) -> Iterator[list[Path]]:
    """Yield the paths of `doctor.files`, with archives replaced by the files in them, except for an
    archive in the BEIR layout. The files are in a scratch folder, under a folder with the archive's
    name, and are removed after the block. Raises WrongInput for an archive that is damaged,
    implausibly compressed or empty, and Unavailable if there is no room for it."""
    with ExitStack() as held:
        found: list[Path] = []
        named: dict[str, str] = {}
        for path in doctor.files(paths):
            if not path.is_file() or not _is_archive(path):
                found.append(path)
                continue
            folder = held.enter_context(scratch.folder(home, "archive-")) / path.name
            folder.mkdir()
            named[str(folder)] = str(path)
            (_unzip if zipfile.is_zipfile(path) else _untar)(path, folder, home)
            inside = [file for file in sorted(folder.rglob("*")) if _counts(file, folder)]
            if not inside:
                raise WrongInput(f"{path} contains no file: pack it again")
            found += inside
        try:
            yield found
        except BeirscopeError as error:
            told = str(error)
            for inside, archive in named.items():
                told = told.replace(inside, archive)
            raise type(error)(told) from None


def told(text: str, home: Path) -> str:
    """Return the text with `runs.zip/a.run` instead of the file's path in a scratch folder."""
    return re.sub(rf"{re.escape(str(home / scratch.TMP))}/archive-\w+/", "", text)


def _is_archive(path: Path) -> bool:
    """Return whether a file is a zip or tar archive, but not one in the BEIR layout."""
    if zipfile.is_zipfile(path):
        return not layout.Archive(path).roots()
    try:
        return tarfile.is_tarfile(path)
    except (OSError, EOFError):
        return False  # A truncated compressed file is reported by its reader.


def _counts(file: Path, folder: Path) -> bool:
    """Return whether a path is a file that is neither hidden nor a Mac's metadata."""
    parts = PurePosixPath(file.relative_to(folder).as_posix()).parts
    return file.is_file() and not any(one.startswith((".", "__MACOSX")) for one in parts)


def _unzip(path: Path, folder: Path, home: Path) -> None:
    unpacked_size.require(path, home)
    archive = layout.Archive(path)
    for name in archive.names():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with archive.open(name) as content, (folder / name).open("wb") as file:
            shutil.copyfileobj(content, file)


def _untar(path: Path, folder: Path, home: Path) -> None:
    """Extract a tar archive to a folder, if there is room."""
    try:
        with tarfile.open(path) as archive:
            size, most = 0, unpacked_size.free_disk(home)
            for member in archive:
                size += member.size
                if size > most:
                    raise Unavailable(
                        f"{path} unpacks to more than the free {sized(most)}: make room"
                    )
        with tarfile.open(path) as archive:
            untar(archive, folder)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise WrongInput(f"{path} is not a valid tar archive ({error}): pack it again") from None
