"""Recomputing a run: load a dataset, search it with a system, score the run, publish it. Each step
names its output by a fingerprint, and is skipped if that output is stored. Imported runs enter at
`publish_run`."""

import contextlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame

from compute.base.errors import Missing
from compute.base.result_identity import fingerprint
from compute.base.words import counted
from compute.corpora import lengths
from compute.datasets import Dataset
from compute.evaluate import runs, scored_measures
from compute.evaluate.measures import MEASURES, evaluate, parse
from compute.recompute import efficiency, generated_queries, latency, shards, unpublished_hits
from compute.recompute.pairs import (
    EQUAL_IDS_DROPPED,
    Pair,
    catalogued,
    pair,
    stored_hits,
    stored_input,
)
from compute.store import caches, damage, freshness, provenance, repeats, run_versions
from compute.store.kinds import OF_RUNS
from compute.store.loading import Bench, Loaded, stored
from compute.store.parts import ROW_GROUP
from compute.store.store import Part, Publication, Store, constants, top
from compute.systems import Combiner, System, checkpoints
from compute.systems import trained as models
from compute.systems.searcher import Approximate, Request, Rewriting

NOTHING: Mapping[str, DataFrame] = MappingProxyType({})


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run: its parts, and whether any is new."""

    hits: Part
    scores: Part
    new: bool


def prepare(bench: Bench, pair: Pair) -> bool:
    """Build the index, or compute the input runs of a combiner, which are published as runs of
    their own: the second step. Returns whether anything was computed now."""
    if pair.system.inputs:
        # All of them are computed: `any` must not stop at the first new one.
        made = [outcome.new for outcome in _inputs(bench, pair)]
        return any(made)
    with index(bench, pair) as (_, built):
        return built


def _inputs(bench: Bench, pair: Pair) -> Iterator[Outcome]:
    """Yield the stored runs of the inputs, in order; compute and publish missing ones."""
    for name in pair.system.inputs:
        hits = stored_input(name, pair.loaded, pair.documents, pair.stored)
        if hits is not None:
            yield score(bench, pair.loaded, hits)
        elif (row := catalogued(name)) is not None:
            yield run(bench, row, pair.loaded.dataset)


@contextlib.contextmanager
def index(bench: Bench, pair: Pair) -> Iterator[tuple[Path, bool]]:
    """Yield the folder of the index, and whether it was built now; it is kept while in use."""
    built = False

    def build(aside: Path) -> None:
        nonlocal built
        assert not isinstance(pair.searcher, Combiner)
        resumed = any(aside.iterdir())
        made = shards.gather(bench, shards.of_index(pair), aside)
        texts = generated_queries.expanded(bench, pair.loaded, pair.searcher)
        with texts as (documents, asking), efficiency.watched() as cost:
            facts = pair.searcher.index(documents, aside, bench.settings, bench.progress)
        shards.clear(aside)
        cost.seconds = round(cost.seconds + asking, 3)
        alike = efficiency.add_shards(cost, made)
        efficiency.keep_index(aside, cost, facts, resumed=resumed or not alike)
        built = True

    with caches.folder(bench.settings, pair.names.index, build) as folder:
        yield folder, built


def search(bench: Bench, pair: Pair) -> tuple[unpublished_hits.Draft, bool]:
    """Return the canonical run of every query of the split, and whether it is new: the third step.
    It is kept as a draft until it is published."""
    draft = unpublished_hits.kept(bench.settings, pair.names.hits)
    if draft is not None:
        return draft, False
    made = _combined if isinstance(pair.searcher, Combiner) else _searched
    found, facts, costs = made(bench, pair)
    run = runs.canonical(found, depth=pair.names.depth, drop_self=pair.drop_self)
    draft = unpublished_hits.Draft(run, facts, asdict(costs))
    unpublished_hits.keep(bench.settings, pair.names.hits, draft)
    return draft, True


Found = tuple[DataFrame, dict[str, float], efficiency.Costs]
"""Hits, the seconds of indexing and searching, and all other measurements of the run."""


def _searched(bench: Bench, pair: Pair) -> Found:
    """Search the dataset with an index; return the hits and their costs."""
    settings, searcher = bench.settings, pair.searcher
    assert not isinstance(searcher, Combiner)
    with index(bench, pair) as (folder, _):
        seconds = float(efficiency.index_record(folder).get("seconds", 0.0))
        # One rank deeper if self hits will be dropped, so that the full depth remains.
        depth = settings.depth + pair.drop_self
        queries = read(pair.loaded.queries)
        with efficiency.watched() as cost:
            found = searcher.search(folder, Request(queries, depth, settings, bench.progress))
        documents = pair.documents.rows if pair.documents else 0
        measured = efficiency.of_index(folder, documents)
        share = searcher.recall(folder, settings) if isinstance(searcher, Approximate) else None
        measured |= {} if share is None else {efficiency.RECALL: share}
        indexes = {pair.names.index: measured}
    costs = efficiency.of_run(cost, len(queries), indexes=indexes)
    return found, {"index_seconds": seconds, "search_seconds": cost.seconds}, costs


def _combined(bench: Bench, pair: Pair) -> Found:
    """Combine the input runs; return the hits and their costs."""
    settings, combiner = bench.settings, pair.searcher
    assert isinstance(combiner, Combiner)
    hits = [outcome.hits for outcome in _inputs(bench, pair)]
    documents = pair.documents.path if pair.documents else None
    queries = read(pair.loaded.queries)
    request = Request(queries, settings.depth, settings, bench.progress)
    inputs = list(map(read, hits))
    with efficiency.watched() as cost:
        found = combiner.combine(inputs, documents, request)
    known = [efficiency.stored(bench.store, part.dataset, part.system) for part in hits]
    costs = efficiency.of_run(cost, len(queries), inputs=known)
    return found, {"index_seconds": 0.0, "search_seconds": cost.seconds}, costs


def publish(
    bench: Bench,
    pair: Pair,
    *,
    again: bool = False,
    version: run_versions.Version | None = None,
) -> Outcome:
    """Score and publish a run: the last step. A stored run is kept unless `again`."""
    stored = published(bench, pair, again=again)
    if stored:
        return score(bench, pair.loaded, stored)
    if again and not bench.job:
        # Within a job the draft is kept: the job itself may have written it before an interruption.
        unpublished_hits.drop(bench.settings, pair.names.hits)
    draft, _ = search(bench, pair)
    about = provenance.record(
        _command(pair),
        sum(draft.facts.values()),
        identity=pair.searcher.identity(),
        checkpoints=checkpoints.resolved(pair.searcher),
        drop_self=pair.drop_self,
        inputs=_rests_on(bench, pair),
        **draft.facts,
    )
    depth = pair.names.depth
    loaded, name = pair.loaded, pair.names.hits
    costs = _timed(bench, pair, draft)
    more = _asked(bench, pair)
    # Under the lock, since a run that another process published meanwhile must be kept, too.
    with bench.store.alone("import") if version is not None else contextlib.nullcontext():
        outcome = publish_run(
            bench, loaded, pair.system.name, draft.run, depth, name, about, costs, more, version
        )
    unpublished_hits.drop(bench.settings, name)
    return outcome


def _asked(bench: Bench, pair: Pair) -> dict[str, DataFrame]:
    """Return the queries that the system searches instead of the dataset's, as a part by kind."""
    if not isinstance(pair.searcher, Rewriting):
        return {}
    return {"augmented": pair.searcher.queries(read(pair.loaded.queries), bench.settings)}


