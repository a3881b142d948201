"""The store: immutable Parquet parts, which one transaction of the manifest makes visible."""

from __future__ import annotations

import json
import logging
import os
import re
import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Row, insert, or_, select, update

from compute.base import json_files, scratch
from compute.base.errors import Conflict, Missing, Unavailable, WrongInput
from compute.base.files import make_folder
from compute.base.locks import locked
from compute.base.settings import PROJECT, Settings
from compute.store import checksums, state, trash
from compute.store.bucket import Bucket
from compute.store.checksums import UNREADABLE, Checksums
from compute.store.kinds import COLUMNS, is_own

# Imported only for types, since a command that lists stored parts needs no pandas.
if TYPE_CHECKING:
    from pandas import DataFrame

    from compute.store.parts import Content

SHIPPED = PROJECT / "data" / "precomputed"
"""The shipped results: a second, read-only root of parts with its own manifest."""

SUPERSEDED_STAYS = timedelta(hours=1)
"""How long a replaced part stays for readers of an older version."""
UNLISTED_STAYS = timedelta(hours=24)
"""How long a file that is not in the manifest stays, since a running job may need it."""
ASKED_AGAIN = 60.0
"""Seconds before a failed download from the bucket is tried again."""
log = logging.getLogger(__name__)
_Listed = dict[tuple["Store", int | None], list["Part"]]
_LISTED: ContextVar[_Listed | None] = ContextVar("_LISTED", default=None)


@dataclass(frozen=True)
class Part:
    """An immutable Parquet file, and its row in the manifest."""

    id: str
    kind: str
    dataset: str
    system: str
    """Canonical name; empty if a part belongs to no system."""
    fingerprint: str
    file: Path
    """Path of the file, even if so far it exists only in the bucket."""
    rows: int
    bytes: int
    created: str
    """Time in UTC, ISO 8601."""
    provenance: dict[str, Any]
    job: str
    shipped: bool = False
    sha256: str = ""
    """The file's SHA-256; empty if unknown, as at first for the parts of an old home."""
    sha256_as: str = "written"
    """`written`, or `found` if it was computed from an existing file."""
    damage: str = ""
    """The known damage of the file; empty if none was found."""
    bucket: Bucket | None = field(default=None, repr=False, compare=False)
    """The bucket that also holds the file."""

    @property
    def path(self) -> Path:
        """The file, downloaded from the bucket if necessary. Raises Unavailable if that fails."""
        if self.bucket and not self.file.exists() and (damage := self.fetch()):
            raise Unavailable(f"{self.name} in {self.bucket.address} is {damage}")
        return self.file

    @property
    def name(self) -> str:
        """The name of the file below the folder of parts."""
        return f"{self.kind}/{self.id}.parquet"

    def fetch(self) -> str:
        """Download the file from the bucket; return the damage found, if any."""
        return self.bucket.get(self.name, self.file, self.sha256) if self.bucket else ""

    @property
    def identity(self) -> tuple[str, str, str]:
        """Kind, dataset and system, which no two live parts share."""
        return self.kind, self.dataset, self.system

    @property
    def version_of(self) -> str:
        """The system of whose superseded run this is a part (`run_versions`); otherwise empty."""
        return self.provenance.get("version_of", "")


class Publication:
    """The parts of one job; they are written at once, but visible only after its with-block."""

    def __init__(self, home: Path, job: str) -> None:
        self.job = job
        self.added: dict[tuple[str, str, str], Part] = {}
        self.removed: set[tuple[str, str, str]] = set()
        self._home = home

    def add(
        self,
        kind: str,
        content: Content,
        *,
        dataset: str,
        system: str = "",
        fingerprint: str,
        provenance: Mapping[str, Any],
    ) -> Part:
        """Write a part; it replaces the live part of the same kind, dataset and system. `content`
        has the columns of the kind without dataset and system, as a frame, a table or a stream of
        record batches. Raises ValueError for a missing column or an empty value, and Conflict for a
        second part of one identity."""
        # Imported here because writing needs pandas and PyArrow, but listing does not.
        from compute.store.parts import KINDS, write_part

        identity = (kind, dataset, system)
        if identity in self.added:
            raise Conflict(f"{kind} of {dataset} {system} written twice by one job: keep one")
        recorded = json.loads(json.dumps(dict(provenance), allow_nan=False))
        part_id = uuid.uuid4().hex
        path = self._home / part_path(kind, part_id)
        written = write_part(path, KINDS[kind], content, constants(kind, dataset, system))
        part = Part(
            id=part_id,
            kind=kind,
            dataset=dataset,
            system=system,
            fingerprint=fingerprint,
            file=path,
            rows=written.rows,
            bytes=path.stat().st_size,
            created=state.now(),
            provenance=recorded,
            job=self.job,
            sha256=written.sha256,
        )
        self.added[identity] = part
        return part

    def remove(self, kind: str, dataset: str, system: str = "") -> None:
        """Retire the live local part; a shipped part of the same identity becomes visible again."""
        self.removed.add((kind, dataset, system))


