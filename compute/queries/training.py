"""Trained systems: what is stored of them, and how their training went."""

from duckdb import DuckDBPyConnection
from pandas import DataFrame


def trainings(cursor: DuckDBPyConnection) -> DataFrame:
    """system, dataset (what it was trained on), created, seconds, bytes, command; newest first."""
    return cursor.execute(
        """
        select
            system, dataset, left(created, 16) as created,
            cast(json_extract(provenance, '$.train_seconds') as double) as seconds,
            bytes,
            json_extract_string(provenance, '$.command') as command
        from parts where kind = 'model'
        order by created desc, system
        """
    ).df()


def curve(cursor: DuckDBPyConnection, *, system: str) -> DataFrame:
    """step, name, value: the losses of a trained system, by step."""
    return cursor.execute(
        """
        select step, name, value from training where system = $system order by step, name
        """,
        {"system": system},
    ).df()
