"""Versions of a run: a superseded run is kept as a system such as `bm25@1`. Its parts are copies
under that name, published in the transaction that makes the newer run live. They count only if
picked (`Store.parts`), so no other code needs to know about them."""

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from compute.base import parquet_files
from compute.base.errors import Conflict, WrongInput
from compute.store import damage
from compute.store.kinds import COLUMNS, OF_RUNS
from compute.store.parts import KINDS, ROW_GROUP
from compute.store.store import Part, Publication, Store, constants

KEPT = ("hits", "top", "scores", "length_counts", "efficiency", "augmented", *OF_RUNS)
"""Kinds of parts that belong to a run."""
_LABEL = re.compile(r"[\w.+-]{1,40}", re.ASCII)
_RANKED = ("query_id", "doc_id", "rank", "score")


class Version(NamedTuple):
    """Label and note of a run that replaces another, which is kept."""

    label: str = ""
    """The new run's label; empty means the next number."""
    note: str = ""


def given(label: str | None, note: str) -> Version | None:
    """Return the version in a command's options: None without a label, the next number for an empty
    one. Raises WrongInput for a label that is not allowed in names, or a note without a version."""
    if label is None and note:
        raise WrongInput("--note describes a version: give --as-version, too")
    if label and not _LABEL.fullmatch(label):
        raise WrongInput(
            f"{label[:60]!r} cannot name a version: up to 40 letters, digits, points and - + _"
        )
    return None if label is None else Version(label, note)


def name(system: str, label: str) -> str:
    """Return the name of a version among systems, such as `bm25@1`."""
    return f"{system}@{label}"


def label(part: Part) -> str:
    """Return the label of the version that a part belongs to; empty if there is none."""
    return part.provenance.get("run_version", {}).get("label", "")


def labels(runs: Sequence[Part]) -> list[str]:
    """Return the labels of a system's versions with these hits, the live run last; if that has no
    label, it gets the next number."""
    found = [label(part) for part in runs]
    return [*found[:-1], found[-1] or _next(found[:-1])] if found else []


def title(of: str, named: str) -> str:
    """Return a version's title, such as `BM25, version 1`: the system's title, and its number."""
    return f"{of}, version {named.rpartition('@')[2]}"


def stored(
    store: Store, dataset: str | None = None, system: str | None = None, at: int | None = None
) -> list[Part]:
    """Return the hits of every superseded run of a dataset or system, oldest first; `at` is a
    version of the manifest (default: now)."""
    found = store.parts("hits", dataset, version=at, picked=None)
    kept = [part for part in found if part.version_of and system in (None, part.version_of)]
    return sorted(kept, key=lambda part: (part.dataset, part.version_of, published(part)))


def named(kept: Iterable[Part], values: Iterable[str]) -> list[str]:
    """Return the versions named in an address; each of its values has one or more names."""
    found = [value for value in values if "@" in value]
    names = dict.fromkeys(part.system for part in kept) if found else ()
    return [name for name in names if any(f",{name}," in f",{value}," for value in found)]


def published(hits: Part) -> str:
    """Return the UTC time at which a run went live, rather than became a version."""
    return hits.provenance.get("run_version", {}).get("published", hits.created)


def refuse(store: Store, named: str, known: Collection[str]) -> None:
    """Raise Conflict for a new run whose name would look like a version of another. `known` are
    names of systems in addition to the stored ones."""
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
    """Keep the live run as a version when `run`, labelled as `said` states, replaces it; return the
    entry `run_version` of its provenance. If both have equal hits, nothing is kept. Raises Conflict
    for a label in use, and Unavailable if the live run is damaged."""
    found = [part for kind in KEPT for part in store.parts(kind, dataset, system)]
    old = [store.verify(part) for part in found]
    damage.refuse(old)
    live = next((part for part in old if part.kind == "hits"), None)
    single = not any(part.kind in OF_RUNS for part in old)
    if live is not None and single and _is_same(live, run):
        return live.provenance.get("run_version", {}) | {"published": published(live)}
    taken = _taken(store, dataset, system)
    before = (label(live) or _next(taken)) if live else ""
    now = said.label or _next([*taken, before])
    if now in (*taken, before):
        raise Conflict(f"{system} has a version {now} on {dataset}: give this one another label")
    if live is None:
        return {"label": now, "note": said.note}
    for part in old:
        _copy(publication, part, before, published(live))
    return {"label": now, "note": said.note, "before": name(system, before)}


def told(hits: Part, *, new: bool) -> str:
    """Describe in a sentence a run that was imported as a version, and say whether it is new."""
    found = hits.provenance.get("run_version", {})
    # A run with the same hits as its predecessor keeps the predecessor's date.
    if not new or "published" in found:
        return "the same hits as before: no version is created"
    if "label" not in found:
        return "one more run of this version"
    before = f"; the previous run is kept as {found['before']}" if "before" in found else ""
    return f"version {found['label']}{before}"


def marks(hits: Part) -> dict[str, Any]:
    """Return what the provenance of every part of a version has in common."""
    found = {name: hits.provenance.get(name) for name in ("version_of", "run_version")}
    return {name: value for name, value in found.items() if value}


def _taken(store: Store, dataset: str, system: str) -> list[str]:
    """Return the labels of a system's versions on this dataset, and of imports with such names."""
    runs = store.parts("hits", picked=None)
    names = [run.system for run in runs if run.dataset == dataset or not run.version_of]
    head = name(system, "")
    return [one.removeprefix(head) for one in names if one.startswith(head)]


def _next(taken: Collection[str]) -> str:
    """Return the next number as a label; versions count whether or not they have labels."""
    numbers = map(str, itertools.count(len(set(filter(None, taken))) + 1))
    return next(number for number in numbers if number not in taken)


def _is_same(hits: Part, run: Iterable[pa.RecordBatch]) -> bool:
    """Return whether the ranked lists are equal, including their scores."""
    schema = pa.schema([KINDS["hits"].field(column) for column in _RANKED])
    before, seen = pq.read_table(hits.path, columns=list(_RANKED)).cast(schema), 0
    for batch in run:
        rows = pa.Table.from_batches([batch]).select(_RANKED).cast(schema)
        if not rows.equals(before.slice(seen, len(rows))):
            return False
        seen += len(rows)
    return seen == len(before)


def _copy(publication: Publication, part: Part, labelled: str, went_live: str) -> None:
    """Add a part of the replaced run under the name of its version."""
    of, about = name(part.system, labelled), part.provenance
    version = {"label": labelled, "published": went_live}
    if note := about.get("run_version", {}).get("note"):
        version["note"] = note
    inputs = about.get("inputs", {})
    if part.kind == "hits":
        # The corpus may change without making it stale; only its queries must stay.
        version |= {"corpus": inputs["lengths"]} if "lengths" in inputs else {}
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
