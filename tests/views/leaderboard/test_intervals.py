"""The order with its uncertainty, the table of it, and two boards side by side."""

from collections.abc import Sequence
from typing import Any

import pytest
from pandas import DataFrame

from compute.datasets import published
from compute.datasets.catalogue import DATASETS
from compute.evaluate import rank_intervals
from compute.reading.database import open_version
from compute.store.store import Store
from compute.systems import SYSTEMS
from compute.views.leaderboard import order_confidence, select_order
from compute.views.leaderboard.board import Board, board, short_titles
from compute.views.leaderboard.bump import bump
from compute.views.leaderboard.cells import printed
from compute.views.leaderboard.intervals import MOST_BARS, MOST_ROWS, headings, intervals, table
from compute.views.leaderboard.order_confidence import ALL
from compute.views.shared import drawing

CATALOGUE = DataFrame([row.record() for row in DATASETS.values()]).rename(
    columns={"name": "dataset"}
)
NAMES = DataFrame(
    [(row.name, row.title, row.family) for row in SYSTEMS.values()],
    columns=["system", "title", "family"],
)


@pytest.fixture
def v4(bench: Any) -> tuple[DataFrame, Board]:
    """The papers' main table, and its order as the page reads it."""
    figures = published.results()
    rows = figures[figures["source"] == "BEIR v4, Table 2"]
    made = board(printed(rows), CATALOGUE, NAMES, "nDCG@10")
    ground = order_confidence.grounds(made)[ALL]
    store: Store = bench.store
    with open_version(store).cursor() as cursor:
        order = select_order.of_print(
            cursor, "BEIR v4, Table 2", "nDCG@10", ground.datasets, ground.systems, 1
        )
    return order, made


def order_of(groups: list[str]) -> DataFrame:
    n = len(groups)
    return DataFrame(
        {
            "system": [f"s{place}" for place in range(n)],
            "mean": [0.9 - 0.01 * place for place in range(n)],
            "low": 0.2,
            "high": 0.95,
            "rank": range(1, n + 1),
            "rank_low": 1,
            "rank_high": n,
            "first": [1.0] + [0.001] * (n - 1),
            "group": groups,
            "drawn": rank_intervals.QUERIES,
            "n_datasets": 1,
            "n_queries": 30,
            "n_left_out": 2,
        }
    )


def drawn(order: DataFrame, theme: str = "light") -> Any:
    titles = {name: f"{name} <b>$x$" for name in order["system"]}
    return intervals(order, titles, "nDCG@10", theme)


def bars(figure: Any) -> list[list[int]]:
    return [list(trace["y"]) for trace in figure.data if trace["xaxis"] == "x2"]


def test_the_order_of_v4_leaves_out_a_system_that_was_trained_on_one_of_its_datasets(
    v4: tuple[DataFrame, Board],
) -> None:
    order, made = v4
    ground = order_confidence.grounds(made)[ALL]
    assert len(ground.datasets) == 18 and "dpr" not in ground.systems
    by_mean = made.systems.dropna(subset="rank").set_index("system")
    assert order.set_index("system")["rank"].to_dict() == by_mean["rank"].to_dict()
    assert order["system"].iloc[0] == "bm25+ce-minilm"
    assert order["drawn"].iloc[0] == rank_intervals.DATASETS
    how = order_confidence.how_to_read(order)
    assert "share a letter in the Table view, are not" in how.shown
    listed = how.narrow().shown
    assert "share a group's letter" in listed and "bar" not in listed and "Dot" not in listed
    words = order_confidence.facts(order, made, ground)
    assert words[:2] == [
        "Mean over the 18 datasets that all systems cover.",
        "Not ranked: DPR (trained on NQ).",
    ]
    assert "50% with 2" in " ".join(words)


def test_groups_are_bars_with_a_dot_per_system() -> None:
    figure = drawn(order_of(["a", "a b", "b", "c"]))
    assert bars(figure) == [[0, 1], [1, 2]]
    # Past a system that is not in the group, the bar is broken, and dotted.
    assert bars(drawn(order_of(["a", "b", "a b", "b"]))) == [[0, 2], [0, None, 2], [1, 2, 3]]
    texts = [note["text"] for note in figure.layout.annotations]
    assert texts.count("1–4") == 4
    assert {"100%", "<1%", "P(rank 1)", "no significant<br>difference"} <= set(texts)
    assert figure.layout.yaxis.ticktext[0] == "s0 &lt;b&gt;&#36;x&#36;"


