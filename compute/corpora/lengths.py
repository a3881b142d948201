"""Counts documents by their length in words, in the groups that are compared. Words of title and
text together are separated by white space (in scripts without spaces, by ICU's dictionaries:
`scripts.segmented`); the papers do not say how they count words. A part of the kind `length_counts`
is a histogram of integers, so every quantile, mean and density derived from it is exact, for any
top k up to 10 and any truncation of the lengths."""

import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base import parquet_files
from compute.base.errors import Missing
from compute.base.result_identity import fingerprint
from compute.base.scratch_database import scratch
from compute.datasets import Dataset
from compute.store import freshness, provenance
from compute.store.loading import Bench, Loaded, load, stored
from compute.store.store import Part, Publication, Store

CORPUS, QUERIES, JUDGED, TOP = "corpus", "queries", "judged", "top"
"""Groups of texts. A document counts once in the corpus, once for each query for which it is
judged, and once for each query for which it is retrieved."""
DEPTH = 10
"""Number of ranks of a run that are counted: those in parts of the kind `top`."""
MAX_WORDS = 512
"""Maximum length in the figure, as in the first BEIR paper; longer documents count as this long."""

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
    """Count the lengths of a corpus, its queries and its judged documents: of (the group), level,
    n_words, count. `level` is the relevance of judged documents, else 0. Judgements of documents
    outside the corpus are left out, since their length is unknown. The files are parts of these
    kinds."""
    with scratch() as database:
        for name, path in (("lengths", lengths), ("queries", queries), ("judgements", judgements)):
            _view(database, name, path)
        return database.sql(_OF_DATASET).to_arrow_table()


def of_run(hits: DataFrame, lengths: Path) -> pa.Table:
    """Count the lengths of the first DEPTH hits of every query: of (the group), level (the rank),
    n_words, count. `hits` has doc_id and rank. Hits outside the corpus are left out."""
    schema = pa.schema([("doc_id", pa.string()), ("rank", pa.int32())])
    table = pa.Table.from_pandas(hits[schema.names], schema, preserve_index=False)
    with scratch() as database:
        database.from_arrow(table).create("hits")
        _view(database, "lengths", lengths)
        return database.sql(_OF_RUN, params={"depth": DEPTH}).to_arrow_table()


def _view(database: DuckDBPyConnection, name: str, path: Path) -> None:
    database.read_parquet([str(path)], hive_partitioning=False).create_view(name)


def empty_texts(documents: Path) -> int:
    """Return the number of documents that have only a title."""
    batches = parquet_files.batches(documents, ["text"])
    return sum(not text.strip() for batch in batches for text in batch["text"].to_pylist())


def add_dataset(
    store: Store, publication: Publication, loaded: Loaded, *, again: bool = False
) -> bool:
    """Measure a dataset's lengths and publish them, unless they are stored; returns whether there
    was work to do. This needs documents. The number of documents without text is recorded if the
    documents are stored."""
    lengths = loaded.lengths
    if lengths is None or (not again and _has_dataset(store, loaded)):
        return False
    start = time.perf_counter()
    name = loaded.dataset.name
    counts = of_dataset(lengths.path, loaded.queries.path, loaded.judgements.path)
    empty = empty_texts(loaded.documents.path) if loaded.documents else None
    inputs = freshness.by_kind(lengths, loaded.queries, loaded.judgements)
    seconds = time.perf_counter() - start
    made = ["lengths", "compute", name]
    about = provenance.record(made, seconds, inputs=inputs, empty_texts=empty)
    publication.add(
        "length_counts", counts, dataset=name, fingerprint=_name(inputs), provenance=about
    )
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
    """Measure a run's lengths and publish them, unless they are stored; returns whether there was
    work to do. `hits` is the run's part; `top` has its doc_id and rank, at least down to rank 10.
    The number of hits outside the corpus is recorded."""
    lengths = loaded.lengths
    if lengths is None or (not again and _has_run(store, lengths, hits)):
        return False
    start = time.perf_counter()
    counts = of_run(top, lengths.path)
    left_out = int((top["rank"] <= DEPTH).sum()) - sum(counts["count"].to_pylist())
    inputs = freshness.by_kind(lengths, hits)
    about = provenance.record(
        ["lengths", "compute", hits.dataset],
        time.perf_counter() - start,
        inputs=inputs,
        hits_without_length=left_out,
    )
    names = {"dataset": hits.dataset, "system": hits.system}
    publication.add("length_counts", counts, **names, fingerprint=_name(inputs), provenance=about)
    return True


def _name(inputs: freshness.Inputs) -> str:
    """Return the fingerprint of counts with these inputs."""
    return fingerprint("length_counts", list(inputs.values()))


def _has_dataset(store: Store, loaded: Loaded) -> bool:
    """Return whether up-to-date counts of the dataset are stored."""
    part = store.part("length_counts", loaded.dataset.name)
    if part is None or loaded.lengths is None:
        return False
    # If texts were added after the lengths, empty texts can now be counted.
    is_whole = part.provenance["empty_texts"] is not None or loaded.documents is None
    inputs = freshness.by_kind(loaded.lengths, loaded.queries, loaded.judgements)
    return is_whole and part.fingerprint == _name(inputs)


def _has_run(store: Store, lengths: Part, hits: Part) -> bool:
    """Return whether up-to-date counts of the run are stored."""
    part = store.part("length_counts", hits.dataset, hits.system)
    return part is not None and part.fingerprint == _name(freshness.by_kind(lengths, hits))


def with_documents(bench: Bench, dataset: Dataset) -> Loaded:
    """Return the dataset as stored, or load it. Raises Missing if it has no documents."""
    loaded = stored(bench.store, dataset) or load(bench, dataset)
    if loaded.lengths is None:
        raise Missing(
            f"{dataset.name} has no documents, so their lengths are unknown: import a dataset"
            " with documents (import-dataset)"
        )
    return loaded


def count(bench: Bench, loaded: Loaded, *, again: bool = False) -> int:
    """Measure a stored dataset and its runs; returns how many of these were newly measured."""
    name = loaded.dataset.name
    new = 0
    with bench.store.publishing(bench.job or f"lengths {name}") as publication:
        new += add_dataset(bench.store, publication, loaded, again=again)
        runs = _runs(bench.store, name)
        for number, (hits, top) in enumerate(runs, 1):
            found = pq.read_table(top.path, columns=["doc_id", "rank"]).to_pandas()
            new += add_run(bench.store, publication, loaded, hits, found, again=again)
            bench.progress(number, len(runs), "runs counted")
    return new


def is_counted(store: Store, loaded: Loaded) -> bool:
    """Return whether `count` has nothing to do."""
    lengths = loaded.lengths
    if lengths is None or not _has_dataset(store, loaded):
        return False
    return all(_has_run(store, lengths, hits) for hits, _ in _runs(store, loaded.dataset.name))


def countable(store: Store) -> list[str]:
    """Return the stored datasets whose documents have known lengths."""
    rows = [Dataset.from_record(part.provenance["dataset"]) for part in store.parts("queries")]
    collections = {part.dataset for part in store.parts("lengths")}
    return [row.name for row in rows if row.collection in collections]


def _runs(store: Store, dataset: str) -> list[tuple[Part, Part]]:
    """Return the hits and top 10 of every up-to-date run on a dataset."""
    fresh, _ = freshness.split(store.parts())
    own = [part for part in fresh if part.dataset == dataset]
    tops = {part.system: part for part in own if part.kind == "top"}
    hits = [part for part in own if part.kind == "hits"]
    return [(part, tops[part.system]) for part in hits if part.system in tops]
