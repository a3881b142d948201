"""Whose page is drawn: few at a time, the others wait for their turn.

Threads of Python run one at a time; where dozens draw pages at once each takes many times as long
in all, and what is drawn for an annotator waits with them. A part of a page that is drawn by
itself, such as the form for judging, waits for no turn.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

AT_ONCE = (os.cpu_count() or 1) + 1
LONGEST = 60.0
"""Seconds after which nobody waits any longer: pages that compute for long hold up no others."""
_TURNS = threading.Semaphore(AT_ONCE)


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a turn, and have it while the body runs."""
    taken = _TURNS.acquire(timeout=LONGEST)
    try:
        yield
    finally:
        if taken:
            _TURNS.release()
