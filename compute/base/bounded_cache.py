"""A cache of computed values, limited by their size in bytes."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from functools import wraps
from pickle import PicklingError, dumps
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
Made = TypeVar("Made")
Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Cached values by key, least recently used first; safe to use from several threads."""

    def __init__(self, most: int, size: Callable[[Value], int], largest: int | None = None) -> None:
        """Cache at most `most` bytes, as measured by `size`, and no value larger than `largest`.
        Without `largest`, the newest value is always cached."""
        self._most, self._size, self._largest = most, size, largest
        self._values: OrderedDict[Hashable, tuple[Value, int, Hashable]] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._guard = threading.Lock()
        self._held = 0

    @property
    def held(self) -> int:
        """Bytes currently cached."""
        return self._held

    def values(self) -> list[Value]:
        """The cached values."""
        with self._guard:
            return [value for value, _, _ in self._values.values()]

    def of(self, key: Hashable, make: Callable[[], Value], state: Hashable = None) -> Value:
        """Return the value of a key in a state; call `make` if it is not cached. Concurrent callers
        wait for one computation. A key has only one value, its newest state's."""
        found = self._get(key, state)
        if found is None:
            with self._guard:
                making = self._making.setdefault(key, threading.Lock())
            with making:
                found = self._get(key, state)
                if found is None:
                    value = make()
                    found = value, self._size(value), state
                    self._put(key, found)
        return found[0]

    def _get(self, key: Hashable, state: Hashable) -> tuple[Value, int, Hashable] | None:
        with self._guard:
            found = self._values.get(key)
            if found is None or found[2] != state:
                return None
            self._values.move_to_end(key)
            return found

    def _put(self, key: Hashable, found: tuple[Value, int, Hashable]) -> None:
        """Cache a value unless it is too large; above the limit, drop the least recently used."""
        with self._guard:
            self._making.pop(key, None)
            self._held -= self._values.pop(key, (None, 0))[1]
            if self._largest is not None and found[1] > self._largest:
                return
            self._values[key] = found
            self._held += found[1]
            while self._held > self._most and len(self._values) > 1:
                self._held -= self._values.popitem(last=False)[1][1]


def key(value: Any) -> Hashable:
    """Return a hashable key for arguments, which may include lists and dictionaries. 1, 1.0 and
    True get different keys."""
    if isinstance(value, Mapping):
        return dict, tuple((name, key(item)) for name, item in sorted(value.items()))
    if isinstance(value, list | tuple):
        return type(value), tuple(map(key, value))
    return type(value), value


def remembered(function: Callable[P, Made]) -> Callable[P, Made]:
    """Cache a function's results by its arguments. Equal arguments get the same object, which
    callers must not change. Results for arguments that cannot be pickled are not cached."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> Made:
        try:
            content = dumps((args, kwargs), protocol=5)
        except (PicklingError, TypeError, AttributeError):
            return function(*args, **kwargs)
        asked = function, hashlib.sha256(content).digest()
        return _REMEMBERED.of(asked, lambda: (function(*args, **kwargs), len(content)))[0]

    return called


_MOST_REMEMBERED, _LARGEST_REMEMBERED = 18_000_000, 5_000_000
"""Limits for all cached results and for one result, in bytes of the pickled arguments. A figure
drawn from them takes about six times as many, with its JSON."""
_REMEMBERED: Kept[tuple[Any, int]] = Kept(
    _MOST_REMEMBERED, lambda made: made[1], _LARGEST_REMEMBERED
)
