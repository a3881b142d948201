"""Text files, plain or compressed, recognised by their first bytes and opened within limits."""

import io
import lzma
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from compute.base.errors import Missing, WrongInput

LARGEST_RATIO = 200
"""The largest plausible ratio of unpacked to packed size, for files that unpack to more than FREELY
bytes. Real text, such as runs, reaches 3 to 30."""
FREELY = 64 * 1024**2
"""Bytes that a file may unpack to, whatever its packed size."""
LARGEST_TEXT = 1024**3
"""Maximum bytes of a file that is read into memory as a whole, such as a file of queries."""
_PIECE = 16 * 1024**2
_START = 262
"""Number of unpacked bytes that suffice to recognise the format of a file."""
_XZ = "xz"
_COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bz2",
    b"\x04\x22\x4d\x18": "lz4",
    b"\xfd7zXZ\x00": _XZ,
}
_STRANGERS = {
    re.compile(rb"PK\x03\x04"): "a zip archive",
    re.compile(rb"\x02\x21\x4c\x18"): "compressed with the old LZ4 format",
    re.compile(rb"\x1f\x9d"): "compressed with compress",
    re.compile(rb"\x1f\x8b|\x28\xb5\x2f\xfd|BZh[1-9]1AY&SY|\xfd7zXZ\x00"): "packed twice",
    re.compile(rb".{257}ustar", re.DOTALL): "a tar archive",
    re.compile(rb"7z\xbc\xaf\x27\x1c"): "a 7z archive",
    re.compile(rb"Rar!\x1a\x07"): "a rar archive",
    re.compile(rb"\xff\xfe|\xfe\xff"): "text in UTF-16",
    re.compile(rb"PAR1"): "a Parquet file",
    re.compile(rb"%PDF-"): "a PDF",
    re.compile(rb"\x89PNG"): "a picture",
}
"""Pattern of the first unpacked bytes of each format that is refused, and its name in the error."""


def refuse_special(path: Path) -> None:
    """Raise WrongInput for a pipe, a device or a socket, which may block or never end."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise WrongInput(f"{path} is a pipe, a device or a socket: write its output to a file")


@contextmanager
def opened(path: Path) -> Iterator[pa.NativeFile]:
    """Open a file and decompress it by its first bytes. Raises Missing or WrongInput."""
    refuse_special(path)
    with reading(path):
        with path.open("rb") as file:
            packing = _compression(file.read(10))
        with _unpacking(path, packing) as file:
            start = file.read(_START)
        for stranger, name in _STRANGERS.items():
            if stranger.match(start):
                raise WrongInput(f"{path} is {name}, not UTF-8 text: convert it first")
        with _unpacking(path, packing) as file:
            yield file


def _unpacking(path: Path, packing: str | None) -> pa.NativeFile:
    if packing == _XZ:
        return pa.PythonFile(lzma.open(path), mode="r")
    return pa.input_stream(str(path), compression=packing)


class Bytes(io.FileIO):
    """A file for `io.BufferedReader` whose system errors become Missing or WrongInput."""

    def __init__(self, path: Path) -> None:
        refuse_special(path)
        with reading(path):
            super().__init__(path)
        self._path = path

    def readinto(self, buffer: Any) -> int | None:
        """Fill the buffer, and return the number of bytes read. Raises WrongInput."""
        with reading(self._path):
            return super().readinto(buffer)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn every system error within the block into Missing or WrongInput with the file's name."""
    try:
        yield
    except FileNotFoundError:
        raise Missing(f"{path} does not exist: check the path") from None
    except IsADirectoryError:
        raise WrongInput(f"{path} is a folder: name a file") from None
    except (OSError, EOFError, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or error
        raise WrongInput(f"{path} cannot be read ({reason}): fetch or pack it again") from None


def is_packed(path: Path) -> bool:
    """Return whether the file is compressed."""
    with reading(path), path.open("rb") as file:
        return _compression(file.read(10)) is not None


def _compression(start: bytes) -> str | None:
    """Return the compression that the first bytes show; None for a plain file."""
    kinds = (kind for magic, kind in _COMPRESSIONS.items() if start.startswith(magic))
    return next(kinds, None)


def most(path: Path) -> int:
    """Return the largest plausible unpacked size of a compressed text file, in bytes."""
    return max(FREELY, LARGEST_RATIO * path.stat().st_size)


def unpacked(path: Path, enough: int) -> int:
    """Return the number of bytes that a file unpacks to; counting stops once it exceeds `enough`.
    Raises the errors of `pieces`."""
    total = 0
    for piece in pieces(path):
        total += len(piece)
        if total > enough:
            break
    return total


def pieces(path: Path, size: int = _PIECE) -> Iterator[bytes]:
    """Yield the file's bytes, decompressed, in blocks. Raises Missing if it does not exist, and
    WrongInput if it cannot be read or unpacks to an implausible size."""
    total = 0
    with opened(path) as file:
        largest = most(path)
        while piece := file.read(size):
            total += len(piece)
            if total > largest:
                raise WrongInput(
                    f"{path} unpacks to more than {largest:,} bytes and is not read further:"
                    " pack it again"
                )
            yield piece


def content(path: Path) -> bytes:
    """Return the content of a file. Raises Missing or WrongInput, the latter also for a file that
    is too large for memory."""
    found = bytearray()
    for piece in pieces(path):
        found += piece
        if len(found) > LARGEST_TEXT:
            raise WrongInput(f"{path} has more than {LARGEST_TEXT:,} bytes: is it the right file?")
    return bytes(found)


def utf8(path: Path) -> str:
    """Return the text of a file. Raises Missing, or WrongInput with the line that is not UTF-8."""
    text = content(path)
    if b"\0" in text:
        line = text[: text.index(b"\0")].count(b"\n") + 1
        raise WrongInput(f"{path}, line {line}: it contains a NUL character; fix the line")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text[: error.start].count(b"\n") + 1
        raise WrongInput(f"{path}, line {line}: it is not UTF-8 text; fix the line") from None
