"""Sign patterns for randomisation tests: if no system is better, each query's difference is as
likely to have the other sign. All pairs of systems use the same patterns, so the highest statistic
over all pairs is known for each pattern."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special
from threadpoolctl import ThreadpoolController

from compute.base.errors import WrongInput
from compute.evaluate.tolerance import TOLERANCE, equal, levels

Values = NDArray[np.float64]

LEVEL = 0.05
"""Accepted family-wise error rate; the confidence of intervals is 1 minus this."""
BY_COUNT = ("holm", "bh")
"""Corrections that multiply the smallest p by the number of pairs."""
BLOCK = 64
"""Number of patterns in memory together; with 10,000 queries they take 5 MB, which fits into a
processor's cache."""
EXACT = 100
"""Maximum number of differing queries for which Wilcoxon's test uses the exact distribution."""
MANY = 20_000
"""With this many queries or more, signs are drawn one by one only where few queries matter."""
FEW = 5_000
"""The sum of this many equal differences with random signs is normal to within the noise of 10,000
patterns: at p = .05, half a step of the sum changes p by .0017."""
_BITS = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little") - 1


def permutations_needed(n_pairs: int, correction: str, level: float = LEVEL) -> int:
    """Return the smallest number of permutations with which any pair of a family can be
    significant. The smallest possible p is 1 / (1 + B); Holm and Benjamini-Hochberg multiply a
    single small p by the number of pairs, while maxT does not."""
    factor = n_pairs if correction in BY_COUNT else 1
    return int(np.ceil(factor / level - 1e-9)) - 1


@dataclass(frozen=True)
class Signs:
    """Sign patterns of n queries: all possible ones if they are few, else `asked` random ones."""

    n: int
    asked: int
    seed: int
    drawn: bool = False
    """True to draw random patterns even if there are few possible ones."""

    @property
    def all(self) -> bool:
        """Return whether these are all possible patterns."""
        return not self.drawn and self.n < 31 and 2**self.n <= self.asked + 1

    @property
    def total(self) -> int:
        """Return the divisor of p-values: the number of patterns, including the observed one."""
        return 2**self.n if self.all else self.asked + 1

    @property
    def beside(self) -> int:
        """Return 1 for the observed pattern if it is not among the others, else 0."""
        return 0 if self.all else 1

    def check(self, n_pairs: int, correction: str) -> None:
        """Raise WrongInput if no pair of a family of this size could be significant."""
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
        """Yield blocks of patterns x queries with values 1 or -1; each reuses the same memory."""
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
        """Return p from the number of patterns that are at least as extreme: (1 + count) / (1 + B)
        (Phipson and Smyth 2010), or the exact p if all patterns are counted."""
        return (self.beside + counts) / self.total

    def critical(self, highest: Values) -> float:
        """Return the largest statistic that is not significant at LEVEL; infinite if none can be.
        `highest` has, for each pattern, the largest statistic of all pairs."""
        allowed = int(np.floor(LEVEL * self.total + TOLERANCE)) - self.beside
        if allowed < 0 or allowed >= len(highest):
            return np.inf
        return float(np.sort(highest)[::-1][allowed])


def flipped(values: Values, few: NDArray[np.bool_], drawn: Signs) -> Iterator[Values]:
    """Yield the sums of (S, n) values over the queries with flipped signs, in blocks of patterns x
    systems. With MANY queries or more, only the queries in the mask `few` are flipped one by one.
    The sum over the others is drawn from a normal distribution with its covariance."""
    if drawn.n < MANY:
        columns = values.T.copy()
        yield from (signs @ columns for signs in drawn.blocks())
        return
    own, rest = values[:, few].T.copy(), values[:, ~few]
    # Systems with equal values get exactly the same sum.
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
    """Return the two-sided p of Wilcoxon's signed-rank test, without zero differences. If at most
    EXACT queries differ, it is exact given the ties, else from the normal distribution. Equal gaps
    share their mean rank. The exact p is the share of all 2^n ways to sign the ranks in which the
    sum is at least as far from its mean (Wilcoxon 1945; for ties Pratt & Gibbons 1981)."""
    # Equal differences share a rank.
    gaps = np.copysign(levels(np.abs(gaps)), gaps)
    gaps = gaps[~equal(gaps, 0)]
    if not (n := len(gaps)):
        return 1.0
    _, place, counts = np.unique(np.abs(gaps), return_inverse=True, return_counts=True)
    # Mean ranks may end in .5, so they are doubled to be whole numbers.
    ranks = (2 * np.cumsum(counts) - counts + 1)[place]
    lower = min(ranks[gaps > 0].sum(), ranks[gaps < 0].sum())
    if n > EXACT:
        tied = (counts.astype(float) ** 3 - counts).sum() / 2
        spread = math.sqrt((n * (n + 1) * (2 * n + 1) - tied) / 24)
        return float(2 * special.ndtr((lower / 2 - n * (n + 1) / 4) / spread))
    chances = np.ones(1)
    for rank in ranks:
        none = np.zeros(rank)
        chances = (np.concatenate([chances, none]) + np.concatenate([none, chances])) / 2
    return float(min(1, 2 * chances[: lower + 1].sum()))


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Keep NumPy's matrix products on one thread, for the whole process. Resampling consists of
    products of tall matrices with few columns, which take several times longer on all threads: the
    threads mostly wait for each other."""
    with _controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _controller() -> ThreadpoolController:
    # The controller is kept, since scanning all loaded libraries takes milliseconds.
    return ThreadpoolController()
