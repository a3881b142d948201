"""Imports a run side by side with pandas and ir_measures; prints times, peak memory and ratios.

    python -m tests.benchmarks.importing [THOUSANDS OF QUERIES]      (default: 6.98)

A run of 1,000 hits a query. Ours is the whole import: read, check, rank, score, publish; the
others read the file alone. Each has a process of its own, so that peaks do not mix. The bar: 7
million lines in under 3 s on 2 cores, under 600 MB.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd

from compute.base.settings import Settings
from compute.intake import imports
from compute.store.loading import Bench
from compute.store.store import Store
from tests.benchmarks.side_by_side import Row, peak, quicker, say, show
from tests.benchmarks.side_by_side import seconds as words

DEPTH = 1000
COLUMNS = ["query_id", "Q0", "doc_id", "rank", "score", "tag"]


def made_up(queries: int, folder: Path) -> None:
    """Writes a run and qrels of so many queries, with ids like those of MS MARCO."""
    random = np.random.default_rng(seed=queries)
    names = random.permutation(random.choice(1_100_000, queries, replace=False))
    with (folder / "run").open("w") as run, (folder / "qrels").open("w") as qrels:
        for name in names:
            docs = random.choice(8_800_000, DEPTH, replace=False)
            scores = np.sort(random.gamma(2, 3, DEPTH))[::-1]
            for rank, (doc, score) in enumerate(zip(docs, scores, strict=True), 1):
                run.write(f"{name} Q0 {doc} {rank} {score:.6f} anserini\n")
            qrels.write(f"{name} 0 {docs[random.integers(DEPTH)]} 1\n")


def ours(folder: Path) -> float:
    """The whole import."""
    now = Settings(home=folder / "home")
    bench = Bench(Store(now, shipped=folder / "none"), now)
    row = imports.import_dataset(bench, "made-up", qrels=folder / "qrels").dataset
    start = time.perf_counter()
    imports.import_run(bench, folder / "run", row)
    return time.perf_counter() - start


def by_pandas(folder: Path) -> float:
    start = time.perf_counter()
    kinds = {"query_id": "str", "doc_id": "str", "tag": "str"}
    pd.read_csv(folder / "run", sep=" ", names=COLUMNS, dtype=kinds)
    return time.perf_counter() - start


def by_ir_measures(folder: Path) -> float:
    start = time.perf_counter()
    pd.DataFrame(ir_measures.read_trec_run(str(folder / "run")))
    return time.perf_counter() - start


READERS: Mapping[str, Callable[[Path], float]] = {
    "ours": ours,
    "pandas.read_csv": by_pandas,
    "ir_measures.read_trec_run": by_ir_measures,
}


def compare(queries: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made_up(queries, Path(folder))
        took, most = alone("ours", folder)
        for name in list(READERS)[1:]:
            theirs, their_most = alone(name, folder)
            show(
                Row(
                    work=f"import a run of {queries * DEPTH:,} lines: read, check, rank, score,"
                    " publish",
                    bar="under 3 s, under 600 MB",
                    ours=f"{words(took)}, {most:,} MB",
                    peer=f"{name} {words(theirs)}, {their_most:,} MB (reads the file alone)",
                    ratio=quicker(theirs, took),
                    met=took < 3 and most < 600,
                )
            )


def alone(name: str, folder: str) -> tuple[float, int]:
    """Seconds, and the peak memory in MB, of a reader in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.importing", "--one", name, folder]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return tuple(json.loads(told))


def main() -> None:
    """Compare, or be one of those compared."""
    if sys.argv[1:2] == ["--one"]:
        say(json.dumps([READERS[sys.argv[2]](Path(sys.argv[3])), peak()]))
        return
    compare(int(1000 * float(sys.argv[1] if len(sys.argv) > 1 else "6.98")))
    say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
