"""Freshness: a stored result is shown only while its inputs are unchanged.

A part records the fingerprints of its inputs. If a dataset is read again and differs, earlier runs
and scores are left out, and never mixed with new ones; rescoring or rerunning makes them valid
again. The same rule applies to shipped results if there is a local copy of their dataset. A damaged
part is left out, too: with its hits, a whole run; with its queries or judgements, a whole dataset.
Other results that were made from it stay, since the manifest still identifies it."""

from collections.abc import Collection, Iterable, Mapping

from compute.datasets.catalogue import DATASETS
from compute.store.kinds import NAMED_OTHERWISE, OF_RUNS
from compute.store.store import Part

Inputs = dict[str, str]
"""Fingerprint by kind of part, of the same dataset (for lengths: of its collection). `hits:NAME` is
another system's run on it, `model:NAME` the model of a trained system; `queries:NAME` and
`documents:NAME` are parts of another dataset."""
_RUN, _MODEL = "hits:", "model:"
TEXTS_ADDED_TO = "texts_added_to"
"""Key in the provenance of queries: their fingerprint before texts were added."""


def by_kind(*parts: Part | None) -> Inputs:
    """Return these parts of the same dataset or corpus as inputs, without those that are None.
    Lengths represent the corpus. Similarities depend on the counts of their own corpus only; their
    rows name the other's."""
    return {part.kind: part.fingerprint for part in parts if part}


def of_runs(hits: Iterable[Part]) -> Inputs:
    """Return the inputs of a run that was made from these runs."""
    return {_RUN + part.system: part.fingerprint for part in hits}


def of_models(models: Iterable[Part]) -> Inputs:
    """Return the trained models that a run uses as inputs, whatever they were trained on."""
    return {_MODEL + part.system: part.fingerprint for part in models}


def runs_behind(hits: Part) -> list[str]:
    """Return the systems whose runs are inputs of a run."""
    inputs = hits.provenance.get("inputs", {})
    return [kind.removeprefix(_RUN) for kind in inputs if kind.startswith(_RUN)]


def of_top(hits: str) -> Inputs:
    """Return the inputs of the top ranks of these hits."""
    return {"hits": hits}


def of_scores(hits: str, judgements: Part, repeats: Part | None = None) -> Inputs:
    """Return the inputs of the scores of these hits and of the system's further runs."""
    return {"hits": hits} | by_kind(judgements, repeats)


def split(parts: Iterable[Part]) -> tuple[list[Part], list[Part]]:
    """Return the valid parts, and those left out because an input was replaced. Parts that are left
    out because of a damaged file are in neither."""
    parts = list(parts)
    live = {part.identity: part for part in parts}
    damaged = {part.identity for part in parts if part.damage}
    fresh, stale = [], []
    for part in parts:
        if not is_fresh(part, live):
            stale.append(part)
        elif not damaged or damaged.isdisjoint(_needed(part)):
            fresh.append(part)
    return fresh, stale


def _needed(part: Part) -> list[tuple[str, str, str]]:
    """Return the identities of the part, its run, and what every number on its dataset needs."""
    dataset = [(kind, part.dataset, "") for kind in ("queries", "judgements")]
    # An LLM or a training set may share its name with a run, but does not belong to it.
    kinds = () if part.kind in NAMED_OTHERWISE else ("hits", *OF_RUNS)
    return [part.identity, *dataset, *((kind, part.dataset, part.system) for kind in kinds)]


def outdated(parts: Iterable[Part], datasets: Collection[str]) -> list[str]:
    """Return the systems whose runs on these datasets, or whose scores, are left out."""
    _, stale = split(parts)
    runs = (part for part in stale if part.kind in ("hits", "scores"))
    return sorted({part.system for part in runs if part.dataset in datasets})


def is_fresh(part: Part, live: Mapping[tuple[str, str, str], Part]) -> bool:
    """Return whether every input of a part is unchanged among the live parts."""
    queries = live.get(("queries", part.dataset, ""))
    # Results of earlier versions of Beirscope do not name their inputs, and count as valid.
    for kind, fingerprint in part.provenance.get("inputs", {}).items():
        found = live.get(_identity(kind, part, queries))
        if kind.startswith(_MODEL) and found is None:
            # Shipped hits come without their models.
            continue
        if found is None or not is_fresh(found, live):
            return False
        # Runs stay valid if texts were added to a dataset that had only ids.
        if fingerprint not in (found.fingerprint, found.provenance.get(TEXTS_ADDED_TO)):
            return False
    if part.kind != "hits" or queries is None:
        return True
    # A run may have self hits that its dataset now drops.
    drops = queries.provenance.get("dataset", {}).get("drop_self", False)
    return not drops or part.provenance.get("drop_self", True)


def _identity(kind: str, part: Part, queries: Part | None) -> tuple[str, str, str]:
    """Return the identity of the live part that an input of this kind means."""
    if kind in ("hits", "repeats"):
        return kind, part.dataset, part.system
    if kind.startswith(_RUN):
        return "hits", part.dataset, kind.removeprefix(_RUN)
    if kind.startswith(_MODEL):
        name = kind.removeprefix(_MODEL)
        return "model", name.partition("[")[2].partition("]")[0], name
    if kind != "lengths":
        kind, _, other = kind.partition(":")
        return kind, other or part.dataset, ""
    record = queries.provenance.get("dataset") if queries else None
    known = DATASETS.get(part.dataset)
    collection = record["collection"] if record else known.collection if known else part.dataset
    return kind, collection, ""
