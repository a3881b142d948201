"""Clusters of queries: blobs that everybody sees, and names worked by hand."""

import numpy as np
import pytest

from compute.base.errors import WrongInput
from compute.corpora import query_clusters

SUBJECTS = ("the heart beats {}", "the ship sails {}", "the law forbids {}")
TEXTS = [subject.format(number) for subject in SUBJECTS for number in range(8)]


def blobs() -> np.ndarray:
    """Eight vectors about each of three axes, of different lengths."""
    random = np.random.default_rng(1)
    near = np.repeat(np.eye(3, 6), 8, axis=0) + random.normal(0, 0.05, (24, 6))
    return (near * random.uniform(1, 9, (24, 1))).astype(np.float32)


def test_blobs_are_found_and_named_by_their_own_words() -> None:
    found = query_clusters.found(blobs(), TEXTS, {"the"})
    assert found.k == 3 and [*found.silhouettes] == [2, 3, 4]
    assert found.silhouettes[3] > 0.8
    expected = ["beats, heart", "sails, ship", "forbids, law"]
    assert found.names == [name for name in expected for _ in range(8)]
    assert query_clusters.found(blobs(), TEXTS, {"the"}) == found, "the same each time"
    two = query_clusters.found(blobs(), TEXTS, {"the"}, k=2)
    assert two.k == 2 and len(set(two.names)) == 2


def test_the_most_telling_words_come_first() -> None:
    of = np.array([0, 0, 0, 1, 1, 1], np.int32)
    texts = ["sea a", "sea 1999 wave", "sea river", "river", "river", "land"]
    names = query_clusters.named(of, texts, set())
    # Of 5 words and of 3: sea adds 3/5 ln 2 = .42, wave 1/5 ln 2 = .14, river is rarer; there
    # land adds 1/3 ln 2 = .23 and river 2/3 ln (20/13) + 1/5 ln (6/13) = .13.
    assert names == {0: "sea, wave", 1: "land, river"}
    alike = query_clusters.named(np.array([0, 1, 2], np.int32), ["7", "7", "x"], set())
    assert list(alike.values()) == [
        "no distinctive words",
        "no distinctive words (2)",
        "no distinctive words (3)",
    ]


def test_too_few_queries_are_said() -> None:
    with pytest.raises(WrongInput, match="9 queries with text are too few for 2 clusters"):
        query_clusters.found(blobs()[:9], TEXTS[:9], set())
    with pytest.raises(WrongInput, match="24 queries with text are too few for 5 clusters"):
        query_clusters.found(blobs(), TEXTS, set(), k=5)
    with pytest.raises(WrongInput, match=r"20 queries .* more different queries than clusters"):
        query_clusters.found(np.repeat(blobs()[:2], 10, axis=0), ["a", "b"] * 10, set())
