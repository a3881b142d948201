"""Rank-biased overlap: the similarity of two rankings for a query, in which the top counts most. W.
Webber, A. Moffat, J. Zobel: A Similarity Measure for Indefinite Rankings (TOIS 28, 2010), equation
32: extrapolated, for lists of different lengths. The rankings are canonical runs, in which tied
documents are already ordered, so there are no ties."""

import numpy as np
from numpy.typing import NDArray

P = 0.9
"""Probability that a reader continues to the next rank; the top 10 have 86% of the weight."""
DEPTH = 100
"""Last rank that counts; all further ranks together have less than 1/100,000 of the weight."""

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]


def of_shared(
    query: Numbers, depth: Numbers, n_a: Numbers, n_b: Numbers, *, p: float = P
) -> Values:
    """Compute the RBO of many queries from the documents that their two lists share. Each shared
    document has `query` (the position of its query, from 0) and `depth` (the rank from which on
    both lists contain it). `n_a` and `n_b` are the lengths of each query's lists. Returns a value
    per query: 0 if one list is empty, nan if both are."""
    n, short, long = len(n_a), np.minimum(n_a, n_b), np.maximum(n_a, n_b)
    steps = np.arange(1, max(int(long.max(initial=0)), 1) + 1)
    powers = np.concatenate([[0.0], np.cumsum(p**steps)])
    shares = np.concatenate([[0.0], np.cumsum(p**steps / steps)])
    # A document is in the overlap from its depth to the end of the longer list.
    found = np.bincount(query, shares[long[query]] - shares[depth - 1], minlength=n)
    x_long = np.bincount(query, minlength=n)
    x_short = np.bincount(query[depth <= short[query]], minlength=n)
    agreement = x_short / np.maximum(short, 1)
    beyond = powers[long] - powers[short] - short * (shares[long] - shares[short])
    rest = (x_long - x_short) / np.maximum(long, 1) + agreement
    value = (1 - p) / p * (found + agreement * beyond) + rest * p**long
    return np.where(long > 0, np.where(short > 0, value, 0.0), np.nan)
