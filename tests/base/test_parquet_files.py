"""A Parquet file is read a batch at a time: memory holds a piece of it, not the file."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compute.base import parquet_files

GROUPS, ROWS = 40, 2_000


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(seed=1)
    path = tmp_path_factory.mktemp("parquet") / "documents.parquet"
    schema = pa.schema([("doc_id", pa.string()), ("text", pa.string())])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for group in range(GROUPS):
            ids = [f"d{group * ROWS + row}" for row in range(ROWS)]
            texts = [random.bytes(500).hex() for _ in ids]
            writer.write_table(pa.table({"doc_id": ids, "text": texts}, schema))
    return path


def test_every_row_comes_in_its_place(file: Path) -> None:
    found = [name for batch in parquet_files.batches(file, ["doc_id"], 700) for name in batch[0]]
    assert [name.as_py() for name in found] == [f"d{row}" for row in range(GROUPS * ROWS)]


def test_memory_holds_a_piece_of_the_file(file: Path) -> None:
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in parquet_files.batches(file, ["text"])]
    assert max(held) < file.stat().st_size / 2


def test_rows_come_in_batches_of_one_size(file: Path) -> None:
    sizes = [batch.num_rows for batch in parquet_files.batches(file)]
    assert sizes == [parquet_files.BATCH] * (GROUPS * ROWS // parquet_files.BATCH)
