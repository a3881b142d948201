"""Estimates from a sampled task on the page Holes."""

from dataclasses import replace
from pathlib import Path

import pytest

from compute.judgements.tasks import estimated, tasks
from compute.reading.database import open_version
from compute.views.about import view_provenance
from compute.views.annotate import select
from compute.views.annotate.select import StoredTops
from compute.views.holes import sampled
from tests.support import sampling as made_up
from tests.support.holes import captions, opened


@pytest.mark.parametrize(("n", "enough"), [(6, False), (150, True)])
def test_the_page_says_what_the_core_says(
    n: int, enough: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEIRSCOPE_SHIPPED_RESULTS", "false")
    store, frame, grades = made_up.fill(tmp_path / "home")
    task = made_up.make(store, frame)
    made_up.judge(store, task, frame, grades, n)
    app = opened(tmp_path / "home", monkeypatch, dataset=made_up.DATASET)
    assert "What the scores are" in [header.value for header in app.header]
    said = captions(app)
    assert f"Sample: {n} judged of the first {n}, from {frame.n:,} pairs." in said
    assert f"with seed 7 by predictor ranks-1, from frame {frame.identity}" in said
    record = view_provenance.record(store, app.session_state["_rests_on"], version=(1, n))
    assert (task.measure in record["measures"]) and record["samples"] == [
        {
            "task": task.id,
            "frame": frame.identity,
            "n_frame": frame.n,
            "goal": "scores",
            "seed": 7,
            "predictor": "ranks-1",
            "n_judged": n,
        }
    ]
    (told,) = [one.value for one in app.markdown if "Enough?" in one.value]
    assert ("±" in told and "of 6 pairs can be told apart" in told) == enough
    assert ("an interval needs 30 and 30" in told) != enough
    numbers = next(one.value for one in app.dataframe if "Estimate" in one.value)
    assert numbers[["Estimate", "SE"]].notna().all(axis=None)
    assert numbers["These queries: low"].isna().all() != enough
    types = [element.type for element in app.main]
    assert types[types.index("markdown") + 1] == "plotly_chart", "the verdict is above its figure"


def test_the_page_reads_other_measures_and_says_how_many_judgements_a_width_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEIRSCOPE_SHIPPED_RESULTS", "false")
    store, frame, grades = made_up.fill(tmp_path / "home")
    task = made_up.make(store, frame)
    made_up.judge(store, task, frame, grades, 150)
    more = {"dataset": made_up.DATASET, "estimated": "DCG@10", "half": "0.05"}
    app = opened(tmp_path / "home", monkeypatch, **more)
    said = captions(app)
    assert not app.exception
    assert "For half-widths of a system's interval of at most" in said
    assert "queries like these" in said
    app = opened(tmp_path / "home", monkeypatch, dataset=made_up.DATASET, estimated="R@10")
    (told,) = [one.value for one in app.markdown if "of this measure" in one.value]
    assert told.startswith("**No interval of this measure")
    assert "by which this measure divides, are those" in captions(app)


def test_without_a_sampled_task_the_page_has_no_estimates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_up.fill(tmp_path / "home", n_queries=6)
    app = opened(tmp_path / "home", monkeypatch, dataset=made_up.DATASET)
    assert "What the scores are" not in [header.value for header in app.header]


def test_runs_that_changed_since_are_named_in_the_place_of_estimates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, frame, _ = made_up.fill(tmp_path / "home", n_queries=6)
    made_up.make(store, frame)
    made_up.fill(tmp_path / "home", n_queries=7)
    said = captions(opened(tmp_path / "home", monkeypatch, dataset=made_up.DATASET))
    assert "have changed since, so nothing can be estimated" in said


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
    assert f"stops at document {found.n + 1}, which waits for bob; behind it 2 judged" in said
    assert said.endswith("Without ranked lists for these queries: lost.")
    few = rows.assign(enough=False)
    less = sampled.estimates(few, "P@10", theme="light").to_plotly_json()["data"]
    assert [one["name"] for one in less] == ["can be", "estimate", "today's score"]
    assert "standard error" in less[1]["hovertext"][0] and "interval yet" in less[1]["hovertext"][0]
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
    table = sampled.numbers(rows, "P@10").data  # pyrefly: ignore
    assert table["Queries like these: high"].tolist() == rows["like_high"].tolist()
    ranks = found.estimates.ranks().set_index("system").loc[rows["system"]]
    assert table["Best rank"].tolist() == ranks["rank_low"].tolist()
    assert "judgements more." in sampled.wanted(found, task, 0.01)
    assert sampled.wanted(found, task, 1).startswith("No half-width of a system's interval")
    few = replace(found, estimates=replace(found.estimates, n_relevant=5))
    assert sampled.wanted(few, task, 0.01).startswith("While there is no interval")
    assert sampled.systems(bounds, few)[["like_low", "rank_low"]].isna().all(axis=None)


def test_what_was_drawn_for_differences_is_judged_by_those_to_the_baseline(tmp_path: Path) -> None:
    store, frame, grades = made_up.fill(tmp_path / "home")
    task = made_up.make(store, frame)
    made_up.judge(store, task, frame, grades, 150)
    found = estimated.estimated(store, task, frame, frame.pairs.assign(relevance=grades))
    rows = found.estimates.scores()[["system"]].assign(title="a title")
    against = replace(task, goal="differences", baseline=task.systems[0])
    apart = sampled.verdict(rows, sampled.pairs(found), found, against)
    assert apart.startswith("Enough? The widest interval of a difference, 95% for all pairs")
    assert " of 3 pairs can be told apart." in apart
