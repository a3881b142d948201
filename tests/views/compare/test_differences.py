"""Two systems query by query: values worked by hand, and equal to SciPy's and NumPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame, Series
from pandas.testing import assert_frame_equal
from scipy import stats

from compute.evaluate import significance
from compute.views.compare import differences
from tests.support.worlds import FEWER

ROWS = [
    ("one", "q1", 1.0, 0.5, 1, 3),
    ("one", "q2", 0.5, 0.5, 1, 4),
    ("one", "q3", 0.0, 0.25, 2, 9),
    ("two", "q1", 1.0, 0.0, 5, 9),
    ("two", "q4", None, 0.5, 5, 9),
]
COLUMNS = ["dataset", "query_id", "value_a", "value_b", "n_relevant", "n_words"]


def pairs() -> DataFrame:
    return DataFrame(ROWS, columns=COLUMNS)


def test_a_query_without_both_values_is_left_out_and_said() -> None:
    found = differences.verdict(pairs(), "nDCG@10")
    assert (found.n, found.left_out) == (4, 1)
    assert (found.a_better, found.equal, found.b_better) == (2, 1, 1)


def test_parts_weigh_the_same_however_many_queries_they_have() -> None:
    found = differences.verdict(pairs(), "nDCG@10")
    # one: 1.5/3 and 1.25/3; two: 1 and 0.
    assert found.mean_a == pytest.approx((0.5 + 1) / 2)
    assert found.mean_b == pytest.approx((1.25 / 3 + 0) / 2)
    assert found.difference == pytest.approx(found.mean_a - found.mean_b)


def test_with_holes_less_is_better() -> None:
    found = differences.verdict(pairs(), "Hole@10")
    assert (found.a_better, found.equal, found.b_better) == (1, 1, 2)


def test_values_that_differ_by_rounding_are_equal() -> None:
    rounded = pairs().assign(value_b=lambda rows: rows["value_a"] + 1e-12)
    assert differences.verdict(rounded, "nDCG@10").equal == 4


@FEWER
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30))
def test_the_interval_is_students(values: list[tuple[float, float]]) -> None:
    rows = DataFrame(values, columns=["value_a", "value_b"])
    rows = rows.assign(dataset="d", query_id=[f"q{n}" for n in range(len(rows))])
    gaps = (rows["value_a"] - rows["value_b"]).to_numpy()
    found = whole(rows)
    half = stats.t.ppf(0.975, len(gaps) - 1) * gaps.std(ddof=1) / np.sqrt(len(gaps))
    assert found["difference"] == pytest.approx(gaps.mean(), abs=1e-12)
    assert found["high"] - found["difference"] == pytest.approx(half, abs=1e-12)
    assert found["difference"] - found["low"] == pytest.approx(half, abs=1e-12)


def whole(rows: DataFrame) -> Series:
    """The row of a dataset, or of one whose parts are the datasets of the rows."""
    given = differences.by_part(differences.valued(rows), "nDCG@10")
    given = given.rename(columns={"a_better": "a_more", "b_better": "b_more"})
    parts = sorted(set(rows["dataset"]))
    named = {"dataset": ["all"], "title": ["All"], "parts": [parts]}
    return differences.across(given, DataFrame(named), "nDCG@10").iloc[0]


@FEWER
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=4, max_size=30))
def test_a_dataset_of_parts_has_the_interval_of_the_weighted_t_test(
    values: list[tuple[float, float]],
) -> None:
    rows = DataFrame(values, columns=["value_a", "value_b"])
    rows = rows.assign(dataset=["one", *["two", "three"] * len(rows)][: len(rows)], query_id="q")
    weights = significance.by_part(rows["dataset"])
    tested = significance.two(rows["value_a"], rows["value_b"], weights=weights, resamples=0)
    found = whole(rows)
    assert found[["low", "high"]].tolist() == pytest.approx([tested.low, tested.high], abs=1e-7)


def test_one_query_has_no_interval() -> None:
    found = whole(pairs().head(1))
    assert np.isnan(found["low"]) and np.isnan(found["high"])


def across(measure: str = "nDCG@10", without: str = "") -> DataFrame:
    rows = DataFrame(
        {
            "dataset": ["forum/a", "forum/b", "plain"],
            "n": [4, 2, 10],
            "mean_a": [0.4, 0.8, 0.5],
            "mean_b": [0.2, 0.6, 0.75],
            "spread": [0.2, 0.1, 0.3],
            "a_more": [3, 2, 1],
            "b_more": [1, 0, 7],
            "equal": [0, 0, 2],
        }
    )
    named = DataFrame(
        {
            "dataset": ["plain", "forum", "forum/a", "forum/b"],
            "title": ["Plain", "Forum", "Forum A", "Forum B"],
            "parts": [[], ["forum/a", "forum/b"], [], []],
        }
    )
    return differences.across(rows[rows["dataset"] != without], named, measure)


def test_parts_stand_as_one_row_with_the_mean_of_their_means() -> None:
    rows = across()
    assert rows["dataset"].tolist() == ["plain", "forum"]
    forum = rows.iloc[1]
    assert forum["difference"] == pytest.approx(0.2)
    assert (forum["n"], forum["a_better"], forum["b_better"]) == (6, 5, 1)
    # A query of a forum of 4 weighs 1/8, of one of 2 1/4; no forum's difference is off the mean.
    error = np.sqrt((3 * 0.2**2 / 8**2 + 1 * 0.1**2 / 4**2) * 6 / 5)
    assert forum["high"] - forum["difference"] == pytest.approx(stats.t.ppf(0.975, 5) * error)


def test_parts_stand_alone_until_both_systems_have_all() -> None:
    assert across(without="forum/b")["dataset"].tolist() == ["plain", "forum/a"]


def test_across_datasets_less_is_better_with_holes() -> None:
    assert across("Hole@10").iloc[0][["a_better", "b_better"]].tolist() == [7, 1]


@pytest.mark.parametrize("seed", range(5))
def test_only_contenders_need_the_overlap_of_their_lists(seed: int) -> None:
    rng, ids = np.random.default_rng(seed), [f"q{n}" for n in range(60)]
    named = {"dataset": rng.choice(["one", "two"], 60), "query_id": ids}
    both = DataFrame(named | {"difference": rng.integers(-2, 3, 60) / 2})
    alike = both[["dataset", "query_id"]].assign(rbo=rng.random(60), shared=rng.integers(0, 11, 60))
    some = alike[alike["query_id"].isin(differences.contenders(both, 7))]
    most = differences.most_different(both, alike, differences.BY_MEASURE, 7)
    found = differences.most_different(both, some, differences.BY_MEASURE, 7)
    assert_frame_equal(found, most, check_dtype=False)
    gaps = both.merge(alike).assign(gap=-both["difference"].abs())
    in_full = gaps.sort_values(["gap", "rbo", "dataset", "query_id"]).head(7)
    assert found["query_id"].tolist() == in_full["query_id"].tolist()
    assert len(some) < len(alike) or (both["difference"].abs() == 1).sum() > 53


def test_the_queries_that_differ_most_by_the_measure_or_by_the_ranking() -> None:
    both = differences.valued(pairs())
    alike = DataFrame(
        {
            "dataset": ["one", "one", "one"],
            "query_id": ["q1", "q2", "q3"],
            "rbo": [0.9, 0.1, 0.5],
            "shared": [9, 1, 5],
        }
    )
    by_measure = differences.most_different(both, alike, differences.BY_MEASURE, 3)
    assert by_measure[["dataset", "query_id"]].to_numpy().tolist() == [
        ["two", "q1"],
        ["one", "q1"],
        ["one", "q3"],
    ]
    ahead = [
        differences.where_ahead(both, order, measure)["query_id"].tolist()
        for order in (differences.OF_A, differences.OF_B)
        for measure in ("nDCG@10", "Hole@10")
    ]
    assert ahead[0] == ahead[3] != ahead[1] == ahead[2], "less is better with holes"
    assert len(ahead[0]) + len(ahead[1]) == (both["difference"] != 0).sum()
    by_ranking = differences.most_different(both, alike, differences.BY_RANKING, 9)
    assert by_ranking["query_id"].tolist() == ["q2", "q3", "q1", "q1"]
    assert np.isnan(by_ranking["rbo"].iloc[-1]), "neither answers it: it stands last"
