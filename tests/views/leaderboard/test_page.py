"""The Leaderboard's order, its table, and the boards beside it, as records."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from compute.base.errors import Missing
from compute.base.settings import Settings
from compute.exports import tables
from compute.store.store import Store
from compute.views.leaderboard.page import page
from compute.views.page import Ask, Button, Choice, Figure, Link, Many, Table, parts
from compute.views.page.store_ask import opened
from compute.views.page.walk import Walk, control, find
from tests.support.filled import HOSTILE
from tests.views import records
from tests.views.leaderboard import boards
from tests.views.records import Shown

OWN = {"numbers": "Computed", "group": "own"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two collections of judgements alone, three systems on each; on one a hole was judged."""
    return boards.judged(tmp_path_factory.mktemp("boards") / "home")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """A store without anything."""
    folder = tmp_path_factory.mktemp("bare")
    with opened(Store(Settings(home=folder / "home", threads=1), folder / "none")) as ask:
        yield ask


@pytest.fixture
def at(home: Path) -> Callable[..., Shown]:
    """What the page shows at an address of that home."""
    return lambda **address: records.shown(page, home, **address)


def options(ask: Ask, key: str, **address: Any) -> list[str]:
    walk = Walk(address)
    for _ in walk.run(lambda: page(ask), []):
        pass
    return list(cast(Choice | Many, walk.controls[key]).options)


def means(shown: Shown) -> dict[str, float]:
    trace = shown.figure("order")["data"][0]
    return dict(zip(trace["customdata"], trace["x"], strict=True))


def datasets_of(shown: Shown) -> set[str]:
    """Those with a row in the heatmap."""
    (marks,) = [one for one in shown.figure("cells")["data"] if "customdata" in one]
    return {dataset for dataset, _ in marks["customdata"] if dataset}


def texts(figure: dict[str, Any]) -> list[str]:
    return [note["text"] for note in figure["layout"]["annotations"]]


@pytest.mark.long
def test_alike_systems_share_a_bar_and_a_worse_one_does_not(at: Callable[..., Shown]) -> None:
    shown = at(**OWN)
    order = shown.figure("order")
    systems = order["data"][0]["customdata"]
    assert set(systems[:2]) == {"good", "alike"} and systems[2] == HOSTILE
    bars = [trace["y"] for trace in order["data"] if trace.get("xaxis") == "x2"]
    assert bars == [[0, 1]]
    assert texts(order).count("1–2") == 2 and "3" in texts(order)
    assert "the 2 datasets that all systems cover, 80 judged queries" in shown.words
    assert order["layout"]["yaxis"]["ticktext"][2].startswith("&lt;b&gt;*mine*")


@pytest.mark.long
@pytest.mark.usefixtures("shipped_results")
def test_an_import_changes_nothing_at_first_sight(home: Path, at: Callable[..., Shown]) -> None:
    shown = at()
    assert not {"one", "two"} & datasets_of(shown) and "BEIR v4, Table 2" in shown.words
    own = Link(names={"numbers": "Computed", "group": "own"})
    assert Button("Show the scores of your own runs", own, icon="person") in shown.parts
    assert {"one", "two"} < datasets_of(at(numbers="Computed"))
    assert datasets_of(at(**OWN)) == {"one", "two"}


@pytest.mark.long
def test_the_order_of_one_dataset_opens_from_the_address(at: Callable[..., Shown]) -> None:
    shown = at(**OWN, over="two")
    assert "Mean over two, 40 judged queries." in shown.words
    assert means(shown) != means(at(**OWN))


