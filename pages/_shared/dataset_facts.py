"""Titles and records of datasets, for pages that are forms."""

from compute.datasets import Dataset
from compute.views.page import offers
from pages._shared.served import Served


def titles() -> dict[str, str]:
    """Return the title of each dataset by name."""
    return offers.dataset_titles(Served())


def record(name: str) -> Dataset:
    """Return a stored dataset by its name."""
    return offers.record(Served(), name)
