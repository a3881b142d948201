"""Loading: a dataset becomes parts of the store, read from its source only if that changed."""

import dataclasses
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa
from pandas import DataFrame

from compute.base.errors import Conflict, Missing
from compute.base.result_identity import fingerprint
from compute.base.settings import Settings
from compute.datasets import Dataset, origins, scripts
from compute.datasets.fingerprints import (
    CorpusCount,
    judgements_fingerprint,
    queries_fingerprint,
)
from compute.datasets.reading import Source, source
from compute.datasets.records import n_words
from compute.store import provenance
from compute.store.parts import KINDS
from compute.store.store import Part, Publication, Store

Progress = Callable[[int, int, str], None]
"""A function that is called with a step's progress: done, total and unit, such as documents."""

BATCH = 5_000
"""Number of documents written at a time, so that their texts need little memory."""


def quiet(done: int, total: int, unit: str) -> None:
    """Report no progress."""


@dataclass(frozen=True)
class Bench:
    """The tools of every step: the store, the settings, and a function that reports progress."""

    store: Store
    settings: Settings
    progress: Progress = quiet
    job: str = ""
    """The job that its publications record; empty on the command line."""


@dataclass(frozen=True)
class Loaded:
    """A dataset in the store: its parts, whose fingerprints identify the content."""

    dataset: Dataset
    documents: Part | None
    """None for a dataset without documents."""
    queries: Part
    judgements: Part
    lengths: Part | None = None
    """Lengths of the documents; they are shipped even without documents, to identify the corpus."""
    subtopics: Part | None = None
    """The judgements by subtopic, if there are any."""
    narratives: Part | None = None
    """The narratives of the queries, if there are any."""
    before: Sequence[Part] = ()
    """Parts of this name, with different content, that this dataset replaced."""


def load(
    bench: Bench,
    dataset: Dataset,
    origin: Source | None = None,
    *,
    new: bool = False,
    replace: bool = True,
) -> Loaded:
    """Return the dataset as parts; read it from its source only if the source has changed. An
    imported dataset stays usable when its source is gone. Raises Missing if it cannot be found at
    all, WrongInput with file and line if it is broken, and Conflict if its name must be `new` but
    is taken, or if it must not `replace` the dataset that has its name when it is published."""
    if new and bench.store.part("queries", dataset.name):
        raise _taken(dataset.name)
    loaded = stored(bench.store, dataset)
    whole = loaded is not None and not loaded.queries.shipped
    # A dataset that was stored before words of every script were counted or narratives were kept,
    # or that lost its narratives, is read again if its source is given.
    if loaded is not None and origin is not None:
        about = loaded.queries.provenance
        has_narratives = loaded.narratives is not None or about.get("narratives") == 0
        whole = whole and "words" in about and has_narratives
    try:
        origin = origin or source(dataset, bench.settings)
    except Missing:
        if loaded is not None and whole:
            return loaded
        raise
    if loaded is not None and whole:
        about = loaded.queries.provenance
        if about["source"] == origin.identity() and about["dataset"] == loaded.dataset.record():
            return loaded
    return publish(bench, dataset, origin, look(bench, origin), new=new, replace=replace)


def _put_away(
    store: Store, dataset: Dataset, content: "Content", *, new: bool, replace: bool
) -> list[Part]:
    """Return the parts of this name that the content replaces. Raises Conflict if it must not
    replace them, or if the name must be new."""
    kinds = dict.fromkeys(("queries", "judgements"), dataset.name)
    kinds |= {"documents": dataset.collection}
    if content.narratives is not None:
        kinds["narratives"] = dataset.name
    if not content.count.n_documents and _others(store, dataset):
        del kinds["documents"]
    found = filter(None, (store.part(kind, name) for kind, name in kinds.items()))
    same = {*content.fingerprints.values()}
    going = [part for part in found if part.rows and part.fingerprint not in same]
    if (going and not replace) or (new and store.part("queries", dataset.name)):
        raise _taken(dataset.name, going)
    return going


def _taken(name: str, goes: Sequence[Part] = ()) -> Conflict:
    """Return the error for a dataset whose name has different content."""
    other = ", ".join(f"{part.rows:,} {part.kind}" for part in goes)
    return Conflict(
        f"{name} is already stored here{f' ({other} would go)' if other else ''}:"
        f" import-run FILES --dataset {name} adds runs to it; choose another name, or put this in"
        " its place on the server with python -m compute import-dataset --replace"
    )


