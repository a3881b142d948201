"""Views over many parts that read the files of one dataset where one is asked for.

A view over all files opens each of them for every question, to find that it holds another
dataset: 60 ms with 450 of them. Where each dataset's files are a branch of the view that says its
name, `dataset = …` and `list_contains(…, dataset)` leave the other branches out before any file
is opened; a semi-join does not.
"""

from collections.abc import Mapping, Sequence

from duckdb import ColumnExpression, ConstantExpression, DuckDBPyConnection, DuckDBPyRelation


def by_dataset(
    connection: DuckDBPyConnection, files: Mapping[str, Sequence[str]]
) -> DuckDBPyRelation:
    """All rows of the files, which have a column `dataset`; by dataset, in their order."""
    return _united([_branch(connection, name, list(of)) for name, of in files.items()])


def _branch(connection: DuckDBPyConnection, dataset: str, files: list[str]) -> DuckDBPyRelation:
    rows = connection.read_parquet(files, hive_partitioning=False)
    return rows.select(
        *(
            ConstantExpression(dataset).alias(name) if name == "dataset" else ColumnExpression(name)
            for name in rows.columns
        )
    )


def _united(branches: list[DuckDBPyRelation]) -> DuckDBPyRelation:
    # Halved, for a chain of a thousand would be nested deeper than DuckDB goes.
    if len(branches) == 1:
        return branches[0]
    half = len(branches) // 2
    return _united(branches[:half]).union(_united(branches[half:]))
