"""How many jobs may be started: by one person and by all in an hour, and how many may wait.

Counted in the jobs themselves, so that a new session or another dashboard starts none afresh. Two
who ask in the same moment may both be the last.
"""

import math
import time
from typing import NamedTuple

from sqlalchemy import select

from compute.base.errors import Unavailable
from compute.base.settings import Settings
from compute.base.words import counted
from compute.jobs import records, tables

SPAN = 3600
"""Seconds over which starts are counted."""


class Start(NamedTuple):
    """A job that was started within the span."""

    time: float
    """Seconds since 1970."""
    person: str


def refuse_too_many(settings: Settings, person: str) -> None:
    """Raises Unavailable, saying when to try again, where this person may start no more for now."""
    if not tables.exist(settings):
        return
    now = time.time()
    found = starts(settings, now)
    mine = [one for one in found if one.person == person]
    rules = (
        ("job_starts_per_person", settings.job_starts_per_person, mine, "You have"),
        ("job_starts", settings.job_starts, found, "All together have"),
    )
    for name, most, counting, who in rules:
        if most and len(counting) >= most:
            # With the `most`-th newest gone one more fits.
            left = SPAN - (now - sorted(one.time for one in counting)[-most])
            minutes = max(1, math.ceil(left / 60))
            raise Unavailable(
                f"{who} started {counted(len(counting), 'job')} in the last hour, as many as the"
                f" setting {name} lets: try again in {counted(minutes, 'minute')}"
            )
    waiting = _waiting(settings)
    if settings.jobs_waiting and waiting >= settings.jobs_waiting:
        raise Unavailable(
            f"{counted(waiting, 'job')} queued or running is as many as the setting jobs_waiting"
            " lets: try again when some have ended, or cancel some"
        )


def starts(settings: Settings, now: float) -> list[Start]:
    """The jobs that were started within the span before `now`."""
    status = tables.status.c
    # DBOS keeps whole seconds in SQLite, hence one more.
    since = int((now - SPAN - 1) * 1000)
    query = select(status.attributes, status.created_at).where(
        status.name == records.JOB, status.created_at >= since
    )
    with tables.reaching(settings), tables.engine(settings).connect() as connection:
        rows = connection.execute(query).all()
    about = [(row.attributes or {}, row.created_at / 1000) for row in rows]
    found = [Start(one.get("created", made), one.get("person", "")) for one, made in about]
    return [one for one in found if one.time > now - SPAN]


def _waiting(settings: Settings) -> int:
    status = tables.status.c
    query = select(status.workflow_uuid).where(
        status.name == records.JOB, status.status.in_(records.WAITING)
    )
    with tables.reaching(settings), tables.engine(settings).connect() as connection:
        return len(connection.execute(query).all())
