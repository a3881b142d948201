"""Shares of labels that a second assessor grades differently, from strata with known inclusion
probabilities, and the number of labels needed for such a share.

Rates of the strata of one kind of label come from one beta distribution, whose mean and
concentration are not known (Gelman et al. 2013, Bayesian Data Analysis, section 5.3); the mean has
Jeffreys' prior. What was not drawn is predicted, so that an interval is of these labels, not of
labels like these. Of one stratum that is Jeffreys' interval (Brown, Cai and DasGupta 2001,
Statistical Science 16). The benchmark `audits` simulates how often the intervals hold.
"""

import numpy as np
from scipy import special

from compute.evaluate.estimates.frames import Counts, Values
from compute.evaluate.sign_flips import LEVEL

DRAWS, SEED = 4_000, 20_261
RATE, WITHIN = 0.05, 0.04
"""Error rate, and half-width, for which the needed number of labels is stated."""
_ASSURED = 0.8
"""Share of samples whose interval is at most as wide as predicted."""
_MEANS = special.expit(np.linspace(-9, 9, 361))
_ALIKE = {8.0: 0.1, 32.0: 0.2, 128.0: 0.2, 1e6: 0.5}
"""Prior of the concentration: the weight, in labels, of the overall mean in a stratum. With 1e6 all
strata have one rate. Chosen in simulations with errors anywhere or on one system."""


def allocated(sizes: Counts, n: int, *, equally: bool = False) -> Counts:
    """(H,) Number of labels to draw from each stratum, n in all: in proportion to its size or
    equally many, at least one and at most all, by equal proportions (Wright 2012, The American
    Statistician 66)."""
    found, worth = np.zeros(len(sizes), np.int64), np.ones(len(sizes)) if equally else sizes
    for _ in range(min(n, int(sizes.sum()))):
        priority = worth / np.sqrt(found * (found + 1) + 1e-9)
        found[np.argmax(np.where(found < sizes, priority, -1.0))] += 1
    return found


def rates(n: Counts, found: Counts, draws: int, random: np.random.Generator) -> Values:
    """(draws, H) Rates of strata in which `found` of `n` labels were graded differently."""
    together = np.array([*_ALIKE] if len(n) > 1 else [max(_ALIKE)])[:, None]
    a, b = together * _MEANS, together * (1 - _MEANS)
    seen = special.betaln(a[..., None] + found, b[..., None] + n - found).sum(axis=2)
    seen -= len(n) * special.betaln(a, b) - np.log(_MEANS * (1 - _MEANS)) / 2
    seen += np.log([[_ALIKE[float(one)]] for one in together[:, 0]])
    chances = np.exp(seen - seen.max()).ravel()
    drawn = random.choice(len(chances), draws, p=chances / chances.sum())
    return random.beta(a.ravel()[drawn, None] + found, b.ravel()[drawn, None] + n - found)


def estimate(sizes: Counts, n: Counts, found: Counts) -> float:
    """The share, weighted by inverse inclusion probabilities; NaN if nothing was judged."""
    some = n > 0
    weight = sizes[some] / n[some]
    return float((weight * found[some]).sum() / sizes[some].sum()) if some.any() else np.nan


def interval(sizes: Counts, n: Counts, fewest: Counts, most: Counts) -> tuple[float, float]:
    """95% interval of the share among all labels of the strata (H,); absent before any is audited.

    `fewest` and `most` of the n were graded differently: they differ where somebody skipped one.
    """

    if not n.any():
        return np.nan, np.nan

    def shares(found: Counts) -> Values:
        random = np.random.default_rng(SEED)
        others = random.binomial(sizes - n, rates(n, found, DRAWS, random))
        return (found + others).sum(axis=1) / sizes.sum()

    least = shares(fewest)
    largest = shares(most) if (most > fewest).any() else least
    low, high = np.quantile(least, LEVEL / 2), np.quantile(largest, 1 - LEVEL / 2)
    return float(low) if fewest.any() else 0.0, float(high) if (most < n).any() else 1.0


def reach(rate: float, n: Values, size: int) -> Values:
    """(…,) Half-width that four of five samples of n among `size` labels achieve."""
    found = np.ceil(special.bdtrik(_ASSURED, n, rate).clip(0))
    low, high = (special.betaincinv(found + 0.5, n - found + 0.5, tail) for tail in _TAILS)
    return (high - low) / 2 * np.sqrt((size - n) / max(size - 1, 1))


_TAILS = LEVEL / 2, 1 - LEVEL / 2


def needed(size: int, rate: float = RATE, within: float = WITHIN) -> int:
    """Fewest of `size` labels for a half-width of at most `within`; all if necessary."""
    n = np.arange(1.0, size + 1)
    wide = np.flatnonzero(reach(rate, n, size) > within)
    return int(wide[-1]) + 2 if len(wide) else 1
