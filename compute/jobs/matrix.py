"""All systems that can run, on all datasets: what is stored, and how long the rest would take. Only
the manifest, the provenance and the files' stamps are read; no corpus is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pandas import DataFrame

from compute.base.errors import BeirscopeError, Missing
from compute.datasets import DATASETS, Dataset
from compute.datasets.reading import source
from compute.evaluate import scored_measures
from compute.jobs import records
from compute.recompute import pairs as pairs
from compute.store import caches, loading
from compute.store.own_datasets import of_parts
from compute.store.store import Part, Store
from compute.systems import SYSTEMS, Combiner, System, system
from compute.systems.searcher import lacks

UP_TO_DATE, STALE, MISSING = "up to date", "out of date", "missing"
SHIPPED = "shipped"
CANNOT = "cannot run here"
STATES = (
    UP_TO_DATE,
    STALE,
    SHIPPED,
    MISSING,
    records.RUNNING,
    records.QUEUED,
    records.FAILED,
    CANNOT,
)
"""The states of a cell."""

Target = tuple[str, str]
"""The names of a system and a dataset."""


@dataclass(frozen=True)
class Cell:
    """A system on a dataset: one of STATES, a reason, and the id of its task."""

    state: str
    remark: str = ""
    task: str = ""


@dataclass(frozen=True)
class Estimate:
    """The estimated duration of runs, from the times of earlier ones."""

    seconds: float
    """Seconds for those runs that can be estimated."""
    unknown: int
    """Number of runs without an estimate, since nothing similar has run here."""


def known_systems(parts: Iterable[Part], named: Iterable[str] = ()) -> dict[str, System]:
    """Return, by name, the systems that run here, those with different parameters that have runs,
    the trained systems, and the `named` ones. `parts` are the store's."""
    found = {name: row for name, row in SYSTEMS.items() if row.search is not None}
    stored = {part.system for part in parts if part.kind in ("hits", "model")} | set(named)
    for name in sorted(stored - set(found)):
        try:
            row = system(name)
        except BeirscopeError:  # an imported run
            continue
        if row.search is not None:
            found[name] = row
    return found


def known_datasets(parts: Iterable[Part]) -> dict[str, Dataset]:
    """Return, by name, the datasets that have runs of their own: not those that average over parts
    or have only published scores. `parts` are the store's."""
    rows = dict(DATASETS) | of_parts(parts)
    return {name: row for name, row in rows.items() if row.has_split and not row.parts}


def matrix(
    store: Store, named: Iterable[str] = (), parts: Sequence[Part] | None = None
) -> DataFrame:
    """Return system, dataset, state, remark, task (an id, or empty) of every pair. `named` are
    further systems, by canonical names; `parts` are the store's, by default read now."""
    seen = Seen(store, named, parts)
    found = _cells(seen, [(name, row) for name in seen.systems for row in seen.datasets])
    rows = [(*target, cell.state, cell.remark, cell.task) for target, cell in found.items()]
    # The page goes through these columns often, which takes longer if Arrow holds the strings.
    columns = ["system", "dataset", "state", "remark", "task"]
    return DataFrame(rows, columns=columns, dtype=object)


def cells(store: Store, targets: Iterable[Target]) -> dict[Target, Cell]:
    """Return the cell of each target; targets name systems canonically."""
    targets = list(targets)
    return _cells(Seen(store, {name for name, _ in targets}), targets)


def _cells(seen: "Seen", targets: Iterable[Target]) -> dict[Target, Cell]:
    tasks = records.latest_tasks(seen.store.settings)
    return {target: _cell(seen, tasks.get(target), *target) for target in targets}


def _cell(seen: "Seen", task: records.Job | None, name: str, dataset: str) -> Cell:
    """Return the cell of a pair, from its task, the store and the obstacles, in this order."""
    if task is not None and task.active:
        return Cell(task.state, task.progress.step if task.progress else "", task.id)
    stored = seen.stored(name, dataset)
    if stored.state == UP_TO_DATE:
        return stored
    if why := seen.obstacle(name, dataset):
        return Cell(CANNOT, why)
    if task is not None and task.state == records.FAILED:
        return Cell(records.FAILED, task.error, task.id)
    return stored