class Store:
    """The parts and judgements of one home folder, in addition to the shipped parts. Any number of
    processes and threads may read and publish at once."""

    def __init__(self, settings: Settings, shipped: Path = SHIPPED) -> None:
        self.settings = settings
        self.home = settings.home.resolve()
        # DuckDB would read these characters as lists of folders, and as patterns of file names.
        if set(str(self.home)) & set(",*?[]"):
            raise WrongInput(f"{self.home}: choose a home folder without any of , * ? [ ]")
        make_folder(self.home)
        with locked(self.home / "locks" / "home.lock"):
            self.engine = state.open_state(settings)
        """The engine of the state, for other modules' tables in it."""
        own, at = state.identity_of(self.engine), settings.parts_at
        self.bucket = Bucket(at, own) if at else None
        found = _read_shipped(shipped) if settings.shipped_results else []
        self._shipped = {part.identity: part for part in found}
        self._seen: dict[str, Part] = {}
        """Parts by id as they were first read, since a part never changes."""
        self._checksums = Checksums(self.home)
        self._damage: dict[str, str] = {}
        self._away: dict[str, tuple[str, float]] = {}
        """Fault and time of each failed download from the bucket, by part id."""
        self.noticed = 0
        """Number of times this process has found a part damaged, or intact again."""
        self.broken: list[str] = []
        """Faults found in the state, once it was checked (`damage.verify_beside`)."""

    def close(self) -> None:
        """Close the connections to the state."""
        self.engine.dispose()

    def version(self) -> int:
        """Return the version of the manifest: the number of publications so far."""
        with self.engine.connect() as connection:
            return state.counted(connection, "manifest")

    def parts(
        self,
        kind: str | None = None,
        dataset: str | None = None,
        system: str | None = None,
        version: int | None = None,
        *,
        picked: Collection[str] | None = (),
    ) -> list[Part]:
        """Return the parts that are live at a version (default: now), in a fixed order; local parts
        take precedence over shipped ones. Parts of superseded runs count if `system` or `picked`
        names their version, or all of them if `picked` is None. Parts whose file is lost, truncated
        or known to be changed have their `damage`. Raises Missing for a version that is gone."""
        wanted = {"kind": kind, "dataset": dataset, "system": system}
        wanted = {name: value for name, value in wanted.items() if value is not None}
        listed = _LISTED.get()
        if listed is None:
            found = self._listed(wanted, version)
        else:
            if (self, version) not in listed:
                listed[self, version] = self._listed({}, version)
            found = [p for p in listed[self, version] if wanted.items() <= vars(p).items()]
        if system or picked is None:
            return found
        return [part for part in found if not part.version_of or part.system in picked]

    def _listed(self, wanted: Mapping[str, str], version: int | None) -> list[Part]:
        """Return all parts that are live at a version and have the wanted fields."""
        rows = select(state.parts).where(*(state.parts.c[n] == v for n, v in wanted.items()))
        with self.engine.connect() as connection:
            local = [self._part(row) for row in connection.execute(rows.where(_live(version)))]
            if version is not None and version < state.counted(connection, "gone"):
                raise Missing(f"version {version} of the results is gone: read the newest one")
        shipped = self._shipped.items()
        found = {key: part for key, part in shipped if wanted.items() <= vars(part).items()}
        found |= {part.identity: part for part in local}
        if not wanted:
            self._seen = {part.id: part for part in local}
        self._checksums.refresh()
        looked_at = [self._looked_at(found[identity]) for identity in sorted(found)]
        if self._were_tidied(looked_at):
            return self._listed(wanted, version)
        return looked_at

    @contextmanager
    def listed_once(self) -> Iterator[None]:
        """List the parts only once in this thread during a with-block, which must write none."""
        before = _LISTED.set({})
        try:
            yield
        finally:
            _LISTED.reset(before)

    def here(self, version: int, picked: Collection[str] | None) -> list[Part]:
        """Return `parts` once all their files are local. Raises Unavailable without the bucket."""
        parts = self.parts(version=version, picked=picked)
        return self.parts(version=version, picked=picked) if self.fetch(parts) else parts

    def fetch(self, parts: Iterable[Part]) -> bool:
        """Download missing and damaged files from the bucket; return whether any was requested. A
        failed download is tried again a minute later, or when the part is verified."""
        lacking = [p for p in parts if p.bucket and (p.damage or not p.file.exists())]
        lacking = [part for part in lacking if not self._away_lately(part)]
        with ThreadPoolExecutor() as pool:
            found = list(zip(lacking, pool.map(Part.fetch, lacking), strict=True))
        now = time.monotonic()
        self._away |= {part.id: (damage, now) for part, damage in found if damage}
        self._remember(part for part, damage in found if not damage and part.sha256)
        return bool(found)

    def part(self, kind: str, dataset: str, system: str = "") -> Part | None:
        """Return the live part of an identity; None if there is none or it is damaged."""
        found = self.parts(kind, dataset, system)
        return found[0] if found and not found[0].damage else None

    def shipped(self, part: Part) -> Part | None:
        """Return the shipped part that has the identity of this part."""
        return self._shipped.get(part.identity)

    def done(self, kind: str, dataset: str, system: str, fingerprint: str) -> Part | None:
        """Return the live part if a step would only write the same again. Its file is verified if
        this machine has not read it yet, since a damaged part must be rewritten. Shipped parts
        never count, since they are truncated or without texts."""
        part = self.part(kind, dataset, system)
        if part is None or part.shipped or part.fingerprint != fingerprint:
            return None
        return part if not self.verify(part).damage else None

    def verify(self, part: Part, *, anew: bool = False) -> Part:
        """Return the part with its `damage`, after reading its whole file. It is read once per
        content and machine, unless `anew`. If no SHA-256 was known, that of a complete Parquet file
        is accepted; `damage.verify` writes it to the manifest."""
        self._away.pop(part.id, None)
        self.fetch([part])
        looked_at = self._read(part, anew)
        # A file that is damaged only here is downloaded again.
        comes = bool(looked_at.damage) and self.fetch([looked_at])
        return self._read(part, False) if comes else looked_at

    def _read(self, part: Part, anew: bool) -> Part:
        """Return the part with its damage; read its file if its checksum is unknown or `anew`."""
        at = checksums.stamp(part.file)
        if at and (anew or not self._checksums.known(part.id, at)):
            try:
                read = checksums.computed(part.file, is_new=not part.sha256)
            except OSError as error:
                return replace(part, damage=f"damaged: it cannot be read, {error.strerror}")
            if read:
                self._checksums.remember([(part.id, *read)])
        looked_at = self._looked_at(part)
        if part.sha256 or looked_at.damage or part.shipped:
            return looked_at
        at = checksums.stamp(part.file)
        return replace(looked_at, sha256=self._checksums.known(part.id, at) if at else "")

    def forget_checksums(self, parts: Iterable[Part]) -> None:
        """Forget the checksums of all files other than those of these parts."""
        self._checksums.forget({part.id for part in parts})

    @contextmanager
    def publishing(self, job: str) -> Iterator[Publication]:
        """Yield the publication of one job, whose parts become visible together when the block
        ends. If the block raises, nothing is visible, and no file stays."""
        publication = Publication(self.home, job)
        try:
            yield publication
            for part in publication.added.values():
                if self.bucket:
                    self.bucket.put(part.file, part.name)
        except BaseException:
            for part in publication.added.values():
                part.file.unlink(missing_ok=True)
            raise
        # If this fails, the files stay, since the commit may have succeeded nevertheless.
        if publication.added or publication.removed:
            self._publish(publication)

    def add_judgements(self, judgements: DataFrame) -> int:
        """Append judgements, all or none; return the id of the last one. Columns: dataset,
        query_id, doc_id, relevance (missing: withdrawn), person, task, guideline_version, source;
        those in `state.OPTIONAL` may be left out. A row whose `entry` is already saved is skipped.
        Raises ValueError for any other empty value."""
        with state.writing(self.engine) as connection:
            return state.append_judgements(connection, judgements)

    def added_judgements(self, since: int = 0, dataset: str = "") -> DataFrame:
        """Return the added judgements with an id above `since`, in the order in which they were
        saved, of every dataset unless one is named. Invalid rows, for example after a flipped bit,
        are left out; the hash chain reveals them."""
        # Imported here because reading judgements needs pandas, but listing parts does not.
        from pandas import DataFrame

        table = state.added_judgements
        query = select(table).where(table.c.id > since).order_by(table.c.id)
        if dataset:
            query = query.where(table.c.dataset == dataset)
        with self.engine.connect() as connection:
            rows = [tuple(row) for row in connection.execute(query) if state.is_judgement(row)]
        frame = DataFrame(rows, columns=[column.name for column in table.c])
        numbers = {"id": "int64", "relevance": "Int64", "unsure": "int64", "verified": "int64"}
        return frame.astype(dict.fromkeys(frame, "str") | numbers)

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Wait until no other process, on any machine, is in a block with this name."""
        with locked(self.home / "locks" / f"{name}.lock"), state.alone(self.engine, name):
            yield

    def outgrown(self) -> bool:
        """Return whether a newer Beirscope has migrated the state, so that writing must end."""
        return state.outgrown(self.engine)

    def judgement_version(self) -> int:
        """Return the id of the newest added judgement; 0 before the first."""
        with self.engine.connect() as connection:
            return state.counted(connection, "judgements")

    def tidy(self, at: datetime | None = None) -> list[Path]:
        """Move superseded parts, and unlisted files, to the trash once they are old enough; delete
        the scratch files of killed processes. Returns the old paths of what was moved."""
        at = at or datetime.now(UTC)
        before = (at - SUPERSEDED_STAYS).isoformat(timespec="microseconds")
        superseded = state.forget_superseded(self.engine, before)
        removed = [self.home / part_path(kind, part_id) for kind, part_id in superseded]
        removed += self._unlisted(at - UNLISTED_STAYS)
        trash.put(self.home, removed, at)
        trash.sweep(self.home, at)
        self._tidy_bucket(at)
        scratch.sweep(self.home)
        return removed

    def _tidy_bucket(self, at: datetime) -> None:
        """Tidy the bucket; restore lost objects from its trash or from this home."""
        if not self.bucket:
            return
        try:
            self.bucket.claim()
            # Objects are listed before the manifest is read, so that later parts count as new.
            lying = self.bucket.lying()
            thrown = {name.split("/", 2)[2]: name for name in lying if name.startswith("trash/")}
            sizes = {name: lies.bytes for name, lies in lying.items()}
            live = [part for part in self.parts(picked=None) if part.bucket]
            for part in (part for part in live if sizes.get(part.name) != part.bytes):
                name = thrown.get(part.name, "")
                if sizes.get(name) == part.bytes:
                    self.bucket.move(name, part.name)
                elif part.file.exists() and not self.verify(part).damage:
                    self.bucket.put(part.file, part.name)
            self.bucket.tidy(lying, state.listed(self.engine), at)
        except Unavailable as error:
            log.warning("%s: it is not tidied", error)

    def _publish(self, publication: Publication) -> None:
        """Retire and list parts in the manifest, in one transaction."""
        for part in publication.added.values():
            # A file that waited for the end of a long job counts as new again.
            os.utime(part.file)
        table, time = state.parts, state.now()
        with state.writing(self.engine) as connection:
            version = state.count(connection, "manifest")
            for identity in publication.removed | set(publication.added):
                retire = update(table).where(_has(identity), table.c.retired_version.is_(None))
                connection.execute(retire.values(retired_version=version, retired_time=time))
            rows = [_row(part, version) for part in publication.added.values()]
            if rows:
                connection.execute(insert(table), rows)
            changed = (table.c.published_version == version) | (table.c.retired_version == version)
            state.sum_parts(connection, changed)
        self._remember(publication.added.values())

    def _remember(self, parts: Iterable[Part]) -> None:
        stamps = ((part, checksums.stamp(part.file)) for part in parts)
        self._checksums.remember((part.id, at, part.sha256) for part, at in stamps if at)

    def _looked_at(self, part: Part) -> Part:
        """Return the part with its damage, as far as size and known checksums show it."""
        damage = self._damage_of(part)
        if damage != self._damage.get(part.id, ""):
            self._damage[part.id] = damage
            self.noticed += 1
        return part if damage == part.damage else replace(part, damage=damage)

    def _damage_of(self, part: Part) -> str:
        """Return the damage of a part, as far as size and known checksums show it."""
        at = checksums.stamp(part.file)
        if at is None:
            return self._away_lately(part) if part.bucket else "lost"
        if at.size != part.bytes:
            return f"damaged: {at.size:,} bytes, {part.bytes:,} were written"
        sha256 = self._checksums.known(part.id, at)
        if sha256 == UNREADABLE:
            return "damaged: it cannot be read"
        if sha256 and part.sha256 and sha256 != part.sha256:
            return f"damaged: its content has changed since it was {part.sha256_as}"
        return ""

    def _away_lately(self, part: Part) -> str:
        """Return why a download of a part failed within the last minute; empty if none did."""
        damage, at = self._away.get(part.id, ("", 0.0))
        return damage if time.monotonic() - at < ASKED_AGAIN else ""

    def _were_tidied(self, parts: Sequence[Part]) -> bool:
        """Return whether files are missing because another process just removed their parts."""
        lost = {part.id for part in parts if part.damage == "lost" and not part.shipped}
        return bool(lost) and not lost <= state.listed(self.engine)

    def _unlisted(self, before: datetime) -> list[Path]:
        found = filter(is_own, self.home.glob("parts/*/*"))
        files = [file for file in found if _age(file) < before.timestamp()]
        listed = state.listed(self.engine)
        return [file for file in files if file.stem not in listed]

    def _part(self, row: Row[Any]) -> Part:
        if (seen := self._seen.get(row.id)) and seen.sha256 == row.sha256:
            return seen
        return replace(part_of(row, self.home), bucket=self.bucket)


_PART_COLUMNS = [c.name for c in state.parts.c if c.name in Part.__dataclass_fields__]


def part_of(row: Row[Any], root: Path) -> Part:
    """Return the part in a row of the manifest, with its file under `root`."""
    columns = {name: row._mapping[name] for name in _PART_COLUMNS}
    try:
        if not state.fits(state.parts, tuple(map(type, row))):
            raise ValueError
        columns["provenance"] = json.loads(row.provenance)
        return Part(file=root / part_path(row.kind, row.id), **columns)
    except (ValueError, KeyError):
        told = f"the row of part {row.id} in the state is damaged: replace it with a backup"
        raise Unavailable(told) from None


def part_path(kind: str, part_id: str) -> Path:
    """Return the path of a part below a root; it contains only names that we have chosen."""
    if kind not in COLUMNS:
        raise KeyError(f"no kind {kind!r}; known: {', '.join(COLUMNS)}")
    return Path("parts") / kind / f"{part_id}.parquet"


def shard_path(name: str) -> Path:
    """Return the path of a shard below a root: among the parts, which all workers see. It is in no
    manifest, so it is removed once it has been unused for as long as unlisted files are kept."""
    return Path("parts") / "shards" / f"{name}.tar"


def constants(kind: str, dataset: str, system: str) -> dict[str, str]:
    """Return the columns of a part that have a single value."""
    names = {"dataset": dataset, "system": system}
    return {name: value for name, value in names.items() if name in dict(COLUMNS[kind])}


def top(hits: DataFrame) -> DataFrame:
    """Return the part `top` of a run's hits: rank <= 10, sorted by query_id and rank."""
    return hits[hits["rank"] <= 10].sort_values(["query_id", "rank"], ignore_index=True)


