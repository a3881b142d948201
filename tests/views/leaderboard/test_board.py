"""The leaderboard's arithmetic, on three datasets by hand and on the papers' tables."""

import math
from collections.abc import Collection
from typing import Any

import pytest
from pandas import DataFrame

from compute.datasets import published
from compute.datasets.catalogue import DATASETS
from compute.views.leaderboard import board as leaderboard
from compute.views.leaderboard import order_confidence
from compute.views.leaderboard.board import Board, board
from compute.views.leaderboard.cells import printed
from compute.views.leaderboard.heatmap import BELOW_BEST, heatmap

CATALOGUE = DataFrame([dataset.record() for dataset in DATASETS.values()]).rename(
    columns={"name": "dataset"}
)
NO_SYSTEMS = DataFrame({"system": [], "title": [], "family": []}, dtype=str)


def cells(*rows: tuple[str, str, float], in_domain: Collection[tuple[str, str]] = ()) -> DataFrame:
    frame = DataFrame(rows, columns=["dataset", "system", "value"])
    pairs = list(zip(frame["dataset"], frame["system"], strict=True))
    return frame.assign(in_domain=[pair in in_domain for pair in pairs], suspect=False, remark="")


def of(source: str, measure: str = "nDCG@10") -> Board:
    figures = published.results()
    rows = figures[(figures["source"] == source) & (figures["measure"] == measure)]
    return board(printed(rows), CATALOGUE, NO_SYSTEMS, measure)


def won(of_board: Board, baseline: str) -> dict[str, int]:
    table = leaderboard.tally(leaderboard.differences(of_board, baseline), of_board.sign)
    return dict(zip(table["system"], table["won"].astype(int), strict=True))


def averages(of_board: Board) -> dict[str, float]:
    return dict(zip(of_board.systems["system"], of_board.systems["average"], strict=True))


def test_v4_wins_over_bm25_of_18() -> None:
    v4 = of("BEIR v4, Table 2")
    assert len(v4.counted) == 18
    assert won(v4, "bm25-multifield") == {
        "bm25+ce-minilm": 16,
        "doct5query": 12,
        "colbert": 9,
        "tas-b": 8,
        "genq": 6,
        "ance": 4,
        "sparta": 2,
        "dpr": 1,
        "deepct": 0,
    }


def test_v4_tas_b_beats_ance_on_14_and_dpr_on_17() -> None:
    v4 = of("BEIR v4, Table 2")
    assert won(v4, "ance")["tas-b"] == 14
    assert won(v4, "dpr")["tas-b"] == 17


def test_v1_wins_over_bm25_of_17_and_bm25_is_best_on_4() -> None:
    v1 = of("BEIR v1, Table 2")
    assert len(v1.counted) == 17
    assert won(v1, "bm25-elasticsearch") == {
        "bm25+ce-electra": 11,
        "colbert": 11,
        "sparta": 3,
        "dpr": 1,
        "use-qa": 2,
        "ance": 7,
        "sbert-cosine": 6,
        "genq": 7,
    }
    best = v1.cells[v1.cells["best"]]
    assert (best["system"] == "bm25-elasticsearch").sum() == 4


def test_v1_prints_an_average_that_includes_msmarco() -> None:
    v1 = of("BEIR v1, Table 2")
    bm25 = v1.cells[v1.cells["system"] == "bm25-elasticsearch"]
    assert round(bm25["value"].mean(), 3) == 0.419
    assert round(averages(v1)["bm25-elasticsearch"], 3) == 0.431


def test_average_leaves_in_domain_cells_out_but_wins_count_them() -> None:
    table = cells(
        ("nq", "bm25", 0.3),
        ("nq", "dpr", 0.5),
        ("fiqa", "bm25", 0.4),
        ("fiqa", "dpr", 0.2),
        in_domain={("nq", "dpr")},
    )
    result = board(table, CATALOGUE, NO_SYSTEMS, "nDCG@10")
    assert result.averaged == ("fiqa",)
    assert averages(result) == {"bm25": 0.4, "dpr": 0.2}
    assert won(result, "bm25") == {"dpr": 1}
    best = result.cells[result.cells["best"]]
    assert set(zip(best["dataset"], best["system"], strict=True)) == {
        ("nq", "bm25"),
        ("fiqa", "bm25"),
    }


FOUR = ("scifact", "nfcorpus", "nq", "quora")


def full(**values: float) -> list[tuple[str, str, float]]:
    """The cells of systems that have one value on all of FOUR."""
    return [(dataset, system, value) for system, value in values.items() for dataset in FOUR]


