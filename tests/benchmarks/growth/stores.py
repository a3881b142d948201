"""What a store costs by queries and systems: scoring, publishing, opening, the pages' questions.

Runs and judgements are made up and go the way of imported ones. Systems are noisy orders of the
same 200 candidates of a query, of which some of the first 60 are judged: 20 where one run is
scored, 5 in stores.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from pandas import DataFrame

from compute.base.settings import Settings
from compute.datasets.qrels import as_trec
from compute.evaluate.measures import evaluate
from compute.evaluate.runs import Run
from compute.intake import imports
from compute.judgements import orders
from compute.reading.database import Reading, open_version
from compute.recompute import run as recompute
from compute.store.loading import Bench, Loaded
from compute.store.store import Store, top
from compute.views.annotate import select as annotate_select
from compute.views.compare import select as compare_select
from compute.views.holes import select as holes_select
from compute.views.leaderboard import select as leaderboard_select
from compute.views.leaderboard import select_order
from compute.views.shared import catalogue
from tests.benchmarks.growth.lines import Line, grown, least
from tests.benchmarks.side_by_side import say

CANDIDATES, JUDGED, DEEPEST_JUDGED = 200, 20, 60
FEW_JUDGED = 5
DEPTH = 10
"""Hits a query of the runs that pages ask about: most read no more."""
_BLOCK = 10_000
"""Queries that are made up at once."""
MEASURE = "nDCG@10"


@dataclass(frozen=True)
class Sizes:
    """Three of each, while there are the first of the others, and `few` queries."""

    queries: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    """Of one dataset, for pages."""
    systems: tuple[int, ...] = (5, 20, 100)
    """On one dataset."""
    datasets: tuple[int, ...] = (10, 30, 100)
    few: int = 1_000
    run_queries: tuple[int, ...] = (5_000, 15_000, 50_000)
    """Of one run of 100 hits a query."""
    hits: tuple[int, ...] = (100, 300, 1_000)
    """A query's, of a run of as many queries as the first of `run_queries`."""


SMALL = Sizes((10, 20, 40), (2, 3, 4), (1, 2, 3), 10, (20, 40, 80), (10, 20, 40))


def made_run(n_queries: int, depth: int, seed: int) -> DataFrame:
    """query_id, doc_id, rank, score of a system as noisy as its number is high."""
    random = np.random.default_rng(seed)
    n_candidates = max(CANDIDATES, 2 * depth)

    def chosen(n: int) -> np.ndarray:
        noise = random.normal(0, 10 + seed % 50, (n, n_candidates))
        return np.argsort(np.arange(n_candidates) + noise, axis=1)[:, :depth]

    blocks = range(0, n_queries, _BLOCK)
    found = np.concatenate([chosen(min(_BLOCK, n_queries - start)) for start in blocks])
    documents = found + np.arange(n_queries)[:, None] * n_candidates
    return DataFrame(
        {
            "query_id": pd.array(np.repeat(_names("q", n_queries), depth), dtype="str"),
            "doc_id": pd.array(np.char.add("d", documents.ravel().astype(str)), dtype="str"),
            "rank": np.tile(np.arange(1, depth + 1, dtype=np.int32), n_queries),
            "score": np.tile(np.linspace(30, 1, depth), n_queries),
        }
    )


def made_judgements(n_queries: int, depth: int, judged: int = JUDGED) -> DataFrame:
    """query_id, doc_id, relevance of so many pairs of a query."""
    random = np.random.default_rng(0)
    n_candidates = max(CANDIDATES, 2 * depth)
    chosen = np.argsort(random.random((n_queries, DEEPEST_JUDGED)), axis=1)[:, :judged]
    documents = chosen + np.arange(n_queries)[:, None] * n_candidates
    return DataFrame(
        {
            "query_id": pd.array(np.repeat(_names("q", n_queries), judged), dtype="str"),
            "doc_id": pd.array(np.char.add("d", documents.ravel().astype(str)), dtype="str"),
            "relevance": random.integers(0, 3, n_queries * judged),
        }
    )


def _names(prefix: str, n: int) -> np.ndarray:
    return np.char.add(prefix, np.arange(n).astype(str))


def scoring(sizes: Sizes) -> Iterator[Line]:
    """All stored measures of one run."""

    def score(n_queries: int, depth: int) -> float:
        run, judgements = made_run(n_queries, depth, 1), made_judgements(n_queries, depth)
        return least(lambda: evaluate(run, judgements, depth=depth))

    few, shallow = sizes.run_queries[0], sizes.hits[0]
    yield grown("scoring a run", "queries", sizes.run_queries, lambda n: score(n, shallow))
    yield grown("scoring a run", "hits a query", sizes.hits, lambda depth: score(few, depth))


class Home:
    """A store that systems are added to."""

    def __init__(self, folder: Path, n_queries: int, n_datasets: int = 1) -> None:
        now = Settings(home=folder / "home")
        self.n_queries = n_queries
        self.store = Store(now, shipped=folder / "none")
        self.bench = Bench(self.store, now)
        self.judgements = made_judgements(n_queries, DEPTH, FEW_JUDGED)
        self.systems: list[str] = []
        (folder / "qrels.txt").write_text(as_trec(self.judgements), "utf-8")
        self.datasets = [self._dataset(n, folder / "qrels.txt") for n in range(n_datasets)]

    def _dataset(self, number: int, qrels: Path) -> Loaded:
        return imports.import_dataset(self.bench, f"made-{number}", qrels=qrels)

    def add(self, up_to: int) -> None:
        """Publish the runs of further systems on every dataset, as an import does."""
        for number in range(len(self.systems), up_to):
            name = f"system-{number}"
            for place, loaded in enumerate(self.datasets):
                run = Run(made_run(self.n_queries, DEPTH, 1 + number + 100 * place))
                called = f"{name}-{place}"
                recompute.publish_run(self.bench, loaded, name, run, DEPTH, called, {})
            self.systems.append(name)


