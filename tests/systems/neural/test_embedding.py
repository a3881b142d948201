"""What every system of vectors does with those it is given: kept, searched, refused."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pandas import DataFrame

from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import Settings
from compute.systems.neural import encoding
from compute.systems.neural.embedding import LAYOUT, Embedding
from compute.systems.searcher import Approximate, Request

COUNT, NUMBERS = 3000, 16


@dataclass(frozen=True, kw_only=True)
class Given(Embedding):
    """Texts are numbers of rows; a title's first character says whether they are of documents."""

    PARAMETERS = LAYOUT
    rows: np.ndarray = field(compare=False)
    asked: np.ndarray = field(compare=False)

    def check(self) -> None:
        """Nothing can be missing."""

    def vectors_identity(self) -> dict[str, Any]:
        """Given."""
        return {"model": "given"}

    def join(self, title: str, text: str) -> str:
        """The number."""
        return text

    def encoder(self, settings: Settings, of: str) -> encoding.Encode:
        """The rows of these numbers."""
        rows = self.rows if of == "documents" else self.asked
        return lambda texts: rows[np.array(texts, int)]


def _ignore(done: int, total: int, unit: str) -> None:
    """Progress nobody watches."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", threads=1)


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    return np.random.default_rng(3).normal(size=(COUNT, NUMBERS)).astype(np.float32)


def made(rows: np.ndarray, folder: Path, **layout: Any) -> tuple[Given, Path, Path]:
    """A system, its documents and an empty folder for the index."""
    texts = [str(number) for number in range(len(rows))]
    file = folder / "documents.parquet"
    DataFrame({"doc_id": texts, "title": "", "text": texts}).to_parquet(file)
    (folder / "index").mkdir(exist_ok=True)
    return Given(rows=rows, asked=rows, **layout), file, folder / "index"


def test_systems_that_share_an_index_tell_each_its_own_recall(
    rows: np.ndarray, settings: Settings, tmp_path: Path
) -> None:
    many, file, folder = made(rows, tmp_path, index_kind="ivf", nprobe=10_000)
    one = replace(many, nprobe=1)
    assert many.index_identity() == one.index_identity()
    assert isinstance(many, Approximate)
    for first in (many, one):
        first.index(file, folder, settings, _ignore)
        of_many, of_one = (each.recall(folder, settings) for each in (many, one))
        assert of_many is not None and of_many > 0.999
        assert of_one is not None and 0 < of_one < 0.5
    exact, file, folder = made(rows, tmp_path)
    (tmp_path / "flat").mkdir()
    exact.index(file, tmp_path / "flat", settings, _ignore)
    assert exact.recall(tmp_path / "flat", settings) is None


@pytest.mark.parametrize("kind", ["flat", "hnsw", "ivf"])
@pytest.mark.parametrize(
    ("value", "dtype", "message"),
    [
        (np.nan, "float32", "the vector of a document has numbers that are not finite"),
        (np.inf, "float16", "the vector of a document has numbers that are not finite"),
        (7e4, "float16", "the vector of a document has numbers too large for dtype=float16"),
    ],
)
def test_a_document_without_a_score_is_refused_not_left_out(
    rows: np.ndarray,
    settings: Settings,
    tmp_path: Path,
    kind: str,
    value: float,
    dtype: str,
    message: str,
) -> None:
    spoilt = rows[:50].copy()
    spoilt[7, 3] = value
    searcher, file, folder = made(spoilt, tmp_path, index_kind=kind, dtype=dtype)
    with pytest.raises(WrongInput, match=message):
        searcher.index(file, folder, settings, _ignore)
    assert not list(folder.glob("vectors*"))


def test_a_query_without_a_score_is_refused(
    rows: np.ndarray, settings: Settings, tmp_path: Path
) -> None:
    searcher, file, folder = made(rows[:50], tmp_path)
    searcher.index(file, folder, settings, _ignore)
    asking = replace(searcher, asked=np.full_like(rows, np.nan))
    queries = DataFrame({"query_id": ["q"], "text": ["0"]})
    with pytest.raises(WrongInput, match="the vector of a query has numbers that are not finite"):
        asking.search(folder, Request(queries, 5, settings, _ignore))


@pytest.mark.parametrize(
    ("layout", "lost"),
    [
        ({}, "vectors.npy"),
        ({"index_kind": "hnsw"}, "vectors.faiss"),
        ({"index_kind": "ivf", "pq": 4, "refine": 100}, "vectors.faiss"),
        ({"index_kind": "ivf", "pq": 4, "refine": 100}, "vectors.npy"),
    ],
)
def test_an_index_that_has_lost_a_file_finds_nothing_in_silence(
    rows: np.ndarray, settings: Settings, tmp_path: Path, layout: dict[str, Any], lost: str
) -> None:
    searcher, file, folder = made(rows[:400], tmp_path, **layout)
    searcher.index(file, folder, settings, _ignore)
    queries = DataFrame({"query_id": ["q"], "text": ["0"]})
    assert len(searcher.search(folder, Request(queries, 5, settings, _ignore))) == 5
    (folder / lost).unlink()
    with pytest.raises(Unavailable, match=f"{lost} is lost: remove .* run it again"):
        searcher.search(folder, Request(queries, 5, settings, _ignore))


def test_the_limit_counts_where_the_vectors_are_there_already(
    rows: np.ndarray, settings: Settings, tmp_path: Path
) -> None:
    exact, file, folder = made(rows, tmp_path)
    exact.make_piece(file, (0, COUNT), folder, settings, _ignore)
    few = replace(settings, vector_bytes=1000)
    with pytest.raises(Unavailable, match="more than the setting vector_bytes allows"):
        replace(exact, index_kind="ivf").index(file, folder, few, _ignore)
    with pytest.raises(WrongInput, match="pq must divide them"):
        replace(exact, index_kind="ivf", pq=5).index(file, folder, settings, _ignore)
    # What was encoded is still there.
    assert encoding.read(folder, "vectors")[0].shape == (COUNT, NUMBERS)
