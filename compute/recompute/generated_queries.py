"""Generated queries: a model's queries for each document of a corpus, stored as a part. They take
hours to compute, so they are published like results and outlive the caches. Systems share them,
since corpus and generator determine their name."""

import contextlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa
import pyarrow.parquet as pq

from compute.base import parquet_files, scratch
from compute.base.errors import WrongInput
from compute.base.result_identity import fingerprint
from compute.store import caches, freshness, provenance
from compute.store.loading import Bench, Loaded
from compute.store.store import Part
from compute.systems.lexical import doc2query
from compute.systems.lexical.doc2query import Generator
from compute.systems.training.from_documents import sampled

_BATCH = 1_000


@runtime_checkable
class Expanding(Protocol):
    """A searcher that appends generated queries to its documents before it indexes them."""

    @property
    def generator(self) -> Generator:
        """The model that generates the queries."""
        ...


def part(bench: Bench, loaded: Loaded, generator: Generator, *, most: int = 0) -> Part:
    """Return the queries that a generator generates for a corpus; if they are not stored, generate
    and publish them. If `most` is above 0, at most this many documents, chosen by `sampled`, are
    used. Raises WrongInput for a corpus without documents."""
    documents, collection = loaded.documents, loaded.dataset.collection
    if documents is None or loaded.lengths is None:
        raise WrongInput(f"{loaded.dataset.name} has no documents to ask about")
    cut = {"documents": most} if 0 < most < documents.rows else {}
    called = f"{generator}{f' of {most}' if cut else ''}"
    identity = generator.identity() | cut
    name = fingerprint("generated", [documents.fingerprint], identity=identity)
    stored = bench.store.done("generated", collection, called, name)
    if stored is not None:
        return stored

    def build(aside: Path) -> None:
        file = _sample(documents.path, most, aside) if cut else documents.path
        generator.generate(file, aside, bench.settings, bench.progress)

    with caches.folder(bench.settings, name, build) as folder:
        return _publish(bench, loaded, folder, called, name, identity)


def _publish(
    bench: Bench, loaded: Loaded, folder: Path, called: str, name: str, identity: dict[str, Any]
) -> Part:
    """Publish the queries in a folder as a part with this fingerprint."""
    assert loaded.lengths is not None
    collection = loaded.dataset.collection
    shards = sorted(folder.glob("generated-*.parquet"))
    about = provenance.record(
        ["run", "doct5query", loaded.dataset.name],
        doc2query.seconds(shards),
        identity=identity,
        inputs=freshness.by_kind(loaded.lengths),
    )
    with bench.store.publishing(bench.job or f"generate {collection}") as publication:
        return publication.add(
            "generated",
            _batches(shards),
            dataset=collection,
            system=called,
            fingerprint=name,
            provenance=about,
        )


def _sample(documents: Path, most: int, folder: Path) -> Path:
    """Write a file of the sampled documents, and return its path."""
    target = folder / "sample.parquet"
    columns = ["doc_id", "title", "text"]
    file = parquet_files.opened(documents)
    places, first = sampled(file.metadata.num_rows, most), 0
    with pq.ParquetWriter(target, file.schema_arrow.empty_table().select(columns).schema) as writer:
        for batch in file.iter_batches(_BATCH, columns=columns):
            own = places[(places >= first) & (places < first + len(batch))] - first
            writer.write_batch(batch.take(pa.array(own)))
            first += len(batch)
    return target


@contextlib.contextmanager
def expanded(bench: Bench, loaded: Loaded, searcher: object) -> Iterator[tuple[Path, float]]:
    """Yield a file of documents to index, and the seconds that it took to expand them. For an
    expanding searcher, generated queries are appended to the documents."""
    assert loaded.documents is not None
    if not isinstance(searcher, Expanding):
        yield loaded.documents.path, 0.0
        return
    queries = part(bench, loaded, searcher.generator)
    with scratch.folder(bench.settings.home, "generated-") as folder:
        file = folder / "documents.parquet"
        _append(loaded.documents.path, queries.path, searcher.generator.number, file)
        yield file, queries.provenance["seconds"]


def _append(documents: Path, queries: Path, number: int, target: Path) -> None:
    """Write doc_id, title and text, where the document's own `number` queries follow its text."""
    schema = pa.schema([(name, pa.string()) for name in ("doc_id", "title", "text")])
    asked = _rows(queries, ["doc_id", "text"])
    rows = _rows(documents, schema.names)
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        while batch := list(islice(rows, _BATCH)):
            for row in batch:
                own = list(islice(asked, number))
                # Both are in file order; by the fingerprint, the queries belong to this very file.
                assert {query["doc_id"] for query in own} == {row["doc_id"]}
                row["text"] = " ".join([row["text"] or "", *(query["text"] for query in own)])
            writer.write_table(pa.Table.from_pylist(batch, schema))


def _rows(file: Path, columns: list[str]) -> Iterator[dict[str, str]]:
    for batch in parquet_files.batches(file, columns, _BATCH):
        yield from batch.to_pylist()


def _batches(files: list[Path]) -> Iterator[pa.RecordBatch]:
    for file in files:
        yield from parquet_files.batches(file, rows=_BATCH)
