"""Reading: an in-memory DuckDB through which all data are read. A reading is one version of the
manifest: views of its Parquet parts, and small tables built from them. The same tables and views
are in `beirscope.duckdb`, for DuckDB's shell and for notebooks."""

import json
import os
import types
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import duckdb
import pyarrow as pa
from duckdb import DuckDBPyConnection

from compute.base import parquet_files, scratch_database
from compute.base.errors import BeirscopeError, Conflict, WrongInput
from compute.base.locks import locked
from compute.datasets import published
from compute.datasets.catalogue import DATASETS, Dataset
from compute.reading import means, part_views, user_database
from compute.store import damage, freshness, provenance, run_versions, state
from compute.store.kinds import NAMED_OTHERWISE
from compute.store.own_datasets import of_parts
from compute.store.parts import KINDS
from compute.store.store import Part, Store
from compute.systems import SYSTEMS, System, system

PARTS = parquet_files.schema(
    "id kind dataset system fingerprint path rows:int64 bytes:int64 created job shipped:bool"
    " provenance"
)
_SYSTEMS = parquet_files.schema("name title family published_in checkpoint settings status")
_NUMBERS = {"id": pa.int64(), "relevance": pa.int32(), "unsure": pa.int32(), "verified": pa.int32()}
JUDGEMENTS = pa.schema(
    [
        (column.name, _NUMBERS.get(column.name, pa.string()))
        for column in state.added_judgements.columns
    ]
)

READABLE_FROM = "v1.2.0"
"""The oldest version of DuckDB that can read the files written here."""
_DATABASE = (
    "The results of one home folder; hits, scores and the like are views of its files, at the"
    " folder's path when this was written."
)
_SNAPSHOT = "A snapshot of all stored results; it needs no other file."
_WEIGHTS = {"model": ["''::blob as content"]}
_TEXTS = {
    "documents": ["null::varchar as title", "null::varchar as text"],
    "queries": ["null::varchar as text"],
    "narratives": ["null::varchar as text"],
    "generated": ["null::varchar as text"],
}
_IMPORTED = """
insert into published by name
select provenance->>'$.paper' as paper, dataset as source, "of" as dataset, printed as system,
    printed, measure, value, false as in_domain, false as suspect, '' as note
from printed join (select dataset, provenance from parts where kind = 'printed') using (dataset)
"""
_NAME = "coalesce(getvariable('given')[system], system) as system"
"""The column `system` of a snapshot, in which names have no folders of this machine."""


Made = TypeVar("Made")


@dataclass(frozen=True)
class Reading:
    """One version of the store, open to any number of threads."""

    version: int
    """The version of the manifest."""
    connection: DuckDBPyConnection
    """Not to be queried directly: threads that share a connection would mix up results."""
    parts: Mapping[tuple[str, str, str], Part]

    def cursor(self) -> DuckDBPyConnection:
        """Return a connection to the tables and views, for one thread."""
        return self.connection.cursor()

    def narrow(self, home: Path, datasets: Collection[str], schema: str) -> None:
        """Create a schema with views over only these datasets' parts. Planning a query costs 10 ms
        with a view over 450 runs, and 1 ms with one over a dataset's."""
        some = [part for part in self.parts.values() if part.dataset in datasets]
        with self.cursor() as cursor, scratch_database.transaction(cursor):
            cursor.execute(f"create schema {schema}")
            for kind, files in _files(some, home).items():
                part_views.create(cursor, kind, files, schema)

    def close(self) -> None:
        """Release the memory."""
        self.connection.close()


def open_version(
    store: Store, version: int | None = None, *, picked: Collection[str] = ()
) -> Reading:
    """Open the store as it was at a version of the manifest (default: the newest). Damaged parts
    are left out. So are superseded runs, unless `picked`; picked ones are systems like all others.
    Raises Missing for a version that is gone."""
    at = store.version() if version is None else version
    return _past_damage(store, lambda: _opened(store, at, picked))


def _opened(store: Store, version: int, picked: Collection[str]) -> Reading:
    parts, _ = freshness.split(store.here(version, picked))
    connection = scratch_database.connect(store.settings, file_search_path=str(store.home))
    try:
        _fill(connection, store, parts, bulk=False)
    except BaseException:
        connection.close()
        raise
    return Reading(version, connection, {part.identity: part for part in parts})


