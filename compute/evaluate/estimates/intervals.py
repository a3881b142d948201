"""Estimates of measures from a sample: for systems, for pairs of systems, and for the ranking."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

from compute.evaluate import tolerance
from compute.evaluate.distributions import normal_chance, t_reach
from compute.evaluate.estimates.completed import completed
from compute.evaluate.estimates.corrected import Corrected
from compute.evaluate.estimates.frames import Frame, Values
from compute.evaluate.estimates.linearised import Kind, Linear, linear
from compute.evaluate.rank_intervals import letters, told_together
from compute.evaluate.sign_flips import LEVEL
from compute.evaluate.significance import student

FEWEST = 30
"""An interval needs at least this many relevant and as many non-relevant pairs in the sample. The
rarer of the two determines the error, and a sample that misses it underestimates the error
(benchmark `sampled`)."""
RANGE_ONLY = ("R", "AP")
"""Ratios that have no interval until all pairs are judged: in that benchmark their bias was too
large relative to the interval, or its coverage was too low."""
_PRIOR = 30.0
"""Weight of the model's variance, as a number of squared errors; the sample's own variance has its
effective number of errors as weight."""
_FREEDOM = 8.0
"""Degrees of freedom per squared error, from simulations (benchmark `sampled`)."""
_SKEWED = 0.5
"""Weight of the skewness that the predictions imply, from the same simulations; averaging with the
model's variance makes errors and their variance less correlated."""
_DRAWS, _SEED = 4_000, 20_211
_FLAT, _STRAIGHT = 1e-12, 1e-6