@pytest.mark.long
@pytest.mark.usefixtures("shipped_results")
def test_added_judgements_move_the_order_and_stand_beside_the_official_ones(
    home: Path, at: Callable[..., Shown]
) -> None:
    official, added = at(**OWN, over="one"), at(**OWN, over="one", added=True)
    assert means(added)["good"] < means(official)["good"]
    assert means(added)[HOSTILE] > means(official)[HOSTILE]
    # Values moved, and no rank did: a figure would be all grey.
    for shown in (official, added):
        assert "All systems have the same rank on both leaderboards. Kendall's τ" in shown.words
        assert "over 3 systems, on one." in shown.words and "bump" not in shown.keys
    assert "which the papers did not have" in at(numbers="Computed", group="", added=True).words
    assert "which the papers did not have" not in official.words
    with records.asked(home) as ask:
        assert options(ask, "beside", **OWN, over="one")[0] == "Official + added judgements"
        # Where nobody judged, both boards are the same.
        assert "Official + added judgements" not in options(ask, "beside", **OWN, over="two")
    with records.asked(home, added=True) as ask:
        assert options(ask, "beside", **OWN, over="one")[0] == "Official judgements"


def test_the_table_has_every_system_with_interval_rank_and_group(at: Callable[..., Shown]) -> None:
    shown = at(**OWN, view="Table")
    board = shown.table("board")
    heads = ["System", "Mean", "95% CI", "Rank", "P(rank 1)", "Significance group", "Hole@10"]
    assert list(board.shown) == [*heads, "# datasets", "one", "two"]
    assert [one.head for one in board.columns[:4]] == ["System", "Mean", "Interval", "95% CI"]
    pictures = cast(Any, board.columns[2].drawn)("light")
    assert all(one.startswith("data:image/svg+xml,") for one in pictures)
    # Of ten documents one is judged.
    assert board.shown["Hole@10"].tolist() == pytest.approx([0.9] * 3)
    assert board.shown["# datasets"].tolist() == [2, 2, 2]
    assert board.shown["Rank"].tolist() == ["1–2", "1–2", "3"]
    assert board.shown["Significance group"].tolist() == ["a", "a", "b"]
    both = (board.shown["one"] + board.shown["two"]) / 2
    assert board.shown["Mean"].tolist() == pytest.approx(both.tolist())
    assert "cells" not in shown.keys


def test_a_click_opens_the_run_by_the_same_measure(home: Path) -> None:
    run = Link(
        "dataset",
        {"dataset": "one", "system": "good", "measure": "nDCG@10"},
        keeps=("dataset", "system"),
    )
    with records.asked(home) as ask:
        table = cast(Table, find(page, ask, "board", view="Table", **OWN).part)
        opens = cast(Callable[..., Link | None], table.opens)
        assert opens("good", "one") == run and opens("good", "Mean") is None
        cells = cast(Callable[..., Link | None], find(page, ask, "cells", **OWN).part.opens)
        assert cells("one", "good") == run and cells("", "good") is None
        # The papers' names of Polish sets, and a measure that no run is scored by.
        printed = {"table": "BEIR-PL, Table 4", "measure": "nDCG@10", "numbers": "Published"}
        polish = cast(Callable[..., Link | None], find(page, ask, "cells", **printed).part.opens)
        found = polish("scifact", "bm25, Polish")
        assert found == Link(names={"about": "bm25"}), "without a run, the system's card"


@pytest.mark.long
@pytest.mark.parametrize("measure", ["Hole@10", "R@100", "AP@100"])
def test_every_measure_has_an_order(at: Callable[..., Shown], measure: str) -> None:
    assert at(**OWN, measure=measure).figure("order")["data"]


@pytest.mark.long
def test_of_holes_the_fewest_come_first(at: Callable[..., Shown]) -> None:
    order = list(means(at(**OWN, measure="Hole@10", added=True)).values())
    assert order == sorted(order)


@pytest.mark.long
def test_every_board_that_can_stand_beside_draws(bare: Ask) -> None:
    printed = {"numbers": "Published", "table": "BEIR v4, Table 2"}
    beside = options(bare, "beside", **printed)
    assert beside[0] == "BEIR v4, Table 9: R@100"
    few = "Fewer than three systems have scores on datasets that both leaderboards share."
    for name in beside:
        shown = Shown(parts(page, bare, **printed, beside=name))
        assert "bump" in shown.keys or few in shown.words or "the same rank" in shown.words


