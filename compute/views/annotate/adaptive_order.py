"""Rearranging a task: while it is judged, an order that learns from judgements is recomputed.

Only pairs that have not been handed out move. A row keeps its query and document, so a late answer
still belongs to the pair that the assessor saw. A pair replaced by a better one needs no more
labels and waits at a place below 0; the task keeps its numbers of pairs and labels. The order is
computed outside the form, and assessors get pairs in the older order until one short transaction
writes the new one, without moving pairs handed out meanwhile.
"""

import secrets
import threading
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from pandas import DataFrame
from sqlalchemy import Connection, bindparam, func, insert, select, update

from compute.base import bug_reports, disk_refusals
from compute.judgements import orders
from compute.judgements.tasks import tables
from compute.judgements.tasks.tables import pairs, turns
from compute.judgements.tasks.tasks import Task, judged
from compute.reading.database import open_version
from compute.store import state
from compute.store.store import Store
from compute.views.annotate import select as annotate_select

Pair = tuple[str, str]
"""query_id and doc_id."""

EVERY = 10
"""Number of judgements by one person after which the order is recomputed."""
FIRST = 200
"""Most pairs that are ordered, from the front; the next rearrangement precedes later pairs."""

_under_way: set[str] = set()
_guard = threading.Lock()


@dataclass(frozen=True)
class Draft:
    """The movable pairs of a task, read before the transaction that moves them."""

    n_stored: int
    """Number of the task's pairs, including those that wait below 0."""
    lowest: int
    """The lowest place of any pair."""
    free: list[dict[str, Any]]
    """Rows that may move, by place: twice as many as will, since some may be handed out."""
    best: list[Pair]
    """Pairs not yet handed out that the new order puts first."""


def soon(store: Store, task: Task) -> threading.Thread | None:
    """Rearrange a task in a new thread and return it; None if one runs or the order is fixed."""
    if task.order not in orders.ADAPTIVE:
        return None
    with _guard:
        if task.id in _under_way:
            return None
        _under_way.add(task.id)
    thread = threading.Thread(target=_beside, args=(store, task), daemon=True)
    thread.start()
    return thread


def _beside(store: Store, task: Task) -> None:
    """Rearrange a task by the store's newest version; record an error instead of raising it."""
    try:
        with closing(open_version(store)) as reading, reading.cursor() as cursor:
            tops = annotate_select.StoredTops(cursor, task.dataset)
            official = annotate_select.judged(cursor, task.dataset)
            rearrange(store, task, tops, judged(store, task.dataset, official))
    except Exception as error:
        # The task continues in its older order, since nobody waits for an answer.
        if not disk_refusals.refusal(error, store.home):
            bug_reports.record(store.settings, "rearranging", error)
    finally:
        with _guard:
            _under_way.discard(task.id)


def rearrange(store: Store, task: Task, tops: orders.Tops, judgements: DataFrame) -> bool:
    """Order the next `FIRST` pairs of a task by the judgements so far, if its order learns; return
    true if anything changed. `tops` and `judgements`: as in `tasks.make`."""
    if task.order not in orders.ADAPTIVE:
        return False
    return write(store, task, draft(store, task, tops, judgements))


def draft(store: Store, task: Task, tops: orders.Tops, judgements: DataFrame) -> Draft:
    """Return the pairs of the task that may move, and the wanted order; nothing waits for this."""
    with store.engine.connect() as connection:
        rows = _rows(connection, task)
    seen = {_pair(row) for row in rows if row["turns"]}
    blocks = tops.blocks(judgements, task.systems, task.depth)
    # Enough pairs remain even if all seen ones come first.
    most = len(seen) + 2 * FIRST
    placed = orders.first(task.order, blocks, task.depth, task.seed, most)
    asked: list[Pair] = list(placed[["query_id", "doc_id"]].itertuples(index=False, name=None))
    best = [pair for pair in asked if pair not in seen][: 2 * FIRST]
    free = [row for row in rows if not row["turns"]]
    labelled = [row["id"] for row in free if row["labels"]]
    wanted, kept = set(best), {*labelled[: 2 * FIRST]}
    movable = [row for row in free if row["id"] in kept or _pair(row) in wanted]
    return Draft(len(rows), min((row["place"] for row in rows), default=0), movable, best)


def write(store: Store, task: Task, drafted: Draft) -> bool:
    """Move pairs not yet handed out; return false if nothing moves or the draft is outdated."""
    with state.writing(store.engine) as connection:
        # Requests for pairs of this task wait here, as in `queue.exchange`.
        lock = select(tables.tasks.c.id).where(tables.tasks.c.id == task.id).with_for_update()
        connection.execute(lock)
        if not _stands(connection, task, drafted):
            return False
        ids = [row["id"] for row in drafted.free]
        given = select(turns.c.pair).where(turns.c.task == task.id, turns.c.pair.in_(ids))
        taken = set(connection.execute(given).scalars())
        return _rearrange(connection, task, drafted, taken)


def _stands(connection: Connection, task: Task, drafted: Draft) -> bool:
    """Return true if the task was not rearranged since the draft."""
    mine = pairs.c.task == task.id
    stored = connection.execute(select(func.count()).select_from(pairs).where(mine)).scalar()
    ids = [row["id"] for row in drafted.free]
    rows = connection.execute(select(pairs.c.id, pairs.c.place).where(pairs.c.id.in_(ids)))
    places = {row["id"]: row["place"] for row in drafted.free}
    return stored == drafted.n_stored and {row.id: row.place for row in rows} == places


def _rearrange(connection: Connection, task: Task, drafted: Draft, taken: set[str]) -> bool:
    """Move the drafted pairs that were not handed out (`taken`); return false if none moves."""
    found = {_pair(row): row for row in drafted.free}
    gone = {_pair(row) for row in drafted.free if row["id"] in taken}
    free = [row for row in drafted.free if row["labels"] and row["id"] not in taken]
    front, behind = free[:FIRST], free[FIRST:]
    wanted = [pair for pair in drafted.best if pair not in gone][: len(front)]
    leaving = [pair for pair in map(_pair, front) if pair not in wanted]
    # Pairs that the order no longer contains (judged elsewhere) fill the last places of the front.
    n_short = len(front) - len(wanted)
    wanted, leaving = wanted + leaving[:n_short], leaving[n_short:]
    if wanted == list(map(_pair, front)):
        return False
    moved = dict(zip(wanted, map(_slot, front), strict=True))
    # Pairs that leave the front get the places of those that move there.
    vacated = [_slot(row) for row in behind if _pair(row) in moved]
    moved |= dict(zip(leaving, vacated, strict=False))
    _write(connection, task, drafted, found, moved, leaving[len(vacated) :])
    return True


def _pair(row: dict[str, Any]) -> Pair:
    return row["query_id"], row["doc_id"]


def _slot(row: dict[str, Any]) -> tuple[int, int]:
    """Return the place of a pair, and the number of labels wanted there."""
    return row["place"], row["labels"]


def _rows(connection: Connection, task: Task) -> list[dict[str, Any]]:
    """Return the task's pairs by place: id, place, query_id, doc_id, labels, turns (a number)."""
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
    drafted: Draft,
    found: dict[Pair, dict[str, Any]],
    moved: dict[Pair, tuple[int, int]],
    aside: list[Pair],
) -> None:
    """Write the `moved` slots, pairs set `aside`, and pairs that the task did not have."""
    # Pairs move aside first, since no two may share a place even for a moment.
    lowest = min(0, drafted.lowest)
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
