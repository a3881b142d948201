"""Domain shift: does a system gain less on corpora that are less similar to its training set? The
rank correlation of similarity and gain over a baseline (BEIR v1, Table 4) answers this."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pandas import DataFrame

from compute.corpora.similarity_matrix import FEWEST_FOR_RANKS
from compute.datasets import published
from compute.datasets.catalogue import DATASETS
from compute.evaluate.distributions import normal_reach
from compute.evaluate.tolerance import levels

TABLE = "BEIR v1, Table 2"
"""Published table whose scores Table 4 uses; the similarities are from Table 4 itself."""
SYSTEMS = ("sbert-cosine", "ance")
"""The systems in Table 4."""
HOW_TO_READ = (
    "Further right: more similar words. Above the line: better than the baseline.",
    "CI: Fisher's z with the variance of Bonett and Wright (2000), for independent corpora.",
)
CHOSEN_AFTER = (
    "The paper excludes BioASQ, Signal-1M and Touche-2020, which were chosen after seeing the"
    " results; this inflates the correlation."
)


@dataclass(frozen=True)
class Correlation:
    """Spearman's rho over n points with its 95% interval; the ends are nan if rho is 1 or -1."""

    rho: float
    low: float
    high: float
    n: int


def correlation(points: DataFrame) -> Correlation | None:
    """Return Spearman's rho of the columns `similarity` and `gain`; equal values share their mean
    rank. None for fewer than FEWEST_FOR_RANKS points, or if all values of a column are equal.

    The interval is Fisher's z with the variance (1 + rho^2 / 2) / (n - 3) of Bonett and Wright
    (2000, Psychometrika 65), which is made for Spearman's rho and small n. In 2,000 simulated
    samples of 14 points with rho .78 it covered the true value in 96%, Fisher's own 1 / (n - 3) in
    94%, and the percentile bootstrap in 98% without being narrower.
    """
    from scipy.stats import spearmanr  # loaded only where a correlation is drawn

    if len(points) < FEWEST_FOR_RANKS or points[["similarity", "gain"]].nunique().min() < 2:
        return None
    rho = float(np.asarray(spearmanr(points["similarity"], points["gain"]))[0])
    return Correlation(rho, *_interval(rho, len(points)), len(points))


def _interval(rho: float, n: int) -> tuple[float, float]:
    """Return the ends of the 95% interval of rho; nan if rho is 1 or -1."""
    if abs(rho) > 1 - 1e-12:
        return math.nan, math.nan
    reach = normal_reach(0.05) * math.sqrt((1 + rho**2 / 2) / (n - 3))
    return math.tanh(math.atanh(rho) - reach), math.tanh(math.atanh(rho) + reach)


def points(
    similarities: DataFrame,
    scores: DataFrame,
    systems: Sequence[str],
    baseline: str,
    left_out: Collection[str],
) -> DataFrame:
    """Return the marks of a figure: dataset, system, similarity, gain (the system's value minus the
    baseline's), left_out (of the correlation). `similarities`: dataset, similarity to the source,
    without the source itself. `scores`: dataset, system, value. A forum of CQADupStack is omitted
    if the whole dataset has a mark."""
    known = scores[scores["value"].notna()].drop_duplicates(["dataset", "system"])
    base = known[known["system"] == baseline][["dataset", "value"]]
    wanted = [name for name in systems if name != baseline]
    both = known[known["system"].isin(wanted)].merge(base, on="dataset", suffixes=("", "_base"))
    both = both.merge(similarities[["dataset", "similarity"]].dropna(), on="dataset")
    shown = set(both["dataset"])
    parts = {part for name in shown if name in DATASETS for part in DATASETS[name].parts}
    both = both[~both["dataset"].isin(parts)].reset_index(drop=True)
    # Published values have three decimals, and equal values must keep equal ranks.
    gain = levels(both["value"] - both["value_base"])
    frame = both[["dataset", "system", "similarity"]]
    return frame.assign(gain=gain, left_out=both["dataset"].isin(list(left_out)))


def to_source(similarities: DataFrame, source: str, collections: Mapping[str, str]) -> DataFrame:
    """Return dataset and similarity of its corpus to the source's, without datasets of the source
    itself. `similarities`: dataset, other, similarity of corpora, each pair once. `collections`:
    the collection of each dataset."""
    turned = similarities.rename(columns={"dataset": "other", "other": "dataset"})
    found = {
        str(row["other"]): float(row["similarity"])
        for frame in (similarities, turned)
        for row in frame[frame["dataset"] == source].to_dict("records")
    }
    rows = [(name, found[corpus]) for name, corpus in collections.items() if corpus in found]
    return DataFrame(rows, columns=["dataset", "similarity"])


def ranges(marks: DataFrame) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the ranges of similarity and gain that all panels of a group share, with a margin."""
    similarity, gain = marks["similarity"].to_numpy(), [*marks["gain"], 0.0]
    return _span(similarity, 0.01), _span(np.array(gain), 0.02)


def _span(values: np.ndarray, least: float) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = max(0.12 * (high - low), least)
    return low - room, high + room


def printed_similarities(words: str) -> DataFrame:
    """Return dataset, similarity to MS MARCO from BEIR v1, Table 4; by "unigrams" or "bigrams"."""
    table = published.domain_shift().drop_duplicates("dataset")
    return DataFrame({"dataset": table["dataset"], "similarity": table[words]})


def tables(figures: DataFrame, names: Collection[str]) -> list[str]:
    """Return the published tables that allow a correlation over these datasets, TABLE first.
    `figures`: rows of `published.results`. A table needs two systems with enough nDCG@10 values."""
    rows = figures[(figures["measure"] == "nDCG@10") & figures["dataset"].isin(list(names))]
    found = []
    for source in published.sources(rows):
        own = rows[rows["source"] == source].groupby("system")["dataset"].nunique()
        if (own >= FEWEST_FOR_RANKS).sum() > 1:
            found.append(source)
    return sorted(found, key=lambda source: source != TABLE)
