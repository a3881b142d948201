"""A working day at one server in less time, and what it holds meanwhile.

    python -m tests.benchmarks.pages.long_run HOME OUT [--minutes 60] [--hours 8] [--people 8]

Made-up load on a copy of HOME: everybody opens a page a minute for so many hours, all of it in so
many minutes, and judges two documents after every third page. Who has seen 20 pages leaves and
comes again. Twice an hour a run is published in the place of another. OUT gets `memory.csv`, a row
for every ten seconds, and `memory.svg`: the memory, and what of it is not answers kept for later,
of which there are 200 MB at most.
"""

import argparse
import csv
import itertools
import os
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pandas as pd
import plotly.graph_objects as go
import pyarrow.parquet as pq
from pandas import DataFrame
from prometheus_client.parser import text_string_to_metric_families

from compute.base.settings import Settings
from compute.datasets import dataset
from compute.exports.browser import PAINTER
from compute.intake import imports
from compute.judgements.labels import PERSON
from compute.reading.database import open_version
from compute.store.loading import Bench
from compute.store.own_datasets import own_datasets
from compute.store.store import Store
from compute.views.shared.theme import template
from tests.benchmarks.pages.addresses import PAGES, Address, Addresses
from tests.benchmarks.pages.addresses import tour as every_page
from tests.benchmarks.pages.crowds import copied
from tests.benchmarks.pages.sessions import Server, Session, serving

VISIT = 20
"""Pages that a person sees in one session."""
EVERY = 10.0
"""Seconds between two rows."""
HEAD = (
    "seconds",
    "hours_of_work",
    "memory_MB",
    "children_MB",
    "cpu_s",
    "threads",
    "files",
    "openings",
    "faults",
)
HEAD += ("sessions_so_far", "judgements", "publications", "p50_s", "answers_kept_MB")
TOKEN = "of-the-long-run-alone"


