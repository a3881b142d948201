"""The child process of a worker, which runs the heavy steps of one task, one after another. It
reads orders and writes answers, each as a line of JSON. It ends with its worker: by a signal of the
kernel on Linux, and everywhere because the pipe of orders closes."""

import ctypes
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict
from typing import Any, NoReturn, TextIO

from sqlalchemy.exc import InterfaceError, OperationalError

from compute.base import disk_refusals, settings
from compute.base.errors import BeirscopeError
from compute.base.printable import printable_lines
from compute.base.redaction import masked
from compute.corpora import lengths, overlap
from compute.datasets import Dataset
from compute.intake import machine_judging
from compute.jobs.kinds import KINDS
from compute.reading import database
from compute.recompute import pairs, run, shards, training
from compute.store import damage, loading
from compute.store.loading import Bench
from compute.store.own_datasets import dataset_of
from compute.store.store import Store
from compute.systems import system

SHOWN = 0.25
"""Seconds between two reports of progress."""
_DEATH_SIGNAL = 1
"""The value of PR_SET_PDEATHSIG for Linux's prctl."""

Order = Mapping[str, Any]
"""step, system (empty if the step needs none), dataset, options and job."""
Answer = Mapping[str, Any]
"""new: whether there was work to do. The step `load` adds `shards` to make before the next step."""


def _load(bench: Bench, order: Order) -> Answer:
    """Load the dataset; return the shards to make before the next step, if it can be divided."""
    on = _dataset(bench, order)
    before = loading.stored(bench.store, on)
    pair = _pair(bench, order) if order["system"] else None
    loaded = pair.loaded if pair else loading.load(bench, on)
    new = before is None or before.queries.id != loaded.queries.id
    again = order["options"]["again"]
    planned: list[shards.Shard] = []
    if pair is not None and not run.published(bench, pair, again=again):
        planned = shards.plan(bench, pair)
    elif "count" in KINDS[order["kind"]].steps and (again or not _counted(bench, order)):
        planned = shards.divided(bench, shards.of_counts(loaded))
    return {"new": new, "shards": [asdict(shard) for shard in planned]}


def _counted(bench: Bench, order: Order) -> bool:
    return overlap.current(bench.store, _dataset(bench, order).collection)


def _shard(bench: Bench, order: Order) -> bool:
    """Make one shard of an index or of word counts; return whether it was missing."""
    if order["system"]:
        work = shards.of_index(_pair(bench, order))
    else:
        work = shards.of_counts(loading.load(bench, _dataset(bench, order)))
    return shards.make(bench, work, shards.Shard(**order["shard"]))


def _index(bench: Bench, order: Order) -> bool:
    pair = _pair(bench, order)
    if run.published(bench, pair, again=order["options"]["again"]):
        return False
    return run.prepare(bench, pair)


def _search(bench: Bench, order: Order) -> bool:
    pair = _pair(bench, order)
    if run.published(bench, pair, again=order["options"]["again"]):
        return False
    return run.search(bench, pair)[1]


def _publish(bench: Bench, order: Order) -> bool:
    return run.publish(bench, _pair(bench, order), again=order["options"]["again"]).new


def _score(bench: Bench, order: Order) -> bool:
    """Rescore a stored run; return whether it was necessary."""
    # An imported run also has scores; its system need not be in the catalogue.
    on = _dataset(bench, order)
    hits = bench.store.part("hits", on.name, order["system"])
    damage.refuse(bench.store.parts("hits", on.name, order["system"]))
    if hits is None or hits.shipped:
        return False
    loaded = run.stored_dataset(bench.store, on)
    return run.score(bench, loaded, hits, again=order["options"]["again"]).new


def _count(bench: Bench, order: Order) -> bool:
    """Count the words of the dataset's corpus; return whether it was necessary."""
    loaded = run.stored_dataset(bench.store, _dataset(bench, order))
    again = order["options"]["again"]
    if not again and _counted(bench, order):
        return False
    with shards.counts(bench, loaded) as pieces:
        return overlap.count(bench, loaded, again=again, pieces=pieces)


def _compare(bench: Bench, order: Order) -> bool:
    collection = _dataset(bench, order).collection
    return overlap.compare(bench, [collection], again=order["options"]["again"])


def _lengths(bench: Bench, order: Order) -> bool:
    loaded = lengths.with_documents(bench, _dataset(bench, order))
    return lengths.count(bench, loaded, again=order["options"]["again"]) > 0


def _cluster(bench: Bench, order: Order) -> bool:
    # Imported here because most child processes cluster nothing.
    from compute.intake.clustering import cluster

    cluster(bench, _dataset(bench, order))
    return True


