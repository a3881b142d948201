"""Opening the newest version of a store before a page requests it."""

import atexit
import logging
import math
import sys
import time
from collections.abc import Callable
from threading import Event, Thread
from typing import Protocol

from compute.judgements import Choice
from compute.reading import length_counts, score_arrays, top_ranks
from compute.reading.answers import Answers, Version
from compute.store.state import Outgrown

log = logging.getLogger(__name__)
PAUSE, PATIENCE = 0.25, 5.0
"""Seconds between checks for a new version, and how long a page waits for one to open."""
FIRST, LAST = 3.0, 20.0
"""Seconds for which a process first only serves its first page, and for which it waits, at its end,
for a version that is still being opened."""
BREATH, PART_PACE = 1.0, 0.25
"""Seconds, for each open page but one, between two requests to all pages to check whether they are
out of date; and, for each part of a page that follows judgements, between two redraws of these
parts. Both therefore take only a share of a processor."""
CALM, LONGEST = 5.0, 120.0
"""A page with a part that follows judgements is redrawn once there was no new judgement for CALM
seconds, or LONGEST seconds after it was last drawn."""
PART, PAGE = "part", "page"
OUTGROWN = (
    "a newer Beirscope has migrated this store: stop this server, update it and restart it;"
    " answers kept in browsers are then saved"
)


class Pages(Protocol):
    """The open pages, which are notified when something is new."""

    def number(self, kind: str) -> int:
        """Return the number of open pages that have a part of this kind."""
        ...

    def wake(self, kind: str) -> None:
        """Redraw these parts."""
        ...


class Ahead:
    """Opens each new version, counts the added judgements in it, and notifies the pages."""

    def __init__(self, answers: Callable[[], Answers], pages: Pages) -> None:
        self._answers, self._pages = answers, pages
        self.version = 0
        """The newest version that is open; 0 if none is."""
        self.beat = -math.inf
        """Time of the last check."""
        self.judgement, self.judged = 0, -math.inf
        """The newest judgement, and the time when it was noticed."""
        self.outgrown = False
        """True once a newer Beirscope has migrated the store."""
        self._counted = self._narrowed = 0
        self._opened = math.inf
        """When the newest version was opened."""
        self._woken, self._waking = 0, -math.inf
        self._told: Version = (0, 0)
        self._telling = -math.inf
        self._failed = ""

    def current(self) -> Version:
        """Return the version that a page shows now; a new version is shown once it is open."""
        store = self._answers().store
        waits = time.monotonic() - self.beat < PATIENCE
        return self.version if waits else store.version(), store.judgement_version()

    def await_published(self) -> None:
        """Wait until what this process has published is shown."""
        while self.current()[0] < self._answers().store.version():
            time.sleep(PAUSE / 5)

    def is_outdated(self, shown: Version | None, begun: float, *, follows: bool) -> bool:
        """Return whether a page that has shown this version since `begun` is out of date. New
        judgements may wait for a while if many pages are open or part of it `follows` them."""
        current = self.current()
        if shown is None or shown[0] != current[0]:
            return True
        return shown != current and not self._may_wait(current[1], begun, follows=follows)

    def _may_wait(self, judgement: int, begun: float, *, follows: bool) -> bool:
        """Return whether a page need not be redrawn yet for new judgements."""
        now = time.monotonic()
        calm = judgement == self.judgement and now > self.judged + CALM
        return now < begun + self._breath() or (follows and not calm and now < begun + LONGEST)

    def _breath(self) -> float:
        return BREATH * max(1, self._pages.number(PAGE) - 1)

    def prepare(self) -> None:
        """Open the newest version, and list its parts by dataset."""
        answers = self._answers()
        manifest = answers.store.version()
        answers.overlays(manifest)
        answers.holding(manifest)

    def stay(self) -> Thread:
        """Start a thread that opens every version before a page requests it, and return it."""
        ending = Event()
        thread = Thread(target=self._stay, args=[ending], daemon=True)
        thread.start()

        def end() -> None:
            # A process that ends while a thread runs code of a C++ library may be aborted.
            ending.set()
            thread.join(LAST)

        atexit.register(end)
        return thread

    def _stay(self, ending: Event) -> None:
        """Open new versions and tell the pages, until the process ends."""
        begun = math.inf
        while True:
            try:
                self._look_for_newer()
                self.open_newest()
                self.tell_judged()
                self._tell_pages()
                self.beat, self._failed = time.monotonic(), ""
                begun = min(begun, self.beat)
                if self.beat - begun > FIRST:
                    self._count_in()
                    self._narrow()
            except Exception as error:
                self._note(error)
            if ending.wait(PAUSE):
                return

    def _note(self, error: Exception) -> None:
        """Log a failure once; pages also report it."""
        if self._failed != (failed := f"{type(error).__name__}: {error}"):
            log.warning(
                "the newest version could not be opened in advance: %s", failed, exc_info=error
            )
        self._failed = failed

    def _look_for_newer(self) -> None:
        """Notice, once, that a newer Beirscope has migrated the store."""
        if self.outgrown:
            return
        try:
            self.outgrown = self._answers().store.outgrown()
        except Outgrown:
            self.outgrown = True
        if self.outgrown:
            sys.stderr.write(f"{OUTGROWN}\n")

    def open_newest(self) -> None:
        """Open the newest version, and prepare what most readers need."""
        answers = self._answers()
        manifest = answers.store.version()
        if manifest == self.version:
            return
        self.prepare()
        with answers.overlays(manifest).cursor(answers.store.judgement_version()) as opened:
            for kept in (score_arrays, top_ranks, length_counts):
                kept.prepare(opened)
        if self.version:
            self._count_in(manifest)
        self.version, self._opened = manifest, time.monotonic()

    def _narrow(self) -> None:
        """Create the views of each dataset, once a version has been the newest for a while."""
        if self._narrowed != self.version and time.monotonic() > self._opened + FIRST:
            self._answers().narrow(self.version)
            self._narrowed = self.version

    def _count_in(self, manifest: int | None = None) -> None:
        """Count the added judgements in a version, before it is read."""
        manifest = manifest or self.version
        if manifest == self._counted:
            return
        answers = self._answers()
        judgement = answers.store.judgement_version()
        with answers.overlays(manifest).cursor(judgement, Choice()):
            self._counted = manifest

    def tell_judged(self) -> None:
        """After a new judgement, redraw the parts that follow judgements, which then score it;
        `_tell_pages` tells the pages, in the background."""
        newest, now = self._answers().store.judgement_version(), time.monotonic()
        if newest != self.judgement:
            self.judgement, self.judged = newest, now
        pause = PART_PACE * self._pages.number(PART)
        if newest != self._woken and now > self._waking + pause:
            self._woken, self._waking = newest, now
            self._pages.wake(PART)

    def _tell_pages(self) -> None:
        """Let every page check whether it is out of date, if something is new."""
        new, now = (self.version, self.judgement), time.monotonic()
        if new != self._told and now > self._telling + self._breath():
            self._told, self._telling = new, now
            self._pages.wake(PAGE)
