"""Times the annotation form in a real browser: key to next document, to saved, to new scores.

    python -m tests.benchmarks.annotate [HOME [DATASET [KEYS [APART]]]]

HOME is a home folder with runs on the dataset; it is copied first. Without one, or for `made`, it
is made: 15 systems on pydocs-networkx, BM25 and noisy copies of it. 60 keys are pressed, 1,000 ms
apart, then ten of them 60 ms apart. Beside it, in the same browser, what Streamlit itself offers: a
document and two buttons with keys of their own (`st.button(shortcut=)`).
The bars at the 95th percentile: the next document within 50 ms, an answer saved and acknowledged
within 300 ms, the scores of its query updated for all systems within 100 ms; no key lost.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Browser, Page, sync_playwright

from compute.base.settings import Settings
from compute.datasets import dataset as dataset_of
from compute.evaluate import runs
from compute.jobs.serve import free_port
from compute.judgements import Choice, orders
from compute.judgements.tasks import grades, tasks
from compute.judgements.tasks.tasks import Plan, Task
from compute.reading.database import open_version
from compute.reading.overlay import Overlays
from compute.recompute import run as recompute
from compute.store.loading import Bench
from compute.store.store import Store
from compute.systems import system
from compute.views.annotate import select as annotate_select
from tests.benchmarks.side_by_side import Row, say, show
from tests.support.acting import FLAGS, chromium
from tests.support.processes.dashboards import WAIT, serving

MADE = "made"
SYSTEMS = 15
QUICK, QUICK_APART = 10, 60
JUDGED = 50
"""Judgements whose scores are waited for."""
CLOCK = """
    const [put, drop] = [Storage.prototype.setItem, Storage.prototype.removeItem];
    const since = {};
    window.shown = []; window.saved = [];
    Storage.prototype.setItem = function (name, value) {
        since[name] = performance.now();
        return put.call(this, name, value);
    };
    Storage.prototype.removeItem = function (name) {
        if (name.startsWith("beirscope.answers."))
            window.saved.push(performance.now() - since[name]);
        return drop.call(this, name);
    };
    window.addEventListener("keydown", event => {
        const pressed = event.timeStamp;
        const painted = new MessageChannel();
        painted.port1.onmessage = () => window.shown.push(performance.now() - pressed);
        requestAnimationFrame(() => painted.port2.postMessage(0));
    }, true);
"""
"""From a key to the frame that shows the next document; from an answer to its acknowledgement."""


PEER = """
import streamlit as st

def judged():
    st.session_state.place = st.session_state.get("place", 0) + 1

st.write(f"Document {st.session_state.get('place', 0)}")
st.button("Not relevant", shortcut="0", on_click=judged)
st.button("Relevant", shortcut="1", on_click=judged)
"""
PEER_CLOCK = """
    window.shown = []; window.place = "";
    let pressed = null;
    window.addEventListener("keydown", event => { pressed = event.timeStamp; }, true);
    new MutationObserver(() => {
        const found = document.body && document.body.innerText.match(/Document (\\d+)/);
        if (!found || found[1] === window.place) return;
        window.place = found[1];
        if (pressed !== null) window.shown.push(performance.now() - pressed);
    }).observe(document, {subtree: true, childList: true, characterData: true});
"""
"""From a key to the next document in the page."""


def fill(home: Path, dataset: str) -> None:
    """A home with BM25 on the dataset, and systems that score the same documents less surely."""
    now, random = Settings(home=home, latency_queries=0), np.random.default_rng(0)
    bench, row = Bench(Store(now), now), dataset_of(dataset)
    hits = recompute.read(recompute.run(bench, system("bm25"), row).hits)
    loaded = recompute.stored_dataset(bench.store, row)
    for number in range(1, SYSTEMS):
        name = f"noisy-{number}"
        other = hits.assign(score=hits["score"] + random.normal(0, number / 3, len(hits)))
        run = runs.canonical(other, depth=now.depth, drop_self=row.drop_self)
        recompute.publish_run(bench, loaded, name, run, now.depth, name, {})


def made(store: Store, dataset: str, n_pairs: int) -> Task:
    with open_version(store).cursor() as cursor:
        stored = annotate_select.judgeable(cursor)
        systems = tuple(stored.loc[stored["dataset"] == dataset, "system"])
        plan = Plan(
            title="Benchmark",
            dataset=dataset,
            systems=systems,
            depth=10,
            n_pairs=n_pairs,
            order="impact",
            seed=0,
            grades=grades.of_levels([1]),
        )
        tops = annotate_select.StoredTops(cursor, dataset)
        return tasks.make(store, plan, tops, annotate_select.judged(cursor, dataset), "benchmark")


def sit_down(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("textbox", name="Your name").fill("benchmark")
    page.keyboard.press("Enter")
    page.locator(".document").wait_for()
    page.evaluate("window.shown = []")


def press(page: Page, keys: int, apart: int) -> None:
    """Press keys so many milliseconds apart."""
    for number in range(keys):
        page.keyboard.press("01"[number % 2])
        page.wait_for_timeout(apart)


def ours(browser: Browser, home: Path, task: Task, keys: int, apart: int) -> list[np.ndarray]:
    """Milliseconds to the next document and to saved, of slow keys and then of quick ones."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(WAIT)
    page.add_init_script(CLOCK)
    taken = []
    with serving(home, free_port(8860)) as address:
        sit_down(page, f"{address}/annotate?task={task.id}")
        for number, pause in ((keys, apart), (QUICK, QUICK_APART)):
            press(page, number, pause)
            page.get_by_text("all saved").wait_for()
            taken += [np.array(page.evaluate(f"window.{what}.splice(0)")) for what in _TIMES]
    return taken


