"""Predictions corrected by a sample: the estimated grade of each pair of the frame.

The difference estimator (Särndal, Swensson and Wretman 1992, section 6.3): the prediction for every
pair plus, for each sampled pair, grade minus prediction, divided by its inclusion probability. It
is unbiased however poor the prediction, since a pair is predicted from other pairs and its
inclusion probability does not depend on its own grade. Each batch gives such an estimate for all
pairs not judged before; the errors of batches are uncorrelated (Zrnic and Candès 2024, arXiv
2403.03208, section 4).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compute.evaluate.estimates import prediction
from compute.evaluate.estimates.frames import Counts, Flags, Frame, Values

LEAST_SHARE = 0.02
"""Least distance of predictions from 0 and 1 in variances."""


_PRIOR = 4.0
"""Strength that pulls `together` towards 0, like a prior with a standard deviation of a half."""


@dataclass(frozen=True)
class Batch:
    """Pairs drawn together, each with a known inclusion probability."""

    rows: Counts
    """(n,) Rows of the frame, all judged or skipped."""
    chances: Values
    """(N,) Inclusion probability of every row: 1 if judged before, 0 if it could not be drawn."""
    weight: float
    """Weight of the batch among all batches; it depends on sizes, not on grades."""


@dataclass(frozen=True)
class Corrected:
    """N pairs and L levels of relevance; a pair's relevance is the sum of the steps it reaches."""

    values: Values
    """(N, L) Unbiased estimate, not limited to 0 to 1, of whether the pair reaches the level."""
    about: Values
    """(N, L) Best estimate from 0 to 1: the judgement, or else the prediction."""
    drawn: Counts
    """(n,) Rows drawn with an inclusion probability below 1."""
    errors: Values
    """(n, L) For any weights, the sum of (weight x error) squared over the drawn rows is an
    unbiased estimate of the variance of the sum of weight x value over all rows."""
    factors: Values
    """(n,) Factor by which grade minus prediction was multiplied to give an error."""
    guesses: Values
    """(N, L) Predicted from other pairs, even if judged; at least LEAST_SHARE away from 0 and 1."""
    spread: Values
    """(N,) Factor of each pair's own relevance variance in the variance of a sum."""
    unknown: Values
    """(N,) Increase of `values` if a pair that nobody judges had the highest relevance."""
    together: float
    """Given a relevant pair, others of its query are relevant with 1 + this times their
    probability."""
    undrawn: Flags
    """(N,) Unjudged pairs that no batch could draw. The sum of a batch's own measure does not
    depend on these pairs, but the denominator of a ratio does."""
    n_reached: Counts
    """(L,) Number of pairs in the batches that reach each level."""
    n_judged: int
    """Number of judged pairs in the batches."""
    levels: Values
    """(L,) The relevance from which each level counts."""

    @property
    def is_census(self) -> bool:
        """Return whether the whole frame was drawn; then only `unknown` is uncertain."""
        return not self.spread.any()

    @property
    def steps(self) -> Values:
        """(L,) Gain of each level over the next lower one."""
        return np.diff(self.levels, prepend=0.0)


def corrected(
    frame: Frame,
    given: Values,
    grades: Values,
    batches: Sequence[Batch],
    levels: Values | None = None,
) -> Corrected:
    """Estimated grades (N,) after one or more batches; NaN if not judged.

    `given` are the features of `prediction.features`; `levels` the grades above 0 that can be
    given, ascending (default: those that were).
    """
    levels = levels_of(grades) if levels is None else levels
    guess = predicted(frame, given, grades, levels)
    return by_guess(guess, grades, batches, levels, frame.query)


def predicted(frame: Frame, given: Values, grades: Values, levels: Values) -> Values:
    """(N, L) Probability that each pair reaches each level, given the other pairs' grades; 1/2
    without grades. `sampling.sizes` draws a batch by the first column."""
    rows = np.flatnonzero(~np.isnan(grades))
    if not len(rows):
        return np.full((frame.n, len(levels)), 0.5)
    reached = (grades[rows, None] >= levels).astype(np.float64)
    model = prediction.fit(given[rows], frame.query[rows], reached, len(frame.queries))
    guess = model.predicted(given, frame.query)
    guess[rows] = model.others
    return guess


