"""Fetching as a job: which archives the named datasets need, and which of them are here."""

from collections.abc import Collection, Sequence

from compute.base.errors import WrongInput
from compute.datasets import dataset
from compute.intake.fetch.offers import OFFERS, here, offer
from compute.store import loading
from compute.store.store import Store

Target = tuple[str, str]


def targets(store: Store, systems: Sequence[str], datasets: Sequence[str]) -> list[Target]:
    """One for each archive, named by the first dataset in it. Raises for what cannot be had."""
    if systems:
        raise WrongInput("this needs datasets alone, no systems: leave --systems out")
    if not datasets:
        raise WrongInput("name the datasets to fetch, such as scifact")
    own = loading.own_datasets(store)
    found = [offer(dataset(name, own)) for name in datasets]
    return list(dict.fromkeys(("", one.rows[0].name) for one in found))


def current(store: Store, wanted: Sequence[Target]) -> Collection[Target]:
    """Those whose archive or folder is here."""
    archives = {one.rows[0].name: one for one in OFFERS.values()}
    return [target for target in wanted if here(archives[target[1]], store.settings) is not None]