def stored(store: Store, dataset: Dataset) -> Loaded | None:
    """Return the dataset as it is stored; None if a part is missing."""
    queries = store.part("queries", dataset.name)
    judgements = store.part("judgements", dataset.name)
    documents = store.part("documents", dataset.collection)
    lengths = store.part("lengths", dataset.collection)
    if queries is None or judgements is None:
        return None
    lost = documents is None or lengths is None
    if lost and queries.provenance["documents"] and not queries.shipped:
        return None
    subtopics, narratives = (store.part(kind, dataset.name) for kind in ("subtopics", "narratives"))
    if subtopics is None and judgements.provenance.get("subtopics") and not judgements.shipped:
        return None
    return Loaded(dataset, documents, queries, judgements, lengths, subtopics, narratives)


@dataclass(frozen=True)
class Content:
    """The result of one pass over a source, before anything is written."""

    queries: DataFrame
    judgements: DataFrame
    count: CorpusCount
    seconds: float
    narratives: DataFrame | None = None
    """The narratives of its queries; None if the stored ones count."""
    subtopics: DataFrame | None = None

    @property
    def fingerprints(self) -> dict[str, str]:
        """The fingerprints of its parts, by kind; without documents, there are no lengths."""
        found = {"queries": _of("queries", queries_fingerprint(self.queries))}
        # Scores depend on `judgements`, so its fingerprint covers those by subtopic.
        judged = self.judgements if self.subtopics is None else self.subtopics
        found |= {"judgements": _of("judgements", judgements_fingerprint(judged))}
        found |= {"subtopics": _of("subtopics", found["judgements"])}
        if self.narratives is not None:
            found["narratives"] = _of("narratives", queries_fingerprint(self.narratives))
        corpus = {kind: _of(kind, self.count.fingerprint) for kind in ("documents", "lengths")}
        return found | (corpus if self.count.n_documents else {})

    def keeping(self, before: Sequence[Part]) -> "Content":
        """Return the same content; if it has no narratives, those stored for the same queries stay.
        `before`: the stored queries, possibly damaged."""
        own = self.narratives is not None and len(self.narratives)
        same = self.fingerprints["queries"] in [part.fingerprint for part in before]
        return self if own or not same else dataclasses.replace(self, narratives=None)

    def of(self, queries: DataFrame) -> "Content":
        """Return the same content with only some of its queries."""
        return dataclasses.replace(
            self, queries=queries, narratives=of_queries(self.narratives, queries)
        )


def look(bench: Bench, origin: Source, judgements: DataFrame | None = None) -> Content:
    """Read and count a source, using `judgements`, if given, instead of its own. Raises WrongInput
    with file and line."""
    start = time.perf_counter()
    queries = origin.all_queries() if judgements is not None else origin.queries()
    subtopics = origin.subtopics() if judgements is None else None
    judgements = origin.judgements() if judgements is None else judgements
    count = CorpusCount(judgements["doc_id"])
    for number, _ in enumerate(count.watch(origin.documents()), 1):
        if number % BATCH == 0:
            bench.progress(number, 0, "documents read")
    seconds = time.perf_counter() - start
    told = of_queries(origin.narratives(), queries)
    return Content(queries, judgements, count, seconds, told, subtopics)


def publish(
    bench: Bench,
    dataset: Dataset,
    origin: Source,
    content: Content,
    kinds: Collection[str] = ("queries", "judgements"),
    command: list[str] | None = None,
    *,
    new: bool = False,
    replace: bool = True,
    **about: Any,
) -> Loaded:
    """Publish the corpus that was read, and parts of these kinds; `about` is added to the
    provenance. `command` reproduces it, if that is not the dataset's own command. `new` and
    `replace` are as in `load`. Raises Conflict if the source has changed or the name is taken."""
    content = content.keeping(bench.store.parts("queries", dataset.name))
    words = command or origins.command(dataset, origin)
    about = _about(dataset, origin, content, words, **about)
    with ExitStack() as last, bench.store.publishing(bench.job or f"load {dataset.name}") as parts:
        _add_corpus(bench, parts, dataset, origin, content.count, about)
        _add_split(parts, dataset, content, kinds, about)
        # The corpus was read twice, to compute its fingerprint and to write it.
        if origin.identity() != about["source"]:
            raise Conflict(f"{dataset.name} changed while it was read: run the command again")
        # From here until the dataset is visible, no other process can use the name.
        last.enter_context(bench.store.alone("dataset"))
        before = _put_away(bench.store, dataset, content, new=new, replace=replace)
    loaded = stored(bench.store, dataset)
    if loaded is None:
        raise Missing(f"{dataset.name} was replaced while it was loaded: run the command again")
    return dataclasses.replace(loaded, before=before)


