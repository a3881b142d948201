"""Requests for jobs: start (within limits), cancel, retry. Workers do the computing."""

import hashlib
import json
import math
import time
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select

from compute.base.errors import Conflict, Missing, Unavailable, WrongInput
from compute.base.settings import Settings
from compute.base.words import counted
from compute.intake import machine_judging
from compute.jobs import logs, records, tables
from compute.jobs.kinds import KINDS, Kind
from compute.jobs.matrix import Target
from compute.judgements import sets
from compute.store.store import Store
from compute.systems import system

if TYPE_CHECKING:
    from dbos import DBOSClient

APPLICATION = "beirscope"
VERSION = "1"
"""The version on which workers and jobs must agree; increased when older jobs cannot continue."""
WEIGHTS = "-weights"
JOBS_QUEUE, TASKS_QUEUE, SHARDS_QUEUE = "jobs", "tasks", "shards"
MOST_NAMED = 3
"""Maximum number of systems, and of datasets, that the title of a job names."""
SPAN = 3600
"""Length in seconds of the period for which starts are counted."""


def queues(settings: Settings, *, weights: bool) -> tuple[str, ...]:
    """Return a worker's queues of tasks and of shards; it handles one item of each at a time."""
    apart = WEIGHTS * (settings.weights_apart and weights)
    return TASKS_QUEUE + apart, SHARDS_QUEUE + apart


def queues_of(settings: Settings, kind: str, name: str) -> tuple[str, ...]:
    """Return the queues for the tasks of this kind with a system, and for their shards."""
    return queues(settings, weights=_loads_weights(kind, name))


def _loads_weights(kind: str, name: str) -> bool:
    """Return whether a task of this kind loads the weights of a model."""
    if not {"index", "search", "train"} & {*KINDS[kind].steps} or not name:
        return False
    try:
        row = system(name)
    except WrongInput:  # Only an imported run has this name.
        return False
    return row.has_weights or any(_loads_weights(kind, one) for one in row.inputs)


@dataclass(frozen=True)
class Started:
    """The outcome of a request."""

    job: str
    """Id of the job that does the work; empty if there is nothing to do."""
    joined: bool
    """Whether that job was already queued or running."""
    targets: tuple[Target, ...]
    """The targets of the job."""
    up_to_date: tuple[Target, ...]
    """Targets left out because they are up to date; `again=True` recomputes them."""

    @property
    def sentence(self) -> str:
        """The outcome in one sentence."""
        left = f"{len(self.up_to_date)} up to date" if self.up_to_date else ""
        if not self.job:
            return f"nothing to do, {left}: use --again to recompute anyway"
        words = "already running as" if self.joined else "queued as"
        tail = f" ({left}, left out)" if left else ""
        return f"{len(self.targets)} {words} {self.job}{tail}"


def start(
    store: Store,
    kind: str,
    systems: Sequence[str] = (),
    datasets: Sequence[str] = (),
    *,
    only: Collection[Target] | None = None,
    again: bool = False,
    drop_equal_ids: bool = False,
    person: str = "",
) -> Started:
    """Queue a job for a person, or join a job that already does the same. `only` restricts the job
    to these pairs of a system and a dataset, by canonical names. Targets that are up to date are
    left out unless `again`. `drop_equal_ids` is as in `pairs.pair`. Raises WrongInput, Missing or
    Unavailable for names that cannot be run; and Unavailable also if the database cannot be reached
    or too many jobs were started."""
    row = _kind(kind)
    named = row.targets(store, systems, datasets)
    targets = [target for target in named if only is None or target in only]
    if not targets:
        raise WrongInput("nothing is chosen: name at least one system and one dataset")
    options = {"again": again, "drop_equal_ids": drop_equal_ids}
    return _start(store, row, targets, options, person)


def start_judging(
    store: Store, plan: machine_judging.Plan, *, again: bool = False, person: str = ""
) -> Started:
    """Queue an LLM judging. Raises as `start` does, and Conflict without consent."""
    machine_judging.check(store, plan)
    options = {"again": again, "drop_equal_ids": False, "judging": plan.record()}
    target = sets.of_machine(plan.machine), plan.dataset
    return _start(store, KINDS["judge"], [target], options, person)