def made(*rows: tuple[str, str, float], in_domain: Collection[tuple[str, str]] = ()) -> Board:
    return board(cells(*rows, in_domain=in_domain), CATALOGUE, NO_SYSTEMS, "nDCG@10")


@pytest.mark.parametrize(
    "partial",
    [
        [("scifact", "mine", 0.9)],
        [("scifact", "mine", 0.9), ("nfcorpus", "other", 0.9)],
        [("scifact", name, 0.9) for name in ("p", "q", "r", "s")],
        [("fiqa", "mine", 0.9)],
        [(name, "mine", 0.9) for name in FOUR[:3]],
        [("my own", "mine", 0.9), ("my other", "mine", 0.9)],
    ],
)
def test_runs_of_few_datasets_change_nobody_elses_average(partial: list) -> None:
    alone, beside = made(*full(a=0.5, b=0.4)), made(*full(a=0.5, b=0.4), *partial)
    assert set(alone.averaged) == set(beside.averaged) == set(FOUR)
    assert averages(alone).items() <= averages(beside).items()
    ranked = beside.systems.set_index("system")
    assert ranked["rank"].dropna().to_dict() == {"a": 1, "b": 2}
    assert ranked.index[ranked["best"]].tolist() == ["a"]
    assert beside.systems["system"].tolist()[:2] == ["a", "b"]


def test_a_run_of_many_other_datasets_decides_nothing_alone() -> None:
    many = [(f"mine {number}", "x", 0.9) for number in range(30)]
    every = board(
        cells(*full(a=0.5, b=0.4, x=0.3), *many),
        CATALOGUE.assign(zero_shot=False),
        NO_SYSTEMS,
        "nDCG@10",
    )
    assert set(every.averaged) == set(FOUR)
    assert averages(every) == pytest.approx({"a": 0.5, "b": 0.4, "x": 0.3})


def test_one_run_beside_a_fuller_one_takes_none_of_its_datasets() -> None:
    found = made(*full(a=0.5), ("scifact", "mine", 0.6))
    assert averages(found)["a"] == 0.5 and math.isnan(averages(found)["mine"])
    assert not found.systems["best"].any()


def test_two_systems_are_ranked_over_what_both_have() -> None:
    found = made(*full(a=0.5), *[(name, "b", 0.6) for name in FOUR[:3]])
    assert set(found.averaged) == set(FOUR[:3])
    assert found.systems["system"].tolist() == ["b", "a"]


def test_a_lone_zero_shot_run_leaves_the_average_of_own_datasets_alone() -> None:
    own = [(name, system, 0.5) for name in ("one", "two") for system in "abc"]
    assert made(*own, ("scifact", "mine", 0.9)).averaged == ("one", "two")


def test_who_was_trained_on_a_dataset_is_not_ranked_above_who_beats_it_elsewhere() -> None:
    values = {"a": (0.8, 0.8, 0.3, 0.3), "m": (0.75, 0.75, 0.35, 0.35)}
    rows = [
        (name, system, value)
        for system, pair in values.items()
        for name, value in zip(FOUR, pair, strict=True)
    ]
    found = made(*rows, in_domain={("nq", "m"), ("quora", "m")})
    assert averages(found) == pytest.approx({"a": 0.8, "m": 0.75})
    assert found.systems["best"].tolist() == [True, False]
    # The order with its intervals is about the same systems on the same datasets.
    ground = order_confidence.grounds(found)[order_confidence.ALL]
    assert (set(ground.datasets), ground.systems) == ({"scifact", "nfcorpus"}, ["a", "m"])


def test_the_order_is_about_the_systems_that_the_average_ranks() -> None:
    v4 = of("BEIR v4, Table 2")
    ground = order_confidence.grounds(v4)[order_confidence.ALL]
    assert ground.datasets == list(v4.averaged) and len(ground.datasets) == 18
    assert ground.systems == v4.systems.loc[v4.systems["rank"].notna(), "system"].tolist()
    assert "dpr" not in ground.systems and len(ground.systems) == 9


def test_each_in_domain_on_another_dataset_leaves_half_of_the_systems_to_rank() -> None:
    systems = ("a", "b", "c", "d")
    rows = [(dataset, system, 0.5) for dataset in FOUR for system in systems]
    found = made(*rows, in_domain=set(zip(FOUR, systems, strict=True)))
    assert len(found.averaged) == 2 and found.systems["rank"].notna().sum() == 2


def test_of_two_groups_that_share_nothing_none_is_averaged_at_the_other_s_cost() -> None:
    rows = [("scifact", "a", 0.5), ("scifact", "b", 0.4), ("fiqa", "c", 0.3), ("fiqa", "d", 0.2)]
    assert made(*rows).averaged == ()


