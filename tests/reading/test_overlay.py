"""Official + added judgements: what cursors show, against scoring everything from scratch."""

import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from pandas import DataFrame

from compute.datasets.catalogue import DATASETS
from compute.evaluate.runs import canonical
from compute.judgements import (
    ADJUDICATION,
    IMPORT,
    IN_VIEW,
    PERSON,
    RULES,
    WITHDRAWN,
    Choice,
    resolve,
)
from compute.reading.database import open_version
from compute.reading.overlay import Official, Overlays, versions
from compute.store.store import Store
from compute.views.annotate import select_added
from compute.views.leaderboard import select as leaderboard_select
from tests.support import worlds
from tests.support.filled import withdraw
from tests.support.oracles import (
    by_definition,
    by_ir_measures,
    by_pytrec_eval,
    qrels,
)
from tests.support.scored import DEPTH, MEASURES, added, publish
from tests.support.storage import open_store

SYSTEMS = ("one", "two")
# Each case publishes a store of its own: to shrink one would take minutes.
CASES = settings(
    worlds.CASES,
    max_examples=worlds.CASES.max_examples // 20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    phases=(Phase.explicit, Phase.generate),
)

_row = st.tuples(
    st.sampled_from(worlds.QUERIES),
    st.sampled_from(worlds.DOCUMENTS),
    st.none() | st.integers(-1, 3),
    st.sampled_from(["ada", "bob"]),
    st.sampled_from([PERSON, PERSON, PERSON, ADJUDICATION, IMPORT, WITHDRAWN]),
    # Told by the row, or that of saving.
    st.none() | st.sampled_from(["2026-06-01", "2026-06-02"]),
    st.sampled_from(["", "", IN_VIEW]),
)


def counted_in(judgements: DataFrame, rows: DataFrame, choice: Choice) -> DataFrame:
    """Official judgements, and the labels of pairs that have none."""
    labels = resolve(rows, choice)[["query_id", "doc_id", "relevance"]]
    whole = pd.concat([judgements, labels], ignore_index=True)
    return whole.drop_duplicates(["query_id", "doc_id"], ignore_index=True)


TABLES = {
    "scores": "select system, query_id, measure, value from scores where dataset = ?",
    "means": "select * exclude (dataset) from means where dataset = ?",
    "judgements": "select query_id, doc_id, relevance from judgements where dataset = ?",
}


def shown(overlays: Overlays, seen: int, choice: Choice | None, dataset: str = "scifact") -> dict:
    """The tables of a dataset as a cursor shows them: value by the columns that name it."""
    found = {}
    with overlays.cursor(seen, choice) as cursor:
        for table, query in TABLES.items():
            frame = cursor.execute(query, [dataset]).df()
            keys = [n for n in ("system", "query_id", "doc_id", "measure") if n in frame]
            rows = frame.set_index(keys).astype("float64")
            assert rows.index.is_unique
            found[table] = dict(zip(rows.index, rows.to_numpy().tolist(), strict=True))
    return found


def assert_same(left: dict, right: dict) -> None:
    for table in TABLES:
        assert left[table].keys() == right[table].keys()
        values = [[found[table][key] for key in left[table]] for found in (left, right)]
        np.testing.assert_allclose(*values, rtol=0, atol=1e-12)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "home")
    yield opened
    opened.close()


@pytest.mark.long
@CASES
@given(
    worlds.judgements(),
    st.tuples(worlds.hits(), worlds.hits()),
    st.lists(_row, min_size=1, max_size=12),
    st.sampled_from(list(RULES)),
    st.sampled_from([(PERSON, ADJUDICATION), (PERSON, IMPORT), (IMPORT,)]),
    st.lists(st.integers(1, 3), min_size=12, max_size=12),
)
def test_counting_in_as_they_come_equals_all_at_once_and_scoring_from_scratch(
    tmp_path_factory, judgements, found, rows, rule, sources, steps
):
    # What is scored is known from what was: of some query that has hits every measure is.
    assume(set(judgements["query_id"]) & {query for part in found for query in part["query_id"]})
    store = open_store(tmp_path_factory.mktemp("world") / "home")
    choice = Choice(rule, sources)
    lists: dict[str, DataFrame] = dict(zip(SYSTEMS, found, strict=True))
    publish(store, "scifact", judgements, lists)
    overlays = Overlays(store, open_version(store))
    official = shown(overlays, 0, None)
    newest = shown(overlays, 0, choice)
    assert_same(newest, official)
    seen = place = 0
    for step in steps:
        if place < len(rows):
            seen = store.add_judgements(added(rows[place : place + step]))
            newest = shown(overlays, seen, choice)
        place += step
    assert_same(shown(overlays, seen, None), official)
    whole = counted_in(judgements, store.added_judgements(), choice)
    publish(store, "nfcorpus", whole, lists)
    fresh = Overlays(store, open_version(store))
    assert_same(newest, shown(fresh, seen, choice))
    assert_same(newest, shown(fresh, seen, None, "nfcorpus"))
    for system, hits in lists.items():
        ranked = worlds.lists(canonical(hits, depth=DEPTH, drop_self=False).frame)
        judged = qrels(whole)
        expected = by_definition(judged, ranked)
        expected |= by_pytrec_eval(judged, ranked) | by_ir_measures(judged, ranked)
        for (measure, query_id), value in expected.items():
            assert newest["scores"][system, query_id, measure][0] == pytest.approx(value, abs=1e-9)
    store.close()


