"""All queries of a dataset in a row; neighbours are merged if there are too many."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compute.views.shared.theme import escape

MOST = 600
"""Most queries that a figure shows individually; with more, each place is a group of neighbours."""


def groups(n: int) -> NDArray[np.int64]:
    """Starts of the groups that share a place, and n."""
    return np.linspace(0, n, min(n, MOST) + 1).astype(np.int64)


def means(values: Any, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean of each group."""
    given = np.asarray(values, dtype=np.float64)
    return np.add.reduceat(given, edges[:-1]) / np.diff(edges) if len(given) else given


def places(edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Position of each group's bar: the first query is at 1."""
    return (edges[:-1] + edges[1:]) / 2 + 0.5


def axis(n: int, title: str) -> dict[str, Any]:
    """The axis for a number of queries."""
    axis = {"range": [0.5, n + 0.5], "showgrid": False, "zeroline": False, "tickformat": ","}
    return axis | {"title": {"text": title}}


def name(row: Any) -> str:
    """Id of the query and its text, if stored, for a tooltip."""
    text = f"<br>{escape(row.text, 90)}" if isinstance(row.text, str) and row.text else ""
    return f"<b>{escape(row.query_id)}</b>{text}"
