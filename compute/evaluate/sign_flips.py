"""Sign patterns: differences of queries under the hypothesis that no system is better.

One matrix of patterns serves all pairs of systems, so that what is highest among them is known.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from compute.base.errors import WrongInput
from compute.evaluate.tolerance import TOLERANCE, equal, levels

Values = NDArray[np.float64]

LEVEL = 0.05
"""Accepted family-wise error rate; intervals have 1 minus this confidence."""
BY_COUNT = ("holm", "bh")
"""Corrections that multiply a single small p by the number of pairs."""
BLOCK = 64
"""Patterns at a time; those of 10,000 queries take 5 MB, which fit into a processor's cache."""
EXACT = 100
"""Most differing queries for the exact distribution of Wilcoxon's test."""
MANY = 20_000
"""Queries from which signs are drawn individually only for those that carry a difference."""
FEW = 5_000
"""Number of equal differences whose sum with random signs is normal to within the noise of 10,000
patterns: at p = .05 half a step of that sum is worth .0017."""
_BITS = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little") - 1


def permutations_needed(n_pairs: int, correction: str, level: float = LEVEL) -> int:
    """Fewest permutations with which a pair of a family can be significant at all.

    The least p is 1 / (1 + B); Holm and Benjamini-Hochberg multiply a lone small one by the number
    of pairs, maxT by nothing.
    """
    factor = n_pairs if correction in BY_COUNT else 1
    return int(np.ceil(factor / level - 1e-9)) - 1


@dataclass(frozen=True)
class Signs:
    """Sign patterns of n queries: all of them if no more than requested, else drawn ones."""

    n: int
    asked: int
    seed: int
    drawn: bool = False
    """True to draw patterns even if there are few."""

    @property
    def all(self) -> bool:
        return not self.drawn and self.n < 31 and 2**self.n <= self.asked + 1

    @property
    def total(self) -> int:
        """Divisor of p-values: all patterns, including the observed one."""
        return 2**self.n if self.all else self.asked + 1

    @property
    def beside(self) -> int:
        """The observed pattern, if it is not among the others."""
        return 0 if self.all else 1

    def check(self, n_pairs: int, correction: str) -> None:
        """Check the family. Raises WrongInput if none of its pairs could be significant."""
        needed = permutations_needed(n_pairs, correction)
        if self.all:
            if correction in BY_COUNT and 2**self.n < 2 * (needed + 1):
                raise WrongInput(
                    f"{self.n} queries have {2**self.n:,} sign patterns, which cannot resolve"
                    f" {n_pairs:,} pairs: choose maxT or t-tests"
                )
        elif self.asked < needed:
            raise WrongInput(
                f"{self.asked:,} permutations cannot resolve {n_pairs:,} pairs by {correction}:"
                f" {needed:,} are needed; maxT or t-tests need fewer"
            )

    def blocks(self) -> Iterator[Values]:
        """Blocks of patterns x queries, each 1 or -1; a block reuses the memory of the last one."""
        random, width = np.random.default_rng(self.seed), -(-self.n // 8)
        number = 2**self.n if self.all else self.asked
        held = np.empty((min(BLOCK, number), width, 8))
        for start in range(0, number, BLOCK):
            size = min(BLOCK, number - start)
            if self.all:
                counting = np.arange(start, start + size, dtype="<u4")
                codes = counting.view(np.uint8).reshape(size, 4)[:, :width]
            else:
                codes = np.frombuffer(random.bytes(size * width), np.uint8).reshape(size, width)
            signs = held[:size]
            # "clip" lets NumPy write directly into the array.
            np.take(_BITS, codes, axis=0, out=signs, mode="clip")
            yield signs.reshape(size, width * 8)[:, : self.n]

    def p(self, counts: NDArray[np.int64]) -> Values:
        """(1 + count) / (1 + B), Phipson and Smyth (2010); exact if all patterns are counted."""
        return (self.beside + counts) / self.total

    def critical(self, highest: Values) -> float:
        """The largest statistic that is not significant at LEVEL; infinite if none can be.

        `highest`: of each pattern, the largest statistic of all pairs.
        """
        allowed = int(np.floor(LEVEL * self.total + TOLERANCE)) - self.beside
        if allowed < 0 or allowed >= len(highest):
            return np.inf
        return float(np.sort(highest)[::-1][allowed])


def flipped(values: Values, few: NDArray[np.bool_], drawn: Signs) -> Iterator[Values]:
    """Sums of (S, n) values over the queries with flipped signs: patterns x systems, in blocks.

    From MANY queries on, those of `few` (n,) are flipped one by one; what the others add is drawn
    from the normal distribution of their flipped sums, whose covariance is that of the values.
    """
    if drawn.n < MANY:
        columns = values.T.copy()
        yield from (signs @ columns for signs in drawn.blocks())
        return
    own, rest = values[:, few].T.copy(), values[:, ~few]
    # Systems with equal values have the same sum, to the last digit.
    unlike = {row.tobytes(): place for place, row in enumerate(rest)}
    rows = list(unlike.values())
    places = [rows.index(unlike[row.tobytes()]) for row in rest]
    lengths, axes = np.linalg.eigh(rest[rows] @ rest[rows].T)
    root = (axes * np.sqrt(lengths.clip(0))).T
    random = np.random.default_rng([drawn.seed, drawn.n])
    for signs in Signs(len(own), drawn.asked, drawn.seed, drawn=True).blocks():
        normal = random.standard_normal((len(signs), len(rows))) @ root
        yield signs @ own + normal[:, places]


def signed_ranks(gaps: Values) -> float:
    """Two-sided p of Wilcoxon's signed-rank test, equal values left out; exact, given their ties,
    where at most EXACT queries differ, else by the normal distribution.

    Equal gaps share their mean rank. Of all 2^n ways to sign the ranks, the share in which a sum
    is as far from its mean (Wilcoxon 1945; Pratt & Gibbons 1981, on ties); added up rank by rank.
    """
    from scipy import stats

    # Equal differences share a rank.
    gaps = np.copysign(levels(np.abs(gaps)), gaps)
    gaps = gaps[~equal(gaps, 0)]
    if not len(gaps):
        return 1.0
    if len(gaps) > EXACT:
        return float(np.asarray(stats.wilcoxon(gaps, method="asymptotic"))[1])
    # Twice the ranks are whole numbers.
    ranks = np.rint(2 * stats.rankdata(np.abs(gaps))).astype(np.int64)
    chances = np.ones(1)
    for rank in ranks:
        none = np.zeros(rank)
        chances = (np.concatenate([chances, none]) + np.concatenate([none, chances])) / 2
    lower = min(ranks[gaps > 0].sum(), ranks[gaps < 0].sum())
    return float(min(1, 2 * chances[: lower + 1].sum()))


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Keep NumPy's matrix products on one thread, for the whole process.

    Products of tall matrices with few columns, which resampling is made of, take several times
    longer on all threads than on one: the threads mostly wait for each other.
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _controller() -> ThreadpoolController:
    # Scanning all loaded libraries takes milliseconds.
    return ThreadpoolController()
