"""Packing of downloaded files into an archive in the BEIR layout; nothing is unpacked to disk."""

import gzip
import json
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from compute.base.errors import WrongInput
from compute.base.files import make_folder
from compute.datasets.layout import FREELY, LARGEST_FILE, LARGEST_RATIO

ABOUT = "fetched.json"
"""The file in an archive that names its sources."""
_PIECE = 1 << 20
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The time of every file, so that the same files give the same archive."""


def pack(
    to: Path,
    members: Iterable[tuple[str, Path]],
    about: Mapping[str, Any],
    watch: Callable[[int], None],
) -> None:
    """Write an archive of (name in the archive, file); files that end in .gz are decompressed.
    `watch` is called with the number of bytes so far. Raises WrongInput for a file that is damaged
    or unpacks to an implausible size."""
    make_folder(to.parent)
    written = 0
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in members:
            with archive.open(_entry(name), "w", force_zip64=True) as member:
                for piece in _content(file):
                    member.write(piece)
                    watch(written := written + len(piece))
        archive.writestr(_entry(ABOUT), json.dumps(about, indent=1))


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _FIRST_DAY)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def _content(file: Path) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces, decompressed if its name ends in .gz."""
    limit = min(max(FREELY, LARGEST_RATIO * file.stat().st_size), LARGEST_FILE)
    read = 0
    with _opened(file) as stream:
        while piece := stream.read(_PIECE):
            read += len(piece)
            if file.suffix == ".gz" and read > limit:
                raise WrongInput(f"{file.name} unpacks to more than {limit:,} bytes: not taken")
            yield piece


@contextmanager
def _opened(file: Path) -> Iterator[gzip.GzipFile | BinaryIO]:
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
            yield stream
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise WrongInput(f"{file.name} is damaged ({error}): fetch it again") from None
