"""Contribution of each rank to a measure, for measures that are sums over the ranks.

The relevance of a list is given by rank, nan for a hole. A rank contributes a gain over a discount;
a score is the sum of these terms over a divisor.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame

Values = NDArray[np.float64]
FILLED = "ranks that are filled"
RELEVANT = "relevant documents"
Parts = tuple[Values, Values]
"""Gain and discount by rank; a rank contributes gain over discount."""


class Terms(NamedTuple):
    """A measure: the contribution of each rank, and the divisor of the sum."""

    parts: Callable[[Values], Parts]
    divisor: Callable[["Lists"], float]
    divided_by: str
    """Name of the divisor; empty if the divisor is 1."""
    has_best: bool = True
    """True if some order of the judged documents is ideal."""


class Lists(NamedTuple):
    """Inputs of divisors, for a query and a list down to rank k."""

    best: DataFrame
    """Ideal order of the documents judged relevant, with the column `term`."""
    n_relevant: int
    n_listed: int
    k: int


def _ranks(relevance: Values) -> Values:
    return np.arange(1, len(relevance) + 1, dtype=np.float64)


def graded(relevance: Values) -> Parts:
    """The relevance, discounted by log2(1 + rank): nDCG."""
    return np.where(relevance > 0, relevance, 0.0), np.log2(_ranks(relevance) + 1)


def counted(relevance: Values) -> Parts:
    """1 for each relevant document: recall, precision."""
    return (relevance > 0).astype(np.float64), np.ones(len(relevance))


def precise(relevance: Values) -> Parts:
    """The precision at each relevant document: average precision."""
    found = relevance > 0
    return np.where(found, np.cumsum(found), 0.0), _ranks(relevance)


def _is_first(relevance: Values) -> Values:
    found = relevance > 0
    return (found & (np.cumsum(found) == 1)).astype(np.float64)


def first(relevance: Values) -> Parts:
    """1 for the first relevant document, divided by its rank: reciprocal rank."""
    return _is_first(relevance), _ranks(relevance)


def first_alone(relevance: Values) -> Parts:
    """1 for the first relevant document, regardless of its rank: success."""
    return _is_first(relevance), np.ones(len(relevance))


def judged(relevance: Values) -> Parts:
    """1 for each judged document."""
    return (~np.isnan(relevance)).astype(np.float64), np.ones(len(relevance))


def unjudged(relevance: Values) -> Parts:
    """1 for each hole."""
    return np.isnan(relevance).astype(np.float64), np.ones(len(relevance))


def total(terms: pd.Series) -> float:
    """The sum as in `measures`: added term by term, without additional precision."""
    return float(np.add.accumulate(terms.to_numpy(np.float64))[-1]) if len(terms) else 0.0


NDCG = Terms(graded, lambda of: total(of.best["term"]), "the sum of the best order")
RECALL = Terms(counted, lambda of: of.n_relevant, RELEVANT)
CAPPED_RECALL = Terms(
    counted,
    lambda of: min(of.n_relevant, of.k),
    (f"{RELEVANT}, or the number of ranks if that is smaller"),
)
AVERAGE_PRECISION = Terms(precise, lambda of: of.n_relevant, RELEVANT)
RECIPROCAL_RANK = Terms(first, lambda _: 1, "")
PRECISION = Terms(counted, lambda of: of.k, "ranks")
SUCCESS = Terms(first_alone, lambda _: 1, "")
JUDGED = Terms(judged, lambda of: of.n_listed, FILLED, has_best=False)
HOLES = Terms(unjudged, lambda of: of.n_listed, FILLED, has_best=False)
