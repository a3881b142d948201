"""The benchmarks run at tiny sizes and write their tables; nothing here is timed."""

from importlib.util import find_spec

from tests.benchmarks.__main__ import BENCHMARKS, END, START, listed, measured, written
from tests.benchmarks.growth import collections, stores
from tests.benchmarks.growth.lines import HEAD, markdown
from tests.benchmarks.side_by_side import Row, quicker

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


def test_a_benchmark_gives_its_rows_to_the_table() -> None:
    (rows,) = measured([SCORE], small=True).values()
    assert [found.peer.split()[0] for found in rows] == ["pytrec_eval", "ir_measures"]
    assert all("values equal" in found.ratio for found in rows)


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