def _timed(bench: Bench, pair: Pair, draft: unpublished_hits.Draft) -> efficiency.Costs | None:
    """Return the costs of the run, with latency measured now; None for a draft without costs."""
    if not draft.costs:
        return None
    values, about = latency.measure(bench, pair, partial(index, bench))
    return efficiency.Costs(draft.costs["values"] | values, draft.costs["about"] | about)


def _rests_on(bench: Bench, pair: Pair) -> freshness.Inputs:
    """Return the queries, the corpus if it is searched or read, the input runs and the models."""
    found = freshness.by_kind(pair.loaded.queries, pair.loaded.lengths if pair.documents else None)
    dataset = pair.loaded.dataset
    runs = (stored_hits(bench, dataset, name) for name in pair.system.inputs)
    trained = freshness.of_models(models.behind(pair.searcher))
    return found | freshness.of_runs(runs) | trained


def _command(pair: Pair) -> list[str]:
    """Return the command that repeats the run."""
    dataset = pair.loaded.dataset
    name = pair.system.name.removesuffix(EQUAL_IDS_DROPPED)
    option = ["--drop-equal-ids"] if pair.system.name != name else []
    return ["run", name, dataset.name, *option]


def published(bench: Bench, pair: Pair, *, again: bool = False) -> Part | None:
    """Return the stored hits that need not be searched again; with `again`, only this job's."""
    dataset = pair.loaded.dataset.name
    stored = whole_run(bench.store, dataset, pair.system.name, pair.names.hits)
    return None if stored and again and stored.job != bench.job else stored


