"""Tasks: documents to judge, assessors, grades and a guideline, fixed when a task is created."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame
from sqlalchemy import Connection, Row, func, insert, select

from compute.base.errors import Missing, Unavailable, WrongInput
from compute.evaluate.estimates.frames import Frame
from compute.judgements import orders, sampling
from compute.judgements.labels import resolve
from compute.judgements.tasks import auditing, samples, tables
from compute.judgements.tasks.grades import Grades
from compute.store import state
from compute.store.store import Store

DEEPEST = 1000
MOST_PAIRS = 50_000
LARGEST_SEED = 2**31 - 1
LONGEST_GUIDELINE = 20_000


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A request for a task."""

    title: str
    dataset: str
    systems: tuple[str, ...]
    depth: int
    """The unjudged pairs in the top `depth` of the systems are the pool."""
    n_pairs: int
    """Number of pairs to judge; fewer if the pool is smaller."""
    order: str
    """One of `orders.NAMES`."""
    seed: int
    grades: Grades
    annotators: tuple[str, ...] = ()
    """Names of the assessors; if there are none, anyone may judge."""
    double_share: float = 0.0
    """Share of the pairs that two people judge, from 0 to 1."""
    guideline: str = ""
    """Markdown text."""
    measure: str = ""
    """Measure to estimate in a sampled task, one of `samples.MEASURES`."""
    goal: str = ""
    """One of `sampling.GOALS`."""
    baseline: str = ""
    """A system if the goal is differences; for an audit, the LLM whose grades guide the draw."""


@dataclass(frozen=True, kw_only=True)
class Task(Plan):
    """A task as stored; `guideline` is its newest version."""

    id: str
    guideline_version: int
    person: str
    created: str
    """UTC, ISO 8601."""

    def admits(self, person: str) -> bool:
        """Return whether this person may judge the task."""
        return not self.annotators or person in self.annotators


def check(plan: Plan) -> None:
    """Raise WrongInput, which says what to change, for an invalid plan."""
    if plan.order == orders.SAMPLED:
        samples.check(plan.measure, plan.goal, plan.baseline, plan.systems, plan.depth)
    else:
        orders.order(plan.order)
    faults = {
        "give the task a name of at most 120 characters": not 0 < len(plan.title.strip()) <= 120,
        "choose at least one system": not plan.systems,
        f"choose a depth from 1 to {DEEPEST:,}": not 1 <= plan.depth <= DEEPEST,
        f"ask for 1 to {MOST_PAIRS:,} documents to judge": not 1 <= plan.n_pairs <= MOST_PAIRS,
        f"choose a seed from 0 to {LARGEST_SEED:,}": not 0 <= plan.seed <= LARGEST_SEED,
        "the share that two people judge is between 0 and 1": not 0 <= plan.double_share <= 1,
        "two people must judge a part: name a second assessor, or none to let everyone judge": (
            plan.double_share > 0 and len(set(plan.annotators)) == 1
        ),
        f"keep the guideline under {LONGEST_GUIDELINE:,} characters": (
            len(plan.guideline) > LONGEST_GUIDELINE
        ),
    }
    for sentence, wrong in faults.items():
        if wrong:
            raise WrongInput(sentence[0].upper() + sentence[1:] + ".")


def make(
    store: Store,
    plan: Plan,
    tops: orders.Tops,
    judgements: DataFrame,
    person: str,
    machine: DataFrame | None = None,
) -> Task:
    """Fix the task's pairs and store it. `tops` has the lists of the plan's systems; `judgements`
    are the official and added ones, from `judged`; `machine` has the grades of an audit's LLM.
    Raises WrongInput for an invalid plan, or if nothing is left to judge."""
    check(plan)
    batch = _drawn(plan, tops, judgements, machine) if plan.order == orders.SAMPLED else None
    if batch is not None:
        placed = batch.first(plan.n_pairs)
    else:
        blocks = tops.blocks(judgements, plan.systems, plan.depth)
        placed = orders.first(plan.order, blocks, plan.depth, plan.seed, plan.n_pairs)
    if placed.empty:
        raise WrongInput(
            f"Everything in the top {plan.depth} of these systems is judged: choose a larger"
            " depth, or other systems."
        )
    task_id = secrets.token_hex(6)
    versions = store.version(), store.judgement_version()
    with state.writing(store.engine) as connection:
        _insert(connection, task_id, plan, len(placed), person)
        connection.execute(insert(tables.pairs), placed_pairs(task_id, plan, placed))
        if batch is not None:
            samples.insert(connection, task_id, batch, *versions)
    return task(store, task_id)


def asked(plan: Plan) -> samples.Asked:
    """Return what the sample of a plan is meant to estimate."""
    return samples.Asked(plan.measure, plan.goal, plan.baseline, plan.grades)


def frame_of(plan: Plan, tops: orders.Tops) -> Frame:
    """Return the sampling frame of a sampled plan. Raises WrongInput for a system without lists."""
    frame = tops.frame(plan.systems, plan.depth)
    if missing := sorted({*plan.systems} - {*frame.systems}):
        raise WrongInput(
            f"No ranked lists for the evaluated queries: {', '.join(missing)}. Leave out"
            " systems without lists, or run them first."
        )
    return frame


def _drawn(
    plan: Plan, tops: orders.Tops, judgements: DataFrame, machine: DataFrame | None
) -> samples.Drawn:
    """Draw the sample of a plan."""
    frame = frame_of(plan, tops)
    if plan.goal == sampling.AUDIT:
        return auditing.draw(frame, judgements, plan.n_pairs, plan.seed, machine)
    return samples.draw(frame, asked(plan), frame.grades(judgements), plan.seed)