def _train(bench: Bench, order: Order) -> bool:
    row, again = system(order["system"]), order["options"]["again"]
    return training.train(bench, row, _dataset(bench, order), again=again).new


def _fetch(bench: Bench, order: Order) -> bool:
    # Imported here because most child processes need no network library.
    from compute.intake.fetch.fetching import fetch

    return fetch(bench, _dataset(bench, order), again=order["options"]["again"]).new


def _judge(bench: Bench, order: Order) -> bool:
    plan = machine_judging.of_record(order["options"]["judging"])
    return machine_judging.judge(bench, plan, again=order["options"]["again"]).new


def _tidy(bench: Bench, order: Order) -> bool:
    database.write_database(bench.store)
    bench.store.tidy()
    return True


STEPS: Mapping[str, Callable[[Bench, Order], bool | Answer]] = {
    "load": _load,
    # A step of the child task: it makes a shard of the index or the counts that the task needs.
    "shard": _shard,
    "index": _index,
    "search": _search,
    "publish": _publish,
    "score": _score,
    "count": _count,
    "compare": _compare,
    "lengths": _lengths,
    "cluster": _cluster,
    "train": _train,
    "fetch": _fetch,
    "judge": _judge,
    # The end of every job: it rewrites the database for notebooks and removes old parts.
    "tidy": _tidy,
}
"""Steps by name. Each step skips finished work, and returns whether there was any work to do."""


def _pair(bench: Bench, order: Order) -> pairs.Pair:
    drop = order["options"]["drop_equal_ids"]
    row = system(order["system"])
    return pairs.pair(bench, row, _dataset(bench, order), drop_equal_ids=drop)


def _dataset(bench: Bench, order: Order) -> Dataset:
    return dataset_of(bench.store, order["dataset"])


def sentence(error: Exception) -> str:
    """Return an error as a sentence with the next step; empty for a bug."""
    if isinstance(error, BeirscopeError):
        return str(error)
    if refused := disk_refusals.refusal(error, settings.load().home):
        return str(refused)
    if isinstance(error, OperationalError | InterfaceError):
        cause = str(error.orig).strip().splitlines()[0]
        return f"the state cannot be used ({cause}): check that its database runs, then retry"
    return ""


def _answer(now: settings.Settings, progress: loading.Progress, order: Order) -> dict[str, Any]:
    """Carry out an order; return the answer, or the error as a sentence."""
    try:
        with closing(Store(now)) as store:
            found = STEPS[order["step"]](Bench(store, now, progress, order["job"]), order)
        return {"new": found} if isinstance(found, bool) else dict(found)
    except Exception as error:
        known = sentence(error)
        if not known:
            sys.stderr.write(printable_lines(masked(traceback.format_exc())))
            sys.stderr.flush()
        return {"error": known or "a bug in Beirscope, not in your input: see the log"}


class _Reports:
    """Writes progress as lines of JSON, at most every SHOWN seconds."""

    def __init__(self, answers: TextIO) -> None:
        self._answers = answers
        self._last = (0.0, "")

    def __call__(self, done: int, total: int, unit: str) -> None:
        now = time.monotonic()
        if unit != self._last[1] or now - self._last[0] >= SHOWN or done == total:
            self._last = now, unit
            self.say({"progress": [done, total, unit]})

    def say(self, answer: Mapping[str, Any]) -> None:
        """Write one line."""
        self._answers.write(json.dumps(answer) + "\n")
        self._answers.flush()


def end_with_worker() -> None:
    """End this process when its parent ends (on Linux; elsewhere only the pipe does it)."""
    parent = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        _die()


def _die() -> NoReturn:
    os.killpg(0, signal.SIGKILL)
    raise SystemExit(1)


def _orders() -> "queue.Queue[dict[str, Any]]":
    """Return a queue of incoming orders. When they end, this process and its group end."""
    received: queue.Queue[dict[str, Any]] = queue.Queue()
    # The handle is private, since processes started by steps must not hold or read the orders.
    stream = os.fdopen(os.dup(0), encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def follow() -> None:
        for line in stream:
            received.put(json.loads(line))
        _die()

    threading.Thread(target=follow, daemon=True).start()
    return received


def _private_output() -> TextIO:
    """Return the stream for answers; what libraries print goes to the log instead."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _stop(*_: object) -> NoReturn:
    # An exception, so that all cleanup code runs.
    raise SystemExit(143)


def main() -> NoReturn:
    """Carry out orders until the worker ends."""
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_worker()
    reports = _Reports(_private_output())
    orders = _orders()
    now = settings.load()
    while True:
        reports.say(_answer(now, reports, orders.get()))


if __name__ == "__main__":
    main()
