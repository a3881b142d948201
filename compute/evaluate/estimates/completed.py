"""nDCG averaged over completions: the missing grades are drawn again and again, given the judged
ones, by an ordinal probit model with a random intercept (Hedeker and Gibbons 1994, Biometrics 50).
A pair reaches a level if a normal variable exceeds a threshold that follows from the runs' ranks.
All pairs and levels of a query share an effect. The effect's share of the variance is unknown; each
value of `_SHARES` is weighted by its likelihood."""

from dataclasses import replace
from itertools import product

import numpy as np
from scipy import special

from compute.evaluate.estimates.corrected import Corrected
from compute.evaluate.estimates.frames import Counts, Flags, Frame, Values
from compute.evaluate.estimates.linearised import Kind, Linear, counted

_SHARES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_QUANTILES = special.ndtri((np.arange(24) + 0.5) / 24)
NODES = np.array([(np.sqrt(s) * at, np.sqrt(1 - s)) for s, at in product(_SHARES, _QUANTILES)])
"""(K, 2) Effect of a query and standard deviation of its pairs, by share and quantile."""
_SEED, _LEAST, _RAREST = 20_261, 1e-6, 0.005
_MOST, _FEWEST, _PAIRS = 64, 8, 400_000
"""Most and fewest completions, and how many pairs they have together."""


def completed(frame: Frame, of: Kind, sample: Corrected, outside: Values | None) -> Linear:
    """Average nDCG over completions, with the mean difference that each pair makes. A judged pair's
    own grade does not count in its difference; otherwise the correction by the sample would be
    biased. `outside` as in `linear`."""
    rows = np.flatnonzero(np.isin(sample.about, (0, 1)).all(axis=1))
    alone = np.minimum.accumulate(sample.alone, axis=1).clip(_RAREST, 1 - _RAREST)
    scores, judged = special.ndtri(alone), sample.about[rows] > 0
    ends = _ends(scores[rows], judged)
    upto = _posterior(ends, frame.query[rows], len(frame.queries))
    n = int(np.clip(_PAIRS // max(frame.n, 1), _FEWEST, _MOST))
    random, weights, found = np.random.default_rng(_SEED), np.zeros(frame.n), []
    moves = np.zeros((frame.n, len(frame.systems), len(sample.levels)))
    for place in range(n):
        nodes = NODES[(upto < (place + 0.5) / n).sum(axis=1).clip(max=len(NODES) - 1)]
        effect, spread = nodes[frame.query].T
        reached = scores + (effect + spread * random.standard_normal(frame.n))[:, None] > 0
        reached[rows] = judged
        value, change = _flipped(frame, of, reached, sample, outside)
        weight = np.ones(frame.n)
        weight[rows] = 1 / _likelihood(ends, effect[rows], spread[rows])
        moves += weight[:, None, None] * change
        weights += weight
        found.append((value, reached))
    values, shares = (np.mean(each, axis=0) for each in zip(*found, strict=True))
    near = Linear(values, moves / weights[:, None, None], shares)
    left = np.array([value - near.moved(frame, reached - shares) for value, reached in found])
    rest = np.einsum("nsq,ntq->st", left, left) / n / len(frame.queries) ** 2
    return replace(near, rest=rest)


def _ends(scores: Values, reached: Flags) -> Values:
    """Return the scores between which each pair's normal variable lies, (2, n)."""
    last = np.full((len(scores), 1), np.inf)
    both = np.stack([np.hstack([last, scores]), np.hstack([scores, -last])])
    return both[:, np.arange(len(scores)), reached.sum(axis=1).astype(np.int64)]


def _likelihood(ends: Values, effect: Values, spread: Values) -> Values:
    """Return the probability of each pair's grade, (n,)."""
    upper, lower = special.ndtr((ends + effect) / spread)
    return np.maximum(upper - lower, _LEAST)


def _posterior(ends: Values, query: Counts, n_queries: int) -> Values:
    """Return the cumulative probabilities of the nodes, (Q, K), given the judged pairs."""
    logs = [np.bincount(query, np.log(_likelihood(ends, *node)), n_queries) for node in NODES]
    by_node = np.column_stack(logs).reshape(n_queries, len(_SHARES), len(_QUANTILES))
    whole = special.logsumexp(by_node, axis=2, keepdims=True)
    chances = np.exp(by_node - whole) * special.softmax(whole.sum(axis=0), axis=0)
    return np.cumsum(chances.reshape(n_queries, -1), axis=1)


def _flipped(
    frame: Frame, of: Kind, reached: Flags, sample: Corrected, outside: Values | None
) -> tuple[Values, Values]:
    """Return nDCG by these grades, (S, Q), and what a pair adds to it by each level, (N, S, L)."""
    gains = of.gains(sample.steps, sample.levels)
    discount = np.append(of.discount, 0)[np.minimum(frame.rank, of.k + 1) - 1]
    own = discount * (reached @ gains)[:, None]
    counts = counted(frame, reached) + (0 if outside is None else outside)
    gained, sums = counted(frame, own), np.append(0, np.cumsum(of.discount))

    def inverse(counts: Values) -> Values:
        ideal = sums[np.minimum(counts, of.k).astype(np.int64)] @ gains
        return np.divide(1, ideal, out=np.zeros_like(ideal), where=ideal > 0)[:, None]

    others, rest = gained[frame.query] - own, counts[frame.query] - reached
    each = np.tri(len(gains) + 1, len(gains), -1)
    ends = [(others + discount * (row @ gains)) * inverse(rest + row) for row in each]
    return (gained * inverse(counts)).T, np.diff(np.stack(ends, axis=2), axis=2)
