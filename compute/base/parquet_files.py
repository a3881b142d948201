"""Parquet files of any size, read in batches."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from compute.base.words import typed

BATCH = 5_000
"""Rows per batch: as documents of a few hundred words, they make up a few megabytes of text."""
_BUFFER = 1024**2


def schema(columns: str) -> pa.Schema:
    """Return the schema of columns that are written as for `words.typed`."""
    return pa.schema([(name, pa.type_for_alias(of)) for name, of in typed(columns)])


def opened(path: Path) -> pq.ParquetFile:
    """Open a file whose batches are read from disk on demand."""
    # By default PyArrow prefetches all row groups, and so the whole corpus, into memory.
    return pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER)


def batches(
    path: Path, columns: Sequence[str] | None = None, rows: int = BATCH
) -> Iterator[pa.RecordBatch]:
    """Yield these columns (None: all) of a file, in batches of this many rows."""
    with opened(path) as file:
        yield from file.iter_batches(rows, columns=columns)
