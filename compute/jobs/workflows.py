"""The workflows that a worker runs: a job fans out into tasks, and a task goes through its steps. A
task on many documents also fans out, before it indexes or counts words, into shards, which any
worker can make. DBOS stores each step's result, so after a crash a task resumes where it was."""

import contextlib
import hashlib
import json
import os
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dbos import (
    DBOS,
    PortableWorkflowError,
    SetEnqueueOptions,
    SetWorkflowAttributes,
    SetWorkflowID,
)
from sqlalchemy.exc import SQLAlchemyError

from compute.base.errors import Unavailable
from compute.base.settings import Settings
from compute.jobs import logs, queue, records
from compute.jobs.child_process import Child, Crew, StepFailed, Stopped
from compute.jobs.kinds import KINDS
from compute.jobs.reporting import Watch
from compute.store.store import shard_path

Divide = Callable[[Mapping[str, Any], list[dict[str, Any]], str], None]
"""A function that lets the shards of a task be made, waits for them, and reports under `step`."""
ATTEMPTS = 50
"""Maximum number of times that a job is taken over; after that, it seems to kill its workers."""
LOOK = 1.0
"""Seconds between two checks of the shards."""
KEPT = 600.0
"""Seconds between two touches of finished shards, which might expire before all are made."""


def define(crew: Crew, worker: str) -> None:
    """Register the workflows with DBOS; their steps run in this worker's child processes."""

    @DBOS.workflow(name=records.SHARD, max_recovery_attempts=ATTEMPTS)
    def shard(about: dict[str, Any]) -> None:
        with crew.at_work(_id()):
            _run_shard(crew, worker, about)

    def divide(about: Mapping[str, Any], pieces: list[dict[str, Any]], step: str) -> None:
        sizes: dict[str, int] = {}
        for number, piece in enumerate(pieces):
            work = _shard(about, piece)
            handle = _share(_queues(crew, work)[1], shard, work, number, piece["name"])
            sizes[handle.workflow_id] = piece["last"] - piece["first"]
        names = [piece["name"] for piece in pieces]
        waiting = Waiting(crew.settings, _id(), sizes, names, step)
        DBOS.run_step({"name": "shards"}, lambda: waiting.wait(worker))

    @DBOS.workflow(name=records.TASK, max_recovery_attempts=ATTEMPTS)
    def task(about: dict[str, Any]) -> None:
        with crew.at_work(_id()):
            _run_task(crew, worker, about, divide)

    @DBOS.workflow(name=records.JOB, max_recovery_attempts=ATTEMPTS)
    def job(about: dict[str, Any]) -> None:
        with crew.at_work(_id()):
            for handle in [
                _share(_queues(crew, work)[0], task, work, number, _work(work))
                for number, work in enumerate(_task(about, *pair) for pair in about["targets"])
            ]:
                _await(handle)
            end = {"kind": about["kind"], "options": about["options"]}
            _steps(crew, worker, end, ("tidy",))


def _share(
    name: str,
    workflow: Callable[[dict[str, Any]], None],
    about: dict[str, Any],
    number: int,
    same: str,
) -> Any:
    """Return a child's handle, which is new unless another task has one for the `same` work."""
    with (
        SetWorkflowID(f"{_id()}.{number:04}"),
        SetWorkflowAttributes(about),
        SetEnqueueOptions(deduplication_id=same, duplication_policy="return-existing"),
    ):
        return DBOS.enqueue_workflow(name, workflow, about)


def _queues(crew: Crew, work: Mapping[str, Any]) -> tuple[str, ...]:
    return queue.queues_of(crew.settings, work["kind"], work["system"])


def _id() -> str:
    name = DBOS.workflow_id
    assert name is not None
    return name


def _task(about: Mapping[str, Any], system: str, dataset: str) -> dict[str, Any]:
    """Return what a task of the job on this pair is about."""
    return {
        "kind": about["kind"],
        "title": queue.title(KINDS[about["kind"]], [(system, dataset)]),
        "system": system,
        "dataset": dataset,
        "options": about["options"],
    }


