"""What a site shows of a home: one version, the datasets and measures, what systems are called."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base.errors import Missing
from compute.base.words import near
from compute.datasets import DATASETS, Dataset
from compute.judgements import Choice
from compute.reading.database import Reading
from compute.store import provenance
from compute.store.own_datasets import own_datasets
from compute.store.store import Store
from compute.views.leaderboard import cells
from compute.views.leaderboard import select as leaderboard_select
from compute.views.page import store_ask
from compute.views.page.store_ask import StoreAsk
from compute.views.shared import catalogue

MOST_PRINTED_LETTERS = 2_000
"""Of a document's text."""


@dataclass(frozen=True)
class Wanted:
    """What is asked for; nothing named means all."""

    title: str = "Retrieval results"
    by: str = ""
    """Who publishes it."""
    datasets: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    texts: bool = False
    choice: Choice | None = None
    """The added judgements that count."""


@dataclass(frozen=True)
class Shown:
    """One version of a home, open, and what of it is wanted."""

    store: Store
    opened: Reading
    cursor: DuckDBPyConnection
    wanted: Wanted
    own: StoreAsk

    def ask(self, query: Callable[..., DataFrame], **params: Any) -> DataFrame:
        """What a SELECT of a page gives."""
        return query(self.cursor, **params)

    @cached_property
    def datasets(self) -> list[Dataset]:
        """The datasets with scores, in their order. Raises Missing for a wanted one without."""
        scored = {
            name for (name,) in self.cursor.sql("select distinct dataset from means").fetchall()
        }
        for name in self.wanted.datasets:
            if name not in scored:
                told = near(name, scored) or "python -m compute show scores lists what there is"
                raise Missing(f"no scores on {name!r}: {told}".rstrip())
        return [
            row
            for name, row in self._known.items()
            if name in scored and name in (self.wanted.datasets or scored)
        ]

    @cached_property
    def measures(self) -> list[str]:
        """The measures of stored runs that are wanted. Raises Missing for one that none has, and no
        printed table."""
        stored = cells.in_order(self.ask(leaderboard_select.measures)["measure"])
        printed = set(self.ask(leaderboard_select.published_tables)["measure"])
        for name in self.wanted.measures:
            if name not in printed.union(stored):
                raise Missing(
                    f"no run has {name}: {near(name, stored)}there are {', '.join(stored)}"
                )
        return [name for name in stored if name in (self.wanted.measures or stored)]

    def is_wanted(self, key: str, value: str, others: Mapping[str, str]) -> bool:
        """Whether the site has a view of a control's value, beside those of other controls."""
        if key == "measure" and self.wanted.measures:
            return value in self.wanted.measures
        known = {row.name for row in self.datasets}
        return key != "dataset" or not known or value in known or value not in self._known

    @cached_property
    def _known(self) -> dict[str, Dataset]:
        return dict(DATASETS) | own_datasets(self.store)

    @cached_property
    def systems(self) -> DataFrame:
        """system, title, family, and called: its name without folders of this machine."""
        rows = self.ask(catalogue.systems)
        names = provenance.without_folders(rows["system"])
        return rows.assign(
            title=[provenance.portable(title) for title in rows["title"]],
            called=[names.get(name, name) for name in rows["system"]],
        )

    @cached_property
    def called(self) -> dict[str, str]:
        """What each system is called on the site."""
        return dict(zip(self.systems["system"], self.systems["called"], strict=True))

    @cached_property
    def titles(self) -> dict[str, str]:
        """The title of each system."""
        return dict(zip(self.systems["system"], self.systems["title"], strict=True))

    def with_texts(self, dataset: Dataset) -> bool:
        """Whether texts of the dataset stand on the site: asked for, not forbidden, and stored."""
        wanted = self.wanted.texts and dataset.may_hand_on_texts
        return wanted and ("documents", dataset.collection, "") in self.opened.parts


@contextmanager
def opened(store: Store, wanted: Wanted) -> Iterator[Shown]:
    """The home as it is now, by the judgements that are wanted."""
    with (
        store_ask.opened(store, (), wanted.choice) as own,
        own.overlays.cursor(own.judgement, wanted.choice) as cursor,
    ):
        yield Shown(store, own.overlays.reading, cursor, wanted, own)


def parts(dataset: Dataset) -> Sequence[str]:
    """The datasets that hold its queries: its parts, or itself."""
    return list(dataset.parts) or [dataset.name]
