"""Reads one run as TREC's lines, as CSV and as Parquet: processor seconds, one after the other.

    python -m tests.benchmarks.shapes [THOUSANDS OF QUERIES] [REPETITIONS]      (default: 7 3)

A run of 1,000 hits a query. Each reading has a process of its own; of several the quickest counts.
The bar: CSV and Parquet within 1.3 times the seconds of TREC's lines.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from compute.evaluate import runs
from tests.benchmarks.side_by_side import say

DEPTH, BAR = 1000, 1.3
COLUMNS = ["query_id", "doc_id", "rank", "score"]


def made_up(queries: int) -> pa.Table:
    """A run of so many queries, with ids like those of MS MARCO."""
    random, n = np.random.default_rng(seed=queries), queries * DEPTH
    names = np.repeat(random.choice(1_100_000, queries, replace=False), DEPTH)
    scores = np.sort(random.gamma(2, 3, (queries, DEPTH)), axis=1)[:, ::-1].ravel()
    columns = [names, random.integers(8_800_000, size=n), np.tile(np.arange(DEPTH) + 1, queries)]
    texts = [pa.array(column).cast(pa.string()) for column in columns[:2]]
    return pa.table([*texts, pa.array(columns[2]), pa.array(scores.round(6))], COLUMNS)


def written(table: pa.Table, folder: Path) -> list[Path]:
    files = [folder / name for name in ("run.trec", "run.csv", "run.parquet")]
    n = len(table)
    trec = pa.table(
        [
            table["query_id"],
            pa.array(["Q0"] * n),
            table["doc_id"],
            table["rank"],
            table["score"],
            pa.array(["made"] * n),
        ],
        names=list("abcdef"),
    )
    bare = pyarrow.csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    pyarrow.csv.write_csv(trec, files[0], bare)
    plain = pyarrow.csv.WriteOptions(quoting_style="none", quoting_header="none")
    pyarrow.csv.write_csv(table, files[1], plain)
    pq.write_table(table, files[2])
    return files


def read(file: Path) -> float:
    """Processor seconds of a reading, in this process."""
    before = os.times()
    _, table = runs.read(file, any_tag=True)
    after = os.times()
    assert table.num_rows
    return after.user + after.system - before.user - before.system


def compare(queries: int, repetitions: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = written(made_up(queries), Path(folder))
        took = {file.suffix: float("inf") for file in files}
        for _ in range(repetitions):
            for file in files:
                command = [sys.executable, "-m", "tests.benchmarks.shapes", "--one", str(file)]
                told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                took[file.suffix] = min(took[file.suffix], float(told))
    for name, seconds in took.items():
        ratio = seconds / took[".trec"]
        met = "" if name == ".trec" else "reached" if ratio <= BAR else "MISSED"
        say(f"{name}: {queries * DEPTH:,} rows, {seconds:.2f} s of processors, {ratio:.2f} {met}")


def main() -> None:
    """Compare, or be one of those compared."""
    if sys.argv[1:2] == ["--one"]:
        say(str(read(Path(sys.argv[2]))))
        return
    given = [*sys.argv[1:], "7", "3"][:2] if len(sys.argv) < 3 else sys.argv[1:3]
    compare(int(1000 * float(given[0])), int(given[1]))


if __name__ == "__main__":
    main()
