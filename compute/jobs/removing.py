"""Removal of a dataset, or of a run on it, in one transaction that changes nothing else. Added
judgements stay, and count again when the dataset is imported again. Trained models stay, because
they also run on other datasets. Shipped results become visible once local ones are removed."""

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack

from compute.base.errors import Conflict, Missing
from compute.base.words import counted, near, sized
from compute.datasets import dataset as named
from compute.jobs import records
from compute.judgements.asking import journal
from compute.judgements.sets import of_machine
from compute.store import freshness
from compute.store.kinds import NAMED_OTHERWISE
from compute.store.own_datasets import own_datasets
from compute.store.store import Part, Store

CORPUS = ("documents", "lengths", "ngrams", "wordpieces", "overlap", "generated")
"""Kinds of parts that belong to the corpus, which all splits share."""
LEARNED = ("model", "training")
GRADES = "machine_grades"


def planned(store: Store, dataset: str, system: str = "", machine: str = "") -> list[Part]:
    """Return the parts to remove with a dataset, with a system's run on it, or with an LLM's
    grades. A corpus is removed with its last dataset. For an LLM that was asked but has no grades,
    there are no parts. Raises Missing if none is stored, and Conflict if all are shipped."""
    parts = store.parts(picked=None)
    own = [part for part in parts if part.dataset == dataset]
    own = [part for part in own if part.kind not in (*CORPUS, *LEARNED)]
    name = system or machine
    if name:
        # An LLM or a training set may have the name of a run.
        kinds = (GRADES,) if machine else {part.kind for part in own} - {*NAMED_OTHERWISE}
        own = [part for part in own if part.kind in kinds]
    found = [part for part in own if part.system == (name or part.system)]
    if not found and machine in journal.machines(store, dataset):
        return []
    if not found:
        names = {part.system if name else part.dataset for part in (own if name else parts)}
        what = f"dataset {dataset!r}"
        if name:
            what = f"{'run' if system else 'grades'} of {name} on {dataset}"
        raise Missing(f"no {what} is stored: {near(name or dataset, names)}nothing is removed")
    local = [part for part in found if not part.shipped]
    if not local:
        raise Conflict(f"{name or dataset} shipped with the project: it cannot be removed")
    whole = not name and local[0].kind != "printed"
    return local + _corpus(store, parts, dataset) if whole else local


def _corpus(store: Store, parts: Sequence[Part], dataset: str) -> list[Part]:
    """Return the parts of the dataset's corpus, unless another dataset uses it, too."""
    own = own_datasets(store)
    collection = named(dataset, own).collection
    stored = {part.dataset for part in parts if part.kind == "queries"} - {dataset}
    if any(named(name, own).collection == collection for name in stored):
        return []
    of_it = [part for part in parts if part.dataset == collection and part.kind in CORPUS]
    return [part for part in of_it if not part.shipped]


def remove(store: Store, dataset: str, system: str = "", machine: str = "") -> list[Part]:
    """Remove the parts of `planned` at once; readers of an older version keep the files. An LLM's
    requests are removed with its grades, and consents to send texts with the dataset. Raises
    Conflict while a job or an LLM works on it, and as `planned` does."""
    planned(store, dataset, system, machine)
    only = of_machine(machine) if machine else system
    for job in records.jobs(store.settings):
        if job.active and any(on == dataset and name == (only or name) for name, on in job.targets):
            raise Conflict(f"{job.title} is {job.state}: cancel that job first")
    with ExitStack() as locks:
        for name in () if system else sorted(_machines(store, dataset, machine)):
            locks.enter_context(journal.alone(store, dataset, name))
        # A judging may have published and ended before its lock was acquired.
        parts = planned(store, dataset, system, machine)
        if parts:
            with store.publishing(f"remove {dataset} {system or machine}".rstrip()) as publication:
                for part in parts:
                    publication.remove(*part.identity)
        if not system:
            journal.forget(store, dataset, machine)
        if not system and not machine:
            journal.forbid(store, dataset)
    return parts


def _machines(store: Store, dataset: str, machine: str) -> set[str]:
    """Return the named LLM, or all LLMs that graded the dataset or were asked about it."""
    graded = {part.system for part in store.parts(GRADES, dataset)}
    return {machine} if machine else graded | journal.machines(store, dataset)


def said(store: Store, parts: Sequence[Part], dataset: str) -> str:
    """Return a sentence on removed parts, such as `4 runs, 59 queries, 276 judgements (1.2 MB)`,
    and on what stays or lacks an input then. A single run is named."""
    if not parts:
        return "the requests to the LLM; none of its grades is stored"
    rows = Counter[str]()
    for part in parts:
        rows[part.kind] += 1 if part.kind == "hits" else part.rows
    nouns = {"hits": "run", "queries": "query", "judgements": "judgement", "documents": "document"}
    nouns |= {GRADES: "machine grade", "query_labels": "query label", "leakage": "leaked text"}
    nouns |= {"carried": "carried judgement", "printed": "printed score"}
    nouns |= {"narratives": "narrative"}
    words = [counted(rows[kind], noun) for kind, noun in nouns.items() if rows[kind]]
    runs = [part.system for part in parts if part.kind == "hits"]
    which = f"{runs[0]}, " if len(runs) == 1 else ""
    told = f"{', '.join(words)} ({which}{sized(sum(part.bytes for part in parts))})"
    if resting := _resting(store, parts):
        told += f"; left out until recomputed: {', '.join(resting)}"
    if kept := len(store.added_judgements(dataset=dataset)) * (rows["queries"] > 0):
        told += f"; {counted(kept, 'added judgement')} of people stay"
    return told


def _resting(store: Store, parts: Sequence[Part]) -> list[str]:
    """Return the systems whose runs stay but lose one of their input runs."""
    gone = {(part.dataset, part.system) for part in parts if part.kind == "hits"}
    return [
        hits.system
        for hits in store.parts("hits")
        if (hits.dataset, hits.system) not in gone
        and gone & {(hits.dataset, name) for name in freshness.runs_behind(hits)}
    ]
