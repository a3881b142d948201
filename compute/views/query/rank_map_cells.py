"""The query x rank map of a run: what stands at each rank of each query, in one small array."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame

EMPTY, HOLE = -128, -127
"""Cells of a rank that the list does not fill, and of a document without a judgement; any other
cell holds the relevance."""

Places = NDArray[np.int64]
Shares = NDArray[np.float64]


def holes(cells: DataFrame) -> Shares:
    """Share of the filled ranks that hold holes, by query; NaN for an empty list."""
    array = cells.to_numpy()
    filled = (array != EMPTY).sum(axis=1)
    share = np.full(len(array), np.nan)
    return np.divide((array == HOLE).sum(axis=1), filled, out=share, where=filled > 0)


def order(cells: DataFrame, values: DataFrame, by: str) -> Places:
    """The rows in the order to show them: `by` is "highest", "lowest", "holes", "difference", "id".

    `values`: query_id, value, other, in the order of the rows of `cells`. "difference" puts first
    where the system gains most on the other, and last where it loses most. Queries without what is
    asked for come last; those that are equal stay as they are.
    """
    keys = {
        "highest": -values["value"],
        "lowest": values["value"],
        "holes": -pd.Series(holes(cells)),
        "difference": values["other"] - values["value"],
        "id": pd.Series(np.arange(len(values), dtype=np.float64)),
    }
    return np.argsort(keys[by].to_numpy(np.float64, na_value=np.nan), kind="stable")


def window(n_queries: int, start: int, size: int) -> slice:
    """The `size` rows from the 0-based `start` on, moved so that they lie within."""
    first = max(min(start, n_queries - size), 0)
    return slice(first, min(first + size, n_queries))


def bands(n_queries: int, most: int) -> Places:
    """First rows of at most `most` bands of about equal size."""
    return np.unique(np.linspace(0, n_queries, min(n_queries, most), endpoint=False).astype(int))
