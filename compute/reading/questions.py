"""Declarations of queries: which inputs an answer depends on. Most queries are about some datasets;
their answers stay valid when something is published for other datasets."""

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
    """The declaration of a query: the inputs of its answer, and the source of its numbers."""

    datasets: tuple[str, ...] = ()
    """Names of parameters that name datasets."""
    collections: tuple[str, ...] = ()
    """Names of parameters that name collections."""
    systems: tuple[str, ...] = ()
    """Names of parameters that name the systems whose runs are behind the numbers."""
    shows: Shows = ""
    """The source of the numbers; empty if the answer only lists the options of a picker."""
    confined: bool = True
    """Whether it reads only parts of the named datasets, their parts and corpora, and added
    judgements that count. A query that names no dataset depends on everything."""
    whole: bool = False
    """Whether it covers all queries even if a page shows only one query group."""

    @property
    def by_kind(self) -> bool:
        """Whether its answer is restricted to the query group that a page shows. A query that names
        no dataset and shows no runs lists options for any group."""
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
    """Declare a query, with the fields of `Question`. Pages read only declared queries."""

    def declare(query: Query) -> Query:
        _DECLARED[query] = Question(datasets, collections, systems, shows, confined, whole)
        return query

    return declare


def select(
    **about: Any,
) -> Callable[[Callable[P, str]], Callable[Concatenate[DuckDBPyConnection, P], DataFrame]]:
    """Declare a query by a function that returns its SQL. The SQL names the arguments that it
    binds, such as `$k`."""

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
    """Return a value as DuckDB takes it: several values become a list."""
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str) else given


def declared(query: Callable[..., DataFrame]) -> Question:
    """Return the declaration of a query. Raises KeyError if there is none."""
    return _DECLARED[query]


def named(params: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
    """Return the names in these parameters, each of which has one name or several."""
    found: list[str] = []
    for key in keys:
        value = params.get(key) or ()
        found += [value] if isinstance(value, str) else list(value)
    return found


@dataclass(frozen=True)
class Holding:
    """The content of a version of the store, by dataset."""

    parts: Sequence[Part]
    """All parts, including stale ones."""
    digests: Mapping[str, str]
    """A digest of each dataset's part ids, since parts never change; stale ones do not count."""
    records: Mapping[str, Dataset]

    @classmethod
    def of(cls, parts: Iterable[Part]) -> "Holding":
        """Return the content of these live parts."""
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
        """Return a key of an answer's inputs, which is equal as long as they are unchanged; None if
        the answer depends on everything."""
        asked = declared(query)
        about = set(named(params, [*asked.datasets, *asked.collections]))
        if not asked.confined or not about:
            return None
        return tuple((name, self.digests.get(name, "")) for name in sorted(self.kin(*about)))

    def kin(self, *names: str) -> set[str]:
        """Return the datasets, their parts, and the collections of all of them."""
        known = [self.records[name] for name in names if name in self.records]
        parts = {part for dataset in known for part in dataset.parts}
        if not parts <= {*names}:
            return self.kin(*{*names, *parts})
        return {*names} | {dataset.collection for dataset in known}
