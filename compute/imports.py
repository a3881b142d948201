"""Taking in what others made: own collections, and run files as systems."""

import hashlib
import re
import time
from dataclasses import replace
from pathlib import Path

from pandas import DataFrame, Series

from compute import provenance, recompute, runs
from compute.datasets import DATASETS, Dataset, QrelsOnly, Source, catalogue, open_path
from compute.errors import Conflict, WrongInput
from compute.identity import fingerprint
from compute.recompute import Bench, Loaded, Outcome
from compute.store import Store
from compute.systems import SYSTEMS

_TAG = re.compile(r"[^\s\[\](),=/\\\x00-\x1f\x7f]{1,100}")


def import_dataset(
    bench: Bench,
    name: str,
    *,
    path: Path | None = None,
    qrels: Path | None = None,
    split: str = "",
    language: str = "en",
    drop_self: bool = False,
) -> Loaded:
    """Take in a BEIR folder or archive, or judgements alone where documents cannot be had.

    Raises WrongInput unless exactly one is given, Conflict for a name of the catalogue.
    """
    if path is not None and qrels is None:
        origin: Source = open_path(path, split)
        split = origin.split
    elif qrels is not None and path is None:
        origin = QrelsOnly(qrels)
    else:
        raise WrongInput("give either a BEIR folder or archive, or --qrels FILE alone")
    row = catalogue.own(name, split=split, language=language, drop_self=drop_self)
    return recompute.load(bench, _with_grades(row, origin.judgements()), origin)


def own_datasets(store: Store) -> dict[str, Dataset]:
    """The collections that were taken in, by name."""
    records = {part.dataset: part.provenance["dataset"] for part in store.parts("queries")}
    own = {name: record for name, record in records.items() if name not in DATASETS}
    return {name: Dataset.from_record(record) for name, record in own.items()}


def _with_grades(row: Dataset, judgements: DataFrame) -> Dataset:
    """The row with its relevance levels, not relevant among them, as the judgements show them."""
    levels = {0, *judgements["relevance"].clip(lower=0)}
    found = "Binary" if levels <= {0, 1} else f"{len(levels)}-level"
    return replace(row, relevance=found)


def import_run(
    bench: Bench,
    file: Path,
    dataset: Dataset,
    *,
    system: str = "",
    drop_equal_ids: bool = False,
) -> Outcome:
    """Take in a TREC run file as a system of the dataset, named by its tag unless told otherwise.

    Hits of queries outside the split are left out and counted. Raises WrongInput with file and
    line, Conflict where the name is the catalogue's or a computed run has it.
    """
    loaded = recompute.stored_dataset(bench.store, dataset)
    start = time.perf_counter()
    tag, hits = runs.read_trec(file)
    name = _free_name(bench, dataset, system or tag)
    known = _known(hits, loaded, file)
    drop_self = dataset.drop_self or drop_equal_ids
    depth = bench.settings.depth
    run = runs.canonical(hits[known], depth=depth, drop_self=drop_self)
    content = {"sha256": _sha256(file), "drop_self": drop_self}
    about = provenance.record(
        ["import-run", file.name, "--dataset", dataset.name, "--system", name],
        time.perf_counter() - start,
        imported=True,
        file=file.name,
        hits_of_other_queries=int((~known).sum()),
        **content,
    )
    inputs = [loaded.queries.fingerprint]
    identity = fingerprint("hits", inputs, system=name, depth=depth, **content)
    return recompute.publish_run(bench, loaded, name, run, depth, identity, about)


def _known(hits: DataFrame, loaded: Loaded, file: Path) -> Series:
    """Which hits answer a query of the split."""
    known = hits["query_id"].isin(recompute.read(loaded.queries)["query_id"])
    if not known.any():
        raise WrongInput(
            f"{file}: none of its {hits['query_id'].nunique()} queries is a query of"
            f" {loaded.dataset.name}: is it a run on another dataset?"
        )
    return known


def _free_name(bench: Bench, dataset: Dataset, name: str) -> str:
    if not _TAG.fullmatch(name):
        raise WrongInput(
            f"{name[:60]!r} cannot name a system (no blanks, slashes or brackets):"
            " give another with --system"
        )
    if name in SYSTEMS:
        raise Conflict(f"{name!r} is a system of the catalogue: give another with --system")
    stored = bench.store.part("hits", dataset.name, name)
    if stored and not stored.provenance.get("imported"):
        raise Conflict(f"{name!r} has a computed run on {dataset.name}: give another with --system")
    return name


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
