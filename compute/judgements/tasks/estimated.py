"""What a sampled task's judgements say of the scores: grades in, estimates out."""

from dataclasses import dataclass

import numpy as np
from pandas import DataFrame
from sqlalchemy import select

from compute.evaluate.estimates import corrected, intervals, prediction
from compute.evaluate.estimates.frames import Flags, Frame
from compute.evaluate.estimates.linearised import kind
from compute.judgements.tasks import samples, tables
from compute.judgements.tasks.queue import JUDGED, SKIPPED
from compute.judgements.tasks.tasks import Task
from compute.store.store import Store


@dataclass(frozen=True)
class Estimated:
    """Estimates, and the sample behind them."""

    estimates: intervals.Estimates
    n: int
    """Pairs of the sample: the first ones up to the first that still waits."""
    n_judged: int
    """Of them; nobody would judge the others, which widen the intervals."""
    batch: samples.Drawn
    n_pairs: int
    """Of the frame."""


def estimated(store: Store, task: Task, frame: Frame, judgements: DataFrame) -> Estimated:
    """The measure of a sampled task by query_id, doc_id, relevance of all that is judged.

    `frame`: of the task's systems and depth. Raises Missing for a task that is not sampled, or
    whose frame is another now.
    """
    batch = samples.stored(store, task.id)
    order = batch.order(frame)
    grades = frame.grades(judgements)
    judged = ~np.isnan(grades)
    n = order.complete(judged | _passed_over(store, task, frame))
    asked = samples.Asked(task.measure, task.goal, task.baseline, task.grades)
    given = prediction.features(frame)
    evaluated = judgements[judgements["query_id"].isin(frame.queries)]
    levels = asked.levels(evaluated["relevance"].to_numpy(np.float64))
    sample = corrected.corrected(frame, given, grades, [order.first(n)], levels)
    outside = frame.outside(evaluated, levels)
    found = intervals.estimates(frame, kind(task.measure), sample, outside)
    return Estimated(found, n, int(judged[order.rows[:n]].sum()), batch, frame.n)


def _passed_over(store: Store, task: Task, frame: Frame) -> Flags:
    """(N,) What everybody skipped: all who may judge, or where anybody may, all who answered."""
    turns, pairs = tables.turns, tables.pairs
    query = (
        select(pairs.c.query_id, pairs.c.doc_id, turns.c.person, turns.c.status)
        .join(turns, turns.c.pair == pairs.c.id)
        .where(pairs.c.task == task.id, turns.c.status.in_([JUDGED, SKIPPED]))
    )
    columns = ["query_id", "doc_id", "person", "status"]
    with store.engine.connect() as connection:
        given = [tuple(row) for row in connection.execute(query)]
    answers = DataFrame(given, columns=columns)
    everybody = len(set(task.annotators)) or answers["person"].nunique()
    skipped = answers[answers["status"] == SKIPPED].drop_duplicates(columns[:3])
    rows, n_people = np.unique(frame.rows(skipped), return_counts=True)
    found = np.zeros(frame.n, bool)
    found[rows[(n_people >= everybody) & (rows >= 0)]] = True
    return found
