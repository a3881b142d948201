"""Backups: the state and the parts of a home in a folder, and a new home made from them. The folder
contains `parts` as in a home; `state-<SHA-256>.sqlite`, an SQLite file whatever the state's
database; and `backup.json`, which names that file. `backup.json` is written last, by a rename;
until then the previous backup is complete, or there is none. Parts never change, so a later backup
copies only new ones; all others are read and compared."""

import hashlib
import json
import re
import shlex
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from sqlalchemy import Connection, Engine, delete, false, select

from compute.base import disk_refusals, json_files, scratch
from compute.base.errors import Conflict, Missing, Unavailable, WrongInput
from compute.base.files import digest, make_folder, plain_text, written_aside
from compute.base.locks import locked, sole
from compute.base.settings import Settings
from compute.base.words import counted
from compute.store import checksums, damage, integrity, ownership, state
from compute.store.checksums import Checksums
from compute.store.kinds import is_own
from compute.store.loading import Progress, quiet
from compute.store.migrations import CHAINED, STEPS
from compute.store.ownership import Marks
from compute.store.store import Part, Store, part_of, part_path

FORMAT = 1
More = Callable[[Connection], None]
"""A function that copies everything besides the state, such as jobs, into or out of a backup."""
MOVE, RESTORE = "python -m compute admin move-state", "python -m compute admin restore"
_EMPTY = "set BEIRSCOPE_HOME to a new folder, and `state`, if set, to an empty database"
_BLOCK = 1024**2
_ROUNDS = 20
"""Maximum number of attempts if parts are superseded and removed while they are copied."""
_TOLD = 3
_REST = "take another backup, or restore the rest with --leave-out-damaged"


@dataclass(frozen=True)
class Record:
    """The content of `backup.json`."""

    format: int
    state: str
    """The identity of the state that was backed up."""
    state_format: int
    sha256: str
    """The SHA-256 of the state's file, which is part of the file's name."""
    parts: int
    bytes: int
    made: str


@dataclass(frozen=True)
class Outcome:
    """The outcome of a backup or a restore."""

    parts: Sequence[Part]
    copied: int
    """Number of parts that were not in the target yet."""
    left_out: Sequence[Part]
    """Parts left out because they are damaged."""
    broken: Sequence[str] = ()
    """Faults of the state's judgements and parts, a sentence each."""
    as_found: bool = False
    """Whether the backup is from before judgements had a hash chain."""


def back_up(store: Store, folder: Path, more: More, progress: Progress = quiet) -> Outcome:
    """Back up a home to a folder, with everything saved so far, while others go on working. Parts
    that are damaged in the home are left out. Raises Conflict for a folder with other files, a
    backup of another home or a backup in progress; and Unavailable if the state's rows were altered
    and the folder has a backup, which may be the last good one."""
    folder = folder.resolve()
    with _at_work(store.home, folder):
        identity = state.identity_of(store.engine)
        _check_own(folder, identity)
        if any(not part.sha256 for part in store.parts(picked=None)):
            damage.verify(store)
        for _ in range(_ROUNDS):
            with snapshot(store.settings, store.engine, more) as (copy, file):
                broken = integrity.of_rows(copy)
                if broken and (folder / "backup.json").exists():
                    raise Unavailable(
                        f"the backup in {folder} is left unchanged: {'; '.join(broken)}"
                    )
                found = _keep_parts(store, copy, folder, progress)
                copy.dispose()
                if found:
                    _finish(folder, identity, file, found.parts)
                    return replace(found, broken=broken)
    raise Unavailable("runs were replaced faster than they could be copied: try again")


@contextmanager
def _at_work(home: Path, folder: Path) -> Iterator[None]:
    """Hold a folder exclusively for a backup; create it if necessary."""
    places = [folder, (folder / "parts").resolve()]
    inside = {over for place in places for over in (place, *place.parents)}
    if {home, (home / "parts").resolve()} & inside or folder in home.parents:
        raise WrongInput(f"{folder} and the home {home} contain each other: name another folder")
    if folder.exists() and not folder.is_dir():
        raise WrongInput(f"{folder} is a file: name a folder")
    with disk_refusals.explained(folder):
        make_folder(folder)
        with sole(folder / ".lock") as held:
            if held is None:
                raise Conflict(f"another backup to {folder} is running: wait for it")
            yield


