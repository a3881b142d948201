"""Pool analysis: unique contributions of systems to the pool, and gains by added judgements. A pool
is the union of the loaded systems' top k. Judgements need not come from such a pool; the question
is how a system would score if they did and the system had not contributed (Zobel 1998; Buckley et
al. 2007). Pure functions on `holes.Lists`."""

from dataclasses import replace

import numpy as np
from pandas import DataFrame

from compute.evaluate.hole_gains import Gain
from compute.evaluate.holes.bounds import measured
from compute.evaluate.tolerance import order, ranks
from compute.evaluate.top_lists import HOLE, Flags, Lists, Numbers, Values


def alone(lists: Lists, among: Flags | None = None) -> Flags:
    """(S, Q, k) Ranks whose document no other system has in its top k for the query. `among`: only
    these ranks, which must include a document for every system or for none (default: all filled
    ranks)."""
    among = lists.filled if among is None else among
    size = int(lists.document.max(initial=-1)) + 1
    pair = (np.arange(lists.document.shape[1])[:, None] * size + lists.document)[among]
    _, place, count = np.unique(pair, return_inverse=True, return_counts=True)
    found = np.zeros(among.shape, bool)
    found[among] = count[place] == 1
    return found


def leave_one_out(lists: Lists, measure: str) -> DataFrame:
    """Each system rescored without the judgements of its unique documents, best first.

    system; n_judged and n_relevant (pairs of its top k), n_alone and n_relevant_alone (those that
    no other system has in its top k); value and value_without; place and place_without among all
    systems, each scored by the reduced judgements. The queries stay the same: a query that loses
    its last relevant document scores 0. Raises WrongInput like `bounds.measured`.
    """
    top, gain = measured(lists, measure)
    own = alone(top, top.filled & ~top.holes)
    values = _values(top, gain)
    before = _means(values)
    rows = []
    for system in range(len(top.systems)):
        after = _means(_values_without(top, gain, values, own, system))
        counts = _counts(top.gain[system], own[system])
        scores = {"value": before[system], "value_without": after[system]}
        places = {"place": place(before, system), "place_without": place(after, system)}
        rows.append({"system": top.systems[system]} | counts | scores | places)
    return _sorted(DataFrame(rows, columns=_LEFT_OUT), "value")


def gains(official: Lists, added: Lists, measure: str) -> DataFrame:
    """Change of each system by added judgements, largest gain first. Both lists contain the same
    systems; `added` uses official and added judgements. system; n_added and n_added_relevant (pairs
    of its top k judged only by these); n_added_alone (relevant documents that no other system has
    in its top k); value and value_added, each over the queries then judged. Raises WrongInput like
    `bounds.measured`."""
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
            "value": _means(_values(before, gain)),
            "value_added": _means(_values(after, gain)),
        }
    )
    change = frame["value_added"] - frame["value"]
    return _sorted(frame.assign(change=change), "change").drop(columns="change")


_LEFT_OUT = (
    "system",
    "n_judged",
    "n_relevant",
    "n_alone",
    "n_relevant_alone",
    "value",
    "value_without",
    "place",
    "place_without",
)


def _sorted(frame: DataFrame, column: str) -> DataFrame:
    return frame.iloc[order(frame[column], frame["system"])].reset_index(drop=True)


def _counts(gains: Numbers, own: Flags) -> dict[str, int]:
    return {
        "n_judged": int((gains != HOLE).sum()),
        "n_relevant": int((gains > 0).sum()),
        "n_alone": int(own.sum()),
        "n_relevant_alone": int((own & (gains > 0)).sum()),
    }


def place(means: Values, system: int) -> int:
    """Rank from 1; equal systems share the better rank."""
    return int(ranks(means)[system])


def _means(values: Values) -> Values:
    """(S,) Means of values (S, Q) over the queries; 0 if there are none."""
    return values.mean(axis=1) if values.shape[1] else np.zeros(len(values))


def _values(lists: Lists, gain: Gain) -> Values:
    """(S, Q) The measure of each query, with holes not relevant."""
    best = gain.reach(lists.depth, lists.judged) @ lists.steps
    found = gain.found(lists.gain)
    return np.divide(found, best, out=np.zeros(found.shape), where=best > 0)


def _values_without(lists: Lists, gain: Gain, values: Values, own: Flags, system: int) -> Values:
    """(S, Q) The values if this system's unique documents were unjudged; most are unchanged."""
    lost = own[system] & (lists.gain[system] > 0)
    moved = np.flatnonzero(lost.any(axis=1))
    after = values.copy()
    after[:, moved] = _values(_without(lists.asked(moved), lost[moved], system), gain)
    return after


def _without(lists: Lists, lost: Flags, system: int) -> Lists:
    """The lists rescored without a system's judgements at ranks (Q, k)."""
    gain = lists.gain.copy()
    gain[system][lost] = HOLE
    gone = (lists.gain[system][..., None] >= lists.levels) & lost[..., None]
    return replace(lists, gain=gain, judged=lists.judged - gone.sum(axis=1))
