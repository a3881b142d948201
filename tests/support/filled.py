"""Homes with the tiny collection and runs on it; its texts and a name of a system are hostile.

Those that many tests begin with are made once in each process, and copied for each test.
"""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from compute import systems
from compute.base.settings import Settings
from compute.datasets import Dataset
from compute.intake import imports
from compute.recompute import run
from compute.store.loading import Bench
from compute.store.store import Store
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


def take_twelve(bench: Bench, name: str = "own") -> None:
    """Take in `own`: judgements for twelve queries, and the four systems of `FOUND`."""
    qrels = bench.settings.home.parent / "qrels"
    qrels.write_text("".join(f"q{q} 0 d{q} 1\n" for q in range(12)), encoding="utf-8")
    hits = {
        system: "".join(f"q{q} Q0 {f'd{q}' if q in found else 'x'} 1 1 t\n" for q in range(12))
        for system, found in FOUND.items()
    }
    add(bench, imports.import_dataset(bench, name, qrels=qrels).dataset, hits)


def having(folder: Path, runs: Mapping[str, str] = RUNS) -> Bench:
    """A home in a folder that has the tiny collection and runs on it: made once, then copied."""
    key = ("tiny", *runs.items())
    copied(key, folder / "home", lambda made, _: take(made, runs))
    return bench(folder)


def searched(folder: Path) -> Bench:
    """A home in a folder that has the tiny collection and runs of two systems that searched it."""

    def make(made: Bench, _: Path) -> Dataset:
        taken = take(made, {})
        for name in ("bm25", "bm25-multifield"):
            run.run(made, systems.system(name), taken)
        return taken

    copied("searched", folder / "home", make)
    return bench(folder)


def home() -> Path:
    """The home with both runs on `tiny`, made once in each process, for tests that only look."""
    return made("two runs", lambda made, _: take(made)).home


class Made(NamedTuple):
    """A home, and a dataset in it."""

    home: Path
    dataset: Dataset


_MADE: dict[object, Made] = {}


@cache
def _folder() -> TemporaryDirectory[str]:
    """Where they lie until the process ends."""
    return tempfile.TemporaryDirectory(prefix="beirscope-homes-")


def copied(what: object, home: Path, make: Callable[[Bench, Path], Dataset]) -> Dataset:
    """Let a home, which is not there yet, be as `make` makes it; the dataset that is in it.

    It is called once for each `what`, with an empty home and a folder for files. The copy has its
    state in SQLite, wherever the first one was made.
    """
    found = made(what, make)
    shutil.copytree(found.home, home)
    return found.dataset


def made(what: object, make: Callable[[Bench, Path], Dataset]) -> Made:
    """The home itself, for tests that only look at it."""
    if what not in _MADE:
        folder = Path(_folder().name) / str(len(_MADE))
        settings = Settings(home=folder / "home", threads=1, latency_queries=0)
        store = Store(settings, shipped=folder / "nothing")
        _MADE[what] = Made(settings.home, make(Bench(store, settings), folder))
        store.close()
    return _MADE[what]


def tiny(home: Path) -> Dataset:
    """Let a home have the tiny collection."""
    return copied("tiny", home, lambda made, _: take(made, {}))


def withdraw(store: Store, judgement: int, source: str) -> int:
    """Append the withdrawal of an added judgement; the id of the new row."""
    found = store.added_judgements(judgement - 1).query("id == @judgement")
    fresh = dict.fromkeys(("relevance", "entry", "time", "imported", "takes_back"))
    return store.add_judgements(found.assign(**fresh, source=source))
