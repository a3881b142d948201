"""Arranges the similarities of corpora as a matrix, and derives an order and positions in a plane
from them. Both depend only on the similarities, not on the order of rows or on chance, so a redrawn
figure does not change."""

import math
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import pandas as pd
from pandas import DataFrame

from compute.base.bounded_cache import remembered

# SciPy and networkx are imported where they are used, so that other figures are drawn sooner.

ITERATIONS = 300
LEAST_WEIGHT = 0.005
"""Smallest weight in the layout, as a share of the largest. On 35 corpora of BEIR and PyDocs it
changes the rank correlation by at most .02, and the nearest ones are 4 to 11 times as far apart."""
FEWEST_FOR_RANKS = 4
"""Minimum number of corpora, or points, for a meaningful rank correlation."""


def matrix(similarities: DataFrame) -> DataFrame:
    """Turn rows (dataset, other, similarity) into a square matrix with sorted names and 1 on the
    diagonal. A pair without a row is nan."""
    names = sorted({*similarities["dataset"], *similarities["other"]})
    places = {name: place for place, name in enumerate(names)}
    square = np.full((len(names), len(names)), np.nan)
    np.fill_diagonal(square, 1)
    one = similarities["dataset"].map(places).to_numpy(dtype=int)
    other = similarities["other"].map(places).to_numpy(dtype=int)
    values = similarities["similarity"].to_numpy(dtype=float)
    square[one, other] = square[other, one] = values
    return DataFrame(square, index=names, columns=names)


def _distances(square: DataFrame) -> np.ndarray:
    """Return the distances 1 - s; an unknown similarity counts as 0."""
    apart = 1 - np.nan_to_num(square.to_numpy(dtype=float), nan=0.0)
    np.fill_diagonal(apart, 0)
    return np.clip(apart, 0, 1)


def by_likeness(square: DataFrame) -> list[str]:
    """Order the names so that similar corpora are neighbours: by average linkage on 1 - s, in the
    leaf order with the smallest sum of distances between neighbours (Bar-Joseph et al. 2001)."""
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    if len(square) < 3:
        return list(square.index)
    condensed = squareform(_distances(square), checks=False)
    tree = hierarchy.linkage(condensed, method="average", optimal_ordering=True)
    return [str(square.index[leaf]) for leaf in hierarchy.leaves_list(tree)]


def by_domain(square: DataFrame, domains: Mapping[str, str], known: Sequence[str]) -> list[str]:
    """Order names by domain, first as in `known`, then by name; within a domain, by similarity."""
    rank = {domain: place for place, domain in enumerate(known)}

    def place(name: str) -> tuple[int, str]:
        domain = domains.get(name, "")
        return rank.get(domain, len(rank)), domain

    return sorted(by_likeness(square), key=place)


@remembered
def layout(square: DataFrame) -> DataFrame:
    """Return x and y by name: a spring layout (Fruchterman and Reingold) of the full graph. Weights
    are (s - the smallest s)^2, so the few strong similarities dominate; at least LEAST_WEIGHT of
    the largest weight keeps together corpora that share almost no words, such as those of two
    languages. The layout starts from classical scaling of 1 - s, so it is deterministic, and is
    rotated so that the widest direction is x. The unit of length is arbitrary but equal for x and
    y."""
    square = square.sort_index(axis=0).sort_index(axis=1)
    count = len(square)
    if count < 3:
        x = np.arange(count, dtype=float)
        return DataFrame({"x": x, "y": np.zeros(count)}, index=square.index)
    alike = 1 - _distances(square)
    weights = (alike - alike.min()) ** 2
    np.fill_diagonal(weights, 0)
    weights = np.maximum(weights, LEAST_WEIGHT * weights.max())
    np.fill_diagonal(weights, 0)
    import networkx as nx

    graph = nx.from_numpy_array(weights)
    start = dict(enumerate(_scaled(_distances(square))))
    # The start determines the result; the seed only keeps NumPy's own generator untouched.
    found = nx.spring_layout(graph, pos=start, iterations=ITERATIONS, method="force", seed=0)
    points = _turned(np.array([found[place] for place in range(count)]))
    return DataFrame(points, index=square.index, columns=["x", "y"])


def _scaled(apart: np.ndarray) -> np.ndarray:
    """Place points in a plane by classical multidimensional scaling (Torgerson 1952)."""
    count = len(apart)
    centring = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-0.5 * centring @ apart**2 @ centring)
    points = vectors[:, [-1, -2]] * np.sqrt(np.clip(values[[-1, -2]], 0, None))
    # Otherwise, two corpora with the same words would start and stay at the same point.
    angles = 2 * math.pi * np.arange(count) / count
    return _signed(points) + 1e-3 * np.column_stack([np.cos(angles), np.sin(angles)])


def _turned(points: np.ndarray) -> np.ndarray:
    """Centre the points and rotate them so that they spread most along x."""
    centred = points - points.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    return _signed(centred @ vectors[:, ::-1])


def _signed(points: np.ndarray) -> np.ndarray:
    """Make each column's largest entry positive, since the sign of eigenvectors is arbitrary."""
    largest = points[np.abs(points).argmax(axis=0), [0, 1]]
    return points * np.where(largest < 0, -1, 1)


@remembered
def faithfulness(square: DataFrame, points: DataFrame) -> float:
    """Return Spearman's correlation of the points' distances with 1 - s, over all pairs; nan for
    fewer than FEWEST_FOR_RANKS corpora, or if all distances are equal."""
    if len(square) < FEWEST_FOR_RANKS:
        return math.nan
    from scipy.spatial.distance import pdist, squareform
    from scipy.stats import spearmanr

    drawn = pdist(points.loc[square.index, ["x", "y"]].to_numpy(dtype=float))
    apart = squareform(_distances(square), checks=False)
    if np.ptp(drawn) == 0 or np.ptp(apart) == 0:
        return math.nan
    return float(np.asarray(spearmanr(drawn, apart))[0])


@remembered
def edges(square: DataFrame, least: float, nearest: int = 2) -> DataFrame:
    """Return the pairs to draw, weakest first: dataset, other, similarity. They are the pairs with
    a similarity of at least `least`, and each corpus with its `nearest` most similar ones."""
    rows = []
    names = list(square.index)
    for place, name in enumerate(names):
        # The names are sorted, and ties keep this order.
        others = _others(square, name)
        near = [str(other) for other in others.index[: max(nearest, int((others >= least).sum()))]]
        rows += [tuple(sorted((place, names.index(other)))) for other in near]
    pairs = sorted(set(rows))
    frame = DataFrame(
        [(names[a], names[b], square.iloc[a, b]) for a, b in pairs],
        columns=["dataset", "other", "similarity"],
    )
    return frame.sort_values("similarity", kind="stable").reset_index(drop=True)


def nearest(square: DataFrame, name: str, count: int = 3) -> pd.Series:
    """Return the similarities of the `count` corpora most similar to `name`, highest first."""
    return _others(square, name).head(count)


def _others(square: DataFrame, name: str) -> pd.Series:
    """Return the similarities of the other corpora to one, highest first."""
    others = cast(pd.Series, square.loc[name]).drop(name).dropna()
    return others.sort_values(ascending=False, kind="stable")