def _past_damage(store: Store, attempt: Callable[[], Made]) -> Made:
    """Return the result of an attempt, which is repeated whenever a file proves damaged."""
    while True:
        try:
            return attempt()
        except duckdb.Error:
            if not damage.found_anew(store):
                raise


def write_database(store: Store) -> Path:
    """Write the newest version to `beirscope.duckdb` in the home folder, for DuckDB's own shell.
    Its views use full paths, so that it can be opened from any folder. If parts are in a bucket,
    there is no such file. No code of the project opens it."""
    file = store.home / "beirscope.duckdb"
    if store.bucket:
        file.unlink(missing_ok=True)
        return file
    with locked(store.home / "locks" / "database.lock"):
        aside = store.home / ".beirscope.duckdb.tmp"
        _past_damage(store, lambda: _write(store, file, aside, bulk=False))
    return file


def snapshot(
    store: Store, file: Path, *, texts: bool = True, picked: Collection[str] | None = ()
) -> None:
    """Write the newest version to one self-contained DuckDB file, completely or not at all. Without
    `texts`, the texts of documents and queries are left out, but ids and lengths stay. `picked`
    superseded runs are included (None: all). Weights of models and paths of this machine are never
    included. Raises Conflict if the file exists, and WrongInput if the folder is missing."""
    file = file.resolve()
    for there in (file, _log(file)):
        if there.exists():
            raise Conflict(f"{there} exists: remove it or name another file")
    if not file.parent.is_dir():
        raise WrongInput(f"no folder {file.parent}: create it first")
    aside = file.with_name(f".{uuid.uuid4().hex}.tmp")
    _past_damage(store, lambda: _write(store, file, aside, bulk=True, texts=texts, picked=picked))


def _write(
    store: Store,
    file: Path,
    aside: Path,
    *,
    bulk: bool,
    texts: bool = True,
    picked: Collection[str] | None = (),
) -> None:
    """Write the newest version to the path `aside`, then move it to its place."""
    version = store.version()
    parts, _ = freshness.split(store.here(version, picked))
    # These remain from a killed writer, whose log would not match the new file.
    for left in (aside, _log(aside)):
        left.unlink(missing_ok=True)
    options = {
        "file_search_path": str(store.home),
        # The DuckDB shell is often older than this library.
        "storage_compatibility_version": READABLE_FROM,
    }
    about = user_database.readme(_SNAPSHOT if bulk else _DATABASE, version)
    try:
        with scratch_database.connect(store.settings, str(aside), **options) as connection:
            _fill(connection, store, parts, bulk=bulk, texts=texts, in_full=not bulk)
            _table(connection, "readme", about)
            user_database.describe(connection)
        # A killed shell that had the old file open may have left a log, too.
        _log(file).unlink(missing_ok=True)
        aside.replace(file)
    finally:
        for left in (aside, _log(aside)):
            left.unlink(missing_ok=True)


def _log(file: Path) -> Path:
    """Return the path of DuckDB's write-ahead log of a file."""
    return file.with_name(f"{file.name}.wal")


def _fill(
    connection: DuckDBPyConnection,
    store: Store,
    parts: list[Part],
    *,
    bulk: bool,
    texts: bool = True,
    in_full: bool = False,
) -> None:
    """Create every table and view. With `bulk`, parts become tables, for a file to share, without
    texts unless `texts`; with `in_full`, views use full paths on this machine."""
    instead = _WEIGHTS if texts else _WEIGHTS | _TEXTS
    given = provenance.without_folders(part.system for part in parts) if bulk else {}
    connection.execute("set variable given = map(?, ?)", [list(given), list(given.values())])
    files = _files(parts, None if in_full else store.home)
    for kind, schema in KINDS.items():
        if not files[kind]:
            connection.from_arrow(schema.empty_table()).create(kind)
            continue
        if bulk:
            every = list(chain.from_iterable(files[kind].values()))
            relation = connection.read_parquet(every, hive_partitioning=False)
            columns = instead.get(kind, []) + [_NAME] * (bool(given) and "system" in schema.names)
            relation.project(f"* replace ({', '.join(columns)})" if columns else "*").create(kind)
        else:
            part_views.create(connection, kind, files[kind])
    parts = [replace(part, system=given.get(part.system, part.system)) for part in parts]
    records = [_part_record(part, "" if bulk else _relative(part, store.home)) for part in parts]
    _table(connection, "parts", pa.Table.from_pylist(records, PARTS))
    _table(connection, "datasets", _datasets(parts))
    _table(connection, "systems", _systems(parts))
    _table(connection, "published", _published())
    connection.execute(_IMPORTED)
    added = pa.Table.from_pandas(store.added_judgements(), JUDGEMENTS, preserve_index=False)
    _table(connection, "added_judgements", added)
    if bulk:
        means.create(connection)
    else:
        means.create_remembered(connection, parts, store.home)


