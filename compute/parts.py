"""Parts: their kinds, and one immutable Parquet file written so that it is there whole or not."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame

_TEXT = pa.string()
_HITS = [
    ("dataset", _TEXT),
    ("system", _TEXT),  # canonical name with all parameters that differ from the defaults
    ("query_id", _TEXT),
    ("doc_id", _TEXT),
    ("rank", pa.int32()),  # from 1, in the order of the contract of evaluation
    ("score", pa.float64()),  # as the system gave it
]
_TERMS = [("dataset", _TEXT), ("n", pa.int32()), ("term", _TEXT), ("count", pa.int64())]
KINDS: Mapping[str, pa.Schema] = {
    kind: pa.schema([pa.field(name, type_, nullable=name == "text") for name, type_ in columns])
    for kind, columns in {
        # The ranked lists of one system on one dataset, to the depth that is kept.
        "hits": _HITS,
        # The hits of rank <= 10, sorted by query_id and rank: what pages read.
        "top": _HITS,
        # One value per query and measure; a query without a value (Hole@k without hits) is absent.
        "scores": [
            ("dataset", _TEXT),
            ("system", _TEXT),
            ("query_id", _TEXT),
            ("measure", _TEXT),  # as ir_measures writes it
            ("value", pa.float64()),
        ],
        # The corpus, in file order; dataset is the collection, which splits share.
        "documents": [
            ("dataset", _TEXT),
            ("doc_id", _TEXT),
            ("title", _TEXT),  # empty where there is none
            ("text", _TEXT),
            ("n_words", pa.int32()),  # pieces between white space in title and text
        ],
        # The queries of the split.
        "queries": [
            ("dataset", _TEXT),
            ("query_id", _TEXT),
            ("text", _TEXT),  # null where texts do not ship
            ("n_words", pa.int32()),
        ],
        # The official judgements of the split.
        "judgements": [
            ("dataset", _TEXT),
            ("query_id", _TEXT),
            ("doc_id", _TEXT),
            ("relevance", pa.int32()),  # below 0: judged, gain 0
        ],
        # The length of every document; dataset is the collection. Ships where documents do not.
        "lengths": [("dataset", _TEXT), ("doc_id", _TEXT), ("n_words", pa.int32())],
        # A histogram of lengths: how many documents (or queries) of a group have so many words.
        # The system is empty for what belongs to the dataset alone.
        "length_counts": [
            ("dataset", _TEXT),
            ("system", _TEXT),
            ("of", _TEXT),  # corpus, queries, judged or top
            ("level", pa.int32()),  # of judged: the relevance; of top: the rank; else 0
            ("n_words", pa.int32()),
            ("count", pa.int64()),
        ],
        # What a run cost; measure names the quantity and its unit.
        "efficiency": [
            ("dataset", _TEXT),
            ("system", _TEXT),
            ("measure", _TEXT),
            ("value", pa.float64()),
        ],
        # How often a word (n = 1) or a pair of neighbours (n = 2, a blank between) occurs in the
        # corpus: by n, the most frequent first. dataset is the collection.
        "ngrams": _TERMS,
        # The same of word pieces.
        "wordpieces": _TERMS,
        # What a model asked of each document, in file order; dataset is the collection, and the
        # system is what asked, with its parameters.
        "generated": [
            ("dataset", _TEXT),
            ("system", _TEXT),
            ("doc_id", _TEXT),
            ("number", pa.int32()),  # from 1, in the order in which they were drawn
            ("text", _TEXT),
        ],
        # A model trained here: the files of its folder, in pieces. dataset is what it was trained
        # on, system its name (`genq[scifact]`).
        "model": [
            ("dataset", _TEXT),
            ("system", _TEXT),
            ("file", _TEXT),  # from the model's folder, parted by /
            ("number", pa.int32()),  # of the piece, from 0
            ("content", pa.binary()),
        ],
        # How training it went.
        "training": [
            ("dataset", _TEXT),
            ("system", _TEXT),
            ("step", pa.int64()),  # from 1
            ("name", _TEXT),  # of the loss, or of what else was measured
            ("value", pa.float64()),  # the mean over the steps since the row before
        ],
        # Weighted Jaccard similarity of a collection to others, each pair and floor once.
        "overlap": [
            ("dataset", _TEXT),
            ("other", _TEXT),
            ("unit", _TEXT),  # unigrams, bigrams or word pieces
            ("floor", pa.float64()),  # words not above this share of their corpus are dropped
            ("similarity", pa.float64()),
            # Of the counts compared: a row holds while both are those that are stored.
            ("fingerprint", _TEXT),
            ("other_fingerprint", _TEXT),
        ],
    }.items()
}
"""The kinds of parts and what their columns hold: the meanings stand here, once."""

Content = DataFrame | pa.Table | Iterable[pa.RecordBatch]

ROW_GROUP = 122_880
"""Rows that DuckDB reads as one piece of work."""
GROUP_BYTES = 64 * 1024**2
"""Documents are long: a row group of them ends here, so that writing stays small in memory."""


def write_part(
    path: Path,
    schema: pa.Schema,
    content: Content,
    constants: Mapping[str, str],
    compression_level: int = 3,
) -> int:
    """Write content with constant columns to a new file; returns the number of rows.

    The file appears under its name only when it is complete and on the disk. Raises ValueError for
    a missing column, or a null where the schema has none.
    """
    make_folder(path.parent)
    aside = path.with_name(f".{path.stem}.tmp")
    try:
        with aside.open("wb") as file:
            rows = _write(file, schema, content, constants, compression_level)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    sync_folder(path.parent)
    return rows


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, each on the disk when this returns."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Bring a folder's list of names to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(
    file: BinaryIO,
    schema: pa.Schema,
    content: Content,
    constants: Mapping[str, str],
    compression_level: int,
) -> int:
    rows = 0
    options = {"compression": "zstd", "compression_level": compression_level}
    with pq.ParquetWriter(file, schema, **options) as writer:
        for table in _tables(content, schema, constants):
            rows += table.num_rows
            writer.write_table(table, row_group_size=ROW_GROUP)
    return rows


def _tables(
    content: Content, schema: pa.Schema, constants: Mapping[str, str]
) -> Iterator[pa.Table]:
    given = pa.schema([field for field in schema if field.name not in constants])
    if isinstance(content, DataFrame):
        content = pa.Table.from_pandas(_columns(content, given), given, preserve_index=False)
    tables = [content] if isinstance(content, pa.Table) else _groups(content)
    for table in tables:
        table = _select(table, given)
        for name, value in constants.items():
            position = schema.get_field_index(name)
            column = pa.repeat(pa.scalar(value, pa.string()), table.num_rows)
            table = table.add_column(position, schema.field(name), column)
        yield table


def _columns(frame: DataFrame, given: pa.Schema) -> DataFrame:
    _check_columns(set(frame.columns), given)
    return frame[given.names]


def _select(table: pa.Table, given: pa.Schema) -> pa.Table:
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
