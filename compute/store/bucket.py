"""The bucket: where the parts of several homes lie together, in S3 or a server with its interface.

The folder of parts of each home is a cache of it then. An object has the name that its file has
below that folder; it is there whole or not at all, and is never written over.
"""

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from compute.base.errors import Conflict, Unavailable
from compute.base.files import make_folder, written_aside
from compute.store import trash

UNLISTED_STAYS = timedelta(days=7)
"""Longer than in a folder: no use of a shard of an index is seen in the bucket."""
_MARK = "identity"
_BLOCK = 8 * 1024**2
_TIMES = {"connect_timeout": 10, "request_timeout": 60}
"""Seconds without a byte after which an answer is given up, and asked for again twice."""
_WHY = re.compile(r"AWS Error (?:\[(code \d+)\]|(\w+)).*? during (\w+)")
_SERVER = re.compile(r"(https?)://([\w.-]+(?::\d+)?|\[[\da-fA-F:.]+\](?::\d+)?)/?")
_OWN = re.compile(
    r"(trash/[\d-]{10}/)?([a-z_]+/[\da-f]{32}\.parquet|shards/[\da-f]{64}\.tar(\.tmp)?)"
)
"""The names that this module gives: other objects belong to others."""


class _Different(Exception):
    """The content has changed since it was written."""


class Object(NamedTuple):
    """Object of a bucket."""

    bytes: int
    came: datetime


class Bucket:
    """The place in a bucket that belongs to one state."""

    def __init__(self, address: str, identity: str) -> None:
        self.address = address
        self._identity = identity
        self._root = address.removeprefix("s3://").rstrip("/")

    @cached_property
    def _client(self) -> Any:
        """PyArrow's: region and credentials are those of the environment, a profile or machine."""
        from pyarrow.fs import S3FileSystem

        own: dict[str, Any] = {}
        if server := os.environ.get("AWS_ENDPOINT_URL", ""):
            # PyArrow would ask Amazon, with the key of another service, or drop what it cannot use.
            if not (found := _SERVER.fullmatch(server)):
                raise Unavailable(
                    "AWS_ENDPOINT_URL is not as http://host:9000 or https://host: fix or unset it"
                )
            own = {"scheme": found[1], "endpoint_override": found[2]}
        # In the background it would take a file into memory as fast as the disk gives it.
        return S3FileSystem(**own, **_TIMES, background_writes=False)

    def claim(self) -> None:
        """Mark the place as the state's. Raises Conflict if it is another's.

        Of two states that find it free at the same time one has it in the end, so each looks again
        before all that it does.
        """
        found = self._mark()
        if not found:
            self._send(_MARK, [self._identity.encode()])
            found = self._mark()
        if found != self._identity:
            raise Conflict(
                f"{self.address} holds the parts of another state: name another place by the"
                f" setting `parts_at`, or remove the object `{_MARK}` there to take it over"
            )

    def put(self, file: Path, name: str) -> None:
        """Upload a whole file. Raises Unavailable if it does not arrive so."""
        self.claim()
        with file.open("rb") as source:
            self._send(name, iter(lambda: source.read(_BLOCK), b""))
        with self._explained():
            size = self._client.get_file_info(f"{self._root}/{name}").size
        if size != file.stat().st_size:
            raise Unavailable(f"{self.address} has not kept all of {name}: try again")

    def get(self, name: str, file: Path, sha256: str = "") -> str:
        """Download an object to a file; its damage, if any: then there is no file.

        Raises Unavailable if the bucket does not answer, or is not the state's.
        """
        make_folder(file.parent)
        found = hashlib.sha256()
        try:
            with written_aside(file) as aside:
                for block in self._blocks(name):
                    found.update(block)
                    aside.write(block)
                if sha256 not in ("", found.hexdigest()):
                    raise _Different
        except FileNotFoundError:
            if self._mark() == self._identity:
                return "lost"
            raise Unavailable(f"{self.address} has no part of this state: see `parts_at`") from None
        except _Different:
            return "damaged: its content has changed since it was written"
        return ""

    def lying(self) -> dict[str, Object]:
        """The parts and shards there, by name; removed ones are in `trash/`."""
        from pyarrow.fs import FileSelector

        with self._explained():
            found = self._client.get_file_info(FileSelector(self._root, recursive=True))
        start, now = len(self._root) + 1, datetime.now(UTC)
        every = {info.path[start:]: Object(info.size, info.mtime or now) for info in found}
        return {name: lies for name, lies in every.items() if _OWN.fullmatch(name)}

    def move(self, name: str, to: str) -> None:
        """Give an object another name."""
        with self._explained():
            self._client.move(f"{self._root}/{name}", f"{self._root}/{to}")

    def tidy(self, lying: Mapping[str, Object], listed: Collection[str], at: datetime) -> None:
        """Move old objects of `lying` that are not `listed` (ids) to the trash, and delete
        those that have been there for 30 days. What cannot be moved stays."""
        for name, lies in lying.items():
            folder, rest = name.split("/", 1)
            if folder == "trash":
                day = trash.day(rest[:10])
                if day and day < (at - trash.STAYS).date():
                    self._remove(name)
            elif Path(rest).stem not in listed and lies.came < at - UNLISTED_STAYS:
                # Another machine tidies too, or it is larger than S3 copies.
                with suppress(FileNotFoundError, Unavailable):
                    self.move(name, f"trash/{at.date().isoformat()}/{name}")

    def _mark(self) -> str:
        """The identity of the state whose parts are here; empty if there are none."""
        try:
            return b"".join(self._blocks(_MARK)).decode("utf-8", "replace")
        except (FileNotFoundError, _Different):
            return ""

    def _send(self, name: str, blocks: Iterable[bytes]) -> None:
        with self._explained():
            target = None
            try:
                target = self._client.open_output_stream(f"{self._root}/{name}")
                for block in blocks:
                    target.write(block)
                target.close()
            except BaseException:
                # PyArrow closes an abandoned object as if it were complete. If this is cut off,
                # too, housekeeping notices the different size.
                if target is not None:
                    with suppress(OSError):
                        target.close()
                self._remove(name)
                raise

    def _blocks(self, name: str) -> Iterator[bytes]:
        with self._explained(), self._client.open_input_file(f"{self._root}/{name}") as source:
            if not source.size():
                # So it looks where the answer breaks off in its head, too.
                raise _Different if self._is_empty(name) else OSError
            while block := source.read(_BLOCK):
                yield block

    def _is_empty(self, name: str) -> bool:
        """Whether an object has no bytes, as after an upload that was cut off."""
        from pyarrow.fs import FileSelector

        path = f"{self._root}/{name}"
        found = self._client.get_file_info(
            FileSelector(path.rpartition("/")[0], allow_not_found=True)
        )
        return any(info.path == path and not info.size for info in found)

    def _remove(self, name: str) -> None:
        # Remains are in no manifest: housekeeping removes them.
        with suppress(OSError):
            self._client.delete_file(f"{self._root}/{name}")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raises Unavailable for refusals of the server; errors of disks have a number."""
        try:
            yield
        except OSError as error:
            if error.errno is not None:
                raise
            found = _WHY.search(str(error))
            why = f"{found[1] or found[2]} during {found[3]}" if found else "no answer"
            raise Unavailable(
                f"{self.address} cannot be used ({why}): see the setting `parts_at` and the"
                " variables AWS_… of the environment, then try again"
            ) from None
