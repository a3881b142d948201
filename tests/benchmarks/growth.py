"""How the cost of BM25 grows with the collection; prints one line for each size.

    python -m tests.benchmarks.growth [DOCUMENTS …]      (default: 10000 30000 100000)

Documents are made up: words by Zipf's law from a vocabulary that grows as Heaps' law says, lengths
around 150 words. Each size is indexed and then searched one query at a time, as runs are measured.
"""

import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from compute import efficiency, latency
from compute.loading import quiet
from compute.settings import Settings
from compute.systems import system
from compute.systems.lexical import Bm25

WORDS, N_QUERIES = 150, 200
"""Mean words of a document; queries, each of 8 words."""


def _text(words: np.ndarray) -> str:
    return " ".join(f"w{word:x}" for word in words)


def made_up(n_documents: int, file: Path) -> list[str]:
    """Write documents to a Parquet file (doc_id, title, text); gives queries, of the same words."""
    random = np.random.default_rng(seed=n_documents)
    # Heaps: a corpus of n words has about 30 n^0.5 different ones.
    vocabulary = int(30 * (n_documents * WORDS) ** 0.5)
    shares = 1 / np.arange(2, vocabulary + 2)
    upto = np.cumsum(shares / shares.sum())
    schema = pa.schema([(name, pa.string()) for name in ("doc_id", "title", "text")])
    with pq.ParquetWriter(file, schema) as out:
        for first in range(0, n_documents, 5000):
            lengths = random.poisson(WORDS, min(5000, n_documents - first))
            words = np.searchsorted(upto, random.random(lengths.sum()))
            texts = [_text(own) for own in np.split(words, np.cumsum(lengths)[:-1])]
            ids = [f"d{number}" for number in range(first, first + len(texts))]
            out.write_table(pa.table({"doc_id": ids, "title": [""] * len(ids), "text": texts}))
    asked = np.searchsorted(upto, random.random((N_QUERIES, 8)))
    return [_text(own) for own in asked]


def measured(n_documents: int, folder: Path) -> dict[str, float]:
    """The costs of `bm25` on so many documents, as `efficiency` names them."""
    settings, searcher = Settings(home=folder / "home"), system("bm25").search
    assert isinstance(searcher, Bm25)
    asked = made_up(n_documents, folder / "documents.parquet")
    index = folder / "index"
    index.mkdir()
    with efficiency.watched() as cost:
        facts = searcher.index(folder / "documents.parquet", index, settings, quiet)
    efficiency.keep_index(index, cost, facts, resumed=False)
    with searcher.session(index, settings) as ask:
        for text in asked[100:]:
            ask(text, latency.HITS)
        took = [latency.milliseconds(partial(ask, text, latency.HITS)) for text in asked[:100]]
    p50, p95 = np.percentile(took, [50, 95])
    return efficiency.of_index(index, n_documents) | {"p50": float(p50), "p95": float(p95)}


def main() -> None:
    """Measure each size."""
    sizes = [int(word) for word in sys.argv[1:]] or [10_000, 30_000, 100_000]
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


if __name__ == "__main__":
    main()
