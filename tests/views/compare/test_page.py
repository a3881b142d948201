"""The Compare page, asked as data: two runs on two datasets, one of a hostile name, and four."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from compute.base.errors import Missing
from compute.base.settings import Settings
from compute.intake import query_labels
from compute.store.store import Store
from compute.views.compare.page import ALL, page
from compute.views.page import (
    Button,
    Figure,
    Heading,
    Message,
    Note,
    Part,
    Table,
    Widget,
    find,
    parts,
)
from compute.views.page.store_ask import StoreAsk, opened
from tests.support import filled
from tests.support.holes import EVIL, RUNS
from tests.views.records import written

TWO: dict[str, Any] = {"dataset": "tiny", "a": "sure", "b": EVIL, "measure": "RR@10"}
FOUR: dict[str, Any] = {"dataset": "own", "a": "a", "b": "b", "measure": "RR@10"}
SHOWN = (
    *("differences", "different", "tests", "kinds", "kinds_table", "scatter", "likeness"),
    *("lost", "fused"),
)


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreAsk]:
    bench = filled.bench(folder := tmp_path_factory.mktemp("compare"))
    for name in ("tiny", "again"):
        taken = filled.take(bench, RUNS, name)
    (folder / "labels").write_text(f"q1\t{EVIL}\t{EVIL}\nq2\t{EVIL}\tland\n", "utf-8")
    query_labels.import_file(bench, folder / "labels", taken)
    filled.take_twelve(bench)
    with opened(bench.store) as asked:
        yield asked


def words(shown: list[Part]) -> str:
    """All that parts say."""
    notes = [f"{one.shown} {one.behind()}" for one in shown if isinstance(one, Note)]
    found = [one.finding for one in shown if isinstance(one, Figure)]
    return "\n".join([*(str(getattr(one, "text", "")) for one in shown), *found, *notes])


def table(shown: list[Part], key: str) -> Any:
    (found,) = [written(one) for one in shown if isinstance(one, Table) and one.key == key]
    return found


def test_two_systems_on_one_dataset_in_the_order_of_the_screen(ask: StoreAsk) -> None:
    shown = parts(page, ask, **TWO, fuse="true")
    assert tuple(one.key for one in shown if isinstance(one, Figure | Table)) == SHOWN
    said = words(shown)
    assert "sure leads by " in said.splitlines()[1], "behind Swap A and B"
    assert "sure is better on 2 queries, <b>*mine*&$x$ on 0; equal on 1." in said
    assert "<b>*mine*&$x$ leaves 1 of 3 queries unanswered; these score 0." in said
    holes = parts(page, ask, **TWO | {"measure": "Hole@10"})
    assert "sure leaves" not in said and "unanswered" not in words(holes)
    assert "All 3 queries; click a row to open one. Difference: sure minus" in said
    (swap, bounds, *made) = [one for one in shown if isinstance(one, Button)]
    assert swap.opens.names == {"a": EVIL, "b": "sure"}
    assert (bounds.opens.page, bounds.opens.names["systems"]) == ("holes", ["sure", EVIL])
    assert [one.opens.names["system"] for one in made] == ["sure", EVIL]
    (verdict,) = [line for line in said.splitlines() if "on these queries: " in line]
    assert "at least 50 queries" in verdict
    best, usual = (one.values for one in shown if isinstance(one, Widget))
    assert best["dataset"] == usual["dataset"] == "tiny" and EVIL in best["fusion"]
    assert usual["fusion"].startswith("rrf(sure,") and "k=" not in usual["fusion"]


def test_each_part_is_found_at_the_whole_address_and_no_other_computed(ask: StoreAsk) -> None:
    whole = TWO | {"slice": "words", "by": "by the measure", "fuse": "true"}
    asked: list[str] = []
    heard = replace(ask, heard=lambda query, *_: asked.append(query.__name__))
    costly = {"overlaps": "likeness", "labels": "kinds", "tested": "tests"}
    for query, key in costly.items():
        asked.clear()
        assert find(page, heard, key, **whole).part.key == key
        assert {*costly, "swept", "among_all"} & {*asked} == {query}
    assert find(page, heard, "kinds_table", **whole).part.title
    asked.clear()
    shown: Any = find(page, heard, "different", **whole).part
    assert "tested" not in asked
    wanted = {"dataset": "tiny", "query": "q3", "systems": ["sure", EVIL], "measure": "RR@10"}
    assert (shown.opens.page, shown.opens.of(shown.carried[0])) == ("query", wanted)


def test_the_best_two_come_first_where_there_is_no_bm25(ask: StoreAsk) -> None:
    values = find(page, ask, "differences", dataset="tiny").values
    assert (values["a"], values["b"]) == ("sure", EVIL)
    values = find(page, ask, "differences", dataset="tiny", a=EVIL).values
    assert values["b"] == "sure", "whoever names one has the other beside it"


def test_on_all_datasets(ask: StoreAsk) -> None:
    shown = parts(page, ask, **TWO | {"dataset": ALL}, fuse="true")
    assert "sure has the better mean on 2 of 2 datasets." in words(shown)
    assert len(table(shown, "rows")) == len(table(shown, "fused_losses")) == 2
    assert table(shown, "fused_best")["Resulting loss"].tolist() == [".000", ".000"]
    with pytest.raises(Missing, match="No dataset has scores of both systems"):
        find(page, ask, "rows", dataset=ALL, a="sure", b="a")


def test_p_alone_and_corrected_and_what_the_test_would_have_found(ask: StoreAsk) -> None:
    shown = parts(page, ask, **FOUR)
    tests = table(shown, "tests")
    assert tests[["p", "The two systems"]].iloc[0].tolist() == [".0312", "differ"]
    said = words(shown)
    told = (
        "Corrected for all 6 pairs of systems on this dataset (fusions count, other in-domain"
        " systems do not): p = .06, the two are not"
    )
    assert told in said
    assert "All systems of this dataset" in {getattr(one, "label", "") for one in shown}
    assert "not after correction for 6 pairs" in said.splitlines()[1]
    # On all six queries that differ a is ahead, and that is not significant.
    assert "Too few queries differ to compute" in said and " takes " not in said
    said = words(parts(page, ask, **FOUR | {"b": "c"}, find="0.1"))
    # Of twelve queries all would have to differ by more than two values can.
    assert "(80% power): none possible corrected for 6 pairs" in said
    assert " for this pair only" in said
    assert ".1 takes " in said and " corrected for 6 pairs" in said


@pytest.mark.parametrize(
    ("key", "address", "said"),
    [
        ("differences", {"a": "sure", "b": "sure"}, "System A and system B are the same"),
        ("scatter", {"a": "surr"}, r"No system on tiny here is called surr\. Did you mean sure"),
        ("scatter", {"measure": "nDCG@7"}, "To score the stored runs by it, run python -m compute"),
        ("kinds", {"slice": "answered"}, "cannot be tested; Dataset shows them"),
        ("kinds", {"slice": "vocabulary"}, "Grouping by rare words needs the"),
        ("different", FOUR | {"by": "b ahead"}, "No query is in this group"),
    ],
)
def test_a_part_that_is_not_there_says_why(
    ask: StoreAsk, key: str, address: dict[str, Any], said: str
) -> None:
    with pytest.raises(Missing, match=said):
        find(page, ask, key, **{"dataset": "tiny"} | address)


def test_queries_are_shown_where_either_is_ahead(ask: StoreAsk) -> None:
    assert len(cast(Table, find(page, ask, "different", **FOUR, by="a ahead").part).rows) == 6


def test_kinds_of_queries_by_labels_of_ones_own(ask: StoreAsk) -> None:
    shown = parts(page, ask, dataset="again", slice=EVIL)
    assert table(shown, "kinds_table")["Queries"].to_list() == ["1", "1"]
    assert "No group by" in words(shown)
    assert "1 query without a label are left out." in words(shown)


def test_nothing_to_compare(tmp_path: Path) -> None:
    with opened(Store(Settings(home=tmp_path), shipped=tmp_path / "nothing")) as nothing:
        assert "No dataset has two systems to compare yet" in words(parts(page, nothing))


@pytest.mark.long
def test_a_dataset_with_one_run_is_told_of_itself_and_of_no_other(tmp_path: Path) -> None:
    bench = filled.bench(tmp_path)
    filled.take(bench, {"only": next(iter(RUNS.values()))}, "lone")
    filled.take(bench, RUNS, "tiny")
    with opened(bench.store) as asked:
        shown = parts(page, asked, dataset="lone")
        (message,) = [one.text for one in shown if isinstance(one, Message)]
        assert message == "lone has only one run, only; a comparison needs two."
        assert not [one for one in shown if isinstance(one, Figure | Table | Heading)]
        assert find(page, asked, "differences").values["dataset"] == "tiny"
