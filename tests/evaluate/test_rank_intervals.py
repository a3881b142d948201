"""Rank intervals and groups: on boards by hand, on generated ones, and by simulation."""

import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from compute.base.errors import WrongInput
from compute.datasets import published
from compute.evaluate import rank_intervals, significance
from compute.evaluate.rank_intervals import (
    BOTH,
    DATASETS,
    NOTHING,
    QUERIES,
    Ranking,
    of_means,
    of_scores,
)
from compute.evaluate.significance import Aligned
from tests.benchmarks.coverage import one_dataset, over_datasets, over_queries, wrong_groups
from tests.support.worlds import FEWER

SIMULATIONS = int(os.environ.get("BEIRSCOPE_CASES", "200"))
RANDOM = np.random.default_rng(5)
# The first two are alike, the third is clearly worse.
CLEAR = np.array([[0.62], [0.61], [0.3]]) + RANDOM.normal(0, 0.1, (3, 200))

apart = st.integers(1, 7).flatmap(lambda n: st.lists(st.booleans(), min_size=n * n, max_size=n * n))


def of_parts(values: np.ndarray, parts: list[str]) -> Aligned:
    queries = pd.DataFrame({"dataset": parts, "query_id": np.arange(len(parts)).astype(str)})
    weights = significance.by_part(queries["dataset"])
    return Aligned(tuple("abc"[: len(values)]), queries, values, weights, 0)


def columns(found: Ranking, *names: str) -> list[list]:
    return found.systems[list(names)].to_numpy().tolist()


def test_alike_systems_share_a_group_and_ranks() -> None:
    found = of_scores([one_dataset(CLEAR[[2, 0, 1]])])
    assert columns(found, "row", "rank", "rank_low", "rank_high") == [
        [1, 1, 1, 2],
        [2, 2, 1, 2],
        [0, 3, 3, 3],
    ]
    assert found.systems["group"].tolist() == ["a", "a", "b"]
    assert found.systems["first"].sum() == pytest.approx(1)
    assert found.systems["first"].iloc[2] == 0
    assert (found.drawn, found.n_datasets, found.n_queries) == (QUERIES, 1, 200)


def test_of_one_dataset_the_pairs_are_those_of_max_t() -> None:
    found = of_scores([one_dataset(CLEAR)])
    rows = found.systems["row"].tolist()
    for pair in significance.pairs(CLEAR).to_dict("records"):
        i, j = rows.index(pair["a"]), rows.index(pair["b"])
        told = found.better[i, j] or found.better[j, i]
        assert told == (pair["p_adjusted"] <= 0.05)


def test_intervals_are_as_wide_as_the_dataset_of_the_fewest_queries_asks() -> None:
    level = np.array([[0.5], [0.4], [0.3]])
    # All that varies is the first dataset, the same in both.
    few, many = (
        of_scores([one_dataset(CLEAR), one_dataset(level.repeat(n, axis=1))]).systems
        for n in (4, 200)
    )
    assert ((few["high"] - few["low"]) > 1.2 * (many["high"] - many["low"])).all()


def test_less_is_better_turns_the_order_alone() -> None:
    found = of_scores([one_dataset(CLEAR)], sign=-1)
    assert found.systems["row"].tolist() == [2, 1, 0]
    assert found.systems["group"].tolist() == ["a", "b", "b"]
    assert found.systems["first"].tolist() == [1, 0, 0]
    assert found.systems["mean"].tolist() == pytest.approx(sorted(CLEAR.mean(axis=1)))


def test_parts_of_a_dataset_count_equally() -> None:
    values = np.array([[1.0] * 10 + [0.0] * 30, [0.4] * 40])
    found = of_scores([of_parts(values, ["x"] * 10 + ["y"] * 30)])
    assert found.systems["row"].tolist() == [0, 1]
    for row, mean in zip(columns(found, "mean", "low", "high"), (0.5, 0.4), strict=True):
        assert row == pytest.approx([mean] * 3)


def test_datasets_count_equally_and_stay_as_they_are_where_they_are_few() -> None:
    sets = [one_dataset(CLEAR[:, :50]), one_dataset(np.full((3, 20), 0.5))]
    found = of_scores(sets)
    expected = (CLEAR[:, :50].mean(axis=1) + 0.5) / 2
    assert found.systems["mean"].tolist() == pytest.approx(sorted(expected, reverse=True))
    assert (found.drawn, found.n_datasets, found.n_queries) == (QUERIES, 2, 70)
    # Only the first adds to the uncertainty: half its standard error.
    width = (found.systems["high"] - found.systems["low"]).iloc[0]
    assert width == pytest.approx(4 * 0.1 / np.sqrt(50) / 2, rel=0.35)


