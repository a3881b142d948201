"""Parquet: files opened to be read a batch at a time, whatever their size."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from compute.base.words import typed

BATCH = 5_000
"""Rows of a batch: documents of some hundred words are a few megabytes of text."""
_BUFFER = 1024**2


def schema(columns: str) -> pa.Schema:
    """The schema of columns that `words.typed` reads."""
    return pa.schema([(name, pa.type_for_alias(of)) for name, of in typed(columns)])


def opened(path: Path) -> pq.ParquetFile:
    """A file whose batches are read from disk on demand."""
    # PyArrow's default reads the row groups ahead, all of them: the whole collection in memory.
    return pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER)


def batches(
    path: Path, columns: Sequence[str] | None = None, rows: int = BATCH
) -> Iterator[pa.RecordBatch]:
    """These columns of a file, this many rows at a time."""
    with opened(path) as file:
        yield from file.iter_batches(rows, columns=columns)
