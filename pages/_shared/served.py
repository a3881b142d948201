"""Data of a run of a page, for the records of pages."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from pandas import DataFrame

from compute.judgements import Choice
from compute.store.store import Part, Store
from compute.views.shared import query_slices
from compute.views.shared.query_slices import Kind
from pages._shared import page_run, reading


@dataclass(frozen=True)
class Served:
    """An `Ask` for the version that this run of a page shows."""

    picked: Sequence[str] = ()
    """Superseded versions treated like systems, besides those in the address."""
    all_queries: bool = False
    """True to read all queries even if the page has a query group."""

    def __call__(
        self, query: reading.Query, *, added: bool | None = None, **parameters: Any
    ) -> DataFrame:
        with self._having():
            return reading.read(query, added=added, **parameters)

    def later(self, query: reading.Query, **parameters: Any) -> Callable[[], DataFrame]:
        with self._having():
            return reading.later(query, **parameters)

    def _having(self) -> AbstractContextManager[None]:
        """Read, in a with-block, what this `Ask` is limited or extended to."""
        return page_run.having(picking=tuple(self.picked), kind=self.kind)

    @property
    def choice(self) -> Choice | None:
        return page_run.current().choice

    @property
    def counting(self) -> Choice:
        return page_run.current().added or Choice()

    @property
    def store(self) -> Store:
        return reading.store()

    @property
    def kind(self) -> Kind | None:
        return None if self.all_queries else page_run.current().kind

    def only(self, kind: Kind) -> "Served":
        """Return an `Ask` limited, like the rest of the page, to a query group. Groups follow
        official judgements, so added ones move no query to another group."""
        # Thus the provenance panel names the inputs of the group, such as a file of labels.
        reading.read(query_slices.of_kind, added=False, **kind._asdict())
        page_run.current().kind = kind
        return self

    def whole(self) -> "Served":
        return replace(self, all_queries=True)

    def with_versions(self, names: Sequence[str]) -> "Served":
        """Return the same version, treating these superseded versions of systems like systems."""
        return replace(self, picked=(*self.picked, *names))

    def parts(self) -> Sequence[Part]:
        return reading.parts()

    def versions(self, datasets: Sequence[str] | None = None) -> Sequence[Part]:
        return reading.versions(datasets)

    def measures(self) -> list[str]:
        return reading.measures()