def hits(**lists: str) -> DataFrame:
    """Hits from lists such as `q1="a b c"`, best first."""
    rows = [
        (query_id, doc_id, -rank)
        for query_id, documents in lists.items()
        for rank, doc_id in enumerate(documents.split())
    ]
    frame = DataFrame(rows, columns=["query_id", "doc_id", "score"])
    return frame.astype({"score": np.float64})


def judged(**grades: dict[str, int]) -> DataFrame:
    rows = [(query, doc, grade) for query, docs in grades.items() for doc, grade in docs.items()]
    return DataFrame(rows, columns=["query_id", "doc_id", "relevance"])


def small(store: Store, **options: int) -> Overlays:
    """Three queries: one judged well, one whose judgement is 0, one without any; two systems."""
    lists = {"one": hits(q9="a z", q10="z a", ü="9 a"), "two": hits(q9="z", q10="z 9")}
    publish(store, "scifact", judged(q9={"a": 1}, q10={"10": 0}), lists, **options)
    return Overlays(store, open_version(store))


def value(overlays: Overlays, seen: int, system: str, query_id: str, measure: str) -> float | None:
    """One score as the default choice has it; None where there is none."""
    scores = shown(overlays, seen, Choice())["scores"]
    return scores[system, query_id, measure][0] if (system, query_id, measure) in scores else None


def test_sources_of_nothing_make_no_other_choice(store):
    overlays = small(store)
    seen = store.add_judgements(added([("q10", "z", 1, "ada", PERSON)]))
    for sources in (Choice().sources, (PERSON,)):
        with overlays.cursor(seen, Choice(sources=sources)):
            pass
    assert len(overlays._overlays) == 1
    seen = store.add_judgements(added([("q10", "9", 1, "eve", ADJUDICATION)]))
    all_of, alone = (
        shown(overlays, seen, Choice(sources=sources))["judgements"]
        for sources in (Choice().sources, (PERSON,))
    )
    assert len(all_of) == len(alone) + 1


def test_an_official_judgement_wins_over_an_added_one(store):
    overlays = small(store)
    seen = store.add_judgements(added([("q9", "a", 0, "ada", PERSON)]))
    assert_same(shown(overlays, seen, Choice()), shown(overlays, seen, None))


def test_a_query_without_a_relevant_document_becomes_scorable_and_so_does_one_without_any(store):
    overlays = small(store)
    assert value(overlays, 0, "one", "q10", "nDCG@10") == 0
    assert value(overlays, 0, "one", "ü", "nDCG@10") is None
    rows = [("q10", "z", 1, "ada", PERSON), ("ü", "a", 1, "ada", PERSON)]
    seen = store.add_judgements(added(rows))
    assert value(overlays, seen, "one", "q10", "nDCG@10") == 1
    assert value(overlays, seen, "one", "ü", "nDCG@10") == pytest.approx(1 / np.log2(3))
    # The second system has nothing for it, which counts as 0.
    assert value(overlays, seen, "two", "ü", "nDCG@10") == 0
    means = shown(overlays, seen, Choice())["means"]
    assert means["two", "RR@10"] == pytest.approx([(0 + 1 + 0) / 3, (0 + 1) / 2, 3, 1])


