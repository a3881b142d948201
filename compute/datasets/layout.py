"""The files of the BEIR layout, in a folder or inside a zip archive, which is not unpacked. Nothing
from an archive is written to disk. An archive is nevertheless refused if it contains links, paths
that lead out of it, duplicate names, or files of implausible unpacked size."""

import io
import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO

from compute.base.errors import Missing, WrongInput
from compute.base.words import shown
from compute.datasets import compressed
from compute.datasets.compressed import LARGEST_RATIO

LARGEST_FILE = 256 * 1024**3
"""Maximum unpacked bytes of a file in an archive; BEIR's largest corpus has 22 GB."""
FREELY = 10 * 1024**2
"""Bytes that a file may unpack to, whatever its packed size."""
MOST_FILES = 10_000
"""Maximum number of files in an archive; CQADupStack's twelve collections have under a hundred."""

CORPUS = "corpus.jsonl"
QUERIES = "queries.jsonl"


@dataclass(frozen=True)
class Folder:
    """Files in a folder. Links are followed, since the folder is the user's."""

    path: Path

    def roots(self) -> list[str]:
        """Return the folder itself and folders up to two levels down, if they contain a corpus."""
        found = [
            file.parent.relative_to(self.path)
            for depth in ("", "*/", "*/*/")
            for file in self.path.glob(depth + CORPUS)
        ]
        return sorted("" if root == Path() else root.as_posix() for root in found)

    def splits(self, root: str) -> list[str]:
        """Return the sorted names of the qrels files of a root, without `.tsv`."""
        return sorted(file.stem for file in (self.path / root / "qrels").glob("*.tsv"))

    def where(self, name: str) -> str:
        """Return the name of a file for messages."""
        return str(self.path / name)

    def stamp(self, names: list[str]) -> dict[str, Any]:
        """Return a quick identity: the folder's path, and each file's name, size and time."""
        return {"path": str(self.path), "files": [_stamp(self.path / name) for name in names]}

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Open a buffered stream of the file. Raises Missing, or WrongInput if it is unreadable."""
        try:
            stream = compressed.Bytes(self.path / name)
        except Missing:
            raise _absent(self.where(name), None) from None
        with io.BufferedReader(stream) as buffered:
            yield buffered


@dataclass(frozen=True)
class Archive:
    """Files inside a zip archive, read as streams."""

    path: Path

    def roots(self) -> list[str]:
        """Return the inner folders, up to two levels down, that contain a corpus."""
        names = (PurePosixPath(name) for name in self._members())
        found = [name.parent for name in names if name.name == CORPUS and len(name.parts) <= 3]
        visible = [root for root in found if "__MACOSX" not in root.parts]
        return sorted("" if root == PurePosixPath() else str(root) for root in visible)

    def splits(self, root: str) -> list[str]:
        """Return the sorted names of the qrels files of a root, without `.tsv`."""
        folder = PurePosixPath(root) / "qrels"
        names = (PurePosixPath(name) for name in self._members())
        found = (name for name in names if name.parent == folder and name.suffix == ".tsv")
        return sorted(name.stem for name in found if not name.name.startswith("."))

    def where(self, name: str) -> str:
        """Return the name of a file for messages."""
        return f"{self.path}: {name}"

    def stamp(self, names: list[str]) -> dict[str, Any]:
        """Return a quick identity: the archive's path, size and time, and these names in it."""
        return {"path": str(self.path), "files": [_stamp(self.path)], "members": names}

    def names(self) -> list[str]:
        """Return the sorted names of its files. Raises WrongInput if one of them is unsafe."""
        return sorted(self._members())

    def unpacked(self) -> int:
        """Return the total unpacked bytes of its files. Raises WrongInput if one is unsafe."""
        return sum(info.file_size for info in self._members().values())

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Open a buffered stream of the file. Raises Missing, or WrongInput if it is damaged."""
        member = self._members().get(name)
        if member is None:
            raise _absent(self.where(name), None)
        with ExitStack() as stack:
            with _refusing_damage(self.where(name)):
                archive = stack.enter_context(zipfile.ZipFile(self.path))
                stream = stack.enter_context(archive.open(member))
            yield io.BufferedReader(_Unpacked(stream, self.where(name)), 1 << 20)

    def _members(self) -> dict[str, zipfile.ZipInfo]:
        """Return the files by normalised name. Raises WrongInput for an unsafe archive."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                infos = archive.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error) as error:
            raise WrongInput(f"{self.path} is not a valid zip archive ({error})" + _AGAIN) from None
        except OSError as error:
            raise _absent(str(self.path), error) from None
        members: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            _safe(self.path, info)
            # A backslash counts as a slash, and a leading ./ is dropped.
            name = str(PurePosixPath(_posix(info)))
            if name in members:
                raise WrongInput(f"{self.path} contains {shown(info.filename)} twice" + _AGAIN)
            members[name] = info
        _safe_together(self.path, infos)
        return {name: info for name, info in members.items() if not _posix(info).endswith("/")}