def test_average_is_over_the_datasets_that_all_systems_have() -> None:
    table = cells(
        ("scifact", "a", 0.6), ("scifact", "b", 0.5), ("nfcorpus", "a", 0.1), ("fiqa", "b", 0.9)
    )
    result = board(table, CATALOGUE, NO_SYSTEMS, "nDCG@10")
    assert result.averaged == ("scifact",)
    assert averages(result) == {"a": 0.6, "b": 0.5}


def test_a_system_on_no_counted_dataset_takes_no_part_in_the_average() -> None:
    table = cells(("scifact", "a", 0.6), ("scifact", "b", 0.5), ("mine", "own", 0.99))
    result = board(table, CATALOGUE, NO_SYSTEMS, "nDCG@10")
    assert result.averaged == ("scifact",)
    assert list(result.systems["system"]) == ["a", "b", "own"]


def test_without_an_average_the_system_with_most_datasets_comes_first() -> None:
    table = cells(("scifact", "a", 0.2), ("fiqa", "a", 0.1), ("nfcorpus", "b", 0.9))
    result = board(table, CATALOGUE, NO_SYSTEMS, "nDCG@10")
    assert list(result.systems["system"]) == ["a", "b"]


def test_nothing_in_common_has_no_average() -> None:
    table = cells(("scifact", "a", 0.6), ("fiqa", "b", 0.9))
    result = board(table, CATALOGUE, NO_SYSTEMS, "nDCG@10")
    assert all(math.isnan(value) for value in averages(result).values())
    assert list(result.systems["system"]) == ["a", "b"]
    assert leaderboard.differences(result, "a").empty


def test_suspect_values_are_shown_but_never_used() -> None:
    table = cells(("scifact", "a", 0.6), ("scifact", "b", 0.9), ("nfcorpus", "a", 0.3))
    table.loc[1, "suspect"] = True
    result = board(table, CATALOGUE, NO_SYSTEMS, "nDCG@10")
    assert result.cells.set_index(["dataset", "system"])["value"]["scifact", "b"] == 0.9
    assert set(result.averaged) == {"scifact", "nfcorpus"}
    assert averages(result)["a"] == pytest.approx(0.45) and math.isnan(averages(result)["b"])
    assert won(result, "a") == {}
    assert result.cells.loc[result.cells["best"], "system"].tolist() == ["a", "a"]


def test_suspect_values_of_the_papers_are_in_no_average() -> None:
    polish = of("BEIR-PL, Table 4")
    suspect = polish.cells[polish.cells["suspect"]]
    assert suspect["dataset"].tolist() == ["arguana-pl"] and len(polish.averaged) == 12
    rows = polish.systems.set_index("system").loc[suspect["system"]]
    assert rows["n_averaged"].tolist() == [11] and rows["rank"].isna().all()


def test_msmarco_dev_and_test_are_two_rows_and_have_no_best() -> None:
    table = cells(("msmarco", "bm25", 0.2), ("msmarco/test", "bm25", 0.5), ("nq", "bm25", 0.3))
    result = board(table, CATALOGUE, NO_SYSTEMS, "nDCG@10")
    assert list(result.datasets["dataset"]) == ["nq", "msmarco", "msmarco/test"]
    assert result.cells.loc[result.cells["best"], "dataset"].tolist() == ["nq"]


def test_rows_stand_by_task_with_the_training_set_last() -> None:
    v4 = of("BEIR v4, Table 2")
    assert list(v4.datasets["dataset"])[:4] == ["trec-covid", "nfcorpus", "bioasq", "nq"]
    assert v4.datasets["dataset"].iloc[-1] == "msmarco"
    tasks = v4.datasets["task"]
    assert (tasks != tasks.shift()).sum() == tasks.nunique()


def test_systems_stand_by_average() -> None:
    v4 = of("BEIR v4, Table 2")
    assert list(v4.systems["system"])[:3] == ["bm25+ce-minilm", "doct5query", "colbert"]
    assert v4.systems["system"].iloc[-1] == "dpr" and round(averages(v4)["dpr"], 3) == 0.223
    assert v4.systems["best"].tolist() == [True] + [False] * 9


def test_of_holes_the_fewest_are_best() -> None:
    table = cells(("scifact", "a", 0.2), ("scifact", "b", 0.4), ("nfcorpus", "a", 0.0))
    result = board(table, CATALOGUE, NO_SYSTEMS, "Hole@10")
    assert result.cells.loc[result.cells["best"], "value"].tolist() == [0.2, 0.0]
    assert list(result.systems["system"]) == ["a", "b"]
    assert leaderboard.below_best(result).tolist() == [1.0, 0.5, 1.0]
    assert won(result, "b") == {"a": 1}


