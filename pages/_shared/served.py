"""What a run of a page reads, as the records of pages ask for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pandas import DataFrame

from compute.store.store import Part
from compute.views.shared.query_slices import Kind
from pages._shared import export, reading


@dataclass(frozen=True)
class Served:
    """`Ask` of the version that this run of a page shows."""

    picked: Sequence[str] = ()
    """Versions of systems that are read like systems, besides those in the address."""

    def __call__(
        self, query: reading.Query, *, added: bool | None = None, **parameters: Any
    ) -> DataFrame:
        with reading.picking(self.picked):
            return reading.read(query, added=added, **parameters)

    @property
    def kind(self) -> Kind | None:
        return reading.kind()

    def only(self, kind: Kind) -> "Served":
        """The rest of the page, for one query group."""
        reading.only(kind)
        export.titled("queries", {kind.name: f"queries with {kind.title}"})
        return self

    def with_versions(self, names: Sequence[str]) -> "Served":
        """The same version, where these versions of systems are read like systems."""
        return Served((*self.picked, *names))

    def parts(self) -> Sequence[Part]:
        return reading.parts()

    def versions(self, datasets: Sequence[str] | None = None) -> Sequence[Part]:
        return reading.versions(datasets)

    def measures(self) -> list[str]:
        return reading.measures()
