"""The workflows that a worker runs: a job fans out into tasks, a task goes through its steps.

DBOS keeps what each step returned: after a crash a task goes on at the step that was at work.
"""

import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from dbos import (
    DBOS,
    PortableWorkflowError,
    SetEnqueueOptions,
    SetWorkflowAttributes,
    SetWorkflowID,
)
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from compute import state
from compute.errors import Unavailable
from compute.jobs import logs, queue, records, tables
from compute.jobs.hand import Crew, Hand, StepFailed, Stopped
from compute.jobs.kinds import KINDS
from compute.settings import Settings

ATTEMPTS = 50
"""How often a job may be taken over before it is given up: its workers die of it."""
_SAVED, _LOGGED = 1.0, 10.0
"""Seconds between two states of progress in the database, and in the log."""


def define(crew: Crew, worker: str) -> None:
    """Register the workflows with DBOS, to be run by this worker's hands."""

    @DBOS.workflow(name=records.TASK, max_recovery_attempts=ATTEMPTS)
    def task(about: dict[str, Any]) -> None:
        with crew.at_work(_id()):
            _run_task(crew, worker, about)

    @DBOS.workflow(name=records.JOB, max_recovery_attempts=ATTEMPTS)
    def job(about: dict[str, Any]) -> None:
        with crew.at_work(_id()):
            for handle in [
                _share(task, _task(about, *target), number)
                for number, target in enumerate(about["targets"])
            ]:
                _await(handle)
            end = {"kind": about["kind"], "options": about["options"]}
            _steps(crew, worker, end, ("tidy",))


def _share(task: Callable[[dict[str, Any]], None], about: dict[str, Any], number: int) -> Any:
    """The handle of a task: a new one, or one that another job has in hand already."""
    with (
        SetWorkflowID(f"{_id()}.{number:04}"),
        SetWorkflowAttributes(about),
        SetEnqueueOptions(deduplication_id=_work(about), duplication_policy="return-existing"),
    ):
        return DBOS.enqueue_workflow(queue.TASKS_QUEUE, task, about)


def _id() -> str:
    name = DBOS.workflow_id
    assert name is not None
    return name


def _task(about: Mapping[str, Any], system: str, dataset: str) -> dict[str, Any]:
    return {
        "kind": about["kind"],
        "title": queue.title(KINDS[about["kind"]], (system, dataset)),
        "system": system,
        "dataset": dataset,
        "options": about["options"],
    }


def _work(about: Mapping[str, Any]) -> str:
    """What two tasks have in common that do the same."""
    options = "+".join(sorted(name for name, value in about["options"].items() if value))
    return f"{KINDS[about['kind']].work} {about['system']} {about['dataset']} {options}"


def _await(handle: Any) -> None:
    try:
        handle.get_result()
    except SQLAlchemyError:
        raise
    except Exception:
        # The task's own row says what became of it; the others go on.
        return


def _run_task(crew: Crew, worker: str, about: Mapping[str, Any]) -> None:
    name = _id()
    job = name.partition(".")[0]
    logs.write(crew.settings, name, f"{about['title']}: {worker} takes it")
    try:
        _steps(crew, worker, about, KINDS[about["kind"]].steps)
    except Exception as error:
        logs.write(crew.settings, job, f"{about['title']}: {_ending(error)}")
        if not isinstance(error, StepFailed | Stopped | SQLAlchemyError | PortableWorkflowError):
            logs.write(crew.settings, name, traceback.format_exc())
        raise
    logs.write(crew.settings, job, f"{about['title']}: done")


def _ending(error: Exception) -> str:
    if isinstance(error, Stopped):
        return "stopped"
    if isinstance(error, SQLAlchemyError):
        return "interrupted, the jobs database is away"
    return f"failed: {error}"


def _steps(crew: Crew, worker: str, about: Mapping[str, Any], steps: tuple[str, ...]) -> None:
    """Go through the steps; those whose results are kept are skipped by DBOS."""
    name = _id()
    with crew.hand(name) as hand:
        for step in steps:
            watch = _Watch(crew.settings, name, step)

            def work(step: str = step, watch: _Watch = watch) -> dict[str, Any]:
                return _do(hand, {**about, "step": step}, watch, worker)

            DBOS.run_step({"name": step}, work)


def _do(hand: Hand, order: Mapping[str, Any], watch: "_Watch", worker: str) -> dict[str, Any]:
    start = time.monotonic()
    watch.begin()
    try:
        answer = hand.do(order, watch=watch, wanted=lambda: watch.wanted(worker))
    except Exception as error:
        watch.log(f"{order['step']}: {_ending(error)}")
        raise
    finally:
        watch.end()
    seconds = f"{time.monotonic() - start:.1f} s"
    watch.log(f"{order['step']}: {'done in' if answer['new'] else 'found, after'} {seconds}")
    return answer


class _Watch:
    """What becomes of a step: its progress in the database, its lines in the log."""

    def __init__(self, settings: Settings, job: str, step: str) -> None:
        self._settings, self._job, self._step = settings, job, step
        self._unit, self._start = "", (0.0, 0)
        self._saved = self._logged = 0.0

    def begin(self) -> None:
        """Say that the step begins."""
        self.log(f"{self._step}: begins")
        self._save(0, 0, "", None)

    def end(self) -> None:
        """Take the progress away."""
        self._write(delete(tables.progress).where(tables.progress.c.job == self._job))

    def log(self, line: str) -> None:
        """Add a line to the log of the task."""
        logs.write(self._settings, self._job, line)

    def __call__(self, done: int, total: int, unit: str) -> None:
        now = time.monotonic()
        if unit != self._unit or done < self._start[1]:
            self._unit, self._start, self._saved = unit, (now, done), 0.0
        seconds, gained = now - self._start[0], done - self._start[1]
        rate = gained / seconds if seconds >= 1 and gained else None
        if now - self._saved >= _SAVED:
            self._saved = now
            self._save(done, total, unit, rate)
        if now - self._logged >= _LOGGED:
            self._logged = now
            of = f" of {total:,}" if total else ""
            self.log(f"{self._step}: {done:,}{of} {unit}")

    def wanted(self, worker: str) -> bool:
        """Whether the task is still this worker's to do."""
        status = tables.status.c
        query = select(status.status, status.executor_id).where(status.workflow_uuid == self._job)
        try:
            with (
                tables.reaching(self._settings),
                tables.engine(self._settings).connect() as connection,
            ):
                row = connection.execute(query).one()
        except Unavailable:
            # A database that is away cancels nothing.
            return True
        return (row.status, row.executor_id) == ("PENDING", worker)

    def _save(self, done: int, total: int, unit: str, rate: float | None) -> None:
        row = {"step": self._step, "done": done, "total": total, "unit": unit, "rate": rate}
        mine = tables.progress.c.job == self._job
        if not self._write(update(tables.progress).where(mine).values(**row)):
            self._write(insert(tables.progress).values(job=self._job, **row))

    def _write(self, statement: Any) -> int:
        try:
            with (
                tables.reaching(self._settings),
                state.writing(tables.engine(self._settings)) as connection,
            ):
                return connection.execute(statement).rowcount
        except Unavailable:
            return 0
