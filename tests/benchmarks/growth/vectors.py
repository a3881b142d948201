"""What each stage of a large dense collection costs: vectors stored, indexed, searched.

    python -m tests.benchmarks.growth.vectors DOCUMENTS PARAMETERS [--queries 13000] [--depth 1000]
        [--keep FOLDER] [--kill STAGE]

PARAMETERS are those of a dense system, such as `index=ivf,pq=48,dtype=float16`. The vectors are
made up, in place of a model's: 384 numbers, around 20,000 topics, with a spectrum that falls off,
turned at random; queries lie near documents. All else is the code that every dense system runs.
Seconds of processors, the most memory of the process within the stage, what lies on the disk at
its end. `--kill` ends the process (SIGKILL) in the middle of a stage, or at the beginning of one
that tells no number; the same command without it goes on in the folder that was kept.
"""

import argparse
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame
from threadpoolctl import ThreadpoolController

from compute.base.settings import Settings, load
from compute.systems import system
from compute.systems.neural import encoding, vectors
from compute.systems.neural.embedding import COMPARING, LAYOUT, MERGING, NAME, Embedding
from compute.systems.searcher import Request
from tests.benchmarks.growth.lines import processors
from tests.benchmarks.growth.stages import size
from tests.benchmarks.side_by_side import machine, peak, say

DIMENSIONS = 384
TOPICS = 20_000
SAMPLE = 200
"""Queries whose lists are held against exact search."""
STAGES = {
    encoding.LOADING: "storing",
    "documents": "storing",
    MERGING: "merging",
    vectors.TRAINING: "training",
    vectors.ADDING: "adding",
    COMPARING: "comparing",
    "queries": "searching",
}
"""The stage by what progress says."""
HEAD = "stage      seconds  processors  memory MB  disk MB"


@lru_cache(maxsize=1)
def _world() -> tuple[np.ndarray, np.ndarray]:
    """The centres of the topics, and the turned spectrum that vectors are spread by."""
    generator = np.random.default_rng(11)
    turned, _ = np.linalg.qr(generator.standard_normal((DIMENSIONS, DIMENSIONS)))
    spectrum = np.arange(1, DIMENSIONS + 1) ** -0.5
    centres = generator.standard_normal((TOPICS, DIMENSIONS), np.float32)
    return centres, (spectrum[:, None] * turned).astype(np.float32)


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def made_up(numbers: np.ndarray, seed: int) -> np.ndarray:
    """Unit vectors (len(numbers), 384); a number has one topic, whatever the seed."""
    centres, turned = _world()
    topics = numbers * 2_654_435_761 % 2**32 % TOPICS
    generator = np.random.default_rng([seed, int(numbers[0])])
    own = generator.standard_normal((len(numbers), DIMENSIONS), np.float32)
    # Of small products threads of BLAS wait for each other, and are counted as processors' work.
    with _blas().limit(limits=1):
        rows = (centres[topics] + own) @ turned
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@dataclass(frozen=True, kw_only=True)
class MadeUp(Embedding):
    """Texts are numbers; their vectors are drawn, not encoded."""

    PARAMETERS: ClassVar[tuple[str, ...]] = LAYOUT

    def check(self) -> None:
        """Nothing can be missing."""

    def vectors_identity(self) -> dict[str, Any]:
        """Made up."""
        return {"model": "made up"}

    def join(self, title: str, text: str) -> str:
        """The number."""
        return text

    def encoder(self, settings: Settings, of: str) -> encoding.Encode:
        """The vectors of so many numbers at once."""
        return lambda texts: made_up(np.array(texts, np.int64), int(of == "queries"))


@dataclass
class Watch:
    """Costs by stage; a stage ends when progress tells of another."""

    folder: Path
    kill: str
    stage: str = ""
    done: list[tuple[str, float, float, int, int]] = field(default_factory=list)
    start: tuple[float, float] = (0.0, 0.0)

    def __call__(self, done: int, total: int, unit: str) -> None:
        """Progress, as the code tells it."""
        if STAGES[unit] != self.stage:
            self.enter(STAGES[unit])
        at_once = self.stage in ("merging", "training", "comparing")
        if self.stage == self.kill and (at_once or done > total / 2):
            self.enter("")
            say("killed")
            os.kill(os.getpid(), signal.SIGKILL)

    def enter(self, stage: str) -> None:
        """End the stage and begin another; none where it is empty."""
        now = time.perf_counter(), processors()
        if self.stage:
            took, used = (end - begun for end, begun in zip(now, self.start, strict=True))
            self.done.append((self.stage, took, used, peak(), size(self.folder)))
            say(line(*self.done[-1]))
        # The most memory is counted from here on (Linux).
        Path("/proc/self/clear_refs").write_text("5", "utf-8")
        self.stage, self.start = stage, now


