"""Rearranging: an order that learns from judgements is asked again while a task is judged.

Only pairs without a turn move. No row ever gets another query or document: an answer that comes
late still belongs to what was seen. A pair that a better one replaces wants no label any more and
waits at a place below 0; the task keeps its number of pairs and of labels.
"""

import secrets
from typing import Any

from pandas import DataFrame
from sqlalchemy import Connection, bindparam, func, insert, select, update

from compute import orders, state
from compute.annotation import tables
from compute.annotation.tables import pairs, turns
from compute.annotation.tasks import Task
from compute.store import Store

EVERY = 10
"""Judgements of a person after which the order is asked again."""
FIRST = 200
"""Pairs that are looked at, from the front: more would not be reached before the next time."""


def rearrange(store: Store, task: Task, tops: DataFrame, judgements: DataFrame) -> bool:
    """Put the next `FIRST` pairs of a task in order by what is judged by now, if its order learns.

    `tops` and `judgements` as for `tasks.make`. Whether anything changed.
    """
    if task.order not in orders.ADAPTIVE:
        return False
    tops = tops[tops["system"].isin(task.systems)]
    placed = orders.order(task.order)(tops, judgements, task.depth, task.seed)
    best = list(placed.sort_values("place")[["query_id", "doc_id"]].itertuples(index=False))
    with state.writing(store.engine) as connection:
        # People who ask for pairs of this task wait here, as in `queue.exchange`.
        lock = select(tables.tasks.c.id).where(tables.tasks.c.id == task.id).with_for_update()
        connection.execute(lock)
        return _rearrange(connection, task, [tuple(pair) for pair in best])


def _rearrange(connection: Connection, task: Task, best: list[tuple[str, str]]) -> bool:
    rows = _rows(connection, task)
    found = {(row["query_id"], row["doc_id"]): row for row in rows}
    open_rows = [row for row in rows if not row["turns"] and row["labels"]]
    front = open_rows[:FIRST]
    wanted = [pair for pair in best if not found.get(pair, {}).get("turns")][: len(front)]
    # What others judged meanwhile, elsewhere, is in no order any more: it stays, behind.
    rest = [pair for row in front if (pair := (row["query_id"], row["doc_id"])) not in wanted]
    wanted += rest[: len(front) - len(wanted)]
    slots = [(row["place"], row["labels"]) for row in front]
    if wanted == [(row["query_id"], row["doc_id"]) for row in front]:
        return False
    moved = dict(zip(wanted, slots, strict=True))
    # The places of those that come from behind go to those that had to leave the front.
    front_ids = {row["id"] for row in front}
    vacated = [
        (row["place"], row["labels"])
        for row in open_rows[FIRST:]
        if (row["query_id"], row["doc_id"]) in moved and row["id"] not in front_ids
    ]
    leaving = [pair for pair in rest if pair not in moved]
    moved |= dict(zip(leaving, vacated, strict=False))
    aside = leaving[len(vacated) :]
    _write(connection, task, found, moved, aside)
    return True


def _rows(connection: Connection, task: Task) -> list[dict[str, Any]]:
    """id, place, query_id, doc_id, labels and turns (how many), by place."""
    counted = (
        select(turns.c.pair, func.count().label("turns"))
        .where(turns.c.task == task.id)
        .group_by(turns.c.pair)
        .subquery()
    )
    columns = (pairs.c.id, pairs.c.place, pairs.c.query_id, pairs.c.doc_id, pairs.c.labels)
    query = (
        select(*columns, func.coalesce(counted.c.turns, 0).label("turns"))
        .select_from(pairs.outerjoin(counted, counted.c.pair == pairs.c.id))
        .where(pairs.c.task == task.id)
        .order_by(pairs.c.place)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def _write(
    connection: Connection,
    task: Task,
    found: dict[tuple[str, str], dict[str, Any]],
    moved: dict[tuple[str, str], tuple[int, int]],
    aside: list[tuple[str, str]],
) -> None:
    lowest = min(0, *(row["place"] for row in found.values()))
    stored = [pair for pair in (*moved, *aside) if pair in found]
    # First out of the way: no two pairs may have one place, not even for a moment.
    gone = [
        {"row": found[pair]["id"], "at": lowest - number, "wants": 0}
        for number, pair in enumerate(stored, start=1)
    ]
    there = [
        {"row": found[pair]["id"], "at": place, "wants": labels}
        for pair, (place, labels) in moved.items()
        if pair in found
    ]
    change = update(pairs).where(pairs.c.id == bindparam("row"))
    change = change.values(place=bindparam("at"), labels=bindparam("wants"))
    for values in (gone, there):
        if values:
            connection.execute(change, values)
    new = [
        {
            "id": secrets.token_hex(8),
            "task": task.id,
            "place": place,
            "query_id": pair[0],
            "doc_id": pair[1],
            "labels": labels,
        }
        for pair, (place, labels) in moved.items()
        if pair not in found
    ]
    if new:
        connection.execute(insert(pairs), new)
