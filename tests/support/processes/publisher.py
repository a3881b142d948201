"""A process that publishes without end and is killed.

`python -m tests.support.processes.publisher HOME WHERE N`

Each round publishes three parts that carry the round's number, adds a judgement, and says so on a
line of its own: what was said is acknowledged and may never be lost. Production code has no hook
for this: the process wraps the functions of `os` and of the database driver in itself, and kills
itself at the Nth time it comes to the named place; with `never` it waits to be killed.
"""

import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

from tests.support.storage import hits, judgement, open_store, publish_run, scores

PLACES = ("after the file", "after the rename", "before the commit", "after the commit")
ROWS = 50


class Countdown:
    """Kills this process, as kill -9 does, at the last of n calls."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def __call__(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def around(
    owner: Any, name: str, before: Callable[[], None] | None, after: Callable[[], None] | None
) -> None:
    """Call `before` and `after` each call of an attribute."""
    inner = getattr(owner, name)

    @wraps(inner)
    def outer(*arguments: Any, **named: Any) -> Any:
        if before:
            before()
        result = inner(*arguments, **named)
        if after:
            after()
        return result

    setattr(owner, name, outer)


def arm(place: str, calls: int) -> None:
    """Set the trap. The rename comes when the file is whole and on the disk."""
    kill = Countdown(calls)
    if place == "after the file":
        around(os, "replace", kill, None)
    elif place == "after the rename":
        around(os, "replace", None, kill)
    elif place == "before the commit":
        around(SQLiteDialect_pysqlite, "do_commit", kill, None)
    elif place == "after the commit":
        around(SQLiteDialect_pysqlite, "do_commit", None, kill)


def publish(home: Path) -> None:
    """Publish rounds and acknowledge each, until the end comes."""
    store = open_store(home)
    number = 0
    while True:
        number += 1
        mark = f"{os.getpid()}-{number}"
        run = hits(*((mark, f"d{rank}", rank) for rank in range(1, ROWS + 1)))
        publish_run(store, "tiny", "bm25", run, scores("nDCG@10", **{mark: 1.0}), mark)
        judged = store.add_judgements(judgement(mark, "d1", 1))
        sys.stdout.write(f"{store.version()} {mark} {judged}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    arm(sys.argv[2], int(sys.argv[3]))
    publish(Path(sys.argv[1]))
