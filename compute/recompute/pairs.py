"""Pairs of a system and a dataset, checked and loaded, with the fingerprints of index and hits."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from compute.base.errors import Missing, Unavailable, WrongInput
from compute.base.result_identity import fingerprint
from compute.datasets import Dataset
from compute.evaluate.scored_measures import kept
from compute.store import damage, freshness
from compute.store.loading import Bench, Loaded, load
from compute.store.loading import stored as as_stored
from compute.store.store import Part
from compute.systems import Combiner, Searcher, System, system
from compute.systems.searcher import in_language

EQUAL_IDS_DROPPED = "+drop-equal-ids"
"""Suffix of a run's name if it drops documents named like the query, as BEIR's code does."""


@dataclass(frozen=True)
class Names:
    """The fingerprints of the results of a system on a dataset."""

    index: str
    hits: str
    depth: int
    """Depth of the run: that of the settings, or of the shallowest stored run that it fuses."""


Stored = Callable[[str], Part]
"""A function from a system's name to its stored hits. Raises Missing or Unavailable."""


def _none_stored(name: str) -> Part:
    raise Missing(f"no run of {name} is stored: import-run imports one")


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
    """Return the fingerprints of index and hits; `drop_self` says that the hits lack each query's
    own document. Nothing is read or computed. Raises Missing if an input run is neither stored nor
    in the catalogue."""
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
        made_from = [_input(name, loaded, documents, depth, stored) for name in system.inputs]
        inputs = [*corpus, loaded.queries.fingerprint, *(called.hits for called in made_from)]
        about["depth"] = least = min(depth, *(called.depth for called in made_from))
        return Names("", fingerprint("hits", inputs, **about), least)
    return Names(
        fingerprint("index", corpus, identity=searcher.index_identity()),
        fingerprint("hits", [*corpus, loaded.queries.fingerprint], **about),
        depth,
    )


def _input(name: str, loaded: Loaded, documents: Part | None, depth: int, stored: Stored) -> Names:
    """Return the fingerprint and depth of an input, as stored or as it would be computed."""
    if found := stored_input(name, loaded, documents, stored):
        return Names("", found.fingerprint, kept(found))
    row = catalogued(name)
    assert row is not None and row.search is not None
    drop = loaded.dataset.drop_self
    return names(row, row.search, loaded, documents, depth=depth, drop_self=drop, stored=stored)


def stored_input(name: str, loaded: Loaded, documents: Part | None, stored: Stored) -> Part | None:
    """Return the stored run of an input, imported or computed, at any depth. None means that it
    must be computed, because it is not stored or one of its own inputs has changed. Raises the
    errors of `stored` if it cannot be computed."""
    row, part = catalogued(name), None
    if row is None or row.search is None or documents is None:
        return stored(name)
    try:
        part = stored(name)
        if part.shipped or part.provenance.get("imported"):
            behind = map(stored, freshness.runs_behind(part))
            live = [one for one in (loaded.queries, loaded.lengths, *behind) if one]
            return part if freshness.is_fresh(part, {one.identity: one for one in live}) else None
        how = {"depth": part.provenance["depth"], "drop_self": loaded.dataset.drop_self}
        called = names(row, row.search, loaded, documents, **how, stored=stored)
        return part if part.fingerprint == called.hits else None
    except Missing:
        return None
    except Unavailable:  # it is damaged, or the folder of its model was removed
        return part


def catalogued(name: str) -> System | None:
    """Return the system of this name; None if only an imported run has it."""
    try:
        return system(name)
    except WrongInput:
        return None


@dataclass(frozen=True)
class Pair:
    """A system on a loaded dataset, ready for indexing and searching."""

    system: System
    searcher: Searcher | Combiner
    loaded: Loaded
    documents: Part | None
    """None only for a combiner that reads no documents."""
    drop_self: bool
    names: Names
    stored: Stored = _none_stored
    """Returns the stored run of an input."""


def pair(bench: Bench, system: System, dataset: Dataset, *, drop_equal_ids: bool = False) -> Pair:
    """Check the system and load the dataset: the first step of a run. `drop_equal_ids` drops
    documents named like the query on every dataset, as BEIR's code does. Raises Unavailable, before
    anything is done, if the system cannot run here."""
    searcher = system.search
    if searcher is None:
        raise Unavailable(f"{system.name} is {system.status}: python -m compute systems lists more")
    searcher = in_language(searcher, dataset.language)
    searcher.check()
    if drop_equal_ids and not dataset.drop_self:
        # This ranking differs from the system's usual one, so it gets a name of its own.
        system = replace(system, name=system.name + EQUAL_IDS_DROPPED)
    fuses = isinstance(searcher, Combiner) and not searcher.READS_DOCUMENTS
    there, is_stored = as_stored(bench.store, dataset), partial(found_hits, bench, dataset.name)
    whole = fuses and all(is_stored(name, of=system.name) for name in system.inputs)
    # The shipped parts of a dataset suffice for fusing runs on it.
    loaded = there if there and there.queries.shipped and whole else load(bench, dataset)
    documents = loaded.documents
    if documents is None and not fuses:
        raise WrongInput(
            f"{dataset.name} has no documents to search: import a run of {system.name} instead"
        )
    drop = dataset.drop_self or drop_equal_ids
    stored = partial(stored_hits, bench, dataset, of=system.name)
    how = {"depth": bench.settings.depth, "drop_self": drop}
    called = names(system, searcher, loaded, documents, **how, stored=stored)
    return Pair(system, searcher, loaded, documents, drop, called, stored)


def stored_hits(bench: Bench, dataset: Dataset, name: str, *, of: str = "") -> Part:
    """Return the run of a system on a dataset. A shipped run, which is truncated, is not used for a
    system (`of`) whose own run is also shipped, so that the run computed here is complete. Raises
    Missing with the next step, and Unavailable if its file is damaged."""
    found = found_hits(bench, dataset.name, name, of=of)
    if found is None:
        raise Missing(
            f"{name} has no run on {dataset.name} here: run it, or import one with import-run"
        )
    damage.refuse([found])
    return found


def found_hits(bench: Bench, dataset: str, name: str, *, of: str) -> Part | None:
    """Do the same as `stored_hits`, but return None for a missing run."""
    found = next(iter(bench.store.parts("hits", dataset, name)), None)
    if found is None or (found.shipped and bench.store.shipped(replace(found, system=of))):
        return None
    return bench.store.verify(found)
