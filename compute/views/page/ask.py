"""The questions that a page may put to the store."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pandas import DataFrame

from compute.judgements import Choice
from compute.store.store import Part, Store
from compute.views.shared.query_slices import Kind


class Ask(Protocol):
    """One version of the store, read with one choice of judgements."""

    def __call__(
        self, query: Callable[..., DataFrame], *, added: bool | None = None, **parameters: Any
    ) -> DataFrame:
        """Answer of a query declared by `@question`; the frame is the caller's own copy.

        With `added` the judgements are official + added, or official, whatever is chosen.
        """
        ...

    def later(self, query: Callable[..., DataFrame], **parameters: Any) -> Callable[[], DataFrame]:
        """The same for a file, which is made after the page."""
        ...

    @property
    def choice(self) -> Choice | None:
        """Added judgements that count; None for official ones only."""
        ...

    @property
    def counting(self) -> Choice:
        """Added judgements that count wherever added ones do."""
        ...

    @property
    def store(self) -> Store:
        """The store itself, for judging tasks."""
        ...

    @property
    def kind(self) -> Kind | None:
        """Query group that is read; None for all queries."""
        ...

    def only(self, kind: Kind) -> "Ask":
        """The same store, read for one query group."""
        ...

    def with_versions(self, names: Sequence[str]) -> "Ask":
        """The same store, where these versions of systems are read like systems."""
        ...

    def whole(self) -> "Ask":
        """The same store, read for all queries."""
        ...

    def parts(self) -> Sequence[Part]:
        """Live parts of the version."""
        ...

    def versions(self, datasets: Sequence[str] | None = None) -> Sequence[Part]:
        """Hits of superseded runs, oldest first, on all datasets or on these."""
        ...

    def measures(self) -> list[str]:
        """Measures that a control offers."""
        ...
