"""Latency: which queries are timed, and that one query is answered as a batch answers it."""

from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame

from compute.base.errors import Unavailable
from compute.base.settings import Settings
from compute.datasets import Dataset
from compute.intake import imports
from compute.recompute import efficiency, latency, run
from compute.recompute.pairs import pair
from compute.store.loading import Bench, quiet
from compute.store.store import Store
from compute.systems import system
from compute.systems.lexical import lucene
from compute.systems.lexical.bm25 import Bm25
from compute.systems.searcher import Request, TimedSearcher
from tests.support.tiny import write_tiny
from tests.support.worlds import SOME

INPUTS = ("bm25-multifield", "bm25-rm3")
FUSED = "rrf(bm25-multifield,bm25-rm3)"


@SOME
@given(
    texts=st.dictionaries(st.text(max_size=3), st.none() | st.text(max_size=3), max_size=12),
    number=st.integers(0, 15),
)
def test_a_sample_is_of_queries_with_text_and_the_same_in_any_order(
    texts: dict[str, str | None], number: int
) -> None:
    column = pd.Series(list(texts.values()), dtype="str")
    queries = DataFrame({"query_id": list(texts), "text": column})
    timed, others = latency.sample(queries, number)
    asked = {(name, text) for name, text in texts.items() if text and text.strip()}
    assert len(timed) == min(number, len(asked))
    assert set(timed) | set(others) == asked
    assert len(timed) + len(others) == len(asked)
    assert latency.sample(queries.iloc[::-1], number) == (timed, others)


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bench, Dataset]:
    """A home with the tiny collection and a fused run, two queries of each run timed."""
    folder = tmp_path_factory.mktemp("timed")
    now = Settings(home=folder / "home", threads=1, latency_queries=2)
    bench = Bench(Store(now, shipped=folder / "nothing"), now)
    tiny = imports.import_dataset(bench, "tiny", path=write_tiny(folder / "tiny")).dataset
    run.run(bench, system(FUSED), tiny)
    return bench, tiny


@pytest.mark.long
def test_a_run_has_the_latency_of_its_sample(timed: tuple[Bench, Dataset]) -> None:
    for name in (*INPUTS, FUSED):
        costs = efficiency.stored(timed[0].store, "tiny", name)
        assert costs is not None
        assert 0 < costs.values["latency_p50_ms"] <= costs.values["latency_p95_ms"]
        assert costs.about["latency_queries"] == 2
        assert costs.about["latency_hits"] == 100


@pytest.mark.long
@pytest.mark.parametrize("name", INPUTS)
def test_a_session_ranks_as_the_run_file_does(timed: tuple[Bench, Dataset], name: str) -> None:
    """Fields with weights, and feedback: the same documents, scores to the run file's digits."""
    bench, tiny = timed
    ready = pair(bench, system(name), tiny)
    stored = bench.store.part("hits", "tiny", name)
    queries = bench.store.part("queries", "tiny")
    assert stored and queries
    searcher, asked = ready.searcher, run.read(queries)
    assert isinstance(searcher, Bm25)
    with run.index(bench, ready) as (folder, _):
        texts = [lucene.one_line(text, 100) for text in asked["text"]]
        request = Request(asked, 1000, bench.settings, quiet)
        found = lucene.search_singly(folder, request, texts, searcher._options())
    batch = run.read(stored).sort_values(["query_id", "rank"])
    keys = ["query_id", "doc_id"]
    assert found[keys].values.tolist() == batch[keys].values.tolist()
    # The run file keeps four decimals.
    np.testing.assert_allclose(found["score"], batch["score"], atol=1e-4)


@pytest.mark.long
def test_no_index_is_built_to_time_a_stored_input(timed: tuple[Bench, Dataset]) -> None:
    bench, tiny = timed
    multifield = pair(bench, system("bm25-multifield"), tiny).names.index
    folder = bench.settings.home / "caches" / multifield
    aside = folder.rename(folder.with_name("elsewhere"))
    name = "rrf(bm25-multifield,bm25-rm3,k=1)"
    try:
        run.run(bench, system(name), tiny)
        assert not folder.exists()
    finally:
        aside.rename(folder)
    costs = efficiency.stored(bench.store, "tiny", name)
    assert costs is not None
    assert "the index of bm25-multifield is not kept here" in costs.about["untimed"]


@pytest.mark.long
def test_an_imported_input_has_no_latency(timed: tuple[Bench, Dataset], tmp_path: Path) -> None:
    bench, tiny = timed
    file = tmp_path / "mine.run"
    file.write_text("q1 Q0 d1 1 3.0 t\n", encoding="utf-8")
    imports.import_run(bench, file, tiny, system="mine")
    run.run(bench, system("rrf(mine,bm25-rm3)"), tiny)
    costs = efficiency.stored(bench.store, "tiny", "rrf(mine,bm25-rm3)")
    assert costs is not None
    assert "mine was imported" in costs.about["untimed"]
    # What the import cost is not known, so neither is what the two cost together.
    assert set(costs.values) == set()
    assert efficiency.stored(bench.store, "tiny", "mine") is None


@pytest.mark.long
def test_a_session_that_cannot_begin_says_why(bench: Bench, tmp_path: Path) -> None:
    searcher = system("bm25").search
    assert isinstance(searcher, TimedSearcher)
    session = searcher.session(tmp_path / "none", bench.settings)
    with pytest.raises(Unavailable, match="SearchCollection failed"), session:
        raise AssertionError("there is no index")


def test_a_search_that_is_done_outlives_a_bug_in_timing_it(bench: Bench, tmp_path: Path) -> None:
    now = Settings(home=bench.settings.home, threads=1, latency_queries=1)
    timing = Bench(bench.store, now)
    tiny = imports.import_dataset(timing, "tiny", path=write_tiny(tmp_path / "tiny")).dataset

    def broken(_: object) -> AbstractContextManager[tuple[Path, bool]]:
        raise RuntimeError("no such thing")

    values, about = latency.measure(timing, pair(timing, system("bm25"), tiny), broken)
    assert values == {}
    assert "a bug in Beirscope" in about["untimed"]
    assert "no such thing" in next((now.home / "logs").glob("bug-*.log")).read_text("utf-8")
