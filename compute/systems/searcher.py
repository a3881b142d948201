"""Interfaces of systems: a searcher of documents, or a combiner of other runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, runtime_checkable

from compute.base.errors import BeirscopeError, WrongInput
from compute.base.settings import Settings
from compute.systems import checkpoints

# These are imported only for types, since the catalogue of systems must not load pandas.
if TYPE_CHECKING:
    from pandas import DataFrame

Progress = Callable[[int, int, str], None]
"""Receives (done, total, unit) from time to time, such as (500, 3633, "documents")."""
Ask = Callable[[str, int], object]
"""A function that answers one query, from its text and the maximum number of hits. It serves to
measure latency; its result is not used."""
Span = tuple[int, int]
"""A span of documents by position in the file: the first, and the one after the last."""
AskWith = Callable[[str, Sequence["DataFrame"]], object]
"""The same from the query's text and its hits by input (query_id, doc_id, rank, score)."""


@dataclass(frozen=True)
class Request:
    """A request to a searcher or a combiner."""

    queries: DataFrame
    """query_id, text."""
    depth: int
    """Maximum number of hits per query."""
    settings: Settings
    progress: Progress

    @property
    def texts(self) -> list[str]:
        """Return the text of each query, empty if unknown."""
        return self.queries["text"].fillna("").tolist()


class Parametrised(Protocol):
    """A frozen dataclass with fields that a system name sets. Creating one loads nothing."""

    PARAMETERS: ClassVar[tuple[str, ...]]
    """The fields that a system name may set, in the order of the name."""
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def identity(self) -> dict[str, Any]:
        """Return everything besides its inputs that affects its results, as JSON values."""
        ...

    def check(self) -> None:
        """Raise Unavailable, which says what is missing, before any work is done."""
        ...


def lacks(needed: Parametrised) -> str:
    """Return what `check` finds missing here; empty if nothing is."""
    try:
        needed.check()
    except BeirscopeError as error:
        return str(error)
    return ""


class Searcher(Parametrised, Protocol):
    """A method that indexes documents and ranks them for queries. torch, faiss and Java start only
    inside `index` and `search`."""

    def index_identity(self) -> dict[str, Any]:
        """Return the part of the identity that determines the index; equal parts share an index."""
        ...

    def index(
        self, documents: Path, folder: Path, settings: Settings, progress: Progress
    ) -> dict[str, Any]:
        """Index a Parquet file (doc_id, title, text) into an existing folder; returns facts about
        the index. A folder left by an interrupted call may be passed again."""
        ...

    def search(self, folder: Path, request: Request) -> DataFrame:
        """Return at most `depth` hits for each query: query_id, doc_id, score."""
        ...


@runtime_checkable
class Combiner(Parametrised, Protocol):
    """A method that makes a run from the runs of other systems, which its name lists."""

    READS_DOCUMENTS: ClassVar[bool]
    """True if it reads texts, so that it needs the documents of the dataset."""

    def combine(
        self, inputs: Sequence[DataFrame], documents: Path | None, request: Request
    ) -> DataFrame:
        """Return hits of the queries, of which the first `depth` count: query_id, doc_id, score.
        `inputs` are canonical runs (query_id, doc_id, rank, score) in the order of the system's
        name; `documents` is a Parquet file (doc_id, title, text)."""
        ...


@runtime_checkable
class Divisible(Protocol):
    """Work that several workers can divide by documents, usually an index."""

    def piece_documents(self, settings: Settings) -> int:
        """Return the number of documents per piece under these settings; 0 means no division."""
        ...

    def piece_identity(self) -> dict[str, Any]:
        """Return a piece's identity; systems share equal pieces even if their indexes differ."""
        ...

    def make_piece(
        self, documents: Path, span: Span, folder: Path, settings: Settings, progress: Progress
    ) -> None:
        """Make the piece of these documents in an empty folder. A searcher's `index` uses the
        pieces in its own folder and makes the missing ones."""
        ...


