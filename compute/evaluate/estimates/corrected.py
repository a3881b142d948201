"""Corrects predictions by a sample, which gives an estimated grade of each pair of the frame.

The method is the difference estimator (Särndal, Swensson and Wretman 1992, section 6.3): the
prediction for every pair plus, for each sampled pair, the grade minus the prediction, divided by
the pair's inclusion probability. It is unbiased however poor the prediction is, since a pair is
predicted from other pairs and its inclusion probability does not depend on its own grade. Each
batch gives such an estimate for all pairs not judged before; the errors of batches are uncorrelated
(Zrnic and Candès 2024, arXiv 2403.03208, section 4).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from compute.evaluate.estimates import prediction
from compute.evaluate.estimates.frames import Counts, Flags, Frame, Values

LEAST_SHARE = 0.02
"""Predictions are kept at least this far from 0 and 1 when variances are computed."""


_PRIOR = 4.0
"""Strength of the pull of `together` towards 0, like a prior with standard deviation 0.5."""


@dataclass(frozen=True)
class Batch:
    """Pairs drawn together, each with a known inclusion probability."""

    rows: Counts
    """(n,) Rows of the frame, all judged or skipped."""
    chances: Values
    """(N,) Inclusion probability of each row: 1 if judged before, 0 if it could not be drawn."""
    weight: float
    """Weight of the batch among all batches; it depends on their sizes, not on grades."""


@dataclass(frozen=True)
class Corrected:
    """Estimates for N pairs and L levels of relevance. A pair's relevance is the sum of the steps
    between the levels that it reaches."""

    values: Values
    """(N, L) Unbiased estimate of whether the pair reaches the level, even below 0 or above 1."""
    about: Values
    """(N, L) Best estimate from 0 to 1: the judgement if there is one, else the prediction."""
    drawn: Counts
    """(n,) Rows drawn with an inclusion probability below 1."""
    errors: Values
    """(n, L) Errors of the drawn rows. For any weights, the sum of (weight x error) squared over
    these rows is an unbiased estimate of the variance of the sum of weight x value over all
    rows."""
    factors: Values
    """(n,) Factor by which the grade minus the prediction was multiplied to give the error."""
    guesses: Values
    """(N, L) Prediction from other pairs, also for judged ones, LEAST_SHARE or more from 0 and
    1."""
    spread: Values
    """(N,) Factor by which the variance of each pair's relevance enters the variance of a sum."""
    unknown: Values
    """(N,) Increase of `values` if a skipped pair had the highest relevance."""
    alone: Values
    """(N, L) Prediction from only the runs, without the judgements of its query."""
    together: float
    """If one pair is relevant, other pairs of its query are relevant with their own probability
    times 1 + `together`."""
    undrawn: Flags
    """(N,) Mask of unjudged pairs that no batch could draw. A measure that is a sum does not depend
    on these pairs, but the denominator of a ratio does."""
    n_reached: Counts
    """(L,) Number of pairs in the batches that reach each level."""
    n_judged: int
    """Number of judged pairs in the batches."""
    levels: Values
    """(L,) The lowest relevance of each level."""

    @property
    def is_census(self) -> bool:
        """Return whether the whole frame was drawn, so that only skipped pairs are uncertain."""
        return not self.spread.any()

    @property
    def steps(self) -> Values:
        """Return the relevance that each level adds to the next lower one, (L,)."""
        return np.diff(self.levels, prepend=0.0)


def corrected(
    frame: Frame,
    given: Values,
    grades: Values,
    batches: Sequence[Batch],
    levels: Values | None = None,
) -> Corrected:
    """Estimate the grade of each pair of the frame after one or more batches. `given` has the
    features of `prediction.features`; `grades` (N,) are NaN for unjudged pairs; `levels` are the
    grades above 0 that can be given, ascending (default: those that were given)."""
    levels = levels_of(grades) if levels is None else levels
    guess, alone = (predicted(frame, given, grades, levels, by_query=by) for by in (True, False))
    return replace(by_guess(guess, grades, batches, levels, frame.query), alone=alone)


def predicted(
    frame: Frame, given: Values, grades: Values, levels: Values, *, by_query: bool = True
) -> Values:
    """Predict the probability that each pair reaches each level, (N, L), from the other pairs'
    grades; 1/2 without grades. `sampling.sizes` uses the first column to draw a batch. Queries have
    effects only with `by_query`."""
    rows = np.flatnonzero(~np.isnan(grades))
    if not len(rows):
        return np.full((frame.n, len(levels)), 0.5)
    reached, query = (grades[rows, None] >= levels).astype(np.float64), frame.query * by_query
    model = prediction.fit(given[rows], query[rows], reached, len(frame.queries))
    guess = model.predicted(given, query)
    guess[rows] = model.others
    return guess


