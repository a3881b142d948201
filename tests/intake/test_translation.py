"""Cosines of translated texts and their originals."""

from pathlib import Path
from typing import Any

import pytest

from compute.base.errors import WrongInput
from compute.datasets import Dataset
from compute.intake import imports, translation
from compute.store.loading import Bench
from compute.views.dataset.page import page
from compute.views.page import find
from compute.views.page.store_ask import opened
from tests.support import filled


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return filled.bench(tmp_path)


@pytest.fixture
def pair(bench: Bench) -> tuple[Dataset, Dataset]:
    one, other = (filled.take(bench, {}, name) for name in ("one", "one-pl"))
    return one, other


def _shown(bench: Bench) -> Any:
    """The table of Two languages."""
    with opened(bench.store) as ask:
        found = find(page, ask, "translation", dataset="one-pl", show="Two languages").part
    return found.shown.set_index("Part")  # type: ignore[union-attr]


@pytest.mark.long
def test_equal_texts_have_cosine_1_and_only_dense_systems_compare(
    bench: Bench, pair: tuple[Dataset, Dataset]
) -> None:
    found = translation.similarity(bench, *pair, "minilm", n=3).set_index("of")
    assert found.loc["queries", "mean"] == pytest.approx(1)
    assert found.loc["documents", "pairs"] == 3
    with pytest.raises(WrongInput, match="bm25 does not encode texts"):
        translation.similarity(bench, *pair, "bm25")


@pytest.mark.long
def test_the_similarity_stands_beside_the_printed_ones_until_a_text_changes(
    bench: Bench, pair: tuple[Dataset, Dataset]
) -> None:
    translation.similarity(bench, *pair, "minilm", n=3)
    rows = _shown(bench)
    assert rows.loc["one-pl corpus", "all-MiniLM-L6-v2, here"] == pytest.approx(1)
    assert rows.loc["scifact-pl queries", "LaBSE"] == pytest.approx(0.88)
    queries = bench.settings.home.parent / "one" / "queries.jsonl"
    queries.write_text(queries.read_text("utf-8").replace("ships", "boats"), "utf-8")
    imports.import_dataset(bench, "one", path=queries.parent, replace=True)
    assert "one-pl corpus" not in _shown(bench).index