@runtime_checkable
class Approximate(Protocol):
    """A searcher whose index may miss some of the best documents."""

    def recall(self, folder: Path, settings: Settings) -> float | None:
        """Return the mean share of the exact top 100 that it finds, over queries made from
        documents. It depends on the search as well as on the index. None if the search is exact, or
        if an earlier version made the index."""
        ...


@runtime_checkable
class Multilingual(Protocol):
    """A searcher that analyses texts in the language of the dataset."""

    def for_language(self, language: str) -> Searcher:
        """Return the searcher for this language (en, pl), which is part of its identity."""
        ...


@runtime_checkable
class Rewriting(Protocol):
    """A searcher that rewrites the given query."""

    def queries(self, queries: DataFrame, settings: Settings) -> DataFrame:
        """Return the terms of each of `queries`: query_id, piece, in_query, weight."""
        ...


@runtime_checkable
class TimedSearcher(Protocol):
    """A searcher whose latency can be measured: one query at a time, with everything loaded."""

    def session(self, folder: Path, settings: Settings) -> AbstractContextManager[Ask]:
        """Open a function that answers one query on the index in `folder`."""
        ...


@runtime_checkable
class TimedCombiner(Protocol):
    """A combiner whose own share of the latency can be measured."""

    def session(
        self, documents: Path | None, settings: Settings
    ) -> AbstractContextManager[AskWith]:
        """Open a function that answers one query."""
        ...


Method = Searcher | Combiner


AnyMethod = TypeVar("AnyMethod", bound=Parametrised)


_FIELDS = {"index": "index_kind"}
"""Parameters whose field has a different name; `index` is already a method of searchers."""


def values(method: Parametrised) -> dict[str, Any]:
    """Return the parameters of a method with their values, in the order of its name."""
    return {name: getattr(method, _FIELDS.get(name, name)) for name in method.PARAMETERS}


def with_values(method: AnyMethod, values: Mapping[str, Any]) -> AnyMethod:
    """Return the method with different parameters; `model` sets the checkpoint."""
    given = {_FIELDS.get(name, name): value for name, value in values.items()}
    if "model" in given:
        given["checkpoint"] = checkpoints.from_text(str(given.pop("model")))
    return replace(method, **given)


def in_language(method: Method, language: str) -> Method:
    """Return the method for a dataset in this language."""
    return method.for_language(language) if isinstance(method, Multilingual) else method


def no_hits() -> DataFrame:
    """Return an empty frame with query_id, doc_id and score."""
    # This is imported late, since the catalogue of systems must not load pandas.
    from pandas import DataFrame, Series

    kinds = {"query_id": "str", "doc_id": "str", "score": "float64"}
    return DataFrame({column: Series([], dtype=kind) for column, kind in kinds.items()})


def limited(default: Any, low: float, high: float = math.inf) -> Any:
    """Make a field of `Limited` with this default and values from `low` to `high`."""
    return field(default=default, metadata={"limits": (low, high)})


def one_of(*known: str) -> Any:
    """Make a field of `Limited` with these possible values, of which the first is the default."""
    return field(default=known[0], metadata={"known": known})


@dataclass(frozen=True)
class Limited:
    """A base of methods whose fields have limits. Raises WrongInput for a value outside them."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value, known = getattr(self, one.name), one.metadata.get("known")
            if known and value not in known:
                told = ", ".join(known)
                raise WrongInput(f"{one.name} is {value!r}; it must be one of: {told}")
            if limits := one.metadata.get("limits"):
                within(self, one.name, *limits)


def within(method: object, parameter: str, low: float, high: float = math.inf) -> None:
    """Raise WrongInput unless the parameter is between `low` and `high`."""
    value = getattr(method, parameter)
    if not low <= value <= high:
        must = f"be {low} or more" if high == math.inf else f"be from {low} to {high}"
        raise WrongInput(f"{parameter} is {value}; it must {must}")
