"""Annotation tasks for tests, on two systems; answers as a browser sends them."""

import itertools

import pandas as pd
from pandas import DataFrame
from sqlalchemy import select

from compute.judgements.orders import Framed
from compute.judgements.tasks import tables, tasks
from compute.judgements.tasks.answers import Answer, parsed
from compute.judgements.tasks.queue import Annotator
from compute.judgements.tasks.tasks import Plan, Task
from compute.store.store import Store

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
