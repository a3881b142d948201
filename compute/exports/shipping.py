"""Shipping: turns stored results of datasets into shipped parts, truncated and without texts."""

import filecmp
import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compute.base import json_files
from compute.base.errors import WrongInput
from compute.base.files import digest, make_folder, written_aside
from compute.base.words import counted
from compute.corpora.overlap.comparing import content_name, counts_of
from compute.corpora.overlap.tokens import KINDS as KINDS_OF_COUNTS
from compute.datasets.catalogue import Dataset, members
from compute.exports import shipping_counts as overlap
from compute.store import damage, freshness
from compute.store.kinds import OF_RUNS, is_own
from compute.store.parts import KINDS, write_part
from compute.store.provenance import portable
from compute.store.store import SHIPPED, Part, Store, constants, part_path
from compute.systems import reads_a_folder

DEPTH = 100
"""Maximum number of hits per query in shipped runs."""
FORMAT = 1
"""Version of the format of `manifest.json`."""

_ORDER = {
    "hits": ["query_id", "rank"],
    "top": ["query_id", "rank"],
    "scores": ["measure", "query_id"],
    "repeats": ["run", "query_id", "rank"],
    "run_scores": ["run", "measure", "query_id"],
    "efficiency": ["measure"],
    "augmented": [],
    "queries": ["query_id"],
    "judgements": ["query_id", "doc_id"],
    "subtopics": ["query_id", "doc_id", "subtopic"],
    "lengths": ["doc_id"],
    "length_counts": ["of", "level", "n_words"],
    "ngrams": ["n", "-count", "term"],
    "wordpieces": ["n", "-count", "term"],
    "overlap": ["unit", "floor", "other"],
}
Identity = tuple[str, str, str]
"""The kind, dataset and system of a part."""


@dataclass(frozen=True)
class Cut:
    """A part to ship, with its possibly truncated content."""

    part: Part
    table: pa.Table
    about: Mapping[str, Any]
    """Provenance entries about the truncation."""


@dataclass(frozen=True)
class Shipment:
    """The result of shipping: the parts that ship now, and those that they replace."""

    parts: list[Part]
    """The written parts."""
    kept: list[Identity]
    """Parts of other datasets that are still shipped."""
    replaced: list[Identity]
    """Parts written with new content."""
    removed: list[Identity]
    """Parts that are no longer shipped."""

    def __str__(self) -> str:
        size = sum(part.bytes for part in self.parts)
        told = [f"wrote {counted(len(self.parts), 'part')}, {size:,} bytes"]
        told += [f"replaced {_of(self.replaced)}"] if self.replaced else []
        told += [f"removed {_of(self.removed)}"] if self.removed else []
        others = sorted({dataset for _, dataset, _ in self.kept})
        told += [f"kept the shipped parts of {', '.join(others)}"] if others else []
        return "\n".join(told)


def ship(
    store: Store,
    datasets: Sequence[str],
    systems: Sequence[str] | None = None,
    folder: Path = SHIPPED,
    *,
    only: bool = False,
) -> Shipment:
    """Write the parts of datasets and systems, and their manifest, to a folder.

    They replace everything shipped for these datasets; other datasets' parts stay, unless `only`.
    Without `systems`, every stored run on the datasets ships; a run made from other runs ships with
    them. Hits are truncated at rank 100. Queries keep their ids and lengths but no text, except for
    the weighted word pieces of augmented queries on PyDocs. Documents do not ship, only their
    lengths and the counts of their frequent words. Length counts and costs ship unchanged. Paths of
    this machine are removed from provenance. The same content makes the same files. Raises Missing
    for a run or dataset that is not stored, and WrongInput for a run named after a folder.
    """
    names = [part for name in datasets for part in members(name)]
    # All parts are collected before anything is written.
    fresh = _fresh(store, names)
    found = [part for name in names for part in _dataset_parts(store, name, fresh)]
    for name in names:
        found += _runs(store, name, systems, fresh)
    unique = {part.identity: part for part in found}
    before = _manifest(folder)
    kept = {
        identity: record
        for identity, record in before.items()
        if not only and identity not in unique and record["dataset"] not in names
    }
    cuts = [_cut(part) for part in unique.values()]
    cuts += _similarities(fresh, unique, kept)
    shipped = [_write(cut, folder, before) for cut in cuts]
    records = {part.identity: _record(part) for part in shipped} | kept
    _write_manifest(list(records.values()), folder)
    _remove_others(records.values(), folder)
    written = [part.identity for part in shipped]
    changed = [i for i in written if i in before and before[i]["path"] != records[i]["path"]]
    return Shipment(shipped, list(kept), changed, sorted(before.keys() - records.keys()))


