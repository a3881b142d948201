"""Weighted Jaccard similarity of vocabularies: the definition, for many pairs at once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

FLOORS = (0.0, 1e-6, 1e-5, 1e-4)
"""Relative frequencies: a word that is not above them in a corpus is dropped from that corpus."""


@dataclass(frozen=True)
class Vocabulary:
    """The words of one corpus."""

    places: NDArray[np.int32]
    """Of each word, its place in an index that the vocabularies compared share; ascending."""
    shares: NDArray[np.float64]
    """Its count over that of all words of the corpus."""

    def above(self, floor: float) -> "Vocabulary":
        """The words more frequent than that."""
        if not floor:
            return self
        kept = self.shares > floor
        return Vocabulary(self.places[kept], self.shares[kept])


def similarities(vocabularies: Mapping[str, Vocabulary], size: int, of: Sequence[str]) -> DataFrame:
    """dataset, other, floor, similarity: every pair with one of `of`, once, at each of FLOORS.

    J(S, T) = sum_k min(S_k, T_k) / sum_k max(S_k, T_k), with S_k the share of word k in corpus S
    (BEIR, arXiv 2104.08663 v1, section on domain overlap; Ioffe 2010). A floor drops words and
    does not make the rest sum to 1 again. `size` is the length of the shared index. A pair of
    which no word is left is absent.
    """
    rows = [
        (dataset, other, floor, similarity)
        for floor in FLOORS
        for dataset, other, similarity in _pairs(
            {name: words.above(floor) for name, words in vocabularies.items()}, size, of
        )
    ]
    return DataFrame(rows, columns=["dataset", "other", "floor", "similarity"])


def _pairs(
    vocabularies: Mapping[str, Vocabulary], size: int, of: Sequence[str]
) -> Iterator[tuple[str, str, float]]:
    dense = np.zeros(size)
    sums = {name: float(words.shares.sum()) for name, words in vocabularies.items()}
    done = set[str]()
    for dataset in of:
        one = vocabularies[dataset]
        done.add(dataset)
        # Scattered once, gathered by all the others in the order of the index: no sorting, no sets.
        dense[one.places] = one.shares
        for other in [name for name in vocabularies if name not in done]:
            words = vocabularies[other]
            # "clip" takes at once; every place is inside.
            common = dense.take(words.places, mode="clip")
            np.minimum(common, words.shares, out=common)
            least = float(common.sum())
            # What is common stands in both sums: the larger shares sum to the rest.
            most = sums[dataset] + sums[other] - least
            if most:
                yield dataset, other, least / most
        dense[one.places] = 0.0
