"""Texts for a dataset without: checked against the store, without recomputing runs."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from compute.base.errors import BeirscopeError, Conflict, Missing, WrongInput
from compute.base.words import counted, shown
from compute.corpora import lengths
from compute.datasets import Dataset, unpacked_size
from compute.datasets.reading import BeirSource, PyDocs, Source, open_path, source
from compute.recompute.run import read
from compute.store.freshness import TEXTS_ADDED_TO
from compute.store.loading import Bench, Content, Loaded, look, publish, stored
from compute.store.store import Part

LEAST = 0.5
"""Least share of the judged documents that a corpus must contain, if the dataset has only ids."""


def add_texts(
    bench: Bench, dataset: Dataset, path: Path | None = None, *, called: str = ""
) -> Loaded:
    """Add documents and queries to a dataset that is stored by its ids.

    They come from a BEIR folder or archive, or from where the dataset is read anyway: PyDocs from
    the installed library. `called`: name of the file where it is not the one on the disk.
    Judgements and runs stay as they are, with what the runs cost. Where the corpus is known, as of
    results that ship, its fingerprint must be the same; else the ids must fit. Raises Missing for a
    dataset that is not stored, Conflict where its texts are here or it changed meanwhile,
    WrongInput for texts of another collection.
    """
    with bench.store.alone("texts"):
        found = _without_texts(bench, dataset)
        if path is not None:
            unpacked_size.require(path, bench.settings.home)
        origin = source(dataset, bench.settings) if path is None else _opened(path, dataset, called)
        content = look(bench, origin, read(found.judgements))
        content = _fitting(found, content, _where(origin, path))
        if stored(bench.store, dataset) != found:
            raise Conflict(f"{dataset.name} was replaced or removed meanwhile: look at it again")
        same = content.fingerprints["queries"] == found.queries.fingerprint
        # So that the ranked lists made for the ids stay fresh.
        about: dict[str, Any] = {} if same else {TEXTS_ADDED_TO: found.queries.fingerprint}
        words = ["add-texts", dataset.name, *([called or path.name] if path else [])]
        loaded = publish(bench, dataset, origin, content, ["queries"], words, **about)
        if found.lengths is None:
            lengths.count(bench, loaded)
        return loaded


def misfit(bench: Bench, dataset: Dataset, path: Path) -> str:
    """Reason why the texts of a folder or archive cannot be added to a dataset; empty if they can.

    `add_texts` would refuse with the same sentence: both ask `_fitting`.
    """
    try:
        found = _without_texts(bench, dataset)
        content = look(bench, _opened(path, dataset, ""), read(found.judgements))
        _fitting(found, content, str(path))
    except BeirscopeError as error:
        return str(error).removeprefix(f"{path}: ")
    return ""


def _opened(path: Path, dataset: Dataset, called: str) -> BeirSource:
    """The folder or archive, whose own judgements are not wanted: they may be missing."""
    found = open_path(path, dataset.split, dataset.collection.partition("/")[2], judged=False)
    found.called = called
    return found


def said(loaded: Loaded) -> str:
    """Sentence about the added texts."""
    documents = loaded.documents.rows if loaded.documents else 0
    return f"texts of {counted(documents, 'document')} and {counted(loaded.queries.rows, 'query')}"


def lacks_texts(parts: Iterable[Part], name: str) -> bool:
    """Whether a dataset is stored only by its ids."""
    own = {(part.kind, part.dataset): part for part in parts if not part.system}
    queries = own.get(("queries", name))
    if queries is None:
        return False
    record = queries.provenance.get("dataset") or {}
    return ("documents", record.get("collection", name)) not in own


def _without_texts(bench: Bench, dataset: Dataset) -> Loaded:
    found = stored(bench.store, dataset)
    if found is None:
        raise Missing(f"{dataset.name} is not stored: import it with its texts by import-dataset")
    if found.documents is not None:
        raise Conflict(f"the texts of {dataset.name} are here already: nothing is to be added")
    return found


def _where(origin: Source, path: Path | None) -> str:
    if isinstance(origin, PyDocs):
        return f"{origin.library} {origin.identity()['version']}, which is installed"
    return str(path or (origin.identity() or {}).get("path", "it"))


def _fitting(found: Loaded, content: Content, where: str) -> Content:
    """The content with only the texts of the stored queries; refused if it does not fit."""
    name = found.dataset.name
    if not content.count.n_documents:
        raise WrongInput(f"{where}: no document is in it: give a BEIR folder or archive with texts")
    known = set(read(found.queries)["query_id"])
    missing = sorted(known - set(content.queries["query_id"]))
    if missing:
        raise WrongInput(
            f"{where}: {counted(len(missing), 'query')} of {name}, as {shown(missing[0])}, are not"
            " in it: it is another dataset, or another version"
        )
    texts = content.queries
    content = content.of(texts[texts["query_id"].isin(known)].reset_index(drop=True))
    if found.lengths is None:
        _refuse_strange(found, content, where)
    elif not _is_known(found, content):
        raise WrongInput(
            f"{where}: its texts differ from those behind the stored results of {name}"
            f" ({content.count.n_documents:,} documents there, {found.lengths.rows:,} here):"
            " give the same version, or import it as a dataset of its own"
        )
    return content


def _is_known(found: Loaded, content: Content) -> bool:
    """Whether the corpus, and the queries of shipped results, have the stored fingerprints."""
    now = content.fingerprints
    assert found.lengths is not None
    same = now["lengths"] == found.lengths.fingerprint
    return same and (not found.queries.shipped or now["queries"] == found.queries.fingerprint)


def _refuse_strange(found: Loaded, content: Content, where: str) -> None:
    """Raises WrongInput if too few of the judged documents are in the corpus."""
    judged = content.judgements["doc_id"].nunique()
    there = judged - len(content.count.missing)
    if there < LEAST * judged:
        raise WrongInput(
            f"{where}: {there:,} of the {judged:,} judged documents of {found.dataset.name} are"
            " in it: it is another dataset"
        )
