"""Leakage: test queries and relevant documents whose texts are in a training set. The stored result
names the pairs, but holds no text of the training set. The affected queries get labels, so that
scores by query group can leave them out."""

import heapq
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pandas import DataFrame

from compute.base.errors import Conflict, Missing, WrongInput
from compute.base.files import digest
from compute.base.result_identity import fingerprint
from compute.base.words import counted, near
from compute.corpora.near_equal import LOWEST, THRESHOLD, Index
from compute.datasets import Dataset, compressed, places
from compute.intake import query_labels, training_texts
from compute.intake.training_texts import Text
from compute.recompute import run as recompute
from compute.recompute.run import read
from compute.store import freshness, loading, provenance
from compute.store.leakage import DOCUMENT, FOUND, KIND, NOT_FOUND, QUERY, keys
from compute.store.loading import Bench, Loaded
from compute.store.store import Part, Store

MOST_PAIRS = 10
"""Maximum number of training texts stored per text found, most similar first; all are counted."""
COLUMNS = ["of", "text_id", "file", "training_id", "similarity"]
_NAME = re.compile(r"[\w.][\w./-]{0,39}")


def compare(
    bench: Bench,
    dataset: Dataset,
    name: str,
    *,
    files: Sequence[Path] = (),
    split: Dataset | None = None,
    threshold: float = THRESHOLD,
) -> tuple[Part, bool]:
    """Search a training set for the dataset's queries and relevant documents. Returns the part, and
    whether it is new; a result of the same name is replaced. The training texts come from `files`
    or a `split`; they are streamed and not kept. Raises WrongInput for an invalid name or threshold
    or, with file and line, a faulty file; and Missing if the dataset has no stored texts."""
    start = time.perf_counter()
    _check(dataset, name, threshold)
    loaded = recompute.stored_dataset(bench.store, dataset)
    side, trained = _test_side(loaded), loading.load(bench, split) if split else None
    sources = [{"file": file.name, "sha256": _digest(file)} for file in files]
    sources += [{"split": trained.dataset.name, "parts": _content(trained)}] if trained else []
    how: dict[str, Any] = {"training": name, "threshold": threshold, "sources": sources}
    mark = fingerprint(KIND, _content(loaded), **how)
    done = [bench.store.done(kind, dataset.name, name, mark) for kind in (KIND, query_labels.KIND)]
    if done[0] and done[1]:
        return done[0], False
    _refuse_taken(bench.store, dataset.name, name)
    texts = training_texts.of_split(trained) if trained else _of_files(files)
    rows, counts = _found(bench, side, texts, threshold)
    labels, more = _labels(loaded, rows, name)
    inputs = freshness.by_kind(loaded.queries, loaded.lengths)
    inputs |= {"judgements": loaded.judgements.fingerprint}
    words = ["leakage", "find", "--dataset", dataset.name, "--name", name]
    words += ["--threshold", str(threshold)]
    words += ["--split", split.name] if split else ["--training", *(file.name for file in files)]
    made = provenance.record(words, time.perf_counter() - start, inputs=inputs, **how)
    return _published(bench, dataset, name, mark, rows, labels, made | counts | more), True


def stored(store: Store, dataset: str, name: str) -> Part:
    """Return the result for a training set. Raises Missing if it was not compared."""
    names = {part.system: part for part in store.parts(KIND, dataset)}
    if name not in names:
        raise Missing(
            f"no training set {name!r} was compared with {dataset}: {near(name, names)}"
            "python -m compute leakage show lists those compared"
        )
    return names[name]


def remove(store: Store, dataset: str, name: str) -> None:
    """Remove the result for a training set, with its labels. Raises Missing if there is none."""
    with store.alone("import"):
        part = stored(store, dataset, name)
        with store.publishing(f"remove {dataset} {name}") as parts:
            parts.remove(*part.identity)
            parts.remove(query_labels.KIND, dataset, name)


def said(part: Part) -> str:
    """Return a sentence such as `msmarco and scifact: of 500 training texts 8 near-equal; …`."""
    of = part.provenance
    told = f"{part.system} and {part.dataset}: of {of['n_training_texts']:,} training texts"
    told += (
        f" {of['n_pairs']:,} near-equal; {of['n_queries_found']:,} of {of['n_queries']:,} queries"
    )
    if of["n_documents"]:
        told += (
            f" and {of['n_documents_found']:,} of {of['n_documents']:,} relevant documents found"
        )
    else:
        told += " found; its documents have no texts here and were not compared"
    touched = f"{counted(of['n_touched'], 'query')} touched"
    return f"{told}; {touched}, labelled “{keys(part.system)[0]}”"


def _check(dataset: Dataset, name: str, threshold: float) -> None:
    """Raise WrongInput for a dataset of parts, an invalid name or an invalid threshold."""
    dataset.refuse_parts()
    if not _NAME.fullmatch(name):
        raise WrongInput(
            f"{name[:60]!r} cannot name a training set: letters, digits and . / - _, at most 40"
        )
    if not LOWEST <= threshold <= 1:
        raise WrongInput(
            f"the threshold {threshold:g} is not between {LOWEST:g} and 1: give another"
        )


def _digest(file: Path) -> str:
    # The training set is opened first, since it reports unreadable files.
    with compressed.opened(file):
        return digest(file)


