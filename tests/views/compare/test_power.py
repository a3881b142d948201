"""What a test would have found, in words."""

import math

import pytest
from pandas import DataFrame

from compute.evaluate import significance
from compute.views.compare import power
from compute.views.compare.power import Plan

ALONE = Plan(300, 1, 0.05, 0.3, 0.0486, 0.0486)
AMONG = Plan(300, 91, 0.0008, 0.3, 0.0731, 0.0486)
FEW = ALONE._replace(detectable=math.nan, alone=math.nan)


def test_the_smallest_difference_is_rounded_up() -> None:
    assert power.found(ALONE).shown == "Minimum detectable difference (80% power): .049."
    assert power.found(AMONG).shown == (
        "Minimum detectable difference (80% power): .074 corrected for 91 pairs, .049 for this"
        " pair only."
    )
    assert ".012." in power.found(ALONE._replace(detectable=0.012)).shown


def test_queries_are_for_the_difference_that_is_named() -> None:
    # (2.8016 x .3 / .02)^2 = 1,766.0, and 1.9 as the deviation is not known.
    assert (
        power.needed(ALONE, 0.02).shown
        == "Detecting a true difference of .02 takes 1,768 queries (80% power)."
    )
    assert power.needed(ALONE, 0.0205).shown.startswith("Detecting a true difference of .0205 ")
    said = power.needed(AMONG, 0.02).shown
    assert said.endswith(" (80% power) corrected for 91 pairs, 1,768 for this pair only.")


def test_where_too_few_queries_differ_that_is_said() -> None:
    assert power.found(FEW) == power.needed(FEW, 0.02) == power.TOO_FEW
    assert _leads(FEW) == ""


def test_leads_over_several_systems_are_a_span() -> None:
    # Of the system between them, too few queries differ.
    assert _leads(ALONE, FEW, ALONE._replace(detectable=0.021)) == (
        "With 300 queries, the test of First against B0, B2 has 80% power only for true differences"
        " above about .021–.049."
    )
    assert _leads(ALONE, ALONE._replace(n=290)).startswith("With 290–300 queries, ")
    assert _leads(ALONE).endswith(
        "of First against B0 has 80% power only for true differences above about .049."
    )


def _leads(*plans: Plan) -> str:
    others = [f"b{place}" for place in range(len(plans))]
    rows = [plan._asdict() | {"a": "a", "b": b} for b, plan in zip(others, plans, strict=True)]
    titles = {"a": "First"} | {b: b.title() for b in others}
    return power.leads("a", others, DataFrame(rows), titles)


def test_a_pair_is_planned_from_its_test() -> None:
    a, b = [0.1 * q for q in range(10)], [0.1 * (q * 7 % 10) for q in range(10)]
    two = significance.two(a, b, resamples=0)
    plan = power.of_two({**vars(two)})
    assert plan.n == 10 and plan.deviation == pytest.approx(two.error * math.sqrt(10))
    # At 9 degrees of freedom 3.1496 standard errors: statsmodels has them.
    assert plan.detectable == pytest.approx(3.1496 * two.error, rel=1e-4)


def test_a_pair_among_all_is_planned_from_its_row() -> None:
    frame = DataFrame([AMONG._asdict() | {"a": "x"}])
    plan = power.of_pair(frame.iloc[0])
    assert plan == AMONG
    assert power.found(plan) == power.found(AMONG)
