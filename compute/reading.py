"""Reading: everything is read through an in-memory DuckDB; the only module that opens one."""

import duckdb

from compute import settings


def scratch() -> duckdb.DuckDBPyConnection:
    """An empty in-memory database. One `cursor()` per thread; spilled data goes under the home."""
    now = settings.load()
    return duckdb.connect(
        ":memory:",
        config={"threads": now.threads, "temp_directory": str(now.home / "tmp" / "duckdb")},
    )