def expected(plan: Plan, tops: orders.Tops, judgements: DataFrame) -> DataFrame:
    """Return the expected precision of the plan's sample, and of samples with twice and four times
    its pairs (see `samples.expected`). For `tops` and `judgements` see `make`."""
    frame = frame_of(plan, tops)
    numbers = [plan.n_pairs * times for times in (1, 2, 4)]
    return samples.expected(frame, asked(plan), frame.grades(judgements), numbers)


_ALIKE = ("dataset", "depth", "seed", "double_share", "measure", "goal", "baseline")
"""Fields that have the same name in a plan and in its row."""


def _insert(connection: Connection, task_id: str, plan: Plan, n_pairs: int, person: str) -> None:
    time = state.now()
    row = {name: getattr(plan, name) for name in _ALIKE} | {
        "id": task_id,
        "title": plan.title.strip(),
        "systems": json.dumps(sorted(plan.systems)),
        "n_pairs": n_pairs,
        "ordering": plan.order,
        "grades": json.dumps(plan.grades),
        "annotators": json.dumps(plan.annotators),
        "person": person,
        "created": time,
    }
    connection.execute(insert(tables.tasks), row)
    first = {"task": task_id, "version": 1, "text": plan.guideline}
    connection.execute(insert(tables.guidelines), first | {"person": person, "created": time})


def placed_pairs(task_id: str, plan: Plan, placed: DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a task's pairs; the plan's seed draws the pairs that two people judge."""
    n_double = round(plan.double_share * len(placed))
    chosen = np.random.default_rng(plan.seed).permutation(len(placed))[:n_double]
    double = set(chosen.tolist())
    rows = placed[["query_id", "doc_id"]].itertuples(index=False, name=None)
    return [
        {
            "id": secrets.token_hex(8),
            "task": task_id,
            "place": place + 1,
            "query_id": query_id,
            "doc_id": doc_id,
            "labels": 2 if place in double else 1,
        }
        for place, (query_id, doc_id) in enumerate(rows)
    ]


def task(store: Store, task_id: str) -> Task:
    """Return the task with this id and its newest guideline. Raises Missing for an unknown id."""
    found = tasks(store, [task_id])
    if not found:
        raise Missing(f"no judging task {task_id}: choose one from the list")
    return found[0]


def tasks(store: Store, ids: Sequence[str] | None = None) -> list[Task]:
    """Return the tasks with these ids (default: all), newest first."""
    newest = (
        select(tables.guidelines.c.task, func.max(tables.guidelines.c.version).label("version"))
        .group_by(tables.guidelines.c.task)
        .subquery()
    )
    text = tables.guidelines
    query = (
        select(tables.tasks, text.c.version, text.c.text)
        .join(newest, newest.c.task == tables.tasks.c.id)
        .join(text, (text.c.task == newest.c.task) & (text.c.version == newest.c.version))
        .order_by(tables.tasks.c.created.desc(), tables.tasks.c.id)
    )
    if ids is not None:
        query = query.where(tables.tasks.c.id.in_(ids))
    with store.engine.connect() as connection:
        return [_task(row) for row in connection.execute(query)]


def _task(row: Row) -> Task:
    """Return the task of a row. Raises Unavailable if the row is damaged."""
    names = ("id", "title", "n_pairs", "person", "created", *_ALIKE)
    alike: dict[str, Any] = {name: row._mapping[name] for name in names}
    try:
        return Task(
            systems=tuple(json.loads(row.systems)),
            order=row.ordering,
            grades=tuple((relevance, name) for relevance, name in json.loads(row.grades)),
            annotators=tuple(json.loads(row.annotators)),
            guideline=row.text,
            guideline_version=row.version,
            **alike,
        )
    except (ValueError, TypeError):
        told = f"task {row.id} in the state is damaged: replace it with a backup"
        raise Unavailable(told) from None


def change_guideline(store: Store, task_id: str, text: str, person: str) -> int:
    """Add a version of the guideline unless it equals the newest one; returns the newest number.
    Existing judgements keep the version with which they were made."""
    if len(text) > LONGEST_GUIDELINE:
        raise WrongInput(f"Keep the guideline under {LONGEST_GUIDELINE:,} characters.")
    with state.writing(store.engine) as connection:
        # The task's row serialises concurrent changes of a guideline.
        lock = select(tables.tasks.c.id).where(tables.tasks.c.id == task_id).with_for_update()
        if connection.execute(lock).scalar() is None:
            raise Missing(f"no judging task {task_id}: choose one from the list")
        table = tables.guidelines
        newest = select(table).where(table.c.task == task_id).order_by(table.c.version.desc())
        last = connection.execute(newest.limit(1)).one()
        if last.text == text:
            return last.version
        row = {"task": task_id, "version": last.version + 1, "text": text}
        connection.execute(insert(table), row | {"person": person, "created": state.now()})
        return last.version + 1


def pairs(store: Store, task_id: str) -> DataFrame:
    """Return a task's pairs in their order: id, place, query_id, doc_id, labels (number of people
    who are to judge the pair)."""
    table = tables.pairs
    query = select(table).where(table.c.task == task_id).order_by(table.c.place)
    columns = ["id", "place", "query_id", "doc_id", "labels"]
    with store.engine.connect() as connection:
        return pd.read_sql(query, connection)[columns]


def judged(store: Store, dataset: str, official: DataFrame) -> DataFrame:
    """Return all judgements of a dataset: query_id, doc_id, relevance, official (a flag). If a pair
    has both kinds, only the official one remains."""
    columns = ["query_id", "doc_id", "relevance"]
    added = resolve(store.added_judgements(dataset=dataset))
    parts = [official[columns].assign(official=True), added[columns].assign(official=False)]
    both = pd.concat(parts, ignore_index=True)
    return both.drop_duplicates(["query_id", "doc_id"], ignore_index=True)
