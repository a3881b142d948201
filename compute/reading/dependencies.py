"""Scopes: what the answer to a query rests on.

Most queries are about some datasets. Their answers stay as they are when something is published
for others, and need not be found again then.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pandas import DataFrame

from compute.datasets.catalogue import DATASETS, Dataset
from compute.store import freshness
from compute.store.store import Part

Query = TypeVar("Query", bound=Callable[..., DataFrame])

Rests = tuple[tuple[str, str], ...]
"""Datasets and collections, each with a digest of its parts."""

_ABOUT_DATASETS: set[Callable[..., DataFrame]] = set()
_NAMING = ("dataset", "datasets", "collection", "collections")
"""Parameters of a query that name datasets."""


def about_datasets(query: Query) -> Query:
    """Mark a query that reads no parts but those of the datasets that its parameters name, of
    these datasets' parts, and of the collections of both; and no added judgements but what counts
    of them."""
    _ABOUT_DATASETS.add(query)
    return query


@dataclass(frozen=True)
class Holding:
    """What a version of the store holds of each dataset."""

    parts: Sequence[Part]
    """All of them, those that are out of date, too."""
    digests: Mapping[str, str]
    """By dataset, of the ids of its parts, which never change; those out of date do not count."""
    records: Mapping[str, Dataset]

    @classmethod
    def of(cls, parts: Iterable[Part]) -> "Holding":
        """What these live parts are."""
        parts = list(parts)
        fresh, _ = freshness.split(parts)
        ids: dict[str, list[str]] = {}
        for part in fresh:
            ids.setdefault(part.dataset, []).append(part.id)
        digests = {
            name: hashlib.sha256(" ".join(of).encode()).hexdigest() for name, of in ids.items()
        }
        own = [
            Dataset.from_record(part.provenance["dataset"])
            for part in fresh
            if part.kind == "queries" and part.dataset not in DATASETS
        ]
        return cls(parts, digests, {**DATASETS, **{dataset.name: dataset for dataset in own}})

    def under(self, query: Callable[..., DataFrame], params: Mapping[str, Any]) -> Rests | None:
        """What the answer rests on, equal while nothing of it is replaced; None for everything."""
        named = _named(params)
        if query not in _ABOUT_DATASETS or not named:
            return None
        return tuple((name, self.digests.get(name, "")) for name in sorted(self._kin(named)))

    def _kin(self, names: set[str]) -> set[str]:
        """Datasets with their parts, and the collections of all these."""
        known = [self.records[name] for name in names if name in self.records]
        parts = {part for dataset in known for part in dataset.parts}
        if not parts <= names:
            return self._kin(names | parts)
        return names | {dataset.collection for dataset in known}


def _named(params: Mapping[str, Any]) -> set[str]:
    """The datasets that parameters name."""
    found: set[str] = set()
    for key in _NAMING:
        value = params.get(key) or ()
        found |= {value} if isinstance(value, str) else set(value)
    return found
