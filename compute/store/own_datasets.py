"""The collections that somebody took in here, beside those of the catalogue."""

from compute.datasets import DATASETS, Dataset
from compute.store.store import Store


def own_datasets(store: Store) -> dict[str, Dataset]:
    """The collections that were taken in, by name."""
    own = [part for part in store.parts("queries") if part.dataset not in DATASETS]
    return {part.dataset: Dataset.from_record(part.provenance["dataset"]) for part in own}
