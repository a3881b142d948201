"""The state: small mutable tables, in SQLite or PostgreSQL: the manifest and added judgements."""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Engine,
    ExceptionContext,
    MetaData,
    Row,
    Table,
    Text,
    create_engine,
    delete,
    event,
    false,
    func,
    insert,
    inspect,
    make_url,
    select,
    text,
    true,
    update,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from compute.base import disk_refusals
from compute.base.errors import Conflict, Unavailable, WrongInput
from compute.base.settings import Settings
from compute.store import ownership
from compute.store.migrations import CHAINED, STEPS, SUMMED, Steps
from compute.store.ownership import Marks

# Imported only for types, since a command that lists stored parts needs no pandas.
if TYPE_CHECKING:
    from pandas import DataFrame


class Outgrown(Conflict):
    """Raised if a newer Beirscope has migrated the store."""


metadata = MetaData()


def texts(*names: str) -> list[Column[Any]]:
    """Return text columns that always have a value."""
    return [Column(name, Text, nullable=False) for name in names]


parts = Table(
    "parts",
    metadata,
    Column("id", Text, primary_key=True),
    *texts("kind", "dataset", "system", "fingerprint"),
    Column("rows", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    *texts("created", "provenance", "job"),
    Column("published_version", BigInteger, nullable=False),
    Column("retired_version", BigInteger),
    Column("retired_time", Text),
    Column("sha256", Text, nullable=False, default=""),
    Column("sha256_as", Text, nullable=False, default="written"),
)
added_judgements = Table(
    "added_judgements",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    *texts("dataset", "query_id", "doc_id"),
    Column("relevance", BigInteger),
    *texts("person", "task", "guideline_version", "source", "time"),
    Column("entry", Text),
    Column("note", Text, nullable=False, default=""),
    Column("unsure", BigInteger, nullable=False, default=0),
    Column("verified", BigInteger, nullable=False, default=0),
    Column("imported", Text),
    Column("takes_back", Text),
)
judgement_chain = Table(
    "judgement_chain",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("sha256", Text, nullable=False),
)
part_sums = Table(
    "part_sums",
    metadata,
    Column("id", Text, primary_key=True),
    Column("sha256", Text, nullable=False),
)
counters = Table(
    "counters",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)
steps = Table(
    "steps",
    metadata,
    Column("format", BigInteger, primary_key=True, autoincrement=False),
    Column("time", Text, nullable=False),
)
identity = Table("identity", metadata, Column("id", Text, primary_key=True))
"""One row: the id that distinguishes this state from all others."""


def now() -> str:
    """Return the time as the state stores it, in UTC with microseconds; it sorts as text."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def open_state(settings: Settings, to: Steps = STEPS, *, adopting: bool = False) -> Engine:
    """Open the state of a home, which is created or migrated first; the caller holds the home's
    lock. SQLite is copied before a migration; a PostgreSQL server has its own backups. With
    `adopting`, the home and its parts belong to this state from now on, whatever their previous
    state. Raises Outgrown for a home or state of a newer Beirscope, Conflict for a state to which
    the home or its parts do not belong, both before anything is written; Unavailable if the
    database cannot be reached, and WrongInput for a bad address or a broken home.json."""
    # The marks are read before the state, since another machine creates its state before it marks.
    marks = ownership.read(settings.home)
    _refuse_newer(marks.format, len(to), str(settings.home))
    engine = engine_of(settings)
    with opening(engine, settings.home):
        if not adopting:
            found = identity_of(engine)
            ownership.check(settings.home, marks, found, lambda: listed(engine), where(engine))
        _migrate(engine, settings.home, to)
        own = identity_of(engine)
        ownership.write(settings.home, Marks(len(to), home=own, parts=own))
    return engine


@contextmanager
def opening(engine: Engine, home: Path) -> Iterator[None]:
    """Close the connections if the block fails, and name the database if it is the cause."""
    try:
        yield
    except OperationalError as error:
        engine.dispose()
        if refused := disk_refusals.refusal(error, home):
            raise refused from error
        cause = str(error.orig).strip().splitlines()[0] if error.orig else "no answer"
        raise Unavailable(
            f"the state {where(engine)} cannot be used ({cause}): check the setting `state`"
        ) from error
    except BaseException:
        engine.dispose()
        raise


def where(engine: Engine) -> str:
    """Return the address of a state without its password, or its file."""
    if engine.dialect.name == "sqlite":
        return str(engine.url.database)
    return engine.url.render_as_string(hide_password=True)


def identity_of(engine: Engine) -> str:
    """Return the identity of a state; empty if it is new or of a format without identities."""
    if _is_new(engine) or not inspect(engine).has_table(identity.name):
        return ""
    with engine.connect() as connection:
        names = connection.execute(select(identity.c.id)).scalars().all()
    if len(names) != 1:
        raise Unavailable(damaged(engine, f"{len(names)} identities instead of one"))
    return names[0]


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Yield a writing transaction; it waits for other writers before it reads anything."""
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        yield connection


@contextmanager
def alone(engine: Engine, name: str, wait: float = math.inf) -> Iterator[bool]:
    """Hold a lock of the state, shared by all machines, for the with-block; yield whether it was
    acquired within `wait` seconds. For SQLite, on one machine, the home's file locks suffice."""
    if engine.dialect.name == "sqlite":
        yield True
        return
    key, end = func.hashtextextended(f"beirscope {name}", 0), time.monotonic() + wait
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        taking = select(func.pg_try_advisory_lock(key))
        while not (taken := connection.execute(taking).scalar_one()) and time.monotonic() < end:
            time.sleep(_PROBE)
        try:
            yield taken
        finally:
            # A broken connection has already released the lock.
            with suppress(DBAPIError):
                if taken:
                    connection.execute(select(func.pg_advisory_unlock(key)))


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Yield a reading transaction, which sees the database as of one moment."""
    lite = engine.dialect.name == "sqlite"
    options = {} if lite else {"isolation_level": "REPEATABLE READ"}
    with engine.connect().execution_options(**options) as connection, connection.begin():
        yield connection


def copy_rows(source: Connection, target: Connection) -> None:
    """Replace the rows of a state by those of another state with the same format."""
    names = set(inspect(source).get_table_names()) & set(inspect(target).get_table_names())
    for name in sorted(names - {steps.name}):
        table = Table(name, MetaData(), autoload_with=source)
        target.execute(delete(table))
        found = source.execute(select(table), execution_options={"yield_per": _COPIED_AT_ONCE})
        for some in found.partitions():
            target.execute(insert(table), [row._asdict() for row in some])


def make_of(source: Connection, engine: Engine, name: str) -> None:
    """Create a state from the rows of `source`, with the identity `name`, in one transaction.
    Raises Conflict if there is already a state."""
    with writing(engine) as connection:
        if inspect(connection).has_table(identity.name):
            raise Conflict(f"{where(engine)} already has a state: name an empty database")
        _apply(connection, 0, STEPS)
        copy_rows(source, connection)
        connection.execute(update(identity).values(id=name))


def count(connection: Connection, counter: str, by: int = 1) -> int:
    """Increase a counter and return its new value. The row stays locked until the commit, so that
    numbers become visible in order: after a 7, no reader finds a new 6."""
    statement = (
        update(counters)
        .where(counters.c.name == counter)
        .values(value=counters.c.value + by)
        .returning(counters.c.value)
    )
    return connection.execute(statement).scalar_one()


def counted(connection: Connection, counter: str) -> int:
    """Return the value of a counter. Raises Unavailable if it is lost."""
    statement = select(counters.c.value).where(counters.c.name == counter)
    value = connection.execute(statement).scalar_one_or_none()
    if not isinstance(value, int):
        raise Unavailable(damaged(connection.engine, f"no counter {counter!r}"))
    return value


def forget_superseded(engine: Engine, before: str) -> list[tuple[str, str]]:
    """Delete the rows of parts that were retired before a time; return their (kind, id). Versions
    with these parts are then gone; the counter `gone` is the oldest complete version."""
    columns = parts.c
    with writing(engine) as connection:
        old = select(columns.kind, columns.id, columns.retired_version)
        rows = connection.execute(old.where(columns.retired_time < before)).all()
        if rows:
            gone = max(row.retired_version for row in rows)
            behind = (counters.c.name == "gone") & (counters.c.value < gone)
            connection.execute(update(counters).where(behind).values(value=gone))
            connection.execute(delete(parts).where(columns.retired_time < before))
            sum_parts(connection, false())
    return [(row.kind, row.id) for row in rows]


def keep_found(engine: Engine, found: Mapping[str, str]) -> None:
    """Record the SHA-256 of files for which none was known, by part id."""
    with writing(engine) as connection:
        for part, sha256 in found.items():
            unknown = (parts.c.id == part) & (parts.c.sha256 == "")
            connection.execute(update(parts).where(unknown).values(sha256=sha256))
        sum_parts(connection, parts.c.id.in_(found))


def sum_parts(connection: Connection, changed: ColumnElement[bool]) -> None:
    """Record the SHA-256 of the rows of parts that this transaction changed, and of no others."""
    rows = connection.execute(select(parts).where(changed)).mappings().all()
    gone = part_sums.c.id.not_in(select(parts.c.id))
    again = part_sums.c.id.in_(select(parts.c.id).where(changed))
    connection.execute(delete(part_sums).where(gone | again))
    if rows:
        sums = [{"id": row["id"], "sha256": linked("", row)} for row in rows]
        connection.execute(insert(part_sums), sums)


def listed(engine: Engine) -> set[str]:
    """Return the ids of all parts in the manifest, live or superseded; none in a new state."""
    if not _state_format(engine):
        return set()
    with engine.connect() as connection:
        return set(connection.execute(select(parts.c.id)).scalars())


OPTIONAL: Mapping[str, Any] = {
    "entry": None,
    "note": "",
    "unsure": 0,
    "verified": 0,
    "time": None,  # time of saving
    "imported": None,
    "takes_back": None,
}
"""Optional columns of `added_judgements`, with their defaults."""
_ABSENT = ("relevance", "entry", "time", "imported", "takes_back")
"""Columns that may be empty."""
_COPIED_AT_ONCE = 1_000
"""Number of rows in memory while copying."""
_ASKED_AT_ONCE = 10_000
"""Maximum number of values in one statement, which databases limit."""
_PROBE = 0.05
"""Seconds between two attempts to get a lock."""


def judgement_rows(judgements: DataFrame) -> list[dict[str, Any]]:
    """Return rows of `added_judgements` without ids. Raises ValueError for an empty value."""
    given = [c.name for c in added_judgements.c if c.name != "id"]
    whole = judgements.assign(**{c: v for c, v in OPTIONAL.items() if c not in judgements})
    for name in given:
        if name not in _ABSENT and whole[name].isna().any():
            raise ValueError(f"a judgement without {name}")
    # As nullable integers, so that 2.5 raises an error instead of becoming 2.
    numbers = dict.fromkeys(("relevance", "unsure", "verified"), "Int64")
    whole = whole[given].astype(numbers).astype(object)
    rows = whole.where(whole.notna(), None).itertuples(index=False, name=None)
    return [dict(zip(given, row, strict=True)) for row in rows]


def unsaved(connection: Connection, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows whose `entry` is neither saved already nor in an earlier row."""
    named = {row["entry"]: row for row in reversed(rows) if row["entry"] is not None}
    column, names, saved = added_judgements.c.entry, list(named), set()
    for start in range(0, len(names), _ASKED_AT_ONCE):
        some = column.in_(names[start : start + _ASKED_AT_ONCE])
        saved |= set(connection.execute(select(column).where(some)).scalars())
    return [
        row
        for row in rows
        if row["entry"] is None or (row["entry"] not in saved and named[row["entry"]] is row)
    ]


def append_judgements(connection: Connection, judgements: DataFrame) -> int:
    """Append the rows of `Store.add_judgements` within a transaction; return the last id. Scores
    follow when a page reads them (`reading.overlay`)."""
    records = judgement_rows(judgements)
    # The counter's row is locked first, so that no other process can save the same entry.
    last = count(connection, "judgements", 0)
    records = unsaved(connection, records)
    last = count(connection, "judgements", len(records))
    time = now()
    for number, record in enumerate(records, last - len(records) + 1):
        record |= {"id": number, "time": record["time"] or time}
    if records:
        connection.execute(insert(added_judgements), records)
        _link(connection, records)
    return last


def _link(connection: Connection, rows: Iterable[Mapping[Any, Any]]) -> None:
    """Add judgements to the hash chain; the lock of their counter must be held."""
    column, links = judgement_chain.c, list[dict[str, Any]]()
    before = select(column.sha256).order_by(column.id.desc()).limit(1)
    last = connection.execute(before).scalar() or ""
    for row in rows:
        last = linked(last, row)
        links.append({"id": row["id"], "sha256": last})
    if links:
        connection.execute(insert(judgement_chain), links)


def linked(last: str, row: Mapping[Any, Any]) -> str:
    """Return the SHA-256 of a row's content together with the previous row's SHA-256 (or '')."""
    # Absent values are left out, so that a column of a later format changes no old checksum.
    content = {name: value for name, value in row.items() if value is not None}
    text = json.dumps(content, sort_keys=True, default=bytes.hex)
    return hashlib.sha256(f"{last} {text}".encode()).hexdigest()


def engine_of(settings: Settings, file: str = "state.sqlite") -> Engine:
    """Return an engine for PostgreSQL if the setting `state` names one, otherwise for a file in the
    home. Raises WrongInput for an address that is not PostgreSQL's. Later, any access to a damaged
    SQLite file raises Unavailable."""
    if not settings.state:
        engine = create_engine(URL.create("sqlite", database=str(settings.home / file)))
        event.listen(engine, "handle_error", _name_damage)
        event.listen(engine, "do_connect", _make_sqlite)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        url = make_url(settings.state)
    except ArgumentError:
        url = None
    if url is None or url.get_backend_name() != "postgresql":
        raise WrongInput(
            "the setting `state` is not a postgresql:// address: fix it, or unset it for SQLite"
        )
    return create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)