@pytest.mark.long
def test_every_printed_table_and_measure_draws(bare: Ask) -> None:
    for table in options(bare, "table"):
        for measure in options(bare, "measure", table=table):
            found = find(page, bare, "cells", table=table, measure=measure)
            assert cast(Any, found.part).drawn(theme="light").data


@pytest.mark.long
def test_print_has_no_intervals_of_few_datasets_and_says_nothing_of_one(
    at: Callable[..., Shown],
) -> None:
    shown = at(numbers="Published", table="BEIR-PL, Table 6")
    assert "and 10 datasets are needed" in shown.words
    assert not shown.figure("order")["data"][0]["error_x"]["visible"]
    one = at(numbers="Published", over="scifact").words
    assert "Per-query scores are not published" in one


def test_unknown_names_are_refused_with_similar_ones(bare: Ask) -> None:
    for address, said in (
        ({"numbers": "Computer"}, "No kind of scores here .* Did you mean Computed"),
        ({"table": "BEIR v4, Table 22"}, "Did you mean BEIR v4, Table 2"),
        ({"baseline": "bm52"}, "No system here is called bm52"),
        ({"family": "dens"}, "No family of systems here .* Did you mean dense"),
        ({"over": "scifacts"}, "No dataset with two systems here .* Did you mean scifact"),
    ):
        with pytest.raises(Missing, match=said):
            find(page, bare, "bump", **address)


@pytest.mark.long
def test_a_board_over_returned_queries_stands_beside_one_over_the_same(tmp_path: Path) -> None:
    home = boards.few(tmp_path / "home", 4, "few", "too")
    # All systems have the same R@100, so that some change ranks.
    address = {**OWN, "beside": "R@100", "view": "Table"}
    for returned, value in (("true", "1.000"), ("false", ".500")):
        shown = records.shown(page, home, **address, returned=returned)
        beside = texts(shown.figure("bump"))
        assert f"{value}  good" in beside and f"good  {value}" in beside
        # The order, beside the table and below it, is over all.
        told = shown.words.count("These means cover all judged queries")
        assert told == 2 * (value == "1.000")


@pytest.mark.long
def test_the_table_of_a_collection_of_one_query_has_no_order(tmp_path: Path) -> None:
    home = boards.few(tmp_path / "home", 1)
    shown = records.shown(page, home, **OWN, view="Table")
    rows = shown.table("board").shown.set_index("System")
    assert rows.loc["good", "few"] == 1 and set(rows["Rank"]) == {"–"}
    assert "no ranks" in shown.words


@pytest.mark.long
@pytest.mark.usefixtures("shipped_results")
def test_only_datasets_that_all_have_is_a_switch(at: Callable[..., Shown]) -> None:
    assert "19 datasets, 10 systems" in at(numbers="Published", table="BEIR v4, Table 2").words
    assert "cells" in at(numbers="Published", table="BEIR-PL, Table 3", shared="true").keys
    mixed = at(numbers="Computed", group="", shared="true").words
    assert "No dataset has a score of every shown system" in mixed


@pytest.mark.long
def test_one_dataset_has_a_line_for_a_figure_of_ranks_and_no_wins(tmp_path: Path) -> None:
    home = boards.few(tmp_path / "home", 40)
    shown = records.shown(page, home, **OWN, beside="R@100")
    assert "2 systems have a different rank there. Kendall's τ" in shown.words
    assert not {"bump", "wins"} & {*shown.keys}


