"""Turns for drawing pages: a few at a time, while others wait. Python's threads run one at a time;
if dozens draw pages at once, each takes many times as long, and the assessors' form waits with
them. A fragment that is drawn by itself, such as the judging form, does not wait."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

AT_ONCE = (os.cpu_count() or 1) + 1
LONGEST = 60.0
"""Seconds after which waiting ends, so that slow pages do not block others."""
_TURNS = threading.Semaphore(AT_ONCE)


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a turn, and keep it while the body runs."""
    taken = _TURNS.acquire(timeout=LONGEST)
    try:
        yield
    finally:
        if taken:
            _TURNS.release()
