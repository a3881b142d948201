"""USE-QA on a SavedModel with the signatures of the real one, against NumPy.

Runs where the extra `use-qa` is installed; what it says without it is tested everywhere.
"""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pandas import DataFrame

from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import Settings
from compute.systems import system
from compute.systems.searcher import Request
from tests.support import models

DOCUMENTS = [("a", "Cats", "A cat purrs."), ("b", "", "Stock market"), ("c", "Dogs", "")]
QUERIES = [("q1", "cat"), ("q2", "market"), ("q3", "")]
has_tensorflow = importlib.util.find_spec("tensorflow") is not None


def _ignore(done: int, total: int, unit: str) -> None:
    assert 0 <= done <= total


def test_what_is_missing_is_said_before_a_job(tmp_path: Path) -> None:
    for name in ("use-qa", f"use-qa(model={tmp_path})"):
        searcher = system(name).search
        assert searcher is not None
        expected = "saved_model.pb|cannot be reached" if has_tensorflow else r"'\.\[use-qa\]'"
        with pytest.raises(Unavailable, match=expected):
            searcher.check()


def test_another_model_of_a_hub_is_refused() -> None:
    with pytest.raises(WrongInput, match=r"use-qa runs google/.* not some/model"):
        system("use-qa(model=some/model)")


def _vector(*texts: str) -> list[float]:
    """What the tiny model makes of texts: the bytes of each, and how many of them are e."""
    return [1.0 + len(texts[0]), texts[0].count("e"), len(texts[-1]), texts[-1].count("a")]


@pytest.mark.skipif(not has_tensorflow, reason="needs the extra: pip install '.[use-qa]'")
def test_scores_are_cosines_of_question_and_response_in_context(tmp_path: Path) -> None:
    models.use_qa(tmp_path / "model")
    documents, folder = tmp_path / "documents.parquet", tmp_path / "index"
    folder.mkdir()
    DataFrame(DOCUMENTS, columns=["doc_id", "title", "text"]).to_parquet(documents)
    searcher: Any = system(f"use-qa(model={tmp_path / 'model'})").search
    searcher.check()
    settings = Settings(home=tmp_path, threads=1)
    assert searcher.index(documents, folder, settings, _ignore) == {"documents": 3}
    queries = DataFrame(QUERIES, columns=["query_id", "text"])
    hits = searcher.search(folder, Request(queries, 3, settings, _ignore))
    asked = np.array([_vector(text) for _, text in QUERIES])
    # Without a title the passage is both.
    stored = np.array([_vector(title or text, text) for _, title, text in DOCUMENTS])
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    stored /= np.linalg.norm(stored, axis=1, keepdims=True)
    for row, (query_id, _) in zip(asked @ stored.T, QUERIES, strict=True):
        own = hits[hits["query_id"] == query_id]
        assert own["score"].tolist() == pytest.approx(sorted(row, reverse=True), abs=1e-6)
        expected = dict(zip("abc", row, strict=True))
        assert own["score"].tolist() == pytest.approx([expected[d] for d in own["doc_id"]])
