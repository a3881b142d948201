"""The queue assigns pairs to people in advance and saves their answers. A pair is reserved for a
person for some minutes, then released. Nobody gets a pair that enough others hold or have judged,
or one that they have already judged or skipped."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median

import pandas as pd
from pandas import DataFrame
from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from compute.base import disk_refusals
from compute.base.errors import Conflict, WrongInput
from compute.judgements.labels import HUMAN, IMPORT, PAIR, PERSON, WITHDRAWN, labels
from compute.judgements.tasks.answers import GRADE, SKIP, UNDO, Answer
from compute.judgements.tasks.tables import pairs, turns
from compute.judgements.tasks.tables import tasks as tasks_table
from compute.judgements.tasks.tasks import Task
from compute.store import freshness, state
from compute.store.store import Part, Store

AHEAD = 12
"""Maximum number of pairs that a person holds at a time, including the one in view."""
HOLD = timedelta(minutes=5)
"""A pair is released if its holder sends nothing for this long."""
RECENT = 50
"""The pace is the median time of this many latest answers."""

HELD, JUDGED, SKIPPED = "held", "judged", "skipped"


@dataclass(frozen=True)
class Annotator:
    """An assessor's name, and whether a sign-in verified it."""

    name: str
    verified: bool = False


@dataclass(frozen=True)
class Pair:
    """A query and a document, under an id that reveals neither."""

    id: str
    query_id: str
    doc_id: str


@dataclass(frozen=True)
class Hand:
    """The pairs that a person holds, and the person's progress."""

    held: tuple[Pair, ...]
    """The held pairs, in the task's order."""
    last: Pair | None
    """The pair of the newest answer, which can be undone."""
    judged: int
    skipped: int
    left: int
    """Number of pairs that this person may still get; others may hold some of these now."""
    seconds: float | None
    """Median time of the latest answers; None before the first one."""


def exchange(
    store: Store, task: Task, person: Annotator, answers: Sequence[Answer] = (), ahead: int = AHEAD
) -> Hand:
    """Save all answers or none, and reserve pairs for the person until `ahead` are held, in one
    transaction. An answer that is sent again changes nothing. Held pairs stay held for another
    `HOLD`. Raises WrongInput for an answer that does not match the task, Conflict if the judged
    texts are no longer stored, and Unavailable if a disk refuses to save the answers."""
    with disk_refusals.explained(store.home), state.writing(store.engine) as connection:
        # Other requests for this task wait here; in SQLite, only one connection can write anyway.
        lock = select(tasks_table.c.id).where(tasks_table.c.id == task.id).with_for_update()
        connection.execute(lock)
        refuse_other_texts(store, task.dataset, [one.texts for one in answers])
        if answers:
            _take_in(connection, task, person, answers)
        _hand_out(connection, task, person.name, ahead)
        return _hand(connection, task, person.name)


def texts(parts: Iterable[Part], dataset: str) -> str:
    """Return an identity of a dataset's texts, from the parts that have them; empty without texts.
    It does not change if judgements or query texts are added to the dataset."""
    live = {(part.kind, part.dataset): part for part in parts}
    if (queries := live.get(("queries", dataset))) is None:
        return ""
    about = queries.provenance
    documents = live.get(("documents", about.get("dataset", {}).get("collection", dataset)))
    asked = about.get(freshness.TEXTS_ADDED_TO) or queries.fingerprint
    return f"{asked} {documents.fingerprint if documents else ''}".strip()


def texts_now(store: Store, dataset: str) -> str:
    """Return the identity of the texts that are stored now."""
    return texts([*store.parts("queries", dataset), *store.parts("documents")], dataset)


def is_here(store: Store, dataset: str) -> bool:
    """Return whether queries or ranked lists of the dataset are stored."""
    return bool(store.parts("queries", dataset) or store.parts("hits", dataset))


def refuse_other_texts(store: Store, dataset: str, judged: Iterable[str]) -> None:
    """Raise Conflict unless these identities of texts equal that of the dataset's current texts."""
    if not (named := set(filter(None, judged))):
        return
    now = texts_now(store, dataset)
    if not now:
        raise Conflict(gone(dataset))
    if named != {now}:
        raise Conflict(f"{dataset} was replaced: judge its present documents")


def gone(dataset: str) -> str:
    """Return the message that a dataset was removed and cannot be judged."""
    return f"{dataset} was removed: nothing is saved until it is imported again under this name"


def before(store: Store, task: Task, person: Annotator) -> Hand:
    """Return the pairs that a person holds now, without writing anything."""
    with store.engine.connect() as connection:
        return _hand(connection, task, person.name)


def give_back(store: Store, task: Task, person: str) -> None:
    """Release the pairs that a person holds, so that others can get them."""
    with state.writing(store.engine) as connection:
        connection.execute(delete(turns).where(_mine(task, person), turns.c.status == HELD))


def offer_skipped(store: Store, task: Task, person: str) -> None:
    """Make the pairs that a person skipped available to this person again."""
    with state.writing(store.engine) as connection:
        connection.execute(delete(turns).where(_mine(task, person), turns.c.status == SKIPPED))


