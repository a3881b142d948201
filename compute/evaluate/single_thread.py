"""Linear algebra on one thread.

Products of tall matrices with few columns, which resampling is made of, take several times longer
on all threads than on one: the threads mostly wait for each other.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@contextmanager
def on_one_thread() -> Iterator[None]:
    """NumPy's products stay on one thread, for the whole process."""
    with _controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _controller() -> ThreadpoolController:
    # Looking through all loaded libraries takes milliseconds.
    return ThreadpoolController()
