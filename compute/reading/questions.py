"""Questions: the inputs of a query's answer, declared with the query.

Most are about some datasets. Their answers stay valid when something is published for other
datasets, and need not be recomputed."""

import hashlib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.datasets.catalogue import DATASETS, Dataset
from compute.store import freshness
from compute.store.own_datasets import of_parts
from compute.store.store import Part

P = ParamSpec("P")
Query = TypeVar("Query", bound=Callable[..., DataFrame])
Shows = Literal["", "runs", "datasets", "tables in print"]

Rests = tuple[tuple[str, str], ...]
"""Datasets and collections, each with a digest of its parts."""


@dataclass(frozen=True)
class Question:
    """Declaration of a query: the inputs of its answer, and the source of its numbers."""

    datasets: tuple[str, ...] = ()
    """Parameters that name datasets."""
    collections: tuple[str, ...] = ()
    """Parameters that name collections."""
    systems: tuple[str, ...] = ()
    """Parameters that name the systems whose runs are behind the numbers."""
    shows: Shows = ""
    """Source of the numbers; empty if the answer only lists options of a picker."""
    confined: bool = True
    """True if it reads only parts of the named datasets, their parts and corpora, and added
    judgements that count. A question that names no dataset depends on everything."""
    whole: bool = False
    """True if it covers all queries, even if a page shows only one group."""

    @property
    def by_kind(self) -> bool:
        """Restrict its answer to the query group that a page shows. A query that names no dataset
        and shows no runs lists options for any group."""
        return not self.whole and bool(self.datasets or self.shows == "runs")


_DECLARED: dict[Callable[..., DataFrame], Question] = {}


def question(
    *,
    datasets: tuple[str, ...] = (),
    collections: tuple[str, ...] = (),
    systems: tuple[str, ...] = (),
    shows: Shows = "",
    confined: bool = True,
    whole: bool = False,
) -> Callable[[Query], Query]:
    """Declare a query, as in `Question`. Pages only read declared queries."""

    def declare(query: Query) -> Query:
        _DECLARED[query] = Question(datasets, collections, systems, shows, confined, whole)
        return query

    return declare


def select(
    **about: Any,
) -> Callable[[Callable[P, str]], Callable[Concatenate[DuckDBPyConnection, P], DataFrame]]:
    """Declare a query by a function of its SQL, which names the arguments that it reads (`$k`)."""

    def declare(
        sql: Callable[P, str],
    ) -> Callable[Concatenate[DuckDBPyConnection, P], DataFrame]:
        given = inspect.signature(sql)

        @question(**about)
        @wraps(sql)
        def query(cursor: DuckDBPyConnection, /, *args: P.args, **kwargs: P.kwargs) -> DataFrame:
            bound = given.bind(*args, **kwargs)
            bound.apply_defaults()
            text = sql(*args, **kwargs)
            read = {name: _value(bound.arguments[name]) for name in re.findall(r"\$(\w+)", text)}
            return cursor.execute(text, read or None).df()

        first = inspect.Parameter("cursor", inspect.Parameter.POSITIONAL_ONLY)
        signature = given.replace(parameters=[first, *given.parameters.values()])
        vars(query)["__signature__"] = signature
        return query

    return declare


def _value(given: Any) -> Any:
    """A value for DuckDB: several values as a list."""
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str) else given


def declared(query: Callable[..., DataFrame]) -> Question:
    """Declaration of a query. Raises KeyError if there is none."""
    return _DECLARED[query]


def named(params: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
    """Names in the parameters of these keys, one name or several each."""
    found: list[str] = []
    for key in keys:
        value = params.get(key) or ()
        found += [value] if isinstance(value, str) else list(value)
    return found


@dataclass(frozen=True)
class Holding:
    """Content of a version of the store, by dataset."""

    parts: Sequence[Part]
    """All parts, including stale ones."""
    digests: Mapping[str, str]
    """Digest of each dataset's part ids, which never change; stale parts do not count."""
    records: Mapping[str, Dataset]

    @classmethod
    def of(cls, parts: Iterable[Part]) -> "Holding":
        """Content of these live parts."""
        parts = list(parts)
        fresh, _ = freshness.split(parts)
        ids: dict[str, list[str]] = {}
        for part in fresh:
            ids.setdefault(part.dataset, []).append(part.id)
        digests = {
            name: hashlib.sha256(" ".join(of).encode()).hexdigest() for name, of in ids.items()
        }
        return cls(parts, digests, {**DATASETS, **of_parts(fresh)})

    def under(self, query: Callable[..., DataFrame], params: Mapping[str, Any]) -> Rests | None:
        """Key of the inputs of the answer, unchanged while they are; None stands for everything."""
        asked = declared(query)
        about = set(named(params, [*asked.datasets, *asked.collections]))
        if not asked.confined or not about:
            return None
        return tuple((name, self.digests.get(name, "")) for name in sorted(self._kin(about)))

    def _kin(self, names: set[str]) -> set[str]:
        """Datasets with their parts, and the collections of all these."""
        known = [self.records[name] for name in names if name in self.records]
        parts = {part for dataset in known for part in dataset.parts}
        if not parts <= names:
            return self._kin(names | parts)
        return names | {dataset.collection for dataset in known}