class Day:
    """What is done in one day of work at a server, and how far it is."""

    def __init__(self, home: Path, server: Server, hours: float, minutes: float) -> None:
        self.hours, self.minutes = hours, minutes
        self.begun = time.monotonic()
        self.seconds: list[float] = []
        self.faults: list[str] = []
        self.sessions = self.judgements = self.publications = 0
        self._home, self._server = home, server
        settings = Settings(home=home)
        self._bench = Bench(Store(settings), settings)
        self._lock = threading.Lock()

    def hour(self) -> float:
        """The hour of work that it is now."""
        return (time.monotonic() - self.begun) / 60 / self.minutes * self.hours

    def until(self, hour: float) -> None:
        """Wait for an hour of work, if it is not past."""
        time.sleep(max(hour - self.hour(), 0) / self.hours * self.minutes * 60)

    def work(self, seed: int, people: int) -> None:
        """What one person does, one page after the other."""
        pages = self._pages(seed)
        pairs = self._pairs(seed)
        person: Session | None = None
        for number, address in enumerate(pages):
            self.until((number + seed / people) / 60)
            if number % VISIT == 0:
                if person:
                    person.close()
                person = Session(self._server)
                self.sessions += 1
            assert person is not None
            opened = person.open(address)
            with self._lock:
                self.seconds.append(opened.seconds)
                self.faults += [f"{opened.page}?{opened.address}: {opened.fault}"] * bool(
                    opened.fault
                )
            if number % 3 == 2:
                self._judge(f"person-{seed}", [next(pairs), next(pairs)])

    def publish(self) -> None:
        """Put a run in the place of another twice an hour, its scores moved a little."""
        hits = [part for part in self._bench.store.parts("hits") if not part.shipped]
        file = self._home / "published.trec"
        for number in range(1, int(2 * self.hours)):
            self.until(number / 2)
            part = hits[number % len(hits)]
            run = pq.read_table(part.path).to_pandas()
            run["score"] += [Random(number).random() / 100] * len(run)
            run[["query_id", "doc_id", "score"]].assign(q="Q0", rank=0, tag=part.system)[
                ["query_id", "q", "doc_id", "rank", "score", "tag"]
            ].to_csv(file, sep=" ", header=False, index=False)
            row = dataset(part.dataset, own_datasets(self._bench.store))
            imports.import_run(self._bench, file, row, system=part.system, replace=True)
            self.publications += 1

    def row(self) -> list[float]:
        """A line of the table, of this moment."""
        of = self._server.process
        with self._lock:
            last = pd.Series(self.seconds[-50:], dtype="float64").median()
        told = (len(self.seconds), len(self.faults), self.sessions, self.judgements)
        times = of.cpu_times()
        own = of.memory_info().rss / 1e6
        held = (
            own,
            self._server.resident() - own,
            times.user + times.system,
            of.num_threads(),
            of.num_fds(),
        )
        past = time.monotonic() - self.begun
        return [past, self.hour(), *held, *told, self.publications, last, self._kept()]

    def _kept(self) -> float:
        """Megabytes of answers that the server keeps, by its own metrics."""
        asked = urllib.request.Request(f"http://{self._server.host}/metrics")
        asked.add_header("Authorization", f"Bearer {TOKEN}")
        with urllib.request.urlopen(asked, timeout=60) as answer:
            for family in text_string_to_metric_families(answer.read().decode()):
                if family.name == "beirscope_answers_kept_bytes":
                    return family.samples[0].value / 1e6
        return float("nan")

    def _pages(self, seed: int) -> Iterator[Address]:
        reading = open_version(self._bench.store)
        times = -(-int(60 * self.hours) // len(PAGES))
        found = [*every_page(Addresses(self._bench.store, reading, seed), times)]
        reading.close()
        Random(seed).shuffle(found)
        return iter(found[: int(60 * self.hours)])

    def _pairs(self, seed: int) -> Iterator[tuple[str, str, str]]:
        """Dataset, query and document that runs have among their first."""
        tops = [part for part in self._bench.store.parts("top") if not part.shipped]
        pairs = [
            (part.dataset, *pair)
            for part in tops
            for pair in pq.read_table(part.path, columns=["query_id", "doc_id"])
            .to_pandas()
            .itertuples(index=False, name=None)
        ]
        Random(seed).shuffle(pairs)
        return itertools.cycle(pairs)

    def _judge(self, person: str, pairs: list[tuple[str, str, str]]) -> None:
        rows = DataFrame(pairs, columns=["dataset", "query_id", "doc_id"])
        about = {"relevance": 1, "person": person, "task": "", "guideline_version": ""}
        self._bench.store.add_judgements(rows.assign(**about, source=PERSON))
        self.judgements += len(rows)


def figure(rows: DataFrame) -> go.Figure:
    """Megabytes by hour of work, all and without the answers that are kept."""
    hours, held = rows["hours_of_work"], rows["memory_MB"]
    drawn = go.Figure(
        [
            go.Scatter(x=hours, y=held, mode="lines", name="memory of the server"),
            go.Scatter(
                x=hours, y=held - rows["answers_kept_MB"], mode="lines", name="without kept answers"
            ),
        ]
    )
    drawn.update_xaxes(title_text="hours of work")
    drawn.update_yaxes(title_text="MB", rangemode="tozero")
    drawn.update_layout(template=template("light"), width=720, height=320)
    return drawn


def main() -> None:
    """Work, note what is held, draw it."""
    asking = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    asking.add_argument("home", type=Path)
    asking.add_argument("out", type=Path)
    asking.add_argument("--minutes", type=float, default=60)
    asking.add_argument("--hours", type=float, default=8)
    asking.add_argument("--people", type=int, default=8)
    asked = asking.parse_args()
    asked.out.mkdir(exist_ok=True)
    os.environ["BEIRSCOPE_METRICS_TOKEN"] = TOKEN
    table = asked.out / "memory.csv"
    with copied(asked.home) as home, serving(home) as server, table.open("w") as file:
        day = Day(home, server, asked.hours, asked.minutes)
        works = [threading.Thread(target=day.publish, daemon=True)]
        for seed in range(asked.people):
            works.append(threading.Thread(target=day.work, args=[seed, asked.people], daemon=True))
        for work in works:
            work.start()
        rows = csv.writer(file)
        rows.writerow(HEAD)
        while any(work.is_alive() for work in works):
            time.sleep(EVERY)
            rows.writerow(round(number, 3) for number in day.row())
            file.flush()
    (asked.out / "memory.svg").write_text(PAINTER.svg(figure(pd.read_csv(table))), "utf-8")
    (asked.out / "faults.txt").write_text("\n".join(day.faults), "utf-8")


if __name__ == "__main__":
    main()
