"""What several pages say of a dataset: what is loaded, what brings a first run."""

from collections.abc import Sequence

import streamlit as st
from pandas import DataFrame

from compute.datasets import Dataset
from compute.views.page import offers
from compute.views.shared import catalogue, next_steps
from pages._shared import address
from pages._shared.reading import read
from pages._shared.served import Served


def titles() -> dict[str, str]:
    """Title of each dataset by its name."""
    return offers.dataset_titles(Served())


def record(name: str) -> Dataset:
    """A dataset that is stored, by its name."""
    return next_steps.record(read(catalogue.facts, dataset=name))


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
        without = offers.without_runs(Served(), next_steps.record(facts))
    address.known("dataset", names, "dataset with ranked lists", without)
