"""Many machines: how much faster two workers encode, index and count words than one; what a killed
one costs.

    python -m tests.benchmarks.machines [--documents 200000] [--counted 400000] [--shards 8]
        [--width 64] [--only encoding indexing counting]

One PostgreSQL, one folder of parts, and for every worker a home of its own, one processor, one
thread, and a network namespace without any network (where that needs no more rights than there
are): the database is reached through its socket. Made-up documents, of 150 words where words are
counted, a tiny random model. Every run is compared with that of the undivided corpus, and the files
of counts byte by byte. Run it alone: workers that share a processor with others tell nothing.
"""

import argparse
import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import psutil

from compute import jobs
from compute.base.settings import Settings
from compute.corpora.overlap.tokens import KINDS
from compute.intake import imports
from compute.jobs import records
from compute.recompute import run as recompute
from compute.store.loading import Bench
from compute.store.store import Part, Store
from compute.systems import system
from tests.benchmarks.growth.corpus import write_beir
from tests.benchmarks.side_by_side import Row, machine, say, show
from tests.support import models
from tests.support.processes import database
from tests.support.processes.jobbing import worker

NAME, LONG = "made-up", "long"
"""The collection that is searched, and the one whose words are counted."""
WORDS = 10
"""Words of a document, each a few letters: as many pieces to the model as there are letters."""
WORK = ("encoding", "indexing", "counting")
EQUAL = 1e-5
"""By how much scores may differ."""


@dataclass(frozen=True)
class Site:
    """What the machines share, and the desk at which jobs are asked for."""

    folder: Path
    desk: Settings

    def home(self, name: str, shard_documents: int) -> Settings:
        """The settings of a machine; its `parts` is the shared folder."""
        home = self.folder / name
        if not home.exists():
            home.mkdir()
            (home / "parts").symlink_to(self.folder / "shared" / "parts")
        return replace(self.desk, home=home, shard_documents=shard_documents)

    def forget(self) -> None:
        """Take all indexes and shards away, so that there is something to do."""
        for cache in self.folder.glob("*/caches"):
            shutil.rmtree(cache)
        shutil.rmtree(self.folder / "shared" / "parts" / "shards", ignore_errors=True)


@dataclass(frozen=True)
class Run:
    """What came of one job."""

    seconds: float
    """From the first shard's begin to the last one's end; of an undivided index of the step."""
    whole: float
    """Of the job."""
    hits: dict[str, dict[str, float]]
    """Scores by document, by query; of counting none."""
    sums: tuple[str, ...]
    """SHA-256 of the files of counts; of a system's run none."""
    shards: int
    busiest: float
    """Processor seconds of the worker that had most to do, in the whole job."""


def made_up(folder: Path, n_documents: int, n_queries: int) -> Path:
    """A BEIR folder of short documents; each of the first is the one relevant to its query."""
    random = np.random.default_rng(n_documents)
    words = np.array([np.base_repr(number, 36).lower() for number in range(40_000)])
    shares = 1 / np.arange(2, len(words) + 2)
    places = np.searchsorted(
        np.cumsum(shares / shares.sum()), random.random((n_documents, WORDS))
    ).clip(max=len(words) - 1)
    texts = [" ".join(row) for row in words[places]]
    (folder / "qrels").mkdir(parents=True)
    for name, rows in (("corpus", texts), ("queries", texts[:n_queries])):
        sign = name[0]
        lines = (
            json.dumps({"_id": f"{sign}{place}", "title": "", "text": " ".join(text.split()[:8])})
            if sign == "q"
            else json.dumps({"_id": f"{sign}{place}", "title": "", "text": text})
            for place, text in enumerate(rows)
        )
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    judged = "".join(f"q{place}\tc{place}\t1\n" for place in range(n_queries))
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}", "utf-8")
    return folder


def apart() -> list[str]:
    """The command that runs another in a network namespace of its own, where that may be done."""
    command = ["unshare", "--net", "--"]
    if not shutil.which("unshare"):
        return []
    tried = subprocess.run([*command, "true"], check=False, capture_output=True)
    return [] if tried.returncode else command


