"""The demo: four systems on the five PyDocs collections, in the background, its progress visible.

The queue of jobs will replace the lock file; the walk through the stations stays.
"""

import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from compute import recompute, systems
from compute.datasets import DATASETS
from compute.errors import BeirscopeError
from compute.locks import is_held, sole
from compute.settings import Settings
from compute.store import Store

SYSTEMS = ("bm25", "bm25-multifield", "bm25-rm3", "minilm")


@dataclass(frozen=True)
class State:
    """How far the demo is: `done` of `total` runs, what it does `now`, and what failed."""

    done: int = 0
    total: int = 0
    now: str = ""
    failed: tuple[str, ...] = ()
    finished: bool = False

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1."""
        return self.done / self.total if self.total else 0.0


def pairs() -> list[tuple[str, str]]:
    """(system, dataset) of every run, the quick systems first so that pages fill early."""
    datasets = sorted(name for name, row in DATASETS.items() if row.group == "PyDocs")
    return [(system, dataset) for system in SYSTEMS for dataset in datasets]


def run(store: Store, settings: Settings) -> State:
    """Run what is missing; a second demo at the same time does nothing and says so."""
    with sole(settings.home / "demo.lock") as held:
        if held is None:
            return read(settings)
        state = State(total=len(pairs()))
        for system, dataset in pairs():
            state = _step(store, settings, state, system, dataset)
        return _write(settings, state, now="", finished=True)


def _step(store: Store, settings: Settings, state: State, system: str, dataset: str) -> State:
    state = _write(settings, state, now=f"{system} on {dataset}")
    shown = 0.0

    def progress(done: int, total: int, unit: str) -> None:
        nonlocal shown
        if time.monotonic() - shown >= 0.5:
            shown = time.monotonic()
            _write(settings, state, now=f"{system} on {dataset}: {done:,} of {total:,} {unit}")

    bench = recompute.Bench(store, settings, progress)
    try:
        recompute.run(bench, systems.system(system), DATASETS[dataset])
    except BeirscopeError as error:
        return _write(settings, state, failed=(*state.failed, f"{system} on {dataset}: {error}"))
    return _write(settings, state, done=state.done + 1)


def _file(settings: Settings) -> Path:
    return settings.home / "demo.json"


def _write(settings: Settings, state: State, **changes: Any) -> State:
    state = replace(state, **changes)
    aside = _file(settings).with_suffix(f".{os.getpid()}.tmp")
    aside.write_text(json.dumps(asdict(state)), encoding="utf-8")
    aside.replace(_file(settings))
    return state


def read(settings: Settings) -> State:
    """The state last written; an empty one before the first demo."""
    try:
        values = json.loads(_file(settings).read_text("utf-8"))
    except FileNotFoundError:
        return State()
    return State(**(values | {"failed": tuple(values["failed"])}))


def running(settings: Settings) -> bool:
    """Whether a demo is at work now."""
    return is_held(settings.home / "demo.lock")
