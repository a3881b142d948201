"""The page Compare, asked as data: two runs on two datasets, one of a hostile name, and four."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compute.base.errors import Missing
from compute.base.settings import Settings
from compute.intake import imports, query_labels
from compute.store.loading import Bench
from compute.store.store import Store
from compute.views.compare.page import ALL, page
from compute.views.page import Button, Figure, Found, Note, Part, Table, Widget, every, find, parts
from compute.views.page.store_ask import StoreAsk, opened
from tests.support.holes import EVIL, RUNS
from tests.support.tiny import write_tiny

TWO: dict[str, Any] = {"dataset": "tiny", "a": "sure", "b": EVIL, "measure": "RR@10"}
FOUND = {"a": range(9), "b": range(3), "c": (9, 10, 11), "d": (8, 11)}
"""By system the queries, of twelve, on which it ranks the relevant document first: a and b differ
on six, always for a, which is p = 2 / 2^6 alone."""
FOUR: dict[str, Any] = {"dataset": "own", "a": "a", "b": "b", "measure": "RR@10"}
SHOWN = ("differences", "scatter", "likeness", "kinds", "kinds_table", "different", "tests")


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreAsk]:
    folder = tmp_path_factory.mktemp("compare")
    settings = Settings(home=folder / "home", threads=1)
    bench = Bench(Store(settings, shipped=folder / "nothing"), settings)

    def run(dataset: Any, system: str, lines: str) -> None:
        (folder / "some.run").write_text(lines, encoding="utf-8")
        imports.import_run(bench, folder / "some.run", dataset, system=system)

    for own in ("tiny", "again"):
        taken = imports.import_dataset(bench, own, path=write_tiny(folder / own)).dataset
        for name, lines in RUNS.items():
            run(taken, name, lines)
    (folder / "labels").write_text(f"q1\t{EVIL}\t{EVIL}\nq2\t{EVIL}\tland\n", "utf-8")
    query_labels.import_file(bench, folder / "labels", taken)
    (folder / "qrels").write_text("".join(f"q{q} 0 d{q} 1\n" for q in range(12)), encoding="utf-8")
    taken = imports.import_dataset(bench, "own", qrels=folder / "qrels").dataset
    for name, found in FOUND.items():
        lines = (f"q{q} Q0 {f'd{q}' if q in found else 'x'} 1 1 t\n" for q in range(12))
        run(taken, name, "".join(lines))
    with opened(bench.store) as asked:
        yield asked


def texts(shown: list[Part]) -> list[str]:
    notes = [one for one in shown if isinstance(one, Note)]
    return [
        *(str(getattr(one, "text", "")) for one in shown),
        *(f"{one.shown} {one.behind()}" for one in notes),
    ]


def said(ask: StoreAsk, **chosen: Any) -> str:
    """All that the page says."""
    return "\n".join(texts(parts(page, ask, **chosen)))


def table(ask: StoreAsk, key: str, **chosen: Any) -> Any:
    found = find(page, ask, key, **chosen).part
    assert isinstance(found, Table)
    return found.rows


def test_two_systems_on_one_dataset_in_the_order_of_the_screen(ask: StoreAsk) -> None:
    shown = parts(page, ask, **TWO)
    assert tuple(one.key for one in shown if isinstance(one, Figure | Table)) == SHOWN
    assert "sure leads by " in texts(shown)[1], "behind Swap A and B"
    words = "\n".join(texts(shown))
    assert "sure is better on 2, <b>*mine*&$x$ on 0; equal on 1." in words
    assert "All 3 queries. Difference: sure minus" in words
    (swap, *made) = [one for one in shown if isinstance(one, Button)]
    assert swap.opens.names == {"a": EVIL, "b": "sure"}
    assert [one.opens.names["system"] for one in made] == ["sure", EVIL]


def test_each_part_is_found_at_the_whole_address_of_the_page(ask: StoreAsk) -> None:
    for address, n in ((TWO | {"fuse": True}, 8), (TWO | {"dataset": ALL, "fuse": True}, 4)):
        drawn: list[Found] = list(every(page, ask, **address))
        whole = {**drawn[-1].values} | address
        assert len(drawn) == n
        for one in drawn:
            assert find(page, ask, one.part.key, **whole).part.title == one.part.title
    asked: list[str] = []
    heard = replace(ask, heard=lambda query, *_: asked.append(query.__name__))
    find(page, heard, "differences", **TWO, slice="words", by="by the measure", fuse="true")
    assert "pairs" in asked
    assert not {"tested", "overlaps", "labels", "swept", "among_all"} & set(asked)


def test_the_best_two_come_first_where_there_is_no_bm25(ask: StoreAsk) -> None:
    values = find(page, ask, "differences", dataset="tiny").values
    assert (values["a"], values["b"]) == ("sure", EVIL)
    values = find(page, ask, "differences", dataset="tiny", a=EVIL).values
    assert values["b"] == "sure", "whoever names one has the other beside it"


def test_clicks_open_a_query_or_choose_a_dataset(ask: StoreAsk) -> None:
    shown: Any = find(page, ask, "different", **TWO).part
    wanted = {"dataset": "tiny", "query": "q3", "systems": ["sure", EVIL], "measure": "RR@10"}
    assert (shown.opens.page, shown.opens.of(shown.carried[0])) == ("query", wanted)
    rows: Any = find(page, ask, "rows", **TWO | {"dataset": ALL}).part
    assert rows.opens.of(["again"]) == {"dataset": "again"}


def test_on_all_datasets(ask: StoreAsk) -> None:
    address = TWO | {"dataset": ALL}
    assert "sure has the better mean on 2 of 2." in said(ask, **address)
    assert len(table(ask, "rows", **address)) == 2
    best = table(ask, "fused_best", **address, fuse="true")
    assert best["Loss with it"].tolist() == [".000", ".000"]
    assert "No dataset has both of these systems" in said(ask, dataset=ALL, a="sure", b="a")


def test_p_alone_and_corrected(ask: StoreAsk) -> None:
    tests = table(ask, "tests", **FOUR)
    assert tests[["p", "The two systems"]].iloc[0].tolist() == [".0312", "differ"]
    shown = parts(page, ask, **FOUR)
    told = "With all 6 pairs of systems on this dataset corrected: p = .06, the two cannot be told"
    assert told in "\n".join(texts(shown))
    assert "All systems of this dataset" in {getattr(one, "label", "") for one in shown}


def test_what_the_test_would_have_found_stands_beside_not_significant(ask: StoreAsk) -> None:
    words = said(ask, **FOUR)
    assert "not after correction for 6 pairs" in words.splitlines()[1]
    # On all six queries that differ a is ahead, and that is not significant.
    assert "Too few queries differ to say" in words and " takes " not in words
    words = said(ask, **FOUR | {"b": "c"}, find="0.1")
    # Of twelve queries all would have to differ by more than two values can.
    assert "found with 80% chance: none that is possible, all 6 pairs" in words
    assert "this pair alone, ." in words
    assert ".1 takes " in words and " queries, all 6 pairs corrected" in words


def test_a_system_is_not_compared_with_itself_nor_with_one_that_is_not_there(
    ask: StoreAsk,
) -> None:
    assert "A and B are the same system" in said(ask, dataset="tiny", a="sure", b="sure")
    with pytest.raises(Missing, match=r"No system on tiny here is called surr\. Did you mean sure"):
        parts(page, ask, dataset="tiny", a="surr")
    with pytest.raises(Missing, match="To score the stored runs by it: python -m compute score"):
        parts(page, ask, dataset="tiny", measure="nDCG@7")


def test_queries_are_shown_where_either_is_ahead(ask: StoreAsk) -> None:
    words = said(ask, **FOUR, by="a ahead")
    assert "All 6 queries." in words and "A click opens the query." in words
    assert "No query is of this kind" in said(ask, **FOUR, by="b ahead")


def test_kinds_of_queries_by_labels_of_ones_own(ask: StoreAsk) -> None:
    assert table(ask, "kinds_table", dataset="again", slice=EVIL)["Queries"].to_list() == [1, 1]
    words = said(ask, dataset="again", slice=EVIL)
    assert "Too few queries of each kind" in words
    assert "1 queries are of no known kind and left out." in words
    with pytest.raises(Missing, match="so nothing is tested by it: Dataset shows it"):
        parts(page, ask, dataset="tiny", slice="answered")
    with pytest.raises(Missing, match="It takes the counted words of the collection"):
        parts(page, ask, dataset="tiny", slice="vocabulary")


def test_two_systems_are_fused_where_that_is_asked_for(ask: StoreAsk) -> None:
    assert "on these queries" not in said(ask, **TWO)
    shown = parts(page, ask, **TWO, fuse="true")
    (verdict,) = [one for one in texts(shown) if "the best fusion on these queries" in one]
    assert "50 queries are needed" in verdict
    (form,) = [one for one in shown if isinstance(one, Widget)]
    assert form.values["dataset"] == "tiny" and EVIL in form.values["fusion"]


def test_nothing_to_compare(tmp_path: Path) -> None:
    with opened(Store(Settings(home=tmp_path), shipped=tmp_path / "nothing")) as nothing:
        assert "No dataset has two systems to compare yet" in said(nothing)
