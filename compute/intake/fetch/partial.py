"""A partial download: the bytes received so far, stored with the file's version."""

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from compute.base import json_files
from compute.base.errors import Conflict, Unavailable
from compute.base.files import make_folder, sync_folder
from compute.base.locks import sole

_PIECE = 1 << 20


@dataclass(frozen=True)
class Expected:
    """Expected size and checksum of a file."""

    algorithm: str
    """md5, sha256, or git: git's SHA-1 of a file, over `blob`, its size and its content."""
    digest: str
    size: int | None = None
    """Size in bytes, if known."""
    starts: bytes = b""
    """The file's first bytes, which distinguish an archive from a web page at once."""
    largest: int = 64 * 1024**3
    """Most bytes accepted if the size is unknown."""

    @property
    def limit(self) -> int:
        """Most bytes accepted; the checksum decides, not a published size."""
        return self.largest if self.size is None else 2 * self.size + 1_000_000


class Partial:
    """The hidden file next to its future place, and its note with address and version."""

    def __init__(self, to: Path, address: str, expected: Expected) -> None:
        self.to = to
        self.expected = expected
        self.path = to.with_name(f".{to.name}.part")
        self._note = to.with_name(f".{to.name}.part.json")
        # The address itself is not stored, since a mirror's may contain a password.
        of = hashlib.sha256(address.encode()).hexdigest()
        self._origin = {"address_sha256": of, "digest": expected.digest}
        self.in_one = False
        """Return whether all bytes came in one answer, to this process."""

    @property
    def size(self) -> int:
        """Number of bytes received so far."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def known(self) -> dict[str, Any]:
        """Facts from the server about the file; empty unless for this address and checksum."""
        try:
            note = json_files.parsed(self._note.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        same = isinstance(note, dict) and all(note.get(k) == v for k, v in self._origin.items())
        return note if same else {}

    def note(self, **said: Any) -> None:
        """Record the server's `validator` and `total` of the file."""
        make_folder(self._note.parent)
        self._note.write_text(json.dumps({**self._origin, **said}), encoding="utf-8")

    def clear(self) -> None:
        """Discard the bytes so far."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)
        self.in_one = False

    @contextmanager
    def growing(self, keep: bool) -> Iterator[BinaryIO]:
        """The file to append to, or to empty first. Raises Unavailable on a full disk."""
        make_folder(self.path.parent)
        self.in_one = not keep
        try:
            if not keep:
                self.path.unlink(missing_ok=True)
            with self.path.open("ab" if keep else "wb") as file:
                yield file
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise Unavailable(
                    f"the disk of {self.to.parent} is full: make room and fetch again, which"
                    " continues where it stopped"
                ) from None
            raise

    def digest(self, watch: Callable[[int], None]) -> str:
        """The checksum of the bytes so far; `watch` receives the number read."""
        algorithm = self.expected.algorithm
        state = hashlib.new("sha1" if algorithm == "git" else algorithm, usedforsecurity=False)
        if algorithm == "git":
            state.update(b"blob %d\0" % self.size)
        read = 0
        if not self.size:
            return state.hexdigest()
        with self.path.open("rb") as file:
            while piece := file.read(_PIECE):
                state.update(piece)
                watch(read := read + len(piece))
        return state.hexdigest()

    def publish(self) -> None:
        """Move the complete file into place, flushed to disk."""
        publish(self.path, self.to)
        with contextlib.suppress(OSError):
            self._note.unlink(missing_ok=True)


def publish(aside: Path, to: Path) -> None:
    """Give a complete file its name, so that it survives a power failure."""
    with aside.open("rb") as file:
        os.fsync(file.fileno())
    aside.replace(to)
    sync_folder(to.parent)


@contextmanager
def alone(to: Path) -> Iterator[None]:
    """Keep other processes from making the same file: raises Conflict for them."""
    with sole(to.with_name(f".{to.name}.lock")) as held:
        if held is None:
            raise Conflict(f"{to.stem} is already being downloaded: wait until that ends")
        yield
