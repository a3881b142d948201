"""Cells of a map of queries by ranks, and the order of its rows."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame

EMPTY, HOLE = -128, -127
"""Cell values beyond the end of a list, and for unjudged documents; other values are grades."""

Places = NDArray[np.int64]
Shares = NDArray[np.float64]


def holes(cells: DataFrame) -> Shares:
    """Return each query's unjudged share of the filled ranks; NaN for an empty list."""
    array = cells.to_numpy()
    filled = (array != EMPTY).sum(axis=1)
    share = np.full(len(array), np.nan)
    return np.divide((array == HOLE).sum(axis=1), filled, out=share, where=filled > 0)


def order(cells: DataFrame, values: DataFrame, by: str) -> Places:
    """Return the indices of the rows in display order. `by` is "highest", "lowest", "holes",
    "difference" or "id". `values`: query_id, value, other, in the order of the rows of `cells`.
    "difference" puts the system's largest lead over the other first and its largest loss last.
    Queries without the requested value come last; ties keep their order."""
    keys = {
        "highest": -values["value"],
        "lowest": values["value"],
        "holes": -pd.Series(holes(cells)),
        "difference": values["other"] - values["value"],
        "id": pd.Series(np.arange(len(values), dtype=np.float64)),
    }
    return np.argsort(keys[by].to_numpy(np.float64, na_value=np.nan), kind="stable")


def window(n_queries: int, start: int, size: int) -> slice:
    """Return `size` rows from the 0-based `start`, shifted to lie within the map."""
    first = max(min(start, n_queries - size), 0)
    return slice(first, min(first + size, n_queries))


def bands(n_queries: int, most: int) -> Places:
    """Return the first rows of at most `most` bands of about equal size."""
    return np.unique(np.linspace(0, n_queries, min(n_queries, most), endpoint=False).astype(int))
