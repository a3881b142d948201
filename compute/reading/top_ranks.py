"""The top ranks of all runs on a dataset, with each id stored once."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection

from compute.reading import gathered
from compute.reading.gathered import Runs

DEPTH = 10
"""Depth of the parts of the kind `top`, and therefore of these ranks."""

_IDS = ["query_id", "doc_id"]
_SYSTEM = "system"
SCHEMA = pa.schema(
    [
        (_SYSTEM, pa.int32()),
        *((name, pa.dictionary(pa.int32(), pa.string())) for name in _IDS),
        ("rank", pa.int32()),
    ]
)


def of_systems(
    cursor: DuckDBPyConnection, dataset: str, systems: Sequence[str], k: int = DEPTH
) -> pa.Table:
    """Return the top k ranks, as one chunk with SCHEMA; `system` is an index into `systems`."""
    for of in gathered.runs(cursor, "top", [dataset]):
        table = gathered.table(of, _IDS, SCHEMA.names, _made).cast(SCHEMA)
        places = {system: place for place, system in enumerate(systems)}
        # Rows that were not requested get the index -1.
        place = np.array([places.get(system, -1) for system in of.systems], np.int32)
        asked = pa.array(place[table[_SYSTEM].to_numpy()])
        table = table.set_column(0, SCHEMA.field(_SYSTEM), asked)
        if k < DEPTH or set(of.systems) - set(systems):
            wanted = (asked.to_numpy() >= 0) & (table["rank"].to_numpy() <= k)
            table = table.filter(pa.array(wanted)).combine_chunks()
        return table
    return SCHEMA.empty_table()


def prepare(cursor: DuckDBPyConnection) -> None:
    """Gather the remaining parts of all datasets."""
    for of in gathered.runs(cursor, "top"):
        gathered.table(of, _IDS, ["rank"], _made)


def _made(of: Runs) -> pa.Table:
    columns = [*_IDS, "rank"]
    read = [
        pq.read_table(file, columns=columns, read_dictionary=_IDS, use_threads=False)
        for file in of.files
    ]
    table = pa.concat_tables(read).unify_dictionaries().combine_chunks()
    system = np.repeat(np.arange(len(read), dtype=np.int32), [len(part) for part in read])
    return table.add_column(0, SCHEMA.field(_SYSTEM), pa.array(system)).cast(SCHEMA)
