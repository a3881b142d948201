"""Paths of the parts that a question reads, so that only these files are opened."""

from collections.abc import Sequence

from duckdb import DuckDBPyConnection


def files(cursor: DuckDBPyConnection, kind: str, dataset: str, systems: Sequence[str]) -> list[str]:
    """Return the paths of the parts of one kind for these systems on a dataset. Reading named files
    is faster than filtering a view of all parts, especially for hits."""
    found = cursor.execute(
        """
        select path from parts
        where kind = $kind and dataset = $dataset and system in (select unnest($systems))
        """,
        {"kind": kind, "dataset": dataset, "systems": list(systems)},
    )
    return [path for (path,) in found.fetchall()]
