"""Weighted Jaccard: a worked example by hand, and the properties of the definition."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame

from compute.corpora.overlap.jaccard import FLOORS, Vocabulary, similarities, sums
from tests.support.corpora import weighted_jaccard
from tests.support.worlds import SOME

Counts = dict[str, int]

_counts = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 30_000), min_size=1)


def compared(corpora: Mapping[str, Counts], of: Sequence[str], partitions: int = 1) -> DataFrame:
    """The similarities of corpora whose words are dealt out to so many partitions."""
    index = sorted({word for counts in corpora.values() for word in counts})
    found, totals = [], {}
    for number in range(partitions):
        places = {word: place for place, word in enumerate(index[number::partitions])}
        found.append({name: _vocabulary(counts, places) for name, counts in corpora.items()})
    for name, counts in corpora.items():
        places = {word: place for place, word in enumerate(index)}
        totals[name] = sums(_vocabulary(counts, places).shares)
    return similarities(found, totals, of)


def _vocabulary(counts: Counts, places: Mapping[str, int]) -> Vocabulary:
    """Those words that have a place; shares are of all."""
    words, tokens = [word for word in counts if word in places], sum(counts.values())
    return Vocabulary(
        np.array([places[word] for word in words], dtype=np.int64),
        np.array([counts[word] / tokens for word in words], dtype=np.float64),
    )


def similarity(one: Counts, other: Counts, floor: float = 0.0) -> float | None:
    """The similarity of two corpora; None where it is absent."""
    found = compared({"one": one, "other": other}, ["one"])
    values = found.loc[found["floor"] == floor, "similarity"].tolist()
    return values[0] if values else None


def test_worked_by_hand() -> None:
    # Shares: one 1/2, 1/4, 1/4; other 1/4, 1/4, 1/2. min 3/4, max 1/2 + 1/4 + 1/2.
    one, other = {"cat": 2, "the": 1, "sat": 1}, {"the": 1, "cat": 1, "sat": 2}
    assert similarity(one, other) == 0.6


def test_a_floor_drops_words_and_does_not_renormalise() -> None:
    # b has 1e-4 of one corpus: not above the floor. Had a been raised to 1, it would be 1.
    one, other = {"a": 9_999, "b": 1}, {"a": 5}
    assert similarity(one, other) == pytest.approx(0.9999 / 1.0001, abs=1e-15)
    assert similarity(one, other, 1e-4) == 0.9999
    assert similarity(one, other, 1e-5) == similarity(one, other)


def test_a_word_is_dropped_from_the_corpus_where_it_is_rare_alone() -> None:
    # b is below the floor in one corpus and not in the other, where it counts as theirs alone.
    one, other = {"a": 9_999, "b": 1}, {"a": 1, "b": 1}
    assert similarity(one, other, 1e-4) == pytest.approx(0.5 / (0.9999 + 0.5), abs=1e-15)


def test_corpora_without_words_have_no_similarity() -> None:
    assert similarity({}, {}) is None
    assert similarity({}, {"a": 1}) == 0.0


@pytest.mark.long
@SOME
@given(_counts, _counts)
def test_it_is_the_definition_at_every_floor_and_symmetric(one: Counts, other: Counts) -> None:
    for floor in FLOORS:
        expected = weighted_jaccard(one, other, floor)
        assert similarity(one, other, floor) == pytest.approx(expected, abs=1e-12)
        assert similarity(other, one, floor) == pytest.approx(expected, abs=1e-12)
        assert expected is None or 0.0 <= expected <= 1.0 + 1e-12


@SOME
@given(_counts, st.integers(1, 50))
def test_a_corpus_is_wholly_like_itself_however_often_it_is_repeated(
    counts: Counts, times: int
) -> None:
    repeated = {word: count * times for word, count in counts.items()}
    for floor in FLOORS:
        assert similarity(counts, repeated, floor) == pytest.approx(1.0, abs=1e-12)


@SOME
@given(_counts, _counts)
def test_corpora_without_a_common_word_are_not_alike(one: Counts, other: Counts) -> None:
    apart = {word.upper(): count for word, count in other.items()}
    assert {similarity(one, apart, floor) for floor in FLOORS} <= {0.0, None}


@SOME
@given(st.lists(_counts, min_size=2, max_size=5), st.data())
def test_every_pair_with_a_chosen_corpus_comes_once(
    corpora: list[Counts], data: st.DataObject
) -> None:
    names = [f"c{number}" for number in range(len(corpora))]
    of = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    rows = compared(dict(zip(names, corpora, strict=True)), of, data.draw(st.integers(1, 3)))
    rows = rows[rows["floor"] == 0.0]
    pairs = [frozenset(pair) for pair in zip(rows["dataset"], rows["other"], strict=True)]
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == {frozenset((a, b)) for a in of for b in names if a != b}
    for dataset, other, _, value in rows.itertuples(index=False, name=None):
        one, two = corpora[names.index(dataset)], corpora[names.index(other)]
        assert value == pytest.approx(weighted_jaccard(one, two, 0.0), abs=1e-12)
