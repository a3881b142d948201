"""Values that differ by rounding alone are equal wherever values of measures are compared."""

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from pandas import DataFrame

from compute.evaluate import pools, rank_intervals, significance
from compute.exports.tables import places
from compute.views.compare import differences
from compute.views.data.select import scores_shown
from compute.views.dataset import query_outcomes
from compute.views.dataset import select as dataset_select
from compute.views.dataset import select_systems as asked
from compute.views.dataset import systems as standing_figures
from compute.views.dataset import tables as dataset_figures
from compute.views.efficiency import pareto
from compute.views.holes import intervals as holes_figures
from compute.views.leaderboard import board as leaderboard
from compute.views.leaderboard import rank_correlation
from compute.views.leaderboard.heatmap import BELOW_BEST, heatmap
from compute.views.leaderboard.wins import strip
from compute.views.shared import standings

NEARLY = 0.1 + 0.2
"""0.3 but for 5e-17."""
FEWER = 0.3 - 1e-6
DATASETS = DataFrame(
    {"dataset": ["scifact", "nfcorpus"], "title": ["S", "N"], "task": "t", "domain": "d"}
).assign(group="BEIR", collection=["scifact", "nfcorpus"], zero_shot=True)


def board(measure: str = "nDCG@10", **values: tuple[float, float]) -> leaderboard.Board:
    cells = DataFrame(
        [
            (name, system, value, False, False, "")
            for system, pair in values.items()
            for name, value in zip(DATASETS["dataset"], pair, strict=True)
        ],
        columns=["dataset", "system", "value", "in_domain", "suspect", "remark"],
    )
    systems = DataFrame({"system": list(values), "title": list(values), "family": "lexical"})
    return leaderboard.board(cells, DATASETS, systems, measure)


def scored(*rows: tuple[str, str, float]) -> duckdb.DuckDBPyConnection:
    """A database of nDCG@10 by (query_id, system, value), on one dataset."""
    database = duckdb.connect(config={"threads": 4})
    frame = DataFrame(rows, columns=["query_id", "system", "value"])
    frame = frame.astype({"query_id": str, "system": str, "value": float})
    database.register("given", frame.assign(dataset="d", measure="nDCG@10"))
    database.execute("create table scores as select * from given")
    parts = "'' as kind, '' as dataset, '' as system, '{}' as provenance"
    database.execute(f"create table parts as select {parts} where false")
    for table in ("judgements", "queries"):
        columns = "'d' as dataset, '' as query_id, 1 as relevance, '' as text, 1 as n_words"
        database.execute(f"create table {table} as select {columns} where false")
    database.execute(
        "create table datasets as select 'd' as name, 'D' as title, []::varchar[] as parts"
    )
    return database


def test_systems_of_a_board_that_are_equal_share_rank_and_best() -> None:
    found = board(b=(0.3, 0.5), a=(NEARLY, 0.5), low=(FEWER, 0.5))
    first = found.cells[found.cells["dataset"] == "scifact"].set_index("system")
    assert first["rank"].to_dict() == {"b": 1, "a": 1, "low": 3}
    assert first["best"].to_dict() == {"b": True, "a": True, "low": False}
    assert found.systems["best"].tolist() == [True, True, False]
    # Of equal ones the name decides, not who is larger by rounding.
    assert found.systems["system"].tolist() == ["a", "b", "low"]


def test_what_rounding_adds_is_neither_won_nor_lost_and_is_drawn_as_equal() -> None:
    found = board(base=(0.3, 0.5), other=(NEARLY, 0.5))
    counts = leaderboard.tally(leaderboard.differences(found, "base"), found.sign)
    assert counts[["won", "lost", "equal"]].iloc[0].tolist() == [0, 0, 2]
    drawn: Any = strip(found, "base", "light")
    wins, losses, level = (trace["x"] for trace in drawn.data[:3])
    assert (len(wins), len(losses), len(level)) == (0, 0, 2)


def test_every_best_cell_has_the_full_colour() -> None:
    found = board(a=(0.3, 0.5), b=(NEARLY, 0.4))
    shares = leaderboard.below_best(found)[found.cells["dataset"] == "scifact"]
    assert shares.tolist() == [1.0, 1.0]
    level = board(a=(0.3, 0.5), b=(NEARLY, 0.5))
    figure: Any = heatmap(level, colour_by=BELOW_BEST, baseline=None, theme="light")
    assert [trace.z[0] for trace in figure.data if trace.type == "heatmap"] == [[1, 1]] * 3


