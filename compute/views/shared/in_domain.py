"""Systems in-domain on a dataset: trained or tuned on data of its collection."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from pandas import DataFrame

from compute.datasets.catalogue import DATASETS
from compute.systems import SYSTEMS, learnt_from, rows_behind
from compute.views.shared import catalogue


def said(ask: Callable[..., DataFrame], dataset: str, titles: Mapping[str, str]) -> str:
    """Return the sentence of `note`, reading datasets and published pairs from the store."""
    return note(ask(catalogue.datasets), ask(catalogue.trained_pairs), dataset, titles)


def compared(
    ask: Callable[..., DataFrame], dataset: str, systems: Iterable[str], always: Iterable[str] = ()
) -> list[str]:
    """Return the systems that are not in-domain on a dataset, and those in `always`."""
    learnt = set(pairs(ask(catalogue.trained_pairs), [dataset], systems)["system"])
    return [name for name in systems if name not in learnt.difference(always)]


def note(datasets: DataFrame, trained: DataFrame, dataset: str, titles: Mapping[str, str]) -> str:
    """Return a sentence naming the systems trained on a dataset, and marking those trained on the
    very queries that are scored; empty if there are none. `datasets`: dataset and collection of all
    datasets. `trained`: as in `pairs`. `titles`: by system."""
    collections = dict(zip(datasets["dataset"], datasets["collection"], strict=True))
    told = [
        titles[name] + " (on these queries)" * (dataset in learnt_from(name, collections))
        for name in pairs(trained, [dataset], titles)["system"]
    ]
    return f"In-domain, trained or tuned on this dataset: {', '.join(told)}." if told else ""


def pairs(trained: DataFrame, datasets: Iterable[str], systems: Iterable[str]) -> DataFrame:
    """Return dataset and system of the in-domain pairs among these datasets and systems: published
    (`trained`: dataset, system), in the catalogue, and of models trained with Beirscope."""
    wanted, seen = set(datasets), dict[str, list[str]]()
    for dataset, system in [
        *zip(trained["dataset"], trained["system"], strict=True),
        *_trained_on(),
    ]:
        seen.setdefault(system, []).append(dataset)
    known = [
        (dataset, name)
        for name in systems
        for row in _rows_behind(name)
        for dataset in seen.get(row, ())
    ]
    here = [
        (dataset, name)
        for name in systems
        for learnt in learnt_from(name, {})  # the given datasets, not their train splits
        for dataset in datasets
        if _collection(dataset) == _collection(learnt)
    ]
    found = dict.fromkeys(pair for pair in [*known, *here] if pair[0] in wanted)
    return DataFrame(list(found), columns=["dataset", "system"], dtype="str")


@cache
def _rows_behind(name: str) -> frozenset[str]:
    """Return the catalogue's rows from which a system is made; cached."""
    return frozenset(rows_behind(name))


def _collection(dataset: str) -> str:
    """Return the collection of a dataset; its splits and forums have the same one."""
    known = DATASETS.get(dataset)
    return (known.collection if known else dataset).partition("/")[0]


@cache
def _trained_on() -> list[tuple[str, str]]:
    """Return dataset, system of the catalogue's training datasets, with their splits and forums."""
    return [
        (dataset.name, system.name)
        for system in SYSTEMS.values()
        for dataset in DATASETS.values()
        if dataset.collection.partition("/")[0] in system.trained_on
    ]
