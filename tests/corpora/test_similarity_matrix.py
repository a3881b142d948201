"""Similarities as a matrix: its order, the places on a plane, the lines to draw."""

import math
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame

from compute.corpora import similarity_matrix
from compute.views.shared.theme import DOMAINS
from tests.support.similar import NINETEEN, made_up
from tests.support.worlds import SOME


def pairs(*rows: tuple[str, str, float]) -> DataFrame:
    return DataFrame(rows, columns=["dataset", "other", "similarity"])


THREE = pairs(("a", "b", 0.2), ("c", "a", 0.9), ("b", "c", 0.1))


def test_the_matrix_is_symmetric_with_ones_on_its_diagonal() -> None:
    square = similarity_matrix.matrix(THREE)
    assert list(square.index) == list(square.columns) == ["a", "b", "c"]
    assert square.to_numpy().tolist() == [[1, 0.2, 0.9], [0.2, 1, 0.1], [0.9, 0.1, 1]]
    assert similarity_matrix.matrix(pairs()).shape == (0, 0)


def test_alike_collections_become_neighbours() -> None:
    order = similarity_matrix.by_likeness(similarity_matrix.matrix(THREE))
    assert order in (["b", "a", "c"], ["c", "a", "b"])


def test_of_three_the_alike_two_are_nearest() -> None:
    places = similarity_matrix.layout(similarity_matrix.matrix(THREE)).to_numpy()
    a, b, c = places
    apart = [float(np.linalg.norm(one - other)) for one, other in ((a, c), (a, b), (b, c))]
    assert apart[0] < min(apart[1:])


def test_the_order_by_domain_keeps_domains_together_and_those_without_last() -> None:
    square = similarity_matrix.matrix(THREE)
    domains = {"a": "News", "b": "Own", "c": "Wikipedia"}
    assert similarity_matrix.by_domain(square, domains, DOMAINS) == ["c", "a", "b"]


def test_lines_are_the_nearest_and_those_above_the_bound() -> None:
    square = similarity_matrix.matrix(THREE)
    assert similarity_matrix.edges(square, 0.5, nearest=1).to_numpy().tolist() == [
        ["a", "b", 0.2],
        ["a", "c", 0.9],
    ]
    assert len(similarity_matrix.edges(square, 0.5, nearest=0)) == 1
    assert len(similarity_matrix.edges(square, 0.1, nearest=0)) == 3


@pytest.mark.parametrize("names", [[], ["a"], ["a", "b"]])
def test_fewer_than_three_have_places_an_order_and_no_number(names: list[str]) -> None:
    square = DataFrame(1.0, index=names, columns=names)
    points = similarity_matrix.layout(square)
    assert list(points.index) == similarity_matrix.by_likeness(square) == names
    assert points.drop_duplicates().shape == (len(names), 2)
    assert math.isnan(similarity_matrix.faithfulness(square, points))


def test_collections_with_the_same_words_have_places_of_their_own() -> None:
    names = list("abcde")
    points = similarity_matrix.layout(DataFrame(1.0, index=names, columns=names))
    assert np.isfinite(points.to_numpy()).all()
    assert len(points.round(3).drop_duplicates()) == 5
    assert math.isnan(
        similarity_matrix.faithfulness(DataFrame(1.0, index=names, columns=names), points)
    )


def test_two_languages_leave_room_for_the_names_of_each() -> None:
    names = [f"{language}{n:02}" for language in ("en", "pl") for n in range(15)]
    rng, square = np.random.default_rng(3), np.zeros((30, 30))
    for own in (slice(15), slice(15, 30)):
        square[own, own] = np.tril(0.1 + 0.4 * rng.random((15, 15)), -1)
    square += square.T + np.eye(30)
    points = similarity_matrix.layout(DataFrame(square, names, names)).to_numpy()
    apart = np.hypot(*(points[:, None] - points[None]).T) + 1e9 * np.eye(30)
    assert apart.min(axis=1).min() > 0.04 * np.ptp(points[:, 0])


def test_a_pair_without_a_similarity_is_absent_and_still_has_a_place() -> None:
    square = similarity_matrix.matrix(pairs(("a", "b", 0.5), ("b", "c", 0.4)))
    assert np.isnan(square.to_numpy()[0, 2])
    assert np.isfinite(similarity_matrix.layout(square).to_numpy()).all()
    assert len(similarity_matrix.edges(square, 0)) == 2


@SOME
@given(st.integers(0, 2**32 - 1), st.integers(3, 19))
def test_the_layout_depends_on_nothing_but_the_similarities(seed: int, count: int) -> None:
    rows = made_up(NINETEEN[:count], seed)
    square = similarity_matrix.matrix(rows)
    points = similarity_matrix.layout(square)
    turned = rows.rename(columns={"dataset": "other", "other": "dataset"})
    mixed = turned.sample(frac=1, random_state=seed % 2**31)
    order = similarity_matrix.by_likeness(square)
    pd.testing.assert_frame_equal(similarity_matrix.layout(square.loc[order, order]), points)
    pd.testing.assert_frame_equal(similarity_matrix.matrix(mixed), square)
    assert sorted(order) == list(square.index)


def test_distances_follow_the_published_similarities() -> None:
    folder = os.environ.get("BEIRSCOPE_REFERENCE")
    if not folder:
        pytest.skip("BEIRSCOPE_REFERENCE names no folder")
    file = Path(folder) / "expected" / "weighted_jaccard_wordpiece_pyserini.tsv"
    square = pd.read_csv(file, sep="\t", index_col=0)
    points = similarity_matrix.layout(square)
    assert round(similarity_matrix.faithfulness(square, points), 2) == 0.91
