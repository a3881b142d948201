"""Jobs as the database records them: requests, progress, results."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Row, select

from compute.base import errors
from compute.base.settings import Settings
from compute.jobs import tables

QUEUED, RUNNING, DONE, FAILED, CANCELLED = "queued", "running", "done", "failed", "cancelled"
ACTIVE = (QUEUED, RUNNING)
_STATES = {
    "ENQUEUED": QUEUED,
    "DELAYED": QUEUED,
    "PENDING": RUNNING,
    "SUCCESS": DONE,
    "CANCELLED": CANCELLED,
    "ERROR": FAILED,
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": FAILED,
}
WAITING = tuple(name for name, state in _STATES.items() if state in ACTIVE)
"""DBOS's states of queued and running workflows."""
JOB, TASK, SHARD = "job", "task", "shard"
"""Names of the workflows: a job, one of its tasks, one of a task's shards."""


@dataclass(frozen=True)
class Progress:
    """The progress of a task's current step."""

    step: str
    done: int
    total: int
    """0 if unknown."""
    unit: str
    """The unit that is counted, such as documents."""
    rate: float | None
    """Units per second; None while too few were counted."""

    @property
    def seconds_left(self) -> float | None:
        """Remaining seconds of the step at this rate; None if unknown."""
        if not self.rate or not self.total:
            return None
        return max(self.total - self.done, 0) / self.rate


@dataclass(frozen=True)
class Job:
    """A job, or one of its tasks: a system on a dataset."""

    id: str
    kind: str
    state: str
    """queued, running, done, failed or cancelled."""
    title: str
    """The title, such as `bm25 on scifact`."""
    created: float
    """Seconds since 1970, as are `started` and `ended`."""
    started: float | None = None
    ended: float | None = None
    system: str = ""
    dataset: str = ""
    """The dataset of a task; empty for a job."""
    error: str = ""
    """One sentence, if it failed."""
    progress: Progress | None = None
    """Progress of a running task; for a job, that of its first running task."""
    targets: tuple[tuple[str, str], ...] = ()
    """(system, dataset) of all tasks of a job."""
    counts: Mapping[str, int] | None = None
    """The number of a job's tasks in each state."""
    options: Mapping[str, Any] | None = None
    """The options of the job, apart from systems and datasets."""
    person: str = ""
    """The person who started the job, if people sign in."""

    @property
    def active(self) -> bool:
        """Whether it is queued or running."""
        return self.state in ACTIVE

    @property
    def summary(self) -> str:
        """The outcome of its tasks, such as `7 of 20 done, 1 failed`."""
        counts = self.counts or {self.state: 1}
        words = [f"{counts.get(DONE, 0)} of {max(len(self.targets), 1)} done"]
        words += [f"{counts[state]} {state}" for state in (FAILED, CANCELLED) if counts.get(state)]
        return ", ".join(words)


def state(status: str) -> str:
    """Return the state that a status of DBOS means."""
    return _STATES.get(status, FAILED)


def jobs(settings: Settings, limit: int = 50) -> list[Job]:
    """Return the newest jobs, newest first, with the counts of their tasks."""
    if not tables.exist(settings):
        return []
    found = _read(settings, tables.status.c.name == JOB, limit)
    # DBOS stores whole seconds in SQLite.
    found.sort(key=lambda one: one.created, reverse=True)
    return _with_tasks(settings, found)


def job(settings: Settings, name: str) -> Job | None:
    """Return the job or task of this id; None if there is none."""
    if not tables.exist(settings):
        return None
    found = _read(settings, tables.status.c.workflow_uuid == name, 1)
    return next(iter(_with_tasks(settings, found)), None)


def tasks(settings: Settings, name: str) -> list[Job]:
    """Return the tasks of a job in order, including those shared with another job."""
    return _tasks(settings, [name]).get(name, [])


def named(settings: Settings, names: Collection[str]) -> list[Job]:
    """Return the jobs, tasks or shards of these ids, in any order."""
    return _read(settings, tables.status.c.workflow_uuid.in_(names), None)


def latest_tasks(settings: Settings) -> dict[tuple[str, str], Job]:
    """Return the active task of each (system, dataset), or else the one that ended last."""
    if not tables.exist(settings):
        return {}
    found = _read(settings, tables.status.c.name == TASK, None)
    found.sort(key=lambda task: (task.active, task.ended or task.created))
    return {(task.system, task.dataset): task for task in found}


