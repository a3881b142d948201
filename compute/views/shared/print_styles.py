"""How a table is printed: which of its columns are scores, and which are written otherwise."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pandas import DataFrame

Printed = Mapping[str, Callable[[Any], str]]
"""Columns that Markdown and LaTeX write otherwise than other numbers, and how."""


class Scores(NamedTuple):
    """What of a table are scores: of each column the best is bold, the second underlined."""

    columns: Sequence[str]
    sign: int = 1
    """-1 where less is better."""
    ranked: DataFrame | None = None
    """The same rows and columns: whether a cell takes part; in-domain scores do not. None: all."""
    marked: Callable[[], DataFrame | None] | None = None
    """Asked for when it is written: the same rows and columns; whether a cell is significantly
    better."""
    note: str = ""
    """What MARK means, where cells are marked."""
    lower: Sequence[str] = ()
    """Columns where less is better, whatever `sign` says of the others."""
