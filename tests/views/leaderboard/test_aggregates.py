"""Ranks by several ways: the sentences, the matrix, and where there is nothing to say."""

from typing import Any

import pytest
from pandas import DataFrame

from compute.datasets.catalogue import DATASETS
from compute.views.leaderboard import aggregates
from compute.views.leaderboard.board import Board, board
from compute.views.shared.drawing import lists

CATALOGUE = DataFrame([dataset.record() for dataset in DATASETS.values()])
NO_SYSTEMS = DataFrame({"system": [], "title": [], "family": []}, dtype=str)
NAMES = ("scifact", "nfcorpus", "arguana", "fiqa")
TITLES = {"one": "One", "two": "T<o", "bm25": "BM25"}


def made(**values: tuple[float, ...]) -> Board:
    rows = [
        (dataset, system, value)
        for system, of in values.items()
        for dataset, value in zip(NAMES, of, strict=False)
    ]
    cells = DataFrame(rows, columns=["dataset", "system", "value"])
    cells = cells.assign(in_domain=False, suspect=False, remark="")
    return board(cells, CATALOGUE.rename(columns={"name": "dataset"}), NO_SYSTEMS, "nDCG@10")


def test_who_is_first_by_each_way_is_said() -> None:
    rows = aggregates.orders(
        made(one=(0.9, 0.3, 0.3, 0.3), two=(0.4, 0.4, 0.4, 0.4), bm25=(0.1, 0.1, 0.1, 0.1))
    )
    said = aggregates.verdict(rows, TITLES)
    assert said.startswith("The first rank depends on the average: One by mean")
    assert "T<o by median" in said
    by_mean = rows[rows["way"] == "mean"].set_index("system")
    assert by_mean["rank"].to_dict() == {"one": 1, "two": 2, "bm25": 3}
    assert (by_mean["low"]["bm25"], by_mean["high"]["bm25"]) == (3, 3)
    assert by_mean["low"]["two"] == 1


def test_who_is_first_by_all_ways() -> None:
    rows = aggregates.orders(
        made(one=(0.9, 0.9, 0.9, 0.9), two=(0.4, 0.4, 0.4, 0.0), bm25=(0.1, 0.1, 0.5, 0.1))
    )
    n = rows["way"].nunique()
    assert aggregates.verdict(rows, TITLES) == f"One ranks first under all {n} averages."
    assert aggregates.notes(rows, TITLES) == [
        "A value of 0 makes the geometric mean of T<o 0.",
        "The Bradley–Terry strength of One is unbounded: no other system beats or ties it on any"
        " dataset.",
    ]


@pytest.mark.parametrize(
    "values",
    [
        {"one": (0.9, 0.8, 0.7, 0.6), "two": (0.4, 0.4, 0.4, 0.4)},
        {"one": (0.9, 0.8), "two": (0.4, 0.4), "bm25": (0.1, 0.1)},
    ],
    ids=["two systems", "two datasets"],
)
def test_of_few_nothing_is_said(values: Any) -> None:
    assert aggregates.orders(made(**values)).empty


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_the_matrix_and_its_lists(theme: str) -> None:
    rows = aggregates.orders(
        made(one=(0.9, 0.3, 0.3, 0.3), two=(0.4, 0.4, 0.4, 0.4), bm25=(0.1, 0.1, 0.1, 0.1))
    )
    figure: Any = aggregates.matrix(rows, TITLES, theme=theme)
    assert figure.data[0].z[0][0] == 1
    assert "T&lt;o" in figure.layout.yaxis.ticktext[1]
    told = lists(figure)
    assert told is not None
    assert told.lists[0].title == "mean"
    assert told.lists[0].rows[0].said.startswith(".450")
