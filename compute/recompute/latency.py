"""Latency: the duration of one query on a system that has everything loaded. A seeded sample of the
split's queries, the same for every system, is searched one by one for 100 hits. Before that, other
queries warm the system up, since Java compiles code that runs often. The latency of a combined
system is that of its inputs for the same query plus its own."""

import contextlib
import random
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from pandas import DataFrame

from compute.base import bug_reports, disk_refusals
from compute.base.errors import BeirscopeError, Unavailable
from compute.recompute.pairs import Pair, catalogued, pair, stored_hits
from compute.store import caches
from compute.store.loading import Bench
from compute.store.store import Part
from compute.systems.searcher import TimedCombiner, TimedSearcher

HITS = 100
"""Hits requested per query, and given to a combiner from each of its inputs."""
SEED = 20
WARM_UP = 200
"""Maximum number of queries that are run before timing starts."""
WARM_UP_SECONDS = 3.0
"""Seconds after which a slow system's warm-up ends."""

Query = tuple[str, str]
"""query_id and text."""
Answer = Callable[[Query], object]
"""A function that answers a query."""
Index = Callable[[Pair], contextlib.AbstractContextManager[tuple[Path, bool]]]
"""A function that opens the index of a system on a dataset."""


def sample(queries: DataFrame, number: int) -> tuple[list[Query], list[Query]]:
    """Return the queries to time, and all others, in random order; those without text are left
    out."""
    rows = queries.dropna(subset=["text"]).sort_values("query_id")
    asked = [row for row in zip(rows["query_id"], rows["text"], strict=True) if row[1].strip()]
    drawn = random.Random(SEED).sample(asked, len(asked))
    return drawn[:number], drawn[number:]


def measure(bench: Bench, pair: Pair, index: Index) -> tuple[dict[str, float], dict[str, Any]]:
    """Return latency_p50_ms and latency_p95_ms of a run, and how they were measured. Both are empty
    if no query is to be timed; if the system cannot answer single queries, the second says why."""
    queries = pq.read_table(pair.loaded.queries.path, columns=["query_id", "text"]).to_pandas()
    timed, others = sample(queries, max(bench.settings.latency_queries, 0))
    if not timed:
        return {}, {}
    try:
        with contextlib.ExitStack() as opened:
            answer = _opened(opened, bench, pair, index)
            _warm_up(answer, others or timed)
            took = list(_times(answer, timed, bench))
    except BeirscopeError as error:
        # The hits are complete without the latency.
        return {}, {"untimed": str(error)}
    except Exception as error:
        # A full disk, or a bug in the timing, must not lose a finished search either.
        if refused := disk_refusals.refusal(error, bench.settings.home):
            return {}, {"untimed": str(refused)}
        bug, _ = bug_reports.record(bench.settings, "timing single queries", error)
        return {}, {"untimed": f"a bug in Beirscope, {bug}: see bug-{bug}.log in the logs"}
    p50, p95 = np.percentile(took, [50, 95])
    values = {"latency_p50_ms": float(p50), "latency_p95_ms": float(p95)}
    return values, {"latency_queries": len(timed), "latency_hits": HITS}


def _warm_up(answer: Answer, queries: Sequence[Query]) -> None:
    """Run queries until WARM_UP of them, or WARM_UP_SECONDS, have passed."""
    start = time.perf_counter()
    for number in range(WARM_UP):
        answer(queries[number % len(queries)])
        if time.perf_counter() - start > WARM_UP_SECONDS:
            return


def _times(answer: Answer, queries: Sequence[Query], bench: Bench) -> Iterator[float]:
    """Yield the milliseconds of each query."""
    for number, query in enumerate(queries, 1):
        yield milliseconds(partial(answer, query))
        bench.progress(number, len(queries), "queries timed one by one")


def milliseconds(call: Callable[[], object]) -> float:
    """Return the duration of a call."""
    start = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - start)


def _opened(opened: contextlib.ExitStack, bench: Bench, pair: Pair, index: Index) -> Answer:
    """Return a function that answers a query; all it needs stays loaded until `opened` ends."""
    if pair.system.inputs:
        return _combining(opened, bench, pair, index)
    if not isinstance(pair.searcher, TimedSearcher):
        raise Unavailable(f"{pair.system.name} answers no single queries")
    folder, _ = opened.enter_context(index(pair))
    ask = opened.enter_context(pair.searcher.session(folder, bench.settings))
    return lambda query: ask(query[1], HITS)


def _combining(opened: contextlib.ExitStack, bench: Bench, pair: Pair, index: Index) -> Answer:
    """Return a function that searches the inputs in turn, then combines their stored hits."""
    if not isinstance(pair.searcher, TimedCombiner):
        raise Unavailable(f"{pair.system.name} answers no single queries")
    answers, hits = [], []
    for name in pair.system.inputs:
        answers.append(_opened(opened, bench, _input(bench, pair, name), index))
        stored = stored_hits(bench, pair.loaded.dataset, name)
        hits.append(_by_query(stored, max(HITS, getattr(pair.searcher, "depth", 0))))
    documents = pair.documents.path if pair.documents else None
    combine = opened.enter_context(pair.searcher.session(documents, bench.settings))

    def answer(query: Query) -> object:
        for ask in answers:
            ask(query)
        return combine(query[1], [found(query[0]) for found in hits])

    return answer


def _input(bench: Bench, of: Pair, name: str) -> Pair:
    """Return the pair of an input. Raises Unavailable for an imported run or a missing index."""
    row = catalogued(name)
    stored = stored_hits(bench, of.loaded.dataset, name)
    imported = stored.shipped or stored.provenance.get("imported")
    if row is None or row.search is None or imported:
        raise Unavailable(f"{name} was imported: its latency is unknown")
    ready = pair(bench, row, of.loaded.dataset)
    # No index is built only for this: combining stored runs does not need one.
    if ready.names.index and not caches.holds(bench.settings, ready.names.index):
        raise Unavailable(f"the index of {name} is not kept here any more: run {name} --again")
    return ready


def _by_query(hits: Part, depth: int) -> Callable[[str], DataFrame]:
    """Return a function from a query's id to its first hits (query_id, doc_id, rank, score)."""
    columns = ["query_id", "doc_id", "rank", "score"]
    first = [("rank", "<=", depth)]
    run = pq.read_table(hits.path, columns=columns, filters=first).to_pandas()
    lists = dict(iter(run.groupby("query_id", sort=False)))
    return lambda query_id: lists.get(query_id, run.iloc[:0])