def whole_run(store: Store, dataset: str, system: str, name: str) -> Part | None:
    """Return the hits of this fingerprint, if they and their top ranks are stored and undamaged."""
    stored = store.done("hits", dataset, system, name)
    top = store.part("top", dataset, system)
    return stored if stored and top and not store.verify(top).damage else None


def run(
    bench: Bench,
    system: System,
    dataset: Dataset,
    *,
    again: bool = False,
    drop_equal_ids: bool = False,
    version: run_versions.Version | None = None,
) -> Outcome:
    """Search the dataset with the system, score and publish the run; do nothing if it is stored,
    unless `again`. `drop_equal_ids` is as in `pair`. With a `version`, a replaced run with
    different hits is kept. Raises Unavailable first if the system cannot run here."""
    ready = pair(bench, system, dataset, drop_equal_ids=drop_equal_ids)
    return publish(bench, ready, again=again, version=version)


def publish_run(
    bench: Bench,
    loaded: Loaded,
    system: str,
    run: runs.Run,
    depth: int,
    name: str,
    about: dict[str, Any],
    costs: efficiency.Costs | None = None,
    more: Mapping[str, DataFrame] = NOTHING,
    version: run_versions.Version | None = None,
) -> Outcome:
    """Store a canonical run: its hits, top 10, scores, lengths and costs become visible together.
    `name` is the fingerprint of the hits, and `about` their provenance. `more` has further parts by
    kind. `version` labels the new run; with it, the run that this one replaces is kept, unless its
    hits are equal. Raises the errors of `run_versions.keep`."""
    # An imported run depends only on the queries: its corpus is unknown.
    about = {"inputs": freshness.by_kind(loaded.queries)} | about | {"depth": depth}
    about |= {"duplicates": run.duplicates, "self_hits": run.self_hits, "tied": run.tied}
    dataset = loaded.dataset.name
    measured = _more_measures(bench, loaded, system, depth)
    judgements, first = read(loaded.judgements), top(run.top(10))
    job = bench.job or f"run {system} {dataset}"
    with ThreadPoolExecutor(1) as pool, bench.store.publishing(job) as publication:
        if version is not None:
            of = bench.store, publication, dataset, system
            about["run_version"] = run_versions.keep(*of, version, run.batches(ROW_GROUP))
        for kind in OF_RUNS:
            # Those parts belong to the run that this one replaces.
            publication.remove(kind, dataset, system)
        wanted = [*MEASURES, *measured]
        how = {"depth": depth, "subtopics": subtopics(loaded)}
        scores = pool.submit(evaluate, run.batches(), judgements, wanted, **how)
        add = partial(publication.add, dataset=dataset, system=system, provenance=about)
        hits = add("hits", run.batches(ROW_GROUP), fingerprint=name)
        from_hits = about | {"inputs": freshness.of_top(name)}
        add("top", first, fingerprint=fingerprint("top", [name]), provenance=from_hits)
        judged = about | {"inputs": freshness.of_scores(name, loaded.judgements)}
        judged |= scored_measures.recorded(measured)
        called = scored_measures.scores_name(name, loaded, depth, measured)
        scored = add("scores", scores.result(), fingerprint=called, provenance=judged)
        lengths.add_dataset(bench.store, publication, loaded)
        lengths.add_run(bench.store, publication, loaded, hits, first)
        efficiency.add(publication, hits, costs, about)
        for kind, frame in more.items():
            add(kind, frame, fingerprint=fingerprint(kind, [name]), provenance=from_hits)
    return Outcome(hits, scored, new=True)


def _more_measures(bench: Bench, loaded: Loaded, system: str, depth: int) -> list[str]:
    """Return a new run's further measures: of settings, dataset and the superseded run."""
    before = scored_measures.more_of(bench.store.part("scores", loaded.dataset.name, system))
    of_settings = scored_measures.of_settings(bench.settings)
    named = scored_measures.more(before, of_settings, scored_measures.of_dataset(loaded))
    measures = {name: parse(name) for name in named}
    deep = [name for name, of in measures.items() if (of.k or depth) <= depth]
    return [name for name in deep if scored_measures.allows(measures[name], loaded)]


