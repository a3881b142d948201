"""Pairs: a system on a dataset, checked and loaded, and what its index and hits will be called."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from compute.base.errors import Missing, Unavailable, WrongInput
from compute.base.result_identity import fingerprint
from compute.datasets import Dataset
from compute.store import damage
from compute.store.loading import Bench, Loaded, load
from compute.store.store import Part
from compute.systems import Combiner, Searcher, System, system
from compute.systems.searcher import in_language

EQUAL_IDS_DROPPED = "+drop-equal-ids"
"""Ends the name of a system whose run drops documents named like the query "as BEIR's code"."""


@dataclass(frozen=True)
class Names:
    """The fingerprints of what comes of a system on a dataset."""

    index: str
    hits: str


Stored = Callable[[str], str]
"""From the name of a system that only has a stored run to the fingerprint of its hits."""


def _none_stored(name: str) -> str:
    raise Missing(f"no run of {name} is stored: import-run takes one in")


def names(
    system: System,
    searcher: Searcher | Combiner,
    loaded: Loaded,
    documents: Part | None,
    *,
    depth: int,
    drop_self: bool,
    stored: Stored = _none_stored,
) -> Names:
    """What index and hits would be called; nothing is read or computed.

    Raises Missing where a run that it is made from is neither stored nor of the catalogue.
    """
    searcher = in_language(searcher, loaded.dataset.language)
    corpus = [documents.fingerprint] if documents else []
    about = {
        "system": system.name,
        "identity": searcher.identity(),
        "depth": depth,
        "drop_self": drop_self,
    }
    if isinstance(searcher, Combiner):
        corpus = corpus if searcher.READS_DOCUMENTS else []
        made_from = [hits_name(name, loaded, documents, depth, stored) for name in system.inputs]
        inputs = [*corpus, loaded.queries.fingerprint, *made_from]
        return Names("", fingerprint("hits", inputs, **about))
    return Names(
        fingerprint("index", corpus, identity=searcher.index_identity()),
        fingerprint("hits", [*corpus, loaded.queries.fingerprint], **about),
    )


def hits_name(name: str, loaded: Loaded, documents: Part | None, depth: int, stored: Stored) -> str:
    """What the hits of an input are called: computed here, else as they are stored.

    As they are stored, too, where the folder of its model went.
    """
    row = catalogued(name)
    if row is None or row.search is None or documents is None:
        return stored(name)
    drop = loaded.dataset.drop_self
    try:
        called = names(
            row, row.search, loaded, documents, depth=depth, drop_self=drop, stored=stored
        )
    except Unavailable:
        return stored(name)
    return called.hits


def catalogued(name: str) -> System | None:
    """The system of this name; None where only an imported run has it."""
    try:
        return system(name)
    except WrongInput:
        return None


@dataclass(frozen=True)
class Pair:
    """A system on a dataset that is loaded, ready to be indexed and searched."""

    system: System
    searcher: Searcher | Combiner
    loaded: Loaded
    documents: Part | None
    """None only for a combiner that reads none."""
    drop_self: bool
    names: Names


def pair(bench: Bench, system: System, dataset: Dataset, *, drop_equal_ids: bool = False) -> Pair:
    """The first step of a run: check the system, load the dataset.

    `drop_equal_ids` drops documents named like the query on every dataset, as BEIR's code does.
    Raises Unavailable, before anything is done, where the system cannot run here.
    """
    searcher = system.search
    if searcher is None:
        raise Unavailable(f"{system.name} is {system.status}: python -m compute systems lists more")
    searcher = in_language(searcher, dataset.language)
    searcher.check()
    if drop_equal_ids and not dataset.drop_self:
        # Another ranking than the contract's: a row of its own, never in its place.
        system = replace(system, name=system.name + EQUAL_IDS_DROPPED)
    loaded = load(bench, dataset)
    documents = loaded.documents
    if documents is None and not (isinstance(searcher, Combiner) and not searcher.READS_DOCUMENTS):
        raise WrongInput(
            f"{dataset.name} has no documents to search: import a run of {system.name} instead"
        )
    drop = dataset.drop_self or drop_equal_ids
    called = names(
        system,
        searcher,
        loaded,
        documents,
        depth=bench.settings.depth,
        drop_self=drop,
        stored=lambda name: stored_hits(bench, dataset, name).fingerprint,
    )
    return Pair(system, searcher, loaded, documents, drop, called)


def stored_hits(bench: Bench, dataset: Dataset, name: str) -> Part:
    """The run of a system on a dataset, not cut. Raises Missing with the next step."""
    damage.refuse(bench.store.parts("hits", dataset.name, name))
    found = bench.store.part("hits", dataset.name, name)
    if found is None or found.shipped:
        raise Missing(
            f"{name} has no run on {dataset.name} here: run it, or import-run takes one in"
        )
    return found