def _live(version: int | None) -> ColumnElement[bool]:
    published, retired = state.parts.c.published_version, state.parts.c.retired_version
    if version is None:
        return retired.is_(None)
    return (published <= version) & or_(retired.is_(None), retired > version)


def _has(identity: tuple[str, str, str]) -> ColumnElement[bool]:
    kind, dataset, system = identity
    columns = state.parts.c
    return (columns.kind == kind) & (columns.dataset == dataset) & (columns.system == system)


def _row(part: Part, version: int) -> dict[str, Any]:
    row = {name: getattr(part, name) for name in _PART_COLUMNS}
    row["provenance"] = json.dumps(part.provenance, ensure_ascii=False)
    return row | {"published_version": version}


def _age(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:  # another process is also tidying, or a writer has renamed it
        return float("inf")


def _read_shipped(root: Path) -> list[Part]:
    """Return the shipped parts in a root's manifest. Raises WrongInput if it is none."""
    file = root / "manifest.json"
    if not file.exists():
        return []
    try:
        records = json_files.parsed(file.read_text("utf-8"))["parts"]
        return [_shipped_part(root, record) for record in records]
    except (ValueError, KeyError, TypeError) as error:
        raise WrongInput(f"{file}: not a manifest ({error}): fetch it again") from None


def _shipped_part(root: Path, record: dict[str, Any]) -> Part:
    found = re.fullmatch(r"parts/(\w+)/([0-9a-f]{32})\.parquet", record["path"])
    if found is None:
        raise ValueError(f"path {record['path']!r}")
    kind, part_id = found.groups()
    about = {name: value for name, value in record.items() if name != "path"}
    about |= {"id": part_id, "kind": kind, "file": root / part_path(kind, part_id)}
    return Part(**about, shipped=True)
