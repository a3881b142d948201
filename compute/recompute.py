"""Recompute: load a dataset, search it with a system, score the run, publish.

Each step names its output by fingerprint, so a step whose output is stored is not done again.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame

from compute import caches, provenance, runs
from compute.datasets import Dataset, Document, Source, source
from compute.datasets.fingerprints import (
    CorpusCount,
    judgements_fingerprint,
    queries_fingerprint,
)
from compute.datasets.records import n_words
from compute.errors import Missing, Unavailable, WrongInput
from compute.identity import fingerprint
from compute.measures import MEASURES, evaluate
from compute.settings import Settings
from compute.store import KINDS, Part, Publication, Store, constants, top
from compute.systems import Searcher, System

Progress = Callable[[int, int, str], None]
"""Told how far a step is: done, total and the unit, such as documents."""

BATCH = 5_000
"""Documents written at a time: their text stays small beside the memory."""


def quiet(done: int, total: int, unit: str) -> None:
    """Progress nobody watches."""


@dataclass(frozen=True)
class Bench:
    """What every step works with."""

    store: Store
    settings: Settings
    progress: Progress = quiet


@dataclass(frozen=True)
class Loaded:
    """A dataset in the store: its parts, whose fingerprints name the content."""

    dataset: Dataset
    documents: Part | None
    """None for a collection whose documents cannot be had."""
    queries: Part
    judgements: Part


def load(bench: Bench, dataset: Dataset, origin: Source | None = None) -> Loaded:
    """The dataset as parts; read from its source only if that changed since.

    What was taken in once stays usable when its source is gone. Raises Missing where it cannot
    be found at all, WrongInput with file and line where it is broken.
    """
    loaded = _stored(bench.store, dataset)
    whole = loaded is not None and not loaded.queries.shipped
    try:
        origin = origin or source(dataset, bench.settings)
    except Missing:
        if loaded is not None and whole:
            return loaded
        raise
    if loaded is not None and whole and loaded.queries.provenance["source"] == origin.identity():
        return loaded
    return _read(bench, dataset, origin)


def _stored(store: Store, dataset: Dataset) -> Loaded | None:
    queries = store.part("queries", dataset.name)
    judgements = store.part("judgements", dataset.name)
    documents = store.part("documents", dataset.collection)
    if queries is None or judgements is None:
        return None
    if documents is None and queries.provenance["documents"] and not queries.shipped:
        return None
    return Loaded(dataset, documents, queries, judgements)


def _read(bench: Bench, dataset: Dataset, origin: Source) -> Loaded:
    start = time.perf_counter()
    queries, judgements = origin.queries(), origin.judgements()
    count = CorpusCount(judgements["doc_id"])
    for number, _ in enumerate(count.watch(origin.documents()), 1):
        if number % BATCH == 0:
            bench.progress(number, 0, "documents read")
    about = provenance.record(
        ["run", "bm25", dataset.name],
        time.perf_counter() - start,
        dataset=dataset.record(),
        source=origin.identity(),
        documents=count.n_documents,
        queries_of_all_splits=_summary(origin.all_queries()),
        judgements_of_unknown_documents=_unknown(judgements, count),
    )
    with bench.store.publishing(f"load {dataset.name}") as publication:
        _add_corpus(bench, publication, dataset, origin, count, about)
        _add_split(publication, dataset, queries, judgements, about)
    loaded = _stored(bench.store, dataset)
    if loaded is None:
        raise Missing(f"{dataset.name} was replaced while it was loaded: run the command again")
    return loaded


def _summary(queries: DataFrame) -> dict[str, Any]:
    """How many queries the collection has over all splits, and their mean words."""
    words = [n_words(text) for text in queries["text"].dropna()]
    return {"queries": len(queries), "words": sum(words) / len(words) if words else None}


def _unknown(judgements: DataFrame, count: CorpusCount) -> int:
    """Judgements of documents that the corpus lacks; none where there is no corpus at all."""
    if not count.n_documents:
        return 0
    return int(judgements["doc_id"].isin(count.missing).sum())


def _add_corpus(
    bench: Bench,
    publication: Publication,
    dataset: Dataset,
    origin: Source,
    count: CorpusCount,
    about: dict[str, Any],
) -> None:
    collection = dataset.collection
    if not count.n_documents:
        return
    if bench.store.done("documents", collection, "", _of("documents", count.fingerprint)):
        return
    for kind in ("documents", "lengths"):
        publication.add(
            kind,
            _batches(origin, kind),
            dataset=collection,
            fingerprint=_of(kind, count.fingerprint),
            provenance=about,
        )


def _of(kind: str, content: str) -> str:
    return fingerprint(kind, [content])


def _batches(origin: Source, kind: str) -> Iterator[pa.RecordBatch]:
    schema = pa.schema([field for field in KINDS[kind] if field.name not in ("dataset", "system")])
    rows: list[dict[str, Any]] = []
    for document in origin.documents():
        rows.append(_row(document))
        if len(rows) == BATCH:
            yield pa.RecordBatch.from_pylist(rows, schema)
            rows = []
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema)


def _row(document: Document) -> dict[str, Any]:
    return {**document._asdict(), "n_words": n_words(document.title, document.text)}


def _add_split(
    publication: Publication,
    dataset: Dataset,
    queries: DataFrame,
    judgements: DataFrame,
    about: dict[str, Any],
) -> None:
    texts = queries["text"].fillna("")
    publication.add(
        "queries",
        queries.assign(n_words=[n_words(text) for text in texts]),
        dataset=dataset.name,
        fingerprint=_of("queries", queries_fingerprint(queries)),
        provenance=about,
    )
    publication.add(
        "judgements",
        judgements,
        dataset=dataset.name,
        fingerprint=_of("judgements", judgements_fingerprint(judgements)),
        provenance=about,
    )


@dataclass(frozen=True)
class Outcome:
    """What a run came to: its parts, and whether anything had to be done."""

    hits: Part
    scores: Part
    new: bool


def run(
    bench: Bench,
    system: System,
    dataset: Dataset,
    *,
    again: bool = False,
    drop_equal_ids: bool = False,
) -> Outcome:
    """Search the dataset with the system, score, publish; or nothing if that is stored.

    `drop_equal_ids` drops documents named like the query on every dataset, as BEIR's code does.
    Raises Unavailable, before anything is done, where the system cannot run here.
    """
    searcher = system.search
    if searcher is None:
        raise Unavailable(f"{system.name} is {system.status}: python -m compute systems lists more")
    searcher.check()
    loaded = load(bench, dataset)
    if loaded.documents is None:
        raise WrongInput(
            f"{dataset.name} has no documents to search: import a run of {system.name} instead"
        )
    drop_self = dataset.drop_self or drop_equal_ids
    name = fingerprint(
        "hits",
        [loaded.documents.fingerprint, loaded.queries.fingerprint],
        system=system.name,
        identity=searcher.identity(),
        depth=bench.settings.depth,
        drop_self=drop_self,
    )
    stored = bench.store.done("hits", dataset.name, system.name, name)
    if stored and not again:
        return score(bench, loaded, stored)
    return _compute(bench, system.name, searcher, loaded, loaded.documents, drop_self, name)


def _compute(
    bench: Bench,
    system: str,
    searcher: Searcher,
    loaded: Loaded,
    documents: Part,
    drop_self: bool,
    name: str,
) -> Outcome:
    start = time.perf_counter()
    found, facts = _search(bench, searcher, loaded, documents, drop_self)
    depth = bench.settings.depth
    run = runs.canonical(found, depth=depth, drop_self=drop_self)
    about = provenance.record(
        ["run", system, loaded.dataset.name],
        time.perf_counter() - start,
        identity=searcher.identity(),
        drop_self=drop_self,
        **facts,
    )
    return publish_run(bench, loaded, system, run, depth, name, about)


def _search(
    bench: Bench, searcher: Searcher, loaded: Loaded, documents: Part, drop_self: bool
) -> tuple[DataFrame, dict[str, Any]]:
    """Hits of every query of the split, from a cached index; with the seconds of both steps."""
    settings, progress = bench.settings, bench.progress
    index = fingerprint("index", [documents.fingerprint], identity=searcher.index_identity())
    started = time.perf_counter()

    def build(aside: Path) -> None:
        searcher.index(documents.path, aside, settings, progress)

    with caches.folder(settings, index, build) as folder:
        indexed = time.perf_counter()
        # One deeper where self hits will go, so that the full depth remains.
        depth = settings.depth + drop_self
        queries = read(loaded.queries)
        found = searcher.search(folder, queries, depth, settings, progress)
    facts = {
        "index_seconds": round(indexed - started, 3),
        "search_seconds": round(time.perf_counter() - indexed, 3),
    }
    return found, facts


def publish_run(
    bench: Bench,
    loaded: Loaded,
    system: str,
    run: runs.Run,
    depth: int,
    name: str,
    about: dict[str, Any],
) -> Outcome:
    """Store a canonical run with its top 10 and its scores, visible all at once."""
    about = about | {
        "depth": depth,
        "duplicates": run.duplicates,
        "self_hits": run.self_hits,
        "tied": run.tied,
    }
    dataset = loaded.dataset.name
    scores = evaluate(run.frame, read(loaded.judgements), depth=depth)
    with bench.store.publishing(f"run {system} {dataset}") as publication:
        add = partial(publication.add, dataset=dataset, system=system, provenance=about)
        hits = add("hits", run.frame, fingerprint=name)
        add("top", top(run.frame), fingerprint=fingerprint("top", [name]))
        scored = add("scores", scores, fingerprint=_scores_name(name, loaded, depth))
    return Outcome(hits, scored, new=True)


def _scores_name(hits: str, loaded: Loaded, depth: int) -> str:
    inputs = [hits, loaded.judgements.fingerprint]
    return fingerprint("scores", inputs, measures=list(MEASURES), depth=depth)


def score(bench: Bench, loaded: Loaded, hits: Part, *, again: bool = False) -> Outcome:
    """The scores of a stored run, computed only if run, judgements or measures changed."""
    depth = hits.provenance["depth"]
    name = _scores_name(hits.fingerprint, loaded, depth)
    stored = bench.store.done("scores", hits.dataset, hits.system, name)
    if stored and not again:
        return Outcome(hits, stored, new=False)
    start = time.perf_counter()
    scores = evaluate(read(hits), read(loaded.judgements), depth=depth)
    about = provenance.record(["score", hits.dataset], time.perf_counter() - start, depth=depth)
    with bench.store.publishing(f"score {hits.system} {hits.dataset}") as publication:
        scored = publication.add(
            "scores",
            scores,
            dataset=hits.dataset,
            system=hits.system,
            fingerprint=name,
            provenance=about,
        )
    return Outcome(hits, scored, new=True)


def stored_dataset(store: Store, dataset: Dataset) -> Loaded:
    """The dataset as it is stored, whether its source is still there or not. Raises Missing."""
    loaded = _stored(store, dataset)
    if loaded is None:
        raise Missing(
            f"{dataset.name} is not stored here: python -m compute run bm25 {dataset.name}"
        )
    return loaded


def read(part: Part) -> DataFrame:
    """A part as a frame; dataset and system, one value throughout, are left out."""
    table = pq.read_table(part.path)
    return table.drop_columns(list(constants(part.kind, part.dataset, part.system))).to_pandas()
