"""Runs scored by one judgement set, against publishing them with these judgements alone."""

from pathlib import Path

import numpy as np
import pytest
from duckdb import DuckDBPyConnection
from hypothesis import HealthCheck, assume, given, settings
from pandas import DataFrame

from compute.base.errors import Missing
from compute.judgements import IMPORT, PERSON, Choice
from compute.judgements.machine_grades import KIND
from compute.reading import judgement_sets
from compute.reading.database import open_version
from compute.reading.overlay import Overlays
from compute.store.store import Store
from tests.support import worlds
from tests.support.scored import added, publish
from tests.support.storage import open_store

CASES = settings(
    worlds.CASES,
    max_examples=max(worlds.CASES.max_examples // 20, 1),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TABLES = {
    "scores": "select system, query_id, measure, value from scores where dataset = 'scifact'",
    "means": "select * exclude (dataset) from means where dataset = 'scifact'",
    "judgements": "select query_id, doc_id, relevance from judgements where dataset = 'scifact'",
}


def shown(cursor: DuckDBPyConnection) -> dict[str, dict]:
    found = {}
    for table, query in TABLES.items():
        frame = cursor.execute(query).df()
        keys = [n for n in ("system", "query_id", "doc_id", "measure") if n in frame]
        rows = frame.set_index(keys).astype("float64")
        found[table] = dict(zip(rows.index, rows.to_numpy().tolist(), strict=True))
    return found


def assert_same(left: dict[str, dict], right: dict[str, dict]) -> None:
    for table in TABLES:
        assert left[table].keys() == right[table].keys()
        values = [[found[table][key] for key in left[table]] for found in (left, right)]
        np.testing.assert_allclose(*values, rtol=0, atol=1e-12)


def grade(store: Store, machine: str, rows: DataFrame) -> None:
    """Publish a machine's grades on scifact."""
    with store.publishing("grades") as parts:
        about = {"dataset": "scifact", "system": machine, "fingerprint": machine}
        parts.add(KIND, rows, **about, provenance={"file": "g.csv"})


@pytest.mark.long
@CASES
@given(worlds.judgements(), worlds.judgements(), worlds.hits(), worlds.hits())
def test_scores_by_a_set_are_those_of_these_judgements_alone(
    tmp_path_factory: pytest.TempPathFactory,
    official: DataFrame,
    graded: DataFrame,
    one: DataFrame,
    two: DataFrame,
) -> None:
    # What is scored is known from what was: of some query that has hits every measure is.
    for judged in (official, graded):
        assume(set(judged["query_id"]) & set(one["query_id"]) & set(two["query_id"]))
    lists = {"one": one, "two": two}
    store, other = (open_store(tmp_path_factory.mktemp(name) / "home") for name in "ab")
    publish(store, "scifact", official, lists)
    publish(other, "scifact", graded, lists)
    grade(store, "gpt", graded)
    reading, expected = open_version(store), open_version(other)
    with judgement_sets.cursor_of(reading, "machine:gpt") as cursor:
        assert_same(shown(cursor), shown(expected.cursor()))
    with judgement_sets.cursor_of(reading, "official") as cursor:
        assert_same(shown(cursor), shown(reading.cursor()))
    for opened in (store, other):
        opened.close()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two runs on scifact, its judgements, and all other sets."""
    store = open_store(tmp_path / "home")
    judged = DataFrame(
        [("q10", "a", 1), ("q9", "z", 2)], columns=["query_id", "doc_id", "relevance"]
    )
    runs = {
        "one": DataFrame(
            [("q10", "a", 2.0), ("q10", "z", 1.0), ("q9", "z", 1.0)],
            columns=["query_id", "doc_id", "score"],
        ),
        "two": DataFrame(
            [("q10", "z", 2.0), ("q9", "a", 1.0)], columns=["query_id", "doc_id", "score"]
        ),
    }
    publish(store, "scifact", judged, runs)
    store.add_judgements(
        added([("q10", "z", 2, "ada", PERSON), ("q9", "a", 1, "bob", IMPORT, "2026-06-01")]).assign(
            note=["", "more.qrels"]
        )
    )
    grade(store, "gpt", judged.assign(relevance=[0, 3]))
    return store


def test_every_set_is_listed_with_what_is_in_it(store: Store) -> None:
    with open_version(store).cursor() as cursor:
        found = judgement_sets.listed(cursor).set_index("set")
    assert list(found.index) == [
        "official",
        "added",
        "person:ada",
        "file:more.qrels",
        "machine:gpt",
    ]
    assert found["n_pairs"].tolist() == [2, 3, 1, 1, 2]
    machine = found.loc[["machine:gpt"], ["n_queries", "n_relevant", "grades", "made_from"]]
    assert machine.to_numpy().tolist() == [[2, 1, "0: 1, 3: 1", "g.csv"]]


def test_a_person_alone_judges_what_she_judged(store: Store) -> None:
    reading = open_version(store)
    query = "select system, value, n_queries from means where measure = 'P@1' order by system"
    with judgement_sets.cursor_of(reading, "person:ada") as cursor:
        assert cursor.execute(query).fetchall() == [("one", 0.0, 1), ("two", 1.0, 1)]
    with reading.cursor() as cursor:
        # What a set shows is its own cursor's.
        assert cursor.execute(query).fetchall() == [("one", 1.0, 2), ("two", 0.0, 2)]


def test_the_set_added_is_what_the_overlay_counts_in(store: Store) -> None:
    reading = open_version(store)
    choice = Choice("highest", (PERSON, IMPORT))
    overlays = Overlays(store, open_version(store))
    with (
        judgement_sets.cursor_of(reading, "added", choice) as cursor,
        overlays.cursor(store.judgement_version(), choice) as expected,
    ):
        assert_same(shown(cursor), shown(expected))


def test_a_set_that_is_not_there_names_those_that_are(store: Store) -> None:
    reading = open_version(store)
    with (
        pytest.raises(Missing, match="no judgement set 'machine:gtp': did you mean machine:gpt"),
        judgement_sets.cursor_of(reading, "machine:gtp"),
    ):
        pass
    with pytest.raises(Missing, match="no judgement set 'x' of scifact: known: official, added"):
        judgement_sets.labels(reading.cursor(), "scifact", "x")
