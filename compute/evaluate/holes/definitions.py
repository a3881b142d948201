"""Counts unjudged documents, and scores lists without them or with expected gains for them."""

from dataclasses import replace

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from compute.base.errors import WrongInput
from compute.evaluate.hole_gains import Sum
from compute.evaluate.holes.bounds import distinct, formula, measured, ratio, scored
from compute.evaluate.top_lists import HOLE, Lists, Numbers, Values

FEWEST_ADDED = 50
"""Number of added judgements needed to show rates if the official judgements are all relevant."""


def hole(lists: Lists, k: int) -> Series:
    """Return Hole@k by system: the unjudged share of the filled ranks in a query's top k, as a mean
    over the queries with hits; absent without hits."""
    return _mean(lists, hole_by_query(lists, k))


def hole_by_query(lists: Lists, k: int) -> Values:
    """Return Hole@k of each query, (S, Q); nan if the list is empty."""
    top = lists.cut(k)
    return _answered(top, top.holes.sum(axis=2) / top.filled.sum(axis=2).clip(1))


def hole_beir(lists: Lists, k: int) -> Series:
    """Return Hole@k by system as BEIR's code counts holes: documents in the top k that are not
    judged for any query, divided by k even for short lists, as a mean over queries with hits."""
    top = lists.cut(k)
    return _mean(lists, _answered(top, (top.filled & ~top.known).sum(axis=2) / k))


def _answered(top: Lists, shares: Values) -> Values:
    """Return the shares (S, Q), with nan for queries without hits."""
    return np.where(top.filled.any(axis=2), shares, np.nan)


def _mean(lists: Lists, shares: Values) -> Series:
    """Return the mean of each system over its queries with hits; absent without hits."""
    return DataFrame(shares, index=pd.Index(lists.systems, name="system")).mean(axis=1)


def by_rank(lists: Lists) -> DataFrame:
    """Count by system and rank the queries with a document (n_filled), a hole (n_holes) and a
    relevant document (n_relevant) at that rank."""
    rows = pd.MultiIndex.from_product(
        [lists.systems, range(1, lists.depth + 1)], names=["system", "rank"]
    )
    counts = {"n_filled": lists.filled, "n_holes": lists.holes, "n_relevant": lists.gain > 0}
    columns = {name: flags.sum(axis=1).ravel() for name, flags in counts.items()}
    return DataFrame(columns, index=rows).reset_index()


def tells_more(n_not_relevant: int, n_added: int, n_added_not_relevant: int) -> bool:
    """Return whether condensed and expected scores are meaningful. If only relevant documents are
    recorded, every list looks perfect without its holes. So the official judgements must contain
    non-relevant documents, or at least FEWEST_ADDED judgements must have been added, some of them
    non-relevant."""
    return n_not_relevant > 0 or (n_added >= FEWEST_ADDED and n_added_not_relevant > 0)


def rates(lists: Lists) -> Values:
    """Return the mean gain of judged documents at each rank, over all systems and queries, (k,). A
    rank without judgements gets the mean of all ranks."""
    judged = lists.filled & (lists.gain != HOLE)
    gains = np.where(judged, lists.gain, 0).sum(axis=(0, 1))
    counts = judged.sum(axis=(0, 1))
    overall = gains.sum() / max(counts.sum(), 1)
    return np.where(counts > 0, gains / counts.clip(1), overall)


def is_expected(measure: str) -> bool:
    """Return whether a measure is a sum of gains, so that holes can have an expected gain."""
    return isinstance(formula(measure)[0], Sum)


def expected(lists: Lists, measure: str, told: Lists | None = None) -> DataFrame:
    """Return scores in which every hole has the mean gain of the judged documents at its rank, in
    the list and in the ideal order: a row per system, a column per query. The rates come from
    `told`, the same lists with different judgements (default: the lists themselves). These scores
    are optimistic, since the judged documents of a pool were retrieved by the systems that
    contributed to it. A value lies within the own list's range, since a ratio is extreme at whole
    grades. Raises WrongInput as `measured` does, and for a measure without expected gain."""
    whole, gain = measured(lists, measure)
    if not isinstance(gain, Sum):
        raise WrongInput(
            f"{measure} is not a sum of gains, so unjudged documents have no expected gain"
        )
    worth, (seen, _, kinds) = rates(measured(told or lists, measure)[0]), distinct(whole)
    gains = np.where(seen.holes, worth, seen.gain)
    discount = gain.discount(seen.depth)
    brought = gains @ discount
    hoped = np.where(seen.holes, gains, 0.0)
    if gain.graded:
        # The i-th best judged gain includes every level that at least i documents reach.
        ranks = np.arange(seen.depth)
        best = (seen.judged[:, None, :] > ranks[:, None]) @ seen.steps
        merged = np.concatenate([best[None], hoped], axis=2)
        ideal = -np.sort(-merged, axis=2)[:, :, : seen.depth] @ discount
    else:
        counts = np.arange(int(seen.judged.max(initial=0)) + seen.depth + 1)
        total = seen.judged[:, 0] + hoped.sum(axis=2)
        ideal = np.interp(total, counts, gain.reach(seen.depth, counts))
    return _by_query(lists, ratio(brought, ideal), kinds)


def condensed(lists: Lists, measure: str) -> DataFrame:
    """Return condensed scores, those of the lists without unjudged documents (Sakai 2007): a row
    per system, a column per query. The holes are removed from the lists at their stored depth, and
    the rest is cut to the measure's depth."""
    there = replace(lists, gain=np.where(lists.filled, lists.gain, np.int32(HOLE)))
    some, _, kinds = distinct(there)
    order = np.argsort(some.holes, axis=2, kind="stable")
    closed = np.take_along_axis(some.gain.clip(0), order, axis=2)
    seen, gain = measured(replace(some, gain=closed), measure)
    return _by_query(lists, scored(seen, gain), kinds)


def _by_query(lists: Lists, values: Values, kinds: Numbers) -> DataFrame:
    """Return the values of the kinds of lists, by system and query."""
    wide = values[0, kinds].reshape(len(lists.systems), -1)
    return DataFrame(wide, pd.Index(lists.systems, name="system"), lists.queries)