_TIMES = ("shown", "saved")


def by_streamlit(browser: Browser, keys: int, apart: int) -> tuple[np.ndarray, int]:
    """Milliseconds to the next document, and how many of ten quick keys were counted."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(WAIT)
    page.add_init_script(PEER_CLOCK)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "peer.py"
        script.write_text(PEER, "utf-8")
        with _plain(script, free_port(8900)) as address:
            page.goto(address)
            page.get_by_role("button", name="Not relevant").wait_for()
            press(page, keys, apart)
            page.wait_for_timeout(apart)
            shown, before = page.evaluate("[window.shown, Number(window.place)]")
            press(page, QUICK, QUICK_APART)
            # However late the last one is counted.
            page.wait_for_timeout(5000)
            return np.array(shown), page.evaluate("Number(window.place)") - before


@contextmanager
def _plain(script: Path, port: int) -> Iterator[str]:
    """A Streamlit server of one script; its address."""
    options = [f"--server.port={port}", "--server.address=127.0.0.1", "--server.headless=true"]
    command = [sys.executable, "-m", "streamlit", "run", str(script), *options]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        while server.poll() is None and not _healthy(address):
            time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait()


def _healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def rescored(store: Store, dataset: str) -> np.ndarray:
    """Milliseconds from a saved judgement to the scores of its query, for all systems."""
    reading = open_version(store)
    overlays, choice = Overlays(store, reading), Choice()
    with reading.cursor() as cursor:
        top = cursor.execute("select * from top where dataset = ?", [dataset]).df()
        pool = orders.pool(top, annotate_select.judged(cursor, dataset), 10)
    taken = []
    # The first one reads what is published: a server does so once, before anybody judges.
    for query_id, doc_id in pool.head(JUDGED + 1).itertuples(index=False, name=None):
        seen = store.add_judgements(_judgement(dataset, query_id, doc_id))
        start = time.perf_counter()
        with overlays.cursor(seen, choice) as cursor:
            scores = "select * from scores where dataset = ? and query_id = ?"
            cursor.execute(scores, [dataset, query_id]).fetchall()
        taken.append(1000 * (time.perf_counter() - start))
    reading.close()
    return np.array(taken[1:])


def _judgement(dataset: str, query_id: str, doc_id: str) -> pd.DataFrame:
    about = {"person": "benchmark", "task": "none", "guideline_version": "1", "source": "page"}
    row = {"dataset": dataset, "query_id": query_id, "doc_id": doc_id, "relevance": 1}
    return pd.DataFrame([row | about])


def told(times: np.ndarray) -> str:
    """The median and the 95th percentile, in milliseconds."""
    return f"p50 {np.percentile(times, 50):.0f} ms, p95 {np.percentile(times, 95):.0f} ms"


def report(taken: Sequence[np.ndarray], peer: tuple[np.ndarray, int], scored: np.ndarray) -> None:
    """Print the four rows."""
    shown, saved, quick, kept = taken
    theirs, counted = peer
    name = "Streamlit's st.button(shortcut=)"
    late, its = (np.percentile(times, 95) for times in (shown, theirs))
    ratio = f"{its / late:.0f} times as quick"
    keys = f"{len(shown)} keys"
    under = [bool(np.percentile(times, 95) < bar) for times, bar in ((shown, 50), (saved, 300))]
    work = f"annotate, key to next document, {keys}"
    show(Row(work, "p95 under 50 ms", told(shown), f"{name} {told(theirs)}", ratio, under[0]))
    work = f"annotate, answer saved and acknowledged, {keys}"
    show(Row(work, "p95 under 300 ms", told(saved), "", "", under[1]))
    work = f"annotate, {QUICK} keys {QUICK_APART} ms apart"
    lost = len(kept) == len(quick) == QUICK
    of = f"{name} {counted} of {QUICK} counted"
    show(Row(work, "no key lost", f"{len(kept)} of {QUICK} saved", of, "", lost))
    work = f"annotate, scores of a judged query updated, {len(scored)} judgements"
    met = bool(np.percentile(scored, 95) < 100)
    show(Row(work, "under 100 ms", told(scored), "", "", met))


def main(
    home: str = MADE, dataset: str = "pydocs-networkx", keys: str = "60", apart: str = "1000"
) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        copied = Path(folder) / "home"
        if home == MADE:
            fill(copied, dataset)
        else:
            shutil.copytree(home, copied, ignore=lambda *_: {"caches"})
        store = Store(Settings(home=copied))
        task = made(store, dataset, int(keys) + QUICK + 2)
        browser = play.chromium.launch(executable_path=chromium(), args=FLAGS)
        taken = ours(browser, copied, task, int(keys), int(apart))
        rows = store.added_judgements()
        peer = by_streamlit(browser, int(keys), int(apart))
        browser.close()
        report(taken, peer, rescored(store, dataset))
        say(f"{len(rows)} rows saved; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main(*sys.argv[1:])
