"""Small frames to work by hand, and made-up ones with grades for every pair."""

import numpy as np
from pandas import DataFrame

from compute.evaluate.estimates.frames import Frame, of_lists


def listed(lists: dict[str, dict[str, str]], depth: int = 2) -> Frame:
    """system -> query_id -> its documents, a letter each."""
    rows = [
        (system, query, document, rank)
        for system, asked in lists.items()
        for query, documents in asked.items()
        for rank, document in enumerate(documents, start=1)
    ]
    tops = DataFrame(rows, columns=["system", "query_id", "doc_id", "rank"])
    return of_lists(tops, sorted({query for asked in lists.values() for query in asked}), depth)


TWO = listed({"one": {"p": "ab", "q": "ab"}, "two": {"p": "ac", "q": "cd"}})
"""Rows: p a, p b, p c, q a, q b, q c, q d."""


def drawn(n_queries: int, depth: int, seed: int, n_systems: int = 4) -> tuple[Frame, np.ndarray]:
    """A frame and grades from 0 to 2: what is relevant stands higher."""
    random = np.random.default_rng(seed)
    worth = random.gamma(0.6, size=(n_queries, 3 * depth))
    rows = []
    for system in range(n_systems):
        noisy = worth + random.normal(0, 0.4 + 0.2 * system, worth.shape)
        for query, order in enumerate(np.argsort(-noisy, axis=1)):
            rows += [
                (f"s{system}", f"q{query:03}", f"d{place:03}", rank)
                for rank, place in enumerate(order, start=1)
            ]
    tops = DataFrame(rows, columns=["system", "query_id", "doc_id", "rank"])
    frame = of_lists(tops, sorted(tops["query_id"].unique()), depth)
    place = frame.pairs["doc_id"].str[1:].astype(int).to_numpy()
    real = worth[frame.query, place]
    return frame, (real > 0.8).astype(float) + (real > 1.6)
