"""Efficiency: the costs of a run, measured while it runs and stored with its hits. The times of
indexing and searching include loading models and starting Java. An index that several runs share
was timed once, when it was built; its folder keeps the times. `latency` measures latency later."""

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil
import pyarrow.parquet as pq
from pandas import DataFrame

from compute.base import json_files
from compute.base.result_identity import fingerprint
from compute.store import freshness, provenance
from compute.store.store import Part, Publication, Store

RECALL = "candidate_recall@100"
"""A measure of a run rather than of its index, since it depends on search parameters."""
MEASURED: Mapping[str, str] = {
    "index_seconds": "seconds to index the documents, encoding them included",
    "index_bytes": "size of the index on the disk",
    "documents_per_second": "documents indexed in a second",
    "search_seconds": "seconds to search all queries of the split, loading included",
    "queries_per_second": "queries of the split searched in a second",
    "latency_p50_ms": "milliseconds that half of the queries take at most, one at a time",
    "latency_p95_ms": "milliseconds that 95% of the queries take at most, one at a time",
    "peak_memory_bytes": "most memory held at once, by all processes of the run",
    RECALL: "share of the exact top 100 that the approximate index finds",
}
"""Every measure in the part `efficiency`, and its meaning."""

LOOK = 0.05
"""Seconds between two measurements of memory."""
_FILE = "built.json"
"""The file in an index's folder that records the cost of building it."""


@dataclass
class Cost:
    """The cost of a block, complete once the block has ended."""

    seconds: float = 0.0
    peak_bytes: int = 0
    """Peak resident memory of this process and its descendants, sampled 20 times a second."""
    load: float = 0.0
    """Mean number of processes that waited for a processor in the last minute, since a busy machine
    is slower. 0 if this process has priority (a real-time policy of Linux, as with `chrt -r 5`)."""


@contextlib.contextmanager
def watched() -> Iterator[Cost]:
    """Measure the seconds and the peak memory of a block, including child processes."""
    cost, done = Cost(load=_load()), threading.Event()
    cost.peak_bytes = resident()

    def look() -> None:
        while not done.wait(LOOK):
            cost.peak_bytes = max(cost.peak_bytes, resident())

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    start = time.perf_counter()
    try:
        yield cost
    finally:
        cost.seconds = round(time.perf_counter() - start, 3)
        done.set()
        watcher.join()


def _load() -> float:
    """Return the load that `Cost` records."""
    if hasattr(os, "sched_getscheduler"):
        policy = os.sched_getscheduler(0)
        if policy in (os.SCHED_FIFO, os.SCHED_RR):
            return 0.0
    return round(os.getloadavg()[0], 2)