def by_guess(
    guess: Values, grades: Values, batches: Sequence[Batch], levels: Values, query: Counts
) -> Corrected:
    """Estimate grades as `corrected` does, but from predictions `guess` (N, L), 0 to 1, made
    without the pair's own grade. `query` (N,) is the number of each pair's query."""
    judged = ~np.isnan(grades)
    reached = (np.nan_to_num(grades, nan=0.0)[:, None] >= levels).astype(np.float64)
    shares = _shares(batches)
    parts = [
        _part(batch, share, reached, guess, judged)
        for batch, share in zip(batches, shares, strict=True)
    ]
    rows = np.concatenate([batch.rows for batch in batches])
    once, open_to = np.unique(rows), (shares > 0).sum(axis=0) > 0
    values = np.sum([part.values for part in parts], axis=0)
    chances = np.concatenate([batch.chances[batch.rows] for batch in batches])
    return Corrected(
        # The grade of a judged pair that no batch could draw is certain.
        values=np.where(open_to[:, np.newaxis], values, reached),
        about=np.where(judged[:, None], reached, guess),
        drawn=rows[chances < 1],
        errors=np.concatenate([part.errors for part in parts]),
        factors=np.concatenate([part.factors for part in parts]),
        guesses=np.clip(guess, LEAST_SHARE, 1 - LEAST_SHARE),
        spread=np.sum([part.spread for part in parts], axis=0),
        unknown=np.sum([part.unknown for part in parts], axis=0) + ~(open_to | judged),
        alone=guess,
        together=_together(reached[judged, 0], guess[judged, 0], query[judged]),
        undrawn=~(open_to | judged),
        n_reached=reached[once].sum(axis=0).astype(np.int64),
        n_judged=int(judged[once].sum()),
        levels=levels,
    )


def _together(reached: Values, guess: Values, query: Counts) -> float:
    """Return `Corrected.together`: products of the errors of a query's judged pairs, summed over
    all queries, divided by the sum of the products of their predictions."""
    missed = reached - guess
    errors = (np.bincount(query, missed) ** 2).sum() - (missed**2).sum()
    products = (np.bincount(query, guess) ** 2).sum() - (guess**2).sum()
    return float(np.clip(errors / (products + _PRIOR), -1, 1))


def _shares(batches: Sequence[Batch]) -> Values:
    """Return the weight of each batch for each row, (B, N). A pair that a batch could not draw,
    because its system was added later, is estimated from the other batches."""
    weights = np.array([batch.weight * (batch.chances > 0.0) for batch in batches], np.float64)
    total = weights.sum(axis=0)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def expansions(batches: Sequence[Batch], judged: Flags) -> Values:
    """Return how many rows of the frame each judged row represents, (N,): its inverse inclusion
    probability (Horvitz and Thompson 1952), weighted by the batches. It is 0 for unjudged rows and
    1 for rows judged before a batch."""
    found = np.zeros(len(judged))
    for batch, share in zip(batches, _shares(batches), strict=True):
        seen = judged & (batch.chances == 1)
        seen[batch.rows] = judged[batch.rows]
        found[seen] += share[seen] / batch.chances[seen]
    return found


def levels_of(grades: Values) -> Values:
    """Return the grades above 0 that occur, ascending; 1 if none occurs."""
    found = np.unique(grades[grades > 0])
    return found if len(found) else np.ones(1)


@dataclass(frozen=True)
class _Part:
    """Contribution of a batch to the fields of `Corrected`."""

    values: Values
    errors: Values
    factors: Values
    spread: Values
    unknown: Values


def _part(batch: Batch, share: Values, reached: Values, guess: Values, judged: Flags) -> _Part:
    """Compute the contribution of a batch; `share` (N,) is its weight for each row."""
    chances, rows = batch.chances, batch.rows
    open_rows = rows[chances[rows] < 1]
    missed = reached[open_rows] - guess[open_rows]
    values = np.where(chances[:, None] == 1, reached, guess)
    values[open_rows] += missed / chances[open_rows, None]
    factors = share[open_rows] * np.sqrt(1 - chances[open_rows]) / chances[open_rows]
    spread = np.divide(1 - chances, chances, out=np.zeros(len(chances)), where=chances > 0)
    # A pair with probability 1 lacks a grade only if its judgement was withdrawn.
    unknown = ((chances == 1) & ~judged).astype(np.float64)
    skipped = rows[~judged[rows]]
    unknown[skipped] = 1 / chances[skipped]
    errors = factors[:, None] * missed
    return _Part(share[:, None] * values, errors, factors, share**2 * spread, share * unknown)
