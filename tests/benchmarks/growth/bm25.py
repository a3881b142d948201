"""What BM25 costs by the size of the collection: the index, and one query at a time."""

import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from compute.base.settings import Settings
from compute.recompute import efficiency, latency
from compute.store.loading import quiet
from compute.systems import system
from compute.systems.lexical.bm25 import Bm25
from tests.benchmarks.growth.corpus import made_up
from tests.benchmarks.growth.lines import Line, processors

SIZES = (10_000, 30_000, 100_000)
SMALL = (100, 200, 400)


def measured(n_documents: int, folder: Path) -> dict[str, float]:
    """The costs of `bm25` on so many documents, as `efficiency` names them.

    Besides, `p50` and `p95` of a query in milliseconds, and `index_cpu` in seconds of processors.
    """
    settings, searcher = Settings(home=folder / "home"), system("bm25").search
    assert isinstance(searcher, Bm25)
    asked = made_up(n_documents, folder / "documents.parquet")
    index = folder / "index"
    index.mkdir()
    busy = processors()
    with efficiency.watched() as cost:
        facts = searcher.index(folder / "documents.parquet", index, settings, quiet)
    busy = processors() - busy
    efficiency.keep_index(index, cost, facts, resumed=False)
    with searcher.session(index, settings) as ask:
        for text in asked[100:]:
            ask(text, latency.HITS)
        took = [latency.milliseconds(partial(ask, text, latency.HITS)) for text in asked[:100]]
    p50, p95 = np.percentile(took, [50, 95])
    found = efficiency.of_index(index, n_documents)
    return found | {"p50": float(p50), "p95": float(p95), "index_cpu": busy}


def table(sizes: Sequence[int]) -> Line:
    """Measure each size and print a row; gives the growth of indexing."""
    taken = []
    sys.stdout.write("documents  index s  documents/s  index MB  memory MB  p50 ms  p95 ms\n")
    for n_documents in sizes:
        with tempfile.TemporaryDirectory() as folder:
            cost = measured(n_documents, Path(folder))
        rate, memory = n_documents / cost["index_seconds"], cost["peak_memory_bytes"] / 1e6
        sys.stdout.write(
            f"{n_documents:9,}  {cost['index_seconds']:7.1f}  {rate:11,.0f}"
            f"  {cost['index_bytes'] / 1e6:8.1f}  {memory:9,.0f}"
            f"  {cost['p50']:6.2f}  {cost['p95']:6.2f}\n"
        )
        sys.stdout.flush()
        taken.append(cost["index_cpu"])
    return Line("BM25 indexing", "documents", tuple(sizes), tuple(taken))
