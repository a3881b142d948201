"""Styles of a printed table: which of its columns are scores."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pandas import DataFrame


class Scores(NamedTuple):
    """Score columns of a table: the best of each is bold, the second best underlined."""

    columns: Sequence[str]
    sign: int = 1
    """-1 if lower is better."""
    ranked: DataFrame | None = None
    """True for compared (not in-domain) cells, in the shape of the rows; None compares all."""
    marked: Callable[[], DataFrame | None] | None = None
    """Function called at export: true for significantly better cells, in the shape of the rows."""
    note: str = ""
    """Meaning of MARK, if cells are marked."""
    apart: str = ""
    """Reason why some cells, shown in italics, are not compared."""
    lower: Sequence[str] = ()
    """Columns for which lower is better, regardless of `sign`."""
