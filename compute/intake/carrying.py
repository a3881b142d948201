"""Judgements of an older version of a collection, carried to a newer one by the documents' texts.
They form a judgement set of their own, `carried:OLD`: no rule mixes them into official or added
judgements, and no score counts them unless this set is chosen."""

import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd
from pandas import DataFrame

from compute.base import parquet_files
from compute.base.errors import Conflict, Missing, WrongInput
from compute.base.result_identity import fingerprint
from compute.base.words import counted, near, shown
from compute.corpora import same_documents
from compute.corpora.near_equal import plain
from compute.datasets import Dataset
from compute.datasets.fingerprints import judgements_fingerprint
from compute.judgements.sets import CARRIED, OFFICIAL
from compute.reading import database, judgement_sets
from compute.recompute import run as recompute
from compute.store import freshness, provenance
from compute.store.loading import BATCH, Bench, Loaded
from compute.store.store import Part, Store

KIND = CARRIED
COLUMNS = ["query_id", "doc_id", "relevance", "old_doc_id", "how", "similarity"]
AMBIGUOUS, LOST, NO_QUERY = "ambiguous", "lost: no such text", "lost: no such query"


def carry(
    bench: Bench, old: Dataset, new: Dataset, by: str = OFFICIAL, *, replace: bool = False
) -> tuple[Part, bool]:
    """Carry a judgement set from one dataset to another. Returns the part, and whether it is new. A
    query may also be matched by its words. If a judged document was split, each part gets its
    grade; if several documents were merged, the highest grade counts. Raises Missing if a dataset
    has no texts or judgements, and Conflict if other judgements were carried before and `replace`
    is false."""
    start = time.perf_counter()
    if old.name == new.name or old.parts or new.parts:
        raise WrongInput("carry judgements from one dataset to another, or from part to part")
    before, after = (recompute.stored_dataset(bench.store, one) for one in (old, new))
    judged = _judged(bench, old, by)
    inputs = freshness.by_kind(after.queries, after.lengths)
    content = [_documents(before).fingerprint, before.queries.fingerprint, *inputs.values()]
    mark = fingerprint(KIND, content, judgements=judgements_fingerprint(judged), by=by)
    _documents(after)
    if done := bench.store.done(KIND, new.name, old.name, mark):
        return done, False
    if bench.store.part(KIND, new.name, old.name) and not replace:
        raise Conflict(
            f"{new.name} has different judgements carried from {old.name}: replace them (--replace)"
        )
    rows, outcomes = _carried(bench, before, after, judged)
    if rows.empty:
        raise WrongInput(
            f"no judgement of {old.name} can be carried to {new.name}: {_told(outcomes)}"
        )
    words = ["carry-judgements", old.name, new.name, *(["--set", by] if by != OFFICIAL else [])]
    about: dict[str, Any] = {"by": by, "outcomes": outcomes, "inputs": inputs}
    made = provenance.record(words, time.perf_counter() - start, **about)
    with bench.store.publishing(f"carry judgements of {old.name} to {new.name}") as parts:
        of = {"dataset": new.name, "system": old.name, "fingerprint": mark}
        return parts.add(KIND, rows, **of, provenance=made), True


def stored(store: Store, dataset: str, old: str) -> Part:
    """Return the judgements carried from another dataset. Raises Missing if there are none."""
    found = {part.system: part for part in store.parts(KIND, dataset)}
    if old not in found:
        there = near(old, found) or (
            f"there are those of {', '.join(found)}" if found else "none is"
        )
        raise Missing(f"{dataset} has no judgements carried from {shown(old)}: {there.strip()}")
    return found[old]


def remove(store: Store, dataset: str, old: str) -> None:
    """Remove the judgements carried from another dataset, and nothing else."""
    with store.publishing(f"remove judgements carried to {dataset}") as parts:
        parts.remove(*stored(store, dataset, old).identity)


def report(part: Part) -> DataFrame:
    """Return outcome, judgements, documents: both counts for each outcome."""
    return DataFrame(part.provenance["outcomes"])


def said(part: Part) -> str:
    """Return a sentence such as `carried 340 of 352 judgements of old to new (set carried:old)`."""
    rows = report(part)
    every = int(rows["judgements"].sum())
    lost = int(rows.loc[rows["outcome"].isin([AMBIGUOUS, LOST, NO_QUERY]), "judgements"].sum())
    told = f"carried {every - lost:,} of {counted(every, 'judgement')} of {part.system}"
    told += (
        f" to {part.dataset} (set {CARRIED}:{part.system}): {_told(part.provenance['outcomes'])}"
    )
    return told


