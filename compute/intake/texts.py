"""Texts for a dataset that has only ids, checked against the store; its runs stay valid."""

import dataclasses
import shlex
import time
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pandas import DataFrame, concat

from compute.base.errors import Conflict, Missing, WrongInput
from compute.base.result_identity import fingerprint
from compute.base.words import counted, shown
from compute.corpora import lengths
from compute.datasets import Dataset, compressed, layout, topics, trec, unpacked_size
from compute.datasets.fingerprints import queries_fingerprint
from compute.datasets.reading import BeirSource, PyDocs, Source, open_path, source
from compute.datasets.records import BadLine, query
from compute.datasets.without_documents import texts_of
from compute.recompute.run import read, stored_dataset
from compute.store import provenance
from compute.store.freshness import TEXTS_ADDED_TO
from compute.store.loading import Bench, Content, Loaded, look, of_queries, publish, stored
from compute.store.store import Part

KIND = "narratives"
LEAST = 0.5
"""Minimum share of the judged (without judgements: the retrieved) documents that a corpus must
contain, if the dataset has only ids."""


def add_texts(
    bench: Bench, dataset: Dataset, path: Path | None = None, *, called: str = ""
) -> Loaded:
    """Add documents and queries to a dataset that is stored with ids only. They come from a BEIR
    folder or archive, from a file of documents for the stored queries, or from the dataset's usual
    source (for PyDocs, the installed library). `called` is the file's name if its name on disk
    differs. Judgements, runs and their costs stay unchanged. If the corpus is known, as for shipped
    results, its fingerprint must be the same; otherwise the ids must match. Raises Missing if the
    dataset is not stored, Conflict if its texts are already stored or it has changed meanwhile, and
    WrongInput for texts of another collection."""
    with bench.store.alone("texts"):
        found = _without_texts(bench, dataset)
        if path is not None:
            unpacked_size.require(path, bench.settings.home)
        origin = source(dataset, bench.settings) if path is None else _opened(path, found, called)
        content = _fitting(bench, found, origin, _where(origin, path))
        if stored(bench.store, dataset) != found:
            raise Conflict(f"{dataset.name} has been replaced or removed: check it again")
        same = content.fingerprints["queries"] == found.queries.fingerprint
        # Recorded so that runs made when only ids were stored stay valid.
        about: dict[str, Any] = {} if same else {TEXTS_ADDED_TO: found.queries.fingerprint}
        words = ["add-texts", dataset.name, *([called or path.name] if path else [])]
        loaded = publish(bench, dataset, origin, content, ["queries"], words, **about)
        if found.lengths is None:
            lengths.count(bench, loaded)
        return loaded


def add(bench: Bench, dataset: Dataset, path: Path | None = None, *, called: str = "") -> str:
    """Add texts to a dataset as `add_texts` does or, if a file can only bring narratives, these;
    return a clause on what was added. Raises as both do."""
    if path is not None and path.exists():
        compressed.refuse_special(path)
    if path is None or not _brings_narratives(bench, dataset, path):
        return said(add_texts(bench, dataset, path, called=called))
    part = add_narratives(bench, dataset, path, called=called)
    return f"narratives of {counted(part.rows, 'query')}"


def _brings_narratives(bench: Bench, dataset: Dataset, path: Path) -> bool:
    """Return whether a file is of topics, or of queries with narratives, or can only have texts
    that are already stored."""
    found = stored(bench.store, dataset)
    if found is not None and found.documents is not None:
        return True
    if path.is_dir() or zipfile.is_zipfile(path):
        return False
    lines = [line for line in trec.lines(path, 20) if line.strip()]
    of_topics = topics.is_topics("".join(lines).encode())
    with suppress(BadLine):
        of_queries = any('"title"' not in line and query(line).narrative for line in lines)
        return of_topics or of_queries
    return of_topics


def add_narratives(bench: Bench, dataset: Dataset, path: Path, *, called: str = "") -> Part:
    """Store the narratives of a stored dataset's queries, in place of earlier ones, from TREC
    topics, a queries.jsonl, or a BEIR folder or archive. Nothing else changes. Raises Missing if
    the dataset is not stored, and WrongInput if the file has no narrative of its queries."""
    with bench.store.alone("texts"):
        found, start = stored_dataset(bench.store, dataset), time.perf_counter()
        unpacked_size.require(path, bench.settings.home)
        packed = path.is_dir() or zipfile.is_zipfile(path)
        told = open_path(path, dataset.split).narratives() if packed else texts_of(path).narratives
        rows = of_queries(told, read(found.queries))
        if rows is None or rows.empty:
            raise WrongInput(
                f"{called or path} has no narrative of a query of {dataset.name}"
                + ", whose texts are already here" * (found.documents is not None)
                + ": give TREC topics with <desc> or <narr>, or queries.jsonl with these fields"
            )
        words = ["add-texts", dataset.name, called or path.name]
        about = provenance.record(words, time.perf_counter() - start)
        with bench.store.publishing(shlex.join(words)) as parts:
            if bench.store.part("queries", dataset.name) != found.queries:
                raise Conflict(f"{dataset.name} has been replaced or removed: check it again")
            mark = fingerprint(KIND, [queries_fingerprint(rows)])
            parts.add(KIND, rows, dataset=dataset.name, fingerprint=mark, provenance=about)
    part = bench.store.part(KIND, dataset.name)
    assert part is not None
    return part


