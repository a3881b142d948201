"""Non-inferiority with a margin: the tests of scipy, and decisions worked by hand."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from pandas import DataFrame
from scipy import stats

from compute.evaluate import power, significance
from compute.evaluate.non_inferiority import (
    COLUMNS,
    MARGIN,
    NIGHT,
    NOT_COMPARABLE,
    NOT_WORSE,
    UNDECIDED,
    VERSION,
    WORSE,
    decide,
    overall,
    share,
    verdicts,
)

NAN = np.nan


def rows(
    baseline: Sequence[float], candidate: Sequence[float], part: Sequence[str] | str = "d"
) -> DataFrame:
    """A group whose holes are not known."""
    found = {"part": part, "baseline": baseline, "candidate": candidate}
    absent = dict.fromkeys(COLUMNS[3:], NAN)
    return DataFrame(found | absent)


def of_gaps(gaps: Sequence[float]) -> DataFrame:
    return rows([0.5] * len(gaps), [0.5 + gap for gap in gaps])


def one(group: DataFrame, margin: float, sign: int = 1) -> dict:
    (found,) = decide({"d": group}, margin, sign).to_dict("records")
    return {str(name): value for name, value in found.items()}


def test_a_decision_worked_by_hand() -> None:
    # Mean .05, standard deviation .1, standard error .05; t of 3 degrees at 2.5% is 3.1824.
    gaps = [0.05 - 0.05 * 3**0.5, 0.05 + 0.05 * 3**0.5, 0.05 - 0.05 * 3**0.5, 0.05 + 0.05 * 3**0.5]
    found = one(of_gaps(gaps), 0.2)
    assert found["n"] == found["differing"] == 4
    assert (found["baseline"], found["candidate"]) == pytest.approx((0.5, 0.55))
    assert found["difference"] == pytest.approx(0.05)
    assert (found["low"], found["high"]) == pytest.approx(
        (0.05 - 0.15912, 0.05 + 0.15912), abs=1e-5
    )
    assert found["verdict"] == NOT_WORSE
    assert one(of_gaps(gaps), 0.1)["verdict"] == UNDECIDED, "the lower end is -.109"
    assert one(of_gaps([gap - 0.4 for gap in gaps]), 0.1)["verdict"] == WORSE


@pytest.mark.parametrize("seed", range(40))
def test_a_verdict_is_that_of_the_one_sided_t_test_at_half_the_level(seed: int) -> None:
    random = np.random.default_rng(seed)
    gaps = random.normal(random.choice([-0.12, -0.05, 0]), 0.1, 20)
    found = one(of_gaps(gaps.tolist()), 0.05)
    above, below = (
        float(np.asarray(stats.ttest_1samp(gaps, -0.05, alternative=side))[1])
        for side in ("greater", "less")
    )
    assert found["p"] == pytest.approx(below)
    expected = NOT_WORSE if above < 0.025 else WORSE if below < 0.025 else UNDECIDED
    assert found["verdict"] == expected


def test_every_group_must_pass_and_none_is_corrected_for_that() -> None:
    group = of_gaps([0.0468, -0.0468] * 2 + [0.0] * 2 + [0.2, -0.2])
    low = one(group, 0.3)["low"]
    many = decide({str(n): group for n in range(10)}, -low + 0.001)
    assert set(many["verdict"]) == {NOT_WORSE} and overall(many["verdict"].tolist()) == NOT_WORSE
    assert overall([NOT_WORSE, UNDECIDED]) == UNDECIDED
    assert overall([NOT_WORSE, UNDECIDED, WORSE]) == WORSE


def test_what_is_worse_is_corrected_by_holm() -> None:
    steady = [0.01, -0.01] * 6
    lost = of_gaps([-0.055 + gap * 6 for gap in steady])
    p = one(lost, 0.01)["p"]
    assert 0.0125 < p < 0.025 and one(lost, 0.01)["verdict"] == WORSE
    found = decide({"lost": lost, "kept": of_gaps(steady)}, 0.01)
    assert found["p"][0] == pytest.approx(2 * p)
    assert found["high"][0] < -0.01 and found["verdict"].tolist()[0] == UNDECIDED
    clear = of_gaps([-0.2 + gap for gap in steady])
    found = decide({"lost": lost, "clear": clear}, 0.01)
    assert found["verdict"].tolist() == [WORSE, WORSE], "the second p is multiplied by 1"


def test_a_candidate_that_leaves_more_than_a_tenth_unanswered_is_not_comparable() -> None:
    def answering(n: int, of: int = 30) -> DataFrame:
        """The baseline answers 20 queries of 30, and the candidate the first n."""
        found = rows([0.5] * of, [0.5 if place < n else 0.0 for place in range(of)])
        return found.assign(
            holes_baseline=[0.1] * 20 + [NAN] * (of - 20),
            holes_candidate=[0.2 if place < n else NAN for place in range(of)],
        )

    found = one(answering(17), 0.01)
    assert (found["verdict"], found["answered"], found["unanswered"]) == (NOT_COMPARABLE, 20, 3)
    assert pd.isna([found[name] for name in ("low", "high", "p", "queries_needed")]).all()
    assert found["difference"] == pytest.approx(-0.5 * 13 / 30)
    # A tenth is compared; the last ten count nothing, for the baseline answers none of them.
    assert one(answering(18), 0.01)["verdict"] == WORSE
    (asked,) = decide({"d": answering(1)}, 0.01, any_answered=True).to_dict("records")
    assert (asked["verdict"], asked["unanswered"]) == (WORSE, 19)
    assert overall([NOT_WORSE, NOT_COMPARABLE, UNDECIDED]) == NOT_COMPARABLE
    assert overall([NOT_COMPARABLE, WORSE]) == WORSE


def test_equal_systems_pass_and_rounding_is_no_difference() -> None:
    found = one(rows([0.3, 0.7, 0.1 + 0.2], [0.3, 0.7, 0.3]), 1e-6)
    assert (found["verdict"], found["differing"]) == (NOT_WORSE, 0)
    assert (found["low"], found["high"]) == (0, 0)
    assert pd.isna(found["queries_needed"])


@pytest.mark.parametrize(
    ("gap", "verdict"), [(-0.01, UNDECIDED), (-0.02, WORSE), (-0.005, NOT_WORSE), (0.01, NOT_WORSE)]
)
def test_the_same_difference_everywhere_is_held_against_the_margin(
    gap: float, verdict: str
) -> None:
    base = [0.3, 0.7, 0.1 + 0.2, 0.9, 0.4, 0.6]
    assert one(rows(base, [value + gap for value in base]), 0.01)["verdict"] == verdict


def test_a_single_query_is_undecided() -> None:
    for gap in (0.0, -0.5, 0.5):
        found = one(of_gaps([gap]), 0.01)
        assert (found["verdict"], found["n"], found["p"]) == (UNDECIDED, 1, 1)
        assert np.isnan([found["low"], found["high"]]).all()


def test_a_query_without_a_value_of_both_does_not_count() -> None:
    found = one(rows([0.5, NAN, 0.2, 0.4], [0.5, 0.9, NAN, 0.6]), 0.01)
    assert (found["n"], found["differing"]) == (2, 1)
    assert (found["baseline"], found["candidate"]) == pytest.approx((0.45, 0.55))


def test_parts_of_a_dataset_count_equally() -> None:
    group = rows([0.5] * 4, [0.6, 0.5, 0.5, 0.2], ["a", "a", "a", "b"])
    found = one(group, 0.01)
    assert found["difference"] == pytest.approx((0.1 / 3 - 0.3) / 2)
    assert found["candidate"] == pytest.approx((1.6 / 3 + 0.2) / 2)


def test_the_interval_is_the_one_that_compare_shows() -> None:
    random = np.random.default_rng(4)
    a, b = random.random((2, 30))
    for part in (["a"] * 30, ["a"] * 10 + ["b"] * 20):
        weights = significance.by_part(pd.Series(part))
        shown = significance.two(a, b, weights=weights, permutations=19, resamples=2)
        found = one(rows(b.tolist(), a.tolist(), part), 0.01)
        assert (found["low"], found["high"]) == pytest.approx((shown.low, shown.high))


def test_where_lower_is_better_the_difference_is_turned() -> None:
    group = rows([0.1, 0.2, 0.3, 0.2], [0.4, 0.5, 0.6, 0.5])
    assert one(group, 0.01)["verdict"] == NOT_WORSE
    found = one(group, 0.01, -1)
    assert (found["difference"], found["verdict"]) == (pytest.approx(-0.3), WORSE)


def test_holes_say_what_the_verdict_could_be() -> None:
    group = of_gaps([0.01, -0.01] * 8)
    ends = {"least": group["candidate"] - 0.9, "most": group["candidate"] - 0.4}
    holes = {"holes_baseline": [0.25, 0.75] * 8, "holes_candidate": [NAN, *[0.5] * 15]}
    found = one(group.assign(**ends, **holes), 0.02)
    assert (found["at_least"], found["verdict"], found["at_most"]) == (WORSE, NOT_WORSE, NOT_WORSE)
    assert (found["least"], found["most"]) == pytest.approx((-0.4, 0.1))
    assert (found["holes_baseline"], found["holes_candidate"]) == (0.5, 0.5)
    unknown = one(group, 0.02)
    assert pd.isna(unknown["at_least"]) and pd.isna(unknown["most"])


def test_the_queries_needed_pass_four_times_of_five() -> None:
    gaps = [0.1, -0.1] * 15
    found = one(of_gaps(gaps), 0.03)
    deviation = np.std(gaps, ddof=1)
    assert found["queries_needed"] == power.queries_needed(0.03, deviation, 0.05)
    n = int(found["queries_needed"])
    drawn = np.random.default_rng(1).normal(0, deviation, (4000, n))
    error = drawn.std(axis=1, ddof=1) / n**0.5
    low = drawn.mean(axis=1) - stats.t.isf(0.025, n - 1) * error
    told = verdicts(low, low, np.ones(4000), 0.03)
    assert (told == NOT_WORSE).mean() == pytest.approx(0.8, abs=0.02)
    few = one(of_gaps([0.1] * 5 + [0.0] * 25), 0.03)
    assert pd.isna(few["queries_needed"]), "five that differ say nothing of others"


def test_equivalent_is_within_the_margin_on_both_sides() -> None:
    for gap, expected in ((0, True), (0.02, False), (-0.02, False)):
        found = one(of_gaps([gap + 0.001, gap - 0.001] * 10), 0.01)
        assert (found["equivalent"], found["margin"]) == (expected, 0.01)


def test_a_group_has_its_own_margin() -> None:
    lost = of_gaps([-0.021, -0.019] * 10)
    found = decide({"base": lost, "anchor": lost.assign(**{MARGIN: 0.03})}, 0.01)
    assert found["verdict"].tolist() == [WORSE, NOT_WORSE]
    assert found["margin"].tolist() == [0.01, 0.03]
    alone = [one(lost, margin)["queries_needed"] for margin in (0.01, 0.03)]
    assert found["queries_needed"].tolist() == alone


def test_against_the_best_both_ends_are_the_least_over_all_versions() -> None:
    """Each lower end as alone; the upper ends at the level over versions and nights."""
    random = np.random.default_rng(3)
    gaps = {name: random.normal(mean, 0.1, 40) for name, mean in (("v1", 0.1), ("v2", -0.045))}
    frames = {name: of_gaps(of.tolist()).assign(**{VERSION: name}) for name, of in gaps.items()}
    group = pd.concat(frames.values(), ignore_index=True).assign(**{NIGHT: 5})
    found = one(group, 0.01)
    alone = {name: one(of.drop(columns=VERSION), 0.01) for name, of in frames.items()}
    assert (found["version"], found["versions"]) == ("v2", 2)
    assert found["difference"] == alone["v2"]["difference"]
    assert found["low"] == min(of["low"] for of in alone.values())
    level = 0.05 / (2 * 5 * 6)
    assert share(2, 5) * 0.05 == pytest.approx(level)
    mean, error = gaps["v2"].mean(), stats.sem(gaps["v2"])
    assert found["high"] == pytest.approx(mean + stats.t.isf(level / 2, 39) * error)
    assert found["p"] == pytest.approx(alone["v2"]["p"] * 60)
    assert found["verdict"] == UNDECIDED and alone["v2"]["verdict"] == WORSE
    assert pd.isna(found["queries_needed"])


def test_what_all_nights_may_spend_is_the_level() -> None:
    nights = np.arange(1, 10_000)
    assert (nights * share(nights, nights)).sum() == pytest.approx(1, abs=1e-3)
    assert share(1, 0) == 1, "a single baseline"


def test_the_best_takes_families_and_runs_into_account() -> None:
    random = np.random.default_rng(8)
    rows = of_gaps(random.normal(-0.05, 0.1, 40).tolist())
    of_best = {VERSION: "v1", NIGHT: 1}
    single = one(rows.assign(**of_best), 0.01)
    families = one(rows.assign(family=[f"f{n // 4}" for n in range(40)], **of_best), 0.01)
    assert families["families"] == 10 and families["high"] != single["high"]
    moved = {f"candidate run {n}": rows["candidate"] + 0.03 * (n - 2) for n in (1, 2, 3)}
    varied = one(rows.assign(**moved, **of_best), 0.01)
    usual = one(rows.assign(**moved), 0.01)
    assert varied["low"] == pytest.approx(usual["low"]) and varied["low"] < single["low"]
    assert varied["high"] > usual["high"] and varied["p"] == pytest.approx(2 * usual["p"])
