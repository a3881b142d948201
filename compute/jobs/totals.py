"""Totals of stored and running work, without the names of datasets, people or texts."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import func, select

from compute.base.settings import Settings
from compute.jobs import records, tables, workers
from compute.jobs.kinds import KINDS
from compute.judgements.labels import SOURCES, WITHDRAWN
from compute.store import state
from compute.store.store import Store

OTHER = "other"
"""Label for any kind or source that this version does not know."""


@dataclass(frozen=True)
class Totals:
    """Totals at one moment."""

    jobs: Mapping[tuple[str, str, str], int]
    """Number of jobs by workflow (`records.JOB`, `TASK` or `SHARD`), kind and state."""
    longest_wait: float
    """Seconds that the oldest queued item has waited; 0 if none is queued."""
    workers: int
    judgements: Mapping[str, int]
    """Number of added judgements by source; withdrawals count as a source."""
    parts: Mapping[str, int]
    part_bytes: Mapping[str, int]
    damaged_parts: Mapping[str, int]
    """Number of parts known to be damaged, by kind; `parts` and `part_bytes` are also by kind."""


def totals(store: Store) -> Totals:
    """Return the current totals, each from one SELECT. Raises the database's errors."""
    jobs, waits = _jobs(store.settings)
    parts, sizes, damaged = Counter[str](), Counter[str](), Counter[str]()
    for part in store.parts(picked=None):
        parts[part.kind] += 1
        sizes[part.kind] += part.bytes
        damaged[part.kind] += bool(part.damage)
    alive = len(workers.alive(store.settings))
    return Totals(jobs, waits, alive, _judgements(store), parts, sizes, damaged)


def _judgements(store: Store) -> Mapping[str, int]:
    source = state.added_judgements.c.source
    with store.engine.connect() as connection:
        rows = connection.execute(select(source, func.count()).group_by(source)).all()
    found = Counter[str]()
    for name, number in rows:
        found[name if name in (*SOURCES, WITHDRAWN) else OTHER] += number
    return found


def _jobs(settings: Settings) -> tuple[Mapping[tuple[str, str, str], int], float]:
    """Return the numbers of jobs, and the longest wait in seconds."""
    found, longest = Counter[tuple[str, str, str]](), 0.0
    if not tables.exist(settings):
        return found, longest
    status = tables.status.c
    told = (status.name, status.status, status.attributes["kind"].as_string().label("kind"))
    since = (tables.now(settings) - func.min(status.created_at)).label("since")
    query = select(*told, func.count().label("number"), since).group_by(*told)
    for row in tables.rows(settings, query):
        how = records.state(row.status)
        if row.name in (records.JOB, records.TASK, records.SHARD):
            found[row.name, row.kind if row.kind in KINDS else OTHER, how] += row.number
            longest = max(longest, row.since / 1000 if how == records.QUEUED else 0.0)
    return found, longest