class Seen:
    """A snapshot of the store and the sources, each of which is read once."""

    def __init__(
        self, store: Store, named: Iterable[str] = (), parts: Sequence[Part] | None = None
    ) -> None:
        self.store = store
        parts = store.parts() if parts is None else parts
        self.systems, self.datasets = known_systems(parts, named), known_datasets(parts)
        live = [part for part in parts if not part.damage]
        self.parts = {part.identity: part for part in live if not part.shipped}
        self._shipped = {part.identity: part for part in live if part.shipped}
        self.loaded = {name: self._load(row, self.parts) for name, row in self.datasets.items()}
        self._reading: dict[str, bool] = {}
        self._checked: dict[str, str] = {}
        self._sources: dict[str, tuple[str, object]] = {}

    def _load(self, row: Dataset, live: Mapping[Any, Part]) -> loading.Loaded | None:
        """Return the dataset as it is stored in these live parts; None if it is not."""
        queries = live.get(("queries", row.name, ""))
        # A dataset imported without texts keeps its judgements when texts are added.
        judged = ("judgements", row.name, "")
        judgements = self.parts.get(judged) or self._shipped.get(judged)
        if queries is None or judgements is None:
            return None
        documents = self.parts.get(("documents", row.collection, ""))
        lengths = live.get(("lengths", row.collection, ""))
        return loading.Loaded(row, documents, queries, judgements, lengths)

    def stored(self, name: str, dataset: str) -> Cell:
        """Return the cell of a pair according to the store, regardless of jobs."""
        hits = self.parts.get(("hits", dataset, name))
        scores = self.parts.get(("scores", dataset, name))
        if hits is None or scores is None:
            ships = ("hits", dataset, name) in self._shipped
            return Cell(SHIPPED, "it shipped with the project") if ships else Cell(MISSING)
        loaded = self.loaded.get(dataset)
        if loaded is None and not self._reads(self.systems[name]):
            loaded = self._load(self.datasets[dataset], self._shipped)
        if loaded is None or (loaded.documents is None and self._reads(self.systems[name])):
            return Cell(STALE, "its dataset was removed")
        try:
            called = self.names(name, loaded, loaded.documents)
        except BeirscopeError as error:  # an input is missing: a run or a model's folder
            return Cell(STALE, str(error))
        if hits.fingerprint != called.hits:
            return Cell(STALE, "the documents, queries or settings have changed")
        further = self.parts.get(("repeats", dataset, name))
        if not scored_measures.is_current(scores, hits, further, loaded):
            return Cell(STALE, "the judgements or measures have changed")
        if not loaded.queries.shipped and self._source_changed(loaded):
            return Cell(STALE, "the files of the dataset have changed")
        return Cell(UP_TO_DATE)

    def names(self, name: str, loaded: loading.Loaded, documents: Part | None) -> pairs.Names:
        """Return the fingerprints that a run would have now."""
        row = self.systems[name]
        assert row.search is not None
        return pairs.names(
            row,
            row.search,
            loaded,
            documents,
            depth=self.store.settings.depth,
            drop_self=loaded.dataset.drop_self,
            stored=lambda of: self._stored_hits(loaded.dataset.name, of, name),
        )

    def _hits(self, dataset: str, name: str, of: str) -> Part | None:
        """Return the hits of `name` as input of system `of`, unless both have only shipped ones:
        shipped runs are truncated, as `pairs.stored_hits` explains."""
        at = "hits", dataset, name
        ships = ("hits", dataset, of) in self._shipped
        return self.parts.get(at) or (None if ships else self._shipped.get(at))

    def _stored_hits(self, dataset: str, name: str, of: str) -> Part:
        part = self._hits(dataset, name, of)
        if part is None:
            raise Missing(f"its input run of {name} was removed")
        return part

    def _source(self, dataset: str) -> tuple[str, object]:
        """Return the reason why a dataset has no source (or ''), and the source's identity."""
        if dataset not in self._sources:
            try:
                origin = source(self.datasets[dataset], self.store.settings)
                self._sources[dataset] = "", origin.identity()
            except BeirscopeError as error:
                self._sources[dataset] = str(error), None
        return self._sources[dataset]

    def _reads(self, row: System) -> bool:
        """Return whether a system needs documents, as all do except fusions of stored runs."""
        # The check of a protocol takes as long as the rest of a cell.
        if row.name not in self._reading:
            fuses = isinstance(row.search, Combiner) and not row.search.READS_DOCUMENTS
            self._reading[row.name] = not fuses
        return self._reading[row.name]

    def _source_changed(self, loaded: loading.Loaded) -> bool:
        missing, identity = self._source(loaded.dataset.name)
        return not missing and identity != loaded.queries.provenance["source"]

    def obstacle(self, name: str, dataset: str) -> str:
        """Return why the system cannot run on the dataset here; empty if it can."""
        if dataset not in self.datasets or name not in self.systems:
            return "not known here"
        row = self.systems[name]
        if not self._reads(row) and all(self._hits(dataset, of, name) for of in row.inputs):
            return ""
        missing = "" if self.loaded[dataset] else self._source(dataset)[0]
        return missing or self._obstacle_of(row, dataset)

    def _obstacle_of(self, row: System, dataset: str) -> str:
        """Return why the system, or one of its inputs, cannot run on the stored dataset."""
        loaded = self.loaded[dataset]
        if loaded is not None and loaded.documents is None and self._reads(row):
            return f"{dataset} has only judgements, no documents to search"
        if row.name not in self._checked:
            self._checked[row.name] = lacks(row.search) if row.search else ""
        return self._checked[row.name] or self._obstacle_of_inputs(row, dataset)

    def _obstacle_of_inputs(self, row: System, dataset: str) -> str:
        """Return why an input run is neither stored nor can be computed."""
        for of in row.inputs:
            if self._hits(dataset, of, row.name):
                continue
            made = pairs.catalogued(of)
            no_run = f"no run of {of} is stored on {dataset}"
            why = self._obstacle_of(made, dataset) if made else no_run
            if why:
                return f"it is made from {of}: {why}"
        return ""