def _about(
    dataset: Dataset, origin: Source, content: Content, words: Sequence[str], **more: Any
) -> dict[str, Any]:
    """Return the provenance of the parts of a source; `words` is the command that makes them."""
    count = content.count
    return provenance.record(
        words,
        content.seconds,
        dataset=dataset.record(),
        source=origin.identity(),
        sha256=origins.digests(origin),
        called=origins.names(dataset, origin),
        documents=count.n_documents,
        queries_of_all_splits=_summary(origin.all_queries()),
        **origin.told(),
        words=_words(count),
        narratives=0 if content.narratives is None else len(content.narratives),
        subtopics=content.subtopics is not None,
        judgements_of_unknown_documents=_unknown(content.judgements, count),
        **more,
    )


def of_queries(narratives: DataFrame | None, queries: DataFrame) -> DataFrame | None:
    """Return the narratives of these queries."""
    if narratives is None:
        return None
    return narratives[narratives["query_id"].isin(queries["query_id"])].reset_index(drop=True)


def _words(count: CorpusCount) -> dict[str, Any]:
    """Return how many documents were segmented, or could be, and the segmenter used."""
    by = {"segmenter": scripts.segmenter()} if count.n_segmented else {}
    return {"segmented": count.n_segmented, "other": count.n_other, **by}


def _summary(queries: DataFrame) -> dict[str, Any]:
    """Return the number of queries in all splits, and their mean number of words."""
    words = [n_words(text) for text in queries["text"].dropna()]
    return {"queries": len(queries), "words": sum(words) / len(words) if words else None}


def _unknown(judgements: DataFrame, count: CorpusCount) -> int:
    """Return the number of judgements of documents outside the corpus; 0 without a corpus."""
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
    """Add documents and lengths, unless stored; without documents, remove unshared ones."""
    collection = dataset.collection
    for kind in ("documents", "lengths"):
        if not count.n_documents:
            if not _others(bench.store, dataset):
                publication.remove(kind, collection)
            continue
        if bench.store.done(kind, collection, "", _of(kind, count.fingerprint)):
            continue
        publication.add(
            kind,
            _batches(origin, kind),
            dataset=collection,
            fingerprint=_of(kind, count.fingerprint),
            provenance=about,
        )


def _others(store: Store, dataset: Dataset) -> bool:
    """Return whether another stored dataset shares the corpus."""
    records = [part.provenance.get("dataset", {}) for part in store.parts("queries")]
    return any(
        record.get("collection") == dataset.collection and record.get("name") != dataset.name
        for record in records
    )


def _of(kind: str, content: str) -> str:
    return fingerprint(kind, [content])


def _batches(origin: Source, kind: str) -> Iterator[pa.RecordBatch]:
    """Yield the documents in batches, with the number of words of each."""
    schema = pa.schema([field for field in KINDS[kind] if field.name not in ("dataset", "system")])
    documents = origin.documents()
    while some := list(islice(documents, BATCH)):
        rows = [one._asdict() | {"n_words": n_words(one.title, one.text)} for one in some]
        yield pa.RecordBatch.from_pylist(rows, schema)


def _add_split(
    publication: Publication,
    dataset: Dataset,
    content: Content,
    kinds: Collection[str],
    about: dict[str, Any],
) -> None:
    """Add the queries and judgements of the split that are among `kinds`, and what accompanies
    them (narratives, judgements by subtopic); remove it if an earlier content had it."""
    rows: dict[str, DataFrame | None] = {}
    if "queries" in kinds:
        n = [n_words(text) for text in content.queries["text"].fillna("")]
        rows["queries"], told = content.queries.assign(n_words=n), content.narratives
        rows |= {} if told is None else {"narratives": told if len(told) else None}
    if "judgements" in kinds:
        rows |= {"judgements": content.judgements, "subtopics": content.subtopics}
    called = content.fingerprints
    for kind, found in rows.items():
        if found is None:
            publication.remove(kind, dataset.name)
        else:
            named = called[kind]
            publication.add(kind, found, dataset=dataset.name, fingerprint=named, provenance=about)
