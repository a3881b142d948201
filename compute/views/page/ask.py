"""Questions that a page may ask the store."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pandas import DataFrame

from compute.judgements import Choice
from compute.store.store import Part, Store
from compute.views.shared.query_slices import Kind


class Ask(Protocol):
    """A version of the store, read with one choice of judgements."""

    def __call__(
        self, query: Callable[..., DataFrame], *, added: bool | None = None, **parameters: Any
    ) -> DataFrame:
        """Answer of a query declared by `@question`; the frame is the caller's own copy.

        `added` chooses official + added or only official judgements, regardless of the picker.
        """
        ...

    def later(self, query: Callable[..., DataFrame], **parameters: Any) -> Callable[[], DataFrame]:
        """The same answer for a file, which is made after the page."""
        ...

    @property
    def choice(self) -> Choice | None:
        """Added judgements that count; None for official ones only."""
        ...

    @property
    def counting(self) -> Choice:
        """Added judgements to use whenever added ones count."""
        ...

    @property
    def store(self) -> Store:
        """The store itself, for judging tasks."""
        ...

    @property
    def kind(self) -> Kind | None:
        """Query group to read; None for all queries."""
        ...

    def only(self, kind: Kind) -> "Ask":
        """The same store, reading one query group."""
        ...

    def with_versions(self, names: Sequence[str]) -> "Ask":
        """The same store, treating these versions of systems like systems."""
        ...

    def whole(self) -> "Ask":
        """The same store, reading all queries."""
        ...

    def parts(self) -> Sequence[Part]:
        """Live parts of the version."""
        ...

    def versions(self, datasets: Sequence[str] | None = None) -> Sequence[Part]:
        """Hits of superseded runs, oldest first, on the given datasets or all."""
        ...

    def measures(self) -> list[str]:
        """Measures that a control offers."""
        ...
