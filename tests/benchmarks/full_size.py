"""A store of the benchmark's full size: `python -m tests.benchmarks.full_size FOLDER`.

    python -m tests.benchmarks.full_size FOLDER [--scale 0.01] [--documents N] [--without-words]

Real queries and judgements (of the folder `beir/topics-qrels` in $BEIRSCOPE_REFERENCE) with
made-up documents and runs: 19 datasets, CQADupStack in its 12 parts, x 15 systems, top 100. All
goes through the project's own loading, ranking, scoring and publishing, so that the store is what
real use gives. The same scale gives the same content. FOLDER must not exist yet.
"""

import argparse
import os
import resource
import sys
import time
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from compute.base.errors import WrongInput
from compute.base.result_identity import fingerprint
from compute.base.settings import Settings
from compute.evaluate import runs
from compute.reading import database
from compute.recompute import efficiency
from compute.recompute import run as recompute
from compute.store import freshness, loading, provenance
from compute.store.loading import Loaded
from compute.store.store import Store
from compute.systems import system
from compute.systems.combine.fusion import Rrf
from compute.systems.searcher import Request
from tests.benchmarks.made import collections, more
from tests.benchmarks.made import runs as made_runs
from tests.benchmarks.made.collections import Collection, Size
from tests.benchmarks.made.runs import SEARCHERS, Searcher

DEPTH = 100
NAMES = tuple(collections.names())
FUSED = ("bm25", "minilm")
AT_ONCE = 4
"""Runs published at a time."""
COMMAND = "python -m tests.benchmarks.full_size"


