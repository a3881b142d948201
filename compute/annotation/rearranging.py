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

Pair = tuple[str, str]
"""query_id, doc_id."""

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
    columns = placed.sort_values("place")[["query_id", "doc_id"]]
    best: list[Any] = list(columns.itertuples(index=False, name=None))
    with state.writing(store.engine) as connection:
        # People who ask for pairs of this task wait here, as in `queue.exchange`.
        lock = select(tables.tasks.c.id).where(tables.tasks.c.id == task.id).with_for_update()
        connection.execute(lock)
        return _rearrange(connection, task, best)


def _rearrange(connection: Connection, task: Task, best: list[Pair]) -> bool:
    rows = _rows(connection, task)
    found = {_pair(row): row for row in rows}
    free = [row for row in rows if not row["turns"] and row["labels"]]
    front, behind = free[:FIRST], free[FIRST:]
    wanted = [pair for pair in best if not found.get(pair, {}).get("turns")][: len(front)]
    leaving = [pair for pair in map(_pair, front) if pair not in wanted]
    # What was judged meanwhile, elsewhere, is in no order any more: it stays, behind.
    n_short = len(front) - len(wanted)
    wanted, leaving = wanted + leaving[:n_short], leaving[n_short:]
    if wanted == list(map(_pair, front)):
        return False
    moved = dict(zip(wanted, map(_slot, front), strict=True))
    # The places of those that come from behind go to those that have to leave the front.
    vacated = [_slot(row) for row in behind if _pair(row) in moved]
    moved |= dict(zip(leaving, vacated, strict=False))
    _write(connection, task, found, moved, leaving[len(vacated) :])
    return True


def _pair(row: dict[str, Any]) -> Pair:
    return row["query_id"], row["doc_id"]


def _slot(row: dict[str, Any]) -> tuple[int, int]:
    """Where it stands, and how many labels are wanted there."""
    return row["place"], row["labels"]


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
    found: dict[Pair, dict[str, Any]],
    moved: dict[Pair, tuple[int, int]],
    aside: list[Pair],
) -> None:
    # First out of the way: no two pairs may have one place, not even for a moment.
    lowest = min(0, *(row["place"] for row in found.values()))
    stored = [pair for pair in (*moved, *aside) if pair in found]
    away = [(pair, (lowest - number, 0)) for number, pair in enumerate(stored, start=1)]
    there = [(pair, slot) for pair, slot in moved.items() if pair in found]
    change = update(pairs).where(pairs.c.id == bindparam("row"))
    change = change.values(place=bindparam("at"), labels=bindparam("wants"))
    for slots in (away, there):
        if slots:
            values = [
                {"row": found[pair]["id"], "at": place, "wants": labels}
                for pair, (place, labels) in slots
            ]
            connection.execute(change, values)
    new = [
        {"query_id": pair[0], "doc_id": pair[1], "place": place, "labels": labels}
        for pair, (place, labels) in moved.items()
        if pair not in found
    ]
    if new:
        tokens = [{"id": secrets.token_hex(8), "task": task.id} | row for row in new]
        connection.execute(insert(pairs), tokens)
