"""Backups of a home with its jobs. Running jobs are queued again, as after a worker's death."""

from pathlib import Path
from typing import cast

from sqlalchemy import Connection, MetaData, Table, delete, insert, inspect, select

from compute.base.errors import Conflict
from compute.base.locks import is_held
from compute.base.settings import Settings
from compute.jobs import tables, workers
from compute.store import backups, state
from compute.store.backups import Outcome
from compute.store.loading import Progress, quiet
from compute.store.store import Store

_NAMES = ("workflow_status", "workflow_input", "workflow_output", "operation_outputs")
"""DBOS's tables of requests, progress and results."""
_AT_ONCE = 1_000


def back_up(store: Store, folder: Path, progress: Progress = quiet) -> Outcome:
    """Back up a home with its jobs. Raises as `compute.store.backups.back_up` does."""
    return backups.back_up(
        store, folder, lambda copy: _keep(store.settings, copy), progress=progress
    )


def restore(
    settings: Settings, folder: Path, *, leave_out: bool = False, progress: Progress = quiet
) -> Outcome:
    """Restore a home with its jobs. Raises as `compute.store.backups.restore` does."""
    return backups.restore(
        settings,
        folder,
        lambda copy: _put_back(settings, copy),
        leave_out=leave_out,
        progress=progress,
    )


def move(settings: Settings) -> None:
    """Move state and jobs from SQLite to PostgreSQL. Raises Conflict while a dashboard or a worker
    runs, and the errors of `compute.store.backups.move`."""
    old = Settings(home=settings.home)
    if is_held(old.home / "serve.lock") or (
        (old.home / "jobs.sqlite").exists() and workers.alive(old)
    ):
        raise Conflict(f"a dashboard or a worker runs on {old.home}: stop all of them first")
    backups.move(settings, lambda copy: _keep(old, copy), lambda copy: _put_back(settings, copy))


def _keep(settings: Settings, copy: Connection) -> None:
    """Copy the jobs into a backup's file."""
    if not tables.exist(settings):
        return
    targets = _tables(None)
    for table in targets:
        table.create(copy)
    with tables.reaching(settings), state.reading(tables.engine(settings)) as source:
        _copy(source, _tables("dbos" if settings.state else None), copy, targets)


def _put_back(settings: Settings, copy: Connection) -> None:
    """Copy a backup's jobs into the jobs database; no worker runs them before a state exists."""
    if not inspect(copy).has_table(_NAMES[0]):
        return
    from dbos import DBOS

    engine = tables.engine(settings)
    DBOS.migrate(tables.address(settings))
    targets = _tables("dbos" if settings.state else None)
    with tables.reaching(settings), state.writing(engine) as target:
        _copy(copy, _tables(None), target, targets)


def _copy(source: Connection, found: list[Table], target: Connection, wanted: list[Table]) -> None:
    """Copy all jobs; first delete the same jobs, which an interrupted restore may have left."""
    ids = source.execute(select(found[0].c.workflow_uuid)).scalars()
    for some in ids.partitions(_AT_ONCE):
        for table in wanted:
            target.execute(delete(table).where(table.c.workflow_uuid.in_(some)))
    for one, other in zip(found, wanted, strict=True):
        # The backup may come from a version of DBOS with different columns.
        there = {column["name"] for column in inspect(source).get_columns(one.name, one.schema)}
        columns = [column for column in one.c if column.name in there]
        rows = source.execute(select(*columns), execution_options={"yield_per": _AT_ONCE})
        for batch in rows.partitions():
            target.execute(insert(other), [_queued(row._asdict()) for row in batch])


def _queued(row: dict[str, object]) -> dict[str, object]:
    """Return the row of a job; a running job is queued, as when its worker dies."""
    if row.get("status") == "PENDING":
        row |= {"status": "ENQUEUED", "owner_xid": None, "started_at_epoch_ms": None}
    return row


def _tables(schema: str | None) -> list[Table]:
    # DBOS has the types of its columns in both databases, whereas SQLite itself reports JSON as
    # text.
    from dbos._schemas.system_database import SystemSchema

    found = SystemSchema.metadata_obj.tables.values()
    named = {table.name: table for table in found}
    # SQLite has no schema; SQLAlchemy's types omit it.
    return [named[name].to_metadata(MetaData(), schema=cast(str, schema)) for name in _NAMES]
