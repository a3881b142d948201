"""Domain shift: the papers' correlations, their intervals, and the marks."""

import math

import numpy as np
import pytest
from pandas import DataFrame

from compute.datasets import published
from compute.views.leaderboard import domain_shift
from compute.views.leaderboard import domain_shift_figure as figures


def marks(similarity: list[float], gain: list[float]) -> DataFrame:
    return DataFrame({"similarity": similarity, "gain": gain})


def printed(system: str, words: str, *, every: bool) -> DataFrame:
    """The marks of a system: similarities of Table 4, scores of Table 2."""
    table = published.domain_shift()
    similarities = table[table["system"] == "ance"].rename(columns={words: "similarity"})
    figures = published.results()
    scores = figures[(figures["source"] == domain_shift.TABLE) & (figures["measure"] == "nDCG@10")]
    found = domain_shift.points(
        similarities, scores, [system], "bm25-elasticsearch", published.LEFT_OUT
    )
    return found if every else found[~found["left_out"]]


@pytest.mark.parametrize(
    ("system", "words", "every", "n", "rho", "low", "high"),
    [
        ("sbert-cosine", "unigrams", False, 14, 0.774, 0.34, 0.94),
        ("sbert-cosine", "unigrams", True, 17, 0.548, 0.05, 0.83),
        ("sbert-cosine", "bigrams", False, 14, 0.647, 0.12, 0.89),
        ("sbert-cosine", "bigrams", True, 17, 0.435, -0.08, 0.77),
        ("ance", "unigrams", False, 14, 0.708, 0.22, 0.91),
        ("ance", "unigrams", True, 17, 0.477, -0.03, 0.79),
        ("ance", "bigrams", False, 14, 0.488, -0.09, 0.82),
        ("ance", "bigrams", True, 17, 0.283, -0.24, 0.68),
    ],
)
def test_the_correlations_of_the_paper_with_their_intervals(
    system: str, words: str, every: bool, n: int, rho: float, low: float, high: float
) -> None:
    found = domain_shift.correlation(printed(system, words, every=every))
    assert found is not None
    assert (found.n, round(found.rho, 3)) == (n, rho)
    assert (round(found.low, 2), round(found.high, 2)) == (low, high)


def test_the_finding_has_the_interval_with_what_is_left_out() -> None:
    found = printed("ance", "unigrams", every=True)
    assert figures.finding(found, "MS MARCO") == (
        "Gains are larger on corpora more similar to MS MARCO, without 3 datasets, excluded by the"
        " paper after seeing the results. With them, ρ = .48, 95% CI −.03 to .79."
    )
    own = found.assign(left_out=found["dataset"].eq("nq"))
    assert figures.finding(own, "MS MARCO").startswith(
        "No significant correlation with similarity to MS MARCO, without 1 dataset. With them,"
    )
    every = found.assign(left_out=False)
    said = "No significant correlation with similarity to MS MARCO."
    assert figures.finding(every, "MS MARCO") == said


def test_table_4_and_table_2_print_the_same_differences() -> None:
    table = published.domain_shift()
    for system in domain_shift.SYSTEMS:
        found = printed(system, "unigrams", every=True).set_index("dataset")["gain"]
        own = table[table["system"] == system].set_index("dataset")["difference"]
        assert (found.round(3) - own).abs().max() == 0


def test_equal_values_share_their_mean_rank() -> None:
    # Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5).
    found = domain_shift.correlation(marks([0.1, 0.2, 0.2, 0.3], [1, 2, 3, 4]))
    assert found is not None
    assert math.isclose(found.rho, 4.5 / math.sqrt(4.5 * 5))


def test_the_interval_is_bonett_and_wrights() -> None:
    # rho 0 at n = 103: 1.96 / sqrt(100) on the scale of z.
    assert math.isclose(domain_shift._interval(0.0, 103)[1], math.tanh(0.1959963985), rel_tol=1e-9)
    low, high = domain_shift._interval(0.5, 12)
    reach = 1.959963985 * math.sqrt(1.125 / 9)
    assert math.isclose(math.atanh(low), math.atanh(0.5) - reach, rel_tol=1e-8)
    assert math.isclose(math.atanh(high), math.atanh(0.5) + reach, rel_tol=1e-8)


def test_a_perfect_correlation_has_no_interval() -> None:
    found = domain_shift.correlation(marks([1, 2, 3, 4], [4, 3, 2, 1]))
    assert found is not None
    assert found.rho == -1 and math.isnan(found.low) and math.isnan(found.high)


@pytest.mark.parametrize(
    ("similarity", "gain"), [([], []), ([1, 2, 3], [1, 2, 3]), ([1, 1, 1, 1], [1, 2, 3, 4])]
)
def test_too_few_points_or_equal_ones_have_no_correlation(
    similarity: list[float], gain: list[float]
) -> None:
    assert domain_shift.correlation(marks(similarity, gain)) is None


def test_a_mark_needs_both_systems_and_a_similarity() -> None:
    rows = [("a", "s", 0.5), ("a", "bm25", 0.3), ("b", "s", 0.4), ("c", "s", 0.2)]
    scores = DataFrame([*rows, ("c", "bm25", np.nan)], columns=["dataset", "system", "value"])
    near = DataFrame({"dataset": ["a", "b", "c"], "similarity": [0.6, 0.7, 0.8]})
    found = domain_shift.points(near, scores, ["s", "bm25"], "bm25", ["a"])
    assert found.to_dict("records") == [
        {"dataset": "a", "system": "s", "similarity": 0.6, "gain": 0.2, "left_out": True}
    ]
    assert domain_shift.points(near.iloc[1:], scores, ["s"], "bm25", []).empty


def test_a_forum_is_left_out_where_the_whole_has_a_mark() -> None:
    names = ["cqadupstack", "cqadupstack/android"]
    rows = [(name, system, 0.5) for name in names for system in ("s", "bm25")]
    scores = DataFrame(rows, columns=["dataset", "system", "value"])
    near = DataFrame({"dataset": names, "similarity": [0.6, 0.7]})
    assert list(domain_shift.points(near, scores, ["s"], "bm25", [])["dataset"]) == ["cqadupstack"]
    assert len(domain_shift.points(near.iloc[1:], scores, ["s"], "bm25", [])) == 1


def test_the_source_is_no_mark_and_splits_share_their_collection() -> None:
    pairs = DataFrame(
        [("a", "m", 0.3), ("m", "z", 0.4), ("a", "z", 0.9)],
        columns=["dataset", "other", "similarity"],
    )
    collections = {"a": "a", "a/dev": "a", "m": "m", "m/test": "m", "z": "z", "q": "q"}
    found = domain_shift.to_source(pairs, "m", collections)
    assert found.to_numpy().tolist() == [["a", 0.3], ["a/dev", 0.3], ["z", 0.4]]
    assert domain_shift.to_source(pairs, "unknown", collections).empty