def test_holes_as_beirs_code_move_in_other_queries_that_retrieve_the_document(store):
    overlays = small(store)
    assert value(overlays, 0, "two", "q10", "Hole_beir@10") == pytest.approx(0.2)
    seen = store.add_judgements(added([("q9", "z", 0, "ada", PERSON)]))
    assert value(overlays, seen, "two", "q10", "Hole_beir@10") == pytest.approx(0.1)
    assert value(overlays, seen, "two", "q10", "Hole@10") == 1
    seen = withdraw(store, seen, WITHDRAWN)
    assert_same(shown(overlays, seen, Choice()), shown(overlays, seen, None))


def test_judgements_of_queries_and_datasets_that_are_not_here_change_nothing(store):
    overlays = small(store)
    store.add_judgements(added([("elsewhere", "a", 1, "ada", PERSON)]))
    seen = store.add_judgements(added([("q9", "a", 1, "ada", PERSON)], "nfcorpus"))
    assert_same(shown(overlays, seen, Choice()), shown(overlays, seen, None))


def test_what_cut_hits_cannot_tell_is_absent_rather_than_official(store):
    overlays = small(store, cut=3)
    seen = store.add_judgements(added([("q9", "z", 1, "ada", PERSON)]))
    found = shown(overlays, seen, Choice())
    assert ("one", "q9", "nDCG@3") in found["scores"]
    for table in ("scores", "means"):
        assert {key[-1] for key in found[table]} == {m for m in MEASURES if m[-2:] in _TO_3}
    # A dataset that nobody judged keeps its measures.
    assert ("one", "q9", "nDCG@10") in shown(overlays, 0, Choice())["scores"]


_TO_3 = {"@1", "@2", "@3"}


@pytest.mark.long
def test_a_version_stays_as_it_was_while_later_judgements_are_counted(store):
    overlays = small(store)
    first = store.add_judgements(added([("q9", "z", 1, "ada", PERSON)]))
    with overlays.cursor(first, Choice()) as cursor:
        before = cursor.execute("from scores order by all").fetchall()
        for grade in range(versions.KEPT + 3):
            last = store.add_judgements(added([("q10", "z", grade, "ada", PERSON)]))
            shown(overlays, last, Choice())
        assert cursor.execute("from scores order by all").fetchall() == before
        assert cursor.execute("select max(id) from added_judgements").fetchone() == (first,)
    with overlays.cursor(first + 1, Choice()) as cursor:  # let go meanwhile
        assert cursor.execute("select count(*) from added_judgements").fetchone() == (2,)
        rows = "select relevance from judgements where query_id = 'q10' and doc_id = 'z'"
        assert cursor.execute(rows).fetchall() == [(0,)]


@pytest.mark.long
def test_what_nobody_needs_is_dropped(store):
    overlays = small(store)
    seen = 0
    for grade in range(8):
        seen = store.add_judgements(added([("q10", "z", grade, "ada", PERSON)]))
        for rule in RULES:
            shown(overlays, seen, Choice(rule))
    with overlays.reading.cursor() as cursor:
        kept = cursor.execute("select count(distinct overlay) from kept.scores").fetchone()
        (rows,) = cursor.execute("select count(*) from kept.scores").fetchall()[0]
    assert kept == (versions.CHOICES,)
    # A few versions of the two queries that moved, of two systems.
    assert rows <= versions.CHOICES * versions.KEPT * 2 * 2 * len(MEASURES)


@pytest.mark.long
@pytest.mark.parametrize("table", ["labels", "scores", "means"])
def test_of_a_row_that_each_version_replaces_the_kept_versions_hold_one_each(store, table):
    overlays = small(store)
    for grade in range(versions.KEPT + 3):
        seen = store.add_judgements(added([("q10", "z", grade, "ada", PERSON)]))
        shown(overlays, seen, Choice())
    rows = {
        "labels": "query_id = 'q10'",
        "scores": "query_id = 'q10' and system = 'one' and measure = 'nDCG@3'",
        "means": "system = 'one' and measure = 'nDCG@3'",
    }
    with overlays.reading.cursor() as cursor:
        born = cursor.execute(f"select born from kept.{table} where {rows[table]} order by born")
        # The judgements have the ids 1 to 7; what died when the oldest kept version came is gone.
        assert born.fetchall() == [(4,), (5,), (6,), (7,)]