def _refuse_taken(store: Store, dataset: str, name: str) -> None:
    """Raise Conflict if the user has labels under a key that the training set would use."""
    labels = store.part(query_labels.KIND, dataset)
    if labels and (own := {*read(labels)["key"]} & {*keys(name)}):
        raise Conflict(
            f"{dataset} has different labels “{min(own)}”: give the training set another name, or"
            f" remove those first (remove {dataset} --labels)"
        )


def _content(loaded: Loaded) -> list[str]:
    parts = (loaded.queries, loaded.judgements, loaded.documents)
    return [part.fingerprint for part in parts if part]


def _of_files(files: Sequence[Path]) -> Iterator[Text]:
    for file in files:
        yield from training_texts.of_file(file)


def _test_side(loaded: Loaded) -> DataFrame:
    """Return of, text_id, text: the queries, and the relevant documents with and without titles."""
    judged = read(loaded.judgements)
    relevant = set(judged.loc[judged["relevance"] > 0, "doc_id"])
    asked = read(loaded.queries).dropna(subset="text")
    rows = [(QUERY, *row) for row in asked[["query_id", "text"]].to_numpy()]
    for doc_id, title, text in training_texts.documents(loaded, relevant):
        rows += [(DOCUMENT, doc_id, f"{title} {text}")]
        rows += [(DOCUMENT, doc_id, text)] if title else []
    if not rows:
        dataset = loaded.dataset
        how = places.how_to_run(dataset, "add-texts")
        if dataset.group == "own":
            how = f"python -m compute add-texts {dataset.name} PATH adds them"
        raise Missing(f"{dataset.name} has no texts here to compare: {how}")
    return DataFrame(rows, columns=["of", "text_id", "text"])


def _found(
    bench: Bench, side: DataFrame, training: Iterable[Text], threshold: float
) -> tuple[DataFrame, dict[str, int]]:
    """Return the pairs (COLUMNS), and the numbers of texts compared and found."""
    index, n_texts, n_pairs = Index(side["text"], threshold), 0, 0
    whose = list(zip(side["of"], side["text_id"], strict=True))
    best: dict[tuple[str, str], list[tuple[float, str, str]]] = {}
    for n_texts, (file, place, text) in enumerate(training, 1):
        if n_texts % loading.BATCH == 0:
            bench.progress(n_texts, 0, "training texts compared")
        alike: dict[tuple[str, str], float] = {}
        for at, value in index.matches(text):
            alike[whose[at]] = max(value, alike.get(whose[at], 0))
        n_pairs += len(alike)
        for of, value in alike.items():
            kept = best.setdefault(of, [])
            heapq.heappush(kept, (value, file, place))
            if len(kept) > MOST_PAIRS:
                heapq.heappop(kept)
    rows = [
        (*of, file, place, value)
        for of, kept in sorted(best.items())
        for value, file, place in sorted(kept, reverse=True)
    ]
    if not n_texts:
        raise Missing("this split has no texts here to compare with: python -m compute add-texts")
    counts = {"n_training_texts": n_texts, "n_pairs": n_pairs}
    for what, name in ((QUERY, "n_queries"), (DOCUMENT, "n_documents")):
        counts[name] = int(side.loc[side["of"] == what, "text_id"].nunique())
        counts[f"{name}_found"] = sum(of == what for of, _ in best)
    return DataFrame(rows, columns=COLUMNS), counts


def _labels(loaded: Loaded, rows: DataFrame, name: str) -> tuple[DataFrame, dict[str, int]]:
    """Return query_id, key, value under two keys: whether the query or one of its relevant
    documents was found, and whether the query itself was; and the number of affected queries."""
    judged, asked = read(loaded.judgements), read(loaded.queries)["query_id"]
    own = rows.loc[rows["of"] == QUERY, "text_id"]
    found = judged["doc_id"].isin(rows.loc[rows["of"] == DOCUMENT, "text_id"])
    through = judged.loc[found & (judged["relevance"] > 0), "query_id"]
    labels = []
    for key, ids in zip(keys(name), ({*own, *through}, {*own}), strict=True):
        values = asked.isin(ids).map({True: FOUND, False: NOT_FOUND})
        labels.append(DataFrame({"query_id": asked, "key": key, "value": values}))
    touched = {"n_touched": int((labels[0]["value"] == FOUND).sum())}
    return pd.concat(labels, ignore_index=True), touched


def _published(
    bench: Bench,
    dataset: Dataset,
    name: str,
    mark: str,
    rows: DataFrame,
    labels: DataFrame,
    made: dict[str, Any],
) -> Part:
    """Publish the pairs and the labels of the queries."""
    with (
        bench.store.alone("import"),
        bench.store.publishing(f"leakage of {name} on {dataset.name}") as parts,
    ):
        _refuse_taken(bench.store, dataset.name, name)
        # Labels have their own part, which is left out as soon as its inputs are replaced.
        of: dict[str, Any] = {"dataset": dataset.name, "system": name, "fingerprint": mark}
        by_key = {"keys": query_labels.by_key(labels["key"], made)}
        parts.add(query_labels.KIND, labels, **of, provenance=made | by_key)
        return parts.add(KIND, rows, **of, provenance=made)
