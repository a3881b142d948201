"""What several pages say of a dataset: what is loaded, what brings a first run."""

from collections.abc import Sequence

import streamlit as st
from pandas import DataFrame

from compute.datasets import Dataset
from compute.store import freshness
from compute.views.dataset import select as dataset_select
from compute.views.page import offers
from compute.views.shared import catalogue, next_steps
from pages._shared import address, reading
from pages._shared.reading import read
from pages._shared.served import Served


def titles() -> dict[str, str]:
    """Title of each dataset by its name."""
    return offers.dataset_titles(Served())


def record(name: str) -> Dataset:
    """A dataset that is stored, by its name."""
    return next_steps.record(read(catalogue.facts, dataset=name))


def outdated(dataset: Dataset) -> list[str]:
    """The systems whose runs on it, or on its parts, are out of date."""
    return freshness.outdated(reading.parts(), [dataset.name, *dataset.parts])


def counted(dataset: Dataset) -> DataFrame:
    """What is loaded of a dataset, or of its parts together, as one row."""
    names = list(dataset.parts) or [dataset.name]
    roots = list(dataset.parts) or [dataset.collection]
    return read(dataset_select.statistics, datasets=names, collections=roots)


def segmented(*collections: str) -> str:
    """How words of these collections (of none: of any) are told apart where white space does not,
    as a sentence; empty where it does."""
    return offers.segmented(Served(), *collections)


def example(dataset: Dataset) -> DataFrame:
    """A query with a relevant document, of a dataset with parts one of the first: a row, or none;
    `dataset.select.example`."""
    name = (*dataset.parts, dataset.name)[0]
    collection = name if dataset.parts else dataset.collection
    return read(dataset_select.example, dataset=name, collection=collection)


def without_runs(dataset: Dataset) -> str:
    """What brings a first run."""
    old = outdated(dataset)
    return next_steps.without_runs(dataset, is_loaded=is_loaded(dataset), outdated=old)


def is_loaded(dataset: Dataset) -> bool:
    """Whether its documents are stored, or their lengths."""
    return not dataset.parts and bool(counted(dataset)["n_documents"].notna().any())


def with_lists() -> tuple[DataFrame, list[str]]:
    """The runs whose ranked lists are stored (dataset, system), and the names of their datasets.

    The page remembers which of these it showed last; where there is none it says so and ends.
    """
    runs = read(catalogue.runs)
    if runs.empty:
        st.info("No ranked lists are stored yet: python -m compute demo computes some.")
        address.stop()
    names = list(dict.fromkeys(runs["dataset"]))
    address.recall("dataset", names)
    return runs, names


def known_dataset(names: Sequence[str]) -> None:
    """Say what to do where the address names a dataset without ranked lists."""
    asked, without = st.query_params.get("dataset", ""), ""
    if asked not in names and len(facts := read(catalogue.facts, dataset=asked)):
        without = without_runs(next_steps.record(facts))
    address.known("dataset", names, "dataset with ranked lists", without)
