"""Estimates of scores from a sampled task's judgements."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from pandas import DataFrame
from sqlalchemy import select

from compute.base.errors import Missing, WrongInput
from compute.evaluate.estimates import corrected, intervals, linearised, prediction
from compute.evaluate.estimates.frames import PAIR, Frame, Values
from compute.evaluate.estimates.linearised import Kind, kind
from compute.judgements import sampling
from compute.judgements.sampling import Order
from compute.judgements.tasks import samples, tables, tasks
from compute.judgements.tasks.queue import JUDGED, SKIPPED
from compute.judgements.tasks.samples import Drawn
from compute.judgements.tasks.tasks import Task
from compute.store.store import Store


@dataclass(frozen=True)
class Estimated:
    """Estimates, and the sample behind them."""

    estimates: intervals.Estimates
    n: int
    """Number of pairs in the sample. Each batch counts up to its first pending pair: pending when
    the next batch was drawn, or for the last batch, pending now."""
    place: int
    """Position of the sample's last pair in the task's order."""
    n_judged: int
    """Number of judged pairs in the sample. The others, which all skipped, widen intervals."""
    batches: tuple[Drawn, ...]
    """The batches that count, newest last."""
    n_left_out: int
    """Number of batches that do not count because the runs behind them have changed."""
    n_pairs: int
    """Number of pairs in the frame."""
    n_behind: int
    """Number of judged pairs that do not count yet because an earlier pair is pending."""
    n_waiting: int
    """Number of the task's pairs that the sample has not reached."""
    waits_for: tuple[str, ...]
    """Assessors who answered in the task, but not for the pending pair."""
    missing: tuple[str, ...]
    """Systems of the task without ranked lists for these queries."""
    growth: sampling.Growth
    weights: Values
    """(N,) Number of pairs that each judged pair represents; 0 for unjudged pairs."""

    def more(self, task: Task, wanted: float) -> int | None:
        """Return how many more judgements should reduce all half-widths of the task's goal to
        `wanted`. None while there is no interval, or if skipped pairs by themselves make one too
        wide. The rest of each half-width is assumed to shrink like the predictions' errors."""
        one = self.estimates
        if not one.enough:
            return None
        stays = (one.high - one.low) / 2
        scores = one.scores()
        asked = np.diag(((scores["high"] - scores["low"]) / 2).to_numpy())
        if task.goal != sampling.SCORES:
            pairs = one.pairs()
            if task.baseline:
                place = one.systems.index(task.baseline)
                pairs = pairs[(pairs["a"] == place) | (pairs["b"] == place)]
            asked = np.zeros_like(asked)
            asked[pairs["a"], pairs["b"]] = (pairs["high"] - pairs["low"]) / 2
        stays = np.where(asked > 0, stays, 0)
        return self.growth.needed(asked - stays, wanted, stays)


def estimated(
    store: Store,
    task: Task,
    frame: Frame,
    judgements: DataFrame,
    measure: str = "",
    machine: DataFrame | None = None,
) -> Estimated:
    """Estimate a measure (default: the task's) from everything judged (query_id, doc_id,
    relevance). `frame` is that of the task's systems and depth. With the grades of an LLM
    (`machine`: query_id, doc_id, relevance), the prediction, which the human sample corrects, also
    uses these. Raises Missing for a task that is not sampled or whose frame has changed, and
    WrongInput for a measure that the sample cannot estimate."""
    of = _kind(task, measure)
    batches, answers = samples.stored(store, task.id), answers_of(store, task)
    found = _within(frame, batches, counted(batches, judgements, answers))
    drawn, (newest, order, n) = [(order, number) for _, order, number in found], found[-1]
    judged = ~np.isnan(frame.grades(judgements))
    estimates, growth, weights = _read(task, of, frame, judgements, drawn, machine)
    offered = task.n_pairs - newest.done
    return Estimated(
        estimates,
        n=sum(number for _, number in drawn),
        place=newest.done + n,
        n_judged=sum(int(judged[one.rows[:number]].sum()) for one, number in drawn),
        batches=tuple(batch for batch, *_ in found),
        n_left_out=len(batches) - len(found),
        n_pairs=frame.n,
        n_behind=int(judged[order.rows[n:offered]].sum()),
        n_waiting=max(offered - n, 0),
        waits_for=_waits_for(newest.first(n + 1).iloc[n:], answers),
        missing=tuple(sorted({*task.systems} - {*frame.systems})),
        growth=growth,
        weights=weights,
    )


def at(
    store: Store, task: Task, frame: Frame, judgements: DataFrame, n: int
) -> intervals.Estimates | None:
    """Estimate the task's measure from the first n pairs, as if no later ones were judged; None if
    the sample has not reached n, or if a batch does not count. Raises the errors of `estimated`."""
    batches = samples.stored(store, task.id)
    numbers = counted(batches, judgements, answers_of(store, task))
    found = _within(frame, batches, numbers)
    if len(found) < len(batches) or sum(numbers) < n:
        return None
    drawn: list[tuple[Order, int]] = []
    for _, order, number in found:
        drawn.append((order, min(number, n)))
        n -= drawn[-1][1]
        if not n:
            break
    order, number = drawn[-1]
    later, rows = np.zeros(frame.n, bool), frame.rows(judgements)
    later[order.rows[number:]] = True
    known = judgements[(rows < 0) | ~later[rows]]
    return _read(task, _kind(task, ""), frame, known, drawn, None)[0]


