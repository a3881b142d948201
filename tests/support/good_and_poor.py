"""A dataset without judgements and two runs, of which one finds nine relevant documents a query."""

from functools import partial
from pathlib import Path

from compute.datasets import Dataset
from compute.datasets.shapes import How
from compute.intake import imports
from compute.judgements.tasks import queue, tasks
from compute.reading.database import open_version
from compute.store.loading import Bench
from compute.store.store import Store
from compute.views.annotate.select import StoredTops, judged
from compute.views.compare import judging
from tests.support import filled
from tests.support.annotating import ADA, answer

N = 40
"""Queries; d0 to d9 are relevant to each: one run finds nine of them, the other two."""
BETTER = [f"d{n}" for n in range(9)] + ["x0"]
WORSE = ["d9", "d0"] + [f"x{n}" for n in range(1, 9)]


def held(tmp_path: Path, n_queries: int) -> Bench:
    make = partial(_held, n_queries)
    filled.copied(("good and poor", n_queries), tmp_path / "home", make)
    return filled.bench(tmp_path)


def _held(n_queries: int, bench: Bench, folder: Path) -> Dataset:
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


def made(store: Store) -> tasks.Task:
    plan = judging.plan("bare", "good", "poor")
    cursor = open_version(store).cursor()
    tops, known = StoredTops(cursor, "bare"), judged(cursor, "bare")
    said = judging.can_decide(tasks.expected(plan, tops, known), 0.8)
    assert "by which they can differ by at most .800. You judge documents in only one" in said
    assert "of the two top-10 lists: 100 judgements detect a difference of ." in said
    return tasks.make(store, plan, tops, known, "ada")


def judge(store: Store, task: tasks.Task, n: int) -> None:
    hand = queue.exchange(store, task, ADA)
    while n > 0:
        held = hand.held[:n]
        given = [answer(one.id, relevance=int("-d" in one.doc_id)) for one in held]
        hand = queue.exchange(store, task, ADA, given)
        n -= len(held)
