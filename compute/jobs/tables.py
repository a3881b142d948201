"""The tables of the jobs database: those of DBOS, which are only read here, and two of Beirscope.
They are in `jobs.sqlite` of the home folder, or in PostgreSQL if the setting `state` names one."""

import logging
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ColumnElement,
    Double,
    Engine,
    MetaData,
    Row,
    Select,
    Table,
    Text,
    UpdateBase,
    event,
    inspect,
    literal_column,
    make_url,
)
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from compute.base import disk_refusals
from compute.base.errors import Unavailable
from compute.base.files import make_folder
from compute.base.locks import locked
from compute.base.settings import Settings
from compute.store import state

log = logging.getLogger(__name__)

_ours = MetaData()
workers = Table(
    "job_workers",
    _ours,
    Column("id", Text, primary_key=True),
    Column("machine", Text, nullable=False),
    Column("process", BigInteger, nullable=False),
    Column("started", BigInteger, nullable=False),  # milliseconds since 1970 by the database clock
    Column("heartbeat", BigInteger, nullable=False),
    Column("dead", BigInteger),  # when it was declared dead
)
progress = Table(
    "job_progress",
    _ours,
    Column("job", Text, primary_key=True),
    Column("step", Text, nullable=False),
    Column("done", BigInteger, nullable=False),
    Column("total", BigInteger, nullable=False),  # 0: unknown
    Column("unit", Text, nullable=False),
    Column("rate", Double),  # units per second
)

_dbos = MetaData(schema="dbos")
_TIMES = ("created_at", "started_at_epoch_ms", "completed_at")
status = Table(
    "workflow_status",
    _dbos,
    Column("workflow_uuid", Text, primary_key=True),
    *(Column(name, Text) for name in ("name", "status", "queue_name", "executor_id")),
    *(Column(name, BigInteger) for name in _TIMES),
    Column("attributes", JSON),
)
outputs = Table(
    "workflow_output",
    _dbos,
    Column("workflow_uuid", Text, primary_key=True),
    Column("output", Text),
    Column("error", Text),
)
operations = Table(
    "operation_outputs",
    _dbos,
    Column("workflow_uuid", Text),
    Column("child_workflow_id", Text),
)


@event.listens_for(Engine, "connect")
def _tell_milliseconds(connection: object, _: object) -> None:
    """Give an old SQLite the function that DBOS calls."""
    # From Python 3.12 on, DBOS calls unixepoch('subsec'), and no other variant of it. Before SQLite
    # 3.42 it returns null, and Python may be built with such a version.
    if isinstance(connection, sqlite3.Connection) and sqlite3.sqlite_version_info < (3, 42):
        connection.create_function("unixepoch", 1, lambda _: round(time.time(), 3))


def address(settings: Settings) -> str:
    """Return the address of the jobs database in DBOS's form."""
    return settings.state or engine(settings).url.render_as_string(hide_password=False)


@lru_cache(maxsize=8)
def engine(settings: Settings) -> Engine:
    """Return an engine for the jobs database, after creating our tables. Raises Unavailable."""
    make_folder(settings.home)
    gone = lost(settings)
    opened = state.engine_of(settings, "jobs.sqlite")
    if opened.dialect.name == "sqlite":
        # DBOS has its own schema only in PostgreSQL.
        opened = opened.execution_options(schema_translate_map={"dbos": None})
    # Under a lock, since SQLite refuses a second process that creates the same file.
    lock = locked(settings.home / "locks" / "jobs.lock")
    with disk_refusals.explained(settings.home), reaching(settings), lock:
        try:
            _ours.create_all(opened)
        except DBAPIError:
            # Another machine may have made them at the same moment.
            if not all(inspect(opened).has_table(table.name) for table in _ours.sorted_tables):
                raise
    if gone:
        log.warning("%s", gone)
    return opened


def lost(settings: Settings) -> str:
    """Return why queued jobs are gone (there are logs but no database); empty if they are not."""
    file = settings.home / "jobs.sqlite"
    if settings.state or file.exists() or not any((settings.home / "logs/jobs").glob("*.log")):
        return ""
    return (
        f"{file} is lost, and with it the queued and running jobs, which are listed in"
        " logs/jobs: start them again; results stay"
    )


@contextmanager
def reaching(settings: Settings) -> Iterator[None]:
    """Raise Unavailable, in one sentence, if the database cannot be used within the block."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        if refused := disk_refusals.refusal(error, settings.home):
            raise refused from error
        where = str(settings.home / "jobs.sqlite")
        if settings.state:
            where = make_url(settings.state).render_as_string(hide_password=True)
        cause = str(error.orig).strip().splitlines()[0] if error.orig else "no answer"
        raise Unavailable(
            f"the jobs database {where} cannot be used ({cause}): check that it runs, then retry"
        ) from error


def rows(settings: Settings, query: Select[*tuple[Any, ...]]) -> Sequence[Row[*tuple[Any, ...]]]:
    """Return the rows of a query. Raises Unavailable if the database cannot be used."""
    with reaching(settings), engine(settings).connect() as connection:
        return connection.execute(query).all()


def change(settings: Settings, statement: UpdateBase) -> int:
    """Change rows, and return their number. Raises Unavailable if the database cannot be used."""
    with reaching(settings), state.writing(engine(settings)) as connection:
        return connection.execute(statement).rowcount


def exist(settings: Settings) -> bool:
    """Return whether DBOS has created its tables, which happens with the first job or worker."""
    with reaching(settings):
        schema = None if not settings.state else "dbos"
        return inspect(engine(settings)).has_table("workflow_output", schema=schema)


def now(settings: Settings) -> ColumnElement[Any]:
    """Return an SQL expression for milliseconds since 1970 by the database's clock."""
    if engine(settings).dialect.name == "sqlite":
        return literal_column("cast((julianday('now') - 2440587.5) * 86400000 as integer)")
    return literal_column("cast(extract(epoch from clock_timestamp()) * 1000 as bigint)")
