"""The worker: it takes jobs from the queue, runs one at a time, and takes over from dead workers.
Besides a task, it makes one shard at a time, usually for a task that waits for it."""

import contextlib
import logging
import math
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NoReturn

from compute.base import scratch
from compute.base.errors import Unavailable
from compute.base.locks import sole
from compute.base.settings import PROJECT, Settings
from compute.jobs import queue, tables, workers
from compute.jobs.child_process import Crew
from compute.store.store import Store
from compute.systems.lexical import end_with_parent

log = logging.getLogger(__name__)


def command(*options: str) -> list[str]:
    """Return the command of a worker that ends, through a pipe, with the process that starts it."""
    script = [sys.executable, "-I", "-S", str(Path(end_with_parent.__file__))]
    return [*script, sys.executable, "-m", "compute", "worker", *options]


def several(number: int, options: Sequence[str]) -> int:
    """Run this many worker processes until told to stop; return the highest exit status."""
    started = [
        subprocess.Popen(command(*options), cwd=PROJECT, stdin=subprocess.PIPE, process_group=0)
        for _ in range(number)
    ]

    def stop(*_: object) -> None:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    return max(process.wait() for process in started)


def work(settings: Settings, *, weights: bool = False, idle: float = math.inf) -> NoReturn:
    """Work until SIGTERM or SIGINT, until another worker declares this one dead, until a newer
    Beirscope has migrated the state, or until there has been nothing to do for `idle` seconds. With
    `weights`, and if the settings keep them apart, take only systems that need a model's weights.
    Raises Unavailable, before anything is started, if a database cannot be reached."""
    store = Store(settings)
    scratch.sweep(settings.home)
    worker = f"{workers.prefix(settings, weights=weights)}{uuid.uuid4().hex[:12]}"
    # A queue, since setting an event would deadlock if a second signal arrived meanwhile.
    stopping: SimpleQueue[None] = SimpleQueue()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.put(None))
    with sole(workers.lock_file(settings, worker)):
        workers.register(settings, worker, os.getpid())
        crew = Crew(settings)
        _launch(crew, worker, queue.queues(settings, weights=weights))
        log.warning("%s is ready (process %d)", worker, os.getpid())
        status = _beat(crew, store, worker, stopping, idle)
        crew.end()
        with contextlib.suppress(Unavailable):
            workers.leave(settings, worker)
        workers.lock_file(settings, worker).unlink(missing_ok=True)
        sys.stdout.flush()
        sys.stderr.flush()
        # DBOS threads may wait for dead child processes; their jobs continue elsewhere or later.
        os._exit(status)


def _launch(crew: Crew, worker: str, queues: Sequence[str]) -> None:
    """Start DBOS with the workflows and the queues of this worker."""
    # Imported here because most callers only need a worker's command line.
    from dbos import DBOS, DBOSPortableJSONSerializer

    from compute.jobs import workflows

    logging.getLogger("dbos").addFilter(_is_news)
    DBOS(
        config={
            "name": queue.APPLICATION,
            "system_database_url": tables.address(crew.settings),
            "serializer": DBOSPortableJSONSerializer(),
            "application_version": queue.VERSION,
            "executor_id": worker,
            "log_level": "WARNING",
        }
    )
    workflows.define(crew, worker)
    DBOS.listen_queues([queue.JOBS_QUEUE, *queues])
    DBOS.launch()
    _take_over(crew.settings, worker)
    DBOS.register_queue(queue.JOBS_QUEUE, polling_interval_sec=0.5)
    for name in queues:
        # A task that waits for its shards does nothing else, so shards are handled beside it.
        DBOS.register_queue(name, worker_concurrency=1, polling_interval_sec=0.5)


def _is_news(record: logging.LogRecord) -> bool:
    """Return whether a record of DBOS's log says more than the logs of the tasks."""
    # Failed and cancelled tasks have their own logs, to which a traceback adds nothing.
    known = ("Exception encountered in background workflow", "is no longer owned")
    return not any(words in record.getMessage() for words in known)


def _beat(crew: Crew, store: Store, worker: str, stopping: "SimpleQueue[None]", idle: float) -> int:
    """Write heartbeats and take over from dead workers until told to stop; return the status."""
    stranded: set[str] = set()
    busy = time.monotonic()
    while not _told(stopping, workers.BEAT):
        busy = time.monotonic() if crew.is_busy() else busy
        if time.monotonic() - busy > idle:
            log.warning("%s ends after %.0f minutes without work", worker, idle / 60)
            return 0
        try:
            if not workers.beat(crew.settings, worker):
                log.error("%s was silent for too long and others have its jobs: it ends", worker)
                return 1
            with tables.reaching(crew.settings):
                if store.outgrown():
                    log.error(
                        "a newer Beirscope has migrated the store: update this one; %s ends", worker
                    )
                    return 1
            _take_over(crew.settings, worker)
            stranded = _resume(crew, worker, stranded)
        except Unavailable as error:
            log.warning("%s", error)
    return 0


def _told(stopping: "SimpleQueue[None]", seconds: float) -> bool:
    """Return whether the worker is told to stop within this many seconds."""
    with contextlib.suppress(Empty):
        stopping.get(timeout=seconds)
        return True
    return False


def _resume(crew: Crew, worker: str, before: set[str]) -> set[str]:
    """Resume workflows that a failure of the database left assigned to this worker but not running.
    They must be in this state at two heartbeats, since jobs start and end in between. Returns the
    workflows found at this heartbeat."""
    from dbos import DBOS

    given = workers.given(crew.settings, worker)
    stranded = crew.stranded(given)
    for job in stranded & before:
        log.warning("continuing %s", job, extra={"job": job})
        DBOS.resume_workflow(job, queue_name=given[job])
    return stranded - before


def _take_over(settings: Settings, worker: str) -> None:
    """Put the jobs of dead workers back into the queue, from which any worker takes them."""
    from dbos import DBOS

    dead = workers.declare_dead(settings, worker)
    if dead:
        log.warning("taking over from %s", ", ".join(dead))
        # DBOS has no public call that moves a job only if it still belongs to the dead worker.
        DBOS._recover_pending_workflows(dead)
