"""What the papers ask of their tables: averages as printed, in-domain against zero-shot."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compute.base.errors import Missing
from compute.views.leaderboard.page import page
from compute.views.page import Ask, Figure, Table, find
from compute.views.page.store_ask import opened
from tests.support import filled

PRINTED = {"numbers": "Published"}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """A home where nothing is stored."""
    home: Path = tmp_path_factory.mktemp("home")
    with opened(filled.bench(home).store) as found:
        yield found


@pytest.mark.long
@pytest.mark.parametrize(
    ("table", "measure"), [("BEIR v1, Table 2", "nDCG@10"), ("BEIR v1, Table 9", "R@100")]
)
def test_the_printed_average_is_that_of_all_rows(ask: Ask, table: str, measure: str) -> None:
    part = find(page, ask, "averages-printed", table=table, measure=measure, **PRINTED).part
    assert isinstance(part, Table)
    rows = part.rows.set_index("system")
    assert len(rows) == 9
    assert (rows["all"] - rows["value"]).abs().max() < 0.00051
    if measure == "nDCG@10":
        bm25 = rows.loc["bm25-elasticsearch"]
        assert (bm25["value"], round(bm25["here"], 3)) == (0.419, 0.431)


def test_a_table_without_averages_has_none(ask: Ask) -> None:
    with pytest.raises(Missing, match="no 'averages-printed'"):
        find(page, ask, "averages-printed", table="BEIR v4, Table 2", **PRINTED)


def test_in_domain_is_no_sign_of_the_zero_shot_average(ask: Ask) -> None:
    part = find(page, ask, "in-domain", table="BEIR v4, Table 2", **PRINTED).part
    assert isinstance(part, Figure)
    figure: Any = part.drawn(theme="light")
    (marks,) = figure.data
    names = [note.text for note in figure.layout.annotations[1:]]
    at = dict(zip(names, zip(marks.x, marks.y, strict=True), strict=True))
    # TAS-B is better on MS MARCO than all but ColBERT and the reranker, and is behind BM25.
    assert at["TAS-B"][0] == 0.408 and at["TAS-B"][1] < 0 < at["BM25+CE (MiniLM)"][1]
    assert at["BM25 (Anserini)"][1] == 0
    # BM25 and DPR were not trained on it: open, and not in the correlation.
    assert "(n = 8); with the open marks" in figure.layout.annotations[0].text