def test_a_phones_list_has_each_group_behind_the_mean() -> None:
    told = drawing.lists(drawn(order_of(["a", "a b", "b", "c"])), narrow=True)
    assert told is not None
    groups = [row.said.split(" ")[1] for row in told.lists[0].rows]
    assert groups == ["a", "ab", "b", "c"]


def test_more_groups_than_bars_fit_are_left_to_the_table() -> None:
    chain = [
        f"{rank_intervals.letter(place)} {rank_intervals.letter(place + 1)}"
        for place in range(MOST_BARS + 2)
    ]
    assert bars(drawn(order_of(chain))) == []
    assert order_confidence.compact(chain[0]) == "ab"
    assert order_confidence.compact("z aa") == "z aa"


def test_groups_come_in_the_order_of_their_letters_whoever_is_in_them() -> None:
    found = order_confidence.members(["b aa", "a b", "a"])
    assert list(found.items()) == [("a", [1, 2]), ("b", [0, 1]), ("aa", [0])]


def test_four_letters_in_a_row_are_written_as_their_ends() -> None:
    assert order_confidence.compact("a b c") == "abc"
    assert order_confidence.compact("a c d e f") == "a c–f"
    assert order_confidence.compact("x y z aa ac") == "x–aa ac"
    numbers = [0, 25, 26, 51, 701, 702]
    following = [rank_intervals.after(rank_intervals.letter(number)) for number in numbers]
    assert following == [rank_intervals.letter(number + 1) for number in numbers]


def test_of_many_systems_the_first_are_drawn() -> None:
    order = order_of(["a"] * 143)
    figure = drawn(order, "dark")
    assert len(figure.data[0]["x"]) == MOST_ROWS
    assert figure.layout.height < 1000


def test_without_intervals_there_are_no_lines() -> None:
    order = order_of([""] * 3).assign(low=float("nan"), high=float("nan"), first=float("nan"))
    figure = drawn(order.assign(rank_low=0, rank_high=0))
    assert not figure.data[0]["error_x"]["visible"]
    texts = [note["text"] for note in figure.layout.annotations]
    assert texts == ["1", "2", "3", "rank"]


def test_the_table_has_the_order_and_then_the_values(v4: tuple[DataFrame, Board]) -> None:
    order, made = v4
    rows = table(order, made)
    first = rows.iloc[0]
    assert first["title"] == "BM25+CE" and first["on scifact"] == 0.688
    assert first["rank"] == 1 and "a" in first["group"]
    assert first["low"] < first["mean"] < first["high"]


def test_systems_outside_the_order_follow_without_a_rank(v4: tuple[DataFrame, Board]) -> None:
    order, made = v4
    rows = table(order[order["system"] != "bm25+ce-minilm"], made)
    assert rows["system"].tolist()[-2:] == ["bm25+ce-minilm", "dpr"]
    assert rows[["rank", "group"]].iloc[-2:].isna().all(axis=None)
    assert table(None, made)["rank"].isna().all()


def test_a_dataset_may_be_called_as_a_column_is() -> None:
    rows = [(name, "a", value) for name, value in (("Rank", 0.5), ("system", 0.4), ("fiqa", 0.3))]
    cells = DataFrame(rows, columns=["dataset", "system", "value"]).assign(
        in_domain=False, suspect=False, remark=""
    )
    made = board(cells, CATALOGUE, NAMES, "nDCG@10")
    found, heads = table(None, made).iloc[0], headings(made)
    assert (found["system"], found["on fiqa"], found["on Rank"]) == ("a", 0.3, 0.5)
    assert (heads["fiqa"], heads["Rank"]) == ("FiQA-2018", "Rank (Rank)")


def test_a_board_without_anything_in_common_is_ordered_by_dataset() -> None:
    rows = [("scifact", "a", 0.5), ("scifact", "b", 0.4), ("fiqa", "c", 0.3), ("fiqa", "d", 0.2)]
    cells = DataFrame(rows, columns=["dataset", "system", "value"]).assign(
        in_domain=False, suspect=False, remark=""
    )
    made = board(cells, CATALOGUE, NAMES, "nDCG@10")
    found = order_confidence.grounds(made)
    assert {name: ground.systems for name, ground in found.items()} == {
        "scifact": ["a", "b"],
        "fiqa": ["c", "d"],
    }


def test_the_only_dataset_of_the_average_gives_the_first_order() -> None:
    rows = [("scifact", "a", 0.5), ("scifact", "b", 0.4)]
    rows += [("fiqa", "c", 0.3), ("fiqa", "d", 0.2), ("fiqa", "e", 0.1)]
    cells = DataFrame(rows, columns=["dataset", "system", "value"]).assign(
        in_domain=False, suspect=False, remark=""
    )
    made = board(cells, CATALOGUE, NAMES, "nDCG@10")
    assert made.averaged == ("fiqa",)
    assert list(order_confidence.grounds(made)) == ["fiqa", "scifact"]


