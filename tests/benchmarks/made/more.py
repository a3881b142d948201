"""What a full-size store has beside runs: judgements of people, tasks, counts of words."""

import numpy as np
import pandas as pd
from pandas import DataFrame

from compute.corpora import overlap
from compute.datasets import DATASETS
from compute.judgements.labels import PERSON
from compute.judgements.orders import Framed
from compute.judgements.tasks import tasks
from compute.judgements.tasks.grades import of_levels
from compute.recompute.run import read
from compute.store.loading import Bench, Loaded, stored
from compute.store.store import Store

JUDGED = ("nfcorpus", "scifact", "nq")
"""Datasets whose holes people judged."""
PEOPLE = ("Ada", "Grace", "Karen")
EACH = 60
"""Pairs that each of them judges of a dataset; some of them are the same."""
SYSTEMS = ("bm25", "tas-b", "splade", "colbert")
PAIRS = 400
"""Pairs of a task."""


def add_judgements(store: Store) -> None:
    """A task on each dataset, and what three people judged of it, some pairs twice."""
    for number, name in enumerate(JUDGED):
        loaded = stored(store, DATASETS[name])
        if loaded is None:
            continue
        random = np.random.default_rng(number)
        made = _task(store, loaded)
        pairs = tasks.pairs(store, made.id)
        for person in PEOPLE:
            chosen = pairs.sample(min(EACH, len(pairs)), random_state=random)
            store.add_judgements(
                DataFrame(
                    {
                        "dataset": name,
                        "query_id": chosen["query_id"],
                        "doc_id": chosen["doc_id"],
                        "relevance": random.integers(0, made.grades[-1][0] + 1, len(chosen)),
                        "person": person,
                        "task": made.id,
                        "guideline_version": "1",
                        "source": PERSON,
                    }
                )
            )


def _task(store: Store, loaded: Loaded) -> tasks.Task:
    name = loaded.dataset.name
    official = read(loaded.judgements)
    tops = [
        read(part).assign(system=part.system)
        for part in store.parts("top", name)
        if part.system in SYSTEMS
    ]
    plan = tasks.Plan(
        title=f"Holes of {loaded.dataset.title}",
        dataset=name,
        systems=SYSTEMS,
        depth=10,
        n_pairs=PAIRS,
        order="fusion",
        seed=1,
        grades=of_levels(official["relevance"].unique()),
        double_share=0.2,
        guideline="Made up.",
    )
    return tasks.make(store, plan, Framed(pd.concat(tops)), official, PEOPLE[0])


def count_words(bench: Bench) -> None:
    """Count words, pairs of words and word pieces of every collection, and compare them all."""
    names = [part.dataset for part in bench.store.parts("queries")]
    for name in names:
        loaded = stored(bench.store, DATASETS[name])
        assert loaded is not None
        overlap.count(bench, loaded)
    overlap.compare(bench, names)
