"""Reasons of queries are tested only on runs stored after the tagging; a planted one is found."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from pandas import DataFrame

from compute.datasets import Dataset
from compute.intake import imports, query_labels
from compute.intake.query_labels import COLUMNS
from compute.store import provenance
from compute.store.loading import Bench
from compute.views.compare.page import page
from compute.views.dataset.page import page as dataset_page
from compute.views.page import Table, find
from compute.views.query.page import page as query_page
from tests.support import filled
from tests.views.records import asked, shown, written

QUERIES = [f"q{n}" for n in range(100)]
TAGGED = QUERIES[:60]
PLANTED = {*QUERIES[:20]}
"""Queries with the reason that the new system mends."""


def ranked(chance: random.Random) -> dict[str, int]:
    """A rank of each query's relevant document: 1 with a chance of 0.3, else 2 to 20."""
    return {q: 1 if chance.random() < 0.3 else chance.randint(2, 20) for q in QUERIES}


def lines(ranks: Mapping[str, int]) -> str:
    """A run with the relevant documents at these ranks."""
    return "".join(f"{q} Q0 {q}d {rank} {50 - rank} t\n" for q, rank in ranks.items()) + "".join(
        f"{q} Q0 x{n} {n} {49.5 - n} t\n" for q in QUERIES for n in range(1, 20)
    )


def by_reason(bench: Bench, a: str, b: str) -> DataFrame:
    """The rows by reason of a comparison."""
    with asked(bench.settings.home) as ask:
        found = find(page, ask, "kinds_table", dataset="own", a=a, b=b, slice="reason")
    return cast(Table, found.part).rows.set_index("label")


def is_refused(bench: Bench, a: str, b: str) -> bool:
    found = shown(page, bench.settings.home, dataset="own", a=a, b=b)
    refused = "tested only on runs that were stored after the last reason was given" in found.words
    assert refused != ("kinds_table" in found.keys), "the queries have no other groups"
    return refused


def taken(folder: Path) -> tuple[Bench, Dataset]:
    bench, qrels = filled.bench(folder), folder / "qrels"
    qrels.write_text("".join(f"{q} 0 {q}d 1\n" for q in QUERIES), "utf-8")
    return bench, imports.import_dataset(bench, "own", qrels=qrels).dataset


def tag(bench: Bench, reasons: Mapping[str, str]) -> None:
    rows = DataFrame([(q, "reason", one) for q, one in reasons.items()], columns=COLUMNS)
    query_labels.put(bench.store, "own", rows, provenance.record(["import-labels"], 0))


def trial(folder: Path, seed: int, lift: float) -> float:
    """Adjusted p of the planted reason for two systems stored after the tagging. The second mends
    the share `lift` of the reason's queries, and changes a fifth of all others by chance."""
    (bench, own), chance = taken(folder), random.Random(seed)
    given = [chance.choice(["wrong entity", "label wrong"]) for _ in TAGGED]
    tag(bench, {q: "other" if q in PLANTED else one for q, one in zip(TAGGED, given, strict=True)})
    base, other = ranked(chance), ranked(chance)
    better = {q: other[q] if chance.random() < 0.2 else rank for q, rank in base.items()}
    better |= {query: 1 for query in sorted(PLANTED) if chance.random() < lift}
    filled.add(bench, own, {"base": lines(base), "better": lines(better)})
    return float(by_reason(bench, "better", "base")["p_adjusted"]["other"])


@pytest.mark.long
def test_reasons_describe_and_are_tested_only_on_later_runs(tmp_path: Path) -> None:
    (bench, own), chance = taken(tmp_path), random.Random(0)
    runs = {name: lines(ranked(chance)) for name in "abcd"}
    filled.add(bench, own, {name: runs[name] for name in "ab"})
    tag(bench, {query: "other" if query in PLANTED else "typo" for query in TAGGED[1:]})
    query_labels.give(bench.store, "own", TAGGED[0], "other")
    assert is_refused(bench, "a", "b")
    filled.add(bench, own, {name: runs[name] for name in "cd"})
    assert is_refused(bench, "a", "c"), "one of them was seen"
    assert by_reason(bench, "c", "d")["n"].to_dict() == {"other": 20, "typo": 40}
    query_labels.give(bench.store, "own", "q99", "typo")
    assert is_refused(bench, "c", "d"), "both may have been seen"
    at: dict[str, Any] = {"dataset": "own", "show": "Kinds of queries", "slice": "reason"}
    assert (
        "made by people who saw the results" in shown(dataset_page, bench.settings.home, **at).words
    )


def test_reasons_are_counted_and_listed(tmp_path: Path) -> None:
    bench, own = taken(tmp_path)
    filled.add(bench, own, {"a": lines(ranked(random.Random(1)))})
    assert "reasons" not in shown(query_page, bench.settings.home, dataset="own").keys
    for query, reason in (("q1", "<b>"), ("q2", "typo"), ("q3", "typo")):
        query_labels.give(bench.store, "own", query, reason)
    found = shown(query_page, bench.settings.home, dataset="own")
    counts = written(found.table("reasons")).to_numpy().tolist()
    assert counts == [["typo", "2", "2%"], ["<b>", "1", "1%"]]
    rows = written(found.table("by_reason")).to_numpy().tolist()
    assert rows == [["q1", "<b>"], ["q2", "typo"], ["q3", "typo"]]


@pytest.mark.long
@pytest.mark.parametrize(("lift", "least", "most"), [(0.8, 3, 3), (0.0, 0, 1)])
def test_a_planted_reason_is_found_on_later_runs(
    tmp_path: Path, lift: float, least: int, most: int
) -> None:
    found = [trial(tmp_path / str(seed), seed, lift) for seed in range(3)]
    assert least <= sum(p < 0.05 for p in found) <= most


@pytest.mark.long
@pytest.mark.soak
@pytest.mark.parametrize(("lift", "least", "most"), [(0.8, 95, 100), (0.0, 0, 10)])
def test_a_planted_reason_is_found_in_95_of_100_trials(
    tmp_path: Path, lift: float, least: int, most: int
) -> None:
    found = [trial(tmp_path / str(seed), seed, lift) for seed in range(100)]
    assert least <= sum(p < 0.05 for p in found) <= most