def _mine(task: Task, person: str) -> ColumnElement[bool]:
    """Select the turns of a person in a task."""
    return and_(turns.c.task == task.id, turns.c.person == person)


def _take_in(
    connection: Connection, task: Task, person: Annotator, answers: Sequence[Answer]
) -> None:
    """Save new answers as judgements and as turns of the person."""
    found, status = _asked(connection, task, person.name, answers)
    sent = [{"entry": answer.entry} for answer in answers]
    new = {row["entry"] for row in state.unsaved(connection, sent)}
    rows, latest = [], {}
    for answer in answers:
        pair = found[answer.pair]
        judged = status[pair.id] == JUDGED
        # A saved answer is not saved again, and a skip does not undo a judgement, since both may
        # arrive late from one window after the pair was answered in another.
        if answer.entry not in new or (judged and answer.act == SKIP):
            continue
        if answer.act == GRADE or (judged and answer.act == UNDO):
            rows.append(_judgement(task, person, pair, answer))
        status[pair.id] = {GRADE: JUDGED, SKIP: SKIPPED, UNDO: HELD}[answer.act]
        latest.pop(pair.id, None)  # so that the newest answer comes last
        latest[pair.id] = answer
    if rows:
        state.append_judgements(connection, DataFrame(rows))
    for pair_id, answer in latest.items():
        _set_turn(connection, task, person.name, pair_id, status[pair_id], answer)


def _asked(
    connection: Connection, task: Task, person: str, answers: Sequence[Answer]
) -> tuple[dict[str, Pair], dict[str, str]]:
    """Return the answered pairs and their status for this person, by id. Raises WrongInput if an
    answer does not match the task."""
    ids = {answer.pair for answer in answers}
    turn = (turns.c.pair == pairs.c.id) & (turns.c.person == person)
    query = (
        select(pairs.c.id, pairs.c.query_id, pairs.c.doc_id, turns.c.status)
        .select_from(pairs.outerjoin(turns, turn))
        .where(pairs.c.task == task.id, pairs.c.id.in_(ids))
    )
    rows = connection.execute(query).all()
    found = {row.id: Pair(row.id, row.query_id, row.doc_id) for row in rows}
    grades = {relevance for relevance, _ in task.grades}
    for answer in answers:
        graded = answer.act == GRADE
        if answer.pair not in found or (graded and answer.relevance not in grades):
            raise WrongInput("This answer belongs to another task: reload the page.")
    return found, {row.id: row.status or "" for row in rows}


def _judgement(task: Task, person: Annotator, pair: Pair, answer: Answer) -> dict[str, object]:
    """Return the row of added judgements for an answer."""
    graded = answer.act == GRADE
    return {
        "dataset": task.dataset,
        "query_id": pair.query_id,
        "doc_id": pair.doc_id,
        "relevance": answer.relevance if graded else None,
        "person": person.name,
        "task": task.id,
        "guideline_version": str(min(answer.guideline_version, task.guideline_version)),
        "source": PERSON if graded else WITHDRAWN,
        "entry": answer.entry,
        "note": answer.note,
        "unsure": int(answer.unsure),
        "verified": int(person.verified),
    }


def _set_turn(
    connection: Connection, task: Task, person: str, pair: str, status: str, answer: Answer
) -> None:
    """Record the status of a pair for a person, as the person's latest."""
    key = {"pair": pair, "person": person}
    held = status == HELD
    number = select(func.coalesce(func.max(turns.c.number), 0) + 1).where(_mine(task, person))
    values = {
        "task": task.id,
        "status": status,
        "until": _until() if held else "",
        "seconds": None if held else answer.seconds,
        "changed": state.now(),
        "number": connection.execute(number).scalar_one(),
    }
    mine = and_(turns.c.pair == pair, turns.c.person == person)
    if not connection.execute(update(turns).where(mine).values(values)).rowcount:
        connection.execute(insert(turns).values(key | values))


def _until() -> str:
    """Return the time at which a hold that begins now ends."""
    return (datetime.now(UTC) + HOLD).isoformat(timespec="microseconds")


def _cap_holds(connection: Connection, task: Task) -> None:
    """Shorten holds to that of a new one, since a clock may have been ahead."""
    last = _until()
    ahead = and_(turns.c.task == task.id, turns.c.status == HELD, turns.c.until > last)
    connection.execute(update(turns).where(ahead).values(until=last))


def _hand_out(connection: Connection, task: Task, person: str, ahead: int) -> None:
    """Renew the person's holds and reserve the next free pairs."""
    _cap_holds(connection, task)
    time, mine = state.now(), and_(_mine(task, person), turns.c.status == HELD)
    connection.execute(delete(turns).where(mine, turns.c.until <= time))
    held = connection.execute(update(turns).where(mine).values(until=_until())).rowcount
    if held >= ahead:
        return
    free = select(pairs.c.id).where(_open(task, person, time)).order_by(pairs.c.place)
    given = connection.execute(free.limit(ahead - held)).scalars()
    common = {"person": person, "task": task.id, "status": HELD, "until": _until()}
    rows = [{"pair": pair, "changed": time, **common} for pair in given]
    if rows:
        connection.execute(insert(turns), rows)