def test_two_boards_with_one_order_agree_but_for_rounding() -> None:
    assert rank_correlation.tau([0.3, NEARLY, 0.5], [0.1, 0.1, 0.2]) == pytest.approx(1)
    assert rank_correlation.tau_ap([0.3, NEARLY, 0.5], [0.1, 0.1, 0.2]) == pytest.approx(
        rank_correlation.tau_ap([1, 1, 2], [1, 1, 2])
    )
    frame = DataFrame({"dataset": "d", "system": ["a", "b", "c"], "value": [0.3, NEARLY, 0.1]})
    frame = frame.assign(in_domain=False, suspect=False)
    rows = rank_correlation.side_by_side(frame, frame, (1, 1)).set_index("system")
    assert rows["left_rank"].to_dict() == rows["right_rank"].to_dict() == {"a": 1, "b": 1, "c": 3}


def test_the_order_with_intervals_gives_equal_systems_one_rank() -> None:
    found = rank_intervals.of_means([[0.3], [NEARLY], [FEWER]])
    assert found.systems["rank"].tolist() == [1, 1, 3]
    assert found.systems["row"].tolist() == [0, 1, 2]
    # Differences below the tolerance are none, however surely they come again.
    values = np.tile([[0.3], [NEARLY]], 8)
    pair = significance.Aligned(
        ("a", "b"), DataFrame({"dataset": "d", "query_id": list("12345678")}), values, None, 0
    )
    two = rank_intervals.of_scores([pair, pair])
    assert not two.better.any() and two.systems["first"].tolist() == [0.5, 0.5]


def test_a_pair_that_differs_by_rounding_on_every_query_is_equal() -> None:
    a, noise = np.linspace(0, 1, 20), np.resize([3e-12, -4e-11, 2e-10], 20)
    found = significance.two(a, a + noise)
    assert (found.won, found.lost, found.equal) == (0, 0, 20)
    assert (found.difference, found.p_randomisation, found.p_t) == (0, 1, 1)
    assert found.p_wilcoxon == 1


def test_the_winner_of_a_query_is_the_first_by_name_of_those_that_equal_the_best() -> None:
    database = scored(
        *[("q", system, value) for system, value in zip("cba", (NEARLY, 0.3, 0.3), strict=True)],
        *[("r", system, value) for system, value in zip("cba", (0.1, NEARLY, 0.3), strict=True)],
    )
    rows: Any = asked.queries(database, ["d"], "nDCG@10").set_index("query_id")
    assert rows.loc["q", ["winner", "loser", "n_best"]].tolist() == ["a", "c", 3]
    assert rows.loc["r", ["winner", "loser", "n_best"]].tolist() == ["a", "c", 2]
    assert not query_outcomes.kind(rows.reset_index())["alone"].any()


def test_winners_are_the_same_on_every_run() -> None:
    database = scored()
    database.execute(
        "insert into scores select i::varchar, 'sys' || s, (i % 3) / 2.0, 'd', 'nDCG@10'"
        " from range(7000) q(i), range(20) t(s)"
    )
    found = {tuple(asked.queries(database, ["d"], "nDCG@10")["winner"]) for _ in range(6)}
    assert len(found) == 1 and set(found.pop()) == {"sys0"}


def test_ties_are_said_beside_the_best_system() -> None:
    rows = DataFrame(
        [("one", 0.9, 0.5, 1, "a"), ("two", 0.9, 0.5, 2, "a"), ("all", 0.9, NEARLY, 3, "a")],
        columns=["query_id", "best", "middle", "n_best", "winner"],
    )
    rows = rows.assign(dataset="d", text=None, n_relevant=1, worst=0.1, n_systems=3)
    rows.loc[2, "best"] = 0.3
    records = rows.to_dict("records")
    assert [standing_figures.best_system(row, {"a": "A"}) for row in records] == [
        "A",
        "A and 1 more",
        "A and 2 more; the median equals the best",
    ]


def test_queries_above_and_below_a_baseline_are_counted_within_the_tolerance() -> None:
    database = scored(("q", "a", 0.3), ("q", "b", NEARLY), ("r", "a", 0.3), ("r", "b", FEWER))
    moved: Any = asked.moved(database, ["d"], "nDCG@10", "a").set_index("system")
    assert moved.loc["b"].tolist() == [0, 1, 1]
    across = differences.summary(np.array([[0.3, 0.3], [NEARLY, FEWER]]))
    assert [across[name] for name in ("a_more", "b_more", "equal")] == [1, 0, 1]


