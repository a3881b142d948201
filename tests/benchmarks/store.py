"""How long a page waits for the store: `python -m tests.benchmarks.store [RUNS]`.

A made-up store of 285 runs (19 datasets x 15 systems), 1,000 queries each, 13 measures, the top 10
of each query; hits are left out, since opening a version never reads them.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from compute.base.settings import Settings
from compute.evaluate.measures import MEASURES
from compute.reading.database import open_version, write_database
from compute.store.store import Store

QUERIES = 1_000
SYSTEMS = 15
REPEATS = 5


def fill(store: Store, runs: int) -> None:
    """Publish made-up runs, each in a transaction of its own."""
    random = np.random.default_rng(1)
    queries = [f"query-{number}" for number in range(QUERIES)]
    for number in range(runs):
        scores = pd.DataFrame(
            {
                "query_id": np.repeat(queries, len(MEASURES)),
                "measure": np.tile(MEASURES, QUERIES),
                "value": random.random(QUERIES * len(MEASURES)),
            }
        )
        documents = random.integers(0, 1_000_000, 10 * QUERIES).astype(str)
        top = pd.DataFrame(
            {
                "query_id": np.repeat(queries, 10),
                "doc_id": documents,
                "rank": np.tile(np.arange(1, 11, dtype="int32"), QUERIES),
                "score": np.tile(np.linspace(9, 1, 10), QUERIES),
            }
        )
        with store.publishing("benchmark") as publication:
            for kind, content in (("scores", scores), ("top", top)):
                publication.add(
                    kind,
                    content,
                    dataset=f"dataset-{number // SYSTEMS}",
                    system=f"system-{number % SYSTEMS}",
                    fingerprint=f"{kind}-{number}",
                    provenance={"command": "python -m tests.benchmarks.store"},
                )


def report(what: str, work: Callable[[], object], repeats: int = REPEATS) -> None:
    """Print the median and the longest of some repeats, in milliseconds."""
    took = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        took.append(1000 * (time.perf_counter() - start))
    sys.stdout.write(f"{what:42}{np.median(took):10.1f} ms{max(took):10.1f} ms\n")


def main(runs: int) -> None:
    """Fill a store and time what a page, a step and the end of a job do with it."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Settings(home=Path(folder)), Path(folder) / "none")
        start = time.perf_counter()
        fill(store, runs)
        each = 1000 * (time.perf_counter() - start) / runs
        sys.stdout.write(f"{'publish a run (scores and top)':42}{each:10.1f} ms a run\n")
        sys.stdout.write(f"{'':42}{'median':>13}{'longest':>13}\n")
        report("version of the manifest", store.version, 200)
        report(
            "one part through the manifest", lambda: store.part("top", "dataset-3", "system-3"), 200
        )
        report("all parts of the manifest", store.parts)
        report("open a version, means and all", lambda: open_version(store).close())
        reading = open_version(store)
        part = reading.parts["scores", "dataset-3", "system-3"].path
        mean = "select measure, value from means where dataset = 'dataset-3' order by all"
        one = "select measure, avg(value) from scores where dataset = ? and system = ? group by 1"
        report("means of a dataset", lambda: reading.cursor().execute(mean).df(), 50)
        report(
            "one run by a filter over the view",
            lambda: reading.cursor().execute(one, ["dataset-3", "system-3"]).df(),
        )
        report(
            "one run by its path",
            lambda: reading.cursor().read_parquet(str(part)).aggregate("avg(value)").df(),
            50,
        )
        report("write beirscope.duckdb", lambda: write_database(store))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 285)
