"""Homes with the tiny collection and runs on it; its texts and a name of a system are hostile."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compute.base.settings import Settings
from compute.datasets import Dataset
from compute.intake import imports
from compute.store.loading import Bench
from compute.store.store import Store
from tests.support import copied_homes
from tests.support.tiny import write_tiny

HOSTILE = "<b>*mine*&$x$"
RUNS = {
    "plain": "q1 Q0 d1 1 3.0 t\nq1 Q0 d4 2 2.0 t\nq2 Q0 d3 1 1.0 t\nq3 Q0 d6 1 1.0 t\n",
    HOSTILE: "q1 Q0 d4 1 3.0 t\nq1 Q0 d1 2 2.0 t\nq2 Q0 d2 1 1.0 t\n",
}
FOUND = {"a": range(9), "b": range(3), "c": (9, 10, 11), "d": (8, 11)}
"""By system the queries, of twelve, on which it ranks the relevant document first: a and b differ
on six, always for a, which is p = 2 / 2^6 alone."""


def bench(folder: Path) -> Bench:
    """A new home in a folder, into which nothing ships."""
    now = Settings(home=folder / "home", threads=1, latency_queries=0)
    return Bench(Store(now, shipped=folder / "nothing"), now)


def take(
    bench: Bench, runs: Mapping[str, str] = RUNS, name: str = "tiny", **options: Any
) -> Dataset:
    """Take in the tiny collection by a name, and runs on it."""
    source = write_tiny(bench.settings.home.parent / name)
    taken = imports.import_dataset(bench, name, path=source, **options).dataset
    add(bench, taken, runs)
    return taken


def add(bench: Bench, to: Dataset, runs: Mapping[str, str], **options: Any) -> None:
    """Import runs on a dataset: by system their lines."""
    file = bench.settings.home.parent / "some.run"
    for system, lines in runs.items():
        file.write_text(lines, encoding="utf-8")
        imports.import_run(bench, file, to, system=system, **options)


def take_twelve(bench: Bench) -> None:
    """Take in `own`: judgements for twelve queries, and the four systems of `FOUND`."""
    qrels = bench.settings.home.parent / "qrels"
    qrels.write_text("".join(f"q{q} 0 d{q} 1\n" for q in range(12)), encoding="utf-8")
    hits = {
        system: "".join(f"q{q} Q0 {f'd{q}' if q in found else 'x'} 1 1 t\n" for q in range(12))
        for system, found in FOUND.items()
    }
    add(bench, imports.import_dataset(bench, "own", qrels=qrels).dataset, hits)


def having(folder: Path, runs: Mapping[str, str] = RUNS) -> Bench:
    """A home in a folder that has the tiny collection and runs on it: made once, then copied."""
    key = ("tiny", *runs.items())
    copied_homes.copied(key, folder / "home", lambda made, _: take(made, runs))
    return bench(folder)


def home() -> Path:
    """The home with both runs on `tiny`, made once in each process, for tests that only look."""
    return copied_homes.made("two runs", lambda made, _: take(made)).home