def score(
    bench: Bench,
    loaded: Loaded,
    hits: Part,
    *,
    again: bool = False,
    measures: Collection[str] = (),
) -> Outcome:
    """Return the scores of a stored run; recompute them only if run, judgements or measures have
    changed, or `again`. Besides MEASURES, they include `measures`, those of the settings and those
    of earlier scores, if the hits are deep enough. Raises WrongInput for an unknown measure."""
    stored = bench.store.part("scores", hits.dataset, hits.system)
    before, further = scored_measures.more_of(stored), repeats.of(bench.store, hits)
    more = _measures_of(bench, loaded, hits, measures)
    whole = stored and not bench.store.verify(stored).damage
    by_run = not further or bench.store.part("run_scores", hits.dataset, hits.system)
    whole = whole and by_run
    current = stored and scored_measures.is_current(stored, hits, further, loaded)
    if not stored or not whole or again or not current:
        return _scored(bench, loaded, hits, further, more, [*MEASURES, *more])
    lacking = [one for one in more if one not in before]
    if not lacking:
        return Outcome(hits, stored, new=False)
    wanted = [*MEASURES, *before, *lacking] if further else lacking
    beside = None if further else read(stored)
    return _scored(bench, loaded, hits, further, [*before, *lacking], wanted, beside)


def _measures_of(
    bench: Bench, loaded: Loaded, hits: Part, asked: Collection[str] = ()
) -> list[str]:
    """Return the further measures, including the present ones, by which a run can be scored."""
    before = scored_measures.more_of(bench.store.part("scores", hits.dataset, hits.system))
    of_settings = scored_measures.of_settings(bench.settings)
    named = scored_measures.more(before, of_settings, asked, scored_measures.of_dataset(loaded))
    return scored_measures.possible(named, hits, loaded)


def _scored(
    bench: Bench,
    loaded: Loaded,
    hits: Part,
    further: Part | None,
    more: Sequence[str],
    measures: Sequence[str],
    beside: DataFrame | None = None,
    publication: Publication | None = None,
) -> Outcome:
    """Score a run by `measures`, and publish these scores with those in `beside` as one part. If
    the system has several runs, the scores are means, and each run's scores are also published."""
    # Shipped hits are truncated, while their shipped scores may use deeper ranks.
    depth = scored_measures.kept(hits)
    start, how = time.perf_counter(), {"depth": depth, "subtopics": subtopics(loaded)}
    score = partial(evaluate, judgements=read(loaded.judgements), measures=measures, **how)
    by_run = [score(read(hits)).assign(run=1)]
    by_run += [score(run).assign(run=number) for number, run in repeats.lists(further)]
    of_runs = pd.concat(by_run, ignore_index=True)
    scores = repeats.averaged(of_runs) if further else of_runs.drop(columns="run")
    asked, mark = [word for one in more for word in ("--measure", one)], further or hits
    about = provenance.record(
        ["rescore", hits.dataset, *asked],
        time.perf_counter() - start,
        depth=depth,
        inputs=freshness.of_scores(hits.fingerprint, loaded.judgements, further),
        **scored_measures.recorded(more),
        **run_versions.marks(hits),
    )
    depth = hits.provenance["depth"]
    called = scored_measures.scores_name(mark.fingerprint, loaded, depth, more)
    job = bench.job or f"score {hits.system} {hits.dataset}"
    own = contextlib.nullcontext(publication) if publication else bench.store.publishing(job)
    with own as published:
        add = partial(published.add, dataset=hits.dataset, system=hits.system, provenance=about)
        whole = scores if beside is None else pd.concat([beside, scores])
        scored = add("scores", whole, fingerprint=called)
        if further:
            add("run_scores", of_runs, fingerprint=fingerprint("run_scores", [called]))
        # With other judgements, the lengths of judged documents change.
        lengths.add_dataset(bench.store, published, loaded)
    return Outcome(hits, scored, new=True)


