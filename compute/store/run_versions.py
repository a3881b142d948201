"""Versions of a run: a superseded run stays, as a system such as `bm25@1`.

Its parts are copies under that name, published in the transaction in which the newer run goes live.
They count only where somebody picks them (`Store.parts`): nothing else needs to know of them.
"""

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from compute.base import parquet_files
from compute.base.errors import Conflict, WrongInput
from compute.store import damage
from compute.store.kinds import COLUMNS
from compute.store.parts import KINDS, ROW_GROUP
from compute.store.store import Part, Publication, Store, constants

KEPT = ("hits", "top", "scores", "length_counts", "efficiency", "augmented")
"""Kinds of parts that belong to a run."""
_LABEL = re.compile(r"[\w.+-]{1,40}", re.ASCII)
_RANKED = ("query_id", "doc_id", "rank", "score")


class Version(NamedTuple):
    """Label and note for a run that replaces another."""

    label: str = ""
    """Empty: the next number."""
    note: str = ""


def given(label: str | None, note: str) -> Version | None:
    """A version as a command names it: None for no label, empty for the next number.

    Raises WrongInput for a label that cannot stand in a name, or a note without a version.
    """
    if label is None and note:
        raise WrongInput("--note is of a version: give --as-version, too")
    if label and not _LABEL.fullmatch(label):
        raise WrongInput(
            f"{label[:60]!r} cannot name a version: up to 40 letters, digits, points and - + _"
        )
    return None if label is None else Version(label, note)


def name(system: str, label: str) -> str:
    """Name of a version among systems: `bm25@1`."""
    return f"{system}@{label}"


def label(part: Part) -> str:
    """Label of the version that a part belongs to; empty if nobody gave one."""
    return part.provenance.get("run_version", {}).get("label", "")


def labels(runs: Sequence[Part]) -> list[str]:
    """Labels of the versions of a system with these hits, the live one last; without a label it has
    the next number."""
    found = [label(part) for part in runs]
    return [*found[:-1], found[-1] or _next(found[:-1])] if found else []


def title(of: str, named: str) -> str:
    """`BM25, version 1`, of the title of a system and the name of its version."""
    return f"{of}, version {named.rpartition('@')[2]}"


def stored(
    store: Store, dataset: str | None = None, system: str | None = None, at: int | None = None
) -> list[Part]:
    """The hits of every earlier run that is kept, of a dataset or system, the oldest first; `at` a
    version of the manifest (default: now)."""
    found = store.parts("hits", dataset, version=at, picked=None)
    kept = [part for part in found if part.version_of and system in (None, part.version_of)]
    return sorted(kept, key=lambda part: (part.dataset, part.version_of, published(part)))


def named(kept: Iterable[Part], values: Iterable[str]) -> list[str]:
    """Names of the versions that values of an address hold, singly or between commas."""
    found = [value for value in values if "@" in value]
    names = dict.fromkeys(part.system for part in kept) if found else ()
    return [name for name in names if any(f",{name}," in f",{value}," for value in found)]


def published(hits: Part) -> str:
    """UTC time at which a run went live, not at which it was kept as a version."""
    return hits.provenance.get("run_version", {}).get("published", hits.created)


def refuse(store: Store, named: str, known: Collection[str]) -> None:
    """Raises Conflict for a new run whose name would read as the version of another.

    `known` are names of systems besides those stored.
    """
    of, at, _ = named.rpartition("@")
    runs = store.parts("hits", picked=None)
    if named in {part.system for part in runs if not part.version_of}:
        return
    if at and of in {*known, *(name for part in runs for name in (part.system, part.version_of))}:
        raise Conflict(
            f"{named!r} would read as a version of {of}: give it another name (--system NAME), or"
            f" import it with --system {of} --as-version"
        )


