"""Where relevant documents are lost: worked by hand, and against brute force on made-up runs."""

import random
from collections import Counter

import duckdb
import pandas as pd
import pytest

from compute.views.compare import lost

FIRST, SECOND, OTHER = "bm25", "rerank(bm25,some/model,depth=15)", "else"
QUERIES = [f"q{n}" for n in range(9)]
Lists = dict[str, dict[str, list[str]]]


def made(seed: int) -> tuple[Lists, set[tuple[str, str]]]:
    """Lists by system and query, one of them another reranked, and relevant pairs."""
    chance = random.Random(seed)
    names = [f"d{n}" for n in range(60)]
    lists: Lists = {FIRST: {}, SECOND: {}, OTHER: {}}
    for query in QUERIES:
        first = chance.sample(names, 30)
        lists[FIRST][query] = first
        lists[SECOND][query] = chance.sample(first[:15], 15)
        lists[OTHER][query] = chance.sample(names, 5)
    return lists, {(query, doc) for query in QUERIES for doc in chance.sample(names, 12)}


def asked(lists: Lists, relevant: set[tuple[str, str]], a: str, b: str) -> pd.DataFrame:
    hits = [
        ("tiny", system, query, doc, rank)
        for system, of in lists.items()
        for query, docs in of.items()
        for rank, doc in enumerate(docs, 1)
    ]
    judged = [("tiny", query, doc, 1) for query, doc in sorted(relevant)]
    judged += [("tiny", QUERIES[0], "d99", 0), ("other", QUERIES[0], "d1", 1)]
    with duckdb.connect() as connection:
        frames = {
            "hits": pd.DataFrame(hits, columns=["dataset", "system", "query_id", "doc_id", "rank"]),
            "judgements": pd.DataFrame(
                judged, columns=["dataset", "query_id", "doc_id", "relevance"]
            ),
            "parts": pd.DataFrame([("hits", "tiny", s) for s in lists]).set_axis(
                ["kind", "dataset", "system"], axis=1
            ),
        }
        for name, frame in frames.items():
            connection.register(name, frame)
        firsts = {"first_a": lost.first_stage(a), "first_b": lost.first_stage(b)}
        return lost.places(connection, datasets=["tiny"], a=a, b=b, **firsts)


def place(lists: Lists, system: str, query: str, doc: str) -> int:
    """By the definition."""
    own = lists[system][query]
    first = lists[FIRST][query] if system == SECOND else []
    if doc in own[: lost.K]:
        return lost.TOP
    if doc in own:
        return lost.DEMOTED if doc in first[: lost.K] else lost.BELOW
    if doc in first:
        return lost.CUT
    found = any(doc in of[query] for of in lists.values())
    return lost.ELSEWHERE if found else lost.NOWHERE


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("a", "b"), [(FIRST, SECOND), (SECOND, OTHER), (OTHER, FIRST)])
def test_places_are_those_of_the_definition(seed: int, a: str, b: str) -> None:
    lists, relevant = made(seed)
    found = asked(lists, relevant, a, b)
    counts = {(row.place_a, row.place_b): row.n for row in found.itertuples()}
    assert counts == Counter(
        (place(lists, a, *pair), place(lists, b, *pair)) for pair in sorted(relevant)
    )
    shown = lost.by_place(found)
    assert shown["a"].sum() == shown["b"].sum() == len(relevant) == 108
    places = set(shown["place"])
    assert (lost.PLACES[lost.CUT] in places) == (SECOND in (a, b))


def test_without_a_list_nothing_is_lost() -> None:
    lists, relevant = made(0)
    del lists[OTHER]
    assert asked(lists, relevant, FIRST, OTHER).empty


def test_what_one_system_has_only_is_said() -> None:
    found = pd.DataFrame({"place_a": [0, 0, 1], "place_b": [0, 4, 0], "n": [5, 1200, 1]})
    assert lost.said(found, ("A", "B")) == (
        "Of 1,206 relevant documents, 1,200 are in A's top 10 and not in B's; 1 the reverse."
    )


@pytest.mark.parametrize(
    ("system", "first"),
    [
        ("rerank(bm25(b=0.9),some/model,depth=50)", "bm25(b=0.9)"),
        ("monot5(rrf(bm25,minilm),m)", "rrf(bm25,minilm)"),
        ("rrf(bm25,minilm)", ""),
        ("<b>odd, name", ""),
    ],
)
def test_a_reranker_names_its_first_stage(system: str, first: str) -> None:
    assert lost.first_stage(system) == first
