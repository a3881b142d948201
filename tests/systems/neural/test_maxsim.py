"""MaxSim by hand, against a triple loop, and over shards."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute.systems.neural.maxsim import Tokens, maxsim
from tests.support.worlds import CASES


def test_each_query_token_takes_its_best_document_token() -> None:
    query = np.array([[1, 0], [0, 1]])
    tokens = np.array([[0.6, 0.8], [1, 0], [0, -1], [0, 1]])
    # Of the first document: 1.0 and 0.8; of the second: 0 and 1; the third has no token.
    scores = maxsim(query, tokens, np.array([2, 2, 0]))
    assert scores.tolist() == pytest.approx([1.8, 1.0, 0.0])
    assert scores.dtype == np.float32


def test_a_token_that_fits_none_counts_below_zero() -> None:
    assert maxsim(np.array([[1.0]]), np.array([[-0.5], [-0.25]]), np.array([2])) == [-0.25]


def test_a_query_without_tokens_scores_zero_everywhere() -> None:
    assert maxsim(np.empty((0, 2)), np.ones((3, 2)), np.array([1, 2])).tolist() == [0, 0]


@st.composite
def worlds(draw: st.DrawFn) -> tuple[np.ndarray, list[np.ndarray], list[int]]:
    """A query, documents (some empty), and where their tokens are cut into shards."""
    dimensions = draw(st.integers(1, 3))
    numbers = st.lists(st.integers(-3, 3), min_size=dimensions, max_size=dimensions)
    texts = st.lists(numbers, max_size=4).map(lambda rows: np.reshape(rows, (-1, dimensions)))
    documents = draw(st.lists(texts, min_size=1, max_size=8))
    cuts = draw(st.lists(st.integers(0, len(documents)), max_size=3).map(sorted))
    return draw(texts), documents, cuts


def _by_loops(query: np.ndarray, document: np.ndarray) -> float:
    total = 0.0
    for one in query:
        products = [sum(a * b for a, b in zip(one, other, strict=True)) for other in document]
        total += max(products, default=0)
    return total


def _stored(documents: list[np.ndarray], cuts: list[int]) -> Tokens:
    bounds = [0, *cuts, len(documents)]
    shards = [
        np.concatenate([documents[0][:0], *documents[start:end]]).astype(np.float16)
        for start, end in pairwise(bounds)
    ]
    counts = np.array([len(document) for document in documents])
    firsts = np.cumsum([0, *map(len, shards)])
    return Tokens(shards, counts, np.cumsum(counts) - counts, firsts)


@CASES
@given(worlds())
def test_scores_are_those_of_three_loops_whatever_the_shards(
    world: tuple[np.ndarray, list[np.ndarray], list[int]],
) -> None:
    query, documents, cuts = world
    tokens = _stored(documents, cuts)
    expected = [_by_loops(query, document) for document in documents]
    twice = tokens.scores([query, 2 * query], np.arange(len(documents)))
    assert twice.tolist() == [expected, [2 * score for score in expected]]
    some = np.arange(0, len(documents), 2)
    assert tokens.scores([query], some).tolist() == [expected[::2]]
    assert tokens.scores([], some).shape == (0, len(some))


@CASES
@given(worlds(), st.data())
def test_a_token_belongs_to_the_document_that_holds_it(
    world: tuple[np.ndarray, list[np.ndarray], list[int]], data: st.DataObject
) -> None:
    _, documents, cuts = world
    owners = [place for place, document in enumerate(documents) for _ in document]
    numbers = data.draw(st.lists(st.sampled_from(range(len(owners))))) if owners else []
    found = _stored(documents, cuts).documents_of(np.array(numbers, np.int64))
    assert found.tolist() == sorted({owners[number] for number in numbers})


def test_documents_are_scored_in_pieces_that_fit_into_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    documents = [np.full((3, 1), place) for place in range(9)]
    monkeypatch.setattr("compute.systems.neural.maxsim._AT_ONCE", 7)
    scores = _stored(documents, [4]).scores([np.ones((2, 1))], np.arange(9))
    assert scores.tolist() == [[2.0 * place for place in range(9)]]
