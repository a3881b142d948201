"""The log of each job and task: a file of its own under `logs/jobs`, without text of documents."""

import contextlib
import logging
import re
from datetime import UTC, datetime
from pathlib import Path

from compute.base.errors import Missing
from compute.base.files import make_folder
from compute.base.printable import printable_lines
from compute.base.settings import Settings

_TAIL = 64 * 1024
log = logging.getLogger(__name__)


def file(settings: Settings, job: str) -> Path:
    """Return the log file of a job or task. A shard writes to the log of its task, though it has
    its own id. Raises Missing for an invalid id."""
    if not re.fullmatch(r"[a-z]+-[0-9a-f]{12}(\.\d{1,6}){0,2}", job):
        raise Missing(f"no job {job[:60]!r}: python -m compute jobs list shows them")
    return settings.home / "logs" / "jobs" / f"{job}.log"


def write(settings: Settings, job: str, line: str) -> None:
    """Add a line with the time in UTC. Several workers may write to one job's log. A line that
    cannot be written to disk is dropped, so that no job fails because of it."""
    target = file(settings, job)
    log.info("%s", line, extra={"job": job})
    time = datetime.now(UTC).isoformat(sep=" ", timespec="milliseconds")[:23]
    with contextlib.suppress(OSError):
        make_folder(target.parent)
        with target.open("a", encoding="utf-8") as lines:
            lines.write(f"{time} {printable_lines(line)}\n")


def tail(settings: Settings, job: str, lines: int = 40) -> str:
    """Return the last lines of the log; an empty text if there is none."""
    target = file(settings, job)
    try:
        with target.open("rb") as written:
            written.seek(0, 2)
            written.seek(max(written.tell() - _TAIL, 0))
            text = written.read().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.splitlines()[-lines:])
