"""The kinds of jobs. A job is a list of targets, and each target goes through the kind's steps."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from compute.base.errors import Conflict, Missing, Unavailable, WrongInput
from compute.corpora import lengths, overlap
from compute.datasets import Dataset, dataset
from compute.intake.fetch import offers
from compute.jobs.matrix import UP_TO_DATE, Target, cells
from compute.jobs.records import Job
from compute.recompute import demo, training
from compute.store import loading
from compute.store.own_datasets import own_datasets
from compute.store.store import Store
from compute.systems import system

Named = Sequence[str]
Targets = Sequence[Target]


def _none(_: Store, __: Targets) -> Collection[Target]:
    return ()


@dataclass(frozen=True)
class Kind:
    """A kind of job: which targets it has, and which steps each target goes through."""

    name: str
    text: str
    targets: Callable[[Store, Named, Named], list[Target]]
    """Returns the targets for a store and names of systems and datasets. Raises for a wrong name,
    before anything is queued."""
    steps: tuple[str, ...]
    """The steps of each target, in order: names in `compute.jobs.steps.STEPS`."""
    current: Callable[[Store, Targets], Collection[Target]] = _none
    """Returns those targets that are up to date in a store; without `again`, they are skipped."""
    noun: str = ""
    """What the job computes for a target without a system: the `word counts` of scifact."""

    @property
    def work(self) -> str:
        """The key of the steps on a target; kinds with the same steps share tasks."""
        return "+".join(self.steps)


def share(job: Job, tasks: Iterable[Job]) -> float:
    """Return the completed share of a job, from 0 to 1, from its tasks: each task counts alike, and
    within a task each step of its kind, so that the share does not fall when a step begins."""
    return min(sum(map(_share, tasks)) / max(len(job.targets), 1), 1.0)


def _share(task: Job) -> float:
    if not task.active:
        return 1.0
    at, kind = task.progress, KINDS.get(task.kind)
    if at is None or kind is None or at.step not in kind.steps:
        return 0.0
    within = min(at.done / at.total, 1.0) if at.total else 0.0
    return (kind.steps.index(at.step) + within) / len(kind.steps)


def kinds(*rows: Kind) -> Mapping[str, Kind]:
    """Return the kinds by name. Raises Conflict for a name given twice."""
    table: dict[str, Kind] = {}
    for row in rows:
        if row.name in table:
            raise Conflict(f"two kinds of jobs are called {row.name!r}: rename one of them")
        table[row.name] = row
    return MappingProxyType(table)


def _runs(store: Store, systems: Named, datasets: Named) -> list[Target]:
    """Return all systems on all datasets; the parts of a dataset replace it."""
    if not systems or not datasets:
        raise WrongInput("a run needs systems and datasets: name at least one of each")
    rows = [system(name) for name in systems]
    for row in rows:
        if row.search is None:
            raise Unavailable(f"{row.name} is {row.status}: python -m compute systems lists more")
    names = _datasets(store, datasets)
    return list(dict.fromkeys((row.name, name) for row in rows for name in names))


def _stored_runs(store: Store, systems: Named, datasets: Named) -> list[Target]:
    """Return the stored runs of these systems on these datasets; no names mean all."""
    wanted: Collection[str] = _datasets(store, datasets)
    runs = [part for part in store.parts("hits", picked=None) if not part.shipped]
    found = [
        (part.system, part.dataset)
        for part in runs
        if (not wanted or part.dataset in wanted) and (not systems or part.system in systems)
    ]
    if not found:
        raise Missing("no stored run matches: python -m compute scores lists the stored runs")
    return found


def _current_runs(store: Store, targets: Targets) -> Collection[Target]:
    found = cells(store, targets)
    return [target for target in targets if found[target].state == UP_TO_DATE]


def one_dataset_per_corpus(store: Store, datasets: Named) -> list[Dataset]:
    """Return one dataset per corpus, for the named datasets or else all with stored documents."""
    own = own_datasets(store)
    names = _datasets(store, datasets) or [part.dataset for part in store.parts("queries")]
    # A dataset that has the name of its corpus represents it, rather than another split.
    rows = sorted(
        (dataset(name, own) for name in names), key=lambda row: row.name != row.collection
    )
    if not datasets:
        stored = {part.dataset for part in store.parts("documents")}
        rows = [row for row in rows if row.collection in stored]
    found: dict[str, Dataset] = {}
    for row in rows:
        found.setdefault(row.collection, row)
    return list(found.values())


def one_per_corpus(store: Store, systems: Named, datasets: Named) -> list[Target]:
    """Return a target without a system for each corpus, for work that only needs documents. A
    dataset that is named need not be stored yet."""
    if systems:
        raise WrongInput("this needs only documents, no systems: leave --systems out")
    found = one_dataset_per_corpus(store, datasets)
    if not found:
        raise Missing("no documents are stored: python -m compute run bm25 DATASET loads them")
    return [("", row.name) for row in found]


def _current_overlaps(store: Store, targets: Targets) -> Collection[Target]:
    own = own_datasets(store)
    collections = {target: dataset(target[1], own).collection for target in targets}
    current = overlap.up_to_date(store, list(collections.values()))
    return [target for target, collection in collections.items() if collection in current]


def _with_documents(store: Store, systems: Named, datasets: Named) -> list[Target]:
    """Return the named datasets, or else all with stored documents. Their runs are counted, too."""
    if systems:
        raise WrongInput("a dataset is counted with all its runs: leave --systems out")
    names = _datasets(store, datasets) or lengths.countable(store)
    if not names:
        raise Missing("no documents are stored: python -m compute run bm25 DATASET loads them")
    return [("", name) for name in names]


def _current_lengths(store: Store, targets: Targets) -> Collection[Target]:
    own = own_datasets(store)
    rows = {target: loading.stored(store, dataset(target[1], own)) for target in targets}
    return [target for target, row in rows.items() if row and lengths.is_counted(store, row)]


def _trainings(store: Store, systems: Named, datasets: Named) -> list[Target]:
    """Return every recipe on every dataset, by the name of the trained system."""
    if not systems or not datasets:
        raise WrongInput("training needs systems and datasets: name at least one of each")
    rows = _datasets(store, datasets)
    targets = [
        (training.model_name(training.named(name, on)), on) for name in systems for on in rows
    ]
    return list(dict.fromkeys(targets))


def _judged(_: Store, __: Named, ___: Named) -> list[Target]:
    raise WrongInput(
        "an LLM judges only the documents you name: python -m compute judge --queue starts it"
    )


def _datasets(store: Store, names: Named) -> list[str]:
    own = own_datasets(store)
    rows = [dataset(name, own) for name in names]
    return list(dict.fromkeys(part for row in rows for part in row.parts or (row.name,)))


_RUN = ("load", "index", "search", "publish")

KINDS = kinds(
    Kind(
        "run",
        "systems on datasets: load, index, search, score, publish",
        _runs,
        _RUN,
        _current_runs,
    ),
    Kind("score", "stored runs, rescored", _stored_runs, ("score",)),
    Kind(
        "demo",
        "the eight shipped systems on the PyDocs datasets",
        lambda *_: demo.pairs(),
        _RUN,
        _current_runs,
    ),
    Kind(
        "overlap",
        "words of corpora, compared with all counted corpora",
        one_per_corpus,
        ("load", "count", "compare"),
        _current_overlaps,
        noun="word counts",
    ),
    Kind(
        "lengths",
        "document lengths of datasets and of the top of their runs",
        _with_documents,
        ("lengths",),
        _current_lengths,
        noun="lengths",
    ),
    Kind(
        "clusters",
        "queries clustered by meaning, as labels of the key cluster",
        lambda store, _, names: [("", name) for name in _datasets(store, names)],
        ("cluster",),
        noun="query clusters",
    ),
    Kind(
        "fetch",
        "archives of datasets, from their publishers",
        offers.targets,
        ("fetch",),
        offers.current,
        noun="archive",
    ),
    Kind(
        "train",
        "recipes, trained on datasets",
        _trainings,
        ("train",),
    ),
    Kind(
        "judge",
        "grades of documents from the LLM server in the settings",
        _judged,
        ("judge",),
    ),
)
