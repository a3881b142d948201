"""Recompute: load a dataset, search it with a system, score the run, publish.

Each step names its output by fingerprint, so a step whose output is stored is not done again.
"""

import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pandas import DataFrame

from compute import caches, drafts, freshness, lengths, provenance, runs
from compute.datasets import Dataset
from compute.errors import Missing, Unavailable, WrongInput
from compute.identity import fingerprint
from compute.loading import Bench, Loaded, load, stored
from compute.measures import MEASURES, evaluate
from compute.store import Part, Store, constants, top
from compute.systems import Searcher, System

EQUAL_IDS_DROPPED = "+drop-equal-ids"
"""Ends the name of a system whose run drops documents named like the query "as BEIR's code"."""


@dataclass(frozen=True)
class Outcome:
    """What a run came to: its parts, and whether anything had to be done."""

    hits: Part
    scores: Part
    new: bool


@dataclass(frozen=True)
class Names:
    """The fingerprints of what comes of a system on a dataset."""

    index: str
    hits: str


def names(
    system: System,
    searcher: Searcher,
    loaded: Loaded,
    documents: Part,
    *,
    depth: int,
    drop_self: bool,
) -> Names:
    """What index and hits would be called; nothing is read or computed."""
    return Names(
        fingerprint("index", [documents.fingerprint], identity=searcher.index_identity()),
        fingerprint(
            "hits",
            [documents.fingerprint, loaded.queries.fingerprint],
            system=system.name,
            identity=searcher.identity(),
            depth=depth,
            drop_self=drop_self,
        ),
    )


@dataclass(frozen=True)
class Pair:
    """A system on a dataset that is loaded, ready to be indexed and searched."""

    system: System
    searcher: Searcher
    loaded: Loaded
    documents: Part
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
    searcher.check()
    if drop_equal_ids and not dataset.drop_self:
        # Another ranking than the contract's: a row of its own, never in its place.
        system = replace(system, name=system.name + EQUAL_IDS_DROPPED)
    loaded = load(bench, dataset)
    documents = loaded.documents
    if documents is None:
        raise WrongInput(
            f"{dataset.name} has no documents to search: import a run of {system.name} instead"
        )
    drop = dataset.drop_self or drop_equal_ids
    depth = bench.settings.depth
    called = names(system, searcher, loaded, documents, depth=depth, drop_self=drop)
    return Pair(system, searcher, loaded, documents, drop, called)


@contextlib.contextmanager
def index(bench: Bench, pair: Pair) -> Iterator[tuple[Path, bool]]:
    """The second step: the folder of the index, and whether it was built now; kept while used."""
    built = False

    def build(aside: Path) -> None:
        nonlocal built
        start = time.perf_counter()
        pair.searcher.index(pair.documents.path, aside, bench.settings, bench.progress)
        seconds = round(time.perf_counter() - start, 3)
        (aside / _SECONDS).write_text(json.dumps({"seconds": seconds}), encoding="utf-8")
        built = True

    with caches.folder(bench.settings, pair.names.index, build) as folder:
        yield folder, built


_SECONDS = "built.json"
"""In the folder of an index: the seconds that it took; of an interrupted build the last stretch."""


def _seconds(folder: Path) -> float:
    # A folder of an earlier version has no such file.
    file = folder / _SECONDS
    return float(json.loads(file.read_text("utf-8"))["seconds"]) if file.exists() else 0.0


def search(bench: Bench, pair: Pair) -> tuple[drafts.Draft, bool]:
    """The third step: the canonical run of every query of the split, and whether it is new.

    It is kept as a draft until it is published.
    """
    draft = drafts.kept(bench.settings, pair.names.hits)
    if draft is not None:
        return draft, False
    settings, progress = bench.settings, bench.progress
    with index(bench, pair) as (folder, _):
        seconds = _seconds(folder)
        start = time.perf_counter()
        # One deeper where self hits will go, so that the full depth remains.
        depth = settings.depth + pair.drop_self
        queries = read(pair.loaded.queries)
        found = pair.searcher.search(folder, queries, depth, settings, progress)
        run = runs.canonical(found, depth=settings.depth, drop_self=pair.drop_self)
        searched = round(time.perf_counter() - start, 3)
    facts = {"index_seconds": seconds, "search_seconds": searched}
    draft = drafts.Draft(run, facts)
    drafts.keep(settings, pair.names.hits, draft)
    return draft, True


def publish(bench: Bench, pair: Pair, *, again: bool = False) -> Outcome:
    """The last step: score and publish; what is stored already is left, unless `again`."""
    stored = published(bench, pair, again=again)
    if stored:
        return score(bench, pair.loaded, stored)
    if again and not bench.job:
        # A draft of a job may be its own, from before it was interrupted.
        drafts.drop(bench.settings, pair.names.hits)
    draft, _ = search(bench, pair)
    about = provenance.record(
        _command(pair),
        sum(draft.facts.values()),
        identity=pair.searcher.identity(),
        drop_self=pair.drop_self,
        inputs=freshness.of_hits(pair.loaded.queries, pair.loaded.lengths),
        **draft.facts,
    )
    depth = bench.settings.depth
    loaded, name = pair.loaded, pair.names.hits
    outcome = publish_run(bench, loaded, pair.system.name, draft.run, depth, name, about)
    drafts.drop(bench.settings, name)
    return outcome


