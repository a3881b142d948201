"""A partial download: the bytes received so far, stored with the version of the file."""

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
    """The size and checksum that a file should have."""

    algorithm: str
    """md5, sha256, or git: the SHA-1 of `blob`, the file's size and its content."""
    digest: str
    size: int | None = None
    """Size in bytes, if known."""
    starts: bytes = b""
    """The file's first bytes, which tell an archive from a web page at once."""
    largest: int = 64 * 1024**3
    """Maximum number of bytes accepted if the size is unknown."""

    @property
    def limit(self) -> int:
        """Maximum number of bytes accepted. A published size may be wrong; the checksum decides."""
        return self.largest if self.size is None else 2 * self.size + 1_000_000


class Partial:
    """A hidden file next to the download's future place, and a note of its address and version."""

    def __init__(self, to: Path, address: str, expected: Expected) -> None:
        self.to, self.address, self.expected = to, address, expected
        self.path = to.with_name(f".{to.name}.part")
        self._note = to.with_name(f".{to.name}.part.json")
        # The address itself is not noted, since that of a mirror may contain a password.
        of = hashlib.sha256(address.encode()).hexdigest()
        self._origin = {"address_sha256": of, "digest": expected.digest}
        self.in_one = False
        """Whether all bytes came in one answer to this process."""

    @property
    def size(self) -> int:
        """Number of bytes received so far."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def known(self) -> dict[str, Any]:
        """Return the noted facts about the file; nothing for another address or checksum."""
        try:
            note = json_files.parsed(self._note.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        same = isinstance(note, dict) and all(note.get(k) == v for k, v in self._origin.items())
        return note if same else {}

    def note(self, **said: Any) -> None:
        """Note the server's `validator` (version) and `total` (size) of the file."""
        make_folder(self._note.parent)
        self._note.write_text(json.dumps({**self._origin, **said}), encoding="utf-8")

    def clear(self) -> None:
        """Discard the bytes received so far."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)
        self.in_one = False

    @contextmanager
    def growing(self, keep: bool) -> Iterator[BinaryIO]:
        """Open the file to append or, unless `keep`, to rewrite. Raises Unavailable without
        space."""
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
        """Return the checksum of the bytes so far; `watch` is called with the number read."""
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
        """Move the complete file to its place, flushed to disk."""
        publish(self.path, self.to)
        with contextlib.suppress(OSError):
            self._note.unlink(missing_ok=True)


def publish(aside: Path, to: Path) -> None:
    """Give a complete file its name in a way that survives a power failure."""
    with aside.open("rb") as file:
        os.fsync(file.fileno())
    aside.replace(to)
    sync_folder(to.parent)


@contextmanager
def alone(to: Path) -> Iterator[None]:
    """Raise Conflict if another process is making the same file; otherwise keep others out."""
    with sole(to.with_name(f".{to.name}.lock")) as held:
        if held is None:
            raise Conflict(f"{to.stem} is already being downloaded: wait until that ends")
        yield
