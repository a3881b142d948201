"""Why a query scores what it does: the gain at each rank, its discount, the best order beside it.

The sums are those of `measures`, added in the same order, so that a total equals the stored score
to the last bit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.evaluate.measures import parse

Values = NDArray[np.float64]
Parts = tuple[Values, Values]
"""Gain and discount by rank; what a rank adds is one over the other."""


@dataclass(frozen=True)
class Explained:
    """The value of a measure for one query, taken apart."""

    measure: str
    listed: DataFrame
    """rank, doc_id, relevance (absent for a hole), gain, discount, term = gain / discount; a row
    per rank that the list fills, down to the measure's cut."""
    best: DataFrame
    """rank, relevance, gain, discount, term of the best order of what is judged relevant, down to
    the same cut; empty for a measure that no order is best for."""
    divisor: float
    """What the sum of the terms is divided by."""
    divided_by: str
    """What the divisor is, in words."""

    @property
    def total(self) -> float:
        """The sum of the terms of the list."""
        return _sum(self.listed["term"])

    @property
    def value(self) -> float:
        """The score: the total over the divisor, 0 where that is 0."""
        return self.total / self.divisor if self.divisor else 0.0

    @property
    def best_total(self) -> float:
        """The sum of the terms of the best order."""
        return _sum(self.best["term"])


class _Row(NamedTuple):
    """A measure: what each rank adds, and what the sum is divided by."""

    parts: Callable[[Values], Parts]
    divisor: Callable[["_Lists"], float]
    divided_by: str
    has_best: bool = True


class _Lists(NamedTuple):
    best: DataFrame
    n_relevant: int
    n_listed: int
    k: int


def _ranks(relevance: Values) -> Values:
    return np.arange(1, len(relevance) + 1, dtype=np.float64)


def _graded(relevance: Values) -> Parts:
    return np.where(relevance > 0, relevance, 0.0), np.log2(_ranks(relevance) + 1)


def _counted(relevance: Values) -> Parts:
    return (relevance > 0).astype(np.float64), np.ones(len(relevance))


def _precise(relevance: Values) -> Parts:
    found = relevance > 0
    return np.where(found, np.cumsum(found), 0.0), _ranks(relevance)


def _is_first(relevance: Values) -> Values:
    found = relevance > 0
    return (found & (np.cumsum(found) == 1)).astype(np.float64)


def _first(relevance: Values) -> Parts:
    return _is_first(relevance), _ranks(relevance)


def _any(relevance: Values) -> Parts:
    return _is_first(relevance), np.ones(len(relevance))


def _judged(relevance: Values) -> Parts:
    return (~np.isnan(relevance)).astype(np.float64), np.ones(len(relevance))


def _unjudged(relevance: Values) -> Parts:
    return np.isnan(relevance).astype(np.float64), np.ones(len(relevance))


_RELEVANT = "relevant documents"
FILLED = "ranks that are filled"
_ROWS = {
    "nDCG": _Row(_graded, lambda of: _sum(of.best["term"]), "the sum of the best order"),
    "R": _Row(_counted, lambda of: of.n_relevant, _RELEVANT),
    "R_cap": _Row(
        _counted,
        lambda of: min(of.n_relevant, of.k),
        f"{_RELEVANT}, or the ranks if those are less",
    ),
    "AP": _Row(_precise, lambda of: of.n_relevant, _RELEVANT),
    "RR": _Row(_first, lambda _: 1, ""),
    "P": _Row(_counted, lambda of: of.k, "ranks"),
    "Success": _Row(_any, lambda _: 1, ""),
    "Judged": _Row(_judged, lambda of: of.n_listed, FILLED, has_best=False),
    "Hole": _Row(_unjudged, lambda of: of.n_listed, FILLED, has_best=False),
}


def has_best(measure: str) -> bool:
    """Whether some order of the judged documents is best for a measure that `explains` names."""
    return _ROWS[parse(measure).formula.name].has_best


def explains(measure: str) -> bool:
    """Whether a measure is a sum over the top k ranks of one query's list."""
    parsed = parse(measure)
    return parsed.formula.name in _ROWS and parsed.k is not None


def explain(hits: DataFrame, judgements: DataFrame, measure: str) -> Explained:
    """One query's score by a measure, rank by rank.

    `hits`: rank, doc_id of one list; `judgements`: doc_id, relevance of the query. Raises
    WrongInput for a measure that is no such sum, Bpref or Hole_beir@10.
    """
    parsed = parse(measure)
    row, k = _ROWS.get(parsed.formula.name), parsed.k
    if row is None or k is None:
        raise WrongInput(f"{measure} is no sum over the ranks of one list")
    judged = dict(zip(judgements["doc_id"], judgements["relevance"], strict=True))
    listed = hits.loc[hits["rank"] <= k, ["rank", "doc_id"]].sort_values("rank")
    grades = [judged.get(doc_id) for doc_id in listed["doc_id"]]
    listed = listed.assign(relevance=pd.array(grades, "Int64"))
    relevant = judgements.loc[judgements["relevance"] > 0, ["relevance"]]
    order = relevant.sort_values("relevance", ascending=False).head(k if row.has_best else 0)
    best = _with_terms(order.assign(rank=range(1, len(order) + 1)).astype("Int64"), row)
    divisor = row.divisor(_Lists(best, len(relevant), len(listed), k))
    columns = ["rank", "relevance", "gain", "discount", "term"]
    listed = _with_terms(listed, row)
    return Explained(measure, listed, best[columns], float(divisor), row.divided_by)


def _with_terms(frame: DataFrame, row: _Row) -> DataFrame:
    gain, discount = row.parts(frame["relevance"].to_numpy(np.float64, na_value=np.nan))
    return frame.assign(gain=gain, discount=discount, term=gain / discount).reset_index(drop=True)


def _sum(terms: pd.Series) -> float:
    """The sum as `measures` has it: one term after the other, with no further digits kept."""
    return float(np.add.accumulate(terms.to_numpy(np.float64))[-1]) if len(terms) else 0.0
