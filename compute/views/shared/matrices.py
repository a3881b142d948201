"""Scores as matrices (systems x queries), one dataset at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.evaluate.distributions import Runs
from compute.evaluate.families import Codes
from compute.evaluate.significance import Aligned, Values, by_part
from compute.reading import one_kind, query_families, score_arrays
from compute.reading.score_arrays import Scores
from compute.views.shared.held_lists import counts_added, set_of

_PARTS = """
select name, case when len(parts) > 0 then parts else [name] end
from datasets where list_contains($datasets, name)
"""
_MOVED = "select distinct dataset from added.rescored where list_contains($parts, dataset)"
# The dataset is a parameter, not a join, so that only its files are opened.
_SCORES = """
select system, query_id, value from scores
where dataset = $dataset and measure = $measure
  and list_contains($systems, system) and not isnan(value)
"""


_SEVERAL = """
select distinct dataset from parts
where kind = 'run_scores' and list_contains($systems, system)
"""
_RUN_SCORES = """
select dataset, system, run, query_id, value from run_scores
where list_contains($datasets, dataset) and measure = $measure and list_contains($systems, system)
"""


def of_boards(
    cursor: DuckDBPyConnection,
    measure: str,
    datasets: Sequence[str],
    systems: Sequence[str],
    weighted: bool = False,
) -> list[Aligned]:
    """Return the systems' values on each dataset, for the queries on which all systems have a
    value; if `weighted`, with the weights of queries where a dataset has weights."""
    parts = _parts(cursor, datasets)
    found = _found(cursor, measure, parts, systems)
    families = query_families.of(cursor, _all(parts))
    boards = [_board(found, sorted(parts[name]), systems, families) for name in datasets]
    return [_with_runs(cursor, measure, board, weighted) for board in boards]


def of_parts_together(
    cursor: DuckDBPyConnection,
    measure: str,
    parts: Sequence[str],
    systems: Sequence[str],
    weighted: bool = False,
) -> Aligned:
    """Return the systems' values on the queries of one dataset, which is given by its parts or its
    name; `weighted` as in `of_boards`."""
    found = _found(cursor, measure, {"": parts}, systems)
    board = _board(found, sorted(parts), systems, query_families.of(cursor, parts))
    return _with_runs(cursor, measure, board, weighted)


def _with_runs(cursor: DuckDBPyConnection, measure: str, board: Aligned, weighted: bool) -> Aligned:
    """Add the weights of queries, if `weighted`, and the variances over runs."""
    board = _by_weight(cursor, board) if weighted else board
    queries = board.queries.assign(weight=board.weights) if board.key else board.queries
    return replace(board, runs=over_runs(cursor, measure, queries, board.systems))


def _by_weight(cursor: DuckDBPyConnection, board: Aligned) -> Aligned:
    """Keep the queries with a weight above 0, with weights; all if the dataset has none."""
    if not (found := query_families.weights(cursor, board.queries)):
        return board
    some, of = found[1] > 0, board.families
    of = None if of is None else np.unique(of[some], return_inverse=True)[1]
    only: dict[str, Any] = {"queries": board.queries[some], "values": board.values[:, some]}
    return replace(board, **only, weights=found[1][some], families=of, key=found[0])


def several(cursor: DuckDBPyConnection, systems: Sequence[str]) -> set[str]:
    """Return the datasets on which at least one of the systems has several runs."""
    found = cursor.execute(_SEVERAL, {"systems": list(systems)}).fetchall()
    return {name for (name,) in found}


def over_runs(
    cursor: DuckDBPyConnection, measure: str, queries: DataFrame, systems: Sequence[str]
) -> Runs | None:
    """Return the run-to-run variances of the systems' means over these queries (dataset, query_id,
    perhaps weight), parts counting equally; None if no system has several runs."""
    parts = queries["dataset"].unique().tolist()
    asked: dict[str, Any] = {"datasets": parts, "systems": list(systems)}
    if several(cursor, systems).isdisjoint(parts):
        return None
    rows = cursor.execute(_RUN_SCORES, asked | {"measure": measure}).df()
    rows = rows.merge(queries, "inner", ["dataset", "query_id"])
    weights = rows.reindex(columns=["weight"])["weight"].fillna(1)
    by = [rows[name] for name in ("system", "dataset", "run")]
    means = (rows["value"] * weights).groupby(by).sum() / weights.groupby(by).sum() / len(parts)
    found: dict[Any, Any] = {pair: of.to_numpy() for pair, of in means.groupby(level=[0, 1])}
    return Runs.over([[found.get((name, part), ()) for part in parts] for name in systems])


def of_parts(
    cursor: DuckDBPyConnection, measure: str, datasets: Sequence[str], systems: Sequence[str]
) -> dict[str, tuple[list[Values], Codes | None, Runs | None]]:
    """Return three things for each dataset: the systems' values (systems x queries, nan if missing)
    on each of its parts, or on the dataset itself; the families of these queries, or None; and the
    variances of the systems' means over runs, or None if no system has several."""
    parts = _parts(cursor, datasets)
    found = _found(cursor, measure, parts, systems)
    families = query_families.of(cursor, _all(parts))
    return {
        name: (
            [found[part].values for part in parts[name]],
            query_families.codes(_queries(found, parts[name]), families),
            over_runs(cursor, measure, _queries(found, parts[name]), systems),
        )
        for name in datasets
    }