def estimate(store: Store, targets: Sequence[Target]) -> Estimate:
    """Estimate the duration of runs on one worker, scaled by documents and queries. Indexing is
    taken to grow with the documents, searching with the queries: the part of Lucene and FAISS that
    grows with both is small compared to encoding. An existing index costs nothing."""
    seen = Seen(store, {name for name, _ in targets})
    rates = _Rates(seen)
    seconds, unknown, indexes = 0.0, 0, set[object]()
    for name, dataset in targets:
        found = rates.seconds(name, dataset, indexes)
        unknown += found is None
        seconds += found or 0.0
    return Estimate(seconds, unknown)


class _Rates:
    """Seconds per document and per query of each system, from the stored runs."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self._index: dict[str, list[tuple[float, int]]] = {}
        self._search: dict[str, list[tuple[float, int]]] = {}
        for part in seen.parts.values():
            facts = part.provenance
            counted = self._counts(part.dataset)
            if part.kind != "hits" or counted is None or "search_seconds" not in facts:
                continue
            base = part.system.partition("(")[0]
            self._index.setdefault(base, []).append((facts["index_seconds"], counted[0]))
            self._search.setdefault(base, []).append((facts["search_seconds"], counted[1]))

    def _counts(self, dataset: str) -> tuple[int, int] | None:
        """Return the numbers of documents and queries: as stored, or else as published."""
        loaded = self._seen.loaded.get(dataset)
        if loaded is not None and loaded.documents is not None:
            return loaded.documents.rows, loaded.queries.rows
        row = self._seen.datasets.get(dataset)
        if row is None or not row.n_documents or not row.n_queries:
            return None
        return row.n_documents, row.n_queries

    def seconds(self, name: str, dataset: str, indexes: set[object]) -> float | None:
        """Return the seconds that a run would take, or None if unknown. `indexes` are those already
        counted; its own is added."""
        base, counted = name.partition("(")[0], self._counts(dataset)
        if counted is None or base not in self._search:
            return None
        index = self._index_key(name, dataset)
        ready = index in indexes or caches.holds(self._seen.store.settings, str(index))
        indexes.add(index)
        indexing = 0.0 if ready else _scaled(self._index[base], counted[0])
        return indexing + _scaled(self._search[base], counted[1])

    def _index_key(self, name: str, dataset: str) -> object:
        """Return the fingerprint of an index; if it is unknown, the pair itself."""
        loaded = self._seen.loaded.get(dataset)
        if loaded is None or loaded.documents is None or name not in self._seen.systems:
            return name, dataset
        try:
            return self._seen.names(name, loaded, loaded.documents).index
        except BeirscopeError:  # its inputs are gone
            return name, dataset


def _scaled(known: Sequence[tuple[float, int]], count: int) -> float:
    """Return the seconds for `count`, from earlier (seconds, count); long runs weigh more."""
    seconds, counted = sum(s for s, _ in known), sum(n for _, n in known)
    return seconds / max(counted, 1) * count
