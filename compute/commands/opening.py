"""Helpers for all commands: open the store, find named datasets, report damage."""

import sys
from collections.abc import Iterable

from compute.base import printable, settings
from compute.datasets import Dataset, dataset
from compute.store import damage
from compute.store.loading import Bench, quiet
from compute.store.own_datasets import own_datasets
from compute.store.store import Store


def open_bench() -> Bench:
    """Open this home's store, showing a progress bar if stderr is a terminal."""
    now = settings.load()
    return Bench(Store(now), now, printable.Bar() if sys.stderr.isatty() else quiet)


def open_whole() -> Bench:
    """The store for commands that only read, after a check for files damaged while being copied
    here. Each file is checked once; files from a bucket were verified on download."""
    bench = open_bench()
    if not bench.store.bucket:
        damage.verify(bench.store)
    return bench


def end_bar(bench: Bench) -> None:
    """Remove the progress bar before anything else is written."""
    if isinstance(bench.progress, printable.Bar):
        bench.progress.close()


def say(bench: Bench, *lines: str) -> None:
    """Print lines where the progress bar was."""
    end_bar(bench)
    printable.say(*lines)
    sys.stdout.flush()


def named(bench: Bench, names: Iterable[str]) -> list[Dataset]:
    """Return the named datasets, each replaced by its parts if it has any. Raises Missing."""
    found = own_datasets(bench.store)
    rows = [dataset(name, found) for name in names]
    return [dataset(part, found) for row in rows for part in row.parts or (row.name,)]