def _fresh(store: Store, names: Sequence[str]) -> list[Part]:
    """Return the up-to-date parts. Raises Unavailable if one of these datasets is damaged."""
    # Parts are verified before they ship, since a flipped bit would reach everyone.
    parts = [store.verify(part) if part.dataset in names else part for part in store.parts()]
    damage.refuse(part for part in parts if part.dataset in names)
    return freshness.split(parts)[0]


def _of(identities: list[Identity]) -> str:
    """Name parts in words."""
    return ", ".join(
        f"{kind} of {system} on {dataset}" if system else f"{kind} of {dataset}"
        for kind, dataset, system in identities
    )


def _remove_others(records: Iterable[dict[str, Any]], folder: Path) -> None:
    """Remove the files of parts that the manifest does not name."""
    named = {folder / record["path"] for record in records}
    for file in filter(is_own, (folder / "parts").glob("*/*")):
        if file not in named:
            file.unlink()


def _runs(
    store: Store, dataset: str, systems: Sequence[str] | None, fresh: Sequence[Part]
) -> list[Part]:
    """Return the parts of a dataset's runs: those of these systems and their inputs, or of all."""
    stored = [part.system for part in store.parts("hits", dataset)]
    chosen = stored if systems is None else _with_inputs(store, dataset, systems)
    _refuse_folders(chosen)
    kinds = ("hits", "top", "scores")
    found = [damage.wanted(store, kind, dataset, one) for one in chosen for kind in kinds]
    found += [part for kind in OF_RUNS for part in _beside(fresh, kind, dataset, chosen)]
    found += _beside(fresh, "length_counts", dataset, ("", *chosen))
    if dataset.startswith("pydocs-"):
        found += _beside(fresh, "augmented", dataset, chosen)
    return found + _beside(fresh, "efficiency", dataset, chosen)


