"""The contribution of each rank to a measure that is a sum over the ranks. The input is the
relevance at each rank of a list, nan for a hole. A rank contributes a gain divided by a discount; a
score is the sum of these terms divided by a divisor."""

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
"""Gain and discount at each rank, which contributes gain / discount."""


class Terms(NamedTuple):
    """The contribution of each rank to a measure, and the divisor of the sum."""

    parts: Callable[[Values], Parts]
    divisor: Callable[["Lists"], float]
    divided_by: str
    """Name of the divisor; empty if the divisor is 1."""
    has_best: bool = True
    """True if some order of the judged documents is ideal."""


class Lists(NamedTuple):
    """Inputs of divisors: a query and its list down to rank k."""

    best: DataFrame
    """Ideal order of the documents judged relevant, with the column `term`."""
    n_relevant: int
    n_listed: int
    k: int


def _ranks(relevance: Values) -> Values:
    return np.arange(1, len(relevance) + 1, dtype=np.float64)


def graded(relevance: Values) -> Parts:
    """Return the relevance, with the discount log2(1 + rank): nDCG."""
    return np.where(relevance > 0, relevance, 0.0), np.log2(_ranks(relevance) + 1)


def counted(relevance: Values) -> Parts:
    """Return a gain of 1 for each relevant document, without a discount: recall, precision."""
    return (relevance > 0).astype(np.float64), np.ones(len(relevance))


def precise(relevance: Values) -> Parts:
    """Return the precision at each relevant document: average precision."""
    found = relevance > 0
    return np.where(found, np.cumsum(found), 0.0), _ranks(relevance)


def _is_first(relevance: Values) -> Values:
    """Return 1 at the first relevant document and 0 elsewhere."""
    found = relevance > 0
    return (found & (np.cumsum(found) == 1)).astype(np.float64)


def first(relevance: Values) -> Parts:
    """Return 1 for the first relevant document, with its rank as discount: reciprocal rank."""
    return _is_first(relevance), _ranks(relevance)


def first_alone(relevance: Values) -> Parts:
    """Return a gain of 1 for the first relevant document, without a discount: success."""
    return _is_first(relevance), np.ones(len(relevance))


def judged(relevance: Values) -> Parts:
    """Return a gain of 1 for each judged document."""
    return (~np.isnan(relevance)).astype(np.float64), np.ones(len(relevance))


def unjudged(relevance: Values) -> Parts:
    """Return a gain of 1 for each hole."""
    return np.isnan(relevance).astype(np.float64), np.ones(len(relevance))


def total(terms: pd.Series) -> float:
    """Sum the terms one by one as `measures` does, without additional precision."""
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
