"""Scores by query as arrays (systems x queries), for all runs on a dataset."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray

from compute.reading import gathered
from compute.reading.gathered import Runs

Values = NDArray[np.float64]

_QUERY = "query_id"


class Scores(NamedTuple):
    """The values of systems by one measure."""

    queries: pa.Array
    """The queries for which at least one system has a value, sorted."""
    values: Values
    """An array systems x queries; NaN if a system has no value."""


def of_measure(
    cursor: DuckDBPyConnection, datasets: Sequence[str], measure: str, systems: Sequence[str]
) -> dict[str, Scores]:
    """Return the systems' official scores on each of these datasets with runs and no parts."""
    return {
        of.dataset: _chosen(_table(of, [measure]), of, measure, systems)
        for of in gathered.runs(cursor, "scores", datasets)
    }


def prepare(cursor: DuckDBPyConnection) -> None:
    """Gather the remaining parts of all datasets."""
    for of in gathered.runs(cursor, "scores"):
        _table(of, [])


def _table(of: Runs, measures: Sequence[str]) -> pa.Table:
    return gathered.table(of, [_QUERY], [_QUERY, *measures], _made)


def _chosen(table: pa.Table, of: Runs, measure: str, systems: Sequence[str]) -> Scores:
    """Return the scores of the requested systems by a measure."""
    n = len(table) // len(of.systems)
    queries = table[_QUERY].combine_chunks().slice(0, n).cast(pa.string())
    values = np.full((len(of.systems) + 1, n), np.nan)
    if measure in table.column_names:
        values[:-1] = table[measure].to_numpy().reshape(-1, n)
    places = {system: place for place, system in enumerate(of.systems)}
    values = values[[places.get(system, -1) for system in systems]]
    some = np.logical_not(np.isnan(values).all(axis=0))
    return Scores(queries.filter(pa.array(some)), np.ascontiguousarray(values[:, some]))


def _made(of: Runs) -> pa.Table:
    """Return query_id and a column per measure, in which all queries are repeated for each run."""
    read = [_read(file) for file in of.files]
    queries = pa.chunked_array([own for own, _ in read], pa.string()).unique().sort()
    measures = sorted({measure for _, values in read for measure in values})
    columns = {name: np.full((len(read), len(queries)), np.nan) for name in measures}
    for place, (own, values) in enumerate(read):
        where = pc.call_function("index_in", [own], pc.SetLookupOptions(queries)).to_numpy()
        for name, column in values.items():
            columns[name][place, where] = column
    again = np.tile(np.arange(len(queries), dtype=np.int32), len(read))
    ids = pa.DictionaryArray.from_arrays(again, queries)
    return pa.table({_QUERY: ids, **{name: column.ravel() for name, column in columns.items()}})


def _read(file: Path) -> tuple[pa.Array, dict[str, Values]]:
    """Return the queries of a part, and by measure their values in the same order, or NaN."""
    names = [_QUERY, "measure", "value"]
    table = pq.read_table(file, columns=names, read_dictionary=names[:2], use_threads=False)
    query, measure = (table[name].combine_chunks() for name in names[:2])
    value, codes, of = table["value"].to_numpy(), query.indices.to_numpy(), measure.indices
    found = {}
    for place, name in enumerate(measure.dictionary.to_pylist()):
        own = of.to_numpy() == place
        found[name] = np.full(len(query.dictionary), np.nan)
        found[name][codes[own]] = value[own]
    return query.dictionary, found
