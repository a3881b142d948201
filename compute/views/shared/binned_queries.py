"""All queries of a dataset along an axis; neighbours are merged if there are too many."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compute.views.shared.theme import escape

MOST = 600
"""Most queries shown individually; if there are more, each place stands for several neighbours."""


def groups(n: int) -> NDArray[np.int64]:
    """Return the index at which each group of neighbouring queries starts, followed by n."""
    return np.linspace(0, n, min(n, MOST) + 1).astype(np.int64)


def means(values: Any, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean of the values in each group; `edges` come from `groups`."""
    given = np.asarray(values, dtype=np.float64)
    return np.add.reduceat(given, edges[:-1]) / np.diff(edges) if len(given) else given


def places(edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the position of each group's bar on the axis; the first query is at 1."""
    return (edges[:-1] + edges[1:]) / 2 + 0.5


def axis(n: int, title: str) -> dict[str, Any]:
    """Return a titled axis with a place for each of n queries."""
    axis = {"range": [0.5, n + 0.5], "showgrid": False, "zeroline": False, "tickformat": ","}
    return axis | {"title": {"text": title}}


def name(row: Any) -> str:
    """Return the query's id and its text, if stored, as HTML for a tooltip."""
    text = f"<br>{escape(row.text, 90)}" if isinstance(row.text, str) and row.text else ""
    return f"<b>{escape(row.query_id)}</b>{text}"