@pytest.mark.parametrize(("lead", "told"), [(0.46, True), (0.455, False)])
def test_over_few_datasets_a_lead_tells_apart_beyond_its_widened_deviation(
    lead: float, told: bool
) -> None:
    # Drawn again, the mean lead is off by at most 0.05, in one resample of eight: c times the
    # standard error is 0.05. Of two queries it is widened by t / z x sqrt(2 / 1), which is
    # 12.7062 / 1.9600 x 1.4142 = 9.168, to 0.4584.
    values = np.array([[0.3 + lead - 0.05, 0.3 + lead + 0.05], [0.3, 0.3]])
    found = of_scores([one_dataset(values), one_dataset(values)])
    assert found.better.tolist() == [[False, told], [False, False]]
    assert found.systems["group"].tolist() == (["a", "b"] if told else ["a", "a"])


def test_from_ten_datasets_on_these_are_drawn_too() -> None:
    hard = RANDOM.normal(0.5, 0.15, 10)
    sets = [one_dataset(np.clip(CLEAR - 0.5 + mean, 0, 1)) for mean in hard]
    found = of_scores(sets)
    assert found.drawn == BOTH
    few = of_scores(sets[:9])
    widths = [(f.systems["high"] - f.systems["low"]).iloc[0] for f in (found, few)]
    assert widths[0] > 4 * widths[1]
    assert found.systems["group"].iloc[2] not in found.systems["group"].iloc[0]


def test_printed_tables_have_intervals_from_ten_datasets_on() -> None:
    values = np.array([[0.5], [0.4]]) + RANDOM.normal(0, 0.1, (2, 12))
    assert of_means(values).drawn == DATASETS
    few = of_means(values[:, :9])
    assert few.drawn == NOTHING
    assert few.systems[["low", "high", "first"]].isna().all(axis=None)
    assert columns(few, "rank", "rank_low", "rank_high", "group") == [[1, 0, 0, ""], [2, 0, 0, ""]]


def test_the_groups_of_beir_v4() -> None:
    rows = published.results().query("source == 'BEIR v4, Table 2' and measure == 'nDCG@10'")
    table = rows.pivot(index="system", columns="dataset", values="value")
    table = table.drop(columns=["msmarco", "nq"])  # trained on
    found = of_means(table.to_numpy())
    named = found.systems.assign(system=table.index[found.systems["row"]])
    assert named["system"].iloc[0] == "bm25+ce-minilm"
    assert named["system"].iloc[-1] == "dpr"
    best, last = named.iloc[0], named.iloc[-1]
    assert best["rank_low"] == 1 and last["rank_high"] == 10
    assert best["rank_high"] < last["rank_low"]


def test_equal_systems_are_never_told_apart() -> None:
    sets = [one_dataset(CLEAR[[0, 0, 0]]), one_dataset(CLEAR[[1, 1, 1]])]
    found = of_scores(sets)
    assert found.systems["group"].tolist() == ["a"] * 3
    assert found.systems["rank"].tolist() == [1, 1, 1]
    assert found.systems["first"].tolist() == pytest.approx([1 / 3] * 3)


def test_one_system_alone_has_rank_1() -> None:
    assert columns(of_scores([one_dataset(CLEAR[:1])]), "rank_low", "rank_high", "group") == [
        [1, 1, "a"]
    ]


@FEWER
@given(apart)
def test_two_share_a_letter_if_and_only_if_they_cannot_be_told_apart(flags: list[bool]) -> None:
    n = int(len(flags) ** 0.5)
    told = np.array(flags).reshape(n, n)
    told = (told | told.T) & ~np.eye(n, dtype=bool)
    groups = rank_intervals.told_together(told)
    names = rank_intervals.letters(groups, n)
    for i in range(n):
        assert names[i]
        for j in range(n):
            shared = bool(set(names[i].split()) & set(names[j].split()))
            assert shared == (not told[i, j])


