"""Every SELECT: a cursor and parameters go in, a frame comes out. One module per page."""

from compute.queries import dataset, leaderboard, query, stored

__all__ = ["dataset", "leaderboard", "query", "stored"]
