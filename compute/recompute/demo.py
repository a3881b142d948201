"""The demo: eight systems on the five PyDocs collections, which need no network.

Its results ship. Recomputing them shows whether this machine gets the same numbers."""

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
"""Libraries whose results are shipped; the demo has no libraries added later."""
NEAR = 5e-4
"""Means closer than this count as equal; they differ by at most one unit of the third digit."""


def pairs() -> list[tuple[str, str]]:
    """(system, dataset) of every run, fast systems first so that pages fill early."""
    return [(system, dataset) for system in SYSTEMS for dataset in LIBRARIES]


def run(bench: Bench) -> Iterator[tuple[str, str, str]]:
    """Run missing pairs in this process; yields system, dataset and error of each as it ends."""
    for system, dataset in pairs():
        try:
            recompute.run(bench, systems.system(system), DATASETS[dataset])
        except BeirscopeError as error:
            yield system, dataset, str(error)
        else:
            yield system, dataset, ""


@dataclass(frozen=True)
class Proof:
    """Results of the demo that were computed here, next to the shipped ones."""

    compared: int
    """Runs that were computed here and are also shipped."""
    apart: dict[str, float]
    """The largest difference of a mean score, by `SYSTEM on DATASET`, if it exceeds NEAR."""

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
    # Shipped hits may have been rescored here by another measure.
    runs = {(part.system, part.dataset) for part in store.parts("hits") if not part.shipped}
    scores = [part for part in store.parts("scores") if (part.system, part.dataset) in demo & runs]
    local = [(part, f"{part.system} on {part.dataset}") for part in scores if not part.damage]
    beside = [(name, _apart(part, store.shipped(part))) for part, name in local]
    known = {name: value for name, value in beside if value is not None and value == value}
    return Proof(len(known), {name: value for name, value in known.items() if value >= NEAR})


def _apart(part: Part, shipped: Part | None) -> float | None:
    """The largest difference of a mean over the measures that both parts have."""
    if shipped is None:
        return None
    return float((_means(part) - _means(shipped)).abs().max())


def _means(part: Part) -> "pd.Series[float]":
    scores = pq.read_table(part.path, columns=["measure", "value"]).to_pandas()
    return scores.groupby("measure")["value"].mean()