def test_what_is_1_but_for_rounding_is_at_1() -> None:
    database = scored(("q", "a", 1 - 1e-16), ("r", "a", 1e-17), ("s", "a", 0.5))
    spread = dataset_select.spread(database, ["d"], "nDCG@10").iloc[0]
    assert (spread["at_0"], spread["at_1"]) == (1, 1)
    steps = dataset_select.histogram(database, ["d"], "nDCG@10", 10)
    assert steps["n_queries"].tolist() == [1]


def test_equal_systems_stand_by_name_not_by_what_rounding_adds() -> None:
    database = scored(("q", "b", NEARLY), ("q", "a", 0.3), ("q", "c", 0.9))
    assert dataset_select.spread(database, ["d"], "nDCG@10")["system"].tolist() == ["c", "a", "b"]
    rows = standings.standing(scored_with_holes(database), ["d"], "nDCG@10")
    assert standings.ranked(rows, "nDCG@10")["system"].tolist() == ["c", "a", "b"]


def scored_with_holes(database: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    columns = "'d' as dataset, 'a' as system, 'Hole@10' as measure, 0.5 as value"
    database.execute(f"create table means as select {columns}")
    database.execute(f"create table run_scores as select 1 as run, {columns} limit 0")
    return database


def test_scores_are_shown_the_best_first_also_where_that_is_the_fewest_holes() -> None:
    database = duckdb.connect()
    rows = [("nDCG@10", "b", NEARLY), ("nDCG@10", "a", 0.3), ("nDCG@10", "c", 0.9)]
    rows += [("Hole@10", "b", 0.5), ("Hole@10", "a", 0.1)]
    means = DataFrame(rows, columns=["measure", "system", "value"])
    means = means.assign(dataset="d", n_queries=1, n_unanswered=0, value_returned=means["value"])
    database.register("means", means)
    found = scores_shown(database)
    # By the names of measures: Hole@10, nDCG@10.
    assert found["system"].tolist() == ["a", "b", "c", "a", "b"]


def test_no_interval_is_sure_of_a_difference_that_rounding_makes() -> None:
    rows = DataFrame([("d", 4, NEARLY, 0.3, 0.0, 0, 0, 4)])
    rows.columns = ["dataset", "n", "mean_a", "mean_b", "spread", "a_more", "b_more", "equal"]
    named = DataFrame({"dataset": ["d"], "title": ["D"], "parts": [[]]})
    found = differences.across(rows, named, "nDCG@10")
    assert not differences.sure(found).any()
    assert differences.ahead(found, "nDCG@10").tolist() == [False]


def test_queries_that_differ_equally_stand_by_the_other_order() -> None:
    both = DataFrame({"dataset": "d", "query_id": ["x", "y"], "difference": [0.3, -NEARLY]})
    alike = DataFrame({"dataset": "d", "query_id": ["x", "y"], "rbo": [0.1, 0.9]})
    rows = differences.most_different(both, alike, differences.BY_MEASURE, 2)
    assert rows["query_id"].tolist() == ["x", "y"]


def test_bold_and_underlined_are_of_values_not_of_the_digits_shown() -> None:
    assert places([0.3, NEARLY, FEWER]) == [1, 1, 2]
    assert places([0.4764, 0.4761, 0.4]) == [1, 2, 0]
    means = DataFrame({"system": ["a", "b", "c"], "title": ["a", "b", "c"], "measure": "nDCG@10"})
    means = means.assign(value=[0.3, NEARLY, FEWER], n_unanswered=0)
    table = dataset_figures.measure_table(means, ["nDCG@10"])
    assert dataset_figures.best(table, ["nDCG@10"])["nDCG@10"].tolist() == [True, True, False]


def test_before_and_after_give_equal_scores_one_rank_and_turn_no_order() -> None:
    before = DataFrame({"system": ["a", "b"], "title": ["a", "b"], "hole": 0.1})
    before, after = before.assign(value=[0.3, 0.2]), before.assign(value=[0.3, NEARLY])
    ranked: Any = holes_figures.before_and_after(before, after, "nDCG@10")
    assert ranked.shown["after  "].tolist() == [1, 1]
    assert "same before and after" in holes_figures.order_note(before, after)


def test_the_place_among_all_systems_is_shared_by_equals() -> None:
    assert pools.place(np.array([0.3, NEARLY, 0.1]), 0) == 1


def test_a_dearer_system_that_is_better_by_rounding_is_not_on_the_front() -> None:
    on = pareto.front(pd.Series([1.0, 2.0]), pd.Series([0.3, NEARLY]), 1)
    assert on.tolist() == [True, False]
