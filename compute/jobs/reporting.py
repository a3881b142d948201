"""Reports on a step: its progress in the database, and lines in the log."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import delete, insert, select, update

from compute.base.errors import Unavailable
from compute.base.settings import Settings
from compute.jobs import logs, tables

_SAVED, _LOGGED = 1.0, 10.0
"""Seconds between two updates of the progress in the database, and between two in the log."""


class Watch:
    """Reports on one step of a task."""

    def __init__(self, settings: Settings, job: str, step: str, log: str = "") -> None:
        """Report on a step of `job`; `log` names the task whose log is written instead."""
        self._settings, self._job, self._step = settings, job, step
        self._log = log or job
        self._unit, self._start = "", (0.0, 0)
        self._saved = self._logged = 0.0

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Report the start of the step; after the block, remove the progress from the database."""
        self.log(f"{self._step}: begins")
        self._save(0, 0, "", None)
        try:
            yield
        finally:
            self._write(delete(tables.progress).where(tables.progress.c.job == self._job))

    def log(self, line: str) -> None:
        """Add a line to the log of the task."""
        logs.write(self._settings, self._log, line)

    def __call__(self, done: int, total: int, unit: str) -> None:
        """Report that `done` of `total` units (0: unknown) are done."""
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
        """Return whether the task still belongs to this worker."""
        status = tables.status.c
        query = select(status.status, status.executor_id).where(status.workflow_uuid == self._job)
        try:
            (row,) = tables.rows(self._settings, query)
        except Unavailable:
            # While the database is unreachable, nothing counts as cancelled.
            return True
        return (row.status, row.executor_id) == ("PENDING", worker)

    def _save(self, done: int, total: int, unit: str, rate: float | None) -> None:
        row = {"step": self._step, "done": done, "total": total, "unit": unit, "rate": rate}
        mine = tables.progress.c.job == self._job
        if not self._write(update(tables.progress).where(mine).values(**row)):
            self._write(insert(tables.progress).values(job=self._job, **row))

    def _write(self, statement: Any) -> int:
        try:
            return tables.change(self._settings, statement)
        except Unavailable:
            return 0
