"""Quality against cost: which systems are averaged together, and which no other beats."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame, Series

from compute.recompute.efficiency import MEASURED
from compute.views.efficiency import pareto
from tests.support.worlds import CASES

NAN = float("nan")
MACHINE = {"processor": "Abacus", "cores": 2, "memory_gib": 15.6, "load": 0.5}


def cost(dataset: str, system: str, **given: Any) -> dict[str, Any]:
    """One row of `efficiency.select.costs`."""
    about = {"dataset": dataset, "title": dataset.upper(), "system": system, "n_documents": 10}
    return dict.fromkeys(MEASURED, NAN) | about | MACHINE | given


def means(*rows: tuple[str, str, float]) -> DataFrame:
    return DataFrame(rows, columns=["dataset", "system", "value"])


COSTS = DataFrame(
    [
        cost("one", "a", latency_p50_ms=1.0, index_bytes=100.0),
        cost("one", "b", latency_p50_ms=2.0, index_bytes=200.0, cores=4),
        cost("two", "a", latency_p50_ms=3.0, index_bytes=300.0),
        cost("two", "b", latency_p50_ms=6.0, index_bytes=NAN, cores=4),
        cost("three", "a", latency_p50_ms=99.0, index_bytes=999.0, cores=4),
    ]
)
MEANS = means(
    ("one", "a", 0.2), ("one", "b", 0.4), ("two", "a", 0.6), ("two", "b", 0.4), ("three", "a", 0.9)
)


def test_means_are_over_the_datasets_that_all_shown_systems_have() -> None:
    rows, datasets = pareto.points(COSTS, MEANS)
    assert datasets == ["one", "two"]
    found = rows.set_index("system")
    assert found["value"].to_dict() == pytest.approx({"a": 0.4, "b": 0.4})
    assert found["latency_p50_ms"].to_dict() == {"a": 2.0, "b": 4.0}
    assert found.loc["a", "index_bytes"] == 200.0
    assert pareto.points(COSTS, MEANS, ["a"]).datasets == ["one", "two", "three"]


def test_a_mean_with_a_cost_that_one_dataset_lacks_is_absent() -> None:
    rows, _ = pareto.points(COSTS, MEANS)
    assert rows.set_index("system")["index_bytes"].isna().to_dict() == {"a": False, "b": True}


def test_a_mean_over_several_machines_says_so_and_stands_on_no_front() -> None:
    rows, _ = pareto.points(COSTS, MEANS, ["a"])
    assert list(rows["hardware"]) == [pareto.SEVERAL]
    assert not pareto.fronts(rows, "latency_p50_ms", "nDCG@10").any()


def test_one_dataset_shows_its_own_systems_alone() -> None:
    rows, datasets = pareto.points(COSTS, MEANS, dataset="three")
    assert (list(rows["system"]), datasets) == (["a"], ["three"])
    assert list(rows["hardware"]) == ["Abacus, 4 cores, 16 GiB"]


def test_systems_with_nothing_in_common_show_nothing() -> None:
    costs = DataFrame([cost("one", "a"), cost("two", "b")])
    rows, datasets = pareto.points(costs, means(("one", "a", 0.1), ("two", "b", 0.2)))
    assert (len(rows), datasets) == (0, [])


def test_the_front_is_what_no_other_beats() -> None:
    """Of two equals both stand; dearer for no more, and worse for as much, do not."""
    costs = Series([1.0, 2.0, 2.0, 3.0, 1.0, 0.5, NAN])
    values = Series([0.5, 0.7, 0.6, 0.7, 0.5, 0.1, 0.9])
    on = pareto.front(costs, values, 1)
    assert list(on) == [True, True, False, False, True, True, False]


@CASES
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_the_front_by_its_definition(points: list[tuple[int, int]]) -> None:
    costs = Series([cost for cost, _ in points], dtype=float)
    values = Series([value for _, value in points], dtype=float)
    expected = [
        not any(c <= cost and v >= value and (c, v) != (cost, value) for c, v in points)
        for cost, value in points
    ]
    assert list(pareto.front(costs, values, 1)) == expected


def test_of_holes_fewer_for_as_much_is_on_the_front() -> None:
    rows = DataFrame({"hardware": "m", "value": [0.1, 0.9, 0.05], "cost": [10.0, 10.0, 20.0]})
    assert pareto.fronts(rows, "cost", "Hole@10").tolist() == [True, False, True]
    assert pareto.fronts(rows, "cost", "Judged@10").tolist() == [False, True, False]


def test_each_machine_has_a_front_of_its_own() -> None:
    rows, _ = pareto.points(COSTS, MEANS, dataset="one")
    rows["value"] = [0.9, 0.1]
    # On one machine b would be beaten by a, which is better and quicker.
    assert list(pareto.fronts(rows, "latency_p50_ms", "nDCG@10")) == [True, True]