def add_repeat(
    bench: Bench, loaded: Loaded, hits: Part, run: runs.Run, about: dict[str, Any]
) -> Outcome:
    """Store a canonical run as another run of the system with these hits; the system's scores
    become means. `about` is the run's provenance. Raises Unavailable if a run is damaged."""
    before = repeats.of(bench.store, hits)
    known = [*repeats.recorded(before), about]
    number = pa.scalar(len(known) + 1, pa.int32())
    rows = pa.Table.from_batches(run.batches(ROW_GROUP))
    rows = rows.append_column("run", pa.repeat(number, len(rows)))
    if before:
        stored = pq.read_table(before.path, columns=rows.column_names)
        rows = pa.concat_tables([stored, rows.cast(stored.schema)])
    keys = ("sha256", "drop_self", "read_with")
    read_as = [{key: one.get(key) for key in keys} for one in known]
    named = fingerprint("repeats", [hits.fingerprint], runs=read_as)
    with bench.store.publishing(bench.job or f"repeat {hits.system} {hits.dataset}") as publication:
        further = publication.add(
            "repeats",
            rows,
            dataset=hits.dataset,
            system=hits.system,
            fingerprint=named,
            provenance={"runs": known, "inputs": freshness.of_top(hits.fingerprint)}
            | run_versions.marks(hits),
        )
        more = _measures_of(bench, loaded, hits)
        wanted = [*MEASURES, *more]
        return _scored(bench, loaded, hits, further, more, wanted, publication=publication)


def stored_dataset(store: Store, dataset: Dataset) -> Loaded:
    """Return a dataset as it is stored, even if its source no longer exists. Raises Missing."""
    loaded = stored(store, dataset)
    if loaded is None:
        read = [part for part in store.parts(system="") if part.kind in damage.READ]
        damage.refuse(part for part in read if part.dataset in (dataset.name, dataset.collection))
        raise Missing(
            f"{dataset.name} is not stored here: python -m compute run bm25 {dataset.name}"
        )
    return loaded


def read(part: Part) -> DataFrame:
    """Return a part as a frame without the columns dataset and system, which are constant."""
    table = pq.read_table(part.path)
    return table.drop_columns(list(constants(part.kind, part.dataset, part.system))).to_pandas()


def subtopics(loaded: Loaded) -> DataFrame | None:
    """Return the judgements by subtopic of a stored dataset; None if it has none."""
    return read(loaded.subtopics) if loaded.subtopics else None


def remarks(outcome: Outcome) -> list[str]:
    """Return the remarks of `check` that affect the scores of an imported run."""
    return outcome.hits.provenance.get("remarks", [])


def said(bench: Bench, outcome: Outcome, measures: Iterable[str] = ()) -> str:
    """Return the mean scores of a run as text, with possible reasons for low values."""
    scores = read(outcome.scores).groupby("measure")["value"].mean()
    wanted = dict.fromkeys(["nDCG@10", "R@100", *measures])
    values = ", ".join(f"{m} {scores[m]:.4f}" for m in wanted if m in scores)
    values = values or f"{outcome.hits.rows:,} hits, no scores: nothing is judged yet"
    news = [*([] if outcome.new else ["up to date"]), *_remarks(bench, outcome.hits)]
    by_run = bench.store.part("run_scores", outcome.hits.dataset, outcome.hits.system)
    if by_run and by_run.rows:
        # Imported here because most commands need no SciPy.
        from compute.evaluate.distributions import runs_said

        news.insert(0, runs_said(read(by_run), "nDCG@10"))
    return f"{values} ({'; '.join(news)})" if news else values


def _remarks(bench: Bench, hits: Part) -> Iterator[str]:
    """Yield possible reasons for a lower score."""
    about = hits.provenance
    queries = bench.store.part("queries", hits.dataset)
    top = bench.store.part("top", hits.dataset, hits.system)
    answered = int((read(top)["rank"] == 1).sum()) if top else None
    if queries and answered is not None and answered < queries.rows:
        yield f"answers {answered:,} of {queries.rows:,} queries"
    if about.get("depth", 0) < bench.settings.depth and freshness.runs_behind(hits):
        yield f"{about['depth']:,} ranks deep, like its shallowest stored input"
    yield from left_out(about)


def left_out(about: Mapping[str, Any]) -> Iterator[str]:
    """Yield a clause on each kind of hits that a run left out, from its provenance; on self hits
    only if the run was imported."""
    for name, text in provenance.TREATED.items():
        words, mark, _ = text.removeprefix("hits ").partition(", left out")
        if mark and about.get(name) and (name != "self_hits" or about.get("imported")):
            yield f"{counted(about[name], 'hit')} {words} left out"
