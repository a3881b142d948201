"""Bug reports: a traceback is logged under an id, and users see only the id."""

import contextlib
import logging
import time
import traceback
import uuid
from pathlib import Path

from compute.base import json_logs, redaction
from compute.base.files import make_folder
from compute.base.settings import Settings

PAUSE = 3600.0
"""Seconds for which a repeated bug is not logged again, so that it does not fill the disk."""
_LOGGED: dict[tuple[object, ...], tuple[float, str, Path]] = {}
"""Time, id and log file of each bug that was logged. The key holds the home, the place, the error's
type and the lines of its traceback."""


def record(settings: Settings, where: str, error: BaseException) -> tuple[str, Path | None]:
    """Write the traceback to its own log file; return the bug's id and the file. Never raises: the
    file is None if the log could not be written."""
    lines = traceback.extract_tb(error.__traceback__)
    kind = settings.home, where, type(error), *((line.filename, line.lineno) for line in lines)
    at, bug, log = _LOGGED.get(kind, (0.0, "", Path()))
    if bug and time.monotonic() - at < PAUSE and log.exists():
        return bug, log
    bug = uuid.uuid4().hex[:8]
    log = settings.home / "logs" / f"bug-{bug}.log"
    about = (type(error), error, error.__traceback__)
    if json_logs.are_on():
        logging.getLogger(f"beirscope.{where}").error("bug %s", bug, exc_info=about)
    line = logging.LogRecord(
        f"beirscope.{where}", logging.ERROR, "", 0, "bug %s", (bug,), exc_info=about
    )
    try:
        make_folder(log.parent)
        log.write_text(f"{redaction.Formatter().format(line)}\n", encoding="utf-8")
    except OSError:
        with contextlib.suppress(OSError):
            log.unlink(missing_ok=True)
        return bug, None
    _LOGGED[kind] = time.monotonic(), bug, log
    return bug, log


def said(settings: Settings, where: str, error: Exception) -> str:
    """Record a bug, and return a sentence about it for the user."""
    bug, log = record(settings, where, error)
    kept = f"please report {log}" if log else "its log could not be written"
    return f"bug {bug} in Beirscope, not in your input: {kept}"
