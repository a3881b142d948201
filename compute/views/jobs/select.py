"""Trained systems: how their training went."""

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.reading.questions import question


@question()
def curve(cursor: DuckDBPyConnection, *, system: str) -> DataFrame:
    """step, name, value: the losses of a trained system, by step."""
    return cursor.execute(
        """
        select step, name, value from training where system = $system order by step, name
        """,
        {"system": system},
    ).df()
