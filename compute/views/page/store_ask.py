"""The store as pages query it without a server."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pandas import DataFrame

from compute.evaluate import scored_measures
from compute.judgements import Choice
from compute.reading.answers import Answers, Scope
from compute.reading.inputs import Inputs
from compute.reading.overlay import Overlays
from compute.store import run_versions
from compute.store.store import Part, Store
from compute.views.shared import query_slices
from compute.views.shared.query_slices import Kind

_USUAL = Choice()


@dataclass(frozen=True)
class StoreAsk:
    """An `Ask` for one version of a store."""

    answers: Answers
    manifest: int
    judgement: int
    """Id of the newest added judgement that counts."""
    choice: Choice | None = None
    """The added judgements that count; None if only official ones do."""
    added: Choice = _USUAL
    """The added judgements to use on request if `choice` is None."""
    picked: tuple[str, ...] = ()
    """Superseded versions of systems that are treated like systems."""
    kind: Kind | None = None
    heard: Callable[[Callable[..., DataFrame], Inputs], None] | None = None
    """Called with each query and the inputs of its answer."""

    def __call__(
        self, query: Callable[..., DataFrame], *, added: bool | None = None, **parameters: Any
    ) -> DataFrame:
        """Return the answer of a query declared by `@question`."""
        choice = self.choice if added is None else self.counting if added else None
        version, scope = (self.manifest, self.judgement), Scope(self.picked, self.kind)
        frame, found = self.answers.read(version, choice, query, parameters, scope)
        if self.heard:
            self.heard(query, found)
        return frame

    @property
    def store(self) -> Store:
        """The store itself, for judging tasks."""
        return self.answers.store

    @property
    def overlays(self) -> Overlays:
        """The version itself, with its overlays of added judgements."""
        return self.answers.overlays(self.manifest, self.picked)

    @property
    def counting(self) -> Choice:
        """The added judgements to use where they count regardless of the choice."""
        return self.choice or self.added

    def later(self, query: Callable[..., DataFrame], **parameters: Any) -> Callable[[], DataFrame]:
        """Return a function that asks the same query later, while the store is open."""
        return partial(self, query, **parameters)

    def only(self, kind: Kind) -> "StoreAsk":
        """Return the same store, reading only one query group."""
        found = replace(self, kind=kind)
        # This tells `heard` the inputs of the group, such as a file of labels.
        self(query_slices.of_kind, added=False, **kind._asdict())
        return found

    def whole(self) -> "StoreAsk":
        """Return the same store, reading all queries."""
        return replace(self, kind=None)

    def with_versions(self, names: Sequence[str]) -> "StoreAsk":
        """Return the same store, treating these superseded versions of systems like systems."""
        return replace(self, picked=tuple(dict.fromkeys([*self.picked, *names])))

    def parts(self) -> Sequence[Part]:
        """Return the live parts of the version."""
        return self.answers.holding(self.manifest, self.picked).parts

    def versions(self, datasets: Sequence[str] | None = None) -> list[Part]:
        """Return the hits of superseded runs, oldest first, on the given datasets or on all."""
        found = self.answers.versions(self.manifest)
        return [part for part in found if datasets is None or part.dataset in datasets]

    def measures(self) -> list[str]:
        """Return the measures that a control offers."""
        return scored_measures.offered(self.answers.store.settings, self.parts())


@contextmanager
def opened(
    store: Store,
    named: Sequence[str] = (),
    choice: Choice | None = None,
    *,
    stores: bool = False,
) -> Iterator[StoreAsk]:
    """Open the newest version of a store for a with-block; versions in `named` are treated like
    systems. `stores`: store slow answers in files."""
    manifest, judgement = store.version(), store.judgement_version()
    with closing(Answers(store, query_slices.of_kind, stores=stores)) as answers:
        picked = tuple(run_versions.named(answers.versions(manifest), named))
        yield StoreAsk(answers, manifest, judgement, choice, picked=picked)
