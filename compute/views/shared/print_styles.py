"""Print style of a table: which of its columns are scores."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pandas import DataFrame


class Scores(NamedTuple):
    """Score columns of a table: the best of each is bold, the second underlined."""

    columns: Sequence[str]
    sign: int = 1
    """-1 if lower is better."""
    ranked: DataFrame | None = None
    """True for compared cells, in the shape of the rows; in-domain scores are not. None: all."""
    marked: Callable[[], DataFrame | None] | None = None
    """Called at export: true for significantly better cells. Same rows and columns."""
    note: str = ""
    """Meaning of MARK, if cells are marked."""
    apart: str = ""
    """Reason why some cells are not compared: they are in italics."""
    lower: Sequence[str] = ()
    """Columns for which lower is better, whatever `sign` is for the others."""
