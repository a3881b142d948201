"""Views over many parts that open only the files of one dataset if a query names one. A view over
all files would open each of them for every query, only to find another dataset in it: 60 ms with
450 files. If each dataset's files are a branch of the view, `dataset = …` and `list_contains(…,
dataset)` exclude all other branches before any file is opened; a semi-join does not."""

from collections.abc import Mapping, Sequence

from duckdb import ColumnExpression, ConstantExpression, DuckDBPyConnection


def create(
    connection: DuckDBPyConnection,
    view: str,
    files: Mapping[str, Sequence[str]],
    *schema: str,
) -> None:
    """Create a view of all rows of these files, in the order of their datasets, in the first schema
    of the connection's search path unless one is named. It is a single statement, since with nested
    relations each level would reopen all files below it."""
    branches = [_branch(name, list(of)) for name, of in files.items()]
    name = ColumnExpression(*schema, view)
    connection.execute(f"create view {name} as {_united(branches)}")


def _branch(dataset: str, files: list[str]) -> str:
    # DuckDB itself quotes names and paths as literals.
    name, paths = ConstantExpression(dataset), ConstantExpression(files)
    return (
        f"select * replace ({name} as dataset)"
        f" from read_parquet({paths}, hive_partitioning = false)"
    )


def _united(branches: list[str]) -> str:
    # The list is halved, since a chain of a thousand unions is nested deeper than DuckDB allows.
    if len(branches) == 1:
        return branches[0]
    half = len(branches) // 2
    return f"({_united(branches[:half])}) union all ({_united(branches[half:])})"
