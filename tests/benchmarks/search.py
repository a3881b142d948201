"""BM25 from Java straight to the run file, beside Pyserini's searcher that hands over every hit.

    python -m tests.benchmarks.search [DOCUMENTS QUERIES HITS]      (default: 30000 500 1000)

Made-up documents of 150 words, indexed once. Each side then has a process of its own, starts at the
index and the queries, and ends with all hits: ours by Anserini's batch command, its run file read
back into the frame that is stored; Pyserini's by `LuceneSearcher.batch_search` on as many threads,
each hit's id and score asked for and written to a run file, as its own command does. Our seconds
count the start of Java; Pyserini's start is told apart and counts for nothing. The bar: no
crossing from Java to Python per hit.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from compute.base.settings import Settings
from compute.store.loading import quiet
from compute.systems import system
from compute.systems.lexical import anserini
from compute.systems.lexical.bm25 import Bm25
from compute.systems.searcher import Request
from tests.benchmarks.growth.corpus import made_up
from tests.benchmarks.side_by_side import Row, quicker, say, seconds, show


def ours(folder: Path, depth: int) -> dict[str, float]:
    """Seconds from the queries to the frame of hits, Java's start and the reading among them."""
    searcher = _bm25()
    queries = pd.read_json(folder / "queries.json", dtype={"query_id": "str"})
    start = time.perf_counter()
    hits = searcher.search(folder / "index", Request(queries, depth, Settings(home=folder), quiet))
    return {"seconds": time.perf_counter() - start, "hits": len(hits), "start": 0.0}


def by_pyserini(folder: Path, depth: int) -> dict[str, float]:
    """Seconds of searching and of writing the run file; of loading the libraries apart."""
    start = time.perf_counter()
    os.environ |= {"JAVA_HOME": str(anserini._java().parent.parent), "OPENAI_API_KEY": "unused"}
    import jnius_config

    jnius_config.add_classpath(str(anserini._jar()))
    jnius_config.add_options("-Xmx2g")
    import jnius  # noqa: F401 - Java starts with the options above, not with Pyserini's own
    from pyserini.search.lucene import LuceneSearcher

    queries = pd.read_json(folder / "queries.json", dtype={"query_id": "str"})
    searcher = LuceneSearcher(str(folder / "index" / "lucene"))
    searcher.set_bm25(_bm25().k1, _bm25().b)
    loaded = time.perf_counter()
    texts, names = queries["text"].tolist(), queries["query_id"].tolist()
    found = searcher.batch_search(texts, names, depth, Settings(home=folder).threads)
    n_hits = 0
    with (folder / "pyserini.txt").open("w", encoding="utf-8") as run:
        for name in names:
            for rank, hit in enumerate(found[name], 1):
                run.write(f"{name} Q0 {hit.docid} {rank} {hit.score:.6f} pyserini\n")
                n_hits += 1
    took = time.perf_counter() - loaded
    return {"seconds": took, "hits": n_hits, "start": loaded - start}


WAYS = {"ours": ours, "pyserini": by_pyserini}


def _bm25() -> Bm25:
    searcher = system("bm25").search
    assert isinstance(searcher, Bm25)
    return searcher


def compare(n_documents: int, n_queries: int, depth: int) -> None:
    """Index made-up documents, and search them both ways."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        asked = made_up(n_documents, folder / "documents.parquet", n_queries)
        queries = pd.DataFrame({"query_id": [f"q{n}" for n in range(n_queries)], "text": asked})
        queries.to_json(folder / "queries.json")
        (folder / "index").mkdir()
        documents = folder / "documents.parquet"
        _bm25().index(documents, folder / "index", Settings(home=folder), quiet)
        own, theirs = (_alone(name, folder, depth) for name in WAYS)
    show(
        Row(
            work=f"BM25, {n_queries:,} queries for {depth:,} hits among {n_documents:,} documents,"
            f" {own['hits']:,.0f} hits",
            bar="from Java straight to the run file: no crossing per hit",
            ours=f"{seconds(own['seconds'])} with the start of Java",
            peer=f"pyserini's batch_search {seconds(theirs['seconds'])},"
            f" {seconds(theirs['start'])} before it to load",
            ratio=quicker(theirs["seconds"], own["seconds"]),
            met=own["hits"] == theirs["hits"],
        )
    )


def _alone(name: str, folder: Path, depth: int) -> dict[str, float]:
    command = [sys.executable, "-m", __spec__.name, "--one", name, str(folder), str(depth)]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(told.splitlines()[-1])


def main(words: Sequence[str]) -> None:
    """Compare, or be one of those compared."""
    if words[:1] == ["--one"]:
        say(json.dumps(WAYS[words[1]](Path(words[2]), int(words[3]))))
        return
    sizes = [*map(int, words), *(30_000, 500, 1_000)[len(words) :]]
    compare(*sizes)
    say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main(sys.argv[1:])
