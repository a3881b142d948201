"""Augmented queries in real Lucene on a tiny world, against the formula computed directly."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pandas import DataFrame

from compute.base.settings import Settings, load
from compute.corpora import word_pieces
from compute.systems.augmented import vectors
from compute.systems.augmented.search import Augmented, boosts
from compute.systems.checkpoints import from_text
from compute.systems.lexical import lucene
from compute.systems.lexical.bm25 import WordPiece
from compute.systems.searcher import Request
from tests.support.oracles import as_lucene_keeps
from tests.support.tiny import DOCUMENTS, QUERIES

LONG = " ".join(f"harbour {number} lighthouse" for number in range(30))
"""Its length, above 39, is one that Lucene rounds."""


def _ignore(done: int, total: int, unit: str) -> None:
    assert 0 <= done <= total


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    home = tmp_path_factory.mktemp("home")
    return replace(load({"BEIRSCOPE_HOME": str(home)}), java_memory="256m", threads=1)


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [(row["_id"], row["title"], row["text"]) for row in DOCUMENTS]
    rows += [("long", "", LONG), ("empty", "", "")]
    file = tmp_path_factory.mktemp("documents") / "documents.parquet"
    DataFrame(rows, columns=["doc_id", "title", "text"]).to_parquet(file)
    return file


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, documents: Path, settings: Settings) -> Path:
    folder = tmp_path_factory.mktemp("index")
    assert WordPiece().index(documents, folder, settings, _ignore)["empty"] == 1
    return folder


def _found(
    folder: Path, texts: list[str], options: list[str], settings: Settings
) -> dict[str, dict[str, float]]:
    queries = DataFrame({"query_id": [str(place) for place in range(len(texts))]})
    request = Request(queries, 20, settings, _ignore)
    hits = lucene.search_singly(folder, request, texts, options)
    return {
        str(query): dict(zip(own["doc_id"], own["score"], strict=True))
        for query, own in hits.groupby("query_id", sort=False)
    }


def _direct(known: vectors.Documents, query: dict[str, float], *, bm25: bool) -> dict[str, float]:
    """(w * v * (bow + a))^T f(d), or without v of bow(d), of the documents that it finds."""
    names = vectors.names()
    weights = np.zeros(len(names))
    for piece, weight in query.items():
        weights[names.index(piece)] = weight
    kept = replace(known, lengths=as_lucene_keeps(known.lengths))
    matrix = kept.bm25(0.9, 0.4) if bm25 else known.words()
    # Lucene leaves out the constant k + 1.
    found = matrix @ (weights * known.idf / 1.9 if bm25 else weights)
    return {
        doc_id: float(score) for doc_id, score in zip(known.doc_ids, found, strict=True) if score
    }


@pytest.mark.parametrize("bm25", [True, pytest.param(False, marks=pytest.mark.long)])
def test_lucene_scores_an_augmented_query_as_the_formula_does(
    index: Path, documents: Path, settings: Settings, bm25: bool
) -> None:
    known = vectors.read(documents, None, _ignore)
    queries = [
        {"harbour": 1.75, "ships": 0.3, "##house": 0.001, "river": 12.5},
        {"light": 0.5, "dawn": 2.0, "zebra": 1.0},
    ]
    texts = [boosts([(piece, True, weight) for piece, weight in q.items()]) for q in queries]
    options = Augmented(checkpoint=from_text("/nowhere"), bm25=bm25)._options()
    found = _found(index, texts, options, settings)
    for place, query in enumerate(queries):
        expected = _direct(known, query, bm25=bm25)
        assert found[str(place)] == pytest.approx(expected, rel=1e-5)
    assert "long" in found["0"]


@pytest.mark.long
def test_without_augmentation_it_is_bm25_of_the_distinct_pieces(
    index: Path, settings: Settings
) -> None:
    tokeniser = word_pieces.word_pieces()
    texts = [row["text"] for row in QUERIES] + ["ships ships ships harbour"]
    distinct = [
        list(dict.fromkeys(tokeniser.encode(text, add_special_tokens=False).tokens))
        for text in texts
    ]
    plain = [*WordPiece()._options(), *WordPiece()._analysis()]
    expected = _found(index, [" ".join(pieces) for pieces in distinct], plain, settings)
    asked = [boosts([(piece, True, 1.0) for piece in pieces]) for pieces in distinct]
    found = _found(index, asked, Augmented(checkpoint=from_text("/nowhere"))._options(), settings)
    for query, hits in expected.items():
        assert list(found[query]) == list(hits)
        # A batch writes four decimals.
        assert found[query] == pytest.approx(hits, abs=6e-5)
    repeated = _found(index, [texts[-1]], plain, settings)
    assert repeated["0"]["d1"] > found["3"]["d1"], "bm25-wordpiece counts a repeated word"