@FEWER
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(2, 40), st.integers(1, 3))
def test_groups_and_rank_intervals_never_contradict(seed: int, m: int, n: int, sets: int) -> None:
    random = np.random.default_rng(seed)
    means = random.normal(0.5, 0.1, (m, 1))
    made = [one_dataset(np.round(means + random.normal(0, 0.1, (m, n)), 1)) for _ in range(sets)]
    found = of_scores(made, resamples=200)
    table = found.systems
    assert not (found.better & found.better.T).any()
    assert (table["rank_low"] <= table["rank"]).all()
    assert (table["rank"] <= table["rank_high"]).all()
    assert (table["low"] <= table["mean"] + 1e-9).all()
    assert (table["mean"] <= table["high"] + 1e-9).all()
    for i in range(m):
        assert table["rank_low"].iloc[i] == 1 + found.better[:, i].sum()
        for j in range(i + 1, m):
            letters = [set(table["group"].iloc[place].split()) for place in (i, j)]
            assert bool(letters[0] & letters[1]) == (not found.better[i, j])


def test_letters_go_on_after_z() -> None:
    assert [rank_intervals.letter(n) for n in (0, 25, 26, 27, 52)] == ["a", "z", "aa", "ab", "ba"]


def test_too_few_queries_are_refused() -> None:
    with pytest.raises(WrongInput, match="two queries"):
        of_scores([one_dataset(CLEAR[:, :1])])


@pytest.mark.long
@pytest.mark.parametrize("n", [50, 120])
def test_intervals_over_50_and_more_queries_hold_the_mean_in_93_to_97_percent(n: int) -> None:
    held = over_queries(n, SIMULATIONS, resamples=400)
    # Few simulations scatter: three standard errors more.
    room = 3 * np.sqrt(0.95 * 0.05 / SIMULATIONS)
    assert 0.93 - room <= held <= min(0.97 + room, 1)


@pytest.mark.long
def test_few_datasets_hide_how_far_they_differ() -> None:
    plain, _ = over_datasets(2, SIMULATIONS)
    assert plain < 0.7
    _, widened = over_datasets(12, SIMULATIONS)
    assert widened > 0.88


def test_equal_systems_are_rarely_told_apart_by_datasets() -> None:
    assert wrong_groups(4, 10, SIMULATIONS // 4) <= 0.15


def test_how_far_drawn_means_are_from_normal_is_by_their_moments() -> None:
    seldom = (RANDOM.random(300) < 0.1).astype(float)
    values = np.array([RANDOM.beta(0.5, 0.7, 300), seldom, np.full(300, 0.2)])
    spread = rank_intervals._Spread.of(values)
    assert spread.mean == pytest.approx(values.mean(axis=1))
    assert spread.covariance == pytest.approx(np.cov(values, bias=True) / 300)

    def off(of: np.ndarray) -> float:
        skew, tails = stats.skew(of), stats.kurtosis(of)
        return 0.474 * abs(skew) / np.sqrt(300) + 0.069 * abs(tails) / 300

    assert spread.off == pytest.approx(max(off(values[0]), off(values[1])))
    gaps = [values[0] - values[1], values[0] - values[2], values[1] - values[2]]
    assert spread.off_pairs == pytest.approx(max(map(off, gaps)))


def test_means_of_many_queries_are_drawn_as_if_one_by_one() -> None:
    values = RANDOM.beta(0.5, 0.7, (2, 800))
    values[1] = 0.7 * values[0] + 0.3 * values[1]
    spread, random = rank_intervals._Spread.of(values), np.random.default_rng(1)
    assert spread.is_normal(0.25)
    drawn = spread.drawn(20_000, random)
    alike = rank_intervals._drawn_queries(values, 20_000, random)
    # The noise of 20,000 resamples is 0.02 of a standard error at these ends.
    errors = np.append(values.std(axis=1), (values[0] - values[1]).std()) / np.sqrt(800)
    ends = [
        np.quantile(np.column_stack([of, of[:, 0] - of[:, 1]]), [0.025, 0.975], axis=0)
        for of in (drawn, alike)
    ]
    assert (np.abs(ends[0] - ends[1]) < 0.12 * errors).all()


@pytest.mark.parametrize(("hits", "normal"), [(3, False), (500, True)])
def test_rare_values_are_drawn_one_by_one(hits: int, normal: bool) -> None:
    values = np.zeros((1, 1000))
    values[0, :hits] = 1
    assert rank_intervals._Spread.of(values).is_normal(0.25) == normal


def test_two_that_differ_on_few_queries_are_drawn_one_by_one() -> None:
    values = RANDOM.random((2, 1000))
    values[1] = values[0]
    values[1, 0] += 0.5
    spread = rank_intervals._Spread.of(values)
    assert spread.off < 0.05 and not spread.is_normal(0.25)
    # Equal ones need no telling apart.
    assert rank_intervals._Spread.of(values[[0, 0]]).is_normal(0.25)
