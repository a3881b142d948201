"""The bucket: shared storage for the parts of several homes, in S3 or a compatible server. Each
home's folder of parts is then a cache of the bucket. An object is named like its file below that
folder; it is complete if it exists, and is never overwritten."""

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
"""How long unlisted objects stay: longer than files, since the use of a shard is not recorded."""
_MARK = "identity"
_BLOCK = 8 * 1024**2
_TIMES = {"connect_timeout": 10, "request_timeout": 60}
"""Seconds without a byte after which a request is aborted; it is retried twice."""
_WHY = re.compile(r"AWS Error (?:\[(code \d+)\]|(\w+)).*? during (\w+)")
_SERVER = re.compile(r"(https?)://([\w.-]+(?::\d+)?|\[[\da-fA-F:.]+\](?::\d+)?)/?")
_OWN = re.compile(
    r"(trash/[\d-]{10}/)?([a-z_]+/[\da-f]{32}\.parquet|shards/[\da-f]{64}\.tar(\.tmp)?)"
)
"""Matches the names that this module gives; other objects are left alone."""


class _Different(Exception):
    """Raised if the content has changed since it was written."""


class Object(NamedTuple):
    """An object of a bucket: its size, and when it was written."""

    bytes: int
    came: datetime


class Bucket:
    """The part of a bucket that belongs to one state."""

    def __init__(self, address: str, identity: str) -> None:
        self.address = address
        self._identity = identity
        self._root = address.removeprefix("s3://").rstrip("/")

    @cached_property
    def _client(self) -> Any:
        """PyArrow's client; environment, profile or machine provide region and credentials."""
        from pyarrow.fs import S3FileSystem

        own: dict[str, Any] = {}
        if server := os.environ.get("AWS_ENDPOINT_URL", ""):
            # PyArrow would send another service's key to Amazon, or ignore a value it cannot use.
            if not (found := _SERVER.fullmatch(server)):
                raise Unavailable(
                    "AWS_ENDPOINT_URL is not like http://host:9000 or https://host: fix or unset it"
                )
            own = {"scheme": found[1], "endpoint_override": found[2]}
        # In the background, it would read files into memory faster than it can send them.
        return S3FileSystem(**own, **_TIMES, background_writes=False)

    def claim(self) -> None:
        """Mark the place as the state's. Raises Conflict if it belongs to another state. If two
        states find it free at once, one gets it in the end, so each checks before every action."""
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
        """Upload a complete file. Raises Unavailable if it does not arrive intact."""
        self.claim()
        with file.open("rb") as source:
            self._send(name, iter(lambda: source.read(_BLOCK), b""))
        with self._explained():
            size = self._client.get_file_info(f"{self._root}/{name}").size
        if size != file.stat().st_size:
            raise Unavailable(f"{self.address} did not store all of {name}: try again")

    def get(self, name: str, file: Path, sha256: str = "") -> str:
        """Download an object to a file; return its damage, if any, in which case no file is
        written. Raises Unavailable if the bucket does not answer or belongs to another state."""
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
        """Return the parts and shards in the bucket by name; removed ones are in `trash/`."""
        from pyarrow.fs import FileSelector

        with self._explained():
            found = self._client.get_file_info(FileSelector(self._root, recursive=True))
        start, now = len(self._root) + 1, datetime.now(UTC)
        every = {info.path[start:]: Object(info.size, info.mtime or now) for info in found}
        return {name: lies for name, lies in every.items() if _OWN.fullmatch(name)}

    def move(self, name: str, to: str) -> None:
        """Rename an object."""
        with self._explained():
            self._client.move(f"{self._root}/{name}", f"{self._root}/{to}")

    def tidy(self, lying: Mapping[str, Object], listed: Collection[str], at: datetime) -> None:
        """Move old objects of `lying` whose ids are not `listed` to the trash, and delete those
        that have been there for 30 days. Objects that cannot be moved stay."""
        for name, lies in lying.items():
            folder, rest = name.split("/", 1)
            if folder == "trash":
                day = trash.day(rest[:10])
                if day and day < (at - trash.STAYS).date():
                    self._remove(name)
            elif Path(rest).stem not in listed and lies.came < at - UNLISTED_STAYS:
                # Another machine may be tidying, too, or the object is larger than S3 can copy.
                with suppress(FileNotFoundError, Unavailable):
                    self.move(name, f"trash/{at.date().isoformat()}/{name}")

    def _mark(self) -> str:
        """Return the identity of the state whose parts are here; empty if there is none."""
        try:
            return b"".join(self._blocks(_MARK)).decode("utf-8", "replace")
        except (FileNotFoundError, _Different):
            return ""

    def _send(self, name: str, blocks: Iterable[bytes]) -> None:
        """Write an object; if that fails, remove what was written."""
        with self._explained():
            target = None
            try:
                target = self._client.open_output_stream(f"{self._root}/{name}")
                for block in blocks:
                    target.write(block)
                target.close()
            except BaseException:
                # PyArrow closes an abandoned object as if it were complete, so it is removed; if
                # that fails, too, `tidy` notices the different size.
                if target is not None:
                    with suppress(OSError):
                        target.close()
                self._remove(name)
                raise

    def _blocks(self, name: str) -> Iterator[bytes]:
        """Yield the content of an object. Raises _Different if it is empty."""
        with self._explained(), self._client.open_input_file(f"{self._root}/{name}") as source:
            if not source.size():
                # PyArrow also reports no size if the answer breaks off in its header.
                raise _Different if self._is_empty(name) else OSError
            while block := source.read(_BLOCK):
                yield block

    def _is_empty(self, name: str) -> bool:
        """Return whether an object is empty, as after an interrupted upload."""
        from pyarrow.fs import FileSelector

        path = f"{self._root}/{name}"
        found = self._client.get_file_info(
            FileSelector(path.rpartition("/")[0], allow_not_found=True)
        )
        return any(info.path == path and not info.size for info in found)

    def _remove(self, name: str) -> None:
        # What remains is in no manifest, so `tidy` removes it.
        with suppress(OSError):
            self._client.delete_file(f"{self._root}/{name}")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise Unavailable for refusals of the server; errors of the disk have a number."""
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
