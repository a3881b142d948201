"""Logs of a process: readable lines or, with the setting `logs`, one JSON object per line. The JSON
never contains the message of an exception, since a library may quote a document in it; the type and
the traceback show where to look. Secrets are masked, as everywhere."""

import json
import logging
import traceback
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from compute.base import settings
from compute.base.errors import BeirscopeError
from compute.base.redaction import Formatter, masked


class JsonFormatter(logging.Formatter):
    """Formats a record as JSON: time, level, logger, message, process; if any, job and error."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with secrets masked; `job` is the id of the record's job or task."""
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": masked(record.getMessage()),
            "process": record.process,
        }
        if job := getattr(record, "job", None):
            told["job"] = job
        kind, _, trace = record.exc_info or (None, None, None)
        if kind:
            told |= {"error": kind.__name__, "at": _passed(trace)}
        return json.dumps(told)


def begin() -> None:
    """Log warnings to standard error from now on; with JSON logs, also Beirscope's own actions."""
    handler = logging.StreamHandler()
    handler.setFormatter(Formatter("%(levelname)s %(name)s: %(message)s"))
    if _wanted():
        handler.setFormatter(JsonFormatter())
        for room in ("compute", "pages"):
            logging.getLogger(room).setLevel(logging.INFO)
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


def are_on() -> bool:
    """Return whether this process logs as JSON."""
    return any(isinstance(one.formatter, JsonFormatter) for one in logging.getLogger().handlers)


def _wanted() -> bool:
    """Return whether the settings ask for JSON logs."""
    try:
        return settings.load().logs == "json"
    except BeirscopeError:
        # Code that needs the settings reports their errors.
        return False


def _passed(trace: TracebackType | None) -> list[str]:
    """Return the lines of a traceback, each as `file:line function`."""
    frames = traceback.extract_tb(trace)
    return [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
