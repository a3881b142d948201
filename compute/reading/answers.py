"""Answers to queries on a store, cached by their inputs."""

from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, NamedTuple

from pandas import DataFrame

from compute.base.bounded_cache import Kept, key
from compute.judgements import Choice
from compute.reading import inputs, stored_answers
from compute.reading.database import open_version
from compute.reading.inputs import Inputs
from compute.reading.overlay import Official, Overlays
from compute.reading.questions import Holding, declared
from compute.store import run_versions
from compute.store.store import Part, Store

Query = Callable[..., DataFrame]
Answer = tuple[DataFrame, Inputs]
Version = tuple[int, int]
"""Version of the manifest, and id of the last added judgement."""
Picked = tuple[str, ...]
"""Superseded runs (`run_versions`) that the user has picked; they are read like systems."""
KEPT_BYTES = 200_000_000
"""Maximum bytes of all cached answers; a single answer takes at most half of this."""
FRAME_BYTES = 20_000
"""Bytes of a frame in addition to its values."""
FEW = 16
"""A query about at most this many datasets (a forum's parts, for example) gets views of its own."""


class Scope(NamedTuple):
    """Which part of a version is read."""

    picked: Picked = ()
    kind: Any = None
    """The query group that is read, a NamedTuple; None for all queries."""


_ALL = Scope()


def _size(answer: Answer) -> int:
    return FRAME_BYTES + int(answer[0].memory_usage(deep=True).sum())


def _one(_: object) -> int:
    return 1


_KEPT = Kept[Answer](KEPT_BYTES, _size, KEPT_BYTES // 2)


def kept_bytes() -> int:
    """Bytes of the cached answers."""
    return _KEPT.held


class Answers:
    """A store with its open versions, and cached answers from them. Any thread may use it."""

    def __init__(
        self,
        store: Store,
        of_kind: Query,
        computing: Callable[[Query], AbstractContextManager[Any]] = nullcontext,
        *,
        stores: bool = False,
    ) -> None:
        """`of_kind` is a query for a group's queries; `computing` is entered around each query.
        `stores`: store slow answers in files, which all processes read."""
        self.store = store
        self._of_kind, self._computing = of_kind, computing
        self._named, self._stores = repr(store.settings), stores
        # Official results that all versions share, by dataset.
        self._official: dict[str, Official] = {}
        # Readings with picked runs are cached separately, so that they do not displace those that
        # everyone uses.
        self._usual, self._with_picked = Kept[Overlays](3, _one), Kept[Overlays](4, _one)
        self._holdings, self._versions = Kept[Holding](7, _one), Kept[list[Part]](3, _one)

    def overlays(self, manifest: int, picked: Picked = ()) -> Overlays:
        """Return an open version, in which the picked superseded runs are systems, too."""

        def opened() -> Overlays:
            reading = open_version(self.store, manifest, picked=picked)
            return Overlays(self.store, reading, None if picked else self._official)

        kept = self._with_picked if picked else self._usual
        return kept.of((manifest, self.store.noticed, picked), opened)

    def close(self) -> None:
        """Release the memory of open versions."""
        for kept in (self._usual, self._with_picked):
            for overlays in kept.values():
                overlays.reading.close()

    def holding(self, manifest: int, picked: Picked = ()) -> Holding:
        """Return what a version contains, by dataset."""
        asked = manifest, self.store.noticed, picked
        return self._holdings.of(
            asked, lambda: Holding.of(self.store.parts(version=manifest, picked=picked))
        )

    def narrow(self, manifest: int) -> None:
        """Create the views that queries about one dataset read, before they are asked."""
        overlays, holding = self.overlays(manifest), self.holding(manifest)
        for kin in map(holding.kin, holding.digests):
            if len(kin) <= FEW:
                overlays.narrow(kin)

    def versions(self, manifest: int) -> list[Part]:
        """Return the hits of superseded runs, oldest first."""
        asked = manifest, self.store.noticed
        return self._versions.of(asked, lambda: run_versions.stored(self.store, at=manifest))

    def read(
        self,
        version: Version,
        choice: Choice | None,
        query: Query,
        params: Mapping[str, Any],
        scope: Scope = _ALL,
    ) -> Answer:
        """Return `query(cursor, **params)` on a version, and the inputs of its numbers. The frame
        is the caller's own copy. `choice` says which added judgements count; None means only
        official ones. An answer stays cached until one of its inputs is replaced; without
        added judgements it may also come from a file."""
        # This number grows when a part is found damaged, which later reads leave out.
        noticed = self.store.noticed
        kind = scope.kind if declared(query).by_kind else None
        name = f"{query.__module__}.{query.__qualname__}"
        of = self._named, scope.picked, repr(choice), kind
        asked = *of, name, key(params)
        scope = Scope(scope.picked, kind)
        own = self._own(version, query, params, scope)
        rests = (version, noticed) if own is None else (own, version[1] if choice else 0)

        def make() -> Answer:
            compute = partial(self._computed, version, choice, query, params, scope)
            if own is None or choice:
                frame = compute()
            else:
                file = stored_answers.file(self.store.settings.home, *asked[1:], own)
                frame = stored_answers.of(file, compute, stores=self._stores)
            return frame, inputs.of(frame, declared(query), params)

        # Only the newest answer to a query is cached; otherwise each judgement would leave a copy
        # of all answers.
        frame, found = _KEPT.of(asked, make, rests)
        return frame.copy(deep=False), found

    def _computed(
        self,
        version: Version,
        choice: Choice | None,
        query: Query,
        params: Mapping[str, Any],
        scope: Scope,
    ) -> DataFrame:
        overlays, queries = self.overlays(version[0], scope.picked), None
        if scope.kind is not None:
            group = scope.kind._asdict()
            queries, _ = self.read(version, None, self._of_kind, group, Scope(scope.picked))
        about = self.holding(version[0], scope.picked).under(query, params) or ()
        datasets = [name for name, _ in about] if len(about) <= FEW else []
        asked = version[1], choice, queries, datasets
        with self._computing(query), overlays.cursor(*asked) as cursor:
            return query(cursor, **params)

    def _own(
        self, version: Version, query: Query, params: Mapping[str, Any], scope: Scope
    ) -> Hashable:
        """Return a key of the parts behind an answer, which is equal as long as these are the same;
        None if the answer depends on the whole version, as one about all datasets does."""
        holding = self.holding(version[0], scope.picked)
        own, kind = holding.under(query, params), scope.kind
        if own is None:
            return None
        return own, holding.under(self._of_kind, kind._asdict()) if kind else ()
