"""Extends a sample: draws another batch of a sampled task from the unjudged pairs."""

import json
from collections.abc import Sequence
from dataclasses import replace

from pandas import DataFrame
from sqlalchemy import Connection, bindparam, exists, func, insert, select, update

from compute.base.errors import Conflict, WrongInput
from compute.judgements import orders, sampling
from compute.judgements.tasks import estimated, samples, tables, tasks
from compute.judgements.tasks.queue import JUDGED
from compute.judgements.tasks.samples import Drawn
from compute.judgements.tasks.tasks import LARGEST_SEED, Plan, Task
from compute.store import state
from compute.store.store import Store


def sample_on(
    store: Store,
    task: Task,
    systems: Sequence[str],
    n_pairs: int,
    tops: orders.Tops,
    judgements: DataFrame,
) -> Task:
    """Draw this many more pairs from the current lists of these systems; returns the extended task.
    For `tops` and `judgements` see `tasks.make`. The previous batch ends, and its unjudged pairs
    can be drawn again. A system of the task that no longer has lists is left out, unless it is the
    baseline. Raises Missing for a task that is not sampled, WrongInput for an audit or if nothing
    is left to judge, and Conflict if somebody else extended the task meanwhile."""
    if task.goal == sampling.AUDIT:
        raise WrongInput("An audit is drawn only once: create another one, with another seed.")
    batches = samples.stored(store, task.id)
    last, seed = batches[-1], (task.seed + len(batches)) % (LARGEST_SEED + 1)
    listed = {*tops.frame(systems, task.depth).systems, task.baseline}
    kept = {name for name in systems if name in listed or name not in task.systems}
    plan = replace(task, systems=tuple(sorted(kept)), n_pairs=n_pairs, seed=seed)
    tasks.check(plan)
    answers = estimated.answers_of(store, task)
    done = last.done + estimated.counted(batches, judgements, answers)[-1]
    frame = tasks.frame_of(plan, tops)
    known = frame.grades(judgements)
    batch = samples.draw(frame, tasks.asked(plan), known, seed, last.number + 1, done)
    versions = store.version(), store.judgement_version()
    with state.writing(store.engine) as connection:
        _require_newest(connection, task, last)
        _place(connection, plan, task.id, batch.first(n_pairs))
        samples.insert(connection, task.id, batch, *versions)
        number = batch.done + len(batch.first(n_pairs))
        values = {"systems": json.dumps(batch.systems), "n_pairs": number}
        connection.execute(update(tables.tasks).where(tables.tasks.c.id == task.id).values(values))
    return tasks.task(store, task.id)


def _require_newest(connection: Connection, task: Task, last: Drawn) -> None:
    # Requests for pairs of this task wait here, as in `queue.exchange`.
    """Raise Conflict if the task has a newer batch than `last`."""
    lock = select(tables.tasks.c.id).where(tables.tasks.c.id == task.id).with_for_update()
    connection.execute(lock)
    newest = select(func.max(tables.batches.c.batch)).where(tables.batches.c.task == task.id)
    if connection.execute(newest).scalar() != last.number:
        raise Conflict("Somebody has just extended this task: check it again first.")


def _place(connection: Connection, plan: Plan, task_id: str, placed: DataFrame) -> None:
    """Put the drawn pairs behind all others; other unjudged pairs are no longer needed. No pair is
    removed: a person who holds one may still answer, and people may judge it elsewhere."""
    pairs, turns = tables.pairs, tables.turns
    judged = exists().where(turns.c.pair == pairs.c.id, turns.c.status == JUDGED)
    mine = pairs.c.task == task_id
    last = connection.execute(select(func.max(pairs.c.place)).where(mine)).scalar() or 0
    left = select(pairs.c.id, pairs.c.query_id, pairs.c.doc_id).where(mine, ~judged)
    here = {(row.query_id, row.doc_id): row.id for row in connection.execute(left)}
    connection.execute(update(pairs).where(mine, ~judged).values(labels=0))
    moved, new = [], []
    for row in tasks.placed_pairs(task_id, plan, placed):
        row["place"] += last
        known = here.get((row["query_id"], row["doc_id"]))
        if known is None:
            new.append(row)
        else:
            moved.append({"row": known, "at": row["place"], "wants": row["labels"]})
    change = update(pairs).where(pairs.c.id == bindparam("row"))
    if moved:
        connection.execute(change.values(place=bindparam("at"), labels=bindparam("wants")), moved)
    if new:
        connection.execute(insert(pairs), new)
