"""How a table is printed: which of its columns are scores."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pandas import DataFrame


class Scores(NamedTuple):
    """Score columns of a table: the best of each is bold, the second underlined."""

    columns: Sequence[str]
    sign: int = 1
    """-1 where less is better."""
    ranked: DataFrame | None = None
    """The same rows and columns: whether a cell takes part; in-domain scores do not. None: all."""
    marked: Callable[[], DataFrame | None] | None = None
    """Asked for when it is written: the same rows and columns; whether a cell is significantly
    better."""
    note: str = ""
    """Meaning of MARK, where cells are marked."""
    apart: str = ""
    """Why some take no part: they are in italics."""
    lower: Sequence[str] = ()
    """Columns where less is better, whatever `sign` says of the others."""
