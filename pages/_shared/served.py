"""What a run of a page reads, as the records of pages ask for it."""

from collections.abc import Sequence
from typing import Any

from pandas import DataFrame

from compute.store.store import Part
from compute.views.shared.query_slices import Kind
from pages._shared import export, reading


class Served:
    """`Ask` of the version that this run of a page shows."""

    def __call__(
        self, query: reading.Query, *, added: bool | None = None, **parameters: Any
    ) -> DataFrame:
        return reading.read(query, added=added, **parameters)

    @property
    def kind(self) -> Kind | None:
        return reading.kind()

    def only(self, kind: Kind) -> "Served":
        """The rest of the page, for one query group."""
        reading.only(kind)
        export.titled("queries", {kind.name: f"queries with {kind.title}"})
        return self

    def parts(self) -> Sequence[Part]:
        return reading.parts()

    def versions(self, datasets: Sequence[str] | None = None) -> Sequence[Part]:
        return reading.versions(datasets)

    def measures(self) -> list[str]:
        return reading.measures()
