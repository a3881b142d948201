"""A command that kills itself, as kill -9 does, at the Nth time it comes to a place.

`python -m tests.support.processes.killed_command PLACE N COMMAND…`: PLACE is one of `PLACES` of
`tests.support.processes.publisher`. Commits are those of SQLite and of PostgreSQL, but for the
many by which DBOS makes its tables.
"""

import os
import sys

from dbos import DBOS
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

from compute.__main__ import main
from tests.support.processes.publisher import Countdown, around


class Paused(Countdown):
    """Counts nothing while DBOS makes its tables."""

    pauses = False

    def __call__(self) -> None:
        if not self.pauses:
            super().__call__()

    def turn(self) -> None:
        """Stop counting, or go on."""
        self.pauses = not self.pauses


if __name__ == "__main__":
    place, calls, *command = sys.argv[1:]
    kill = Paused(int(calls))
    around(DBOS, "migrate", kill.turn, kill.turn)
    early = place in ("after the file", "before the commit")
    before, after = (kill, None) if early else (None, kill)
    if place in ("after the file", "after the rename"):
        around(os, "replace", before, after)
    else:
        for dialect in (SQLiteDialect_pysqlite, PGDialect_psycopg):
            around(dialect, "do_commit", before, after)
    status = main(command)
    sys.stdout.write(f"{-kill.left + int(calls)} times\n")
    sys.exit(status)
