"""Many people at one server at once: who looks, and who judges.

    python -m tests.benchmarks.pages.many_people OUT [--minutes 10] [--people 30,60,120,240]

The home is made: 15 systems on pydocs-networkx and a task. Of so many people five in six open a
page, read it and open another, 20 s later in the mean; one in six judges, a document each 5 s in
the mean (both drawn from exponential distributions). All speak Streamlit's own protocol over
WebSockets, without a browser. OUT gets `people.csv`, a row for each number of people, and
`people.svg`. At the end every answer that was acknowledged is looked for in the store.
"""

import argparse
import itertools
import json
import tempfile
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import plotly.graph_objects as go
import psutil
from pandas import DataFrame
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from compute.base.settings import Settings
from compute.exports.browser import PAINTER
from compute.reading.database import open_version
from compute.store.store import Store
from compute.views.shared.theme import template
from tests.benchmarks import annotate
from tests.benchmarks.pages.addresses import Address, Addresses
from tests.benchmarks.pages.addresses import tour as every_page
from tests.benchmarks.pages.sessions import PART, WHOLE, Server, Session, asked, serving
from tests.benchmarks.side_by_side import say

LOOKING, JUDGING = 20.0, 5.0
"""Seconds in the mean between two pages of who looks, and between two answers of who judges."""
DATASET = "pydocs-networkx"
PAIRS = 20_000
OF_A_PAGE = 40
"""Addresses of each page; everybody opens them in an order of their own."""


@dataclass
class Done:
    """What people waited for, in seconds, and what went wrong."""

    opened: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class Judge(Session):
    """One annotator at the form: answers what it hands out, and waits until each is saved."""

    def __init__(self, server: Server, task: str, name: str) -> None:
        super().__init__(server)
        self._task, self._entry, self._number = task, uuid.uuid4().hex, 0
        self._ids: dict[str, str] = {}
        self._states: dict[str, dict[str, Any]] = {}
        self._form: dict[str, Any] = {}
        self._fragment = self._page = ""
        self._ask()
        # The browser tells the name that it keeps.
        self._states["annotator_name"] = {"name": name}
        self._ask()

    def answer(self) -> str:
        """Judge the first document at hand; the answer's own name, once it is saved."""
        self._number += 1
        entry = f"{self._entry}-{self._number}"
        answer = {"entry": entry, "pair": self._form["documents"][0]["key"], "act": "grade"}
        answer |= {"relevance": self._number % 2, "version": self._form["version"]}
        self._states["judge"] = {"log": {"time": self._number, "entries": [answer | _TAKEN]}}
        self._ask(self._fragment)
        if entry not in self._form["saved"]:
            raise RuntimeError(self._form["trouble"] or f"{entry} was not saved")
        return entry

    def _ask(self, fragment: str = "") -> None:
        message = asked(self._server.host, "annotate", f"task={self._task}")
        run = message.rerun_script
        if fragment:
            run.fragment_id, run.page_script_hash = fragment, self._page
        for component, values in self._states.items():
            state = run.widget_states.widgets.add()
            state.id, state.json_value = self._ids[component], json.dumps(values)
        _, fault = self._say(message, [PART] if fragment else WHOLE)
        if fault:
            raise RuntimeError(fault)

    def _told(self, message: ForwardMsg) -> None:
        if message.WhichOneof("type") == "new_session":
            self._page = message.new_session.page_script_hash
        element = message.delta.new_element
        if element.WhichOneof("type") != "bidi_component":
            return
        component = element.bidi_component
        self._ids[component.component_name] = component.id
        if component.component_name == "judge":
            self._fragment = message.delta.fragment_id
            self._form = json.loads(component.json or component.mixed.json)


_TAKEN = {"unsure": False, "note": "", "seconds": JUDGING}


