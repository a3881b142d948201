"""Slow answers in files of the home's caches, computed before anybody asks (`exports.ahead`). A
file is named by everything on which its answer depends: the query, the parameters, the parts behind
it, and the code."""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame

from compute.base.files import make_folder
from compute.base.settings import PROJECT

SLOW = 0.01
"""Seconds from which an answer is stored."""
LARGEST, MOST = 8_000_000, 500_000_000
"""Bytes of the largest file, and of all files after `trim`. In memory, an answer is up to 20 times
as large: a million queries are 80 MB, which are read in 0.05 s."""
_SUFFIX = ".answer.parquet"
_DAMAGED = OSError, pa.ArrowException, ValueError, KeyError, TypeError, NotImplementedError


def file(home: Path, *asked: object) -> Path:
    """Return the file of an answer; the `repr` of `asked` names the question and its parts."""
    named = hashlib.sha256(repr((_code(), *asked)).encode("utf-8", "surrogatepass")).hexdigest()
    return home / "caches" / f"{named}{_SUFFIX}"


def of(path: Path, compute: Callable[[], DataFrame], *, stores: bool) -> DataFrame:
    """Return the answer in a file, or compute it if there is none. If `stores`, store a slow
    one."""
    found = read(path)
    if found is None:
        begun = time.monotonic()
        found = compute()
        if stores and time.monotonic() - begun >= SLOW:
            write(path, found)
    return found


def read(path: Path) -> DataFrame | None:
    """Return a stored answer; None if there is none, or if its file is damaged."""
    frame = None
    with contextlib.suppress(*_DAMAGED):
        # Checksums are verified, since a file is not flushed to disk before it gets its name.
        stored = pq.ParquetFile(path, page_checksum_verification=True)
        frame = stored.read(use_threads=False).to_pandas()
        os.utime(path)  # an account that may not write reads the file all the same
    return frame


def write(path: Path, frame: DataFrame) -> None:
    """Store an answer if it is small enough and reads back unchanged. Nothing is stored in a home
    that is read-only or full."""
    if frame.memory_usage(deep=True).sum() > 20 * LARGEST:
        return
    # One process writes (`exports.ahead`), so what it leaves when killed is overwritten.
    aside = path.with_name(".answer.tmp")
    with contextlib.suppress(*_DAMAGED, OverflowError):
        make_folder(path.parent)
        aside.unlink(missing_ok=True)  # remove a link with this name, not its target
        try:
            table = pa.Table.from_pandas(frame)
            pq.write_table(table, aside, compression="zstd", write_page_checksum=True)
            if aside.stat().st_size <= LARGEST and _is_same(read(aside), frame):
                aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)


def trim(home: Path) -> None:
    """Delete the least recently used answers beyond MOST bytes in total."""
    with contextlib.suppress(OSError):
        found = {path: path.stat() for path in (home / "caches").glob(f"*{_SUFFIX}")}
        excess = sum(at.st_size for at in found.values()) - MOST
        for path in sorted(found, key=lambda path: found[path].st_mtime):
            if excess <= 0:
                break
            path.unlink(missing_ok=True)
            excess -= found[path].st_size


def _is_same(stored: DataFrame | None, frame: DataFrame) -> bool:
    if stored is None or stored.attrs != frame.attrs:
        return False
    with contextlib.suppress(AssertionError):
        pd.testing.assert_frame_equal(stored, frame, check_exact=True)
        return True
    return False


@cache
def _code() -> str:
    """Return a digest of the code that answers, and of the libraries whose versions may matter."""
    found = hashlib.sha256()
    for source in sorted((PROJECT / "compute").rglob("*.py")):
        found.update(source.read_bytes())
    for name in ("duckdb", "numpy", "pandas", "pyarrow", "scipy", "scikit-learn", "networkx"):
        found.update(f"{name} {version(name)}".encode())
    return found.hexdigest()
