"""The demo: four systems on the five PyDocs collections, which need no network."""

from collections.abc import Iterator

from compute import systems
from compute.base.errors import BeirscopeError
from compute.datasets import DATASETS
from compute.recompute import run as recompute
from compute.store.loading import Bench

SYSTEMS = ("bm25", "bm25-multifield", "bm25-rm3", "minilm")


def pairs() -> list[tuple[str, str]]:
    """(system, dataset) of every run, the quick systems first so that pages fill early."""
    datasets = sorted(name for name, row in DATASETS.items() if row.group == "PyDocs")
    return [(system, dataset) for system in SYSTEMS for dataset in datasets]


def run(bench: Bench) -> Iterator[tuple[str, str, str]]:
    """Run what is missing, in this process; system, dataset and what failed, as each ends."""
    for system, dataset in pairs():
        try:
            recompute.run(bench, systems.system(system), DATASETS[dataset])
        except BeirscopeError as error:
            yield system, dataset, str(error)
        else:
            yield system, dataset, ""
