"""Every SELECT: a cursor and parameters go in, a frame comes out. One module per page."""

from compute.queries import (
    added,
    agreement,
    annotate,
    compare,
    dataset,
    efficiency,
    holes,
    leaderboard,
    lengths,
    overlap,
    pools,
    query,
    ranking,
    rankmap,
    standing,
    stored,
)

__all__ = [
    "added",
    "agreement",
    "annotate",
    "compare",
    "dataset",
    "efficiency",
    "holes",
    "leaderboard",
    "lengths",
    "overlap",
    "pools",
    "query",
    "ranking",
    "rankmap",
    "standing",
    "stored",
]