def _make_sqlite(*told: Any) -> None:
    # SQLite would not make a new file group-writable. An existing file is not opened: closing it
    # would release this process's locks on it.
    file = Path(told[2][0])
    if not file.exists():
        file.touch()


def _prepare_sqlite(connection: sqlite3.Connection, _: object) -> None:
    # The driver must not begin transactions itself: _begin_sqlite chooses their kind.
    connection.isolation_level = None
    # Damaged text must not stop a page; its SHA-256 reveals it.
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    connection.execute("pragma busy_timeout = 60000")
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")


def _name_damage(context: ExceptionContext) -> None:
    """Raise Unavailable if SQLite finds its file damaged."""
    error = context.original_exception
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if context.engine and code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        raise Unavailable(damaged(context.engine, str(error)))


def damaged(engine: Engine, why: str) -> str:
    """Return a sentence on what a damaged SQLite file loses, and how to recover most of it."""
    file = Path(engine.url.database or "")
    said = f"{file} is damaged ({why})"
    if file.name != "state.sqlite":
        return f"{said}: stop all workers and remove it; the jobs in it are lost, the results stay"
    copies = sorted(file.parent.glob("state-before-*.sqlite"), key=lambda copy: -_mtime(copy))
    which = "a backup of it"
    if copies:
        made = datetime.fromtimestamp(_mtime(copies[0]), UTC).strftime("%Y-%m-%d %H:%M")
        which = f"{which}, or the copy {copies[0].name} of {made} UTC,"
    return (
        f"{said}: stop Beirscope, put {which} in its place, remove {file.name}-wal and"
        f" {file.name}-shm, then python -m compute admin adopt; results and judgements added"
        " since are lost. Without one, set BEIRSCOPE_HOME to a new folder, and run and import again"
    )


