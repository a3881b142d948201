"""Requests for jobs: start (within limits), cancel, retry. Only workers compute, nothing here."""

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
"""Version on which workers and jobs must agree, increased when older jobs cannot continue."""
WEIGHTS = "-weights"
JOBS_QUEUE, TASKS_QUEUE, SHARDS_QUEUE = "jobs", "tasks", "shards"
MOST_NAMED = 3
"""Most systems, and datasets, that the title of a job names."""
SPAN = 3600
"""Seconds over which starts are counted."""


def queues(settings: Settings, *, weights: bool) -> tuple[str, ...]:
    """The queues that a worker listens to, handling one item of each at a time: tasks, shards."""
    apart = WEIGHTS * (settings.weights_apart and weights)
    return TASKS_QUEUE + apart, SHARDS_QUEUE + apart


def queues_of(settings: Settings, kind: str, name: str) -> tuple[str, ...]:
    """Queues of the tasks of a job of this kind with a system, and of its shards."""
    return queues(settings, weights=_loads_weights(kind, name))


def _loads_weights(kind: str, name: str) -> bool:
    if not {"index", "search", "train"} & {*KINDS[kind].steps} or not name:
        return False
    try:
        row = system(name)
    except WrongInput:  # Only an imported run has this name.
        return False
    return row.has_weights or any(_loads_weights(kind, one) for one in row.inputs)


@dataclass(frozen=True)
class Started:
    """Outcome of a request."""

    job: str
    """Id of the job that does the work; empty if there is nothing to do."""
    joined: bool
    """True if that job was already queued or running."""
    targets: tuple[Target, ...]
    """Targets of the job."""
    up_to_date: tuple[Target, ...]
    """Targets left out as up to date; `again=True` recomputes them."""

    @property
    def sentence(self) -> str:
        """Outcome in one sentence."""
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
    """Queue a job for a person, or join one that already does the same. `only` restricts it to some
    pairs of systems and datasets, by canonical names. Up-to-date targets are left out unless
    `again`. Raises WrongInput, Missing or Unavailable for names that cannot be run, and Unavailable
    if the database cannot be reached or too many jobs were started."""
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
    """Queue an LLM judging. Raises like `start`, and Conflict without consent."""
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
    """The job that already does all of the work."""
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
    """Display names of systems and datasets."""

    systems: Mapping[str, str]
    datasets: Mapping[str, str]


NAMES = Names({}, {})
"""Display names that show every name unchanged."""


def title(kind: Kind, targets: Sequence[Target], names: Names = NAMES) -> str:
    """`bm25, minilm on scifact`; without a system, `word counts of scifact`."""
    systems, datasets = zip(*targets, strict=True)
    columns = ((systems, names.systems, "system"), (datasets, names.datasets, "dataset"))
    words = " on ".join(
        _few({shown.get(name, name) for name in column}, noun)
        for column, shown, noun in columns
        if any(column)
    )
    return words if any(systems) else f"{kind.noun} of {words}"


def called(job: records.Job, names: Names) -> str:
    """Title of a job or task, with display names of its systems and datasets."""
    targets = job.targets or ((job.system, job.dataset),)
    known = KINDS.get(job.kind)
    return title(known, targets, names) if known and any(map(any, targets)) else job.title


def _few(names: Collection[str], noun: str) -> str:
    """`bm25, minilm`; for many names, only their number."""
    return ", ".join(sorted(names)) if len(names) <= MOST_NAMED else counted(len(names), noun)


def cancel(settings: Settings, job: str) -> None:
    """Cancel a job with its tasks, or one task; a running step ends within seconds. Raises Missing
    for an unknown id, Conflict if it has already ended."""
    found = _existing(settings, job)
    if not found.active:
        raise Conflict(f"{job} has already ended: it is {found.state}")
    with client(settings) as queue:
        queue.cancel_workflow(job, cancel_children=True)
    logs.write(settings, job, "cancelled")


def retry(store: Store, job: str, person: str = "") -> Started:
    """Start a new job for the failed or cancelled tasks of this one, or for this one task. Raises
    Missing for an unknown id, Conflict for a job that is still running or without failures."""
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
"""Databases whose complete tables this process has seen."""


@contextmanager
def client(settings: Settings) -> Iterator["DBOSClient"]:
    """A connection to the queue, after creating its tables. Raises Unavailable."""
    # Imported here because it takes most of a second and watching jobs never needs it.
    from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer

    address = tables.address(settings)
    # PostgreSQL creates the tables one by one, perhaps in a worker, whose lock this waits for.
    if not tables.exist(settings) or (settings.state and address not in _MADE):
        DBOS.migrate(address)
        _MADE.add(address)
    with tables.reaching(settings):
        opened = DBOSClient(
            system_database_url=address,
            # Not pickled, since write access to the database must not allow running code.
            serializer=DBOSPortableJSONSerializer(),
            application_name=APPLICATION,
            retry_connection_errors=False,
        )
        try:
            yield opened
        finally:
            opened.destroy()


class Start(NamedTuple):
    """A job started within the time span."""

    time: float
    """Seconds since 1970."""
    person: str


def refuse_too_many(settings: Settings, person: str) -> None:
    """Raise Unavailable, with the time to try again, if this person may not start more jobs now.
    Starts are counted from the jobs themselves, so that a new session or another dashboard does not
    reset the count. Two simultaneous requests may both be the last."""
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
            # Once the `most`-th newest is too old, one more is allowed.
            left = SPAN - (now - sorted(one.time for one in counting)[-most])
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


def starts(settings: Settings, now: float) -> list[Start]:
    """The jobs started within the time span before `now`."""
    status = tables.status.c
    # DBOS stores whole seconds in SQLite, hence one more.
    since = int((now - SPAN - 1) * 1000)
    query = select(status.attributes, status.created_at).where(
        status.name == records.JOB, status.created_at >= since
    )
    rows = tables.rows(settings, query)
    about = [(row.attributes or {}, row.created_at / 1000) for row in rows]
    found = [Start(one.get("created", made), one.get("person", "")) for one, made in about]
    return [one for one in found if one.time > now - SPAN]


def _waiting(settings: Settings) -> int:
    status = tables.status.c
    query = select(status.workflow_uuid).where(
        status.name == records.JOB, status.status.in_(records.WAITING)
    )
    return len(tables.rows(settings, query))
