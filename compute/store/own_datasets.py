"""Imported datasets, in addition to those of the catalogue."""

from collections.abc import Iterable

from compute.datasets import DATASETS, Dataset, dataset
from compute.store.store import Part, Store


def own_datasets(store: Store) -> dict[str, Dataset]:
    """Return the imported datasets, by name."""
    return of_parts(store.parts("queries"))


def dataset_of(store: Store, name: str) -> Dataset:
    """Return the dataset of that name, from the catalogue or imported. Raises Missing."""
    return dataset(name, own_datasets(store))


def of_parts(parts: Iterable[Part]) -> dict[str, Dataset]:
    """Return the imported datasets among these parts, by name."""
    queries = (part for part in parts if part.kind == "queries" and part.dataset not in DATASETS)
    return {part.dataset: Dataset.from_record(part.provenance["dataset"]) for part in queries}