@contextmanager
def snapshot(settings: Settings, source: Engine, more: More) -> Iterator[tuple[Engine, Path]]:
    """Yield the state at one moment as an SQLite file, without superseded parts."""
    with scratch.folder(settings.home, "backup-") as place:
        engine = state.open_state(Settings(home=place))
        with state.opening(engine, place), state.writing(engine) as target:
            # Jobs come first, so that the state has the results of those that are finished.
            more(target)
            with state.reading(source) as connection:
                state.copy_rows(connection, target)
        state.forget_superseded(engine, "9999")
        yield engine, place / "state.sqlite"
        engine.dispose()


def _keep_parts(store: Store, copy: Engine, folder: Path, progress: Progress) -> Outcome | None:
    """Copy the parts of a snapshot, and drop damaged ones from it; return None to start again. A
    file is not damaged if it is gone because its part was superseded and removed; a later snapshot
    has its replacement."""
    wanted = [replace(part, bucket=store.bucket) for part in _listed(copy, store.home)]
    store.fetch(wanted)
    copied, failed = _copy_all(wanted, folder, progress)
    live = {part.id: part for part in store.parts(picked=None)} if failed else {}
    left_out = [store.verify(live[part.id], anew=True) for part in failed if part.id in live]
    if len(failed) > sum(bool(part.damage) for part in left_out):
        return None
    return Outcome(_drop(copy, wanted, failed), copied, left_out)


def _copy_all(parts: Sequence[Part], root: Path, progress: Progress) -> tuple[int, list[Part]]:
    """Copy the files of parts to another root; return the number of new ones, and damaged parts."""
    copied, failed = 0, list[Part]()
    for number, part in enumerate(parts, 1):
        try:
            copied += _copy(part.file, root / part_path(part.kind, part.id), part.sha256)
        except _Damaged as error:
            failed.append(replace(part, damage=str(error)))
        progress(number, len(parts), "parts")
    return copied, failed


def _finish(folder: Path, identity: str, file: Path, parts: Sequence[Part]) -> None:
    """Put the backup into effect, and remove files that only the previous one used."""
    sha256 = digest(file)
    kept = _state_file(folder, sha256)
    _copy(file, kept, sha256)
    size = sum(part.bytes for part in parts)
    record = Record(FORMAT, identity, len(STEPS), sha256, len(parts), size, state.now())
    with written_aside(folder / "backup.json", alone=True) as aside:
        aside.write(json.dumps(asdict(record), indent=1).encode())
    named = {folder / part_path(part.kind, part.id) for part in parts} | {kept}
    for old in {*filter(is_own, folder.glob("parts/*/*")), *filter(_is_state, folder.iterdir())}:
        if old not in named:
            old.unlink(missing_ok=True)


def restore(
    settings: Settings, folder: Path, more: More, *, leave_out: bool, progress: Progress = quiet
) -> Outcome:
    """Restore a backup into an empty home, in SQLite or PostgreSQL. All parts are compared with
    their SHA-256 before one transaction creates the state; until then nothing can open the home.
    Raises Missing if there is no backup, Conflict if the home is not empty, and Unavailable if the
    backup is damaged, unless `leave_out` allows damaged parts."""
    home, folder = settings.home, folder.resolve()
    make_folder(home)
    with disk_refusals.explained(home), _alone(home), scratch.folder(home, "restore-") as place:
        record, command = read(folder), f"{RESTORE} {shlex.quote(str(folder))}"
        # This comes first, so that a killed restore can be resumed, and that no other process
        # creates a state meanwhile.
        identity = _begin(settings, command, lambda: _refuse_full(home))
        copy = _unpacked(folder, place)
        wanted, broken = _listed(copy, folder), integrity.of_rows(copy)
        copied, failed = _copy_all(wanted, home, progress)
        if failed and not leave_out:
            raise Unavailable(_told(folder, failed))
        kept = _drop(copy, wanted, failed)
        _make(settings, copy, more, identity)
        _remember(home, kept)
    return Outcome(kept, copied, failed, broken, record.state_format < CHAINED)


