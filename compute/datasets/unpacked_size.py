"""A check of free memory and disk space before a compressed file is read."""

import contextlib
import shutil
import zipfile
from pathlib import Path

import psutil

from compute.base.errors import Unavailable
from compute.base.words import sized
from compute.datasets import compressed, layout

RESERVE = 256 * 1024**2
"""Bytes of a disk that are always left free for other files."""
TAKES = 8
"""Bytes of memory per byte of text. Measured: 3 to 7 for runs, 8 to 17 for qrels and topics."""


def require(path: Path, home: Path) -> None:
    """Raise Unavailable, with the sizes, if a compressed file unpacks to more than the free space.
    Its content is written to parts in the home folder; before that a run, qrels or texts are held
    in memory, but an archive is not. Raises WrongInput for a file that is damaged or has an absurd
    compression ratio. Plain files, folders, and compressed files that fit at any plausible ratio
    pass without being read."""
    place = home / "parts" if (home / "parts").exists() else home
    disk, memory = free_disk(place), free_memory() // TAKES
    of_disk = f"on the disk of {place}, besides the {sized(RESERVE)} kept free"
    of_memory = f"in the memory of this machine for text, which takes {TAKES} times as much"
    compressed.refuse_special(path)
    if path.is_file() and zipfile.is_zipfile(path):
        size = layout.Archive(path).unpacked()
        told, most, where = sized(size), disk, of_disk
    elif (
        path.is_file() and compressed.is_packed(path) and compressed.most(path) > min(disk, memory)
    ):
        most, where = min((disk, of_disk), (memory, of_memory))
        size = compressed.unpacked(path, most)
        told = f"more than {sized(most)}"
    else:
        return
    if size > most:
        raise Unavailable(
            f"{path} has {sized(path.stat().st_size)} and unpacks to {told}, but"
            f" {sized(most)} are"
            f" free {where}: make room, or give a part of it"
        )


def free_disk(place: Path) -> int:
    """Return the bytes that may be written to a folder, which need not exist yet."""
    there = next(one for one in (place, *place.absolute().parents) if one.exists())
    return max(0, shutil.disk_usage(there).free - RESERVE)


def free_memory() -> int:
    """Return the bytes of memory still available on this machine and in its container, if any."""
    limits = [psutil.virtual_memory().available]
    with contextlib.suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        most = int((group / "memory.max").read_text("ascii"))
        limits.append(most - int((group / "memory.current").read_text("ascii")))
    return max(0, min(limits))