def keep(
    store: Store,
    publication: Publication,
    dataset: str,
    system: str,
    said: Version,
    run: Iterable[pa.RecordBatch],
) -> dict[str, Any]:
    """Keep the live run as a version beside the one that replaces it, `run`; what the
    provenance of that one says of itself.

    Of equal hits nothing is kept. Raises Conflict for a label that is taken, Unavailable where the
    live run is damaged.
    """
    found = [part for kind in KEPT for part in store.parts(kind, dataset, system)]
    old = [store.verify(part) for part in found]
    damage.refuse(old)
    live = next((part for part in old if part.kind == "hits"), None)
    if live is not None and _is_same(live, run):
        return _record(live.provenance.get("run_version", {}) | {"published": published(live)})
    taken = _taken(store, dataset, system)
    before = (label(live) or _next(taken)) if live else ""
    now = said.label or _next([*taken, before])
    if now in (*taken, before):
        raise Conflict(f"{system} has a version {now} on {dataset}: give this one another label")
    if live is None:
        return _record({"label": now, "note": said.note})
    for part in old:
        _copy(publication, part, before, published(live))
    return _record({"label": now, "note": said.note, "before": name(system, before)})


def told(hits: Part, *, new: bool) -> str:
    """Sentence about a run that was imported as a version."""
    found = hits.provenance.get("run_version", {})
    # A replacement with equal hits is as old as they are.
    if not new or "published" in found:
        return "the same hits as before: no version is made"
    before = f"; the one before is kept as {found['before']}" if "before" in found else ""
    return f"version {found['label']}{before}"


def marks(hits: Part) -> dict[str, Any]:
    """Entries in the provenance of every part of a version."""
    found = {name: hits.provenance.get(name) for name in ("version_of", "run_version")}
    return {name: value for name, value in found.items() if value}


def _record(version: dict[str, Any]) -> dict[str, Any]:
    return {"run_version": version}


def _taken(store: Store, dataset: str, system: str) -> list[str]:
    """The labels of a system that name a version on this dataset, or an import anywhere."""
    runs = store.parts("hits", picked=None)
    names = [run.system for run in runs if run.dataset == dataset or not run.version_of]
    head = name(system, "")
    return [one.removeprefix(head) for one in names if one.startswith(head)]


def _next(taken: Collection[str]) -> str:
    """The next number: versions are counted on, with or without labels of their own."""
    numbers = map(str, itertools.count(len(set(filter(None, taken))) + 1))
    return next(number for number in numbers if number not in taken)


def _is_same(hits: Part, run: Iterable[pa.RecordBatch]) -> bool:
    """Whether the ranked lists are equal, scores included."""
    schema = pa.schema([KINDS["hits"].field(column) for column in _RANKED])
    before, seen = pq.read_table(hits.path, columns=list(_RANKED)).cast(schema), 0
    for batch in run:
        rows = pa.Table.from_batches([batch]).select(_RANKED).cast(schema)
        if not rows.equals(before.slice(seen, len(rows))):
            return False
        seen += len(rows)
    return seen == len(before)


def _copy(publication: Publication, part: Part, labelled: str, went_live: str) -> None:
    """A part of the run that is replaced, under the name of its version."""
    of, about = name(part.system, labelled), part.provenance
    version = {"label": labelled, "published": went_live}
    if note := about.get("run_version", {}).get("note"):
        version["note"] = note
    inputs = about.get("inputs", {})
    if part.kind == "hits":
        # Its inputs may change without it; it does not answer other queries.
        inputs = {kind: mark for kind, mark in inputs.items() if kind == "queries"}
    publication.add(
        part.kind,
        _rows(part),
        dataset=part.dataset,
        system=of,
        fingerprint=part.fingerprint,
        provenance=about | {"version_of": part.system, "run_version": version, "inputs": inputs},
    )


def _rows(part: Part) -> Iterator[pa.RecordBatch]:
    given = constants(part.kind, part.dataset, part.system)
    columns = [column for column, _ in COLUMNS[part.kind] if column not in given]
    return parquet_files.batches(part.path, columns, ROW_GROUP)
