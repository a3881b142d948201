"""Where relevant documents are lost: worked by hand, and against brute force on made-up runs."""

import json
import random
from collections import Counter
from collections.abc import Callable

import duckdb
import pandas as pd
import pytest

from compute.views.shared import lost

FIRST, SECOND, OTHER = "bm25", "rerank(bm25,some/model,depth=15)", "else"
IMPORTED, ALONE = "mine", "rerank(absent,some/model)"
QUERIES = [f"q{n}" for n in range(9)]
Lists = dict[str, dict[str, list[str]]]


def made(seed: int) -> tuple[Lists, set[tuple[str, str]]]:
    """Lists by system and query, three of them reranked, and relevant pairs. The first stage of the
    last is not stored."""
    chance = random.Random(seed)
    names = [f"d{n}" for n in range(60)]
    lists: Lists = {name: {} for name in (FIRST, SECOND, OTHER, IMPORTED, ALONE)}
    for query in QUERIES:
        first = chance.sample(names, 30)
        lists[FIRST][query] = first
        lists[SECOND][query] = chance.sample(first[:15], 15)
        lists[OTHER][query] = chance.sample(names, 5)
        lists[IMPORTED][query] = chance.sample(first[:20], 20)
        lists[ALONE][query] = chance.sample(names[:20], 12)
    return lists, {(query, doc) for query in QUERIES for doc in chance.sample(names, 12)}


def asked(
    lists: Lists,
    relevant: set[tuple[str, str]],
    ask: Callable[[duckdb.DuckDBPyConnection], pd.DataFrame],
) -> pd.DataFrame:
    hits = [
        ("tiny", system, query, doc, rank)
        for system, of in lists.items()
        for query, docs in of.items()
        for rank, doc in enumerate(docs, 1)
    ]
    judged = [("tiny", query, doc, 1) for query, doc in sorted(relevant)]
    judged += [("tiny", QUERIES[0], "d99", 0), ("other", QUERIES[0], "d1", 1)]
    said = {IMPORTED: json.dumps({"first_stage": FIRST})}
    stored = [("hits", "tiny", system, said.get(system, "{}")) for system in lists]
    pair = ["query_id", "doc_id"]
    frames = {
        "hits": pd.DataFrame(hits, columns=["dataset", "system", *pair, "rank"]),
        "judgements": pd.DataFrame(judged, columns=["dataset", *pair, "relevance"]),
        "parts": pd.DataFrame(stored, columns=["kind", "dataset", "system", "provenance"]),
    }
    with duckdb.connect() as connection:
        for name, frame in frames.items():
            connection.register(name, frame)
        return ask(connection)


def place(lists: Lists, system: str, query: str, doc: str) -> int:
    """By the definition."""
    own = lists[system][query]
    stage = {SECOND: FIRST, IMPORTED: FIRST}.get(system, "")
    first = lists[stage][query] if stage else []
    if doc in own[: lost.K]:
        return lost.TOP
    if doc in own:
        return lost.DEMOTED if doc in first[: lost.K] else lost.BELOW
    if doc in first:
        return lost.CUT
    if not any(doc in of[query] for of in lists.values()):
        return lost.NOWHERE
    return lost.TOO_DEEP if stage else lost.ELSEWHERE


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("a", "b"),
    [(FIRST, SECOND), (SECOND, OTHER), (OTHER, FIRST), (IMPORTED, SECOND), (ALONE, IMPORTED)],
)
def test_places_are_those_of_the_definition(seed: int, a: str, b: str) -> None:
    lists, relevant = made(seed)
    found = asked(lists, relevant, lambda cursor: lost.places(cursor, ["tiny"], a, b))
    counts = {(row.place_a, row.place_b): row.n for row in found.itertuples()}
    assert counts == Counter(
        (place(lists, a, *pair), place(lists, b, *pair)) for pair in sorted(relevant)
    )
    shown = lost.by_place(found)
    assert shown["a"].sum() == shown["b"].sum() == len(relevant) == 108
    places = set(shown["place"])
    for number in (lost.CUT, lost.TOO_DEEP):
        assert (lost.PLACES[number] in places) == bool({SECOND, IMPORTED} & {a, b})


def test_a_query_has_the_same_places_as_the_counts() -> None:
    lists, relevant = made(0)
    of = [SECOND, OTHER, IMPORTED, FIRST]
    for query in QUERIES:
        found = asked(lists, relevant, lambda cursor, q=query: lost.of_query(cursor, "tiny", q, of))
        docs = sorted(doc for one, doc in relevant if one == query)
        assert found.to_numpy().tolist() == [
            [doc, *(place(lists, system, query, doc) for system in of)] for doc in docs
        ]


def test_without_a_list_nothing_is_lost() -> None:
    lists, relevant = made(0)
    del lists[OTHER]
    assert asked(lists, relevant, lambda cursor: lost.places(cursor, ["tiny"], FIRST, OTHER)).empty


def test_what_one_system_has_only_is_said() -> None:
    found = pd.DataFrame({"place_a": [0, 0, 1], "place_b": [0, 4, 0], "n": [5, 1200, 1]})
    assert lost.said(found, ("A", "B")) == (
        "Of 1,206 relevant documents, 1,200 are in the top 10 of A but not of B; 1 the reverse."
    )


def test_a_line_names_the_systems_that_lose_a_document() -> None:
    assert lost.line({"A": lost.TOP, "B": lost.TOP}) == ""
    assert lost.line({"A": lost.NOWHERE, "B": lost.NOWHERE}) == "Not retrieved by any system"
    assert lost.line({"A": lost.DEMOTED, "B": lost.TOP, "C": lost.CUT}) == (
        "A: moved below rank 10 by the reranker; C: not reranked (below the reranking depth)"
    )


@pytest.mark.parametrize(
    ("system", "first"),
    [
        ("rerank(bm25(b=0.9),some/model,depth=50)", "bm25(b=0.9)"),
        ("monot5(rrf(bm25,minilm),m)", "rrf(bm25,minilm)"),
        ("bm25+ce-minilm", "bm25-multifield"),
        ("rrf(bm25,minilm)", ""),
        ("<b>odd, name", ""),
    ],
)
def test_a_reranker_names_its_first_stage(system: str, first: str) -> None:
    assert lost.first_stage(system) == first
