"""Fusion: combines the runs of several systems into one, by ranks or scores only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from compute.base.settings import Settings
from compute.systems.searcher import AskWith, Limited, Request, limited, no_hits, one_of

# These are imported only for types, since the catalogue of systems must not load pandas.
if TYPE_CHECKING:
    from pandas import DataFrame, Series

NORMALS = ("minmax", "zscore", "none")
"""Normalisations that make the scores of one query comparable before they are added."""


TUNED = "tuned"
"""Parameter that names the dataset on whose judged queries the other parameters were chosen."""


class Fusion:
    """A combiner of runs that needs no library and reads no documents."""

    READS_DOCUMENTS: ClassVar[bool] = False

    def check(self) -> None:
        """Check nothing, since a fusion needs nothing."""

    def combine(
        self, inputs: Sequence[DataFrame], documents: Path | None, request: Request
    ) -> DataFrame:
        """Fuse the runs: query_id, doc_id, score."""
        raise NotImplementedError

    @contextmanager
    def session(self, documents: Path | None, settings: Settings) -> Iterator[AskWith]:
        """Open a function that fuses the lists of one query."""

        def ask(text: str, inputs: Sequence[DataFrame]) -> DataFrame:
            # Imported here because the catalogue of systems, which imports this, loads no pandas.
            from pandas import DataFrame

            queries = DataFrame({"query_id": ["q"], "text": [text]})
            # A single query needs no progress bar.
            request = Request(queries, settings.depth, settings, lambda *_: None)
            return self.combine(inputs, None, request)

        yield ask


@dataclass(frozen=True)
class Rrf(Fusion, Limited):
    """Reciprocal rank fusion: a document's score is the sum of 1 / (k + rank) over the runs.
    Cormack et al., "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
    Methods", SIGIR 2009. A run that lacks the document adds nothing. Ranks are canonical, from 1 to
    the depth of the stored runs. Raises WrongInput for k below 0."""

    k: int = limited(60, 0)
    tuned: str = ""

    PARAMETERS: ClassVar[tuple[str, ...]] = ("k", TUNED)

    def identity(self) -> dict[str, Any]:
        """Return the formula and k."""
        return {"ranker": "reciprocal rank fusion", "k": self.k}

    def combine(
        self, inputs: Sequence[DataFrame], documents: Path | None, request: Request
    ) -> DataFrame:
        """Sum 1 / (k + rank) over the runs: query_id, doc_id, score."""
        parts = [_scored(run, 1 / (self.k + run["rank"].to_numpy(np.float64))) for run in inputs]
        return _summed(parts)


@dataclass(frozen=True)
class Interpolation(Fusion, Limited):
    """A weighted sum of the runs' scores, which are made comparable query by query. The first run
    has the share `weight`, and the others share the rest equally. `normal` is minmax (each list
    ranges from 0 to 1; if all scores are equal, they become 1), zscore (minus the list's mean,
    divided by its standard deviation) or none. A document that a list lacks gets the score of the
    list's last document, which for minmax is 0 even if all are equal. Raises WrongInput for a
    weight outside 0 to 1 or another `normal`."""

    weight: float = limited(0.5, 0, 1)
    normal: str = one_of(*NORMALS)
    tuned: str = ""

    PARAMETERS: ClassVar[tuple[str, ...]] = ("weight", "normal", TUNED)

    def identity(self) -> dict[str, Any]:
        """Return the formula and its parameters."""
        formula = {"ranker": "interpolation", "absent": "last, of minmax 0"}
        return formula | {"weight": self.weight, "normal": self.normal}

    def combine(
        self, inputs: Sequence[DataFrame], documents: Path | None, request: Request
    ) -> DataFrame:
        """Sum the weighted scores over the runs: query_id, doc_id, score."""
        weights = [self.weight] + [(1 - self.weight) / (len(inputs) - 1)] * (len(inputs) - 1)
        parts, floors = [], []
        for run, weight in zip(inputs, weights, strict=True):
            scores = weight * _comparable(run, self.normal)
            lowest = scores.groupby(run["query_id"]).min() * (self.normal != "minmax")
            floors.append(lowest)
            # Scores are relative to the list's last one, which `floors` adds for all documents.
            above = scores.to_numpy() - run["query_id"].map(lowest).to_numpy(np.float64)
            parts.append(_scored(run, above))
        return _summed(parts, floors)


def _comparable(run: DataFrame, normal: str) -> Series:
    """Return the scores of a run, normalised separately for each query."""
    scores = run["score"].astype("float64")
    if normal == "none":
        return scores
    lists = scores.groupby(run["query_id"])
    if normal == "zscore":
        spread = lists.transform(lambda list_: list_.std(ddof=0))
        return ((scores - lists.transform("mean")) / spread.where(spread > 0, 1)).astype("float64")
    low, spread = lists.transform("min"), lists.transform("max") - lists.transform("min")
    return ((scores - low) / spread).where(spread > 0, 1.0)


def _scored(run: DataFrame, scores: np.ndarray) -> DataFrame:
    return run[["query_id", "doc_id"]].assign(score=scores)


def _summed(parts: Sequence[DataFrame], floors: Sequence[Series] = ()) -> DataFrame:
    """Return every document of a query with the sum of the parts, plus the query's `floors`."""
    # Imported here because the catalogue of systems, which imports this, loads no pandas.
    import pandas as pd

    rows = pd.concat(parts, ignore_index=True)
    if rows.empty:
        return no_hits()
    summed = rows.groupby(["query_id", "doc_id"], sort=False).sum().reset_index()
    if floors:
        floor = pd.concat(floors).groupby(level=0).sum()
        summed["score"] += summed["query_id"].map(floor).to_numpy(np.float64)
    return summed