@pytest.mark.long
def test_what_is_significantly_above_or_below_the_baseline_has_a_mark(
    at: Callable[..., Shown],
) -> None:
    shown = at(**OWN, baseline="alike")
    assert "▲ ▼: significantly above or below alike" in shown.words
    words = [text for trace in shown.figure("cells")["data"] for text in trace.get("text", ())]
    marked = [text for text in words if "<sup>" in text]
    assert len(marked) == 2 and all(text.endswith("<sup>▼</sup>") for text in marked)
    # The test is over all judged queries, and print has no scores by query.
    assert "▲" not in at(**OWN, baseline="alike", returned="true").words
    assert "▲" not in at(numbers="Published", group="BEIR").words


def test_a_file_of_the_table_marks_what_is_better_than_the_baseline(home: Path) -> None:
    with records.asked(home) as ask:
        address = {"view": "Table", "baseline": HOSTILE, **OWN}
        scores = cast(Table, find(page, ask, "board", **address).part).scores
        assert scores and scores.marked
        marked = cast(Any, scores.marked())
    assert marked[["one", "two"]].to_numpy().tolist() == [[True] * 2, [True] * 2, [False] * 2]


def test_a_paper_gets_the_heatmap_as_a_table_of_datasets_by_systems(bare: Ask) -> None:
    figure = cast(Figure, find(page, bare, "cells").part)
    assert figure.table
    written = tables.write(figure.table(), "tex").decode()
    rows = [line.split(" & ") for line in written.splitlines() if " & " in line]
    assert [len(row) for row in rows] == [11] * 21
    assert [row[0] for row in rows[:3]] == ["", "Mean", "TREC-COVID"]
    assert r"\textbf{.476}" in rows[1] and r"\textit{.474}" in written
    # DPR lacks datasets: its mean is there, but is not compared.
    assert [cell for cell in rows[1] if "textit" in cell] == [r"\textit{.223} \\"]


def test_a_paper_gets_the_ranking_with_a_column_for_each_number(bare: Ask) -> None:
    part = find(page, bare, "order").part
    assert isinstance(part, Figure) and part.table and part.finding.count(". ") == 0
    heads, rows, _ = tables.shown(part.table())
    assert heads == ["System", "Mean", "95% CI", "Rank", "P(rank 1)", "Significance group"]
    assert rows[0] == ["BM25+CE", ".476", ".376 to .582", "1–4", "100%", "a"]
    assert len(rows) == 9


def test_a_printed_table_is_called_by_what_it_holds(bare: Ask) -> None:
    table = cast(Choice, control(page, bare, "table", table="BEIR v4, Table 9"))
    assert table.titles["BEIR v4, Table 9"] == "BEIR v4, Table 9: R@100, R_cap@100"


def test_filters_leave_what_they_name(at: Callable[..., Shown]) -> None:
    left = {"task": "Fact Checking", "domain": "Scientific", "family": "dense"}
    # The baseline stays beside the four dense systems.
    assert "1 dataset, 5 systems" in at(numbers="Published", **left).words
    above = "1 of 3 systems shown; bold, colours and ranks compare all 3."
    few = at(**OWN, systems=["good"], returned="true").words
    assert above in few and "Systems that are not shown above are included." in few
    assert "shown;" not in at(**OWN).words


@pytest.mark.long
def test_computed_runs_stand_there_with_their_holes(tmp_path: Path) -> None:
    home = boards.few(tmp_path / "home", 4)
    shown = records.shown(page, home, **OWN)
    assert "1 dataset, 3 systems" in shown.words
    cells = json.dumps(shown.figure("cells"), default=str)
    assert "4 queries, 2 of them unanswered" in cells and "of the top 10 unjudged" in cells
    every = records.shown(page, home, **OWN, returned="true").figure("cells")
    assert json.dumps(every, default=str) != cells


def test_a_difference_without_anything_in_common_says_so(at: Callable[..., Shown]) -> None:
    shown = at(numbers="Difference", group="own")
    assert not shown.keys and "Nothing matches" in shown.words
    assert "None of this table's 10 systems are computed" in shown.words
