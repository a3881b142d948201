"""Gathered runs: all runs on a dataset in one cached file, made from their parts of one kind. A
part has one run, with all ids in full. A page about all runs on all datasets would open 450 files
and match millions of ids; this opens one file per dataset, in which every id is stored once. The
file, in the home's caches, records its parts, and is rebuilt when they are replaced."""

import contextlib
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection

from compute.base import json_files
from compute.base.files import make_folder, written_aside
from compute.base.locks import locked

_RUNS = """
select dataset, list(system order by system), list(id order by system), list(path order by system)
from parts
where kind = $kind and rows > 0 and ($datasets is null or list_contains($datasets, dataset))
group by dataset
"""
_HOME = "select current_setting('file_search_path')"
_MADE = b"made"
_LARGEST_DICTIONARY = 2**30
"""Maximum bytes of a column's dictionary, so high that all its ids share one; an index into it then
identifies an id."""


class Runs(NamedTuple):
    """The parts of one kind on a dataset, in the order of their systems."""

    kind: str
    home: Path
    dataset: str
    systems: list[str]
    parts: list[str]
    """The ids of the parts."""
    paths: list[str]

    @property
    def files(self) -> list[Path]:
        """The files of the parts."""
        return [self.home / path for path in self.paths]

    @property
    def made_of(self) -> list[list[str | int]]:
        """The id, size and time of each part in the gathered file; a changed size or time may mean
        damage or repair. Raises OSError if a part's file is missing."""
        found = [file.stat() for file in self.files]
        stamps = [[at.st_size, at.st_mtime_ns] for at in found]
        return [[part, *at] for part, at in zip(self.parts, stamps, strict=True)]

    @property
    def file(self) -> Path:
        """The file in which they are gathered."""
        # The name is hashed, since a dataset can have any name.
        name = hashlib.sha256(self.dataset.encode()).hexdigest()
        # With picked superseded runs there are other parts, which have a file of their own.
        picked = "-picked" * any("@" in system for system in self.systems)
        return self.home / "caches" / f"{self.kind}-{name}{picked}.parquet"


def runs(
    cursor: DuckDBPyConnection, kind: str, datasets: Sequence[str] | None = None
) -> list[Runs]:
    """Return the parts of each of these datasets (default: all) that has any."""
    ((home,),) = cursor.execute(_HOME).fetchall()
    asked = None if datasets is None else list(datasets)
    rows = cursor.execute(_RUNS, {"kind": kind, "datasets": asked}).fetchall()
    return [Runs(kind, Path(home), *row) for row in rows]


def table(
    of: Runs, ids: Sequence[str], columns: Sequence[str], make: Callable[[Runs], pa.Table]
) -> pa.Table:
    """Return `columns` of the table that `make` makes from the parts (all if it has just been
    made). Columns in `ids` are dictionary-encoded. It has one chunk and no metadata."""
    kept = _kept(of, ids, columns)
    if kept is not None:
        return kept
    # Taken before the parts are read, so that a later change is noticed the next time.
    stamps = json.dumps(of.made_of)
    made = make(of).replace_schema_metadata({_MADE: stamps})
    # A home that is read-only or full can still be read.
    with contextlib.suppress(OSError):
        _write(made, ids, of)
    return made


def _kept(of: Runs, ids: Sequence[str], columns: Sequence[str]) -> pa.Table | None:
    """Return columns of the cached file; None if it is damaged or made of other parts."""
    with contextlib.suppress(OSError, pa.ArrowException, ValueError, KeyError):
        file = pq.ParquetFile(of.file, read_dictionary=ids, page_checksum_verification=True)
        if json_files.parsed(file.schema_arrow.metadata[_MADE]) == of.made_of:
            return file.read(columns=list(columns), use_threads=False).combine_chunks()
    return None


def _write(made: pa.Table, ids: Sequence[str], of: Runs) -> None:
    """Write a table to the cache, with one dictionary per column of ids."""
    make_folder(of.file.parent)
    with locked(of.home / "locks" / "gathered.lock"), written_aside(of.file, alone=True) as file:
        pq.write_table(
            made,
            file,
            row_group_size=max(len(made), 1),
            compression="lz4",
            use_dictionary=list(ids),  # pyrefly: ignore
            dictionary_pagesize_limit=_LARGEST_DICTIONARY,
            write_statistics=False,
            write_page_checksum=True,
        )
