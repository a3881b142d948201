"""The demo: eight systems on the five PyDocs collections, for which no network is needed. Its
results are shipped; recomputing them shows whether this machine gets the same numbers."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd
import pyarrow.parquet as pq

from compute import systems
from compute.base.errors import BeirscopeError
from compute.base.words import counted
from compute.datasets import DATASETS
from compute.recompute import run as recompute
from compute.store.loading import Bench
from compute.store.store import Part, Store

SYSTEMS = (
    "bm25",
    "bm25-multifield",
    "bm25-elasticsearch",
    "bm25-wordpiece",
    "bm25-rm3",
    "minilm",
    "rrf(bm25,minilm)",
    "minilm-maxsim",
)
LIBRARIES = tuple(
    f"pydocs-{name}" for name in ("networkx", "numpy", "pandas", "scikit-learn", "scipy")
)
"""The datasets whose results are shipped; libraries added later are not in the demo."""
NEAR = 5e-4
"""Means that differ by less than this count as equal: at most one unit of the third digit."""


def pairs() -> list[tuple[str, str]]:
    """Return (system, dataset) of every run; fast systems come first, so that pages fill early."""
    return [(system, dataset) for system in SYSTEMS for dataset in LIBRARIES]


def run(bench: Bench) -> Iterator[tuple[str, str, str]]:
    """Run the missing pairs in this process; yield system, dataset and error (or '') of each."""
    for system, dataset in pairs():
        try:
            recompute.run(bench, systems.system(system), DATASETS[dataset])
        except BeirscopeError as error:
            yield system, dataset, str(error)
        else:
            yield system, dataset, ""


@dataclass(frozen=True)
class Proof:
    """The demo's results as computed here, compared with the shipped ones."""

    compared: int
    """Number of runs that were computed here and are also shipped."""
    apart: dict[str, float]
    """The largest difference of a mean score by `SYSTEM on DATASET`, where it is at least NEAR."""

    def __str__(self) -> str:
        same = self.compared - len(self.apart)
        told = (
            f"{same} of {counted(self.compared, 'run')} computed here have the shipped mean scores"
        )
        told += " (within .0005)"
        apart = [f"{name} by {value:.3f}" for name, value in self.apart.items()]
        return told + (f"; others differ: {', '.join(apart)}" if apart else "")


def proof(store: Store) -> Proof:
    """Compare the mean scores of the demo's runs computed here with the shipped ones."""
    demo = set(pairs())
    # Runs are identified by their hits, since shipped hits may have been rescored here.
    runs = {(part.system, part.dataset) for part in store.parts("hits") if not part.shipped}
    scores = [part for part in store.parts("scores") if (part.system, part.dataset) in demo & runs]
    local = [(part, f"{part.system} on {part.dataset}") for part in scores if not part.damage]
    beside = [(name, _apart(part, store.shipped(part))) for part, name in local]
    known = {name: value for name, value in beside if value is not None and value == value}
    return Proof(len(known), {name: value for name, value in known.items() if value >= NEAR})


def _apart(part: Part, shipped: Part | None) -> float | None:
    """Return the largest difference of a mean, over the measures that both parts have."""
    if shipped is None:
        return None
    return float((_means(part) - _means(shipped)).abs().max())


def _means(part: Part) -> "pd.Series[float]":
    scores = pq.read_table(part.path, columns=["measure", "value"]).to_pandas()
    return scores.groupby("measure")["value"].mean()
