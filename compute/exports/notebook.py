"""The results of a home as data frames, for a notebook or script.

from compute.exports import notebook

with notebook.results() as home:
    print(home.scores(dataset="scifact", measure="nDCG@10"))
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from duckdb import DuckDBPyConnection
from pandas import DataFrame, Series

from compute.base import settings
from compute.base.errors import Missing
from compute.base.words import near
from compute.corpora import similarity_matrix
from compute.corpora.overlap import FLOORS, UNITS
from compute.exports import pages
from compute.exports.tables import raw
from compute.store.store import Store
from compute.views.compare import select as compare_select
from compute.views.data import select as data_select
from compute.views.holes import select as holes_select
from compute.views.overlap import select as overlap_select
from compute.views.page import Figure, find
from compute.views.page.store_ask import StoreAsk, opened


class Results:
    """The results in one version of the store, which later publications do not change."""

    def __init__(self, ask: StoreAsk) -> None:
        self._ask = ask

    @property
    def cursor(self) -> DuckDBPyConnection:
        """Open a connection for your own SQL; `from readme` in a snapshot lists its tables."""
        return self._ask.overlays.reading.cursor()

    def part(self, page: str, key: str, **chosen: Any) -> go.Figure | DataFrame:
        """Return a figure of a page as the dashboard draws it, or the values of a table. `page` and
        `chosen` are those of the page's address, such as `compare` and `a="bm25"`; `key` is the key
        in exported file names. Raises WrongInput for an unknown page or control, and Missing for an
        unknown value or part."""
        found = find(pages.page_of(page), self._ask, key, **chosen).part
        if isinstance(found, Figure):
            return found.drawn(theme="light")
        return raw(found)

    def scores(
        self, dataset: str | None = None, system: str | None = None, measure: str | None = None
    ) -> DataFrame:
        """Return means, best first: dataset, system, measure, value, n_queries, n_unanswered.
        Raises Missing for a measure without stored scores."""
        chosen = {"dataset": dataset, "system": system, "measure": measure}
        found = data_select.scores_shown(self.cursor, **chosen)
        if found.empty and measure:
            known = self.cursor.execute("select distinct measure from means").df()["measure"]
            if measure not in set(known):
                told = near(measure, known) or f"there are {', '.join(sorted(known))}"
                raise Missing(f"nothing stored has {measure!r}: {told}")
        return found

    def by_query(self, dataset: str, measure: str = "nDCG@10") -> DataFrame:
        """Return values by query, with a column for each system; NaN if the measure has no value
        for a query. Raises Missing for a dataset or measure without stored scores."""
        rows = self.cursor.execute(
            "select query_id, system, value from scores where dataset = ? and measure = ?",
            [dataset, measure],
        ).df()
        if rows.empty and self._systems(dataset):
            command = f"python -m compute rescore {dataset} --measure {measure}"
            raise Missing(f"no run on {dataset} has {measure}: {command}")
        return rows.pivot(index="query_id", columns="system", values="value")

    def compare(self, dataset: str, a: str, b: str, measure: str = "nDCG@10") -> Series:
        """Compare two systems; returns the fields of `compute.evaluate.significance.Comparison`,
        such as `difference` (A minus B) with its 95% CI `low` to `high`, and `p_randomisation`.
        Raises Missing if fewer than two queries have a value for both."""
        found = compare_select.tested(self.cursor, [dataset], a, b, measure)
        if found.empty:
            for name in (a, b):
                self._run(dataset, name)
            raise Missing(f"{dataset}: fewer than two queries have {measure} of {a} and {b}")
        return found.iloc[0]

    def holes(
        self, dataset: str, measure: str = "nDCG@10", systems: Sequence[str] = ()
    ) -> DataFrame:
        """Return the possible range of each system's score, given its unjudged documents, as
        `compute.views.holes.select.bounds` does. Raises Missing for a run that is not stored."""
        for name in systems:
            self._run(dataset, name)
        names = list(systems) or self._systems(dataset)
        return holes_select.bounds(self.cursor, dataset, names, measure)

    def overlap(self, words: str = "unigrams", floor: float = 0.0) -> DataFrame:
        """Return the square matrix of weighted Jaccard similarities of the compared corpora.
        `words` and `floor` are options of Overlap, such as `bigrams` and 1e-5; words at or below
        the floor in a corpus do not count there. Raises Missing for other options."""
        if words not in UNITS or floor not in FLOORS:
            known = f"{', '.join(UNITS)}; floors {', '.join(f'{one:g}' for one in FLOORS)}"
            raise Missing(f"no overlap of {words!r} from {floor:g} is computed: there are {known}")
        return similarity_matrix.matrix(overlap_select.similarities(self.cursor, words, floor))

    def _systems(self, dataset: str) -> list[str]:
        """Return the systems with a run on a dataset. Raises Missing if there are none."""
        runs = self.cursor.execute("select distinct dataset, system from means").df()
        found = sorted(runs.loc[runs["dataset"] == dataset, "system"])
        if not found:
            told = near(dataset, runs["dataset"].unique())
            raise Missing(f"no run on {dataset!r} is stored: {told}".rstrip(": "))
        return found

    def _run(self, dataset: str, system: str) -> None:
        """Raise Missing if a system has no run on a dataset."""
        there = self._systems(dataset)
        if system not in there:
            told = near(system, there) or f"there are {', '.join(there)}"
            raise Missing(f"no run of {system!r} on {dataset} is stored: {told}".rstrip())


@contextmanager
def results(home: str | Path | None = None, versions: Sequence[str] = ()) -> Iterator[Results]:
    """Open the current results of a home (default: that of the settings). `versions` names earlier
    runs, such as `bm25@1`, to treat as systems. Raises Missing if the named folder is not a home,
    and Missing or Unavailable if it cannot be read."""
    now = settings.load()
    if home is not None:
        # The home in the settings is created if it is missing, but a mistyped folder must not be.
        # Homes of older versions have no home.json yet.
        if not any((Path(home) / name).exists() for name in ("home.json", "parts")):
            raise Missing(
                f"{home} is not a home folder: name one, or leave it out for the home in the"
                " settings"
            )
        now = replace(now, home=Path(home))
    with opened(Store(now), versions) as ask:
        yield Results(ask)