def _read(
    task: Task,
    of: Kind,
    frame: Frame,
    judgements: DataFrame,
    drawn: Sequence[tuple[Order, int]],
    machine: DataFrame | None,
) -> tuple[intervals.Estimates, sampling.Growth, Values]:
    """Return the estimates, their growth (as if all batches were one sample drawn by the current
    predictions), and the number of pairs that each judged pair represents."""
    drawn_for = kind(task.measure), task.goal, samples.baseline_of(frame, tasks.asked(task))
    sample = sampling.together(frame, drawn_for[0], drawn, *drawn_for[1:])
    evaluated = judgements[judgements["query_id"].isin(frame.queries)]
    levels, grades = _levels(task, evaluated), frame.grades(judgements)
    given = prediction.features(frame, None if machine is None else frame.grades(machine))
    stands = corrected.corrected(frame, given, grades, sample, levels)
    found = intervals.estimates(frame, of, stands, frame.outside(evaluated, levels))
    rows = np.unique(np.concatenate([batch.rows for batch in sample]))
    before = ~np.isnan(grades)
    before[rows] = False
    shares = np.where(before, stands.about[:, 0], stands.guesses[:, 0])
    size = sampling.sizes(frame, drawn_for[0], shares, *drawn_for[1:])
    growth = sampling.Growth(frame, of, shares, np.where(before, 0, size), len(rows))
    return found, growth, corrected.expansions(sample, ~np.isnan(grades))


def by_machine(
    task: Task, frame: Frame, judgements: DataFrame, measure: str, machine: DataFrame
) -> intervals.Estimates:
    """Compute the measure as if an LLM's grades were the truth and ungraded documents not relevant.
    Official and human judgements do not count; `judgements` only show which grades exist. Raises
    WrongInput if the LLM graded no pair of the frame."""
    grades = frame.grades(machine)
    if np.isnan(grades).all():
        raise WrongInput(f"It graded none of the {frame.n:,} pairs that the sample is drawn from")
    both = pd.concat([judgements[["relevance"]], machine[["relevance"]]])
    levels, grades = _levels(task, both), np.nan_to_num(grades)
    reached = (grades[:, None] >= levels).astype(np.float64)
    everything = corrected.Batch(np.arange(frame.n), np.ones(frame.n), 1.0)
    stands = corrected.by_guess(reached, grades, [everything], levels, frame.query)
    return intervals.estimates(frame, _kind(task, measure), stands)


def is_sum(measure: str) -> bool:
    """Return whether `ends` computes the measure's range; Holes computes it for other measures."""
    return not kind(measure).is_ratio


def ends(task: Task, frame: Frame, judgements: DataFrame, measure: str) -> DataFrame:
    """Return the possible range of each system's mean by a measure that `is_sum`: system, value
    (the current score), low, high, pool_low, pool_high. The columns are those of
    `views.holes.select.bounds`; the pool's range equals that of the system's own list, since other
    lists do not affect a sum. Raises WrongInput for another measure."""
    of = _kind(task, measure)
    evaluated = judgements[judgements["query_id"].isin(frame.queries)]
    levels = _levels(task, evaluated)
    low, high = linearised.ends(frame, of, frame.grades(judgements), levels)
    found = DataFrame({"system": frame.systems, "value": low, "low": low, "high": high})
    return found.assign(pool_low=low, pool_high=high).sort_values(
        "value", ascending=False, ignore_index=True
    )


def _kind(task: Task, measure: str) -> Kind:
    """Return the measure's properties. Raises WrongInput if the sample cannot estimate it."""
    samples.check_read(measure or task.measure, task.measure)
    return kind(measure or task.measure)


def _levels(task: Task, evaluated: DataFrame) -> Values:
    return tasks.asked(task).levels(evaluated["relevance"].to_numpy(np.float64))


def counted(batches: Sequence[Drawn], judgements: DataFrame, answers: DataFrame) -> list[int]:
    """Return the size of each batch's usable sample, by the judged and answered pairs. An older
    batch has the size at which the next one was drawn, as later pairs were redrawn."""
    skipped = answers.loc[answers["status"] == SKIPPED]
    # A pair is skipped if everyone so far skipped it; later assessors may still judge it.
    skips = skipped.groupby(PAIR).size()
    passed = skips[skips == answers["person"].nunique()].reset_index()
    closed = [after.done - one.done for one, after in pairwise(batches)]
    return [*closed, batches[-1].complete(pd.concat([judgements[PAIR], passed[PAIR]]))]


def _within(
    frame: Frame, batches: Sequence[Drawn], numbers: Sequence[int]
) -> list[tuple[Drawn, Order, int]]:
    """Return the batches drawn from this frame or a part of it, each with its order and its number
    of `counted` pairs."""
    found = [(batches[-1], batches[-1].order(frame), numbers[-1])]
    for batch, number in zip(batches[-2::-1], numbers[-2::-1], strict=True):
        try:
            found.insert(0, (batch, batch.order(frame), number))
        except Missing:
            continue  # Later batches know its judgements.
    return found


def _waits_for(pair: DataFrame, answers: DataFrame) -> tuple[str, ...]:
    """Return the assessors who answered but did not skip this pair; all if there is no pair."""
    skipped = answers[answers["status"] == SKIPPED].merge(pair, on=PAIR)
    return tuple(sorted({*answers["person"]} - {*skipped["person"]}))


def answers_of(store: Store, task: Task) -> DataFrame:
    """Return query_id, doc_id, person and status of all answers, including skipped pairs."""
    turns, pairs = tables.turns, tables.pairs
    query = (
        select(pairs.c.query_id, pairs.c.doc_id, turns.c.person, turns.c.status)
        .join(turns, turns.c.pair == pairs.c.id)
        .where(pairs.c.task == task.id, turns.c.status.in_([JUDGED, SKIPPED]))
    )
    with store.engine.connect() as connection:
        return pd.read_sql(query, connection)