@contextmanager
def workers(site: Site, number: int, shard_documents: int) -> Iterator[list[int]]:
    """So many workers, each on a processor of its own; their process ids."""
    cores = sorted(os.sched_getaffinity(0))
    with ExitStack() as open_:
        processes = []
        for place in range(number):
            settings = site.home(f"machine{place + 1}", shard_documents)
            under = [*apart(), "taskset", "-c", str(cores[place % len(cores)])]
            processes.append(open_.enter_context(worker(settings, under=under)))
        while len(jobs.workers_alive(site.desk)) < number:
            time.sleep(0.1)
        yield [process.pid for process in processes]


def run(
    site: Site, store: Store, name: str, number: int, shard_documents: int, kill: bool = False
) -> Run:
    """Have a system run, or words counted without one, by so many workers.

    The second is killed where `kill` says so.
    """
    site.forget()
    with workers(site, number, shard_documents) as pids:
        if name:
            asked = jobs.start(store, "run", [name], [NAME], again=True)
        else:
            asked = jobs.start(store, "overlap", [], [LONG], again=True)
        while (found := jobs.job(site.desk, asked.job)) is None or found.active:
            if kill and found and found.progress and _share(found) >= 1 / 3:
                os.kill(pids[1], signal.SIGKILL)
                say(f"  one of two killed -9 when {_share(found):.0%} was done")
                kill = False
            time.sleep(0.2)
        busiest = max(map(processor_seconds, pids))
    if found.state != "done":
        raise SystemExit(f"{asked.job} is {found.state}: {found.error}")
    return _told(site, store, found, name, busiest)


def processor_seconds(process: int) -> float:
    """Of a process, and of all that it started; 0 of one that is gone."""
    total = 0.0
    with contextlib.suppress(psutil.NoSuchProcess):
        own = psutil.Process(process)
        for one in (own, *own.children(recursive=True)):
            total += sum(one.cpu_times()[:4])
    return total


def _share(job: records.Job) -> float:
    progress = job.progress
    known = progress is not None and progress.unit == "documents" and progress.total
    return progress.done / progress.total if known and progress else 0.0


def _told(site: Site, store: Store, job: records.Job, name: str, busiest: float) -> Run:
    ids = [f"{job.id}.0000.{number:04}" for number in range(1000)]
    shards = records.named(site.desk, ids)
    first = min((one.started or 0 for one in shards), default=0)
    last = max((one.ended or 0 for one in shards), default=0)
    parts = _parts(store, name)
    hits: dict[str, dict[str, float]] = {}
    for part in parts if name else ():
        for query, doc, score in recompute.read(part)[["query_id", "doc_id", "score"]].to_numpy():
            hits.setdefault(query, {})[doc] = score
    sums = () if name else tuple(part.sha256 for part in parts)
    step = "index_seconds" if name else "seconds"
    seconds = last - first or sum(part.provenance[step] for part in parts)
    # A job that is taken over begins anew.
    whole = (job.ended or 0) - job.created
    return Run(seconds, whole, hits, sums, len(shards), busiest)


def _parts(store: Store, name: str) -> list[Part]:
    """The hits of a system, or without one the counts."""
    wanted = [("hits", NAME, name)] if name else [(kind, LONG, "") for kind in KINDS]
    return [part for one in wanted if (part := store.part(*one)) is not None]


def differing(ours: Run, alone: Run) -> float:
    """The largest difference of a score at a rank, or of a document's score in both.

    Of counts 0 where their files are the same bytes, else infinite.
    """
    worst = 0.0 if ours.sums == alone.sums else math.inf
    for query, scores in alone.hits.items():
        found = ours.hits[query]
        ranks = zip(scores.values(), found.values(), strict=True)
        common = ((scores[doc], found[doc]) for doc in scores.keys() & found.keys())
        worst = max(worst, *(abs(a - b) for a, b in (*ranks, *common)))
        # Who is missing may only be one that ties with the last.
        last = min(scores.values())
        lost = [scores[doc] - last for doc in scores.keys() - found.keys()]
        worst = max(worst, *lost, 0.0)
    return worst


