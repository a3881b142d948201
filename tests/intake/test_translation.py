"""Cosines of translated texts and their originals."""

from pathlib import Path

import pytest

from compute.base.errors import WrongInput
from compute.intake import translation
from tests.support import filled


def test_equal_texts_have_cosine_1_and_only_dense_systems_compare(tmp_path: Path) -> None:
    bench = filled.bench(tmp_path)
    one, other = (filled.take(bench, {}, name) for name in ("one", "one-pl"))
    found = translation.similarity(bench, one, other, "minilm", n=3).set_index("part")
    assert found.loc["queries", "mean"] == pytest.approx(1)
    assert found.loc["documents", "pairs"] == 3
    with pytest.raises(WrongInput, match="bm25 gives no vector"):
        translation.similarity(bench, one, other, "bm25")
