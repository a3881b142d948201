"""Interface of a system family: a searcher of documents, or a combiner of other runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, runtime_checkable

from compute.base.errors import WrongInput
from compute.base.settings import Settings
from compute.systems import checkpoints

# Only for types: the catalogue of systems loads no pandas.
if TYPE_CHECKING:
    from pandas import DataFrame

Progress = Callable[[int, int, str], None]
"""Receives (done, total, unit) from time to time, such as (500, 3633, "documents")."""
Ask = Callable[[str, int], object]
"""Answer one query: its text, and the maximum number of hits. For timing; the result is not
used."""
Span = tuple[int, int]
"""Documents by position in the file: the first, and the one after the last."""
AskWith = Callable[[str, Sequence["DataFrame"]], object]
"""The same from the hits of each input for the query (query_id, doc_id, rank, score)."""


@dataclass(frozen=True)
class Request:
    """Request to a searcher or a combiner."""

    queries: DataFrame
    """query_id, text."""
    depth: int
    """Number of hits per query."""
    settings: Settings
    progress: Progress

    @property
    def texts(self) -> list[str]:
        """The text of each query, empty if unknown."""
        return self.queries["text"].fillna("").tolist()


class Parametrised(Protocol):
    """A frozen dataclass with fields that a system name sets. Creating one loads nothing."""

    PARAMETERS: ClassVar[tuple[str, ...]]
    """The fields that a system name may set, in the order of the name."""
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def identity(self) -> dict[str, Any]:
        """Everything besides its inputs that affects its results, as JSON values."""
        ...

    def check(self) -> None:
        """Raise Unavailable, saying what is missing, before any work is done."""
        ...


class Searcher(Parametrised, Protocol):
    """Method that indexes documents and ranks them for queries.

    torch, faiss and Java start inside `index` and `search`.
    """

    def index_identity(self) -> dict[str, Any]:
        """The part of the identity that determines the index: equal parts share an index."""
        ...

    def index(
        self, documents: Path, folder: Path, settings: Settings, progress: Progress
    ) -> dict[str, Any]:
        """Index a Parquet file (doc_id, title, text) into an existing folder; returns facts about
        the index. A folder left by an interrupted call may be passed again."""
        ...

    def search(self, folder: Path, request: Request) -> DataFrame:
        """query_id, doc_id, score: at most `depth` hits for each query."""
        ...


@runtime_checkable
class Combiner(Parametrised, Protocol):
    """Method that makes a run from the runs of other systems, which its name lists."""

    READS_DOCUMENTS: ClassVar[bool]
    """True if it reads texts; otherwise it also works on datasets without documents."""

    def combine(
        self, inputs: Sequence[DataFrame], documents: Path | None, request: Request
    ) -> DataFrame:
        """query_id, doc_id, score: hits of the queries, of which the first `depth` count.

        `inputs` are canonical runs (query_id, doc_id, rank, score) in the order of the system's
        name; `documents` is Parquet (doc_id, title, text).
        """
        ...


@runtime_checkable
class Divisible(Protocol):
    """Work that several workers can divide by documents: usually an index."""

    def piece_documents(self, settings: Settings) -> int:
        """Number of documents per piece under these settings; 0 for no division."""
        ...

    def piece_identity(self) -> dict[str, Any]:
        """Identity of a piece: systems share equal pieces even if their indexes differ."""
        ...

    def make_piece(
        self, documents: Path, span: Span, folder: Path, settings: Settings, progress: Progress
    ) -> None:
        """Make the piece of these documents, in an empty folder. A searcher's `index` uses the
        pieces in its own folder and makes the missing ones."""
        ...


@runtime_checkable
class Approximate(Protocol):
    """A searcher whose index may miss some of the best documents."""

    def recall(self, folder: Path, settings: Settings) -> float | None:
        """The mean share of the exact top 100 that it finds, over queries made from documents. It
        depends on the search as well as on the index. None if the search is exact, or the index is
        one of an earlier version."""
        ...


@runtime_checkable
class Multilingual(Protocol):
    """A searcher that analyses texts in the language of the dataset."""

    def for_language(self, language: str) -> Searcher:
        """The searcher for datasets in this language (en, pl), which is part of its identity."""
        ...


@runtime_checkable
class Rewriting(Protocol):
    """A searcher that searches with another query than the given one."""

    def queries(self, queries: DataFrame, settings: Settings) -> DataFrame:
        """query_id, piece, in_query, weight: the terms of each of `queries`."""
        ...


@runtime_checkable
class TimedSearcher(Protocol):
    """A searcher whose latency can be measured: one query at a time, with everything loaded."""

    def session(self, folder: Path, settings: Settings) -> AbstractContextManager[Ask]:
        """A function that answers one query on the index in `folder`."""
        ...


@runtime_checkable
class TimedCombiner(Protocol):
    """The same for a combiner: its own share of the latency."""

    def session(
        self, documents: Path | None, settings: Settings
    ) -> AbstractContextManager[AskWith]:
        """A function that answers one query."""
        ...


Method = Searcher | Combiner


AnyMethod = TypeVar("AnyMethod", bound=Parametrised)


_FIELDS = {"index": "index_kind"}
"""Parameters whose field has another name, since `index` is a method of searchers."""


def values(method: Parametrised) -> dict[str, Any]:
    """The parameters of a method, in the order of its name, with their values."""
    return {name: getattr(method, _FIELDS.get(name, name)) for name in method.PARAMETERS}


def with_values(method: AnyMethod, values: Mapping[str, Any]) -> AnyMethod:
    """The method with other parameters; `model` gives another checkpoint."""
    given = {_FIELDS.get(name, name): value for name, value in values.items()}
    if "model" in given:
        given["checkpoint"] = checkpoints.from_text(str(given.pop("model")))
    return replace(method, **given)


def in_language(method: Method, language: str) -> Method:
    """The method for a dataset in this language."""
    return method.for_language(language) if isinstance(method, Multilingual) else method


def no_hits() -> DataFrame:
    """query_id, doc_id, score without a row."""
    # Imported late: the catalogue of systems, which imports this, loads no pandas.
    from pandas import DataFrame, Series

    kinds = {"query_id": "str", "doc_id": "str", "score": "float64"}
    return DataFrame({column: Series([], dtype=kind) for column, kind in kinds.items()})


def limited(default: Any, low: float, high: float = math.inf) -> Any:
    """The default of a field of `Limited` with values from `low` to `high`."""
    return field(default=default, metadata={"limits": (low, high)})


def one_of(*known: str) -> Any:
    """The default of a field of `Limited`, and its other possible values."""
    return field(default=known[0], metadata={"known": known})


@dataclass(frozen=True)
class Limited:
    """Base of methods whose fields have limits. Raises WrongInput for a value outside them."""

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