class Crowd:
    """Viewers and annotators of one server, each a thread with a place drawn by its number."""

    def __init__(self, server: Server, home: Path, task: str, minutes: float) -> None:
        self.done = Done()
        self._server, self._task, self._addresses = server, task, _addresses(home)
        self._end = time.monotonic() + 60 * minutes

    def look(self, number: int) -> None:
        """Open pages until the end."""
        random = Random(number)
        with closing(Session(self._server)) as person:
            for address in itertools.cycle(random.sample(self._addresses, len(self._addresses))):
                if not self._wait(random.expovariate(1 / LOOKING)):
                    return
                opened = person.open(address)
                self.done.opened.append(opened.seconds)
                self.done.faults += [f"{address}: {opened.fault}"] * bool(opened.fault)

    def judge(self, number: int) -> None:
        """Answer until the end."""
        random = Random(-number)
        with closing(Judge(self._server, self._task, f"person {number}")) as person:
            while self._wait(random.expovariate(1 / JUDGING)):
                start = time.perf_counter()
                self.done.acknowledged.append(person.answer())
                self.done.answered.append(time.perf_counter() - start)

    def guarded(self, work: Callable[[int], None], number: int) -> None:
        """Somebody's work, whose failure is a fault of the server."""
        try:
            work(number)
        except Exception as error:
            self.done.faults.append(f"{work.__name__} {number}: {error!r}")

    def _wait(self, seconds: float) -> bool:
        left = self._end - time.monotonic()
        time.sleep(max(0.0, min(seconds, left)))
        return seconds < left


def _addresses(home: Path) -> list[Address]:
    store = Store(Settings(home=home))
    reading = open_version(store)
    try:
        return list(every_page(Addresses(store, reading), OF_A_PAGE))
    finally:
        reading.close()
        store.close()


def crowd(home: Path, task: str, people: int, minutes: float) -> dict[str, Any]:
    """So many people for so long, at a server of their own: a row of the table."""
    own = psutil.Process()
    with serving(home) as server:
        with closing(Session(server)) as first:
            first.open(("leaderboard", ""))
        empty, cpu, at = server.resident(), server.cpu(), sum(own.cpu_times()[:2])
        at_it = Crowd(server, home, task, minutes)
        works = [at_it.look if number % 6 else at_it.judge for number in range(people)]
        most = empty
        with ThreadPoolExecutor(people) as pool:
            held = [pool.submit(at_it.guarded, work, n) for n, work in enumerate(works)]
            while not all(one.done() for one in held):
                time.sleep(1)
                most = max(most, server.resident())
        seconds = 60 * minutes
        cores = (server.cpu() - cpu) / seconds, (sum(own.cpu_times()[:2]) - at) / seconds
    done = at_it.done
    for fault in done.faults[:5]:
        say(fault)
    return {
        "people": people,
        **_times("page", done.opened),
        **_times("answer", done.answered),
        "faults": len(done.faults),
        **_kept(home, done.acknowledged),
        "server_cores": cores[0],
        "generator_cores": cores[1],
        "memory_MB": most,
        "of_a_session_MB": (most - empty) / people,
    }


def _times(what: str, seconds: list[float]) -> dict[str, float]:
    p50, p95 = np.percentile(seconds, [50, 95])
    return {f"{what}s": len(seconds), f"{what}_p50_s": p50, f"{what}_p95_s": p95}


def _kept(home: Path, acknowledged: list[str]) -> dict[str, int]:
    """Acknowledged answers that the store lacks, and those that it has more than once."""
    store = Store(Settings(home=home))
    counts = store.added_judgements()["entry"].value_counts()
    store.close()
    return {
        "lost": sum(entry not in counts.index for entry in acknowledged),
        "twice": int((counts > 1).sum()),
    }


def figure(rows: DataFrame) -> go.Figure:
    """Seconds that 19 of 20 wait at most, by the number of people."""
    names = {"page_p95_s": "page drawn", "answer_p95_s": "answer acknowledged"}
    drawn = go.Figure(
        [
            go.Scatter(x=rows["people"], y=rows[column], mode="lines+markers", name=name)
            for column, name in names.items()
        ]
    )
    drawn.update_xaxes(title_text="people, one in six judges", rangemode="tozero")
    drawn.update_yaxes(title_text="seconds, 95th percentile", rangemode="tozero")
    drawn.update_layout(template=template("light"), width=720, height=320)
    return drawn


def main() -> None:
    """Ask, measure, draw."""
    asking = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    asking.add_argument("out", type=Path)
    asking.add_argument("--minutes", type=float, default=10)
    asking.add_argument("--people", default="30,60,120,240")
    asked_for = asking.parse_args()
    asked_for.out.mkdir(exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        annotate.fill(home, DATASET)
        store = Store(Settings(home=home))
        task = annotate.made(store, DATASET, PAIRS).id
        store.close()
        for people in map(int, asked_for.people.split(",")):
            rows.append(crowd(home, task, people, asked_for.minutes))
            table = DataFrame(rows).round(3)
            say(table.iloc[-1].to_string())
            table.to_csv(asked_for.out / "people.csv", index=False)
    (asked_for.out / "people.svg").write_text(PAINTER.svg(figure(table)), "utf-8")


if __name__ == "__main__":
    main()