def _kind(name: str) -> Kind:
    if name not in KINDS:
        raise WrongInput(f"no kind of job {name!r}; there are: {', '.join(KINDS)}")
    return KINDS[name]


def _start(
    store: Store, kind: Kind, targets: Sequence[Target], options: Mapping[str, Any], person: str
) -> Started:
    """Queue a job for those targets that are not up to date, or join one that does the same."""
    current: tuple[Target, ...] = ()
    if not options["again"] and not options["drop_equal_ids"]:
        current = tuple(kind.current(store, targets))
    wanted = tuple(target for target in targets if target not in current)
    if not wanted:
        return Started("", False, (), current)
    same = _at_work(store.settings, kind, wanted, options)
    if same:
        return Started(same, True, wanted, current)
    refuse_too_many(store.settings, person)
    job = f"{kind.name}-{uuid.uuid4().hex[:12]}"
    given = _enqueue(store.settings, job, kind, wanted, options, person)
    return Started(given, given != job, wanted, current)


def _at_work(
    settings: Settings, kind: Kind, wanted: Sequence[Target], options: Mapping[str, Any]
) -> str:
    """Return the id of an active job that does all of this work; empty if there is none."""
    for job in records.jobs(settings, 100):
        same = KINDS[job.kind].work == kind.work if job.kind in KINDS else False
        if job.active and same and job.options == options and set(wanted) <= set(job.targets):
            return job.id
    return ""


def _enqueue(
    settings: Settings,
    job: str,
    kind: Kind,
    targets: Sequence[Target],
    options: Mapping[str, Any],
    person: str,
) -> str:
    """Put a job into DBOS's queue; return its id, or that of an equal job."""
    about = {
        "kind": kind.name,
        "title": title(kind, targets),
        "targets": [list(target) for target in targets],
        "options": dict(options),
        "created": time.time(),
        "person": person,
    }
    content = json.dumps([kind.work, sorted(targets), options], sort_keys=True)
    with client(settings) as queue:
        handle = queue.enqueue(
            {
                "workflow_name": records.JOB,
                "queue_name": JOBS_QUEUE,
                "workflow_id": job,
                "attributes": about,
                # Two equal requests at the same moment share one job.
                "deduplication_id": hashlib.sha256(content.encode()).hexdigest(),
                "duplication_policy": "return-existing",
            },
            about,
        )
    given = handle.workflow_id
    if given == job:
        logs.write(settings, job, f"queued: {kind.name} {about['title']}")
    return given


class Names(NamedTuple):
    """Display names of systems and of datasets, by name."""

    systems: Mapping[str, str]
    datasets: Mapping[str, str]


NAMES = Names({}, {})
"""Display names under which every name is shown unchanged."""


def title(kind: Kind, targets: Sequence[Target], names: Names = NAMES) -> str:
    """Return the title of a job: `bm25, minilm on scifact` or `word counts of scifact`."""
    systems, datasets = zip(*targets, strict=True)
    columns = ((systems, names.systems, "system"), (datasets, names.datasets, "dataset"))
    words = " on ".join(
        _few({shown.get(name, name) for name in column}, noun)
        for column, shown, noun in columns
        if any(column)
    )
    return words if any(systems) else f"{kind.noun} of {words}"


def called(job: records.Job, names: Names) -> str:
    """Return the title of a job or task, with display names of its systems and datasets."""
    targets = job.targets or ((job.system, job.dataset),)
    known = KINDS.get(job.kind)
    return title(known, targets, names) if known and any(map(any, targets)) else job.title


def _few(names: Collection[str], noun: str) -> str:
    """Return the names, such as `bm25, minilm`; if there are many, only their number."""
    return ", ".join(sorted(names)) if len(names) <= MOST_NAMED else counted(len(names), noun)


def cancel(settings: Settings, job: str) -> None:
    """Cancel a job with its tasks, or one task; a running step ends within seconds. Raises Missing
    for an unknown id, and Conflict if it has already ended."""
    found = _existing(settings, job)
    if not found.active:
        raise Conflict(f"{job} has already ended: it is {found.state}")
    with client(settings) as queue:
        queue.cancel_workflow(job, cancel_children=True)
    logs.write(settings, job, "cancelled")