def _read(settings: Settings, where: ColumnElement[bool], limit: int | None) -> list[Job]:
    """Return the jobs, tasks or shards that a condition selects, the newest first."""
    status, outputs, progress = tables.status, tables.outputs, tables.progress
    joined = status.outerjoin(outputs, outputs.c.workflow_uuid == status.c.workflow_uuid)
    joined = joined.outerjoin(progress, progress.c.job == status.c.workflow_uuid)
    query = (
        select(*status.c, outputs.c.error, *progress.c)
        .select_from(joined)
        .where(where)
        .order_by(status.c.created_at.desc(), status.c.workflow_uuid.desc())
        .limit(limit)
    )
    return [_job(row) for row in tables.rows(settings, query)]


def _job(row: Row[Any]) -> Job:
    about = row.attributes or {}
    now = state(row.status)
    at = row.step, row.done, row.total, row.unit, row.rate
    return Job(
        id=row.workflow_uuid,
        kind=about.get("kind", ""),
        state=now,
        title=about.get("title", ""),
        created=about.get("created", row.created_at / 1000),
        started=row.started_at_epoch_ms / 1000 if row.started_at_epoch_ms else None,
        ended=row.completed_at / 1000 if row.completed_at else None,
        system=about.get("system", ""),
        dataset=about.get("dataset", ""),
        error=_sentence(row.error) if now == FAILED else "",
        progress=Progress(*at) if now == RUNNING and row.job is not None else None,
        targets=tuple((system, dataset) for system, dataset in about.get("targets", ())),
        options=about.get("options"),
        person=about.get("person", ""),
    )


def _sentence(error: str | None) -> str:
    """Return an error that DBOS recorded as a sentence."""
    if error is None:
        return "its worker ended repeatedly while it ran: see the log"
    record = json.loads(error)
    if record["name"] in ("StepFailed", "PortableWorkflowError", *vars(errors)):
        return str(record["message"])
    if record["name"] in ("OperationalError", "InterfaceError"):
        return "the jobs database was unreachable while it ran: retry it"
    return f"a bug in Beirscope, not in your input ({record['name']}): see the log"


def _with_tasks(settings: Settings, found: list[Job]) -> list[Job]:
    of_jobs = _tasks(settings, [one.id for one in found if one.targets])
    return [_whole(one, of_jobs.get(one.id, [])) if one.targets else one for one in found]


def of_failed(one: Job, failed: Sequence[Job], title: str) -> str:
    """Return a sentence on a job's failed tasks; `title` names the first of them."""
    return f"{len(failed)} of {len(one.targets)} failed; {title}: {failed[0].error}"


def _whole(one: Job, tasks: Collection[Job]) -> Job:
    """Return a job with the state and progress of its tasks."""
    counts = Counter(task.state for task in tasks)
    if one.active:
        counts[QUEUED] += len(one.targets) - len(tasks)
    running = [task for task in tasks if task.progress is not None]
    failed = [task for task in tasks if task.state == FAILED]
    state, error = one.state, one.error
    if state == DONE and (failed or counts[CANCELLED]):
        state = FAILED if failed else CANCELLED
    if failed and state == FAILED and not error:
        error = of_failed(one, failed, failed[0].title)
    progress = running[0].progress if running else None
    # A job starts before its tasks, which may wait for other jobs; the start of its tasks counts.
    begun = [task.started for task in tasks if task.started]
    started = max(min(begun), one.started) if begun and one.started else one.started
    now: dict[str, Any] = {"state": state, "error": error, "counts": dict(counts)}
    return replace(one, progress=progress, started=started, **now)


def _tasks(settings: Settings, names: Iterable[str]) -> dict[str, list[Job]]:
    """Return the tasks of each of these jobs, in order."""
    operations = tables.operations.c
    query = select(operations.workflow_uuid, operations.child_workflow_id).where(
        operations.workflow_uuid.in_(list(names)), operations.child_workflow_id.is_not(None)
    )
    pairs = sorted({(row[0], row[1]) for row in tables.rows(settings, query)})
    wanted = tables.status.c.workflow_uuid.in_({child for _, child in pairs})
    found = {task.id: task for task in _read(settings, wanted, None)} if pairs else {}
    of_jobs: dict[str, list[Job]] = {}
    for parent, child in pairs:
        if child in found:
            of_jobs.setdefault(parent, []).append(found[child])
    return of_jobs
