"""The printed trade-off: Table 3's costs with Table 2's zero-shot averages."""

from pathlib import Path

import pytest

from compute.views.efficiency import printed_tradeoff
from compute.views.efficiency.page import page
from compute.views.page import find
from compute.views.page.store_ask import opened
from tests.support import filled


def test_a_system_has_the_latency_of_the_gpu_where_one_is_printed(tmp_path: Path) -> None:
    with opened(filled.bench(tmp_path).store) as ask:
        rows = printed_tradeoff.rows(ask, "BEIR v1").set_index("system")
        assert len(rows) == 9 and len(printed_tradeoff.rows(ask, "BEIR v4")) == 10
        figure = find(page, ask, "printed-index_bytes", paper="BEIR v1").part
        drawn = figure.drawn(theme="light")  # type: ignore[union-attr]
    reranker, bm25 = rows.loc["bm25+ce-electra"], rows.loc["bm25-elasticsearch"]
    assert (reranker["latency_p50_ms"], bm25["latency_p50_ms"]) == (550, 20)
    assert reranker["hardware"].startswith("GPU") and bm25["hardware"].startswith("CPU")
    assert rows.loc["colbert", "index_bytes"] == 20e9
    assert bm25["value"] == pytest.approx(0.431, abs=5e-4)
    assert len(drawn.data[-1].x) == 9
