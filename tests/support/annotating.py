"""Annotation tasks for tests, on two systems; answers as a browser sends them."""

import itertools
from functools import partial
from pathlib import Path

import pandas as pd
from pandas import DataFrame
from sqlalchemy import select

from compute.datasets import Dataset
from compute.datasets.shapes import How
from compute.intake import imports
from compute.judgements.orders import Framed
from compute.judgements.tasks import queue, tables, tasks
from compute.judgements.tasks.answers import Answer, parsed
from compute.judgements.tasks.queue import Annotator
from compute.judgements.tasks.tasks import Plan, Task
from compute.reading.database import open_version
from compute.store.loading import Bench
from compute.store.store import Store
from compute.views.annotate.select import StoredTops, judged
from compute.views.compare import judging
from tests.support import filled

GRADES = ((0, "Not relevant"), (1, "Related"), (2, "Relevant"))
ADA, BOB, CYD, DAN = (Annotator(name) for name in ("ada", "bob", "cyd", "dan"))
NOTHING = pd.DataFrame(
    {"query_id": pd.Series([], dtype="str"), "doc_id": pd.Series([], dtype="str"), "relevance": []}
)
_numbers = itertools.count(1)


def plan(**changes: object) -> Plan:
    """A plan over the systems `one` and `two` in the order of depth."""
    given = {
        "title": "Holes",
        "dataset": "tiny",
        "systems": ("one", "two"),
        "depth": 10,
        "n_pairs": 100,
        "order": "depth",
        "seed": 7,
        "grades": GRADES,
    }
    return Plan(**(given | changes))  # pyrefly: ignore


def tops(n_queries: int = 2, depth: int = 3) -> DataFrame:
    """Both systems find the same documents, each its own way round."""
    rows = [
        (system, f"q{q}", f"d{d}", d if system == "one" else depth + 1 - d)
        for system in ("one", "two")
        for q in range(1, n_queries + 1)
        for d in range(1, depth + 1)
    ]
    return pd.DataFrame(rows, columns=["system", "query_id", "doc_id", "rank"])


def made(store: Store, n_queries: int = 2, **changes: object) -> Task:
    """A stored task of three pairs per query."""
    return tasks.make(store, plan(**changes), Framed(tops(n_queries)), NOTHING, "maker")


def answer(pair: str, act: str = "grade", relevance: int = 1, **more: object) -> Answer:
    """An answer with a name of its own."""
    entry = f"window-{next(_numbers)}"
    record = {"entry": entry, "pair": pair, "act": act, "relevance": relevance}
    return parsed([record | {"seconds": 2.5, "version": 1, **more}])[0]


def guidelines(store: Store, task_id: str) -> DataFrame:
    """version, text, person, created of every version, from the first."""
    table = tables.guidelines
    query = select(table).where(table.c.task == task_id).order_by(table.c.version)
    columns = ["version", "text", "person", "created"]
    with store.engine.connect() as connection:
        rows = [tuple(row._mapping[name] for name in columns) for row in connection.execute(query)]
    return DataFrame(rows, columns=columns)


N_QUERIES = 40
"""Queries; d0 to d9 are relevant to each: one run finds nine of them, the other two."""
BETTER = [f"d{n}" for n in range(9)] + ["x0"]
WORSE = ["d9", "d0"] + [f"x{n}" for n in range(1, 9)]


def good_and_poor(tmp_path: Path, n_queries: int) -> Bench:
    make = partial(_good_and_poor, n_queries)
    filled.copied(("good and poor", n_queries), tmp_path / "home", make)
    return filled.bench(tmp_path)


def _good_and_poor(n_queries: int, bench: Bench, folder: Path) -> Dataset:
    files = []
    for name, lists in (("good", BETTER), ("poor", WORSE)):
        file = folder / f"{name}.run"
        rows = [(q, doc, n) for q in range(n_queries) for n, doc in enumerate(lists)]
        file.write_text("".join(f"q{q} Q0 q{q}-{doc} 1 {-n} {name}\n" for q, doc, n in rows))
        files.append(file)
    row = imports.import_dataset(bench, "bare", files=[(file, How()) for file in files]).dataset
    for file in files:
        imports.import_run(bench, file, row)
    return row


def pair_task(store: Store) -> tasks.Task:
    plan = judging.plan("bare", "good", "poor")
    cursor = open_version(store).cursor()
    tops, known = StoredTops(cursor, "bare"), judged(cursor, "bare")
    said = judging.can_decide(tasks.expected(plan, tops, known), 0.8)
    assert "by which they can differ by at most .800. You judge documents in only one" in said
    assert "of the two top-10 lists: 100 judgements detect a difference of ." in said
    return tasks.make(store, plan, tops, known, "ada")


def judge_pair(store: Store, task: tasks.Task, n: int) -> None:
    hand = queue.exchange(store, task, ADA)
    while n > 0:
        held = hand.held[:n]
        given = [answer(one.id, relevance=int("-d" in one.doc_id)) for one in held]
        hand = queue.exchange(store, task, ADA, given)
        n -= len(held)
