"""What the Holes page reads, on a tiny store with values worked by hand."""

import math
from pathlib import Path
from typing import Any

import pytest
from pandas.testing import assert_frame_equal

from compute.intake import imports
from compute.views.annotate import select_added
from compute.views.holes import select as holes_select
from compute.views.holes import select_unjudged
from compute.views.leaderboard import select as leaderboard_select
from compute.views.shared.held_lists import held
from tests.support import filled
from tests.support.holes import (
    ASKED,
    BEST_OF_Q1,
    BEST_OF_Q2,
    EVIL,
    RUNS,
    SECOND,
    by_system,
    cursor,
    fill,
    judge,
)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home where 50 judgements were added: one hole relevant, the others never retrieved."""
    home = fill(tmp_path_factory.mktemp("judged"))
    judge(home, ("q1", "d6", 1), *(("q1", f"never {n}", 0) for n in range(49)))
    return home


def test_what_is_recorded_by_whom(judged: Path) -> None:
    counts = ["n_judgements", "highest", "n_not_relevant", "n_added", "n_added_not_relevant"]
    with cursor(judged, added=False) as official, cursor(judged, added=True) as both:
        assert holes_select.recorded(official, "tiny")[counts].values.tolist() == [[5, 2, 0, 0, 0]]
        assert holes_select.recorded(both, "tiny")[counts].values.tolist() == [[55, 2, 0, 50, 49]]
        assert select_added.number(official, "tiny")["n_rows"].tolist() == [50]
        assert select_added.number(official, "other")["n_rows"].tolist() == [0]


def test_ranges_right_after_a_judgement_are_those_of_official_and_added(judged: Path) -> None:
    with cursor(judged, added=True) as both:
        expected = holes_select.bounds(both, **ASKED)
    with cursor(judged, added=False) as official:
        before = holes_select.bounds(official, **ASKED)
        found = holes_select.ranges(official, **ASKED, rule="majority", sources=["person"])
        again = holes_select.bounds(official, **ASKED)
    ends = ["system", "value", "low", "high", "pool_low", "pool_high", "n_holes"]
    assert_frame_equal(found[ends], expected[ends])
    assert_frame_equal(before, again)
    assert not before["high"].equals(expected["high"])


def test_bounds_are_means_over_the_queries(judged: Path) -> None:
    with cursor(judged, added=False) as official:
        found = holes_select.bounds(official, **ASKED)
    assert found["system"].tolist() == list(RUNS)
    assert not {"expected", "condensed"} & set(found), "relevant documents alone tell no rates"
    sure, evil = found.to_dict("records")
    assert sure["n_queries"] == evil["n_queries"] == 3
    # q1: d1 (2), a hole; q2: d3 of two relevant; q3: d6.
    assert sure["value"] == pytest.approx((2 / BEST_OF_Q1 + 1 / BEST_OF_Q2 + 1) / 3)
    better = (2 + 2 * SECOND) / (2 + 2 * SECOND + 1 / 2)
    assert sure["high"] == pytest.approx((better + 1 / BEST_OF_Q2 + 1) / 3)
    assert sure["low"] == pytest.approx((2 / BEST_OF_Q1 + 1 / BEST_OF_Q2 + 1) / 3)
    assert (sure["n_holes"], sure["hole"], sure["hole_beir"]) == (1, pytest.approx(0.5 / 3), 0)
    # q3 is not answered: Hole@10 is over two queries; d4 is judged for no query at all.
    assert (evil["n_holes"], evil["hole"], evil["hole_beir"]) == (1, 0.25, 0.05)


@pytest.mark.long
def test_a_score_in_the_interval_is_the_stored_one(judged: Path) -> None:
    for added in (False, True):
        with cursor(judged, added=added) as one:
            means = leaderboard_select.means(one, "nDCG@10").set_index("system")["value"]
            found = holes_select.bounds(one, **ASKED).set_index("system")
        assert found["value"].to_dict() == pytest.approx(means.to_dict())
        for column, measure in (("hole", "Hole@10"), ("hole_beir", "Hole_beir@10")):
            with cursor(judged, added=added) as one:
                means = leaderboard_select.means(one, measure).set_index("system")["value"]
            assert found[column].to_dict() == pytest.approx(means.to_dict())
        assert (found["low"] <= found["value"]).all() and (found["value"] <= found["high"]).all()


def test_enough_added_judgements_tell_rates_by_themselves(judged: Path) -> None:
    with cursor(judged, added=True) as both:
        found = by_system(holes_select.bounds(both, **ASKED))
    # Of what was added d6 at rank 2 alone was retrieved, gain 1: the rate of every rank.
    ideal = 2 + SECOND + 1 / 2 + 1 / math.log2(5)
    q1 = (1 + 2 * SECOND) / ideal
    assert found[EVIL]["expected"] == pytest.approx((q1 + 1 / BEST_OF_Q2 + 0) / 3)
    assert found["sure"]["expected"] == pytest.approx(found["sure"]["value"])
    # Without its hole d4 the document d1 moves up.
    closed = 2 / (2 + SECOND + 1 / 2)
    assert found[EVIL]["condensed"] == pytest.approx((closed + 1 / BEST_OF_Q2 + 0) / 3)


def test_deeper_than_the_extract(judged: Path) -> None:
    deep: dict[str, Any] = ASKED | {"measure": "nDCG@20"}
    with cursor(judged, added=False) as one:
        assert (
            holes_select.bounds(one, **deep)
            .drop(columns="hole_beir")
            .equals(holes_select.bounds(one, **ASKED).drop(columns="hole_beir"))
        )
        ranks = holes_select.by_rank(one, "tiny", ["sure"], 20)
    assert ranks["n_filled"].tolist() == [3, 1] + [0] * 18
    assert ranks["n_holes"].tolist() == [0, 1] + [0] * 18


def test_what_is_unjudged_in_the_pool_and_in_the_collection(judged: Path) -> None:
    with cursor(judged, added=False) as official, cursor(judged, added=True) as both:
        (about,) = select_unjudged.ranges(official, "tiny").to_dict("records")
        assert (list(about["systems"]), about["most_depth"]) == ([EVIL, "sure"], 1000)
        assert (about["n_hits"], about["n_documents"]) == (7, 6)
        for measure in ("nDCG@10", "R@10"):
            lists = held(official, "tiny", ["sure"], 10)
            found = select_unjudged.outside(official, "tiny", lists, measure)
            # Of d1, d4 and d6 only d1 is judged for q1; the others judge what they found.
            assert found["pool"].tolist() == [2, 0, 0]
            assert found["collection"].tolist() == [4, 4, 5]
            lists = held(both, "tiny", ["sure"], 10)
            found = select_unjudged.outside(both, "tiny", lists, measure)
            # d6 was added; the 49 others that were are no documents of the collection.
            assert found["pool"].tolist() == [1, 0, 0]
            assert found["collection"].tolist() == [3, 4, 5]


def test_a_pool_is_left_out_where_too_many_hits_would_be_told_apart(judged: Path) -> None:
    ratio: dict[str, Any] = ASKED | {"measure": "AP@10"}
    precision: dict[str, Any] = ASKED | {"measure": "P@10"}
    with cursor(judged, added=False) as one:
        found = holes_select.bounds(one, **ratio, most_hits=6)
        assert "pool_low" not in found and "collection_low" in found
        assert "pool_low" in holes_select.bounds(one, **ratio, most_hits=7)
        # The ranges of precision are the same: nothing is told apart for them.
        same = holes_select.bounds(one, **precision, most_hits=0)
        assert same["low"].tolist() == same["pool_low"].tolist() == same["collection_low"].tolist()


def test_a_long_list_tells_by_itself_that_the_pool_has_enough(tmp_path: Path) -> None:
    bench = filled.bench(tmp_path)
    (tmp_path / "q.tsv").write_text("q1 0 d1 1\nq2 0 d1 1\n", "utf-8")
    mine = imports.import_dataset(bench, "mine", qrels=tmp_path / "q.tsv").dataset
    for name, n in (("long", 9), ("short", 2)):
        lines = [f"q1 Q0 d{rank} {rank} {99 - rank} t\n" for rank in range(1, n + 1)]
        filled.add(bench, mine, {name: "".join(lines) + "q2 Q0 x 1 1.0 t\n"})
    with cursor(bench.settings.home, added=False) as one:
        lists = held(one, "mine", ["short"], 2)
        for measure in ("nDCG@2", "R@2"):
            found = select_unjudged.outside(one, "mine", lists, measure)
            assert found["pool"].tolist() == [8, 1]
            assert found["collection"].min() > 10**9, "nobody knows how large it is"


def test_pairs_of_the_chosen_systems(judged: Path) -> None:
    with cursor(judged, added=False) as one:
        found = holes_select.pairs(one, **ASKED)
        assert holes_select.pairs(one, "tiny", ["sure"], "nDCG@10").empty
    (row,) = found.to_dict("records")
    assert (row["first"], row["second"], row["verdict"]) == ("sure", EVIL, "first")


def test_a_judgement_takes_the_hole_away(judged: Path) -> None:
    with cursor(judged, added=True) as both:
        assert by_system(holes_select.bounds(both, **ASKED))["sure"]["hole"] == 0
