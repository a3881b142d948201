"""The collections that somebody took in here, beside those of the catalogue."""

from compute.datasets import DATASETS, Dataset
from compute.store.store import Store


def own_datasets(store: Store) -> dict[str, Dataset]:
    """The collections that were taken in, by name."""
    records = {part.dataset: part.provenance["dataset"] for part in store.parts("queries")}
    own = {name: record for name, record in records.items() if name not in DATASETS}
    return {name: Dataset.from_record(record) for name, record in own.items()}
