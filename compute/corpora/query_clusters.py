"""Clusters of queries with similar vectors, named after their distinctive words. The method is
k-means (Lloyd 1982) on vectors of unit length, with a fixed seed. The number of clusters, from 2 to
MOST, maximises the mean silhouette (Rousseeuw 1987); ties go to the smaller number."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compute.base.errors import WrongInput

MOST, FEWEST = 12, 5
"""Maximum number of clusters to try, and minimum number of queries per cluster on average."""
SAMPLE = 2_000
"""Maximum number of queries for the silhouette, which compares all pairs."""
SEED = 0
WORDS = 3
"""Maximum number of words in a cluster's name."""
LONGEST = 17
"""Maximum length of a word in a name, so that three words fit into a label."""
_WORD = re.compile(r"\w+")


class Clusters(NamedTuple):
    """Clusters of queries."""

    names: list[str]
    """Name of each query's cluster."""
    silhouettes: dict[int, float]
    """Mean silhouettes, from -1 to 1, by number of clusters."""

    @property
    def k(self) -> int:
        """Return the number of clusters with the largest silhouette."""
        return max(self.silhouettes, key=lambda k: (self.silhouettes[k], -k))


def possible(texts: Sequence[str], k: int = 0) -> int:
    """Return the largest possible number of clusters. Raises WrongInput if it is below `k` (or
    2)."""
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
    """Cluster queries by their (n, d) vectors; names contain no word of `left_out`. `k` is the
    number of clusters, at least 2, or 0 for the number with the largest silhouette. Raises
    WrongInput as `possible` does."""
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
    # This import takes a second.
    """Assign k clusters by k-means."""
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=4, random_state=SEED).fit_predict(unit)


def named(of: NDArray[np.int32], texts: Sequence[str], left_out: Collection[str]) -> dict[int, str]:
    """Name each cluster by up to WORDS words that are more frequent in it: those that add most to
    the Jensen–Shannon divergence from the other queries (Lin 1991), as on the Overlap page. A word
    counts once per query; numbers and single letters do not count."""
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
    """Return the words of a text that may be part of a name."""
    words = {word.casefold() for word in _WORD.findall(text)}
    return {word for word in words if 1 < len(word) <= LONGEST and not word.isdecimal()}


def _distinctive(own: Counter[str], every: Counter[str]) -> list[str]:
    """Return the words that are more frequent in a cluster than in the other queries, ordered by
    their contribution to the Jensen–Shannon divergence of the two (Lin 1991), largest first.
    `every` counts the words of all queries, including the cluster's."""
    inside, outside = max(own.total(), 1), max(every.total() - own.total(), 1)
    terms = {}
    for word, n in own.items():
        share, other = n / inside, (every[word] - n) / outside
        mean = (share + other) / 2
        of_others = other * np.log(other / mean) if other else 0.0
        if share > other:
            terms[word] = share * np.log(share / mean) + of_others
    return sorted(terms, key=lambda word: (-terms[word], word))
