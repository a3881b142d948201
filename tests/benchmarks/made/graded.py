"""Made-up pools whose queries differ in how many documents reach the upper grades."""

import numpy as np
import pandas as pd

from compute.evaluate.estimates.frames import Frame, Values, of_lists

N_SYSTEMS, N_DOCUMENTS, DEPTH = 4, 30, 10


def graded(n_levels: int, seed: int) -> tuple[Frame, Values]:
    """Pool of 20 to 300 queries, 10 to 90% relevant, and the grade of each of its pairs.

    The upper of `n_levels` grades are as frequent as the lower ones, or rarer.
    """
    random = np.random.default_rng([seed, n_levels])
    n = int(random.choice((20, 50, 100, 300)))
    share = float(random.choice((0.1, 0.3, 0.5, 0.7, 0.9)))
    worth = random.normal(size=(n, N_DOCUMENTS))
    apart = float(random.choice((0.3, 1.0)))
    noisy = [
        worth + random.normal(0, 0.5 + 0.25 * system, worth.shape) for system in range(N_SYSTEMS)
    ]
    frame = _pool(noisy)
    place = frame.pairs["doc_id"].str[1:].astype(int).to_numpy()
    real = (worth + apart * random.normal(size=(n, 1)))[frame.query, place]
    real += random.normal(0, 0.5, frame.n)
    even, level = random.random() < 0.5, np.arange(n_levels)
    shares = share * (1 - level / n_levels if even else 0.5**level)
    reached = real[:, None] > np.quantile(real, 1 - shares)
    return frame, reached.sum(axis=1) * 1.0


def _pool(scores: list[Values]) -> Frame:
    """Top DEPTH of each system by its scores of queries and documents."""
    rows = [
        (f"s{system}", f"q{query:03}", f"d{place:03}", rank)
        for system, own in enumerate(scores)
        for query, order in enumerate(np.argsort(-own, axis=1))
        for rank, place in enumerate(order, start=1)
    ]
    tops = pd.DataFrame(rows, columns=["system", "query_id", "doc_id", "rank"])
    return of_lists(tops, sorted(tops["query_id"].unique()), DEPTH)
