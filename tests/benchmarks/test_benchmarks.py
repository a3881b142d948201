"""The benchmarks run at tiny sizes and write their tables; nothing here is timed."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compute.evaluate import baseline
from compute.evaluate.estimates.linearised import kind
from tests.benchmarks import sampled, sampled_machines
from tests.benchmarks.__main__ import BENCHMARKS, END, START, listed, measured, written
from tests.benchmarks.growth import collections, stores, vectors
from tests.benchmarks.growth.drawing import figure
from tests.benchmarks.growth.lines import HEAD, markdown
from tests.benchmarks.pages import rows as page_rows
from tests.benchmarks.side_by_side import Row, quicker
from tests.benchmarks.simulations import gate, nights
from tests.evaluate.estimates.made import drawn

SCORE, SEARCH = (one for one in BENCHMARKS if one.name in ("score", "search"))


def row(work: str) -> Row:
    return Row(work, "under 1 s", "2 s", "peer 4 s", quicker(4, 2), met=False)


def test_new_rows_replace_those_of_the_same_benchmark_alone() -> None:
    both = written("before\n", {SCORE: [row("score")], SEARCH: [row("search")]}, small=False)
    assert both.count("2.0 times as quick") == 2
    again = written(both, {SEARCH: [row("search, again")]}, small=False)
    assert again.startswith("before\n" + START)
    assert again.endswith(END + "\n")
    assert [line.split(" | ")[0] for line in again.splitlines() if "MISSED" in line] == [
        "| score",
        "| search, again",
    ]
    # A benchmark that gave no row keeps the old ones.
    assert "search, again" in written(again, {SEARCH: []}, small=False)


def test_every_benchmark_is_listed_with_its_command() -> None:
    for one in BENCHMARKS:
        assert f"python -m tests.benchmarks.{one.name}" in listed()
        assert find_spec(f"tests.benchmarks.{one.name}")


def test_pages_are_told_by_the_slowest_and_those_over_the_bar() -> None:
    pages = [
        {"page": "holes", "new_p95_ms": 310.0, "cold_s": 1.2},
        {"page": "map", "new_p95_ms": 90.0, "cold_s": 1.0},
    ]
    warm, cold = page_rows.rows(pages, "4 runs")
    assert warm.ours == "90 ms to 310 ms (holes); over the bar: holes"
    assert (warm.met, cold.met) == (False, True)
    assert cold.ours == "1.00 s to 1.20 s (holes)"


@pytest.mark.long
def test_a_benchmark_gives_its_rows_to_the_table() -> None:
    (rows,) = measured([SCORE], small=True).values()
    assert [found.peer.split()[0] for found in rows] == ["pytrec_eval", "ir_measures"]
    assert all("values equal" in found.ratio for found in rows)


@pytest.mark.long
def test_tiny_growth_is_measured_told_and_drawn() -> None:
    lines = [
        *stores.scoring(stores.SMALL),
        *stores.publishing(stores.SMALL),
        *collections.comparing(collections.SMALL),
    ]
    assert [(line.cost, line.by) for line in lines] == [
        ("scoring a run", "queries"),
        ("scoring a run", "hits a query"),
        ("publishing a run", "queries"),
        ("overlap, comparing", "corpora"),
        ("overlap, comparing", "words"),
    ]
    assert len(markdown(lines).splitlines()) == 2 + len(lines)
    assert markdown(lines).startswith(f"| {' | '.join(HEAD)} |")
    drawn: Any = figure(lines)
    titles = [note.text for note in drawn.layout.annotations]
    assert titles[:3] == [
        "<b>scoring a run</b>",
        "<b>publishing a run</b>",
        "<b>overlap, comparing</b>",
    ]


@pytest.mark.long
def test_made_up_vectors_are_indexed_and_searched_by_stages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "TOPICS", 20)
    searcher = vectors.MadeUp(index_kind="ivf", nlist=4, pq=8, refine=300)
    told = [*vectors.measured(searcher, 300, 10, 100, tmp_path)]
    # All four clusters are searched, and all 300 documents are candidates.
    assert told == [
        "{'documents': 300}, candidate_recall@100 1.0000",
        "1,000 hits",
        "recall@10 1.0000",
        "recall@100 1.0000",
    ]
    stages = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert stages == ["storing", "merging", "training", "adding", "comparing", "searching"]


@pytest.mark.long
def test_sampled_judging_is_simulated_on_what_ships(capsys: pytest.CaptureFixture[str]) -> None:
    words = "--dataset pydocs-networkx --measure P@10 --repetitions 2 --half --part coverage stop"
    sampled.main(words.split())
    told = capsys.readouterr().out
    assert "pydocs-networkx, P@10, half official: coverage, 2 repetitions" in told
    assert "stopped at a half-width of 0.15" in told


def test_machines_with_known_faults_are_simulated(capsys: pytest.CaptureFixture[str]) -> None:
    frame, grades = drawn(30, 10, seed=3)
    nothing = np.zeros(frame.n, bool)
    world = sampled.World("made up, P@10", frame, grades, kind("P@10"), nothing)
    sampled_machines.machines(world, 3)
    of_people = {
        line.split(",", 1)[1].split("  ")[0].strip(): float(line.rstrip("%").split()[-1])
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("200,")
    }
    assert list(of_people) == ["people alone", *sampled_machines.MACHINES]
    assert of_people["always 1"] == of_people["people alone"] == 100 > of_people["wrong 10%"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("share", "n", "shown"),
    [(0.5, 100, True), (0.7, 150, True), (0.9, 150, False), (0.98, 100, False)],
)
def test_intervals_that_are_shown_hold_the_truth_whatever_share_is_relevant(
    share: float, n: int, shown: bool
) -> None:
    found, truth = sampled.made_up("P@10", share, n, repetitions=60)
    # At 90% some 15 pairs are not relevant, at 98% some 2: too few for an interval.
    assert {one.enough for one in found} == {shown}
    scores = [one.scores() for one in found]
    low, high = (np.array([one[end] for one in scores]) for end in ("low", "high"))
    held = ((low <= truth) & (truth <= high)).mean()
    # 180 intervals; those of the last case are not shown for this reason.
    assert held > 0.9 if share < 0.98 else held < 0.9


def test_a_gates_differences_have_the_mean_that_they_are_given() -> None:
    real = np.array([0.0] * 6 + [-0.5, -0.1, 0.2, 0.3])
    for way in (gate.shifted, gate.tilted):
        world = way("made", real, -0.01)
        assert world.chances @ world.values == pytest.approx(-0.01)
        # Both verdicts are wrong where the loss is the margin.
        for rate in gate.rates(world, 300, 500, np.random.default_rng(1)):
            assert rate < 0.06
        together = gate.several([world] * 3, 50, 20, np.random.default_rng(1))
        assert all(0 <= share <= 0.3 for share in together)
    gaps = np.random.default_rng(1).choice(real, 50)
    for interval in (gate.bootstrap_t, gate.percentile):
        low, high = interval(gaps, np.random.default_rng(1))
        assert low < gaps.mean() < high


def test_pairs_of_nights_have_the_differences_of_the_product() -> None:
    """Also by family; and a version that loses half of all values is worse than any before."""
    random = np.random.default_rng(4)
    values, codes, _ = nights.families(4, 40, random)
    later, earlier = np.array([1, 2, 3, 3]), np.array([0, 0, 1, 2])
    for of in (None, codes):
        found = nights.pairs(values, of, later, earlier)
        gaps = np.vstack([np.zeros(40), values[later] - values[earlier]])
        expected = baseline.differences([gaps], 0, of).iloc[1:]
        for name in ("difference", "error", "freedom"):
            assert found[name].to_numpy() == pytest.approx(expected[name].to_numpy()), name
    values, _, moved = nights.runs(6, 300, random)
    values[-1] -= 0.5
    best, by_mean = nights.told(values, None, moved)
    assert (best[-1], by_mean[-1]) == ("worse", "worse") and best[0] != "worse"