def resident() -> int:
    """Return the bytes that this process and its descendants use now. A memory page that processes
    share counts once for each."""
    own = psutil.Process()
    total = 0
    for process in (own, *own.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            total += process.memory_info().rss
    return total


def add_shards(cost: Cost, made: Sequence[Mapping[str, Any]]) -> bool:
    """Add the costs of shards to an index's; return whether all come from similar machines."""
    cost.seconds = round(cost.seconds + sum(one["seconds"] for one in made), 3)
    cost.peak_bytes = max([cost.peak_bytes, *(one["peak_bytes"] for one in made)])
    here = dict(provenance.hardware())
    return all(one["hardware"] == here for one in made)


def keep_index(folder: Path, cost: Cost, facts: Mapping[str, Any], *, resumed: bool) -> None:
    """Write the cost of building an index to its folder; `facts` are the searcher's facts about it.
    The cost of a build that was interrupted and `resumed` covers only its last part, so its times
    are not used; neither are the times of a build on dissimilar machines."""
    record = {
        "seconds": cost.seconds,
        "bytes": _size(folder),
        "peak_bytes": cost.peak_bytes,
        "load": cost.load,
        "resumed": resumed,
        "facts": dict(facts),
        "hardware": dict(provenance.hardware()),
    }
    (folder / _FILE).write_text(json.dumps(record), encoding="utf-8")


def index_record(folder: Path) -> dict[str, Any]:
    """Return the record that `keep_index` wrote; earlier versions wrote seconds or nothing."""
    file = folder / _FILE
    return json_files.read(file) if file.exists() else {}


def _size(folder: Path) -> int:
    files = (file for file in folder.rglob("*") if file.is_file() and file.name != _FILE)
    return sum(file.stat().st_size for file in files)


def of_index(folder: Path, documents: int) -> dict[str, float]:
    """Return the measures of an index of `documents` documents. Times only if measured here, and
    with them `documents`, for documents per second."""
    record = index_record(folder)
    found: dict[str, float] = {"index_bytes": record.get("bytes") or _size(folder)}
    here = dict(provenance.hardware())
    if record.get("hardware", here) == here and not record.get("resumed"):
        seconds, peak = record.get("seconds"), record.get("peak_bytes")
        found |= {"index_seconds": seconds, "documents": documents} if seconds else {}
        found |= {"peak_memory_bytes": peak} if peak else {}
    return found


@dataclass(frozen=True)
class Costs:
    """The costs of a run: values by measure, and details for its provenance."""

    values: Mapping[str, float]
    about: Mapping[str, Any]


def of_run(
    cost: Cost,
    queries: int,
    *,
    indexes: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
    inputs: Sequence[Costs | None] = (),
) -> Costs:
    """Return the costs of searching this many queries, or of combining runs with the costs
    `inputs`. `indexes` has the measures of each index that was searched, by fingerprint; an index
    that several inputs share counts once. A measure is absent if an input or an index lacks it, for
    example because it was built before this was measured."""
    for one in inputs:
        indexes = {**indexes, **(one.about["indexes"] if one else {"": {}})}
    searched = [cost.seconds, *(_value(one, "search_seconds") for one in inputs)]
    peaks = [float(cost.peak_bytes), *(_value(one, "peak_memory_bytes") for one in inputs)]
    peaks += [index.get("peak_memory_bytes") for index in indexes.values()]
    values = {
        name: _total([index.get(name) for index in indexes.values()])
        for name in ("index_seconds", "index_bytes")
    }
    values["search_seconds"] = _total(searched)
    values["peak_memory_bytes"] = None if None in peaks else max(filter(None, peaks))
    values["queries_per_second"] = _rate(queries, values["search_seconds"])
    documents = max((index.get("documents", 0.0) for index in indexes.values()), default=0.0)
    values["documents_per_second"] = _rate(documents, values["index_seconds"])
    if len(indexes) == 1 and not inputs:
        (index,) = indexes.values()
        values = dict(index) | values
    kept = {name: float(found) for name in MEASURED if (found := values.get(name)) is not None}
    about = {"indexes": {name: dict(index) for name, index in indexes.items()}, "load": cost.load}
    return Costs(kept, about)


def _value(costs: Costs | None, name: str) -> float | None:
    return costs.values.get(name) if costs else None


def _total(values: Sequence[float | None]) -> float | None:
    """Return the sum of the values; None if any is missing."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _rate(number: float, seconds: float | None) -> float | None:
    return number / seconds if number and seconds else None


def stored(store: Store, dataset: str, system: str) -> Costs | None:
    """Return the costs of a stored run; None if they are unknown or its hits have changed."""
    part, hits = (store.part(kind, dataset, system) for kind in ("efficiency", "hits"))
    if part is None or hits is None or part.provenance["inputs"]["hits"] != hits.fingerprint:
        return None
    rows = pq.read_table(part.path, columns=["measure", "value"]).to_pydict()
    return Costs(dict(zip(rows["measure"], rows["value"], strict=True)), part.provenance)


def add(
    publication: Publication, hits: Part, costs: Costs | None, about: Mapping[str, Any]
) -> None:
    """Add the costs of a run to the publication of its hits, replacing the previous run's."""
    if costs is None:
        publication.remove("efficiency", hits.dataset, hits.system)
        return
    values = [(name, costs.values[name]) for name in MEASURED if name in costs.values]
    publication.add(
        "efficiency",
        DataFrame(values, columns=["measure", "value"]),
        dataset=hits.dataset,
        system=hits.system,
        fingerprint=fingerprint("efficiency", [hits.fingerprint]),
        provenance={**about, **costs.about, "inputs": freshness.of_top(hits.fingerprint)},
    )
