"""Document lengths: how many documents of each length there are, in the groups that are compared.

A word is a piece between white space, in title and text together; the papers do not say how they
count. A part of the kind `length_counts` is a histogram of whole numbers, so every quantile, mean
and density that follows from it is exact, for any k up to 10 and any cut of the lengths.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute import freshness, provenance
from compute.identity import fingerprint
from compute.loading import Bench, Loaded
from compute.reading import scratch
from compute.store import Part, Publication, Store

CORPUS, QUERIES, JUDGED, TOP = "corpus", "queries", "judged", "top"
"""The groups. A document counts once in the corpus, once for every query that it is judged for,
and once for every query that it is retrieved for."""
DEPTH = 10
"""Ranks of a run that are counted: those of the kind `top`."""
MAX_WORDS = 512
"""Where the first BEIR paper cuts its figure: longer documents count as this long there."""

_OF_DATASET = """
select 'corpus' as "of", 0 as level, n_words, count(*) as count
from lengths group by all
union all
-- A collection whose queries came without texts knows no lengths of them either.
select 'queries', 0, n_words, count(*)
from queries where (select max(n_words) from queries) > 0 group by all
union all
select 'judged', relevance, n_words, count(*)
from judgements join lengths using (doc_id) group by all
order by "of", level, n_words
"""
_OF_RUN = """
select 'top' as "of", rank as level, n_words, count(*) as count
from hits join lengths using (doc_id) where rank <= $depth
group by all order by level, n_words
"""


def of_dataset(lengths: Path, queries: Path, judgements: Path) -> pa.Table:
    """of, level, n_words, count of a corpus, its queries and its judged documents.

    `level` is the relevance of the judged, else 0. Judgements of documents that the corpus lacks
    have no length and are left out. The files are parts of these kinds.
    """
    with scratch() as database:
        for name, path in (("lengths", lengths), ("queries", queries), ("judgements", judgements)):
            _view(database, name, path)
        return database.sql(_OF_DATASET).to_arrow_table()


def of_run(hits: DataFrame, lengths: Path) -> pa.Table:
    """of, level, n_words, count of the first DEPTH hits of every query; `level` is the rank.

    `hits` has doc_id and rank. Hits of documents that the corpus lacks are left out.
    """
    schema = pa.schema([("doc_id", pa.string()), ("rank", pa.int32())])
    table = pa.Table.from_pandas(hits[schema.names], schema, preserve_index=False)
    with scratch() as database:
        database.from_arrow(table).create("hits")
        _view(database, "lengths", lengths)
        return database.sql(_OF_RUN, params={"depth": DEPTH}).to_arrow_table()


def _view(database: DuckDBPyConnection, name: str, path: Path) -> None:
    database.read_parquet([str(path)], hive_partitioning=False).create_view(name)


def empty_texts(documents: Path) -> int:
    """How many documents have a title at most: nothing but white space in their text."""
    with pq.ParquetFile(documents) as file:
        batches = file.iter_batches(columns=["text"])
        return sum(not text.strip() for batch in batches for text in batch["text"].to_pylist())


def add_dataset(
    store: Store, publication: Publication, loaded: Loaded, *, again: bool = False
) -> bool:
    """Count a dataset into a publication, unless that is stored; whether there was anything to do.

    Nothing can be counted where the documents cannot be had. The number of documents without text
    is recorded where the documents themselves are stored.
    """
    if loaded.lengths is None:
        return False
    name = loaded.dataset.name
    inputs = freshness.of_length_counts(loaded.lengths, loaded.queries, loaded.judgements)
    called = fingerprint("length_counts", list(inputs.values()))
    stored = store.part("length_counts", name)
    if not again and stored and stored.fingerprint == called:
        # What ships has no texts; counted beside a shipped one nothing could be added.
        known = stored.provenance["empty_texts"] is not None
        if known or loaded.documents is None:
            return False
    start = time.perf_counter()
    parts = (loaded.lengths, loaded.queries, loaded.judgements)
    counts = of_dataset(*(part.path for part in parts))
    empty = empty_texts(loaded.documents.path) if loaded.documents else None
    seconds = time.perf_counter() - start
    about = provenance.record(["lengths", name], seconds, inputs=inputs, empty_texts=empty)
    publication.add("length_counts", counts, dataset=name, fingerprint=called, provenance=about)
    return True


def add_run(
    store: Store,
    publication: Publication,
    loaded: Loaded,
    hits: Part,
    top: DataFrame,
    *,
    again: bool = False,
) -> bool:
    """Count a run into a publication, unless that is stored; whether there was anything to do.

    `hits` is its part, `top` its doc_id and rank down to rank 10.
    """
    if loaded.lengths is None:
        return False
    inputs = freshness.of_top(hits.fingerprint) | freshness.of_length_counts(loaded.lengths)
    called = fingerprint("length_counts", list(inputs.values()))
    stored = store.part("length_counts", hits.dataset, hits.system)
    if not again and stored and stored.fingerprint == called:
        return False
    start = time.perf_counter()
    counts = of_run(top, loaded.lengths.path)
    left_out = int((top["rank"] <= DEPTH).sum()) - sum(counts["count"].to_pylist())
    about = provenance.record(
        ["lengths", hits.dataset],
        time.perf_counter() - start,
        inputs=inputs,
        hits_without_length=left_out,
    )
    publication.add(
        "length_counts",
        counts,
        dataset=hits.dataset,
        system=hits.system,
        fingerprint=called,
        provenance=about,
    )
    return True


def count(bench: Bench, loaded: Loaded, *, again: bool = False) -> int:
    """Count a stored dataset and its runs; returns how many of them were not counted yet."""
    name = loaded.dataset.name
    new = 0
    with bench.store.publishing(bench.job or f"lengths {name}") as publication:
        new += add_dataset(bench.store, publication, loaded, again=again)
        runs = list(_runs(bench.store, name))
        for number, (hits, top) in enumerate(runs, 1):
            found = pq.read_table(top.path, columns=["doc_id", "rank"]).to_pandas()
            new += add_run(bench.store, publication, loaded, hits, found, again=again)
            bench.progress(number, len(runs), "runs counted")
    return new


def _runs(store: Store, dataset: str) -> Iterator[tuple[Part, Part]]:
    """The hits and the top 10 of every run on a dataset that is not outdated."""
    fresh, _ = freshness.split(store.parts())
    live = {part.identity: part for part in fresh if part.dataset == dataset}
    for (kind, _, system), part in live.items():
        if kind == "hits" and (top := live.get(("top", dataset, system))):
            yield part, top