def _files(parts: Iterable[Part], home: Path | None) -> Mapping[str, dict[str, list[str]]]:
    """Return the parts' files by kind and dataset, as paths relative to `home`, or full if None."""
    files: Mapping[str, dict[str, list[str]]] = defaultdict(dict)
    for part in parts:
        path = _relative(part, home) if home else str(part.file.absolute())
        files[part.kind].setdefault(part.dataset, []).append(path)
    return files


def _table(connection: DuckDBPyConnection, name: str, content: pa.Table) -> None:
    # A registered frame would be visible only to this cursor, so it becomes a table.
    connection.from_arrow(content).create(name)


def _relative(part: Part, home: Path) -> str:
    """Return the path as in views: relative to the home folder, so that the folder can move."""
    path, root = str(part.file), f"{home}{os.sep}"
    # This runs for thousands of parts, of which only the few shipped ones are elsewhere.
    return path.removeprefix(root) if path.startswith(root) else os.path.relpath(path, home)


def _part_record(part: Part, path: str) -> dict[str, Any]:
    """Return a part's row of `parts`; without a path (a snapshot), nothing of this machine."""
    record = {name: getattr(part, name) for name in PARTS.names if name != "path"} | {"path": path}
    about = part.provenance if path else provenance.portable(part.provenance)
    record["provenance"] = json.dumps(about, ensure_ascii=False)
    record["job"] = part.job if path else provenance.portable(part.job)
    return record


@cache
def _published() -> pa.Table:
    """Return the papers' scores, which do not change while this process runs."""
    return pa.Table.from_pandas(published.results())


def _datasets(parts: list[Part]) -> pa.Table:
    """Return the catalogue and the user's datasets, whose records are stored with their queries."""
    # The annotations of the record give the types of the columns.
    hints = get_type_hints(Dataset)
    schema = pa.schema([(field.name, _arrow(hints[field.name])) for field in fields(Dataset)])
    return _records([*DATASETS.values(), *of_parts(parts).values()], schema)


def _systems(parts: list[Part]) -> pa.Table:
    """Return the catalogue, followed by stored systems that it lacks: other parameters, imports."""
    # Generators, LLMs and training sets are no systems, and a trained model may have no run yet.
    others = ("generated", "model", "training", *NAMED_OTHERWISE)
    ranked = {part.system for part in parts if part.system and part.kind not in others}
    stored = sorted(ranked - set(SYSTEMS))
    earlier = {part.system: part.version_of for part in parts if part.version_of}
    rows = [*SYSTEMS.values(), *(_further(name, earlier.get(name, "")) for name in stored)]
    return _records(rows, _SYSTEMS)


def _further(name: str, version_of: str) -> System:
    """Return the record of a system that is not in the catalogue."""
    if version_of:
        row = SYSTEMS.get(version_of) or _further(version_of, "")
        return replace(row, name=name, title=run_versions.title(row.title, name))
    try:
        return system(name)
    except BeirscopeError:
        return System(name, title=name, family="imported")


def _records(rows: Iterable[Any], schema: pa.Schema) -> pa.Table:
    records = [{name: getattr(row, name) for name in schema.names} for row in rows]
    return pa.Table.from_pylist(records, schema)


def _arrow(hint: Any) -> pa.DataType:
    """Return the Arrow type for a type annotation."""
    plain = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(kind for kind in get_args(hint) if kind is not type(None))
    if get_origin(hint) is tuple:
        return pa.list_(_arrow(get_args(hint)[0]))
    return plain[hint]