def main() -> None:
    """Make the store, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--documents", type=int, default=Size.documents)
    parser.add_argument("--without-words", action="store_true")
    given = parser.parse_args()
    start = time.perf_counter()
    store = make(given.folder, Size(given.scale, given.documents), _reference())
    _say(f"{summary(store)}, {time.perf_counter() - start:,.0f} s, {_cpu():,.0f} s of processors")
    if not given.without_words:
        more.count_words(_bench(store))
        database.write_database(store)
        _say(f"words counted: {time.perf_counter() - start:,.0f} s, {_cpu():,.0f} s of processors")
    _say(f"{size_of(given.folder) / 1e9:.2f} GB in {given.folder}")


def make(folder: Path, size: Size, topics: Path, names: Sequence[str] = NAMES) -> Store:
    """A home with collections, their runs, and what people added; without counts of words."""
    if folder.exists():
        raise WrongInput(f"{folder} exists: name a folder that is to be made")
    now = Settings(home=folder, depth=DEPTH)
    store = Store(now, folder / "nothing-ships")
    (folder / "settings.toml").write_text(f"depth = {DEPTH}\n", "utf-8")
    bench = _bench(store)
    for name in names:
        start = time.perf_counter()
        collection = collections.collection(name, topics, size)
        loaded = loading.load(bench, collection.dataset, collection)
        seconds = time.perf_counter() - start
        hits = add_runs(bench, collection, loaded)
        took = time.perf_counter() - start
        _say(
            f"{name}: {len(collection.doc_ids):,} documents in {seconds:.0f} s, {hits:,} hits in"
            f" {took - seconds:.0f} s; {_cpu():,.0f} s of processors so far"
        )
    more.add_judgements(store)
    database.write_database(store)
    return store


def _bench(store: Store) -> loading.Bench:
    return loading.Bench(store, store.settings)


def _reference() -> Path:
    named = os.environ.get("BEIRSCOPE_REFERENCE")
    if not named:
        raise WrongInput("set BEIRSCOPE_REFERENCE to the folder that has beir/topics-qrels")
    return Path(named) / "beir" / "topics-qrels"


def add_runs(bench: loading.Bench, collection: Collection, loaded: Loaded) -> int:
    """Publish the runs of all systems on one dataset, each as a job would; how many hits."""
    drop = collection.dataset.drop_self
    found = made_runs.search(made_runs.Bench(collection), DEPTH + drop)

    def publish(searcher: Searcher) -> recompute.Outcome:
        table = found.pop(searcher.name).table(collection)
        run = runs.ranked(table, depth=DEPTH, drop_self=drop)
        above = [outcomes[searcher.first].hits] if searcher.first else []
        return _publish(bench, loaded, searcher, run, above)

    outcomes: dict[str, recompute.Outcome] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for again in (False, True):
            chosen = [searcher for searcher in SEARCHERS if bool(searcher.first) == again]
            names = (searcher.name for searcher in chosen)
            outcomes |= zip(names, pool.map(publish, chosen), strict=True)
    above = [outcomes[name].hits for name in FUSED]
    inputs = [recompute.read(part) for part in above]
    empty = recompute.read(loaded.queries)
    fused = Rrf().combine(inputs, None, Request(empty, DEPTH, bench.settings, loading.quiet))
    run = runs.canonical(fused, depth=DEPTH, drop_self=drop)
    name = system(f"rrf({', '.join(FUSED)})").name
    last = Searcher(name, "fusion", "", milliseconds=31)
    outcomes[name] = _publish(bench, loaded, last, run, above)
    return sum(outcome.hits.rows for outcome in outcomes.values())


def _publish(
    bench: loading.Bench,
    loaded: Loaded,
    searcher: Searcher,
    run: runs.Run,
    above: list[Any],
) -> recompute.Outcome:
    dataset, lengths = loaded.dataset, loaded.lengths
    identity = {"made_up": searcher.name, "depth": DEPTH}
    called = [loaded.queries.fingerprint, *(part.fingerprint for part in above)]
    name = fingerprint("hits", called, system=searcher.name, identity=identity)
    rests = freshness.by_kind(loaded.queries, lengths) | freshness.of_runs(above)
    costs = _costs(searcher, loaded)
    about = provenance.record(
        ["run", searcher.name, dataset.name],
        costs.values["index_seconds"] + costs.values["search_seconds"],
        identity=identity,
        checkpoints={},
        drop_self=dataset.drop_self,
        inputs=rests,
        index_seconds=costs.values["index_seconds"],
        search_seconds=costs.values["search_seconds"],
    )
    return recompute.publish_run(bench, loaded, searcher.name, run, DEPTH, name, about, costs)


def _costs(searcher: Searcher, loaded: Loaded) -> efficiency.Costs:
    """Made-up costs in the proportions of real ones."""
    documents = loaded.lengths.rows if loaded.lengths else 1
    random = np.random.default_rng(zlib.crc32(f"{searcher.name} {loaded.dataset.name}".encode()))
    spread = float(random.lognormal(0, 0.2))
    median = searcher.milliseconds * spread * (1 + documents / 1e6)
    seconds = loaded.queries.rows * median / 1000
    values = {
        "index_seconds": documents * searcher.bytes_per_document / 1e5 + 2,
        "index_bytes": documents * searcher.bytes_per_document,
        "search_seconds": seconds,
        "latency_p50_ms": median,
        "latency_p95_ms": 2.1 * median,
        "peak_memory_bytes": 4e8 + documents * searcher.bytes_per_document,
        "queries_per_second": loaded.queries.rows / seconds,
    }
    values["documents_per_second"] = documents / values["index_seconds"]
    return efficiency.Costs(values, {"indexes": {}, "load": 0.0})


def summary(store: Store) -> str:
    """How much of everything there is."""
    rows: dict[str, int] = {}
    for part in store.parts():
        rows[part.kind] = rows.get(part.kind, 0) + part.rows
    told = ", ".join(f"{rows[kind]:,} {kind}" for kind in sorted(rows))
    return f"{len(store.parts('hits')):,} runs, {told}, {size_of(store.home):,} bytes"


def size_of(folder: Path) -> int:
    """Bytes of all files of a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