def by_guess(
    guess: Values, grades: Values, batches: Sequence[Batch], levels: Values, query: Counts
) -> Corrected:
    """The same with predictions (N, L) from 0 to 1, each made without the pair's own grade."""
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
        # A judged pair that no batch could draw is known.
        values=np.where(open_to[:, np.newaxis], values, reached),
        about=np.where(judged[:, None], reached, guess),
        drawn=rows[chances < 1],
        errors=np.concatenate([part.errors for part in parts]),
        factors=np.concatenate([part.factors for part in parts]),
        guesses=np.clip(guess, LEAST_SHARE, 1 - LEAST_SHARE),
        spread=np.sum([part.spread for part in parts], axis=0),
        unknown=np.sum([part.unknown for part in parts], axis=0) + ~(open_to | judged),
        together=_together(reached[judged, 0], guess[judged, 0], query[judged]),
        undrawn=~(open_to | judged),
        n_reached=reached[once].sum(axis=0).astype(np.int64),
        n_judged=int(judged[once].sum()),
        levels=levels,
    )


def _together(reached: Values, guess: Values, query: Counts) -> float:
    """Correlation of the errors of a query's judged pairs, over products of predictions."""
    missed = reached - guess
    errors = (np.bincount(query, missed) ** 2).sum() - (missed**2).sum()
    products = (np.bincount(query, guess) ** 2).sum() - (guess**2).sum()
    return float(np.clip(errors / (products + _PRIOR), -1, 1))


def _shares(batches: Sequence[Batch]) -> Values:
    """(B, N) Weight of each batch for each row. A pair that a batch could not draw, because its
    system was added later, is left to other batches."""
    weights = np.array([batch.weight * (batch.chances > 0.0) for batch in batches], np.float64)
    total = weights.sum(axis=0)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def expansions(batches: Sequence[Batch], judged: Flags) -> Values:
    """(N,) Number of rows of the frame that each judged row represents, 0 for others: the inverse
    inclusion probability (Horvitz and Thompson 1952), weighted by the batches; 1 for rows judged
    before a batch."""
    found = np.zeros(len(judged))
    for batch, share in zip(batches, _shares(batches), strict=True):
        seen = judged & (batch.chances == 1)
        seen[batch.rows] = judged[batch.rows]
        found[seen] += share[seen] / batch.chances[seen]
    return found


def levels_of(grades: Values) -> Values:
    """Grades above 0 that occur; 1 if none does."""
    found = np.unique(grades[grades > 0])
    return found if len(found) else np.ones(1)


@dataclass(frozen=True)
class _Part:
    """Contribution of a batch; see `Corrected`."""

    values: Values
    errors: Values
    factors: Values
    spread: Values
    unknown: Values


def _part(batch: Batch, share: Values, reached: Values, guess: Values, judged: Flags) -> _Part:
    chances, rows = batch.chances, batch.rows
    open_rows = rows[chances[rows] < 1]
    missed = reached[open_rows] - guess[open_rows]
    values = np.where(chances[:, None] == 1, reached, guess)
    values[open_rows] += missed / chances[open_rows, None]
    factors = share[open_rows] * np.sqrt(1 - chances[open_rows]) / chances[open_rows]
    spread = np.divide(1 - chances, chances, out=np.zeros(len(chances)), where=chances > 0)
    # A known grade is missing if its judgement was withdrawn.
    unknown = ((chances == 1) & ~judged).astype(np.float64)
    skipped = rows[~judged[rows]]
    unknown[skipped] = 1 / chances[skipped]
    errors = factors[:, None] * missed
    return _Part(share[:, None] * values, errors, factors, share**2 * spread, share * unknown)