def publish(store: Store, run: DataFrame, scores: DataFrame, number: int) -> None:
    """Publish what is there of one more run: hits, top and scores."""
    with store.publishing("growth") as publication:
        for kind, content in (("hits", run), ("top", top(run)), ("scores", scores)):
            about = {"fingerprint": f"{kind}-{number}", "provenance": {}}
            publication.add(kind, content, dataset="another", system=f"system-{number}", **about)


def publishing(sizes: Sizes) -> Iterator[Line]:
    """One scored run into an empty store, by its queries."""

    def work(n_queries: int) -> float:
        with tempfile.TemporaryDirectory() as folder:
            store = Store(Settings(home=Path(folder) / "home"), Path(folder) / "none")
            return published(store, n_queries, sizes.hits[0])

    yield grown("publishing a run", "queries", sizes.run_queries, work)


def published(store: Store, n_queries: int, depth: int) -> float:
    """Seconds of processors for one more run."""
    run = made_run(n_queries, depth, 1)
    scores = evaluate(run, made_judgements(n_queries, depth), depth=depth)
    numbers = iter(range(100))
    return least(lambda: publish(store, run, scores, next(numbers)))


def asked(home: Home) -> dict[str, float]:
    """Seconds of processors by cost, of a store as it is now."""
    dataset = home.datasets[0].dataset.name
    names = [loaded.dataset.name for loaded in home.datasets]
    opening = least(lambda: open_version(home.store).close())
    reading = open_version(home.store)
    costs = {
        "opening the catalogue": opening,
        "Leaderboard": least(lambda: leaderboard(reading, names, home.systems)),
        "Holes": least(lambda: holes(reading, dataset, home.systems)),
        "Compare": least(lambda: compare(reading, dataset, home.systems)),
    }
    reading.close()
    return costs


def ordered(home: Home) -> float:
    """Seconds of processors for the pool ordering of a store as it is now."""
    reading = open_version(home.store)
    found = least(lambda: pool_order(reading, home.datasets[0].dataset.name, home))
    reading.close()
    return found


def pool_order(reading: Reading, dataset: str, home: Home) -> None:
    """What a task over all systems judges first."""
    with reading.cursor() as cursor:
        tops = annotate_select.StoredTops(cursor, dataset)
        orders.first("impact", tops.blocks(home.judgements, home.systems, 10), 10, 0)


def leaderboard(reading: Reading, datasets: list[str], systems: list[str]) -> None:
    """All that the page reads at first: the board, and how sure its order is."""
    with reading.cursor() as cursor:
        for ask in (
            leaderboard_select.published_tables,
            leaderboard_select.measures,
            catalogue.datasets,
            catalogue.systems,
            leaderboard_select.holes,
            catalogue.trained_pairs,
        ):
            ask(cursor)
        leaderboard_select.means(cursor, MEASURE)
        leaderboard_select.printed_of(cursor, MEASURE)
        select_order.of_runs(cursor, MEASURE, datasets, systems, 1)


def holes(reading: Reading, dataset: str, systems: list[str]) -> None:
    """All that the page reads at first of one dataset."""
    with reading.cursor() as cursor:
        holes_select.recorded(cursor, dataset)
        holes_select.bounds(cursor, dataset, systems, MEASURE)
        holes_select.pairs(cursor, dataset, systems, MEASURE)
        holes_select.by_rank(cursor, dataset, systems, 10)
        holes_select.left_out(cursor, dataset, systems, MEASURE)


def compare(reading: Reading, dataset: str, systems: list[str]) -> None:
    """All that the page reads at first of the first two systems."""
    with reading.cursor() as cursor:
        of = ([dataset], systems[0], systems[1])
        compare_select.runs(cursor)
        compare_select.pairs(cursor, *of, MEASURE)
        compare_select.tested(cursor, *of, MEASURE)
        compare_select.overlaps(cursor, *of)


DESIGN = {"Leaderboard": 2, "Holes": 2, "pool ordering": 2, "publishing a run": 0, "Compare": 0}
"""By systems: each is held against each other, but for what is of two or of one."""


def pages(sizes: Sizes) -> Iterator[Line]:
    """The costs of a store by the queries of a dataset, by its systems, and by datasets."""
    few = sizes.systems[0]
    by_queries = [_made(n, 1, few) for n in sizes.queries]
    yield from _lines("queries", sizes.queries, by_queries, {})
    by_systems = []
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder), sizes.few)
        for n_systems in sizes.systems:
            home.add(n_systems)
            found = asked(home) | {"pool ordering": ordered(home)}
            found["publishing a run"] = published(home.store, sizes.few, DEPTH)
            by_systems.append(found)
    yield from _lines("systems", sizes.systems, by_systems, DESIGN)
    by_datasets = [_made(sizes.few, n, few) for n in sizes.datasets]
    yield from _lines("datasets", sizes.datasets, by_datasets, {"Holes": 0, "Compare": 0})


def _made(n_queries: int, n_datasets: int, n_systems: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder), n_queries, n_datasets)
        home.add(n_systems)
        return asked(home)


def _lines(
    by: str,
    sizes: tuple[int, ...],
    found: Sequence[Mapping[str, float]],
    design: Mapping[str, float],
) -> Iterator[Line]:
    for cost in found[0]:
        taken = tuple(costs[cost] for costs in found)
        line = Line(cost, by, sizes, taken, design.get(cost, 1))
        say(" | ".join(line.cells()))
        yield line
