"""Defines the weighted Jaccard similarity of vocabularies, and computes it for many pairs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

FLOORS = (0.0, 1e-6, 1e-5, 1e-4)
"""Floors of relative frequency: a corpus's words at or below the floor are dropped."""


@dataclass(frozen=True)
class Vocabulary:
    """The words of one corpus."""

    places: NDArray[np.integer]
    """Number of each word; the compared vocabularies share one numbering."""
    shares: NDArray[np.float64]
    """Count of each word divided by the count of all words of the corpus."""

    def where(self, kept: NDArray[np.bool_]) -> "Vocabulary":
        """Return the vocabulary restricted to some words."""
        return Vocabulary(self.places[kept], self.shares[kept])

    def above(self, floor: float) -> "Vocabulary":
        """Return the words with a relative frequency above the floor."""
        return self.where(self.shares > floor) if floor else self


def sums(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of the shares above each of FLOORS."""
    return np.array([shares[shares > floor].sum() for floor in FLOORS])


def similarities(
    partitions: Iterable[Mapping[str, Vocabulary]],
    totals: Mapping[str, NDArray[np.float64]],
    of: Sequence[str],
) -> DataFrame:
    """Compute the similarity of every pair that includes a corpus in `of`, once, at each of FLOORS:
    dataset, other, floor, similarity.

    J(S, T) = sum_k min(S_k, T_k) / sum_k max(S_k, T_k), where S_k is the share of word k in corpus
    S (BEIR, arXiv 2104.08663 v1, section on domain overlap; Ioffe 2010). A floor drops words
    without renormalising the rest. Pairs without remaining words are absent. Each partition has a
    subset of the words, for all corpora; words that only one corpus contains may be left out.
    `totals` are each corpus's `sums` over all words.
    """
    names = list(dict.fromkeys([*of, *totals]))
    least = np.zeros((len(FLOORS), len(of), len(names)))
    for vocabularies in partitions:
        words = [vocabularies[name] for name in names]
        for number, floor in enumerate(FLOORS):
            words = [one.above(floor) for one in words]
            least[number] += _least(words, len(of))
    # Both totals include the sum of the smaller shares, so the rest is the sum of the larger ones.
    rows = [
        (one, other, floor, common / most)
        for number, floor in enumerate(FLOORS)
        for place, one in enumerate(of)
        for other, common in zip(names[place + 1 :], least[number, place, place + 1 :], strict=True)
        if (most := totals[one][number] + totals[other][number] - common)
    ]
    return DataFrame(rows, columns=["dataset", "other", "floor", "similarity"])


def _least(words: Sequence[Vocabulary], first: int) -> NDArray[np.float64]:
    """Return the sum of the smaller shares, for each of the first corpora with every later one."""
    found = np.zeros((first, len(words)))
    dense = np.zeros(max(int(one.places.max(initial=-1)) for one in words) + 1)
    for number, one in enumerate(words[:first]):
        # The shares are scattered once and looked up for all other corpora, without a sort.
        dense[one.places] = one.shares
        for place, other in enumerate(words[number + 1 :], number + 1):
            # "clip" skips the check of indices, which are all in range.
            common = dense.take(other.places, mode="clip")
            np.minimum(common, other.shares, out=common)
            found[number, place] = common.sum()
        dense[one.places] = 0.0
    return found