def test_lines_of_the_bump_rise_and_fall() -> None:
    rows = DataFrame(
        {
            "system": ["a", "b", "c"],
            "title": ["A", "<i>B", "C"],
            "left": [0.5, 0.4, 0.3],
            "right": [0.2, 0.6, 0.1],
            "left_rank": [1, 2, 3],
            "right_rank": [2, 1, 3],
        }
    )
    figure: Any = bump(rows, ("nDCG@10", "R@100"), "light")
    places = [list(trace["y"]) for trace in figure.data]
    assert places == [[0, 1], [1, 0], [2, 2]]
    assert len({trace["line"]["color"] for trace in figure.data}) == 3
    texts = [note["text"] for note in figure.layout.annotations]
    assert "&lt;i&gt;B  .400" in texts and ".600  &lt;i&gt;B" in texts


def test_equal_ranks_have_lines_of_their_own() -> None:
    n = 40
    rows = DataFrame(
        {
            "system": [f"s{place}" for place in range(n)],
            "title": [f"S{place:02}" for place in range(n)],
            "left": 0.5,
            "right": [place / n for place in range(n)],
            "left_rank": 1,
            "right_rank": list(range(n, 0, -1)),
        }
    )
    figure: Any = bump(rows, ("a", "b"), "dark")
    assert sorted(trace["y"][0] for trace in figure.data) == list(range(n))
    assert len(figure.layout.annotations) < 2 * n


def test_short_titles_name_the_rows(v4: tuple[DataFrame, Board]) -> None:
    order, made = v4
    figure: Any = intervals(order, short_titles(made.systems), "nDCG@10", "print")
    assert figure.layout.yaxis.ticktext[0] == "BM25+CE"


def _order(groups: Sequence[str], drawn: str = rank_intervals.QUERIES) -> DataFrame:
    names = [*"abcdefghij"[: len(groups)]]
    return DataFrame({"system": names, "group": groups, "drawn": drawn, "first": 0.5})


_BEST = (
    "A is significantly better than all others (family-wise error rate 5% over these {} systems)."
)


def test_the_first_of_an_order_is_said_to_be_the_best_only_where_that_is_sure() -> None:
    titles = {"a": "A"}
    assert order_confidence.verdict(_order(["a", "b", "b"]), titles) == _BEST.format(3)
    assert order_confidence.verdict(_order(["a b", "b", "a", "c", "c"]), titles) == (
        "A ranks first, but is not significantly different from b, c (family-wise error rate 5%"
        " over these 5 systems). It is significantly better than d, e."
    )
    short = order_confidence.verdict(_order(["a b", "b", "a", "c", "c"]), titles, short=True)
    assert short.endswith(" (family-wise error rate 5% over these 5 systems).")
    long = order_confidence.verdict(_order(["a", "a", *["b"] * 7]), {})
    assert " It is significantly better than the other 7." in long
    # A letter of two signs is not that of one in it.
    assert order_confidence.verdict(_order(["a", "aa"]), titles) == _BEST.format(2)
    many = order_confidence.verdict(_order(["a"] * 9), {})
    assert ", but is not significantly different from b, c, d, e, f, g and 2 more (" in many


def test_first_in_nearly_all_draws_is_said_not_to_be_corrected() -> None:
    said = order_confidence.verdict(_order(["a", "a"]).assign(first=[0.996, 0.004]), {})
    assert said == (
        "a ranks first, but is not significantly different from b (family-wise error rate 5% over"
        " these 2 systems). a ranks first in 100% of"
        " bootstrap samples of queries; unlike the test, this share is not corrected for the number"
        " of systems."
    )


def test_why_one_that_ranks_lower_cannot_be_told_apart_is_said() -> None:
    said = order_confidence.verdict(_order(["a", "a b", "b c", "a c"]), {"d": "D", "c": "C"})
    assert said == (
        "a ranks first, but is not significantly different from b, D (family-wise error rate 5%"
        " over these 4 systems). It is significantly better than C. The difference from C"
        " is significant, but that from D is not, although D ranks lower: the second difference"
        " varies more."
    )


def test_of_what_no_draw_tells_nothing_is_said() -> None:
    assert order_confidence.verdict(_order(["a", "b"], rank_intervals.NOTHING), {}) == ""
    assert order_confidence.verdict(_order(["a"]), {}) == ""
