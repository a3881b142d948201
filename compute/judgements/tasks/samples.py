"""Samples of tasks, as stored: the drawn pairs with their sizes and priorities. A batch stores
every pair that it could have drawn, since the inclusion probabilities depend on all of them. Pairs
of the frame that are not stored had been judged before."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame
from sqlalchemy import Connection, select
from sqlalchemy import insert as into

from compute.base.bounded_cache import Kept
from compute.base.errors import Missing, WrongInput
from compute.evaluate.distributions import normal_reach
from compute.evaluate.estimates import corrected, prediction
from compute.evaluate.estimates.frames import PAIR, Flags, Frame, Values
from compute.evaluate.estimates.linearised import kind
from compute.evaluate.sign_flips import LEVEL
from compute.judgements import sampling
from compute.judgements.tasks import tables
from compute.judgements.tasks.grades import Grades
from compute.store import state
from compute.store.store import Store

MEASURES = ("P@10", "P@5", "P@20", "nDCG@10")
"""Measures that a sampled task can estimate; all of them also have a range on Holes."""
USUAL = {sampling.AUDIT: "nDCG@10"}
"""The default measure of a goal, if it is not the first one."""
_READ = ("P", "nDCG", "DCG", "RBP(p=0.8)", "R", "AP")
"""Measures that a sample can estimate besides the one for which it was drawn."""
MOST_DRAWN = 300_000
"""Maximum number of pairs that a batch stores."""


@dataclass(frozen=True)
class Asked:
    """Target of a sample: the measure and goal that it is meant to estimate."""

    measure: str
    goal: str
    baseline: str
    """A system, if the goal is differences; else empty."""
    grades: Grades

    def levels(self, known: Values) -> Values:
        """Return the grades above 0 that are possible or among the `known` ones (N,), ascending."""
        given = [relevance for relevance, _ in self.grades if relevance > 0]
        return corrected.levels_of(np.asarray([*given, *known], float))


@dataclass(frozen=True)
class Drawn:
    """A batch: pairs that were drawn together."""

    pairs: DataFrame
    """query_id, doc_id, size, priority, in judging order; size is 0 if a pair cannot be drawn."""
    frame: str
    """Identity of the frame from which the pairs were drawn."""
    seed: int
    predictor: str
    systems: tuple[str, ...]
    """The systems whose lists form the frame."""
    number: int = 1
    done: int = 0
    """Number of pairs of earlier batches that count, fixed when this batch was drawn."""

    def first(self, n: int) -> DataFrame:
        """Return query_id and doc_id of the first n pairs that can be drawn."""
        return self.pairs.loc[self.pairs["size"] > 0, PAIR].head(n)

    def complete(self, answered: DataFrame) -> int:
        """Return how many pairs have been judged or skipped without a gap from the first on;
        `answered` has the judged and skipped pairs: query_id, doc_id."""
        drawn = pd.MultiIndex.from_frame(self.first(len(self.pairs)))
        open_places = np.flatnonzero(~drawn.isin(pd.MultiIndex.from_frame(answered[PAIR])))
        return int(open_places[0]) if len(open_places) else len(drawn)

    def order(self, frame: Frame) -> sampling.Order:
        """Return the order over the rows of a frame of at least these systems. Raises Missing if
        the sample was drawn from a different frame."""
        parts = (frame.part(self.systems, answered=answered) for answered in (False, True))
        own = next((part for part in parts if part.identity == self.frame), None)
        if own is None:
            raise Missing(
                "the runs or queries behind this task's sample have changed, so nothing can be"
                " estimated from it: extend the sample, or make a new sampled task"
            )
        rows = frame.rows(self.pairs)
        known = np.setdiff1d(frame.rows(own.pairs), rows)
        n = int((self.pairs["size"] > 0).sum())
        size, priority = (self.pairs[name].to_numpy(np.float64) for name in ("size", "priority"))
        return sampling.Order(rows[:n], size[:n], priority[:n], known, frame.n)


def check(measure: str, goal: str, baseline: str, systems: Sequence[str], depth: int) -> None:
    """Raise WrongInput if no sampled task can be made with these values."""
    if measure not in MEASURES:
        raise WrongInput(f"no estimates of {measure!r}; known: {', '.join(MEASURES)}")
    if goal not in sampling.GOALS:
        raise WrongInput(f"no goal {goal!r}; known: {', '.join(sampling.GOALS)}")
    if goal in (sampling.DIFFERENCES, sampling.ORDER) and len(systems) == 1:
        raise WrongInput(
            "One system has no difference or order to estimate: choose the goal scores."
        )
    if depth < kind(measure).k:
        raise WrongInput(f"{measure} needs the top {kind(measure).k} of each list, or more")
    if goal == sampling.DIFFERENCES and baseline not in systems:
        raise WrongInput("Differences need a baseline: choose one of the task's systems.")


def readable(measure: str) -> tuple[str, ...]:
    """Return the measures that a sample for this measure can estimate: this one first."""
    others = [f"{name}@{kind(measure).k}" for name in _READ]
    return (measure, *(name for name in others if name != measure))


def check_read(measure: str, drawn_for: str) -> None:
    """Raise WrongInput if a sample drawn for one measure cannot estimate another."""
    k = kind(drawn_for).k
    if kind(measure).k > k:
        raise WrongInput(
            f"{measure} is deeper than the sample, which is for {drawn_for}, so choose"
            f" one at rank {k} or above it"
        )


def draw(
    frame: Frame, asked: Asked, known: Values, seed: int, number: int = 1, done: int = 0
) -> Drawn:
    """Draw a batch from the unjudged pairs: those with NaN in `known`, the grades (N,). The
    inclusion probabilities follow the predictions from the grades before the draw. Raises
    WrongInput if no pair is left to judge for the goal."""
    judged = ~np.isnan(known)
    size = _sizes(frame, asked, known, shares_of(frame, asked, known))
    if (~judged).sum() > MOST_DRAWN:
        raise WrongInput(
            f"a sample is drawn from at most {MOST_DRAWN:,} pairs: choose fewer systems or a"
            " smaller depth"
        )
    order = sampling.order(size, judged, seed)
    kept, named = _kept(frame, order, judged), (frame.identity, seed, prediction.VERSION)
    return Drawn(kept, *named, frame.systems, number, done)


def _sizes(frame: Frame, asked: Asked, known: Values, shares: Values) -> Values:
    """Return `sampling.sizes`, with 0 for judged pairs. Raises WrongInput if all are 0."""
    if not np.isnan(known).any():
        raise WrongInput(
            f"Everything in the top {frame.depth} of these systems is judged: choose a larger"
            " depth, or other systems."
        )
    place = baseline_of(frame, asked)
    size = sampling.sizes(frame, kind(asked.measure), shares, asked.goal, place)
    size = np.where(np.isnan(known), size, 0.0)
    if not size.any():
        does = "counts for" if asked.goal == sampling.SCORES else "distinguishes these systems by"
        raise WrongInput(f"No unjudged document {does} {asked.measure}: choose other systems.")
    return size


def baseline_of(frame: Frame, asked: Asked) -> int | None:
    """Return the position of the baseline if the goal is differences, else None."""
    return frame.systems.index(asked.baseline) if asked.goal == sampling.DIFFERENCES else None


def expected(frame: Frame, asked: Asked, known: Values, numbers: Sequence[int]) -> DataFrame:
    """Return n and reach: half of the widest 95% interval expected from n judgements for the goal,
    which is a system's score, its difference from the baseline, or the difference of two systems
    (not simultaneous). For `known` and errors see `draw`. Without judgements, pairs are assumed to
    be relevant with probability 1/2, the worst case."""
    shares = shares_of(frame, asked, known)
    size = _sizes(frame, asked, known, shares)
    shares = np.where(np.isnan(known), shares, known > 0)
    of, times = kind(asked.measure), normal_reach(LEVEL)
    found = [sampling.expected_errors(frame, of, shares, size, n) for n in numbers]
    reach = [times * _widest(errors, asked.goal, baseline_of(frame, asked)) for errors in found]
    return DataFrame({"n": list(numbers), "reach": reach})


def _widest(errors: Values, goal: str, baseline: int | None) -> float:
    """Return the largest of `sampling.expected_errors` that the goal asks for."""
    if goal == sampling.SCORES:
        return float(np.diag(errors).max())
    apart = errors * (1 - np.eye(len(errors)))
    return float((apart if baseline is None else apart[baseline]).max())


def _kept(frame: Frame, order: sampling.Order, judged: Flags) -> DataFrame:
    """Return the frame `Drawn.pairs`."""
    rest = np.setdiff1d(np.flatnonzero(~judged), order.rows)
    drawn = frame.pairs.iloc[np.concatenate([order.rows, rest])].reset_index(drop=True)
    nothing = np.zeros(len(rest))
    drawn["size"] = np.concatenate([order.size, nothing])
    drawn["priority"] = np.concatenate([order.priority, nothing])
    return drawn


def shares_of(frame: Frame, asked: Asked, known: Values) -> Values:
    """Predict the probability that each pair is relevant from the judgements, (N,)."""
    given = prediction.features(frame)
    return corrected.predicted(frame, given, known, asked.levels(known))[:, 0]


def insert(
    connection: Connection, task: str, batch: Drawn, manifest: int, last_judgement: int
) -> None:
    """Store a batch of a task with its pairs."""
    named = {"task": task, "batch": batch.number}
    about = {"frame": batch.frame, "seed": batch.seed, "predictor": batch.predictor}
    about |= {"done": batch.done, "systems": json.dumps(batch.systems)}
    read = {"manifest": manifest, "last_judgement": last_judgement, "created": state.now()}
    connection.execute(into(tables.batches), named | about | read)
    rows = batch.pairs.assign(place=range(1, len(batch.pairs) + 1)).to_dict("records")
    drawn: list[dict[Any, Any]] = [named | row for row in rows]
    connection.execute(into(tables.draws), drawn)


_KEPT: Kept[dict[Any, DataFrame]] = Kept(
    50_000_000, lambda pairs: sum(int(one.memory_usage(deep=True).sum()) for one in pairs.values())
)
"""Cache of the pairs of batches, which never change."""


def stored(store: Store, task: str) -> list[Drawn]:
    """Return a task's batches in order. Raises Missing for a task that is not sampled."""
    about, drawn = tables.batches, tables.draws
    columns = [drawn.c[name] for name in ("batch", *PAIR, "size", "priority")]
    rows = select(*columns).where(drawn.c.task == task).order_by(drawn.c.batch, drawn.c.place)
    with store.engine.connect() as connection:
        batches = select(about).where(about.c.task == task).order_by(about.c.batch)
        found = connection.execute(batches).all()
        if not found:
            raise Missing(f"task {task} was not drawn as a sample: nothing is estimated from it")
        key = str(store.engine.url), task, tuple((one.batch, one.created) for one in found)
        pairs = _KEPT.of(key, lambda: dict(list(pd.read_sql(rows, connection).groupby("batch"))))
    return [
        Drawn(
            pairs[one.batch].drop(columns="batch").reset_index(drop=True),
            one.frame,
            one.seed,
            one.predictor,
            tuple(json.loads(one.systems)),
            one.batch,
            one.done,
        )
        for one in found
    ]