def _mtime(file: Path) -> float:
    return file.stat().st_mtime


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes the lock at once, since one that reads first may fail to get it later.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("begin immediate" if writes else "begin")


def _migrate(engine: Engine, home: Path, to: Steps) -> None:
    """Bring the state to the newest format, after copying an SQLite file."""
    found = _state_format(engine)
    _refuse_newer(found, len(to), where(engine))
    if found == len(to):
        return
    if found and engine.dialect.name == "sqlite":
        _copy_sqlite(engine, home / f"state-before-{len(to)}.sqlite")
    try:
        with writing(engine) as connection:
            _apply(connection, found, to)
    except DBAPIError:
        # Another machine with the same PostgreSQL may have run the same steps meanwhile.
        if _state_format(engine) != len(to):
            raise


def _apply(connection: Connection, found: int, to: Steps) -> None:
    """Run the steps after the format `found`, and fill the tables of checksums."""
    if not found:
        steps.create(connection)
    given = {"new_identity": uuid.uuid4().hex}
    for number, statements in enumerate(to[found:], found + 1):
        for statement in statements:
            connection.execute(text(statement), given)
        if number == CHAINED:  # SQL has no SHA-256
            rows = connection.execute(select(added_judgements).order_by(added_judgements.c.id))
            _link(connection, rows.mappings())
        if number == SUMMED:
            sum_parts(connection, true())
        connection.execute(insert(steps).values(format=number, time=now()))


