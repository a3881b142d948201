"""Compare on a dataset without judgements: what the ranked lists alone say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from compute.base.settings import Settings
from compute.datasets import shapes
from compute.intake import imports
from compute.store.loading import Bench
from compute.store.store import Store
from compute.views.compare import before_labels, select
from compute.views.compare.page import page
from compute.views.page import Figure, Heading, Message, Part, Table, Text, parts
from compute.views.page.store_ask import StoreAsk, opened
from tests.support.unjudged import TEXTS, unjudged

TWO: dict[str, Any] = {"dataset": "bare", "a": "a", "b": "b"}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreAsk]:
    folder = tmp_path_factory.mktemp("before_labels")
    settings = Settings(home=folder / "home", threads=1)
    bench = Bench(Store(settings, shipped=folder / "nothing"), settings)
    unjudged(bench, folder)
    with opened(bench.store) as found:
        yield found


@pytest.fixture
def shown(ask: StoreAsk) -> list[Part]:
    return parts(page, ask, **TWO)


def table(shown: list[Part], key: str) -> dict[Any, list[Any]]:
    (found,) = [one for one in shown if isinstance(one, Table) and one.key == key]
    return {name: values.tolist() for name, values in found.shown.items()}


def test_parts_stand_in_the_order_of_the_screen(shown: list[Part]) -> None:
    keys = [one.key for one in shown if isinstance(one, Figure | Table)]
    assert keys == ["depths", "likeness", "hubs", "changed"]
    first = next(one.text for one in shown if isinstance(one, Heading))
    # q1 is the same in both; q2 shares the last of three, q3 two in another order.
    assert first.startswith(
        "a and b differ in the top 10, in documents or order, on 2 of 3 queries (67%): "
    )


def test_overlap_is_the_share_of_the_first_k(shown: list[Part]) -> None:
    # Below the third rank, the last of all lists, nothing is told.
    assert table(shown, "depths")["Shared documents"] == ["33%", "67%"]
    assert table(shown, "depths")["Queries sharing all"] == ["1", "1"]
    assert table(shown, "depths")["Queries sharing none"] == ["2", "0"]


def test_a_document_in_many_top_lists_is_named(shown: list[Part], ask: StoreAsk) -> None:
    assert table(shown, "hubs")["Document"] == ["hub"]
    (said,) = [one.text for one in shown if isinstance(one, Text) and "hub" in one.text]
    assert said.startswith("hub is in 100% of the top-10 lists of a and 100% of those of b")
    tops = ask(select.tops, datasets=["bare"], a="a", b="b")
    # d1, d2 and d3 are in two lists of a run only.
    assert before_labels.hubs(tops)["n_a"].tolist() == [3]


def test_queries_that_changed_most_stand_side_by_side_with_texts(shown: list[Part]) -> None:
    found = table(shown, "changed")
    assert found["Query"] == ["q2", "q3"]
    assert found["Only a"] == [f"1: {TEXTS['d2']}", f"3: {TEXTS['d1']}"]
    assert found["Only b"] == [f"1: {TEXTS['d4']}", f"3: {TEXTS['d2']}"]
    assert found["Overlap@10"] == [1, 2]


def test_equal_lists_are_said_to_be_equal() -> None:
    tops = pd.DataFrame(
        {"dataset": "x", "query_id": ["q"], "doc_id": ["d"], "rank_a": [1], "rank_b": [1]}
    )
    rows = pd.DataFrame({"dataset": "x", "query_id": ["q"], "rbo": [1.0], "shared": [1]})
    words = before_labels.said(rows, tops, ("A", "B"))
    assert words == "A and B have the same top 10 on all 1 query."
    assert before_labels.most_changed(rows, tops).empty


def test_runs_that_share_no_query_are_not_called_different(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", threads=1)
    bench = Bench(Store(settings, shipped=tmp_path / "nothing"), settings)
    lists = {"a": "01 Q0 d1 1 2 a\n02 Q0 d1 1 2 a\n", "b": "1 Q0 d1 1 2 b\n2 Q0 d2 1 2 b\n"}
    for name, lines in lists.items():
        (tmp_path / name).write_text(lines, "utf-8")
    files = [(tmp_path / name, shapes.How()) for name in lists]
    made = imports.import_dataset(bench, "bare", files=files)
    for file, _ in files:
        imports.import_run(bench, file, made.dataset)
    with opened(bench.store) as ask:
        shown = parts(page, ask, **TWO)
        said = [one.text for one in shown if isinstance(one, Message)][-1]
        assert said.startswith(
            "a and b cannot be compared because they share no query: a answers 2 queries, b"
            " answers 2 others. For a, its query '01'"
        )
        assert "its query '01' is '1' in b, except for leading zeros; in all 2 of 2" in said
        assert not [one for one in shown if isinstance(one, Figure | Table | Heading)]
