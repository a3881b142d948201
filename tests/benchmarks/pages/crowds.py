"""Several people at once, and pages beside a process that publishes."""

import itertools
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from pandas import DataFrame

from compute.base.result_identity import fingerprint
from compute.base.settings import PROJECT, Settings
from compute.datasets import DATASETS
from compute.evaluate import runs
from compute.reading import database
from compute.reading.database import open_version
from compute.recompute import run as recompute
from compute.store import provenance
from compute.store.loading import Bench, stored
from compute.store.store import Part, Store
from tests.benchmarks.pages.addresses import Address, Addresses
from tests.benchmarks.pages.addresses import tour as every_page
from tests.benchmarks.pages.sessions import Opening, Server, serving, session

HITS = 1_400_000
PUBLISHED = "made-up"
"""The system whose run is published again and again."""


def tour(home: Path, people: int, times: int) -> dict[str, Any]:
    """Everybody opens every page so often, in a session that stays; what the server holds then."""
    return _together(home, people, lambda source, seed: every_page(source, times))


def at_once(home: Path, people: int, views: int) -> dict[str, Any]:
    """So many sessions that open so many addresses each, all at once, on a server just started.

    The addresses are of pages drawn by lot, and nobody asked for them before.
    """

    def drawn(source: Addresses, seed: int) -> Iterable[Address]:
        return Random(seed).sample([*every_page(source, 1)], views)

    return _together(home, people, drawn)


def _together(
    home: Path, people: int, wanted: Callable[[Addresses, int], Iterable[Address]]
) -> dict[str, Any]:
    with serving(home) as server:
        of_person = [_addresses(home, seed, wanted) for seed in range(people)]
        with ThreadPoolExecutor(people) as pool:
            found = list(pool.map(lambda addresses: _opened(server, addresses), of_person))
        openings = [one for of_one in found for one in of_one]
        seconds = [one.seconds for one in openings]
        p50, p95 = np.percentile(seconds, [50, 95])
        return {
            "people": people,
            "openings": len(openings),
            "memory_MB": server.resident(),
            "peak_MB": server.peak(),
            "p50_s": float(p50),
            "p95_s": float(p95),
            "cpu_of_an_opening_s": server.cpu() / len(openings),
            "faults": sum(bool(one.fault) for one in openings),
        }


def _addresses(
    home: Path, seed: int, wanted: Callable[[Addresses, int], Iterable[Address]]
) -> list[Address]:
    store = Store(Settings(home=home))
    source = open_version(store)
    addresses = list(wanted(Addresses(store, source, seed), seed))
    source.close()
    store.close()
    return addresses


def _opened(server: Server, addresses: list[Address]) -> list[Opening]:
    with session(server) as person:
        return [person.open(address) for address in addresses]


def beside_publishing(home: Path, addresses: Mapping[str, list[Address]]) -> list[dict[str, Any]]:
    """By page its seconds alone, and while a run is published again and again.

    Both on a fresh server, warm, which then is asked for the same addresses for the first time:
    nothing but the publishing differs.
    """
    first, *rest = (list(of) for of in zip(*addresses.values(), strict=True))
    wanted = [address for of_round in rest for address in of_round]
    with copied(home) as copy, serving(copy) as server:
        _all(server, first)
        alone = _all(server, wanted)
    with copied(home) as copy, serving(copy) as server:
        _all(server, first)
        # As `import-run` and a worker publish.
        words = ["nice", sys.executable, "-m", "tests.benchmarks.pages.crowds", str(copy)]
        publisher = subprocess.Popen(words, cwd=PROJECT, stdin=subprocess.PIPE)
        try:
            beside = _all(server, wanted)
        finally:
            publisher.communicate()
    return [_compared(page, alone, beside) for page in addresses]


def _all(server: Server, addresses: list[Address]) -> list[Opening]:
    found = []
    for address in addresses:
        with session(server) as person:
            found.append(person.open(address))
    return found


def _compared(page: str, alone: list[Opening], beside: list[Opening]) -> dict[str, Any]:
    both = [[one.seconds for one in found if one.page == page] for found in (alone, beside)]
    (p50, p95), (p50_beside, p95_beside) = (np.percentile(found, [50, 95]) for found in both)
    return {
        "page": page,
        "alone_p50_ms": 1000 * float(p50),
        "alone_p95_ms": 1000 * float(p95),
        "beside_p50_ms": 1000 * float(p50_beside),
        "beside_p95_ms": 1000 * float(p95_beside),
        "ratio_p50": float(p50_beside / p50),
        "ratio_p95": float(p95_beside / p95),
    }


@contextmanager
def copied(home: Path) -> Iterator[Path]:
    """A home with the same content that may be written to: parts are links to the files."""
    with tempfile.TemporaryDirectory(dir=home.parent) as folder:
        copy = Path(folder) / "home"
        for file in home.glob("parts/*/*.parquet"):
            place = copy / file.relative_to(home)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(file.resolve())
        for name in ("state.sqlite", "home.json", "settings.toml"):
            if (home / name).exists():
                shutil.copy(home / name, copy / name)
        yield copy


def publish_on(home: Path) -> None:
    """Publish a run of 1.4 million hits again and again, until nobody holds the other end."""
    now = Settings(home=home)
    bench = Bench(Store(now), now)
    name = max(bench.store.parts("queries"), key=lambda part: part.rows).dataset
    loaded = stored(bench.store, DATASETS[name])
    assert loaded is not None
    hits = _hits(recompute.read(loaded.queries)["query_id"].tolist(), loaded.documents)
    depth = HITS // loaded.queries.rows
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    for number in itertools.count():
        start = time.perf_counter()
        run = runs.canonical(hits, depth=depth, drop_self=False)
        called = fingerprint("hits", [loaded.queries.fingerprint], number=number)
        about = provenance.record(["import-run", PUBLISHED], 0.0, drop_self=True)
        recompute.publish_run(bench, loaded, PUBLISHED, run, depth, called, about)
        database.write_database(bench.store)
        took = time.perf_counter() - start
        sys.stderr.write(f"{len(run.frame):,} hits published in {took:.1f} s\n")
        if ended.is_set():
            return


def _hits(query_ids: list[str], documents: Part | None) -> DataFrame:
    """query_id, doc_id, score: other documents for every query."""
    assert documents is not None
    names = pq.read_table(documents.path, columns=["doc_id"])["doc_id"].to_numpy()
    depth = HITS // len(query_ids)
    random = np.random.default_rng(1)
    first = random.integers(0, len(names), (len(query_ids), 1))
    places = (first + np.arange(depth)) % len(names)
    return DataFrame(
        {
            "query_id": np.repeat(query_ids, depth),
            "doc_id": names[places.ravel()],
            "score": random.gamma(2, 3, places.size),
        }
    )


if __name__ == "__main__":
    publish_on(Path(sys.argv[1]))