def _is_new(engine: Engine) -> bool:
    """Return whether the file is missing or empty; connecting would create it."""
    if engine.dialect.name != "sqlite":
        return False
    file = Path(where(engine))
    return not file.exists() or not file.stat().st_size


def outgrown(engine: Engine) -> bool:
    """Return whether a newer Beirscope has migrated the state since it was opened."""
    with engine.connect() as connection:
        return (connection.execute(select(func.max(steps.c.format))).scalar() or 0) > len(STEPS)


def _state_format(engine: Engine) -> int:
    """Return the format of a state; 0 for a new one."""
    if _is_new(engine) or not inspect(engine).has_table("steps"):
        return 0
    with engine.connect() as connection:
        found = connection.execute(select(func.max(steps.c.format))).scalar() or 0
    if not isinstance(found, int):
        raise Unavailable(damaged(engine, f"format {found!r}"))
    return found


def _copy_sqlite(engine: Engine, file: Path) -> None:
    """Copy the state's SQLite file."""
    # SQLite's own backup is used, since copying the file would release this process's locks on it.
    aside = file.with_suffix(".tmp")
    aside.unlink(missing_ok=True)
    source = engine.raw_connection()
    target = sqlite3.connect(aside)
    try:
        cast(sqlite3.Connection, source.driver_connection).backup(target)
    finally:
        target.close()
        source.close()
    aside.replace(file)


def _refuse_newer(found: int, known: int, where: str) -> None:
    if found > known:
        raise Outgrown(
            f"{where} has format {found}, but this Beirscope knows {known}: "
            "update Beirscope, or set BEIRSCOPE_HOME to another folder"
        )


def is_judgement(row: Row[Any]) -> bool:
    """Return whether a row of `added_judgements` is a valid judgement."""
    given = row.relevance
    fit = fits(added_judgements, tuple(map(type, row)))
    return fit and (given is None or -(2**31) <= given < 2**31)


@lru_cache
def fits(table: Table, kinds: tuple[type, ...]) -> bool:
    """Return whether a row with values of these types matches the columns of a table, since SQLite
    stores any value in any column."""
    return all(
        kind is column.type.python_type or (kind is type(None) and bool(column.nullable))
        for column, kind in zip(table.c, kinds, strict=True)
    )
