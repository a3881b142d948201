"""The scores of systems as matrices of systems x queries, a board at a time."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.evaluate.significance import Aligned, Values, by_part

_PARTS = """
select name, case when len(parts) > 0 then parts else [name] end
from datasets where list_contains($datasets, name)
"""
# Names as literals, not joined: so only these datasets' files are opened.
_SCORES = """
select dataset, system, query_id, value from scores
where list_contains($parts, dataset) and measure = $measure
  and list_contains($systems, system) and not isnan(value)
"""


def of_boards(
    cursor: DuckDBPyConnection, measure: str, datasets: Sequence[str], systems: Sequence[str]
) -> list[Aligned]:
    """The values of systems on each dataset, as `significance.aligned` makes them of rows."""
    known = cursor.execute(_PARTS, {"datasets": list(datasets)}).fetchall()
    parts = {name: [name] for name in datasets} | dict(known)
    wanted = sorted({part for name in datasets for part in parts[name]})
    asked = {"parts": wanted, "measure": measure, "systems": list(systems)}
    rows = cursor.sql(_SCORES, params=asked).to_arrow_table()
    dataset, number = (
        numbered(rows[name], pa.array(among, pa.string()))
        for name, among in (("dataset", wanted), ("system", systems))
    )
    value = rows["value"].to_numpy()
    found = {}
    for place, part in enumerate(wanted):
        own = np.flatnonzero(dataset == place)
        found[part] = _matrix(rows["query_id"].take(own), number[own], value[own], len(systems))
    return [_board(found, sorted(parts[name]), systems) for name in datasets]


def numbered(names: pa.ChunkedArray, among: pa.Array) -> np.ndarray:
    """The place of each name in `among`, by Arrow: as Python's strings they would take longer."""
    return pc.call_function("index_in", [names], pc.SetLookupOptions(among)).to_numpy()


def _matrix(
    query_id: pa.ChunkedArray, system: np.ndarray, value: np.ndarray, n_systems: int
) -> tuple[pa.Array, Values]:
    """The queries in order, and systems x queries; nan where a system has no value."""
    queries = query_id.unique().sort()
    table = np.full((n_systems, len(queries)), np.nan)
    table[system, numbered(query_id, queries)] = value
    return queries, table


def _board(
    found: dict[str, tuple[pa.Array, Values]], parts: Sequence[str], systems: Sequence[str]
) -> Aligned:
    """The parts side by side, without the queries that one of the systems has no value for."""
    table = np.concatenate([found[part][1] for part in parts], axis=1)
    whole = np.logical_not(np.isnan(table).any(axis=0))
    ids = pa.chunked_array([found[part][0] for part in parts])
    names = np.repeat(parts, [len(found[part][0]) for part in parts])
    queries = DataFrame({"dataset": names[whole], "query_id": ids.filter(whole).to_pandas()})
    values = np.ascontiguousarray(table[:, whole])
    left_out = table.shape[1] - len(queries)
    return Aligned(tuple(systems), queries, values, by_part(queries["dataset"]), left_out)
