"""Styles of a printed table: how its columns of scores are marked."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pandas import DataFrame


class Scores(NamedTuple):
    """Score columns of a table: the best value of each is bold, the second best underlined."""

    columns: Sequence[str]
    sign: int = 1
    """-1 if lower is better."""
    ranked: DataFrame | None = None
    """Frame of the rows' shape, true for cells to compare (not in-domain); None compares all."""
    marked: Callable[[], DataFrame | None] | None = None
    """Called at export; returns a frame of the rows' shape, true for significantly better cells."""
    note: str = ""
    """Meaning of MARK, if cells are marked."""
    apart: str = ""
    """Reason why the cells in italics are not compared."""
    lower: Sequence[str] = ()
    """Columns for which lower is better, regardless of `sign`."""