def test_below_best_is_the_share_of_the_rows_best() -> None:
    table = cells(("scifact", "a", 0.2), ("scifact", "b", 0.4), ("fiqa", "a", 0.0))
    result = board(table, CATALOGUE, NO_SYSTEMS, "nDCG@10")
    assert leaderboard.below_best(result).tolist() == [0.5, 1.0, 1.0]


def test_equal_values_are_neither_won_nor_lost() -> None:
    table = cells(("scifact", "a", 0.4), ("scifact", "b", 0.4))
    result = board(table, CATALOGUE, NO_SYSTEMS, "nDCG@10")
    counts = leaderboard.tally(leaderboard.differences(result, "a"), 1)
    assert counts[["won", "lost", "equal"]].iloc[0].tolist() == [0, 0, 1]
    assert result.cells["best"].all() and (result.cells["rank"] == 1).all()


def test_forums_are_left_out_where_the_whole_stands() -> None:
    whole = cells(("cqadupstack", "a", 0.3), ("cqadupstack/android", "a", 0.4))
    assert board(whole, CATALOGUE, NO_SYSTEMS, "nDCG@10").datasets["dataset"].tolist() == [
        "cqadupstack"
    ]
    forums = of("BEIR-PL, Table 5")
    assert len(forums.datasets) == 12 and len(forums.counted) == 12


def test_other_splits_are_not_taken_for_parts() -> None:
    table = cells(("nfcorpus", "a", 0.3), ("nfcorpus/train", "a", 0.4))
    result = board(table, CATALOGUE, NO_SYSTEMS, "nDCG@10")
    assert len(result.datasets) == 2 and result.counted == ("nfcorpus",)


def test_what_the_catalogue_does_not_know_is_shown_by_its_name() -> None:
    result = board(cells(("mine", "w/o weight", 0.4)), CATALOGUE, NO_SYSTEMS, "nDCG@10")
    assert result.datasets["title"].tolist() == ["mine"]
    assert result.systems[["title", "family"]].values.tolist() == [["w/o weight", "imported"]]
    assert result.counted == ("mine",)


def test_brackets_leave_a_title_only_where_it_stays_clear() -> None:
    systems = DataFrame(
        {
            "system": ["a", "b", "c"],
            "title": ["BM25 (Anserini)", "BM25 (Pyserini)", "BM25+CE (MiniLM)"],
        }
    )
    assert leaderboard.short_titles(systems) == {
        "a": "BM25 (Anserini)",
        "b": "BM25 (Pyserini)",
        "c": "BM25+CE",
    }


def test_an_average_over_fewer_datasets_says_so() -> None:
    words = " ".join(leaderboard.caption(of("BEIR v4, Table 2"), "BEIR v4, Table 2"))
    assert "Average over 18 datasets (9 of 10 systems are ranked)" in words
    assert "are not ranked: dpr over 17." in words
    few = " ".join(leaderboard.caption(of("BEIR v4, Table 2"), "BEIR v4", ["ance"]))
    above = "1 of 10 systems shown; bold, colours and ranks compare all 10."
    assert leaderboard.hidden(of("BEIR v4, Table 2"), ["ance"]) == above
    assert "dpr over" not in few


def test_a_caption_names_few_and_counts_the_rest() -> None:
    many = [(name, f"p{number}", 0.1) for number in range(9) for name in FOUR[:2]]
    whole = full(**{f"a{number}": 0.5 for number in range(20)})
    words = " ".join(leaderboard.caption(made(*whole, *many), "Computed"))
    assert "p5 over 2 and 3 more systems." in words


def test_an_average_over_fewer_is_italic_without_a_fill_and_says_so() -> None:
    few = [(name, "mine", 0.9) for name in FOUR[:2]]
    found = made(*full(a=0.5, b=0.4), *few)
    figure: Any = heatmap(found, colour_by=BELOW_BEST, baseline="mine", theme="light")
    assert figure.data[0].z[0][2] is None
    texts = [text for trace in figure.select_traces({"mode": "text"}) for text in trace.text]
    assert "<i>.900</i>" in texts and "<b>.900</b>" in texts and "<b>.500</b>" in texts
    overlay = figure.data[-1]
    hover = dict(zip(map(tuple, overlay.customdata), overlay.hovertext, strict=True))
    assert (
        "over only 2 of the 4" in hover["", "mine"]
        and "rank" not in hover["", "mine"].split("<br>")[1]
    )
    assert "rank 1 of 2" in hover["", "a"] and "against" not in hover["", "a"]