def _shard(about: Mapping[str, Any], piece: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a shard of a task is about."""
    system, dataset = piece["system"], about["dataset"]
    places = f"documents {piece['first'] + 1:,} to {piece['last']:,}"
    title = queue.title(KINDS[about["kind"]], [(system, dataset)])
    shard = {"title": f"{title}, {places}", "system": system, "shard": dict(piece)}
    return {**about, **shard}


def _work(about: Mapping[str, Any]) -> str:
    """Return a key that is equal for tasks with equal work."""
    options = sorted(_option(name, value) for name, value in about["options"].items() if value)
    work = KINDS[about["kind"]].work
    return f"{work} {about['system']} {about['dataset']} {'+'.join(options)}"


def _option(name: str, value: Any) -> str:
    """Return an option as text; a value other than true is hashed."""
    if value is True:
        return name
    content = json.dumps(value, sort_keys=True)
    return f"{name}={hashlib.sha256(content.encode()).hexdigest()}"


def _await(handle: Any) -> None:
    """Wait for a task, whatever its outcome."""
    try:
        handle.get_result()
    except SQLAlchemyError:
        raise
    except Exception:
        # The task's own row records its outcome, and the other tasks continue.
        return


def _run_task(crew: Crew, worker: str, about: Mapping[str, Any], divide: Divide) -> None:
    """Run the steps of a task, and write their outcome to the logs."""
    name = _id()
    job = name.partition(".")[0]
    logs.write(crew.settings, name, f"{about['title']}: {worker} takes it")
    try:
        _steps(crew, worker, about, KINDS[about["kind"]].steps, divide)
    except Exception as error:
        logs.write(crew.settings, job, f"{about['title']}: {_ending(error)}")
        if not isinstance(error, StepFailed | Stopped | SQLAlchemyError | PortableWorkflowError):
            logs.write(crew.settings, name, traceback.format_exc())
        raise
    logs.write(crew.settings, job, f"{about['title']}: done")


def _run_shard(crew: Crew, worker: str, about: Mapping[str, Any]) -> None:
    """Make one shard; messages go to the log of its task."""
    name = _id()
    task = name.rpartition(".")[0]
    logs.write(crew.settings, task, f"{about['title']}: {worker} takes it")
    watch = Watch(crew.settings, name, "shard", log=task)
    with crew.child_of_shards(task) as child:
        order = {**about, "step": "shard"}
        DBOS.run_step({"name": "shard"}, lambda: _do(child, order, watch, worker))


def _ending(error: Exception) -> str:
    if isinstance(error, Stopped):
        return "stopped"
    if isinstance(error, SQLAlchemyError):
        return "interrupted, the jobs database is unreachable"
    return f"failed: {error}"


def _steps(
    crew: Crew,
    worker: str,
    about: Mapping[str, Any],
    steps: tuple[str, ...],
    divide: Divide | None = None,
) -> None:
    """Go through the steps. DBOS skips those whose results are stored."""
    name = _id()
    with crew.child(name) as child:
        for step, following in zip(steps, (*steps[1:], ""), strict=True):
            watch = Watch(crew.settings, name, step)

            def work(step: str = step, watch: Watch = watch) -> dict[str, Any]:
                return _do(child, {**about, "step": step}, watch, worker)

            answer = DBOS.run_step({"name": step}, work)
            if divide and answer.get("shards"):
                # Otherwise, the child would also wait, with everything that it has loaded.
                child.close()
                divide(about, answer["shards"], following)


def _do(child: Child, order: Mapping[str, Any], watch: "Watch", worker: str) -> dict[str, Any]:
    """Run a step in the child, and report its progress and its outcome."""
    start = time.monotonic()
    with watch.begun():
        try:
            answer = child.do(order, watch=watch, wanted=lambda: watch.wanted(worker))
        except Exception as error:
            watch.log(f"{order['step']}: {_ending(error)}")
            raise
    seconds = f"{time.monotonic() - start:.1f} s"
    watch.log(f"{order['step']}: {'done in' if answer['new'] else 'found, after'} {seconds}")
    return answer


class Waiting:
    """The shards that a task waits for: their total progress and their results."""

    def __init__(
        self,
        settings: Settings,
        task: str,
        sizes: Mapping[str, int],
        names: Iterable[str],
        step: str,
    ) -> None:
        """`sizes` has the number of documents of each shard, by id; `names` has the names of the
        files. The progress is reported under `step`."""
        self._settings, self._task, self._sizes, self._step = settings, task, dict(sizes), step
        self._files = [settings.home / shard_path(name) for name in names]
        self._kept = time.monotonic()

    def wait(self, worker: str) -> dict[str, int]:
        """Wait until all shards have ended, and report the progress; return their number. A
        cancelled shard counts as ended, since the next step makes missing ones. Raises StepFailed
        if one failed, and Stopped if the task no longer belongs to the worker."""
        watch, left = Watch(self._settings, self._task, self._step), True
        with watch.begun():
            while left:
                left = self._look(watch)
                self._keep()
                # If the task was cancelled, so were its shards: they ended without being made.
                if not watch.wanted(worker):
                    raise Stopped(self._task)
                time.sleep(LOOK if left else 0)
        logs.write(self._settings, self._task, f"{len(self._sizes)} shards: done")
        return {"shards": len(self._sizes)}

    def _look(self, watch: Watch) -> bool:
        """Return whether some shards are still missing. Raises StepFailed."""
        try:
            found = records.named(self._settings, list(self._sizes))
        except Unavailable:
            # While the database is unreachable, nothing counts as ended.
            return True
        failed = [shard for shard in found if shard.state == records.FAILED]
        if failed:
            with queue.client(self._settings) as client:
                client.cancel_workflows([shard.id for shard in found if shard.active])
            raise StepFailed(f"{failed[0].title}: {failed[0].error}")
        done = sum(map(self._documents, found))
        watch(done, sum(self._sizes.values()), "documents")
        return any(shard.active for shard in found)

    def _keep(self) -> None:
        """Touch the finished shards from time to time, so that they do not expire."""
        if time.monotonic() - self._kept >= KEPT:
            self._kept = time.monotonic()
            for file in self._files:
                with contextlib.suppress(FileNotFoundError):
                    os.utime(file)

    def _documents(self, shard: records.Job) -> int:
        if not shard.active:
            return self._sizes[shard.id]
        return shard.progress.done if shard.progress else 0
