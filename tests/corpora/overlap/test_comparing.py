"""Similarities of stored collections: worked by hand and by the definition, fresh and shipped."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import pandas as pd
import pytest
from duckdb import DuckDBPyConnection
from hypothesis import given
from hypothesis import strategies as st

from compute.corpora import overlap
from compute.corpora.overlap.comparing import between
from compute.corpora.overlap.jaccard import FLOORS
from compute.corpora.overlap.tokens import UNITS
from compute.exports.shipping import ship
from compute.reading.database import open_version
from compute.store import freshness
from compute.store.loading import Bench
from compute.store.store import Part, Store
from compute.views.overlap import select as overlap_select
from tests.support.corpora import Text, load, weighted_jaccard
from tests.support.storage import open_store
from tests.support.worlds import FEWER

CORPORA: dict[str, list[Text]] = {
    # cat 1/2, the 1/4, sat 1/4; three bigrams, 1/3 each: cat the, the cat, cat sat
    "one": [("Cat", "the cat sat"), ("", "")],
    # the 1/4, cat 1/4, sat 1/2; the cat 1/2, sat sat 1/2
    "two": [("", "the CAT"), ("", "sat sat")],
    "three": [("Füße", "x_1 ٣")],
}
BY_HAND = {
    # min 1/4 + 1/4 + 1/4, max 1/2 + 1/4 + 1/2
    ("unigrams", "one", "two"): 0.6,
    # min 1/3, max 1/3 + 1/2 + 1/3 + 1/2
    ("bigrams", "one", "two"): 0.2,
    ("unigrams", "one", "three"): 0.0,
    ("unigrams", "three", "two"): 0.0,
    ("bigrams", "one", "three"): 0.0,
    ("bigrams", "three", "two"): 0.0,
}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    store = open_store(tmp_path / "home")
    return Bench(store, store.settings)


def take_in(bench: Bench, folder: Path, names: Sequence[str]) -> None:
    """Load, count and compare collections, all at once."""
    for name in names:
        overlap.count(bench, load(bench, folder, name, CORPORA[name]))
    overlap.compare(bench, names)


def cursor(store: Store) -> DuckDBPyConnection:
    return open_version(store).cursor()


def pairs(store: Store, unit: str, floor: float = 0.0) -> dict[tuple[str, str], float]:
    rows = overlap_select.similarities(cursor(store), unit, floor)
    return {(one, two): value for one, two, value in rows.itertuples(index=False, name=None)}


@pytest.mark.long
def test_three_corpora_worked_by_hand(bench: Bench, tmp_path: Path) -> None:
    take_in(bench, tmp_path, list(CORPORA))
    for unit in ("unigrams", "bigrams"):
        found = pairs(bench.store, unit)
        expected = {(one, two): v for (u, one, two), v in BY_HAND.items() if u == unit}
        assert found == pytest.approx(expected, abs=1e-15)
    # Every share here is above every floor.
    assert pairs(bench.store, "unigrams", 1e-4) == pairs(bench.store, "unigrams")
    assert set(pairs(bench.store, "word pieces")) == set(pairs(bench.store, "unigrams"))


@pytest.mark.long
def test_it_does_not_matter_what_is_counted_first(bench: Bench, tmp_path: Path) -> None:
    take_in(bench, tmp_path, list(CORPORA))
    store = open_store(tmp_path / "other")
    for name in ("three", "two", "one"):
        take_in(Bench(store, store.settings), tmp_path, [name])
    for unit in UNITS:
        assert pairs(store, unit) == pytest.approx(pairs(bench.store, unit), abs=1e-15)
    assert overlap.up_to_date(store, list(CORPORA)) == list(CORPORA)
    assert not overlap.compare(Bench(store, store.settings), list(CORPORA))


@pytest.mark.long
def test_similarities_hold_while_both_collections_are_what_they_were(
    bench: Bench, tmp_path: Path
) -> None:
    take_in(bench, tmp_path, list(CORPORA))
    changed = load(bench, tmp_path, "two", [("", "the cat sat")])
    left = {("one", "three"): 0.0}
    assert pairs(bench.store, "unigrams") == left
    assert overlap.up_to_date(bench.store, list(CORPORA)) == ["one", "three"]
    overlap.count(bench, changed)
    assert pairs(bench.store, "unigrams") == left
    assert overlap.compare(bench, ["two"])
    # one: cat 1/2, the and sat 1/4; now 1/3 each. min 1/4 + 1/3 + 1/4, max 1/3 + 1/2 + 1/3
    expected = {("one", "three"): 0.0, ("one", "two"): 5 / 7, ("three", "two"): 0.0}
    assert pairs(bench.store, "unigrams") == pytest.approx(expected, abs=1e-15)


@pytest.mark.long
def test_a_corpus_twice_over_is_as_alike_as_once(bench: Bench, tmp_path: Path) -> None:
    take_in(bench, tmp_path, ["one", "two"])
    once = {unit: pairs(bench.store, unit) for unit in UNITS}
    overlap.count(bench, load(bench, tmp_path, "two", CORPORA["two"] * 3))
    overlap.compare(bench, ["two"])
    assert {unit: pairs(bench.store, unit) for unit in UNITS} == once


class _Stopped(Exception):
    """Somebody cancels."""


@pytest.mark.long
def test_comparing_that_is_stopped_leaves_nothing(bench: Bench, tmp_path: Path) -> None:
    def stop(done: int, total: int, unit: str) -> None:
        if "bigrams" in unit:
            raise _Stopped

    for name in ("one", "two"):
        overlap.count(bench, load(bench, tmp_path, name, CORPORA[name]))
    before = bench.store.version()
    with pytest.raises(_Stopped):
        overlap.compare(replace(bench, progress=stop), ["one", "two"])
    assert bench.store.version() == before
    assert overlap.compare(bench, ["one", "two"])


def counts_of(store: Store, corpora: Sequence[dict[str, int]]) -> dict[str, Part]:
    """Parts of these counts of bigrams, named 0, 1, …"""
    found = {}
    for number, counts in enumerate(corpora):
        ordered = Counter(counts).most_common()
        frame = pd.DataFrame(ordered, columns=["term", "count"]).assign(n=2)
        about = {"bigrams": {"terms": len(counts), "tokens": sum(counts.values())}}
        with store.publishing("counts") as publication:
            found[str(number)] = publication.add(
                "ngrams", frame, dataset=str(number), fingerprint="f", provenance={"units": about}
            )
    return found


_counts = st.dictionaries(
    st.sampled_from(["a b", "b a", "ß ü", "x 1", "_ _", "' or 1"]),
    st.integers(1, 30_000),
    min_size=1,
)


@pytest.mark.long
@FEWER
@given(st.lists(_counts, min_size=2, max_size=4))
def test_stored_counts_are_compared_by_the_definition_however_they_are_partitioned(
    tmp_path_factory: pytest.TempPathFactory, corpora: list[dict[str, int]]
) -> None:
    store = open_store(tmp_path_factory.mktemp("home"))
    bench, parts = Bench(store, store.settings), counts_of(store, corpora)
    pairs = {frozenset(p) for p in combinations(parts, 2)}
    for of, together in product((["1", "0"], list(parts)), (10**9, 3, 1)):
        rows = between(bench, UNITS["bigrams"], parts, of, together)
        found = [frozenset(pair) for pair in zip(rows["dataset"], rows["other"], strict=True)]
        assert Counter(found) == {pair: len(FLOORS) for pair in pairs if pair & set(of)}
        for dataset, other, floor, value in rows.itertuples(index=False, name=None):
            expected = weighted_jaccard(corpora[int(dataset)], corpora[int(other)], floor)
            assert value == pytest.approx(expected, abs=1e-12)


def test_a_word_as_rare_as_the_floor_does_not_count(bench: Bench) -> None:
    # Of 10,000 each: "b a" is at the floor of 1e-4 in the first, above it in the second.
    corpora = [{"a b": 9_998, "b a": 1, "x 1": 1}, {"a b": 9_997, "b a": 2, "_ _": 1}]
    parts = counts_of(bench.store, corpora)
    rows = between(bench, UNITS["bigrams"], parts, ["0"])
    values = rows.set_index("floor")["similarity"]
    # Above it: min .9997, max .9998 + .0002. Of all: min .9997 + .0001, max that + 2 x .0001.
    assert values[1e-4] == pytest.approx(0.9997 / 1.0, abs=1e-12)
    assert values[0.0] == pytest.approx(0.9998 / 1.0002, abs=1e-12)


@pytest.mark.long
def test_the_words_that_a_pair_shares_and_those_that_set_it_apart(
    bench: Bench, tmp_path: Path
) -> None:
    take_in(bench, tmp_path, ["one", "two", "three"])
    words = overlap_select.words_of_pair(cursor(bench.store), "one", "two", "unigrams", limit=2)
    assert words.to_dict("split", index=False)["data"] == [
        ["cat", 0.5, 0.25, "both"],
        ["sat", 0.25, 0.5, "both"],
        ["cat", 0.5, 0.25, "dataset"],
        ["sat", 0.25, 0.5, "other"],
    ]
    apart = overlap_select.words_of_pair(cursor(bench.store), "three", "one", "bigrams")
    assert set(apart["side"]) == {"dataset", "other"}
    assert set(apart.loc[apart["side"] == "dataset", "term"]) == {"füße x_1", "x_1 ٣"}


@pytest.mark.long
def test_what_sets_a_pair_apart_is_no_frequent_word_of_both(bench: Bench, tmp_path: Path) -> None:
    # "the" differs more in share, .5 and .6; "cat" and "dog" tell which corpus it is.
    for name, words in (("one", ["the"] * 50 + ["cat"] * 8), ("two", ["the"] * 60 + ["dog"] * 2)):
        rest = [f"{name}{number}" for number in range(100 - len(words))]
        overlap.count(bench, load(bench, tmp_path, name, [("", " ".join(words + rest))]))
    rows = overlap_select.words_of_pair(cursor(bench.store), "one", "two", "unigrams", limit=1)
    first = {row["side"]: row["term"] for row in rows.to_dict("records")}
    assert first == {"both": "the", "dataset": "cat", "other": "dog"}


@pytest.mark.long
def test_function_words_can_be_left_out_of_the_words_of_a_pair(
    bench: Bench, tmp_path: Path
) -> None:
    take_in(bench, tmp_path, ["one", "two"])
    asked = {"unit": "unigrams", "function_words": False}
    rows = overlap_select.words_of_pair(cursor(bench.store), "one", "two", **asked)
    assert set(rows["term"]) == {"cat", "sat"}
    # Shares stay those of all words.
    assert rows.loc[rows["term"] == "cat", "share"].unique().tolist() == [0.5]
    asked["unit"] = "bigrams"
    rows = overlap_select.words_of_pair(cursor(bench.store), "one", "two", **asked)
    assert set(rows["term"]) == {"cat sat", "sat sat"}


def test_vocabularies_are_listed_with_what_is_known_of_their_collections(
    bench: Bench, tmp_path: Path
) -> None:
    take_in(bench, tmp_path, ["one"])
    rows = overlap_select.vocabularies(cursor(bench.store))
    columns = ["unit", "dataset", "title", "n_documents", "n_terms", "n_tokens", "cut", "shipped"]
    assert rows[columns].to_dict("split", index=False)["data"][:2] == [
        ["bigrams", "one", "one", 2, 3, 3, 0.0, False],
        ["unigrams", "one", "one", 2, 3, 4, 0.0, False],
    ]


@pytest.mark.long
def test_counts_that_ship_are_cut_and_never_compared_as_if_whole(
    bench: Bench, tmp_path: Path
) -> None:
    take_in(bench, tmp_path, ["one", "two"])
    ship(bench.store, ["one", "two"], (), tmp_path / "out")
    store = open_store(tmp_path / "other", shipped=tmp_path / "out")
    assert pairs(store, "bigrams") == pairs(bench.store, "bigrams")
    cut = overlap_select.vocabularies(cursor(store)).set_index(["dataset", "unit"])["cut"]
    # Of one's four words none occurs three times, so its counts are empty.
    assert (cut["one", "unigrams"], cut["one", "word pieces"]) == (3 / 4, 0.0)
    here = Bench(store, store.settings)
    take_in(here, tmp_path, ["three"])
    assert set(pairs(store, "unigrams")) == {("one", "two")}
    assert set(pairs(store, "word pieces")) == {("one", "three"), ("one", "two"), ("three", "two")}
    assert overlap.up_to_date(store, ["three"]) == ["three"]
    # The same collection, counted here: what is known of it and the cut one stays.
    take_in(here, tmp_path, ["one"])
    assert set(pairs(store, "unigrams")) == {("one", "three"), ("one", "two")}
    assert pairs(store, "unigrams")["one", "two"] == pytest.approx(0.6, abs=1e-15)
    # Another collection of its name: nothing that ships holds for it.
    overlap.count(here, load(here, tmp_path, "one", CORPORA["three"]))
    overlap.compare(here, ["one"])
    assert pairs(store, "unigrams") == {("one", "three"): 1.0}


@pytest.mark.long
def test_similarities_ship_among_collections_that_ship(bench: Bench, tmp_path: Path) -> None:
    take_in(bench, tmp_path, list(CORPORA))
    ship(bench.store, ["one"], (), tmp_path / "out")
    store = open_store(tmp_path / "other", shipped=tmp_path / "out")
    assert pairs(store, "unigrams") == {}
    ship(bench.store, ["two"], (), tmp_path / "out")
    store = open_store(tmp_path / "third", shipped=tmp_path / "out")
    assert set(pairs(store, "unigrams")) == {("one", "two")}
    fresh, stale = freshness.split(store.parts())
    assert stale == []
    assert {part.kind for part in fresh} >= {"ngrams", "wordpieces", "overlap"}


@pytest.mark.long
def test_floors_are_those_that_are_stored(bench: Bench, tmp_path: Path) -> None:
    take_in(bench, tmp_path, ["one", "two"])
    rows = cursor(bench.store).execute("select distinct floor from overlap order by 1").fetchall()
    assert tuple(floor for (floor,) in rows) == FLOORS