_AGAIN = ": pack or fetch it again"
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,  # raised by bzip2
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
"""Exceptions that zipfile and its decompressors raise for damaged archives."""


@contextmanager
def _refusing_damage(where: str) -> Iterator[None]:
    """Turn these exceptions into WrongInput within the block."""
    try:
        yield
    except _DAMAGE as error:
        raise WrongInput(f"{where} is damaged ({error}): fetch it again") from None


class _Unpacked(io.RawIOBase):
    """A file of an archive; any error while it is decompressed becomes WrongInput."""

    def __init__(self, stream: IO[bytes], where: str) -> None:
        self._stream = stream
        self._where = where

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with available data, and return the number of bytes."""
        view = memoryview(buffer)
        with _refusing_damage(self._where):
            found = self._stream.read(len(view))
        view[: len(found)] = found
        return len(found)


Files = Folder | Archive
"""The files of one or more collections, by their path inside the folder or archive."""


def files(path: Path) -> Files:
    """Return the files of the folder or zip archive at a path. Raises Missing or WrongInput."""
    if path.is_dir():
        return Folder(path)
    if not path.exists():
        raise Missing(f"{path} does not exist: give a folder or a zip archive of the BEIR layout")
    compressed.refuse_special(path)
    if not zipfile.is_zipfile(path):
        raise WrongInput(f"{path} is neither a folder nor a valid zip archive" + _AGAIN)
    return Archive(path)


def root(files: Files, part: str = "") -> str:
    """Return the inner folder of the collection or, with `part`, the folder of that name (a forum).
    Raises WrongInput unless exactly one fits."""
    roots = files.roots()
    if part:
        fitting = [name for name in roots if PurePosixPath(name).name == part]
    else:
        fitting = [""] if "" in roots else [name for name in roots if name.count("/") == 0]
    if len(fitting) == 1:
        return fitting[0]
    if not roots:
        raise WrongInput(f"{files.path} contains no {CORPUS}: it is not in the BEIR layout")
    what = f"no single folder {part!r}, but" if part else "several collections,"
    raise WrongInput(f"{files.path} contains {what} {', '.join(roots)}: name one of them")


def _safe_together(path: Path, infos: list[zipfile.ZipInfo]) -> None:
    """Raise WrongInput for too many files or too large a total unpacked size. Files that share
    packed bytes may each be within the limits while their total is not."""
    if len(infos) > MOST_FILES:
        raise WrongInput(
            f"{path} contains {len(infos):,} files, more than {MOST_FILES:,}: it is not opened"
            + _AGAIN
        )
    total = sum(info.file_size for info in infos)
    if total > LARGEST_FILE or total > max(FREELY, LARGEST_RATIO * path.stat().st_size):
        raise WrongInput(
            f"{path} would unpack to {total:,} bytes in all: it is not opened" + _AGAIN
        )


def _posix(info: zipfile.ZipInfo) -> str:
    return info.filename.replace("\\", "/")


def _safe(path: Path, info: zipfile.ZipInfo) -> None:
    """Raise WrongInput for a file in an archive that must not be opened."""
    name = PurePosixPath(_posix(info))
    trouble = ""
    if not info.filename:
        trouble = "has no name"
    elif name.is_absolute() or ".." in name.parts:
        trouble = "leads out of the archive"
    elif stat.S_ISLNK(info.external_attr >> 16):
        trouble = "is a link"
    elif info.flag_bits & 1:
        trouble = "is encrypted"
    elif info.file_size > LARGEST_FILE or (
        info.file_size > FREELY and info.file_size > LARGEST_RATIO * info.compress_size
    ):
        trouble = f"would unpack to {info.file_size:,} bytes"
    if trouble:
        raise WrongInput(f"{path}: {shown(info.filename)} {trouble}: it is not opened" + _AGAIN)


def _stamp(file: Path) -> dict[str, Any]:
    """Return name, size and modification time of a file. Raises Missing."""
    try:
        state = file.stat()
    except OSError as error:
        raise _absent(str(file), error) from None
    return {"name": file.name, "size": state.st_size, "mtime_ns": state.st_mtime_ns}


def _absent(where: str, error: OSError | None) -> Missing:
    """Return the error for a file that does not exist or cannot be read."""
    if error is None or isinstance(error, FileNotFoundError):
        return Missing(f"{where} is missing: add it")
    return Missing(f"{where} cannot be read ({error.strerror}): fix its permissions or replace it")
