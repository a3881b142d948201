"""Ours against published: verdicts by the printed digits, and reasons that name what there is."""

import pytest
from pandas import DataFrame

from compute.datasets import published
from compute.datasets.catalogue import DATASETS
from compute.views.leaderboard import reproduction
from compute.views.leaderboard.reproduction import (
    APART,
    EQUAL,
    NEAR,
    NO_REASON,
    SUSPECT,
    table,
    verdict_counts,
)
from tests.views.records import under

REASONS = published.reasons()
PRINTED = DataFrame(
    [
        ("BEIR v4, Table 2", "scifact", "bm25-multifield", 0.665, False),
        ("BEIR v4, Table 2", "nfcorpus", "bm25-multifield", 0.32, False),
        ("BEIR v4, Table 2", "arguana", "bm25-multifield", 0.315, False),
        ("BEIR v4, Table 2", "nq", "bm25-multifield", 0.329, True),
        ("BEIR v1, Table 2", "nq", "tas-b", 0.463, False),
    ],
    columns=["source", "dataset", "system", "value", "suspect"],
)


def ours(*rows: tuple[str, str, float]) -> DataFrame:
    return DataFrame(rows, columns=["dataset", "system", "value"])


def verdict(dataset: str, value: float, system: str = "bm25-multifield") -> tuple[str, str]:
    row = table(ours((dataset, system, value)), PRINTED, REASONS).iloc[0]
    return row["verdict"], row["reason"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.6647, EQUAL), (0.6645, EQUAL), (0.6644, NEAR), (0.669, NEAR), (0.6789, APART)],
)
def test_equal_is_what_rounds_to_the_printed_digits(value: float, expected: str) -> None:
    assert verdict("scifact", value)[0] == expected


@pytest.mark.parametrize(
    ("dataset", "values"),
    [("arguana-pl", (0.4136, 0.4140)), ("scifact", (0.6906, 0.6916))],
)
def test_one_value_with_more_digits_makes_the_others_of_its_table_no_finer(
    dataset: str, values: tuple[float, float]
) -> None:
    source, system = "BEIR-PL, Table 3", "bm25-elasticsearch"
    rows = [("arguana-pl", 0.4136), ("scifact", 0.691), ("nfcorpus", 0.343), ("quora", 0.79)]
    printed = DataFrame(
        [(source, name, system, number, False) for name, number in rows],
        columns=PRINTED.columns,
    )
    equal, near = (table(ours((dataset, system, one)), printed, REASONS).iloc[0] for one in values)
    assert (equal["verdict"], near["verdict"]) == (EQUAL, NEAR)


def test_a_0_that_print_leaves_out_is_a_digit_of_its_table() -> None:
    assert verdict("nfcorpus", 0.3204)[0] == EQUAL
    assert verdict("nfcorpus", 0.3226)[0] == NEAR


def test_the_known_reason_stands_beside_what_differs_alone() -> None:
    found, reason = verdict("arguana", 0.414)
    assert found == APART and "own document" in reason
    assert verdict("arguana", 0.3151) == (EQUAL, "")
    assert verdict("nq", 0.5, "tas-b") == (APART, NO_REASON)
    assert verdict("nq", 0.329) == (SUSPECT, "")


def test_what_differs_most_comes_first() -> None:
    found = table(
        ours(("scifact", "bm25-multifield", 0.6647), ("arguana", "bm25-multifield", 0.414)),
        PRINTED,
        REASONS,
    )
    assert found["dataset"].tolist() == ["arguana", "scifact"]
    assert found["difference"].tolist() == pytest.approx([0.099, -0.0003])
    assert verdict_counts(found) == "1 match the published digits, 1 differ"


def test_reasons_name_sources_datasets_and_systems_that_there_are() -> None:
    figures = published.results()
    known = set(zip(figures["source"], figures["dataset"], figures["system"], strict=True))
    for row in REASONS.to_dict("records"):
        assert row["reason"].endswith(".")
        assert any(
            source.startswith(row["source"])
            and row["dataset"] in ("*", dataset)
            and row["system"] in ("*", system)
            for source, dataset, system in known
        ), row
        assert row["dataset"] in ("*", *DATASETS)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_agrees_is_blue_and_what_does_not_orange(theme: str) -> None:
    found = table(
        ours(("scifact", "bm25-multifield", 0.6647), ("arguana", "bm25-multifield", 0.414)),
        PRINTED,
        REASONS,
    )
    named = DataFrame({"dataset": ["scifact"], "title": ["SciFact"]})
    systems = DataFrame({"system": ["bm25-multifield"], "title": ["BM25"]})
    columns, rows = reproduction.columns(found, 9), reproduction.titled(found, (named, systems))
    shown = under(columns, rows)
    assert {"≠ differs", "✓ equal"} == set(shown["Verdict"])
    assert "−.0003" in shown["Difference"].tolist()
    (filled, again) = [one.fill(theme) for one in columns if one.fill]
    assert filled == again and len(set(filled)) == 2
    assert all(one.startswith("background-color") for one in filled)
