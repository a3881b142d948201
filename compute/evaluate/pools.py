"""Pool analysis: unique contributions of systems to the pool, and gains by added judgements. A pool
is the union of the loaded systems' top k. Even if the judgements do not come from such a pool, the
question is how a system would score if they did and it had not contributed (Zobel 1998; Buckley et
al. 2007). All functions are pure and work on `top_lists.Lists`."""

from dataclasses import replace

import numpy as np
from pandas import DataFrame

from compute.evaluate.hole_gains import Gain
from compute.evaluate.holes.bounds import measured, scored
from compute.evaluate.tolerance import order, ranks
from compute.evaluate.top_lists import HOLE, Flags, Lists, Values


def alone(lists: Lists, among: Flags | None = None) -> Flags:
    """Return a mask (S, Q, k) of the ranks whose document no other system has in its top k for the
    query. Only ranks in `among` count (default: all filled ranks); a document must be among them
    for all systems or for none."""
    among = lists.filled if among is None else among
    size = int(lists.document.max(initial=-1)) + 1
    pair = (np.arange(lists.document.shape[1])[:, None] * size + lists.document)[among]
    _, place, count = np.unique(pair, return_inverse=True, return_counts=True)
    found = np.zeros(among.shape, bool)
    found[among] = count[place] == 1
    return found


def leave_one_out(lists: Lists, measure: str) -> DataFrame:
    """Rescore each system without the judgements of its unique documents; returns rows, best first.
    system; n_judged, n_relevant (pairs in its top k); n_alone, n_relevant_alone (of these, pairs
    that no other system has in its top k); value, value_without; place, place_without (the rank
    among all systems, each scored by the reduced judgements). The queries stay the same: a query
    that loses its last relevant document scores 0. Raises WrongInput as `bounds.measured` does."""
    top, gain = measured(lists, measure)
    judged, relevant = top.filled & ~top.holes, top.gain > 0
    own = alone(top, judged)
    values = scored(top, gain)
    before = _means(values)
    numbers = range(len(top.systems))
    after = [_means(_values_without(top, gain, values, own, number)) for number in numbers]
    frame = DataFrame(
        {
            "system": top.systems,
            "n_judged": judged.sum(axis=(1, 2)),
            "n_relevant": relevant.sum(axis=(1, 2)),
            "n_alone": own.sum(axis=(1, 2)),
            "n_relevant_alone": (own & relevant).sum(axis=(1, 2)),
            "value": before,
            "value_without": [means[number] for number, means in enumerate(after)],
            "place": [place(before, number) for number in numbers],
            "place_without": [place(means, number) for number, means in enumerate(after)],
        }
    )
    return _sorted(frame, "value")


def gains(official: Lists, added: Lists, measure: str) -> DataFrame:
    """Return how added judgements change each system, largest gain first. Both lists contain the
    same systems; `added` is judged by official and added judgements. Columns: system; n_added,
    n_added_relevant (pairs in its top k that only added judgements cover); n_added_alone (of these,
    relevant ones that no other system has in its top k); value, value_added (each over the queries
    judged in that case). Raises WrongInput as `bounds.measured` does."""
    (before, gain), (after, _) = measured(official, measure), measured(added, measure)
    fresh = after.beside(before)
    new = fresh.filled & ~fresh.holes
    relevant = new & (after.gain > 0)
    frame = DataFrame(
        {
            "system": after.systems,
            "n_added": new.sum(axis=(1, 2)),
            "n_added_relevant": relevant.sum(axis=(1, 2)),
            "n_added_alone": alone(after, relevant).sum(axis=(1, 2)),
            "value": _means(scored(before, gain)),
            "value_added": _means(scored(after, gain)),
        }
    )
    change = frame["value_added"] - frame["value"]
    return _sorted(frame.assign(change=change), "change").drop(columns="change")


def _sorted(frame: DataFrame, column: str) -> DataFrame:
    """Sort the rows by a column, largest first, and by system."""
    return frame.iloc[order(frame[column], frame["system"])].reset_index(drop=True)


def place(means: Values, system: int) -> int:
    """Return a system's rank, from 1; equal systems share the better rank."""
    return int(ranks(means)[system])


def _means(values: Values) -> Values:
    """Return the means of values (S, Q) over the queries, (S,); 0 if there are no queries."""
    return values.mean(axis=1) if values.shape[1] else np.zeros(len(values))


def _values_without(lists: Lists, gain: Gain, values: Values, own: Flags, system: int) -> Values:
    """Return the values (S, Q) if this system's unique documents were unjudged; only changed
    queries are recomputed."""
    lost = own[system] & (lists.gain[system] > 0)
    moved = np.flatnonzero(lost.any(axis=1))
    after = values.copy()
    after[:, moved] = scored(_without(lists.asked(moved), lost[moved], system), gain)
    return after


def _without(lists: Lists, lost: Flags, system: int) -> Lists:
    """Return the lists without a system's judgements at the ranks `lost` (Q, k)."""
    gain = lists.gain.copy()
    gain[system][lost] = HOLE
    gone = (lists.gain[system][..., None] >= lists.levels) & lost[..., None]
    return replace(lists, gain=gain, judged=lists.judged - gone.sum(axis=1))
