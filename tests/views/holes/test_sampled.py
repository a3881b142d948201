"""Estimates from a sampled task on the Holes page."""

from dataclasses import replace
from pathlib import Path

import pytest
from pandas import DataFrame

from compute.judgements.tasks import estimated, tasks
from compute.reading.database import open_version
from compute.views.annotate import select
from compute.views.annotate.select import StoredTops
from compute.views.holes import sampled
from tests.support import sampling as made_up
from tests.support.holes import words


@pytest.mark.long
def test_the_figure_has_range_interval_estimate_and_score(tmp_path: Path) -> None:
    store, frame, grades = made_up.fill(tmp_path / "home")
    task = made_up.make(store, frame)
    made_up.judge(store, task, frame, grades, 150)
    judgements = frame.pairs.assign(relevance=grades)
    found = estimated.estimated(store, task, frame, judgements)
    scores = found.estimates.scores()
    bounds = scores[["system"]].assign(value=0.1, low=0.0, high=0.9, pool_low=0.0, pool_high=0.9)
    rows = sampled.systems(bounds, found)
    rows["title"] = rows["system"]
    figure = sampled.estimates(rows, "P@10", theme="light")
    bar, interval, dot, today = figure.to_plotly_json()["data"]
    assert list(bar["x"][:2]) == [0.0, 0.9]
    assert list(interval["x"][:2]) == [scores["low"][0], scores["high"][0]]
    assert list(dot["x"]) == scores["mean"].tolist()
    assert list(today["x"]) == [0.1] * 4
    # Nothing is estimated to be what it cannot be.
    most = scores["mean"].min()
    cut = sampled.systems(bounds.assign(pool_high=most), found)
    assert (cut[["estimate", "estimate_low", "estimate_high"]] == most).all(axis=None)
    some = replace(found, n_behind=2, waits_for=("bob",), missing=("lost",))
    said = sampled.verdict(rows, sampled.pairs(some), some, task)
    assert f"stops at document {found.n + 1}, which waits for bob; 2 judged" in said
    assert said.endswith("No ranked lists for these queries: lost.")
    few = rows.assign(enough=False)
    less = sampled.estimates(few, "P@10", theme="light").to_plotly_json()["data"]
    assert [one["name"] for one in less] == ["possible range", "estimate", "current score"]
    assert "standard error" in less[1]["hovertext"][0] and "no interval" in less[1]["hovertext"][0]
    opened_frame = StoredTops(open_version(store).cursor(), made_up.DATASET)
    assert opened_frame.frame(task.systems, 10).identity == frame.identity


def test_the_numbers_have_both_intervals_and_the_ranks(tmp_path: Path) -> None:
    store, frame, grades = made_up.fill(tmp_path / "home")
    task = made_up.make(store, frame)
    made_up.judge(store, task, frame, grades, 150)
    cursor = open_version(store).cursor()
    known = tasks.judged(store, task.dataset, select.judged(cursor, task.dataset))
    found = estimated.estimated(store, task, frame, known)
    bounds = estimated.ends(task, frame, known, "DCG@10")
    rows = sampled.systems(bounds, found).assign(title="a title")
    table = sampled.numbers(rows, "P@10").shown
    assert table["Queries like these: high"].tolist() == rows["like_high"].tolist()
    ranks = found.estimates.ranks().set_index("system").loc[rows["system"]]
    assert table["Best rank"].tolist() == ranks["rank_low"].tolist()
    assert "more judgements (" in words(sampled.wanted(found, task, 0.01))
    assert words(sampled.wanted(found, task, 1)).startswith("Every margin of error of a score")
    few = replace(found, estimates=replace(found.estimates, n_relevant=5))
    assert words(sampled.wanted(few, task, 0.01)).startswith("The number of judgements can")
    assert sampled.systems(bounds, few)[["like_low", "rank_low"]].isna().all(axis=None)


def test_what_was_drawn_for_differences_is_judged_by_those_to_the_baseline(tmp_path: Path) -> None:
    store, frame, grades = made_up.fill(tmp_path / "home")
    task = made_up.make(store, frame)
    made_up.judge(store, task, frame, grades, 150)
    found = estimated.estimated(store, task, frame, frame.pairs.assign(relevance=grades))
    rows = found.estimates.scores()[["system"]].assign(title="a title")
    against = replace(task, goal="differences", baseline=task.systems[0])
    apart = sampled.verdict(rows, sampled.pairs(found), found, against)
    assert apart.startswith("The widest margin of error of a difference (95% for all pairs")
    assert " of 3 pairs differ significantly." in apart


def test_ranges_that_do_not_overlap_are_certain() -> None:
    rows = DataFrame({"title": ["a", "b"], "low": [0.5, 0.7], "high": [0.6, 0.8]})
    assert sampled.certain(rows) == (
        "b is better whatever the grades of the unjudged documents are: .700 to .800 against"
        " .500 to .600."
    )
    assert not sampled.certain(rows.assign(high=[0.7, 0.8]))
    assert not sampled.certain(rows.head(1))
