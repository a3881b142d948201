"""A home with made-up runs whose truth is known, and a sampled task on them."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from pandas import DataFrame

from compute.base.settings import Settings
from compute.datasets import DATASETS, Dataset
from compute.evaluate.estimates.frames import Frame
from compute.judgements.tasks import queue, tasks
from compute.judgements.tasks.tasks import Task
from compute.reading.database import open_version
from compute.store.store import Store, top
from compute.views.annotate.select import StoredTops, judged
from tests.evaluate.estimates.made import drawn
from tests.support import filled
from tests.support.annotating import ADA, answer, plan
from tests.support.storage import scores

DATASET = "scifact"


def fill(home: Path, n_queries: int = 30) -> tuple[Store, Frame, np.ndarray]:
    """Four systems, the top 10 of each query; officially judged is one pair of each that nobody
    found, and the first of every third. Returns all grades, too."""
    frame, grades = drawn(n_queries, 10, seed=3)
    publish, there = partial(_publish, frame, grades), home.exists()
    if not there:
        filled.copied(("made up", n_queries), home, lambda made, _: publish(made.store))
    store = Store(Settings(home=home, threads=1), home / "none")
    if there:
        publish(store)
    return store, frame, grades


def _publish(frame: Frame, grades: np.ndarray, store: Store) -> Dataset:
    """Publish the runs and the official judgements."""
    known = frame.pairs.assign(relevance=grades.astype(int)).drop_duplicates("query_id").iloc[::3]
    away = DataFrame({"query_id": frame.queries, "doc_id": "away", "relevance": 1})
    with store.publishing("made") as parts:

        def add(kind: str, rows: DataFrame, system: str = "") -> None:
            named = {"dataset": DATASET, "system": system, "fingerprint": "f"}
            parts.add(kind, rows, **named, provenance={"depth": 30})

        add("judgements", pd.concat([known, away], ignore_index=True))
        for place, system in enumerate(frame.systems):
            rank = frame.rank[:, place]
            run = frame.pairs.assign(rank=rank.astype("int32"))[rank > 0]
            run = run.assign(score=1 / run["rank"]).reset_index(drop=True)
            add("hits", run, system)
            add("top", top(run), system)
            add("scores", scores("P@10", **dict.fromkeys(frame.queries, 0.0)), system)
    return DATASETS[DATASET]


def make(store: Store, frame: Frame, **changes: object) -> Task:
    """A sampled task of 200 pairs."""
    asked = {"dataset": DATASET, "systems": frame.systems, "n_pairs": 200, "order": "sampled"}
    asked |= {"measure": "P@10", "goal": "scores", "depth": 10} | changes
    cursor = open_version(store).cursor()
    official = judged(cursor, DATASET)
    return tasks.make(store, plan(**asked), StoredTops(cursor, DATASET), official, "maker")


def judge(store: Store, task: Task, frame: Frame, grades: np.ndarray, n: int) -> None:
    """One person gives the next n pairs the grades they have."""
    hand = queue.exchange(store, task, ADA)
    while n > 0:
        held = hand.held[:n]
        rows = frame.rows(DataFrame([(pair.query_id, pair.doc_id) for pair in held], columns=_PAIR))
        given = [
            answer(pair.id, relevance=int(grades[row]))
            for pair, row in zip(held, rows, strict=True)
        ]
        hand = queue.exchange(store, task, ADA, given)
        n -= len(held)


_PAIR = ["query_id", "doc_id"]