def _told(outcomes: list[dict[str, Any]]) -> str:
    return "; ".join(f"{one['judgements']:,} {one['outcome']}" for one in outcomes)


def _judged(bench: Bench, old: Dataset, by: str) -> DataFrame:
    """Return the judgements of a set. Raises Missing if it is empty."""
    with database.open_version(bench.store).cursor() as cursor:
        judged = judgement_sets.labels(cursor, old.name, by)
        known = judgement_sets.names(cursor, old.name)
    if judged.empty:
        others = ", ".join(name for name in known if name != by)
        there = f"carry another set of it (--set): {others}" if others else "judge it first"
        raise Missing(f"{old.name} has no judgement in its set {by}: {there}")
    return judged


def _documents(loaded: Loaded) -> Part:
    if loaded.documents is None:
        name = loaded.dataset.name
        raise Missing(
            f"{name} has no texts here to compare: python -m compute add-texts {name} PATH adds"
            " them"
        )
    return loaded.documents


def _texts(bench: Bench, loaded: Loaded) -> Iterator[tuple[str, str]]:
    part = _documents(loaded)
    columns = ["doc_id", "title", "text"]
    for number, batch in enumerate(parquet_files.batches(part.path, columns, BATCH)):
        bench.progress(number * BATCH, part.rows, "documents compared")
        for doc_id, title, text in zip(*(c.to_pylist() for c in batch.columns), strict=True):
            yield doc_id, f"{title or ''} {text or ''}"


def _carried(
    bench: Bench, before: Loaded, after: Loaded, judged: DataFrame
) -> tuple[DataFrame, list[dict[str, Any]]]:
    """Return the carried judgements (COLUMNS), and a record of judgements lost and carried."""
    grades = judged.sort_values("query_id").groupby("doc_id")[["query_id", "relevance"]]
    alike = {str(doc_id): tuple(map(tuple, rows.to_numpy())) for doc_id, rows in grades}
    texts, others = partial(_texts, bench, before), partial(_texts, bench, after)
    found = same_documents.matches(texts, others, alike)
    matched = DataFrame(found.found, columns=["old_doc_id", "doc_id", "how", "similarity"])
    rows = judged.rename(columns={"doc_id": "old_doc_id"}).merge(matched, "left", "old_doc_id")
    lost = rows["old_doc_id"].isin(found.ambiguous).map({True: AMBIGUOUS, False: LOST})
    rows["outcome"] = rows["how"].fillna(lost)
    queries = _queries(recompute.read(before.queries), recompute.read(after.queries))
    rows["new_query"] = rows["query_id"].map(queries)
    rows.loc[rows["new_query"].isna(), "outcome"] = NO_QUERY
    # A judgement that was carried to several documents counts once.
    each = rows.drop_duplicates(["query_id", "old_doc_id"]).groupby("outcome")["old_doc_id"]
    outcomes = each.agg(judgements="size", documents="nunique").reset_index()
    kept = rows.dropna(subset=["new_query", "doc_id"]).assign(query_id=lambda of: of["new_query"])
    kept = kept.sort_values(["query_id", "doc_id", "relevance", "similarity"])
    kept = kept.drop_duplicates(["query_id", "doc_id"], keep="last")
    told: Any = outcomes.to_dict("records")
    return kept[COLUMNS].reset_index(drop=True), told


def _queries(old: DataFrame, new: DataFrame) -> dict[str, str]:
    """Return the new id of each old query: its own id, unless the words under it differ; otherwise
    the id of the only query with these words. A query with neither is left out."""
    words = dict(zip(new["query_id"], map(_words, new["text"]), strict=True))
    times = Counter(words.values())
    of = {text: name for name, text in words.items() if text and times[text] == 1}
    found = {}
    for name, text in zip(old["query_id"], map(_words, old["text"]), strict=True):
        same = name in words and (words[name] == text or not words[name] or not text)
        if same or text in of:
            found[name] = name if same else of[text]
    return found


def _words(text: Any) -> str:
    return "" if pd.isna(text) else plain(text)
