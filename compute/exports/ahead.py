"""`python -m compute.exports.ahead`: compute slow answers of pages before anybody asks. The
dashboard runs this at the lowest priority for each version that has been the newest for a while.
Answers are stored in files (`stored_answers`), which all processes of a home share."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache, partial

from compute.base import settings
from compute.base.errors import BeirscopeError
from compute.base.locks import sole
from compute.base.settings import PROJECT, Settings
from compute.exports.pages import PAGES
from compute.reading import stored_answers
from compute.store.store import Store
from compute.views.page import Ask, Choice, control, prepare
from compute.views.page.store_ask import opened

VARIED = (
    ("leaderboard", ("measure", "view", "numbers")),
    ("holes", ("dataset", "measure")),
    ("dataset", ("dataset", "measure")),
    ("compare", ("dataset", "measure")),
    ("dataset", ("dataset", "show")),
    ("lengths", ("dataset", "k")),
    ("map", ("dataset", "system")),
    ("overlap", ("view", "unit")),
)
"""Pages, and the controls whose values are combined; others keep their defaults."""
PAUSE, CALM = 1.0, 5.0
"""Seconds between two looks for a new version, and for which it must have been the newest."""
LONGEST = 900.0
"""Seconds of a processor for one version."""


def addresses(ask: Ask) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the pages in VARIED with the values of their controls, usual values first."""
    found, options = [], cache(partial(_options, ask))
    for page, keys in VARIED:
        ways: list[tuple[int, dict[str, str]]] = [(0, {})]
        for key in keys:
            ways = [
                (unusual + (place > 0), named | ({key: value} if value else {}))
                for unusual, named in ways
                for place, value in enumerate(options(page, key, named.get("dataset", "")))
            ]
        found += [(unusual, page, named) for unusual, named in ways]
    for _, page, named in sorted(found, key=lambda one: one[0]):
        yield page, named


def _options(ask: Ask, page: str, key: str, dataset: str) -> list[str]:
    """Return the values of a control for a dataset (or the usual one if it is empty), usual values
    first; an empty value if the page lacks the control."""
    if key == "dataset":
        runs = [part.dataset for part in ask.parts() if part.kind == "hits"]
        return list(dict.fromkeys(runs)) or [""]
    if key == "measure":
        return ask.measures()
    with contextlib.suppress(BeirscopeError):
        found = control(PAGES[page], ask, key, **({"dataset": dataset} if dataset else {}))
        if isinstance(found, Choice):
            return list(dict.fromkeys([found.value(None), *found.options]))
    return [""]


def main() -> None:
    """Compute all answers about the newest version, unless another process is doing or has done
    so."""
    os.nice(19)
    now = settings.load()
    # A home that is read-only cannot store answers.
    with (
        contextlib.suppress(OSError, BeirscopeError),
        sole(now.home / "locks" / "ahead.lock") as held,
    ):
        if held is not None:
            _answer(now)


def _answer(now: Settings) -> None:
    # The dashboard tells its number, since it may end while this process still imports.
    store, parent = Store(now), int((*sys.argv[1:], os.getppid())[0])
    done = stored_answers.file(now.home, "all pages", store.version())
    if done.exists():
        return
    with opened(store, stores=True) as ask:
        for page, named in addresses(ask):
            # Without the dashboard that started it, nobody waits for the answers.
            if time.process_time() > LONGEST or os.getppid() != parent:
                return
            # Some combinations do not exist; a page shows that.
            with contextlib.suppress(BeirscopeError):
                prepare(PAGES[page], ask, **named)
    stored_answers.trim(now.home)
    done.touch()


def beside(now: Settings, version: Callable[[], int]) -> None:
    """Run `main` in a process of its own for each new version, until this process ends. `version`
    returns the newest version that is open."""
    done = newest = -1  # a home that only has shipped results is at version 0
    since = time.monotonic()
    while True:
        time.sleep(PAUSE)
        if newest != (newest := version()):
            since = time.monotonic()
        if newest != done and time.monotonic() > since + CALM:
            done = newest
            _run(now, lambda of=newest: version() == of)


def _run(now: Settings, wanted: Callable[[], bool]) -> None:
    """Run `main` in a process until it ends or is no longer wanted."""
    words = [sys.executable, "-m", "compute.exports.ahead", str(os.getpid())]
    env = {**os.environ, "BEIRSCOPE_HOME": str(now.home)}
    nowhere = subprocess.DEVNULL
    with contextlib.suppress(OSError):
        child = subprocess.Popen(words, cwd=PROJECT, env=env, stdout=nowhere, stderr=nowhere)
        while child.poll() is None and wanted():
            time.sleep(PAUSE)
        child.terminate()
        child.wait()


if __name__ == "__main__":
    main()