def looked_at(bench: Bench, dataset: Dataset, path: Path) -> Content:
    """Return the content of a folder, archive or corpus file; raise what `add_texts` would."""
    found = _without_texts(bench, dataset)
    return _fitting(bench, found, _opened(path, found, ""), str(path))


def _opened(path: Path, found: Loaded, called: str) -> BeirSource:
    """Return the source in a folder, archive or file of documents, without its judgements. If it
    has no queries, the stored ones count."""
    row, lacking = found.dataset, True
    if path.is_file() and not zipfile.is_zipfile(path):
        origin = BeirSource(layout.Folder(path.parent), "", row.split, judged=False)
        origin.corpus = path.name
    else:
        origin = open_path(path, row.split, row.collection.partition("/")[2], judged=False)
        with suppress(Missing), origin.files.open(origin.query_file):
            lacking = False
    origin.called = called
    if lacking:
        origin.stored = read(found.queries)[["query_id", "text"]]
        if origin.stored["text"].isna().any():
            raise WrongInput(
                f"{path}: it has no {layout.QUERIES}, and {row.name} lacks the texts of its"
                " queries, too: give a BEIR folder or zip archive with both"
            )
    return origin


def said(loaded: Loaded) -> str:
    """Return a clause on the texts that were added."""
    documents = loaded.documents.rows if loaded.documents else 0
    return f"texts of {counted(documents, 'document')} and {counted(loaded.queries.rows, 'query')}"


def lacks_texts(parts: Iterable[Part], name: str) -> bool:
    """Return whether a dataset is stored with ids only."""
    own = {(part.kind, part.dataset): part for part in parts if not part.system}
    queries = own.get(("queries", name))
    if queries is None:
        return False
    record = queries.provenance.get("dataset") or {}
    return ("documents", record.get("collection", name)) not in own


def _without_texts(bench: Bench, dataset: Dataset) -> Loaded:
    """Return the stored dataset. Raises Missing if there is none, and Conflict if it has texts."""
    found = stored(bench.store, dataset)
    if found is None:
        raise Missing(f"{dataset.name} is not stored: import it with its texts by import-dataset")
    if found.documents is not None:
        raise Conflict(f"the texts of {dataset.name} are already here: there is nothing to add")
    return found


def _where(origin: Source, path: Path | None) -> str:
    """Return the name of a source for messages."""
    if isinstance(origin, PyDocs):
        return f"{origin.library} {origin.identity()['version']}, which is installed"
    return str(path or (origin.identity() or {}).get("path", "it"))


def _fitting(bench: Bench, found: Loaded, origin: Source, where: str) -> Content:
    """Return a source's content for the stored queries. Raises WrongInput if it does not fit."""
    name, judgements = found.dataset.name, read(found.judgements)
    ranked = [] if len(judgements) else [read(part) for part in bench.store.parts("top", name)]
    known_documents = concat([judgements, *ranked])
    content = look(bench, origin, known_documents)
    content = dataclasses.replace(content, judgements=judgements)
    if not content.count.n_documents:
        raise WrongInput(f"{where} contains no document: give a BEIR archive or corpus.jsonl")
    known = set(read(found.queries)["query_id"])
    missing = sorted(known - set(content.queries["query_id"]))
    if missing:
        raise WrongInput(
            f"{where}: {counted(len(missing), 'query')} of {name}, as {shown(missing[0])}, are not"
            " in it: it is another dataset, or another version"
        )
    texts = content.queries
    content = content.of(texts[texts["query_id"].isin(known)].reset_index(drop=True))
    if found.narratives is not None and (told := content.narratives) is not None:
        kept = read(found.narratives)[list(told)]
        both = concat([told, kept[~kept["query_id"].isin(told["query_id"])]], ignore_index=True)
        content = dataclasses.replace(content, narratives=both)
    if found.lengths is None:
        _refuse_strange(name, known_documents, content, where)
    elif not _is_known(found, content):
        raise WrongInput(
            f"{where}: its texts differ from those behind the stored results of {name}"
            f" ({content.count.n_documents:,} documents there, {found.lengths.rows:,} here):"
            " give the same version, or import it as a separate dataset"
        )
    return content


def _is_known(found: Loaded, content: Content) -> bool:
    """Return whether the corpus, and the queries if shipped, have the stored fingerprints."""
    now = content.fingerprints
    assert found.lengths is not None
    same = now["lengths"] == found.lengths.fingerprint
    return same and (not found.queries.shipped or now["queries"] == found.queries.fingerprint)


def _refuse_strange(name: str, ids: DataFrame, content: Content, where: str) -> None:
    """Raise WrongInput if too few of the judged, or else retrieved, documents are in it."""
    n, verb = ids["doc_id"].nunique(), "judged" if len(content.judgements) else "retrieved"
    there = n - len(content.count.missing)
    if there < LEAST * n:
        raise WrongInput(
            f"{where}: {there:,} of the {n:,} {verb} documents of {name} are in it:"
            " it is another dataset"
        )
