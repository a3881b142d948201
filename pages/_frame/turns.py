"""Turns for drawing pages: a few are drawn at a time, while others wait. Python's threads run one
at a time, so if dozens draw pages at once, each takes many times as long, and so does the
assessors' form. A fragment that reruns by itself, such as that form, does not wait."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

AT_ONCE = (os.cpu_count() or 1) + 1
LONGEST = 60.0
"""Longest wait in seconds, so that slow pages do not block others."""
_TURNS = threading.Semaphore(AT_ONCE)


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a turn, and keep it for the with-block."""
    taken = _TURNS.acquire(timeout=LONGEST)
    try:
        yield
    finally:
        if taken:
            _TURNS.release()