def _unpacked(folder: Path, place: Path) -> Engine:
    """Open a copy of a backup's state in a scratch folder, migrated to the current format."""
    sha256 = read(folder).sha256
    file = _state_file(folder, sha256)
    try:
        _copy(file, place / "state.sqlite", sha256)
    except _Damaged as error:
        told = f"{file} is {error}: nothing is restored, take another backup"
        raise Unavailable(told) from None
    return state.open_state(Settings(home=place))


def move(settings: Settings, jobs: More, more: More) -> None:
    """Move the state of a home from its SQLite file to the database that `state` names. The parts
    stay in place; so does the file, which is not used any more. `jobs` reads jobs from the file,
    `more` writes them. Raises Conflict if the database has a state."""
    home, old = settings.home, replace(settings, state="")
    if not settings.state:
        raise WrongInput("move to which database? Name it by the setting `state`, then try again")
    if not (home / "state.sqlite").exists():
        raise Missing(f"{home} has no state.sqlite to move: see BEIRSCOPE_HOME")
    with disk_refusals.explained(home), _alone(home):
        identity = _begin(settings, MOVE, lambda: state.open_state(old).dispose())
        source = state.engine_of(old)
        with snapshot(old, source, jobs) as (copy, _):
            _make(settings, copy, more, identity)
        source.dispose()


def _begin(settings: Settings, command: str, refuse: Callable[[], None]) -> str:
    """Assign a home to a state that will be created, so that nothing opens it; return the state's
    identity. `refuse` may raise an error, and is not called if the same command was killed before
    its end. Raises Conflict if a state exists, unless that command was killed after it created the
    state and before it wrote its final mark."""
    home = settings.home
    with locked(home / "locks" / "home.lock"):
        marks, engine = ownership.read(home), state.engine_of(settings)
        with state.opening(engine, home):
            found = state.identity_of(engine)
        engine.dispose()
        verb = " ".join(command.split()[:4])
        again = marks.unfinished.startswith(verb)
        if found and not (again and found == marks.home):
            where = state.where(engine)
            raise Conflict(f"{home} already has a state, {where}: {_EMPTY}")
        if not again:
            refuse()
        identity = found or uuid.uuid4().hex
        ownership.begin(home, len(STEPS), identity, command)
    return identity


def _make(settings: Settings, copy: Engine, more: More, identity: str) -> None:
    """Create the state of a home, which is already assigned to it, from a copy."""
    engine = state.engine_of(settings)
    with state.opening(engine, settings.home), state.reading(copy) as source:
        if state.identity_of(engine) != identity:
            more(source)
            state.make_of(source, engine, identity)
    engine.dispose()
    copy.dispose()
    ownership.write(settings.home, Marks(len(STEPS), home=identity, parts=identity))