def by_dataset(
    cursor: DuckDBPyConnection, measure: str, datasets: Sequence[str], systems: Sequence[str]
) -> dict[str, Values]:
    """Return the systems' values (systems x queries, nan if missing) on each of these datasets, not
    on their parts."""
    found = _found(cursor, measure, {name: [name] for name in datasets}, systems)
    return {name: scores.values for name, scores in found.items()}


def _all(parts: Mapping[str, Sequence[str]]) -> list[str]:
    return sorted({part for own in parts.values() for part in own})


def _parts(cursor: DuckDBPyConnection, datasets: Sequence[str]) -> dict[str, list[str]]:
    """Return the parts of each dataset; one without parts is its own."""
    known = cursor.execute(_PARTS, {"datasets": list(datasets)}).fetchall()
    return {name: [name] for name in datasets} | dict(known)


def _found(
    cursor: DuckDBPyConnection,
    measure: str,
    parts: Mapping[str, Sequence[str]],
    systems: Sequence[str],
) -> dict[str, Scores]:
    """Return the systems' scores on every part by the cursor's judgements."""
    wanted = _all(parts)
    moved = _moved(cursor, wanted)
    official = [part for part in wanted if part not in moved]
    nothing = Scores(pa.array([], pa.string()), np.empty((len(systems), 0)))
    read = score_arrays.of_measure(cursor, official, measure, systems)
    found = {part: _of_kind(cursor, part, scores) for part, scores in read.items()}
    found |= {part: _scores(cursor, part, measure, systems) for part in moved}
    return dict.fromkeys(wanted, nothing) | found


def _of_kind(cursor: DuckDBPyConnection, dataset: str, found: Scores) -> Scores:
    """Keep the scores of the queries that the cursor reads."""
    queries = one_kind.narrowed(cursor, dataset)
    if queries is None:
        return found
    own = one_kind.among(found.queries, queries)
    values = found.values[:, own.to_numpy(zero_copy_only=False)]
    return Scores(found.queries.filter(own), np.ascontiguousarray(values))


def _moved(cursor: DuckDBPyConnection, parts: Sequence[str]) -> set[str]:
    """Return the datasets on which the cursor's scores differ from the official ones."""
    if set_of(cursor):
        return set(parts)
    if not counts_added(cursor):
        return set()
    return {name for (name,) in cursor.execute(_MOVED, {"parts": list(parts)}).fetchall()}


def _scores(
    cursor: DuckDBPyConnection, dataset: str, measure: str, systems: Sequence[str]
) -> Scores:
    """Read the systems' scores on a dataset by the cursor's judgements."""
    asked = {"dataset": dataset, "measure": measure, "systems": list(systems)}
    rows = cursor.sql(_SCORES, params=asked).to_arrow_table()
    queries = rows["query_id"].unique().sort()
    values = np.full((len(systems), len(queries)), np.nan)
    system = numbered(rows["system"], pa.array(systems, pa.string()))
    values[system, numbered(rows["query_id"], queries)] = rows["value"].to_numpy()
    return Scores(queries, values)


def numbered(names: pa.ChunkedArray, among: pa.Array) -> np.ndarray:
    """Return the index of each name in `among`; Arrow finds it faster than Python."""
    return pc.call_function("index_in", [names], pc.SetLookupOptions(among)).to_numpy()


def _board(
    found: dict[str, Scores],
    parts: Sequence[str],
    systems: Sequence[str],
    families: DataFrame,
) -> Aligned:
    """Join the values on these parts, without queries on which a system has no value."""
    table = np.concatenate([found[part].values for part in parts], axis=1)
    whole = np.logical_not(np.isnan(table).any(axis=0))
    queries = _queries(found, parts, whole)
    values = np.ascontiguousarray(table[:, whole])
    left_out, of = table.shape[1] - len(queries), query_families.codes(queries, families)
    weights = by_part(queries["dataset"])
    return Aligned(tuple(systems), queries, values, weights, left_out, of)


def _queries(
    found: dict[str, Scores], parts: Sequence[str], chosen: np.ndarray | None = None
) -> DataFrame:
    """Return dataset, query_id of the queries of these parts, or of the `chosen` ones (true)."""
    ids = pa.chunked_array([found[part].queries for part in parts], pa.string())
    names = np.repeat(parts, [len(found[part].queries) for part in parts])
    some = np.ones(len(names), bool) if chosen is None else chosen
    return DataFrame({"dataset": names[some], "query_id": ids.filter(some).to_pandas()})
