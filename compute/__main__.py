"""The command line: `beirscope …` or `python -m compute …`."""

import contextlib
import logging
import os
import sys
import time
from collections.abc import Sequence

from compute.base import (
    bug_reports,
    disk_refusals,
    json_logs,
    permissions,
    printable,
    settings,
)
from compute.base.errors import BeirscopeError
from compute.commands import app, old

log = logging.getLogger("compute.command")


def main(words: Sequence[str] | None = None) -> int:
    """Run a command; return 0 if done, 2 for wrong input (with a sentence), 1 for a bug (with an
    id)."""
    start = time.monotonic()
    asked, hint = old.renewed(sys.argv[1:] if words is None else words)
    name = app.name_of(asked)
    if words is None and name != "serve":
        # Readers of a dashboard come first, as they do before its worker.
        os.nice(10)
    if name:
        json_logs.begin()
    if hint:
        _say(hint, logging.WARNING)
    status = _run(name, asked)
    if name:
        log.info("%s: status %d, %.1f s", name, status, time.monotonic() - start)
    return status


def _run(name: str, words: Sequence[str]) -> int:
    try:
        with permissions.private():
            return app.parsed(words)()
    except BeirscopeError as error:
        _say(str(error))
        return 2
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        _say("stopped; nothing half-done was published")
        return 130
    except Exception as error:
        return 2 if _is_damage() else _failed(name, error)


def _is_damage() -> bool:
    """Return whether the error comes from damage in the store or its state, which is then named."""
    with contextlib.suppress(Exception):
        # Imported here because the store loads SQLAlchemy, which help and usage errors do not need.
        from compute.store import damage, integrity
        from compute.store.store import Store

        store = Store(settings.load())
        told = [*map(damage.said, damage.found_anew(store)), *integrity.found(store.engine)]
        for line in told:
            _say(line)
        return bool(told)
    return False


def _failed(command: str, error: Exception) -> int:
    """Report a failure of the disk or a bug; returns the exit status."""
    try:
        now = settings.load()
    except Exception:  # The settings themselves may be the bug.
        now = settings.Settings()
    refused = disk_refusals.refusal(error, now.home)
    words = str(refused) if refused else bug_reports.said(now, command, error)
    _say(words)
    return 2 if refused else 1


def _say(words: str, level: int = logging.ERROR) -> None:
    """Print one sentence for the caller of the command."""
    if json_logs.are_on():
        log.log(level, "%s", words)
    else:
        printable.warn(words)


if __name__ == "__main__":
    sys.exit(main())
