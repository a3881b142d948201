"""Parts: their schemas, and how each is written, atomically, to an immutable Parquet file."""

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame

from compute.base.files import make_folder, written_aside
from compute.store.kinds import COLUMNS

KINDS: Mapping[str, pa.Schema] = {
    kind: pa.schema(
        [
            pa.field(name, pa.type_for_alias(type_), nullable=name == "text")
            for name, type_ in columns
        ]
    )
    for kind, columns in COLUMNS.items()
}
"""The schema of each kind of parts."""

Content = DataFrame | pa.Table | Iterable[pa.RecordBatch]

ROW_GROUP = 122_880
"""Number of rows that DuckDB processes as one unit."""
GROUP_BYTES = 64 * 1024**2
"""Bytes of rows that are held while writing."""
TEXT_BYTES = 1024**2
"""Bytes of a row group with texts. Reading one document decompresses its whole row group."""


class Written(NamedTuple):
    """The number of rows and the SHA-256 of a file that was written."""

    rows: int
    sha256: str


class Summed(io.RawIOBase):
    """A file wrapper that computes the SHA-256 of everything written to it."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._sum = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell()

    def write(self, data: memoryview) -> int:  # pyrefly: ignore
        self._sum.update(data)
        return self._file.write(data)

    @property
    def sha256(self) -> str:
        return self._sum.hexdigest()


def write_part(
    path: Path,
    schema: pa.Schema,
    content: Content,
    constants: Mapping[str, str],
    compression_level: int | None = None,
) -> Written:
    """Write content, with constant columns added, to a new file; return its rows and SHA-256. The
    file gets its name only when it is complete and on disk. Raises ValueError for a missing column,
    or for a null where the schema allows none."""
    make_folder(path.parent)
    with written_aside(path) as file:
        summed = Summed(file)
        rows = _write(summed, schema, content, constants, compression_level)
    return Written(rows, summed.sha256)


def _write(
    file: io.RawIOBase,
    schema: pa.Schema,
    content: Content,
    constants: Mapping[str, str],
    compression_level: int | None,
) -> int:
    """Write the content as Parquet; return the number of rows."""
    rows, writer = 0, None
    options = {
        "compression": "zstd",
        # A higher level takes half as long again on doc_id and saves nothing.
        "compression_level": {
            name: compression_level or (1 if name == "doc_id" else 3) for name in schema.names
        },
        # doc_id and score hardly repeat a value; a score's bytes compress better if they are split.
        "use_dictionary": [name for name in schema.names if name not in ("doc_id", "score")],
        "use_byte_stream_split": [name for name in schema.names if name == "score"],
        # Columns may arrive as dictionaries, but readers must not get dictionaries.
        "store_schema": False,
    }
    try:
        for table in _tables(content, schema, constants):
            writer = writer or pq.ParquetWriter(file, table.schema, **options)
            rows += table.num_rows
            writer.write_table(table, row_group_size=_group_rows(table))
        writer = writer or pq.ParquetWriter(file, schema, **options)
    finally:
        if writer is not None:
            writer.close()
    return rows


def _group_rows(table: pa.Table) -> int:
    """Return the number of rows of a row group."""
    if "text" not in table.column_names or not table.nbytes:
        return ROW_GROUP
    return max(1, min(ROW_GROUP, table.num_rows * TEXT_BYTES // table.nbytes))


def _tables(
    content: Content, schema: pa.Schema, constants: Mapping[str, str]
) -> Iterator[pa.Table]:
    """Yield the content as tables with the constant columns."""
    given = pa.schema([field for field in schema if field.name not in constants])
    if isinstance(content, DataFrame):
        _check_columns(set(content.columns), given)
        content = pa.Table.from_pandas(content[given.names], given, preserve_index=False)
    tables = [content] if isinstance(content, pa.Table) else _groups(content)
    for table in tables:
        table = _select(table, given)
        for name, value in constants.items():
            position = schema.get_field_index(name)
            places = pa.array(np.zeros(table.num_rows, np.int8))
            column = pa.DictionaryArray.from_arrays(places, pa.array([value], pa.string()))
            table = table.add_column(position, pa.field(name, column.type, nullable=False), column)
        yield table


def _select(table: pa.Table, given: pa.Schema) -> pa.Table:
    """Return a table with the columns of a schema. Raises ValueError for a gap."""
    _check_columns(set(table.column_names), given)
    table = table.select(given.names).cast(given)
    for field in given:
        if not field.nullable and table[field.name].null_count:
            raise ValueError(f"column {field.name!r} has empty values")
    return table


def _check_columns(found: set[str], given: pa.Schema) -> None:
    missing = set(given.names) - found
    if missing:
        raise ValueError(f"no column {', '.join(sorted(missing))}; needed: {given.names}")


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Join batches to tables of the size of a row group."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= ROW_GROUP or size >= GROUP_BYTES:
            yield pa.Table.from_batches(held)
            held, rows, size = [], 0, 0
    if held:
        yield pa.Table.from_batches(held)
