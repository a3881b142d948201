"""What every family of systems offers: a searcher."""

from collections.abc import Callable
from dataclasses import Field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from pandas import DataFrame, Series

from compute.settings import Settings

Progress = Callable[[int, int, str], None]
"""Told (done, total, unit) now and then, such as (500, 3633, "documents")."""


class Searcher(Protocol):
    """A frozen dataclass that indexes documents and ranks them for queries.

    Building one loads nothing heavy: torch, faiss and Java start inside `index` and `search`.
    """

    PARAMETERS: ClassVar[tuple[str, ...]]
    """The fields that a system name may set, in the order in which it writes them."""
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def identity(self) -> dict[str, Any]:
        """Everything that changes the hits, as JSON values: parameters, weights, analyser."""
        ...

    def index_identity(self) -> dict[str, Any]:
        """The part of the identity that the index depends on: systems that agree share one."""
        ...

    def check(self) -> None:
        """Raises Unavailable, saying what is missing, before any work is done."""
        ...

    def index(
        self, documents: Path, folder: Path, settings: Settings, progress: Progress
    ) -> dict[str, Any]:
        """Index a Parquet file (doc_id, title, text) into an existing folder; facts about it.

        A folder left behind by an interrupted call may be given again.
        """
        ...

    def search(
        self,
        folder: Path,
        queries: DataFrame,
        depth: int,
        settings: Settings,
        progress: Progress,
    ) -> DataFrame:
        """query_id, doc_id, score: at most `depth` hits for each of `queries` (query_id, text)."""
        ...


def no_hits() -> DataFrame:
    """query_id, doc_id, score without a row."""
    kinds = {"query_id": "str", "doc_id": "str", "score": "float64"}
    return DataFrame({column: Series([], dtype=kind) for column, kind in kinds.items()})
