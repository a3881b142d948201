"""Imports a run side by side with pandas and ir_measures; prints times, peak memory and ratios.

    python -m tests.benchmarks.importing [THOUSANDS OF QUERIES]      (default: 6.98)

A run of 1,000 hits a query. Ours is the whole import: read, check, rank, score, publish; the
others read the file alone. Each has a process of its own, so that peaks do not mix. The bar: 7
million lines in under 5 s on 2 cores, under 1 GB.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd

from compute import imports, measures, recompute
from compute.loading import Bench
from compute.settings import Settings
from compute.store import Store

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


def ours(folder: Path) -> str:
    """The whole import; how much of it scoring took."""
    now = Settings(home=folder / "home")
    bench = Bench(Store(now, shipped=folder / "none"), now)
    row = imports.import_dataset(bench, "made-up", qrels=folder / "qrels").dataset
    start = time.perf_counter()
    outcome = imports.import_run(bench, folder / "run", row)
    took = time.perf_counter() - start
    loaded = recompute.stored_dataset(bench.store, row)
    hits = recompute.read(outcome.hits)
    start = time.perf_counter()
    measures.evaluate(hits, recompute.read(loaded.judgements), depth=DEPTH)
    return f"{took:.2f} s, {time.perf_counter() - start:.2f} s of it scoring"


def by_pandas(folder: Path) -> str:
    start = time.perf_counter()
    kinds = {"query_id": "str", "doc_id": "str", "tag": "str"}
    pd.read_csv(folder / "run", sep=" ", names=COLUMNS, dtype=kinds)
    return f"{time.perf_counter() - start:.2f} s"


def by_ir_measures(folder: Path) -> str:
    start = time.perf_counter()
    pd.DataFrame(ir_measures.read_trec_run(str(folder / "run")))
    return f"{time.perf_counter() - start:.2f} s"


READERS: Mapping[str, Callable[[Path], str]] = {
    "ours": ours,
    "pandas.read_csv": by_pandas,
    "ir_measures.read_trec_run": by_ir_measures,
}


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def compare(queries: int) -> None:
    say(f"{queries * DEPTH:,} lines")
    base = 0.0
    with tempfile.TemporaryDirectory() as folder:
        made_up(queries, Path(folder))
        for name in READERS:
            words = [sys.executable, "-m", "tests.benchmarks.importing", "--one", name, folder]
            told = subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
            seconds = float(told.split()[0])
            base = base or seconds
            say(f"{name}: {told}; {seconds / base:.1f} times ours")


def main() -> None:
    """Compare, or be one of those compared."""
    if sys.argv[1:2] == ["--one"]:
        told = READERS[sys.argv[2]](Path(sys.argv[3]))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
            1 if sys.platform == "darwin" else 1024
        )
        say(f"{told}; peak {peak / 1e6:,.0f} MB")
        return
    compare(int(1000 * float(sys.argv[1] if len(sys.argv) > 1 else "6.98")))


if __name__ == "__main__":
    main()