def _refuse_full(home: Path) -> None:
    """Raise Conflict if a home has parts or belongs to a state."""
    marks, parts = ownership.read(home), len(ownership.part_files(home))
    if marks.home or marks.parts or parts:
        what = f"holds {counted(parts, 'part')}" if parts else "belongs to a state"
        raise Conflict(f"{home} {what} already: {_EMPTY}")


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Raise Conflict if another restore or move is running in the home; keep others out."""
    with sole(home / "locks" / "restore.lock") as held:
        if held is None:
            raise Conflict(f"another restore or move is running in {home}: wait for it")
        yield


def read(folder: Path) -> Record:
    """Return the record of the backup in a folder. Raises Missing or, if damaged, WrongInput."""
    file = folder / "backup.json"
    try:
        record = Record(**json_files.parsed(plain_text(file)))
    except (FileNotFoundError, NotADirectoryError):
        told = f"{folder} contains no complete backup: name another folder"
        raise Missing(told) from None
    except (ValueError, TypeError) as error:
        raise WrongInput(f"{file} is damaged ({error}): name another folder") from None
    if record.format > FORMAT or record.state_format > len(STEPS):
        raise Conflict(f"{folder} was made by a newer Beirscope: update this one first")
    # This value becomes a file name.
    if not re.fullmatch("[0-9a-f]{64}", record.sha256):
        raise WrongInput(f"{file} is damaged (sha256): name another folder")
    return record


def _check_own(folder: Path, identity: str) -> None:
    """Raise Conflict for a folder with other files, or with the backup of another home."""
    names = sorted(file.name for file in folder.iterdir())
    own = re.compile(r"parts|backup\.json|state-\w+\.sqlite|\.lock|\..*\.tmp")
    if other := [name for name in names if not own.fullmatch(name)]:
        raise Conflict(f"{folder} contains other files ({other[0]}): name a new or empty folder")
    if "backup.json" in names and read(folder).state != identity:
        raise Conflict(f"{folder} contains a backup of another home: name a new or empty folder")


def _is_state(file: Path) -> bool:
    own = r"state-[\da-f]{64}\.sqlite|\.(state-[\da-f]{64}\.sqlite|backup\.json)\.tmp"
    return bool(re.fullmatch(own, file.name)) and file.is_file() and not file.is_symlink()


def _state_file(folder: Path, sha256: str) -> Path:
    return folder / f"state-{sha256}.sqlite"


def _listed(copy: Engine, root: Path) -> list[Part]:
    """Return the parts listed in a snapshot, with their files under a root."""
    with state.reading(copy) as connection:
        rows = connection.execute(select(state.parts).order_by(state.parts.c.id)).all()
    # This value becomes a file name.
    if bad := [row.id for row in rows if not re.fullmatch("[0-9a-f]{32}", row.id)]:
        raise WrongInput(f"the backup names a part {bad[0][:40]!r}: it was not made by Beirscope")
    return [part_of(row, root) for row in rows]


def _drop(copy: Engine, parts: Sequence[Part], failed: Sequence[Part]) -> list[Part]:
    """Remove failed parts from a snapshot; return the others."""
    gone = {part.id for part in failed}
    with state.writing(copy) as connection:
        for name in gone:
            connection.execute(delete(state.parts).where(state.parts.c.id == name))
        state.sum_parts(connection, false())
    return [part for part in parts if part.id not in gone]


class _Damaged(Exception):
    """Raised if a file is lost or damaged."""


def _copy(source: Path, target: Path, sha256: str) -> bool:
    """Copy a file; return whether it was new. Raises _Damaged unless it has this SHA-256."""
    if target.exists() and digest(target) == sha256:
        return False
    make_folder(target.parent)
    found = hashlib.sha256()
    with written_aside(target, alone=True) as file:
        for block in _blocks(source):
            found.update(block)
            file.write(block)
        if found.hexdigest() != sha256:
            raise _Damaged("damaged: its content has changed since it was written")
    return True


def _blocks(source: Path) -> Iterator[bytes]:
    try:
        with source.open("rb") as file:
            while block := file.read(_BLOCK):
                yield block
    except FileNotFoundError:
        raise _Damaged("lost") from None
    except OSError as error:
        raise _Damaged(f"damaged: it cannot be read, {error.strerror}") from None


def _told(folder: Path, failed: Sequence[Part]) -> str:
    named = [f"{damage.named(*p.identity)} ({p.file}) is {p.damage}" for p in failed[:_TOLD]]
    more = f"; {len(failed) - _TOLD:,} more" if len(failed) > _TOLD else ""
    return f"the backup {folder} is damaged: {'; '.join(named)}{more}. Nothing is restored: {_REST}"


def _remember(home: Path, parts: Sequence[Part]) -> None:
    files = ((part, home / part_path(part.kind, part.id)) for part in parts)
    stamps = ((part, checksums.stamp(file)) for part, file in files)
    Checksums(home).remember((part.id, at, part.sha256) for part, at in stamps if at)
