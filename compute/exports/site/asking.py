"""What pages of a site ask of a home: of the wanted datasets, with texts as far as they may be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from pandas import DataFrame

from compute.base import bounded_cache
from compute.exports.site.shown import Shown
from compute.judgements import Choice
from compute.reading import inputs
from compute.reading.questions import declared, named
from compute.store import provenance
from compute.store.store import Part, Store
from compute.views.page.store_ask import StoreAsk
from compute.views.shared.query_slices import Kind

_MOST, _LARGEST = 300_000_000, 30_000_000
"""Bytes of answers that are kept."""
_TEXTS = {"text": "", "query": "query_id", "title": "doc_id"}
"""Columns of texts, and the column beside which one is a text."""
_SYSTEMS = ("system", "a", "b", "other", "baseline")
"""Columns of names of systems."""
Answer = tuple[DataFrame, inputs.Inputs]


def _size(answer: Answer) -> int:
    return int(answer[0].memory_usage(deep=True).sum())


@dataclass
class SiteAsk:
    """`Ask` of a site. Systems have the names that they have on it, without folders."""

    own: StoreAsk
    shown: Shown
    behind: list[inputs.Inputs] = field(default_factory=list)
    """What each answer rests on that was given since it was last emptied."""
    _answers: bounded_cache.Kept[Answer] = field(
        default_factory=lambda: bounded_cache.Kept(_MOST, _size, _LARGEST)
    )

    def __call__(
        self, query: Callable[..., DataFrame], *, added: bool | None = None, **parameters: Any
    ) -> DataFrame:
        """Answer of a query declared by `@question`; each is found once."""
        asked = query, self.kind, self.own.picked, added, bounded_cache.key(parameters)
        frame, behind = self._answers.of(asked, lambda: self._answer(query, added, parameters))
        self.behind.append(behind)
        return frame.copy(deep=False)

    def _answer(
        self, query: Callable[..., DataFrame], added: bool | None, parameters: Mapping[str, Any]
    ) -> Answer:
        real = {key: self._real(value) for key, value in parameters.items()}
        frame, question = self.own(query, added=added, **real), declared(query)
        behind = inputs.of(frame, question, real)
        if question.shows in ("runs", "datasets"):
            for name in {"dataset", "other"} & set(frame):
                frame = frame[~frame[name].isin(self._unwanted)]
        about = named(real, [*question.datasets, *question.collections])
        if not about or not self._with_texts.issuperset(about):
            told = [name for name, beside in _TEXTS.items() if {name, beside or name} <= set(frame)]
            frame = frame.assign(**dict.fromkeys(told))
        return self._renamed(frame), behind

    def _renamed(self, frame: DataFrame) -> DataFrame:
        names = {name: frame[name].replace(self._called) for name in {*_SYSTEMS} & {*frame}}
        if "system" in names and "title" in frame:
            names["title"] = frame["title"].map(provenance.portable)
        return frame.assign(**names)

    def _real(self, value: Any) -> Any:
        """A parameter with the names that systems have in the store."""
        if isinstance(value, list | tuple):
            return [self._real(one) for one in value]
        return self._names.get(value, value) if isinstance(value, str) else value

    @cached_property
    def _called(self) -> dict[str, str]:
        return {name: called for name, called in self.shown.called.items() if name != called}

    @cached_property
    def _names(self) -> dict[str, str]:
        return {called: name for name, called in self._called.items()}

    @cached_property
    def _with_texts(self) -> set[str]:
        rows = [row for row in self.shown.datasets if self.shown.with_texts(row)]
        return {name for row in rows for name in (row.name, row.collection)}

    @cached_property
    def _unwanted(self) -> set[str]:
        """What is stored of datasets that the site is not of."""
        if not self.shown.wanted.datasets:
            return set()
        rows = self.shown.datasets
        wanted = {name for row in rows for name in (row.name, row.collection, *row.parts)}
        return {part.dataset for part in self.own.parts()} - wanted

    def later(self, query: Callable[..., DataFrame], **parameters: Any) -> Callable[[], DataFrame]:
        """The same, while the store is open."""
        return partial(self, query, **parameters)

    @property
    def choice(self) -> Choice | None:
        """Added judgements that count; None for official ones only."""
        return self.own.choice

    @property
    def counting(self) -> Choice:
        """Added judgements that count wherever added ones do."""
        return self.own.counting

    @property
    def store(self) -> Store:
        """The store itself, for judging tasks."""
        return self.own.store

    @property
    def kind(self) -> Kind | None:
        """Query group that is read; None for all queries."""
        return self.own.kind

    def only(self, kind: Kind) -> "SiteAsk":
        """The same site, read for one query group."""
        return replace(self, own=self.own.only(kind))

    def whole(self) -> "SiteAsk":
        """The same site, read for all queries."""
        return replace(self, own=self.own.whole())

    def with_versions(self, names: Sequence[str]) -> "SiteAsk":
        """The same site, where these versions of systems are read like systems."""
        return replace(self, own=self.own.with_versions(names))

    def parts(self) -> Sequence[Part]:
        """Live parts of what the site is of."""
        return self._portable(self.own.parts())

    def versions(self, datasets: Sequence[str] | None = None) -> Sequence[Part]:
        """Hits of superseded runs, oldest first, on all datasets or on these."""
        return self._portable(self.own.versions(datasets))

    def _portable(self, parts: Sequence[Part]) -> list[Part]:
        return [
            replace(part, system=self._called.get(part.system, part.system))
            for part in parts
            if part.dataset not in self._unwanted
        ]

    def measures(self) -> list[str]:
        """Measures that a control offers."""
        return self.own.measures()
