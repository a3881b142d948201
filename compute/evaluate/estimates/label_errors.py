"""Estimates the share of labels that a second assessor grades differently, from strata with known
inclusion probabilities, and the number of labels that such an estimate needs.

The error rates of strata with the same grade come from one beta distribution, whose mean and
concentration are unknown (Gelman et al. 2013, Bayesian Data Analysis, section 5.3); the mean has
Jeffreys' prior. Labels that were not drawn are predicted, so an interval refers to these labels,
not to labels like these. With a single stratum, its rate has Jeffreys' interval (Brown, Cai and
DasGupta 2001, Statistical Science 16). The benchmark `audits` simulates the intervals' coverage.
"""

import numpy as np
from scipy import special

from compute.evaluate.estimates.frames import Counts, Values
from compute.evaluate.sign_flips import LEVEL

DRAWS, SEED = 4_000, 20_261
RATE, WITHIN = 0.05, 0.04
"""Error rate and half-width for which the needed number of labels is stated."""
_ASSURED = 0.8
"""Share of samples whose interval is at most as wide as predicted."""
_MEANS = special.expit(np.linspace(-9, 9, 361))
_ALIKE = {8.0: 0.1, 32.0: 0.2, 128.0: 0.2, 1e6: 0.5}
"""Prior probabilities of the concentration, which is the weight, in labels, of the overall mean in
each stratum. With 1e6, all strata have the same rate. The values were chosen in simulations with
errors spread over all systems or confined to one."""


def allocated(sizes: Counts, n: int, *, equally: bool = False) -> Counts:
    """Return the number of labels to draw from each of H strata, (H,), n in all: in proportion to
    its size, or `equally` many. Each stratum gets at least one and at most all, by the method of
    equal proportions (Wright 2012, The American Statistician 66)."""
    found, worth = np.zeros(len(sizes), np.int64), np.ones(len(sizes)) if equally else sizes
    for _ in range(min(n, int(sizes.sum()))):
        priority = worth / np.sqrt(found * (found + 1) + 1e-9)
        found[np.argmax(np.where(found < sizes, priority, -1.0))] += 1
    return found


def rates(n: Counts, found: Counts, draws: int, random: np.random.Generator) -> Values:
    """Draw error rates of H strata from their posterior, (draws, H), if `found` of `n` audited
    labels were graded differently in each."""
    together = np.array([*_ALIKE] if len(n) > 1 else [max(_ALIKE)])[:, None]
    a, b = together * _MEANS, together * (1 - _MEANS)
    seen = special.betaln(a[..., None] + found, b[..., None] + n - found).sum(axis=2)
    seen -= len(n) * special.betaln(a, b) - np.log(_MEANS * (1 - _MEANS)) / 2
    seen += np.log([[_ALIKE[float(one)]] for one in together[:, 0]])
    chances = np.exp(seen - seen.max()).ravel()
    drawn = random.choice(len(chances), draws, p=chances / chances.sum())
    return random.beta(a.ravel()[drawn, None] + found, b.ravel()[drawn, None] + n - found)


def estimate(sizes: Counts, n: Counts, found: Counts) -> float:
    """Return the share of labels graded differently, `found` of `n` in each stratum, weighted by
    inverse inclusion probabilities; NaN if nothing was judged."""
    some = n > 0
    weight = sizes[some] / n[some]
    return float((weight * found[some]).sum() / sizes[some].sum()) if some.any() else np.nan


def interval(sizes: Counts, n: Counts, fewest: Counts, most: Counts) -> tuple[float, float]:
    """Return the 95% interval of the share among all labels of the strata, NaN before any is
    audited. Of the n audited labels, between `fewest` and `most` were graded differently; the two
    numbers differ if the second assessor skipped labels."""

    if not n.any():
        return np.nan, np.nan

    def shares(found: Counts) -> Values:
        """Draw the share of wrong labels, audited or not."""
        random = np.random.default_rng(SEED)
        others = random.binomial(sizes - n, rates(n, found, DRAWS, random))
        return (found + others).sum(axis=1) / sizes.sum()

    least = shares(fewest)
    largest = shares(most) if (most > fewest).any() else least
    low, high = np.quantile(least, LEVEL / 2), np.quantile(largest, 1 - LEVEL / 2)
    return float(low) if fewest.any() else 0.0, float(high) if (most < n).any() else 1.0


def reach(rate: float, n: Values, size: int) -> Values:
    """Return a half-width that four in five samples of n labels out of `size` do not exceed."""
    found = np.ceil(special.bdtrik(_ASSURED, n, rate).clip(0))
    low, high = (special.betaincinv(found + 0.5, n - found + 0.5, tail) for tail in _TAILS)
    return (high - low) / 2 * np.sqrt((size - n) / max(size - 1, 1))


_TAILS = LEVEL / 2, 1 - LEVEL / 2


def needed(size: int, rate: float = RATE, within: float = WITHIN) -> int:
    """Return the smallest number of labels, out of `size`, for a half-width of at most `within`;
    all if necessary."""
    n = np.arange(1.0, size + 1)
    wide = np.flatnonzero(reach(rate, n, size) > within)
    return int(wide[-1]) + 2 if len(wide) else 1
