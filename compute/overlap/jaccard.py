"""Weighted Jaccard similarity of vocabularies: the definition, for many pairs at once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

FLOORS = (0.0, 1e-6, 1e-5, 1e-4)
"""Relative frequencies: a word that is not above them in a corpus is dropped from that corpus."""

Kept = Sequence[tuple[int, float]]


@dataclass(frozen=True)
class Vocabulary:
    """The words of one corpus."""

    places: NDArray[np.int32]
    """Of each word, its place in an index that the vocabularies compared share."""
    shares: NDArray[np.float64]
    """Its count over that of all words of the corpus; the largest first."""


def similarities(vocabularies: Mapping[str, Vocabulary], size: int, of: Sequence[str]) -> DataFrame:
    """dataset, other, floor, similarity: every pair with one of `of`, once, at each of FLOORS.

    J(S, T) = sum_k min(S_k, T_k) / sum_k max(S_k, T_k), with S_k the share of word k in corpus S
    (BEIR, arXiv 2104.08663 v1, section on domain overlap; Ioffe 2010). A floor drops words and
    does not make the rest sum to 1 again. `size` is the length of the shared index. A pair of
    which no word is left is absent.
    """
    dense = np.zeros(size)
    kept = {name: _above(words.shares) for name, words in vocabularies.items()}
    rows, done = [], set[str]()
    for dataset in of:
        one = vocabularies[dataset]
        done.add(dataset)
        # Scattered once, gathered by all the others: no sorting, no sets.
        dense[one.places] = one.shares
        for other in vocabularies.keys() - done:
            words = vocabularies[other]
            common = dense.take(words.places)
            np.minimum(common, words.shares, out=common)
            found = _at_floors(common, kept[dataset], kept[other])
            rows += [(dataset, other, floor, similarity) for floor, similarity in found]
        dense[one.places] = 0.0
    return DataFrame(rows, columns=["dataset", "other", "floor", "similarity"])


def _above(shares: NDArray[np.float64]) -> Kept:
    """Of each floor: how many shares are above it, and their sum."""
    edges = [int(np.searchsorted(-shares, -floor)) for floor in FLOORS]
    return [(edge, float(shares[:edge].sum())) for edge in edges]


def _at_floors(
    common: NDArray[np.float64], one: Kept, other: Kept
) -> Iterator[tuple[float, float]]:
    """(floor, similarity) from the smaller shares of what `other` has, in its order."""
    for floor, (_, sum_one), (edge, sum_other) in zip(FLOORS, one, other, strict=True):
        both = common[:edge]
        # The smaller of two shares is above the floor exactly if both are.
        least = float(both[both > floor].sum() if floor else both.sum())
        # What is common stands in both sums: the larger shares sum to the rest.
        most = sum_one + sum_other - least
        if most:
            yield floor, least / most