def _dataset_parts(store: Store, name: str, fresh: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts of a dataset that do not belong to runs."""
    queries = damage.wanted(store, "queries", name)
    record = queries.provenance.get("dataset")
    collection = Dataset.from_record(record).collection if record else name
    yield queries
    yield damage.wanted(store, "judgements", name)
    yield from store.parts("subtopics", name)
    # A corpus without documents has no lengths.
    lengths = store.part("lengths", collection)
    if lengths:
        yield lengths
    yield from counts_of(fresh, collection)


def _with_inputs(store: Store, dataset: str, systems: Sequence[str]) -> list[str]:
    """Return these systems and their runs' inputs, without which the runs would not be shown."""
    found: dict[str, None] = {}
    for system in systems:
        hits = damage.wanted(store, "hits", dataset, system)
        inputs = freshness.runs_behind(hits)
        found |= dict.fromkeys([*_with_inputs(store, dataset, inputs), system])
    return list(found)


def _refuse_folders(systems: Iterable[str]) -> None:
    """Raise WrongInput for a run whose name contains a folder of this machine."""
    for name in systems:
        if reads_a_folder(name):
            raise WrongInput(
                f"{name} names a folder of this machine: import its run file under another name"
            )


def _beside(fresh: Iterable[Part], kind: str, name: str, systems: Sequence[str]) -> list[Part]:
    """Return the up-to-date parts of a kind that belong to these runs."""
    wanted = {(kind, name, system) for system in systems}
    return [part for part in fresh if part.identity in wanted]


def _similarities(
    fresh: Sequence[Part], going: Iterable[Identity], staying: Iterable[Identity]
) -> Iterator[Cut]:
    """Yield the similarities of the corpora that ship now to all shipped ones."""
    counted = {dataset for kind, dataset, _ in going if kind in KINDS_OF_COUNTS}
    others = counted | {dataset for kind, dataset, _ in staying if kind in KINDS_OF_COUNTS}
    for part in fresh:
        if part.kind == "overlap" and part.dataset in counted:
            rows = overlap.similarities(fresh, part.dataset, others)
            table = pa.Table.from_pandas(rows, KINDS["overlap"], preserve_index=False)
            yield _sorted(replace(part, fingerprint=content_name(rows)), table)


def _cut(part: Part) -> Cut:
    """Truncate the content of a part and remove its texts."""
    table = pq.read_table(part.path)
    about: Mapping[str, Any] = {}
    if part.kind in ("hits", "repeats"):
        table = table.filter(pc.field("rank") <= DEPTH)
        about = {"cut": DEPTH}
    if part.kind == "augmented":
        rounded = pc.round(table["weight"], 4)  # pyrefly: ignore
        table = table.set_column(table.schema.get_field_index("weight"), "weight", rounded)
    if part.kind in KINDS_OF_COUNTS:
        table, about = overlap.cut(part, table)
    if part.kind == "queries":
        position = table.schema.get_field_index("text")
        table = table.set_column(position, "text", pa.nulls(table.num_rows, pa.string()))
    return _sorted(part, table, about)


def _sorted(part: Part, table: pa.Table, about: Mapping[str, Any] = MappingProxyType({})) -> Cut:
    """Sort the content, so that the same content makes the same file."""
    keys = [
        (name.removeprefix("-"), "descending" if name.startswith("-") else "ascending")
        for name in _ORDER[part.kind]
    ]
    return Cut(part, table.sort_by(keys) if keys else table, about)


def _write(cut: Cut, folder: Path, before: Mapping[Identity, dict[str, Any]]) -> Part:
    """Write a part to the folder."""
    part = cut.part
    own = constants(part.kind, part.dataset, part.system)
    aside = folder / part_path(part.kind, uuid.uuid4().hex)
    written = write_part(aside, KINDS[part.kind], cut.table, own, compression_level=19)
    path = _placed(part, aside, folder, before.get(part.identity))
    return replace(
        part,
        id=path.stem,
        file=path,
        bucket=None,
        rows=written.rows,
        bytes=path.stat().st_size,
        sha256=written.sha256,
        sha256_as="written",
        job=portable(part.job),
        provenance=portable(part.provenance) | dict(cut.about),
        shipped=True,
    )


def _placed(part: Part, aside: Path, folder: Path, before: Mapping[str, Any] | None) -> Path:
    """Name a file after its content, since the content of an id never changes. A shipped file with
    the same content and fingerprint keeps its name."""
    if before and before["fingerprint"] == part.fingerprint:
        path = folder / before["path"]
        if path.exists() and filecmp.cmp(path, aside, shallow=False):
            aside.unlink()
            return path
    named = "\n".join((*part.identity, part.fingerprint, digest(aside)))
    path = folder / part_path(part.kind, hashlib.sha256(named.encode("utf-8")).hexdigest()[:32])
    return aside.replace(path)


def _manifest(folder: Path) -> dict[Identity, dict[str, Any]]:
    """Return the manifest's records of the parts that are already shipped, by identity."""
    file = folder / "manifest.json"
    if not file.exists():
        return {}
    try:
        records = json_files.parsed(file.read_text("utf-8"))["parts"]
        return {
            (Path(record["path"]).parent.name, record["dataset"], record["system"]): record
            for record in records
        }
    except (ValueError, KeyError, TypeError) as error:
        raise WrongInput(f"{file}: not a manifest ({error}): fetch it again") from None


def _write_manifest(records: list[dict[str, Any]], folder: Path) -> None:
    ordered = sorted(records, key=lambda record: (record["dataset"], record["path"]))
    record = {"format": FORMAT, "parts": ordered}
    make_folder(folder)
    text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False)
    with written_aside(folder / "manifest.json") as file:
        file.write(f"{text}\n".encode())


def _record(part: Part) -> dict[str, Any]:
    """Return the record of a part in the manifest."""
    return {
        "path": part_path(part.kind, part.id).as_posix(),
        "dataset": part.dataset,
        "system": part.system,
        "fingerprint": part.fingerprint,
        "rows": part.rows,
        "bytes": part.bytes,
        "sha256": part.sha256,
        "created": part.created,
        "job": part.job,
        "provenance": part.provenance,
    }