@dataclass(frozen=True)
class Estimates:
    """Scores of S systems on Q queries, estimated from a sample of pairs."""

    systems: tuple[str, ...]
    by_query: Values
    """(S, Q) Scores by query: unbiased (for ratios nearly so) but noisy, and possibly below 0 or
    above 1. Their spread includes the sampling noise, so an interval for queries like these is
    computed as for exact scores (`significance.student`, `rank_intervals.of_scores`)."""
    covariance: Values
    """(S, S) Covariance of the means over these queries, across all samples that could have been
    drawn. It is estimated from the sample, without the predictions."""
    square: Values
    """(S, S) Variances of differences (of means on the diagonal) in which the predictions for all
    pairs count, too. An interval uses the larger of this and the variance from `covariance`."""
    freedom: Values
    """(S, S) Degrees of freedom of each variance."""
    skew: Values
    """(S, S) Skewness of the errors of differences (a - b); of means on the diagonal. It is above 0
    if samples tend to miss relevant pairs that are rare; intervals then extend farther up."""
    low: Values
    """(S, S) `low` and `high` are the least and the largest amount that skipped pairs can add to
    the difference of two systems; on the diagonal, to a system's mean."""
    high: Values
    n_relevant: int
    """Number of relevant pairs in the sample."""
    n_not_relevant: int
    """Number of non-relevant pairs in the sample; an interval needs FEWEST."""
    range_only: bool = False
    """True if the measure is one of RANGE_ONLY, or is a ratio whose denominator depends on pairs
    that could not be drawn."""
    is_census: bool = False
    """True if the whole frame was drawn, which suffices for an interval whatever the grades are."""
    of_differences_only: bool = False
    """True if pairs that no batch could draw add equally to all scores, so that only differences
    are estimated."""
    most: float = np.inf
    """The highest value of the measure."""

    @property
    def enough(self) -> bool:
        """Return whether the sample suffices for an interval; otherwise only a range is known."""
        both = min(self.n_relevant, self.n_not_relevant) >= FEWEST
        return self.is_census or (both and not self.range_only)

    @property
    def has_errors(self) -> bool:
        """Return whether errors are known, which needs a relevant and a non-relevant pair."""
        return bool(self.n_relevant and self.n_not_relevant and not self.range_only)

    @property
    def means(self) -> Values:
        return self.by_query.mean(axis=1)

    @cached_property
    def _errors(self) -> Values:
        """Return the standard errors of differences, (S, S); of means on the diagonal."""
        square = np.maximum(self.square, of_differences(self.covariance))
        return np.sqrt(np.where(square > _FLAT * square.max(initial=0), square, 0))

    def scores(self) -> DataFrame:
        """Return a row per system: system, mean, error, and its own 95% interval (low, high)."""
        error, times = np.diag(self._errors), np.diag(t_reach(LEVEL, self.freedom))
        down, up = _reaches(times, np.diag(self.skew))
        frame = DataFrame({"system": self.systems, "mean": self.means, "error": error})
        frame["low"] = self.means - down * error + np.diag(self.low)
        return frame.assign(high=self.means + up * error + np.diag(self.high))

    def queries_like_these(self) -> DataFrame:
        """Return system, low and high: 95% intervals of the means over all queries like these. They
        are Student's intervals from the spread of the estimates by query, which already includes
        the sampling error, so no design variance is added. Skipped pairs widen them by their range,
        as they widen the other intervals."""
        n = self.by_query.shape[1]
        spread = self.by_query.std(axis=1, ddof=1) if n > 1 else np.zeros(len(self.systems))
        low, high = student(self.means, spread / np.sqrt(n), n - 1)
        found = DataFrame({"system": self.systems, "low": low + np.diag(self.low)})
        return found.assign(high=high + np.diag(self.high))

    def pairs(self, *, together: bool = True, level: float = LEVEL) -> DataFrame:
        """Return a, b, difference, error, low, high for all pairs of systems (positions, a < b).
        With `together`, all intervals jointly have a confidence of 95%; otherwise, each has a
        confidence of 1 - `level`."""
        a, b = np.triu_indices(len(self.systems), 1)
        times = t_reach(self._chance if together else level, self.freedom[a, b])
        down, up = _reaches(times, self.skew[a, b])
        found = DataFrame({"a": a, "b": b, "difference": self.means[a] - self.means[b]})
        found["error"] = self._errors[a, b]
        found["low"] = found["difference"] - down * found["error"] + self.low[a, b]
        return found.assign(high=found["difference"] + up * found["error"] + self.high[a, b])

    @cached_property
    def _chance(self) -> float:
        """Return the error rate of each interval with which all hold in 95% of samples."""
        random = np.random.default_rng(_SEED)
        lengths, axes = np.linalg.eigh(self.covariance)
        n = len(self.systems)
        drawn = random.standard_normal((_DRAWS, n)) @ (axes * np.sqrt(lengths.clip(0))).T
        highest = np.zeros(_DRAWS)
        for one in range(n - 1):
            error = self._errors[one, one + 1 :]
            scale = np.divide(1, error, out=np.zeros_like(error), where=error > 0)
            apart = np.abs(drawn[:, one, None] - drawn[:, one + 1 :]) * scale
            np.maximum(highest, apart.max(axis=1), out=highest)
        # With a single pair, the draws give about LEVEL; the limit keeps simultaneous intervals
        # from being narrower than single ones.
        return min(float(normal_chance(np.quantile(highest, 1 - LEVEL))), LEVEL)

    def ranks(self) -> DataFrame:
        """Return system, mean, rank, rank_low, rank_high and group, best system first. Rank
        intervals and groups follow from the simultaneous intervals of all pairs: two systems share
        a letter in `group` if and only if they are not significantly different."""
        rank = tolerance.ranks(self.means).astype(np.int64)
        order, better = np.argsort(rank, kind="stable"), self.better()
        frame = DataFrame({"system": self.systems, "mean": self.means, "rank": rank})
        frame["rank_low"] = 1 + better.sum(axis=0)
        frame["rank_high"] = len(rank) - better.sum(axis=1)
        apart = (better | better.T)[np.ix_(order, order)]
        found = frame.iloc[order].reset_index(drop=True)
        return found.assign(group=letters(told_together(apart), len(rank)))

    def better(self) -> NDArray[np.bool_]:
        """Return whether i is significantly better than j, [i, j], at 5% over all pairs."""
        found = np.zeros(self.covariance.shape, bool)
        pairs = self.pairs()
        a, b = pairs["a"].to_numpy(), pairs["b"].to_numpy()
        found[a, b] = self.enough & tolerance.above(pairs["low"], 0)
        found[b, a] = self.enough & tolerance.above(0, pairs["high"])
        return found


def estimates(
    frame: Frame, of: Kind, sample: Corrected, outside: Values | None = None
) -> Estimates:
    """Estimate a measure for every system of the frame from corrected grades; `outside`: see
    `linear`."""
    about = sample.about, sample.steps, sample.levels, sample.together, outside
    averaged = of.name == "nDCG"
    near = completed(frame, of, sample, outside) if averaged else linear(frame, of, *about)
    by_query = near.moved(frame, sample.values - near.shares)
    level = 0 if of.graded else int(np.searchsorted(sample.levels, of.least))
    n_relevant = int(sample.n_reached[level]) if level < len(sample.levels) else 0
    undrawn = near.moves[np.flatnonzero(sample.undrawn)]
    shared = bool(undrawn.any()) and not bool(np.ptp(undrawn, axis=1).any())
    blind = of.is_ratio and bool(len(undrawn))
    return Estimates(
        frame.systems,
        by_query,
        *_variances(frame, near, sample),
        *_ranges(frame, near, sample),
        n_relevant,
        sample.n_judged - n_relevant,
        blind or of.name in RANGE_ONLY,
        sample.is_census and not blind,
        shared and not blind,
        np.inf if of.graded and not of.is_ratio else 1.0,
    )


def of_differences(covariance: Values) -> Values:
    """Return the variances of differences from a covariance matrix, (S, S); the systems' own
    variances on the diagonal."""
    own = np.diag(covariance)
    found = own[:, None] + own - 2 * covariance
    np.fill_diagonal(found, own)
    return found


