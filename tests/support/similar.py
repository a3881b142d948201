"""Made-up similarities of collections with names as long as real ones."""

import numpy as np
from pandas import DataFrame

from compute.datasets.catalogue import DATASETS

NINETEEN = [
    row.name
    for row in DATASETS.values()
    if row.group == "BEIR" and row.name == row.collection and "/" not in row.name
]
TITLES = {name: DATASETS[name].title for name in NINETEEN}
EVIL = "<b>*mine*&$x$ %{x}"


def made_up(names: list[str], seed: int) -> DataFrame:
    """dataset, other, similarity of frequencies drawn around a few common subjects."""
    chance = np.random.default_rng(seed)
    subjects = chance.dirichlet(np.full(60, 0.25), size=4)
    mixed = chance.dirichlet(np.full(4, 0.4), size=len(names)) @ subjects
    words = 0.7 * mixed + 0.3 * chance.dirichlet(np.full(60, 2.0), size=len(names))
    rows = [
        (
            names[a],
            names[b],
            np.minimum(words[a], words[b]).sum() / np.maximum(words[a], words[b]).sum(),
        )
        for a in range(len(names))
        for b in range(a + 1, len(names))
    ]
    return DataFrame(rows, columns=["dataset", "other", "similarity"])


def vocabularies(names: list[str]) -> DataFrame:
    """dataset, title, domain, n_documents, n_terms: as the catalogue knows them."""
    rows = [
        (name, DATASETS[name].title, DATASETS[name].domain, DATASETS[name].n_documents, 1000)
        for name in names
    ]
    return DataFrame(rows, columns=["dataset", "title", "domain", "n_documents", "n_terms"])
