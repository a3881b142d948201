"""The interface through which a page reads the store."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pandas import DataFrame

from compute.judgements import Choice
from compute.store.store import Part, Store
from compute.views.shared.query_slices import Kind


class Ask(Protocol):
    """One version of the store, read with one choice of judgements. Pages have
    `pages._shared.served.Served`, everything else `compute.views.page.store_ask`."""

    def __call__(
        self, query: Callable[..., DataFrame], *, added: bool | None = None, **parameters: Any
    ) -> DataFrame:
        """Return the answer of a query declared by `@question`, as the caller's own copy. `added`
        overrides the picker: true for official + added judgements, false for only official ones."""
        ...

    def later(self, query: Callable[..., DataFrame], **parameters: Any) -> Callable[[], DataFrame]:
        """Return a function that gives the same answer later, when a file is exported."""
        ...

    @property
    def choice(self) -> Choice | None:
        """The added judgements that count; None if only official ones do."""
        ...

    @property
    def counting(self) -> Choice:
        """The added judgements to use where they count regardless of the picker."""
        ...

    @property
    def store(self) -> Store:
        """The store itself, for judging tasks."""
        ...

    @property
    def kind(self) -> Kind | None:
        """The query group to read; None for all queries."""
        ...

    def only(self, kind: Kind) -> "Ask":
        """Return the same store, reading only one query group."""
        ...

    def with_versions(self, names: Sequence[str]) -> "Ask":
        """Return the same store, treating these superseded versions of systems like systems."""
        ...

    def whole(self) -> "Ask":
        """Return the same store, reading all queries."""
        ...

    def parts(self) -> Sequence[Part]:
        """Return the live parts of the version."""
        ...

    def versions(self, datasets: Sequence[str] | None = None) -> Sequence[Part]:
        """Return the hits of superseded runs, oldest first, on the given datasets or on all."""
        ...

    def measures(self) -> list[str]:
        """Return the measures that a control offers."""
        ...
