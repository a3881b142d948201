"""Clusters of queries with similar vectors, named by their distinctive words.

k-means (Lloyd 1982) of vectors of unit length, with a fixed seed. The number of clusters, from 2 to
MOST, maximises the mean silhouette (Rousseeuw 1987); ties go to the smaller number.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compute.base.errors import WrongInput

MOST, FEWEST = 12, 5
"""Most clusters to try, and fewest queries per cluster."""
SAMPLE = 2_000
"""Most queries for the silhouette, which compares all pairs."""
SEED = 0
WORDS = 3
"""Words in a cluster's name."""
LONGEST = 17
"""Most characters of a word in a name; three words fit into a label."""
_WORD = re.compile(r"\w+")


class Clusters(NamedTuple):
    """Clusters of queries."""

    names: list[str]
    """Name of each query's cluster."""
    silhouettes: dict[int, float]
    """Silhouettes from -1 to 1, by number of clusters."""

    @property
    def k(self) -> int:
        """Number of clusters."""
        return max(self.silhouettes, key=lambda k: (self.silhouettes[k], -k))


def possible(texts: Sequence[str], k: int = 0) -> int:
    """Largest possible number of clusters. Raises WrongInput if `k` (or 2) exceeds it."""
    most, wanted = min(len(texts) // FEWEST, len(set(texts)) - 1), k or 2
    if most < wanted:
        raise WrongInput(
            f"{len(texts)} queries with text are too few for {wanted} clusters: each"
            f" needs {FEWEST}, and there must be more different queries than clusters"
        )
    return most


def found(
    vectors: NDArray[np.float32], texts: Sequence[str], left_out: Collection[str], k: int = 0
) -> Clusters:
    """The clusters of queries by their (n, d) vectors; names contain no word of `left_out`. `k` is
    the number of clusters, at least 2, or 0 for the number with the largest silhouette. Raises
    WrongInput like `possible`."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.maximum(length, np.finfo(np.float32).tiny)
    most = possible(texts, k)
    tried = {n: _of(unit, n) for n in ([k] if k else range(2, min(MOST, most) + 1))}
    from sklearn.metrics import silhouette_score

    some = np.random.default_rng(SEED).permutation(len(unit))[:SAMPLE]
    silhouettes = {
        k: float(silhouette_score(unit[some], of[some]))
        for k, of in tried.items()
        if 1 < len(set(of[some])) < len(some)
    }
    clusters = Clusters([], silhouettes)
    of = tried[clusters.k]
    names = named(of, texts, left_out)
    return clusters._replace(names=[names[number] for number in of])


def _of(unit: NDArray[np.float32], k: int) -> NDArray[np.int32]:
    # Imported here because it takes a second.
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=4, random_state=SEED).fit_predict(unit)


def named(of: NDArray[np.int32], texts: Sequence[str], left_out: Collection[str]) -> dict[int, str]:
    """A name for each cluster: of the words more frequent in it, the WORDS that add most to the
    Jensen-Shannon divergence from the other queries (Lin 1991), as on the Overlap page.

    A word counts once per query; numbers and single letters do not count.
    """
    bags = [_words(text) - set(left_out) for text in texts]
    every = Counter(word for bag in bags for word in bag)
    names: dict[int, str] = {}
    for number in sorted(set(of.tolist())):
        own = Counter(
            word for bag, its in zip(bags, of, strict=True) if its == number for word in bag
        )
        name = ", ".join(_distinctive(own, every)[:WORDS]) or "no distinctive words"
        same = sum(one.partition(" (")[0] == name for one in names.values())
        names[number] = f"{name} ({same + 1})" if same else name
    return names


def _words(text: str) -> set[str]:
    words = {word.casefold() for word in _WORD.findall(text)}
    return {word for word in words if 1 < len(word) <= LONGEST and not word.isdecimal()}


def _distinctive(own: Counter[str], every: Counter[str]) -> list[str]:
    """Words of a cluster that are more frequent in it than in the other queries, by their
    contribution to the Jensen–Shannon divergence of the two (Lin 1991), largest first. `every`
    counts the words of all queries, including the cluster's."""
    inside, outside = max(own.total(), 1), max(every.total() - own.total(), 1)
    terms = {}
    for word, n in own.items():
        share, other = n / inside, (every[word] - n) / outside
        mean = (share + other) / 2
        of_others = other * np.log(other / mean) if other else 0.0
        if share > other:
            terms[word] = share * np.log(share / mean) + of_others
    return sorted(terms, key=lambda word: (-terms[word], word))
