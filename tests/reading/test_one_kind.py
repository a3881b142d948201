"""One kind of queries alone is what filtering by hand gives."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base.settings import Settings
from compute.datasets import DATASETS
from compute.judgements import Choice
from compute.reading.database import open_version
from compute.reading.overlay import Overlays
from compute.store.store import Store
from compute.views.compare import fusion_sweep, fusions
from compute.views.compare import select as compare_select
from compute.views.dataset import select_systems
from compute.views.holes import select as holes_select
from compute.views.lengths import select as lengths_select
from compute.views.shared import matrices
from compute.views.shared.held_lists import held
from tests.support.holes import EVIL, fill, judge
from tests.support.storage import hits, open_store, publish_run, scores
from tests.support.worlds import intervals

KIND = DataFrame({"dataset": "tiny", "query_id": ["q1", "q3"]})
OF_ONE = DataFrame({"dataset": ["tiny"], "query_id": ["q2"]})
RUN = hits(("q1", "d1", 1), ("q2", "d1", 1))
SYSTEMS = ["sure", EVIL]
ASKED: dict[str, Any] = {"dataset": "tiny", "systems": SYSTEMS, "measure": "nDCG@10"}


@pytest.fixture(scope="module")
def overlays(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Overlays]:
    home = fill(tmp_path_factory.mktemp("kinds"))
    judge(home, ("q1", "d6", 1), ("q2", "d1", 1))
    store = Store(Settings(home=home, threads=1), home / "none")
    found = Overlays(store, open_version(store))
    yield found
    found.reading.close()


def by_kind(
    overlays: Overlays, queries: DataFrame | None, *, added: bool = False
) -> AbstractContextManager[DuckDBPyConnection]:
    return overlays.cursor(2, Choice() if added else None, queries)


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("queries", [KIND, OF_ONE])
def test_means_are_those_of_its_scores(overlays: Overlays, queries: DataFrame, added: bool) -> None:
    with by_kind(overlays, None, added=added) as cursor:
        rows = cursor.execute("select * from scores").df().merge(queries)
    expected = rows.groupby(["system", "measure"])["value"].mean().dropna()
    with by_kind(overlays, queries, added=added) as cursor:
        found = cursor.execute("select * from means").df()
        left = cursor.execute("select distinct query_id from scores").df()["query_id"]
        board = matrices.of_boards(cursor, "nDCG@10", ["tiny"], SYSTEMS)[0]
    assert sorted(left) == sorted(queries["query_id"])
    assert set(found["n_queries"]) == {len(queries)}
    values = found.set_index(["system", "measure"])["value"].dropna()
    pd.testing.assert_series_equal(values.sort_index(), expected, check_index_type=False)
    assert board.queries["query_id"].to_list() == sorted(queries["query_id"])
    np.testing.assert_allclose(board.values.mean(axis=1), [expected[s, "nDCG@10"] for s in SYSTEMS])


@pytest.mark.parametrize("added", [False, True])
def test_ranges_and_lists_are_those_of_its_queries(overlays: Overlays, added: bool) -> None:
    with by_kind(overlays, None, added=added) as cursor:
        every = intervals(held(cursor, "tiny", SYSTEMS, 10), "nDCG@10", {})
        alike = compare_select.overlaps(cursor, ["tiny"], *SYSTEMS)
    with by_kind(overlays, KIND, added=added) as cursor:
        found = holes_select.bounds(cursor, **ASKED).set_index("system")
        own = compare_select.overlaps(cursor, ["tiny"], *SYSTEMS)
        grades = select_systems.grades(cursor, ["tiny"])
    expected = every[every["query_id"].isin(KIND["query_id"])].groupby("system")
    for column in ("value", "low", "high"):
        np.testing.assert_allclose(found[column], expected[column].mean()[found.index])
    assert found["n_holes"].to_list() == expected["n_holes"].sum()[found.index].to_list()
    assert own["query_id"].to_list() == [
        one for one in alike["query_id"] if one in set(KIND["query_id"])
    ]
    assert set(grades["query_id"]) == {"q1", "q3"}


def test_lengths_are_those_of_what_its_queries_retrieve(overlays: Overlays) -> None:
    with by_kind(overlays, None) as cursor:
        words = cursor.execute("select doc_id, n_words from lengths").df()
        top = cursor.execute("select * from top").df().merge(words)
    with by_kind(overlays, KIND) as cursor:
        rows = lengths_select.summaries(cursor, ["tiny"], k=2)
    found = {(one["of"], one["system"]): one for one in rows.to_dict("records")}
    own = top[top["query_id"].isin(KIND["query_id"]) & (top["rank"] <= 2)]
    for system in SYSTEMS:
        lengths = own.loc[own["system"] == system, "n_words"]
        assert found["top", system]["n"] == len(lengths)
        assert found["top", system]["mean"] == pytest.approx(lengths.mean())
    assert found["corpus", ""]["n"] == len(words), "the collection stays whole"
    assert found["queries", ""]["n"] == 2


def test_who_reads_all_queries_meanwhile_reads_all(overlays: Overlays) -> None:
    counts = "select count(distinct query_id) from scores"
    kinds = (KIND, OF_ONE, None)
    with ExitStack() as stack:
        cursors = [stack.enter_context(by_kind(overlays, queries)) for queries in kinds]
        assert [cursor.execute(counts).fetchone() for cursor in cursors] == [(2,), (1,), (3,)]
    with overlays.reading.cursor() as cursor:
        assert cursor.execute("select count(*) from kept.of_kind").fetchone() == (0,)


def test_a_dataset_of_parts_is_the_mean_of_those_that_have_such_queries(tmp_path: Path) -> None:
    store, parts = open_store(tmp_path), DATASETS["cqadupstack"].parts
    for place, forum in enumerate(parts):
        publish_run(store, forum, "bm25", RUN, scores("R@10", q1=place / 20, q2=0.5))
    some = DataFrame({"dataset": parts[:2], "query_id": "q1"})
    overlays = Overlays(store, open_version(store))
    with overlays.cursor(0, None, some) as cursor:
        found = cursor.execute(
            "select value, n_queries from means where dataset = 'cqadupstack'"
        ).fetchall()
    overlays.reading.close()
    assert found == [(pytest.approx(0.025), 2)]


@pytest.mark.long
def test_a_fusion_on_a_dataset_of_parts_is_over_the_queries_of_the_kind(tmp_path: Path) -> None:
    store, parts = open_store(tmp_path), DATASETS["cqadupstack"].parts[:2]
    lists = {"a": RUN, "b": hits(("q1", "d2", 1), ("q2", "d2", 1))}
    grades = DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d1", "d2"], "relevance": 1})
    about: dict[str, Any] = {"fingerprint": "f", "provenance": {"depth": 10}}
    for part in parts:
        with store.publishing(f"fill {part}") as publication:
            publication.add("judgements", grades, dataset=part, **about)
            for system, run in lists.items():
                publication.add("hits", run, dataset=part, system=system, **about)
    overlays = Overlays(store, open_version(store))
    some = DataFrame({"dataset": [*parts, parts[1]], "query_id": ["q1", "q1", "q2"]})
    swept = []
    for queries in (None, some):
        with overlays.cursor(0, None, queries) as cursor:
            rows = [fusion_sweep.swept(cursor, part, "a", "b", "RR@10") for part in parts]
        swept.append(fusions.swept(pd.concat(rows), "RR@10"))
    overlays.reading.close()
    every, found = swept
    assert every and (every.n, every.alone) == (4, (0.5, 0.5))
    # Of the first part q1 alone, where a is right; of the second both; the parts count the same.
    assert found and (found.n, found.alone) == (3, (0.75, 0.25))
