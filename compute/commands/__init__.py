"""What the commands do: each takes its parsed arguments and returns the exit status."""

from collections.abc import Callable
from importlib import import_module
from typing import Any


def named(function: str) -> Callable[..., Any]:
    """A function of a module here, by both names: `gate.gate`, `show.stored.show`.

    The module is imported now, not with the table that names it: no command waits for the libraries
    of another.
    """
    module, _, name = function.rpartition(".")
    return getattr(import_module(f"{__name__}.{module}"), name)