def _reaches(times: Values, skew: Values) -> tuple[Values, Values]:
    """Return how far an interval reaches down and up, in standard errors, if a symmetric one
    reaches `times`: Hall's transformation of a skewed Student's t (Hall 1992, Journal of the Royal
    Statistical Society B 54; Zhou and Dinh 2005, Biostatistics 6)."""
    some = np.where(np.abs(skew) > _STRAIGHT, skew, _STRAIGHT)
    down, up = (3 / some * (np.cbrt(1 + some * (end - some / 6)) - 1) for end in (times, -times))
    return down, -up


def _variances(
    frame: Frame, near: Linear, sample: Corrected
) -> tuple[Values, Values, Values, Values]:
    """Return `covariance`, `square`, `freedom` and `skew` of `Estimates`, (S, S) each. The sample's
    own variance is unbiased, but it can depend on few pairs and is smallest when the sample happens
    to find nothing. It is therefore averaged with the variance that the predictions imply for all
    pairs, drawn or not."""
    n_queries = max(len(frame.queries), 1)
    moves = near.moves[sample.drawn] / n_queries
    errors = np.einsum("nsl,nl->ns", moves, sample.errors)
    own = errors.T @ errors
    if not own.any():
        nothing = np.zeros_like(own)
        return nothing, nothing, np.ones_like(own), nothing
    expected = _by_model(near.moves / n_queries, sample, np.trace(own))
    effective, by_model = _effective(errors), of_differences(expected[0])
    total = effective + _PRIOR
    rest = np.zeros_like(own) + near.rest
    square = (effective * of_differences(own) + _PRIOR * by_model) / total + of_differences(rest)
    cube = by_model.clip(0) ** 1.5
    skew = np.divide(expected[1], cube, out=np.zeros_like(own), where=cube > 0)
    return own + rest, square, _FREEDOM * total, _SKEWED * np.clip(skew, -1, 1)


def _effective(errors: Values) -> Values:
    """Return the number of equal errors that would give the variance of a difference (of a mean on
    the diagonal) the same precision as these (n, S) errors, (S, S): Kish's effective number of
    their squares."""
    one, two, three = errors, errors**2, errors**3
    own = two.T @ two
    fourth = np.diag(own)[:, None] + np.diag(own) + 6 * own - 4 * (three.T @ one + one.T @ three)
    np.fill_diagonal(fourth, np.diag(own))
    square = of_differences(one.T @ one)
    return np.divide(square**2, fourth, out=np.zeros_like(square), where=fourth > 0)


def _by_model(moves: Values, sample: Corrected, square: float) -> tuple[Values, Values]:
    """Return two (S, S) matrices that the predictions imply: the covariance, and the third moments
    of the errors of differences (a - b). Both are scaled to `square`, the squared errors of the
    drawn pairs. A pair predicted relevant with probability m has variance m (1 - m) and third
    moment m (1 - m) (1 - 2 m), times a factor that depends on its inclusion probability."""
    drawn, spread, factors = sample.drawn, sample.spread, sample.factors
    shares = np.minimum.accumulate(sample.guesses, axis=1)
    chances = -np.diff(shares, axis=1, prepend=1.0, append=0.0)
    apart = -np.einsum("nsl,nl->ns", moves, shares)
    n_systems, expected = moves.shape[1], 0.0
    second, third = np.zeros((2, n_systems, n_systems))
    for grade, chance in enumerate(chances.T):
        if grade:
            apart = apart + moves[:, :, grade - 1]
        second += (apart * (spread * chance)[:, None]).T @ apart
        third += (apart**2 * (spread**2 * chance)[:, None]).T @ apart
        expected += float((factors**2 * chance[drawn]) @ (apart[drawn] ** 2).sum(axis=1))
    scale = square / expected if expected > 0 else 1.0
    own = np.diag(third)
    differences = own[:, None] - own - 3 * third + 3 * third.T
    np.fill_diagonal(differences, own)
    return second * scale, differences * scale


def _ranges(frame: Frame, near: Linear, sample: Corrected) -> tuple[Values, Values]:
    """Return `low` and `high` of `Estimates`, (S, S) each."""
    rows = np.flatnonzero(sample.unknown)
    moves = near.moves[rows] * sample.unknown[rows, None, None] / max(len(frame.queries), 1)
    # A pair that reaches a level reaches all lower ones, so partial sums give the extremes.
    sums = np.cumsum(moves, axis=2)
    apart = sums[:, :, None] - sums[:, None]
    diagonal = np.arange(sums.shape[1])
    apart[:, diagonal, diagonal] = sums
    return np.minimum(apart.min(axis=3), 0).sum(axis=0), np.maximum(apart.max(axis=3), 0).sum(
        axis=0
    )