def line(stage: str, took: float, used: float, most: int, disk: int) -> str:
    """A row under HEAD."""
    return f"{stage:9}  {took:7.1f}  {used:10.1f}  {most:9,}  {disk / 1e6:7,.0f}"


def documents(count: int, file: Path) -> None:
    """Parquet (doc_id, title, text): the text is the number of the document, padded."""
    schema = pa.schema([(name, pa.string()) for name in ("doc_id", "title", "text")])
    with pq.ParquetWriter(file, schema) as writer:
        for first in range(0, count, 100_000):
            numbers = [f"{place:08}" for place in range(first, min(first + 100_000, count))]
            writer.write_table(pa.table([numbers, [""] * len(numbers), numbers], schema=schema))


def measured(
    searcher: Embedding, count: int, n_queries: int, depth: int, folder: Path, kill: str = ""
) -> Iterator[str]:
    """What the index tells of itself, and the recall of the run; stages are printed as they end."""
    index, file, settings = folder / "index", folder / "documents.parquet", load()
    index.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        documents(count, file)
    # Loaded before anything is measured.
    vectors.faiss_on(settings.threads)
    _world()
    watch = Watch(index, kill)
    facts = searcher.index(file, index, settings, watch)
    watch.enter("")
    share = searcher.recall(index, settings)
    yield str(facts) if share is None else f"{facts}, candidate_recall@100 {share:.4f}"
    chosen = np.random.default_rng(5).integers(0, count, n_queries)
    texts = [f"{number:08}" for number in chosen]
    queries = DataFrame({"query_id": [f"q{place}" for place in range(n_queries)], "text": texts})
    watch.enter("searching")
    hits = searcher.search(index, Request(queries, depth, settings, watch))
    watch.enter("")
    yield f"{len(hits):,} hits"
    if searcher.index_kind != "flat":
        yield from _recalls(searcher, count, queries[:SAMPLE], hits, folder)


def _recalls(
    searcher: Embedding, count: int, queries: DataFrame, hits: DataFrame, folder: Path
) -> Iterator[str]:
    """Recall of the first queries' lists against exact search among all vectors."""
    file = folder / "exact.npy"
    if not file.exists():
        np.save(file, _exact(searcher, count, queries["text"].to_list(), folder / "index"))
    exact = np.load(file)
    ranked = hits.sort_values("score", ascending=False, kind="stable").groupby("query_id")["doc_id"]
    found = {query_id: own.to_numpy()[:100].astype(int) for query_id, own in ranked}
    for k in (10, 100):
        shares = [
            np.isin(best[:k], found[query_id][:k]).mean()
            for query_id, best in zip(queries["query_id"], exact, strict=True)
        ]
        yield f"recall@{k} {np.mean(shares):.4f}"


def _exact(searcher: Embedding, count: int, texts: list[str], index: Path) -> np.ndarray:
    """The places of the 100 nearest; vectors that the index did not keep are made up again."""
    step, settings = encoding.SLICE, load()
    numbers = np.array(texts, np.int64)
    asked = [made_up(numbers[at : at + step], 1) for at in range(0, len(numbers), step)]
    again = (
        made_up(np.arange(first, min(first + step, count)), 0).astype(searcher.dtype)
        for first in range(0, count, step)
    )
    kept = encoding.read(index, NAME)
    return vectors.nearest(np.concatenate(asked), kept or again, 100, settings.threads)[1]


def main() -> None:
    """Measure and print."""
    asking = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    asking.add_argument("documents", type=int)
    asking.add_argument("parameters")
    asking.add_argument("--queries", type=int, default=13_000)
    asking.add_argument("--depth", type=int, default=1000)
    asking.add_argument("--keep", type=Path)
    asking.add_argument("--kill", default="", choices=sorted(set(STAGES.values())))
    asked = asking.parse_args()
    method = system(f"minilm({asked.parameters})").search
    assert isinstance(method, Embedding)
    given = {one.name: getattr(method, one.name) for one in fields(MadeUp)}
    searcher = MadeUp(**given)
    say(f"{machine()}\n{asked.documents:,} documents, {asked.parameters}\n{HEAD}")
    with tempfile.TemporaryDirectory() as name:
        folder = asked.keep or Path(name)
        for told in measured(
            searcher, asked.documents, asked.queries, asked.depth, folder, asked.kill
        ):
            say(told)


if __name__ == "__main__":
    main()
