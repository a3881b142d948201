"""Homes that many tests begin with: made once in each process, and copied for each test."""

import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from compute.base.settings import Settings
from compute.datasets import Dataset
from compute.intake import imports
from compute.store.loading import Bench
from compute.store.store import Store
from tests.support.tiny import write_tiny


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
    return copied("tiny", home, _take_tiny)


def _take_tiny(bench: Bench, folder: Path) -> Dataset:
    return imports.import_dataset(bench, "tiny", path=write_tiny(folder / "tiny")).dataset
