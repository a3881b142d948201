"""What a collection costs by its documents: counting and comparing words, BM25, dense search."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compute.base.settings import Settings, load
from compute.corpora.overlap.counting import counted
from compute.corpora.overlap.jaccard import similarities, sums
from compute.systems.neural import vectors
from tests.benchmarks import overlap
from tests.benchmarks.growth.corpus import made_up
from tests.benchmarks.growth.lines import Line, grown, least

DIMENSIONS = 384
HITS = 100


@dataclass(frozen=True)
class Sizes:
    """Three of each; the first of the others holds meanwhile."""

    documents: tuple[int, ...] = (10_000, 30_000, 100_000)
    corpora: tuple[int, ...] = (15, 50, 150)
    words: tuple[int, ...] = (100_000, 300_000, 1_000_000)
    queries: tuple[int, ...] = (30, 100, 300)


SMALL = Sizes((100, 200, 400), (2, 3, 4), (1_000, 2_000, 4_000), (5, 10, 20))


def counting(sizes: Sizes) -> Iterator[Line]:
    """Uni- and bigrams of a corpus."""

    def work(n_documents: int) -> float:
        with tempfile.TemporaryDirectory() as name:
            file = Path(name) / "documents.parquet"
            made_up(n_documents, file)

            def count() -> None:
                with counted("ngrams", file, Settings(home=Path(name) / "home")):
                    pass

            return least(count, 1)

    yield grown("overlap, counting", "documents", sizes.documents, work)


def comparing(sizes: Sizes) -> Iterator[Line]:
    """Weighted Jaccard of every two corpora."""

    def compare(n_corpora: int, words: int) -> float:
        found = overlap.made_up(words, n_corpora)
        totals = {name: sums(one.shares) for name, one in found.items()}
        return least(lambda: similarities([found], totals, list(found)))

    few, short = sizes.corpora[0], sizes.words[0]
    name = "overlap, comparing"
    yield grown(name, "corpora", sizes.corpora, lambda n: compare(n, short), 2)
    yield grown(name, "words", sizes.words, lambda words: compare(few, words))


def dense(sizes: Sizes) -> Iterator[Line]:
    """Exact search among vectors that are there."""
    random, threads = np.random.default_rng(3), load().threads

    def search(n_documents: int, n_queries: int) -> float:
        stored, asked = (
            random.standard_normal((n, DIMENSIONS), np.float32) for n in (n_documents, n_queries)
        )
        vectors.nearest(asked[:1], [stored], HITS, threads)
        return least(lambda: vectors.nearest(asked, [stored], HITS, threads))

    few, many = sizes.documents[0], sizes.queries[1]
    yield grown("dense search", "documents", sizes.documents, lambda n: search(n, many))
    yield grown("dense search", "queries", sizes.queries, lambda n: search(few, n))
