"""What a sampled task's judgements say of the scores: grades in, estimates out."""

from dataclasses import dataclass

import numpy as np
from pandas import DataFrame
from sqlalchemy import select

from compute.evaluate.estimates import corrected, intervals, prediction
from compute.evaluate.estimates.frames import Frame
from compute.evaluate.estimates.linearised import kind
from compute.judgements.sampling import Order
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
    """Of them; the others were skipped by all who answered so far, and widen the intervals."""
    batch: samples.Drawn
    n_pairs: int
    """Of the frame."""
    n_behind: int
    """Judged pairs of the task that do not count yet: they stand behind one that waits."""
    waits_for: tuple[str, ...]
    """Who answered in the task, but not that one."""
    missing: tuple[str, ...]
    """Systems of the task without ranked lists for these queries."""


def estimated(store: Store, task: Task, frame: Frame, judgements: DataFrame) -> Estimated:
    """The measure of a sampled task by query_id, doc_id, relevance of all that is judged.

    `frame`: of the task's systems and depth. Raises Missing for a task that is not sampled, or
    whose frame is another now.
    """
    batch = samples.stored(store, task.id)
    order = batch.order(frame)
    grades = frame.grades(judgements)
    judged = ~np.isnan(grades)
    answers = _answers(store, task)
    people, skipped = set(answers["person"]), answers[answers["status"] == SKIPPED]
    rows = frame.rows(skipped)
    # A row is passed over once all who answered so far skipped it; whoever comes later may judge.
    n_skips = np.bincount(rows[rows >= 0], minlength=frame.n)
    n = order.complete(judged | ((n_skips > 0) & (n_skips == len(people))))
    asked = samples.Asked(task.measure, task.goal, task.baseline, task.grades)
    given = prediction.features(frame)
    evaluated = judgements[judgements["query_id"].isin(frame.queries)]
    levels = asked.levels(evaluated["relevance"].to_numpy(np.float64))
    sample = corrected.corrected(frame, given, grades, [order.first(n)], levels)
    outside = frame.outside(evaluated, levels)
    found = intervals.estimates(frame, kind(task.measure), sample, outside)
    return Estimated(
        found,
        n,
        int(judged[order.rows[:n]].sum()),
        batch,
        frame.n,
        n_behind=int(judged[order.rows[n : task.n_pairs]].sum()),
        waits_for=tuple(sorted(people - {*skipped["person"][rows == _next(order, n)]})),
        missing=tuple(sorted({*task.systems} - {*frame.systems})),
    )


def _next(order: Order, n: int) -> int:
    """The row that the sample stops at; none of the frame where it is whole."""
    return int(order.rows[n]) if n < len(order.rows) else order.n_rows


def _answers(store: Store, task: Task) -> DataFrame:
    """query_id, doc_id, person, status of what was answered, skipped pairs included."""
    turns, pairs = tables.turns, tables.pairs
    query = (
        select(pairs.c.query_id, pairs.c.doc_id, turns.c.person, turns.c.status)
        .join(turns, turns.c.pair == pairs.c.id)
        .where(pairs.c.task == task.id, turns.c.status.in_([JUDGED, SKIPPED]))
    )
    columns = ["query_id", "doc_id", "person", "status"]
    with store.engine.connect() as connection:
        given = [tuple(row) for row in connection.execute(query)]
    return DataFrame(given, columns=columns)