def retry(store: Store, job: str, person: str = "") -> Started:
    """Start a new job for the failed or cancelled tasks of a job, or for a single task. Raises
    Missing for an unknown id, and Conflict if the job is still active or nothing failed."""
    found = _existing(store.settings, job)
    if found.active:
        raise Conflict(f"{job} is still {found.state}: wait for it, or cancel it first")
    ended = records.tasks(store.settings, job) if found.targets else [found]
    done = {(task.system, task.dataset) for task in ended if task.state == records.DONE}
    wanted = found.targets or ((found.system, found.dataset),)
    targets = [target for target in wanted if target not in done]
    if not targets:
        raise Conflict(f"nothing failed in {job}: start it with --again to recompute")
    return _start(store, _kind(found.kind), targets, found.options or {}, person)


def _existing(settings: Settings, job: str) -> records.Job:
    logs.file(settings, job)
    found = records.job(settings, job)
    if found is None:
        raise Missing(f"no job {job!r}: python -m compute jobs list shows them")
    return found


_MADE: set[str] = set()
"""Addresses of databases in which this process has seen all tables."""


@contextmanager
def client(settings: Settings) -> Iterator["DBOSClient"]:
    """Open a connection to the queue, after creating its tables. Raises Unavailable."""
    # Imported here because it takes most of a second, and showing jobs never needs it.
    from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer

    address = tables.address(settings)
    # In PostgreSQL a worker may be creating the tables one by one; this waits for its lock.
    if not tables.exist(settings) or (settings.state and address not in _MADE):
        DBOS.migrate(address)
        _MADE.add(address)
    with tables.reaching(settings):
        opened = DBOSClient(
            system_database_url=address,
            # JSON, not pickle: write access to the database must not allow running code.
            serializer=DBOSPortableJSONSerializer(),
            application_name=APPLICATION,
            retry_connection_errors=False,
        )
        try:
            yield opened
        finally:
            opened.destroy()


def refuse_too_many(settings: Settings, person: str) -> None:
    """Raise Unavailable, with the time to try again, if this person may not start more jobs now.
    The jobs themselves are counted, so that a new session or another dashboard does not reset the
    count. Two simultaneous requests may both pass as the last one allowed."""
    if not tables.exist(settings):
        return
    now = time.time()
    found = starts(settings, now)
    mine = [start for start, of in found if of == person]
    rules = (
        ("job_starts_per_person", settings.job_starts_per_person, mine, "You have"),
        ("job_starts", settings.job_starts, [start for start, _ in found], "All together have"),
    )
    for name, most, counting, who in rules:
        if most and len(counting) >= most:
            # Once the `most`-th newest is too old, one more is allowed.
            left = SPAN - (now - sorted(counting)[-most])
            minutes = max(1, math.ceil(left / 60))
            raise Unavailable(
                f"{who} started {counted(len(counting), 'job')} in the last hour, the limit of"
                f" the setting {name}: try again in {counted(minutes, 'minute')}"
            )
    waiting = _waiting(settings)
    if settings.jobs_waiting and waiting >= settings.jobs_waiting:
        raise Unavailable(
            f"{counted(waiting, 'job')} queued or running is the limit of the setting"
            " jobs_waiting: try again when some have ended, or cancel some"
        )


def starts(settings: Settings, now: float) -> list[tuple[float, str]]:
    """Return when (in seconds since 1970) and by whom each job was started in the period before
    `now`."""
    status = tables.status.c
    # DBOS stores whole seconds in SQLite, so one second more is read.
    since = int((now - SPAN - 1) * 1000)
    query = select(status.attributes, status.created_at).where(
        status.name == records.JOB, status.created_at >= since
    )
    rows = tables.rows(settings, query)
    about = [(row.attributes or {}, row.created_at / 1000) for row in rows]
    found = [(one.get("created", made), one.get("person", "")) for one, made in about]
    return [(start, person) for start, person in found if start > now - SPAN]


def _waiting(settings: Settings) -> int:
    status = tables.status.c
    query = select(status.workflow_uuid).where(
        status.name == records.JOB, status.status.in_(records.WAITING)
    )
    return len(tables.rows(settings, query))
