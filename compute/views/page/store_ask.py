"""The store as a page asks it, without a server."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pandas import DataFrame

from compute.evaluate import scored_measures
from compute.judgements import Choice
from compute.reading.database import open_version
from compute.reading.overlay import Overlays
from compute.reading.questions import declared
from compute.store import run_versions
from compute.store.store import Part, Store
from compute.views.shared import query_slices
from compute.views.shared.query_slices import Kind

_USUAL = Choice()


@dataclass(frozen=True)
class StoreAsk:
    """`Ask` of one version of a store; answers are not cached."""

    store: Store
    overlays: Overlays
    closes: ExitStack
    """What it has opened."""
    manifest: int
    judgement: int
    """Id of the newest added judgement that counts."""
    picked: tuple[str, ...] = ()
    """Versions of systems that are read like systems."""
    choice: Choice | None = None
    """None for official judgements only."""
    added: Choice = _USUAL
    """Added judgements that count where they are asked for, without a choice."""
    kind: Kind | None = None
    heard: Callable[[Callable[..., DataFrame], Mapping[str, Any], DataFrame], None] | None = None
    """Told of each answer, with its query and parameters."""

    def __call__(
        self, query: Callable[..., DataFrame], *, added: bool | None = None, **parameters: Any
    ) -> DataFrame:
        """Answer of a query declared by `@question`."""
        choice = self.choice if added is None else self.counting if added else None
        queries = None
        if self.kind and declared(query).by_kind:
            queries = self.whole()(query_slices.of_kind, added=False, **self.kind._asdict())
        with self.overlays.cursor(self.judgement, choice, queries) as cursor:
            answer = query(cursor, **parameters)
        if self.heard:
            self.heard(query, parameters, answer)
        return answer

    @property
    def counting(self) -> Choice:
        """Added judgements that count wherever added ones do."""
        return self.choice or self.added

    def later(self, query: Callable[..., DataFrame], **parameters: Any) -> Callable[[], DataFrame]:
        """The same, while the store is open."""
        return partial(self, query, **parameters)

    def only(self, kind: Kind) -> "StoreAsk":
        """The same store, read for one query group."""
        return replace(self, kind=kind)

    def whole(self) -> "StoreAsk":
        """The same store, read for all queries."""
        return replace(self, kind=None)

    def with_versions(self, names: Sequence[str]) -> "StoreAsk":
        """The same store, where these versions of systems are read like systems."""
        picked = (*self.picked, *names)
        opened = open_version(self.store, self.manifest, picked=picked)
        reading = self.closes.enter_context(closing(opened))
        return replace(self, overlays=Overlays(self.store, reading), picked=picked)

    def parts(self) -> Sequence[Part]:
        """Live parts of the version."""
        return self.store.parts(version=self.manifest, picked=self.picked)

    def versions(self, datasets: Sequence[str] | None = None) -> list[Part]:
        """Hits of superseded runs, oldest first, on all datasets or on these."""
        found = run_versions.stored(self.store, at=self.manifest)
        return [part for part in found if datasets is None or part.dataset in datasets]

    def measures(self) -> list[str]:
        """Measures that a control offers."""
        return scored_measures.offered(self.store.settings, self.parts())


@contextmanager
def opened(
    store: Store, picked: Sequence[str] = (), choice: Choice | None = None
) -> Iterator[StoreAsk]:
    """The newest version of a store; it is closed behind the with-block."""
    manifest, judgement, named = store.version(), store.judgement_version(), tuple(picked)
    with ExitStack() as closes:
        reading = closes.enter_context(closing(open_version(store, manifest, picked=named)))
        yield StoreAsk(store, Overlays(store, reading), closes, manifest, judgement, named, choice)