def _command(pair: Pair) -> list[str]:
    """The command that makes the run again."""
    dataset = pair.loaded.dataset
    name = pair.system.name.removesuffix(EQUAL_IDS_DROPPED)
    option = ["--drop-equal-ids"] if pair.system.name != name else []
    return ["run", name, dataset.name, *option]


def published(bench: Bench, pair: Pair, *, again: bool = False) -> Part | None:
    """The stored hits that need not be searched again; with `again` only those of this job."""
    dataset = pair.loaded.dataset.name
    stored = bench.store.done("hits", dataset, pair.system.name, pair.names.hits)
    if stored and again and stored.job != bench.job:
        return None
    return stored if bench.store.part("top", dataset, pair.system.name) else None


def run(
    bench: Bench,
    system: System,
    dataset: Dataset,
    *,
    again: bool = False,
    drop_equal_ids: bool = False,
) -> Outcome:
    """Search the dataset with the system, score, publish; or nothing if that is stored.

    Raises Unavailable, before anything is done, where the system cannot run here.
    """
    ready = pair(bench, system, dataset, drop_equal_ids=drop_equal_ids)
    return publish(bench, ready, again=again)


def publish_run(
    bench: Bench,
    loaded: Loaded,
    system: str,
    run: runs.Run,
    depth: int,
    name: str,
    about: dict[str, Any],
) -> Outcome:
    """Store a canonical run: hits, top 10, scores and lengths, visible all at once."""
    # An imported run rests on the queries alone: what it searched is not known.
    about = {"inputs": freshness.of_hits(loaded.queries)} | about
    about |= {
        "depth": depth,
        "duplicates": run.duplicates,
        "self_hits": run.self_hits,
        "tied": run.tied,
    }
    dataset = loaded.dataset.name
    scores = evaluate(run.frame, read(loaded.judgements), depth=depth)
    with bench.store.publishing(bench.job or f"run {system} {dataset}") as publication:
        add = partial(publication.add, dataset=dataset, system=system, provenance=about)
        hits = add("hits", run.frame, fingerprint=name)
        from_hits = about | {"inputs": freshness.of_top(name)}
        add("top", top(run.frame), fingerprint=fingerprint("top", [name]), provenance=from_hits)
        judged = about | {"inputs": freshness.of_scores(name, loaded.judgements)}
        called = scores_name(name, loaded, depth)
        scored = add("scores", scores, fingerprint=called, provenance=judged)
        lengths.add_dataset(bench.store, publication, loaded)
        lengths.add_run(bench.store, publication, loaded, hits, top(run.frame))
    return Outcome(hits, scored, new=True)


def scores_name(hits: str, loaded: Loaded, depth: int) -> str:
    """The fingerprint of the scores of these hits on the judgements of the dataset."""
    inputs = [hits, loaded.judgements.fingerprint]
    return fingerprint("scores", inputs, measures=list(MEASURES), depth=depth)


def score(bench: Bench, loaded: Loaded, hits: Part, *, again: bool = False) -> Outcome:
    """The scores of a stored run, computed only if run, judgements or measures changed."""
    name = scores_name(hits.fingerprint, loaded, hits.provenance["depth"])
    stored = bench.store.part("scores", hits.dataset, hits.system)
    if stored and stored.fingerprint == name and not again:
        return Outcome(hits, stored, new=False)
    # What ships was cut: the scores that it came with may be of deeper ranks.
    depth = hits.provenance.get("cut", hits.provenance["depth"])
    start = time.perf_counter()
    scores = evaluate(read(hits), read(loaded.judgements), depth=depth)
    about = provenance.record(
        ["score", hits.dataset],
        time.perf_counter() - start,
        depth=depth,
        inputs=freshness.of_scores(hits.fingerprint, loaded.judgements),
    )
    job = bench.job or f"score {hits.system} {hits.dataset}"
    with bench.store.publishing(job) as publication:
        scored = publication.add(
            "scores",
            scores,
            dataset=hits.dataset,
            system=hits.system,
            fingerprint=name,
            provenance=about,
        )
        # Other judgements are other judged documents.
        lengths.add_dataset(bench.store, publication, loaded)
    return Outcome(hits, scored, new=True)


def stored_dataset(store: Store, dataset: Dataset) -> Loaded:
    """The dataset as it is stored, whether its source is still there or not. Raises Missing."""
    loaded = stored(store, dataset)
    if loaded is None:
        raise Missing(
            f"{dataset.name} is not stored here: python -m compute run bm25 {dataset.name}"
        )
    return loaded


def read(part: Part) -> DataFrame:
    """A part as a frame; dataset and system, one value throughout, are left out."""
    table = pq.read_table(part.path)
    return table.drop_columns(list(constants(part.kind, part.dataset, part.system))).to_pandas()
