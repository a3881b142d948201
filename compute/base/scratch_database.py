"""DuckDB, opened only by this module: an empty scratch database, or a file to fill. All databases
have the same limits, and none downloads extensions."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from compute.base import settings as settings_module
from compute.base.files import make_folder
from compute.base.settings import Settings


def scratch(
    now: Settings | None = None, *, memory: str = "", threads: int = 0
) -> DuckDBPyConnection:
    """Open an empty in-memory database; each thread uses its own `cursor()`. Beyond `memory`, such
    as `600MB`, it spills to the home; it uses at most `threads` threads."""
    now = now or settings_module.load()
    limits: dict[str, Any] = {}
    if memory:
        make_folder(now.home)
        limits["memory_limit"] = memory
    if threads:
        limits["threads"] = min(threads, now.threads)
    return connect(now, **limits)


@contextmanager
def transaction(cursor: DuckDBPyConnection) -> Iterator[None]:
    """Commit what the with-block changes, or roll it back if the block raises an error."""
    cursor.begin()
    try:
        yield
    except BaseException:
        cursor.rollback()
        raise
    # DuckDB itself rolls back what cannot be committed.
    cursor.commit()


def connect(now: Settings, file: str = ":memory:", **more: Any) -> DuckDBPyConnection:
    """Open a database in a file or in memory; `more` are settings of DuckDB."""
    config = {
        "threads": now.threads,
        # DuckDB creates this folder but not its parents.
        "temp_directory": str(now.home / "tmp"),
        # Extensions outside the wheel would be downloaded.
        "autoinstall_known_extensions": False,
    }
    return duckdb.connect(file, config=config | more)