def _open(task: Task, person: str, time: str = "") -> ColumnElement[bool]:
    """Select pairs without a turn of this person that need more labels than others have given. With
    a `time`, pairs that others hold at that time count as labelled."""
    own = exists().where(turns.c.pair == pairs.c.id, turns.c.person == person)
    taken = turns.c.status == JUDGED
    if time:
        taken = or_(taken, and_(turns.c.status == HELD, turns.c.until > time))
    others = (
        select(func.count())
        .select_from(turns)
        .where(turns.c.pair == pairs.c.id, turns.c.person != person, taken)
        .scalar_subquery()
    )
    return and_(pairs.c.task == task.id, ~own, others < pairs.c.labels)


def _hand(connection: Connection, task: Task, person: str) -> Hand:
    """Read the pairs that a person holds, and the person's progress."""
    columns = (pairs.c.id, pairs.c.query_id, pairs.c.doc_id)
    mine = select(*columns, turns.c.status, turns.c.seconds).join(turns, turns.c.pair == pairs.c.id)
    mine = mine.where(_mine(task, person))
    held = connection.execute(mine.where(turns.c.status == HELD).order_by(pairs.c.place)).all()
    done = mine.where(turns.c.status != HELD)
    # The order is by number rather than by clock; answers older than this column have 0.
    done = done.order_by(turns.c.number.desc(), turns.c.changed.desc())
    recent = connection.execute(done.limit(RECENT)).all()
    counts = select(turns.c.status, func.count()).where(_mine(task, person))
    rows = connection.execute(counts.group_by(turns.c.status))
    number: dict[str, int] = {row[0]: row[1] for row in rows}
    waiting = select(func.count()).select_from(pairs).where(_open(task, person))
    seconds = [row.seconds for row in recent if row.status == JUDGED]
    return Hand(
        held=tuple(Pair(*row[:3]) for row in held),
        last=Pair(*recent[0][:3]) if recent else None,
        judged=number.get(JUDGED, 0),
        skipped=number.get(SKIPPED, 0),
        left=len(held) + (connection.execute(waiting).scalar() or 0),
        seconds=median(seconds) if seconds else None,
    )


def overview(store: Store) -> DataFrame:
    """Return a row for every task: task, wanted and given (numbers of labels), people, held (pairs
    that people hold now)."""
    wanted = select(pairs.c.task, func.sum(pairs.c.labels).label("wanted")).group_by(pairs.c.task)
    held = select(turns.c.task, func.count().label("held")).group_by(turns.c.task)
    held = held.where(turns.c.status == HELD, turns.c.until > state.now())
    with store.engine.connect() as connection:
        frame, now = (pd.read_sql(query, connection) for query in (wanted, held))
    by_task = _given(store).groupby("task")["person"].agg(given="size", people="nunique")
    frame = frame.merge(by_task, on="task", how="left").merge(now, on="task", how="left")
    return frame.set_index("task").fillna(0).astype("int64").reset_index()


def _given(store: Store) -> DataFrame:
    """Return task, pair and person of every answer, and of every label imported for a pair."""
    of, added = tasks_table.c, state.added_judgements.c
    answers = select(turns.c.task, turns.c.pair, turns.c.person).where(turns.c.status == JUDGED)
    asked = select(pairs, of.dataset).join(tasks_table, pairs.c.task == of.id)
    asked = asked.where(of.dataset.in_(select(added.dataset).where(added.imported.is_not(None))))
    with store.engine.connect() as connection:
        given, wanted = (pd.read_sql(query, connection) for query in (answers, asked))
    found = [given]
    for dataset, rows in wanted.rename(columns={"id": "pair"}).groupby("dataset"):
        known = labels(store.added_judgements(dataset=str(dataset)), (*HUMAN, IMPORT))
        found.append(rows.merge(known.loc[known["imported"].notna(), [*PAIR, "person"]], on=PAIR))
    return pd.concat(found)[list(given)].drop_duplicates()


def people(store: Store, task: Task) -> DataFrame:
    """Return a row for everyone who answered in a task, by name: person, judged, skipped (numbers
    of pairs), seconds (median time of an answer), last (the latest answer, UTC, ISO 8601)."""
    columns = (turns.c.person, turns.c.status, turns.c.seconds, turns.c.changed.label("last"))
    query = select(*columns).where(turns.c.task == task.id, turns.c.status != HELD)
    with store.engine.connect() as connection:
        answers = pd.read_sql(query, connection)
    answers["judged"] = answers["status"].eq(JUDGED)
    answers["skipped"] = answers["status"].eq(SKIPPED)
    answers["seconds"] = answers["seconds"].astype("float64").where(answers["judged"])
    how = {"judged": "sum", "skipped": "sum", "seconds": "median", "last": "max"}
    return answers.groupby("person", as_index=False).agg(how)