@pytest.mark.long
def test_means_of_a_dataset_of_parts_follow_their_parts(store):
    forums = DATASETS["cqadupstack"].parts
    for forum in forums:
        publish(store, forum, judged(q9={"a": 1}), {"one": hits(q9="z a", q10="z")})
    overlays = Overlays(store, open_version(store))
    before = shown(overlays, 0, Choice(), "cqadupstack")["means"]["one", "RR@10"]
    assert before == [0.5, 0.5, len(forums), 0]
    seen = store.add_judgements(added([("q9", "z", 1, "ada", PERSON)], forums[3]))
    after = shown(overlays, seen, Choice(), "cqadupstack")["means"]["one", "RR@10"]
    assert after == pytest.approx([0.5 + 0.5 / len(forums)] * 2 + [len(forums), 0])
    seen = store.add_judgements(added([("q10", "9", 1, "ada", PERSON)], forums[4]))
    after = shown(overlays, seen, Choice(), "cqadupstack")["means"]["one", "RR@10"]
    assert after[2:] == [len(forums) + 1, 0]
    whole = counted_in(judged(q9={"a": 1}), added([("q9", "z", 1, "ada", PERSON)]), Choice())
    assert len(whole) == 2


@pytest.mark.long
def test_versions_share_what_their_datasets_are_until_a_part_is_replaced(store):
    small(store)
    publish(store, "nfcorpus", judged(q9={"a": 1}), {"one": hits(q9="z a")})
    for dataset in ("scifact", "nfcorpus"):
        seen = store.add_judgements(added([("q9", "z", 2, "ada", PERSON)], dataset))
    known: dict[str, Official] = {}
    before = Overlays(store, open_version(store), known)
    shown(before, seen, Choice())
    read = dict(known)
    assert set(read) == {"scifact", "nfcorpus"}
    # The other dataset is another one now.
    publish(store, "nfcorpus", judged(q9={"a": 2}), {"one": hits(q9="a z")})
    after = Overlays(store, open_version(store), known)
    for dataset in read:
        fresh = Overlays(store, open_version(store))
        assert_same(shown(after, seen, Choice(), dataset), shown(fresh, seen, Choice(), dataset))
    assert known["scifact"] is read["scifact"]
    assert known["nfcorpus"] is not read["nfcorpus"]
    # Judgements that come later move either version's own copy alone.
    later = store.add_judgements(added([("q10", "z", 1, "ada", PERSON)]))
    assert_same(shown(after, later, Choice()), shown(before, later, Choice()))
    assert_same(shown(before, seen, Choice()), shown(after, seen, Choice()))


@pytest.mark.long
def test_many_threads_see_their_own_versions(store):
    overlays = small(store)
    expected = {}
    for grade in range(4):
        seen = store.add_judgements(added([("q10", "z", grade, "ada", PERSON)]))
        expected[seen] = grade
    wrong = []

    def look(seen: int) -> None:
        for _ in range(5):
            with overlays.cursor(seen, Choice("latest")) as cursor:
                query = "select relevance from judgements where query_id = 'q10' and doc_id = 'z'"
                (found,) = cursor.execute(query).fetchall()
                if found != (expected[seen],):
                    wrong.append((seen, found))

    threads = [threading.Thread(target=look, args=[seen]) for seen in list(expected) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.long
def test_a_failure_halfway_leaves_nothing_of_it(store):
    overlays = small(store)
    first = store.add_judgements(added([("q10", "z", 1, "ada", PERSON)]))
    shown(overlays, first, Choice())
    seen = store.add_judgements(added([("q9", "z", 1, "ada", PERSON)]))
    ranked = overlays.reading.parts["top", "scifact", "one"].path
    away = ranked.rename(ranked.with_suffix(".away"))
    with pytest.raises(duckdb.IOException):
        shown(overlays, seen, Choice())
    with overlays.reading.cursor() as cursor:
        assert cursor.execute("select count(*) from kept.labels").fetchone() == (0,)
    away.rename(ranked)
    assert value(overlays, seen, "two", "q9", "nDCG@1") == 1
    assert value(overlays, seen, "two", "q10", "nDCG@1") == 1


def test_every_query_of_a_page_runs_on_the_cursor(store):
    overlays = small(store)
    seen = store.add_judgements(added([("q9", "z", 1, "ada", PERSON)]))
    with overlays.cursor(seen, Choice()) as cursor:
        means = leaderboard_select.means(cursor, "RR@10").set_index("system")
        assert means.loc["two", "value"] == 0.5
        (total, people) = select_added.counted(cursor, [PERSON]).to_dict("records")
        assert (total["n_judgements"], people["source"]) == (1, PERSON)
    with overlays.cursor(seen) as cursor:
        means = leaderboard_select.means(cursor, "RR@10").set_index("system")
        assert means.loc["two", "value"] == 0