def measured(site: Site, store: Store, name: str, what: str, shard: int, bar: float) -> None:
    """One worker, two workers, two of which one is killed; each beside the undivided corpus."""
    alone = run(site, store, name, 1, 0)
    say(
        f"{what}, undivided, one worker: {alone.seconds:.1f} s; the job {alone.whole:.1f} s,"
        f" {alone.busiest:.1f} processor seconds"
    )
    one = _said(run(site, store, name, 1, shard), alone, f"{what}, one worker")
    two = _said(run(site, store, name, 2, shard), alone, f"{what}, two workers")
    ratio = one.seconds / two.seconds
    show(
        Row(
            f"{what} with two workers",
            f"{bar}x of one" if bar else "",
            f"{two.seconds:.1f} s (the job {two.whole:.1f} s)",
            f"one worker {one.seconds:.1f} s ({one.whole:.1f} s)",
            f"{ratio:.2f}x (the job {one.whole / two.whole:.2f}x, in processor seconds of the"
            f" busiest worker {one.busiest / two.busiest:.2f}x)",
            ratio >= bar if bar else None,
        )
    )
    if bar:
        killed = run(site, store, name, 2, shard, kill=True)
        _said(killed, alone, f"{what}, one of two killed")
        say(f"  the killed worker cost {killed.seconds - two.seconds:.1f} s")


def _said(found: Run, alone: Run, what: str) -> Run:
    worst = differing(found, alone)
    same = "equal to the undivided" if worst <= EQUAL else "NOT AS THE UNDIVIDED"
    say(
        f"{what}: {found.shards} shards in {found.seconds:.1f} s; the job {found.whole:.1f} s,"
        f" {found.busiest:.1f} processor seconds of the busiest worker;"
        f" results {same} (largest difference {worst:.1e})"
    )
    return found


def model(folder: Path, width: int) -> Path:
    """A tiny random model, heavy enough that encoding is most of the work."""
    sizes = {"hidden_size": width, "intermediate_size": 2 * width}
    return models.sentence_transformer(folder / "model", models.bert(folder / "bert", **sizes))


def main(words: Sequence[str] = sys.argv[1:]) -> None:
    """Encode, index, count."""
    asking = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    asking.add_argument("--documents", type=int, default=200_000)
    asking.add_argument("--counted", type=int, default=400_000)
    asking.add_argument("--queries", type=int, default=100)
    asking.add_argument("--shards", type=int, default=8)
    asking.add_argument("--width", type=int, default=64)
    asking.add_argument("--only", nargs="*", choices=WORK, default=WORK)
    asked = asking.parse_args(words)
    if not database.installed():
        raise SystemExit("no PostgreSQL server here: apt-get install postgresql")
    os.environ["BEIRSCOPE_LATENCY_QUERIES"] = "0"
    # So that the server and the workers end, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with database.server() as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "shared" / "parts").mkdir(parents=True)
        desk = Settings(
            home=folder / "desk", state=database.made(server), threads=1, latency_queries=0
        )
        site = Site(folder, desk)
        store = Store(site.home("desk", 0), shipped=folder / "nothing")
        where = "network namespaces" if apart() else "processes"
        say(f"workers are {where} with homes of their own")
        if asked.only != ["counting"]:
            _searching(site, store, asked)
        if "counting" in asked.only:
            _counting(site, store, asked)
    say(machine())


def _searching(site: Site, store: Store, asked: argparse.Namespace) -> None:
    source = made_up(site.folder / "corpus", asked.documents, asked.queries)
    imports.import_dataset(Bench(store, site.desk), NAME, path=source)
    say(f"{asked.documents:,} documents of {WORDS} words")
    shard = -(-asked.documents // asked.shards)
    if "encoding" in asked.only:
        dense = system(f"dense({model(site.folder, asked.width)})").name
        measured(site, store, dense, "encoding", shard, 1.8)
    if "indexing" in asked.only:
        # Lucene takes eight times as many at once.
        measured(site, store, "bm25", "indexing (BM25)", -(-shard // 8), 0)


def _counting(site: Site, store: Store, asked: argparse.Namespace) -> None:
    source = site.folder / "long"
    write_beir(asked.counted, source)
    imports.import_dataset(Bench(store, site.desk), LONG, path=source)
    say(f"{asked.counted:,} documents of 150 words")
    # As many as Lucene takes at once.
    shard = -(-asked.counted // asked.shards // 8)
    measured(site, store, "", "counting words", shard, 1.6)


if __name__ == "__main__":
    main()
