"""Answers a site's queries: only for wanted datasets, with texts where licences allow."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from pandas import DataFrame

from compute.base.errors import Missing
from compute.base.words import near
from compute.datasets import DATASETS, Dataset
from compute.judgements import Choice
from compute.reading.inputs import Inputs
from compute.reading.questions import declared, named
from compute.store import provenance
from compute.store.own_datasets import own_datasets
from compute.store.store import Part, Store
from compute.views.leaderboard import cells
from compute.views.leaderboard import select as leaderboard_select
from compute.views.page import store_ask
from compute.views.page.store_ask import StoreAsk
from compute.views.query import select as query_select
from compute.views.shared import catalogue

_TEXTS = {"text": "text", "query": "query_id", "title": "doc_id"}
"""Columns that hold texts if the frame also has the column named here."""

MOST_PRINTED_LETTERS = 2_000
"""Maximum number of characters of a document's text."""
_LONG = re.compile(rf"^(.{{{MOST_PRINTED_LETTERS}}}).+$", re.DOTALL)


@dataclass(frozen=True)
class Wanted:
    """Options of a site; empty ones mean everything."""

    title: str = "Retrieval results"
    by: str = ""
    """Publisher of the site."""
    datasets: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    texts: bool = False
    choice: Choice | None = None
    """The added judgements that count."""


@dataclass(frozen=True)
class SiteAsk(StoreAsk):
    """`Ask` for a site: leaves out unwanted datasets, and texts that may not be on the site."""

    wanted: Wanted = Wanted()
    behind: list[Inputs] = field(default_factory=list)
    """Inputs of the answers since this was last cleared."""

    def __call__(
        self, query: Callable[..., DataFrame], *, added: bool | None = None, **parameters: Any
    ) -> DataFrame:
        """Answer a query that is declared with `@question`, without what the site must not show."""
        frame, question = super().__call__(query, added=added, **parameters), declared(query)
        if question.shows in ("runs", "datasets"):
            for name in {"dataset", "other"} & set(frame):
                frame = frame[~frame[name].isin(self._unwanted)]
        about = named(parameters, [*question.datasets, *question.collections])
        if not about or not self._with_texts.issuperset(about):
            if query is query_select.documents:
                frame = frame.iloc[:0]  # as for documents without a stored text
            told = [name for name, beside in _TEXTS.items() if {name, beside} <= set(frame)]
            frame = frame.assign(**dict.fromkeys(told))
        elif {"doc_id", "text"} <= set(frame):
            frame = frame.assign(text=frame["text"].str.replace(_LONG, r"\1…", regex=True))
        if {"system", "title"} <= set(frame):
            frame = frame.assign(title=frame["title"].map(provenance.portable))
        return frame

    def rows(self, sql: str, **parameters: Any) -> DataFrame:
        """Answer one of the site's own SELECTs."""
        with self.overlays.cursor(self.judgement, self.choice) as cursor:
            return cursor.execute(sql, parameters).df()

    def parts(self) -> Sequence[Part]:
        """Return the live parts, without those of unwanted datasets."""
        return [part for part in super().parts() if part.dataset not in self._unwanted]

    @cached_property
    def _known(self) -> dict[str, Dataset]:
        return dict(DATASETS) | own_datasets(self.store)

    @cached_property
    def _scored(self) -> set[tuple[str, str]]:
        """Return the pairs of dataset and measure that have stored means."""
        return set(self.rows("select distinct dataset, measure from means").itertuples(index=False))

    @cached_property
    def datasets(self) -> list[Dataset]:
        """Return the wanted datasets, in order. Raises Missing for a dataset without scores."""
        scored = {dataset for dataset, _ in self._scored}
        for name in self.wanted.datasets:
            if name not in scored:
                told = near(name, scored) or f"python -m compute scores --dataset {name} says why"
                raise Missing(f"no scores on {name!r}: {told}".rstrip())
        wanted = scored.intersection(self.wanted.datasets or scored)
        return [row for name, row in self._known.items() if name in wanted]

    @cached_property
    def scored_by(self) -> list[str]:
        """Return the wanted measures of stored runs. Raises Missing for a measure without
        scores."""
        stored = cells.in_order(self(leaderboard_select.measures)["measure"])
        printed = set(self(leaderboard_select.published_tables)["measure"])
        for name in self.wanted.measures:
            if name not in printed.union(stored):
                raise Missing(
                    f"no run has {name}: {near(name, stored)}there are {', '.join(stored)}"
                )
        return [name for name in stored if name in (self.wanted.measures or stored)]

    def is_wanted(self, key: str, value: str, others: Mapping[str, str]) -> bool:
        """Return whether the site has a view for a control's value, given the values of other
        controls."""
        names = {row.name for row in self.datasets}
        if key == "dataset":
            return not names or value in names or value not in self._known
        dataset = others.get("dataset")
        has = key != "measure" or dataset not in names or (dataset, value) in self._scored
        return has and (key != "measure" or value in (self.wanted.measures or (value,)))

    @cached_property
    def called(self) -> dict[str, str]:
        """Return the names on the site of systems that are renamed there, without folders of this
        machine."""
        return provenance.without_folders(self(catalogue.systems)["system"])

    @cached_property
    def titles(self) -> dict[str, str]:
        """Return the title of each system."""
        rows = self(catalogue.systems)
        return dict(zip(rows["system"], rows["title"], strict=True))

    def with_texts(self, dataset: Dataset) -> bool:
        """Return whether the site has a dataset's texts: requested, allowed and stored."""
        there = ("documents", dataset.collection, "") in self.overlays.reading.parts
        return self.wanted.texts and dataset.may_hand_on_texts and there

    @cached_property
    def _with_texts(self) -> set[str]:
        rows = list(filter(self.with_texts, self.datasets))
        return {name for row in rows for name in (row.name, row.collection, *row.parts)}

    @cached_property
    def _unwanted(self) -> set[str]:
        """Return the stored names of datasets that the site leaves out."""
        if not self.wanted.datasets:
            return set()
        names = {name for row in self.datasets for name in (row.name, row.collection, *row.parts)}
        return {part.dataset for part in super().parts()} - names


@contextmanager
def opened(store: Store, wanted: Wanted) -> Iterator[SiteAsk]:
    """Open the home in its current state, with the wanted judgements."""
    with store_ask.opened(store, (), wanted.choice) as own:
        about: dict[str, Any] = {one.name: getattr(own, one.name) for one in fields(own)}
        behind: list[Inputs] = []
        about["heard"] = lambda _, inputs: behind.append(inputs)
        yield SiteAsk(**about, wanted=wanted, behind=behind)
